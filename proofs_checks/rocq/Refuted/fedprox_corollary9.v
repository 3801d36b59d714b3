(** Two clients with f(w) = w - w^2/2000, mu = 1, w = 0 and K = 128 draws.  The second client answers exactly, the
    first one with gamma = 1/2.  A draw of the second client alone has gamma^t = 0, for which a decrease of 0.87 is
    promised; the expected decrease is at most 0.752. *)

From Coq Require Import FunctionalExtensionality Psatz.
From FedConvex Require Import Instances.

Definition f : function line := quadratic (- (1 / 1000)) 1.
Definition answer (k : two_clients) : R := if k then - (500 / 999) else - (1000 / 999).

(** The mean of K answers of drawn clients lies in [-2, 0]. *)
Lemma mean_of_answers W (d : independent_draws W two_clients 128) w :
  -2 <= 1 / INR 128 * sum (seq 0 128) (fun i => 1 * answer (pick d i w)) <= 0.
Proof.
  assert (many : INR 128 = 128) by (rewrite INR_IZR_INZ; reflexivity). rewrite many.
  assert (one : forall k, -2 <= 1 * answer k <= 0) by (intros []; unfold answer; lra).
  assert (bounds : forall l, -2 * INR (length l) <= sum l (fun i => 1 * answer (pick d i w)) <= 0).
  { induction l as [| i l IH]; [unfold sum; simpl; lra |]. specialize (one (pick d i w)).
    change (length (i :: l)) with (S (length l)). rewrite S_INR. unfold sum in *. cbn [map fold_right]. lra. }
  specialize (bounds (seq 0 128)). rewrite seq_length, many in bounds. lra.
Qed.

Lemma expected_value W (d : independent_draws W two_clients 128) :
  1001 / 1000 * (- (750 / 999)) <= average W (fun w => average two_clients (fun _ =>
    value f (1 / INR 128 * sum (seq 0 128) (fun i => 1 * answer (pick d i w)))%R)).
Proof.
  assert (many : INR 128 = 128) by (rewrite INR_IZR_INZ; reflexivity).
  apply Rle_trans with (average W (fun w =>
    1001 / 1000 * (1 / INR 128 * sum (seq 0 128) (fun i => 1 * answer (pick d i w))))).
  2: { apply average_le. intro w. rewrite average_constant. generalize (mean_of_answers W d w). generalize (1 / INR 128 * sum (seq 0 128) (fun i => 1 * answer (pick d i w))).
       intros y bounds. unfold f. simpl. nra. }
  rewrite !average_scale, average_sum.
  rewrite (sum_ext _ _ (fun _ => - (750 / 999) * 1)).
  - assert (ones : forall l : list nat, sum l (fun _ => - (750 / 999) * 1) = - (750 / 999) * INR (length l)).
    { induction l as [| i l IH]; [unfold sum; simpl; ring |].
      change (length (i :: l)) with (S (length l)). rewrite S_INR. unfold sum in *. cbn [map fold_right]. lra. }
    rewrite ones, seq_length, many. lra.
  - intros i H. apply in_seq in H.
    pose proof (each_pick _ _ _ d i line (fun k => 1 * answer k) ltac:(lia)) as P.
    assert (mean : average W (fun w => 1 * answer (pick d i w)) =
      average two_clients (fun k => 1 * answer k)) by exact P.
    rewrite mean. unfold average, sum, answer. simpl. lra.
Qed.

(* the theorem *)
Proof.
  intro claim. pose proof (independently two_clients 128) as d. revert d. generalize (draws two_clients 128). intros W d.
  assert (many : INR 128 = 128) by (rewrite INR_IZR_INZ; reflexivity).
  assert (eight : sqrt (2 / 128) = 1 / 8).
  { replace (2 / 128) with ((1 / 8) * (1 / 8)) by lra. apply sqrt_square. lra. }
  assert (sixteen : sqrt (2 * 128) = 16).
  { replace (2 * 128) with (16 * 16) by lra. apply sqrt_square. lra. }
  specialize (claim line two_clients W (fun _ => f) 1 128 (1 / 1000) (1 / 1000) (1 / 2) 0 1 128%nat d
    (fun _ k => if k then 1 / 2 else 0) (fun _ k => answer k) (fun _ _ => 0) (mean_of_picks d ((fun _ k => answer k) : random W two_clients line))).
  specialize (claim ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) (eq_sym many)
    ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (least : Rmax (- (1 / 1000)) (- (1 / 1000)) <= - (1 / 1000)) by (apply Rmax_lub; lra).
  specialize (claim (fun _ => quadratic_at_least _ _ _ least) (fun _ => quadratic_at_most (- (1 / 1000)) 1 (1 / 1000) ltac:(lra))).
  assert (for_all : common ((fun _ _ => 0) : random W two_clients line)) by (intro w; exists 0; reflexivity).
  assert (not_drawn : forall v : families two_clients line, fixed ((fun _ => v) : random W two_clients line))
    by (intro v; exists v; reflexivity).
  specialize (claim for_all (not_drawn _) (not_drawn _) (not_drawn _)).
  assert (constant : forall c : R, inner ((fun _ _ => c) : random W two_clients line)
    (fun _ _ => c) = c * c).
  { intro c. simpl inner. rewrite average_constant. apply average_constant. }
  pose (ones := (fun _ _ => 1) : random W two_clients line).
  pose (zeros := (fun _ _ => 0) : random W two_clients line).
  pose (F := together (fun _ : W => together (fun _ : two_clients => f)) : function (random W two_clients line)).
  fold zeros F in claim.
  assert (gradients : gradient F zeros = ones).
  { apply functional_extensionality. intro w. apply functional_extensionality. intro k. unfold zeros, ones, f.
    simpl. lra. }
  assert (mean_of_gradients : mean_of_all ones = ones).
  { apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    unfold mean_of_all, mean, combination, ones. simpl. lra. }
  rewrite gradients, mean_of_gradients in claim. unfold ones in claim. rewrite constant in claim.
  lapply claim; clear claim; [intro claim |].
  2: { apply functional_extensionality. intro w. apply functional_extensionality. intros []; unfold F, zeros, f, answer; simpl;
       unfold sub; simpl; lra. }
  lapply claim; clear claim; [intro claim |].
  2: { intros w k. unfold norm, F, zeros, f. simpl. unfold sub. simpl. replace (1 + 1 * (0 + -1 * 0)) with 1 by ring.
       rewrite (sqrt_square 1) by lra. destruct k; rewrite sqrt_square; lra. }
  specialize (claim ltac:(lra) eq_refl). rewrite eight, sixteen in claim.
  pose proof (expected_value W d) as expected.
  assert (first : value F zeros = 0).
  { unfold F, zeros, f. simpl value. rewrite average_constant, average_constant. ring. }
  rewrite first in claim. clear first. pose proof (Rle_trans _ _ _ expected claim) as false. lra.
Qed.
