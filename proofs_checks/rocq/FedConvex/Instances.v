(** * Concrete federations

    Quadratics on the real line, clients with given weights, and draws: for counterexamples, and to see that what the
    theorems assume of a draw can be met, for any number of draws from any clients. *)

From Coq Require Import Reals List Lra Lia Psatz Arith FunctionalExtensionality.
From FedConvex Require Import Spaces Families Functions Draws.
Import ListNotations.
Open Scope R_scope.

(** f(x) = (h/2)x^2 + cx. *)
Definition quadratic (h c : R) : function line.
Proof.
  refine {| value := fun x : line => h / 2 * (x * x) + c * x; gradient := (fun x => h * x + c) : line -> line |}.
  intros x v e He. simpl.
  assert (P : 0 < e / (Rabs (h / 2 * (v * v)) + 1)).
  { apply Rdiv_lt_0_compat; [exact He |]. pose proof (Rabs_pos (h / 2 * (v * v))). lra. }
  exists (mkposreal _ P). intros t Ht Small. simpl in Small.
  match goal with |- Rabs ?q < _ => replace q with (t * (h / 2 * (v * v))) by (field; exact Ht) end.
  rewrite Rabs_mult. pose proof (Rabs_pos (h / 2 * (v * v))) as Q.
  apply (Rmult_lt_compat_r (Rabs (h / 2 * (v * v)) + 1)) in Small; [| lra].
  replace (e / (Rabs (h / 2 * (v * v)) + 1) * (Rabs (h / 2 * (v * v)) + 1)) with e in Small by (field; lra).
  pose proof (Rabs_pos t). lra.
Defined.

(** One client; two clients with the same weight. *)
Definition one_client : weighted_set.
Proof.
  refine {| element := unit; elements := [tt]; weight := fun _ => 1 |}; intros; simpl; try lra.
  destruct k. left. reflexivity.
Defined.

Definition two_clients : weighted_set.
Proof.
  refine {| element := bool; elements := [true; false]; weight := fun _ => 1 / 2 |}; intros; simpl; try lra.
  destruct k; auto.
Defined.

(** Two independent draws: the pairs of their outcomes. *)
Lemma sum_of_pairs {A B} (l : list A) (t : list B) (x : A * B -> R) :
  sum (list_prod l t) x = sum l (fun a => sum t (fun b => x (a, b))).
Proof.
  unfold sum. induction l as [| a l IH]; [reflexivity |]. simpl. rewrite map_app, map_map, fold_right_app, <- IH. clear IH.
  generalize (fold_right Rplus 0 (map x (list_prod l t))). intro r.
  induction t as [| b t IHt]; simpl; [ring |]. rewrite IHt. ring.
Qed.

Definition pairs (W C : weighted_set) : weighted_set.
Proof.
  refine {| element := W * C; elements := list_prod (elements W) (elements C);
            weight := fun p => weight W (fst p) * weight C (snd p) |}.
  - intros [w k]. apply in_prod; apply every_element.
  - intros [w k]. apply Rmult_le_pos; apply weight_nonneg.
  - change (sum (list_prod (elements W) (elements C)) (fun p => weight W (fst p) * weight C (snd p)) = 1).
    rewrite sum_of_pairs. simpl.
    rewrite (sum_ext _ _ (fun w => 1 * weight W w)).
    + rewrite sum_scale. unfold sum. rewrite weight_sum. ring.
    + intros w _. rewrite sum_scale. unfold sum. rewrite weight_sum. ring.
Defined.

(** K independent draws of a client. *)
Fixpoint draws (C : weighted_set) (K : nat) : weighted_set :=
  match K with O => one_client | S K => pairs (draws C K) C end.

(** ** What the theorems assume of independent draws holds: nothing below this line is part of any statement *)

Definition some_client (C : weighted_set) : C.
Proof.
  destruct (elements C) as [| k l] eqn:E; [| exact k].
  exfalso. pose proof (weight_sum C) as H. rewrite E in H. simpl in H. lra.
Defined.

Fixpoint picked (C : weighted_set) (K i : nat) : draws C K -> C :=
  match K return draws C K -> C with
  | O => fun _ => some_client C
  | S K => fun w => if Nat.eqb i K then snd w else picked C K i (fst w)
  end.

Lemma combination_of_pairs {V : space} (W C : weighted_set) (x : W -> C -> V) :
  combination (elements (pairs W C)) (weight (pairs W C)) (fun p => x (fst p) (snd p)) =
  combination (elements W) (weight W) (fun w => combination (elements C) (weight C) (x w)).
Proof.
  simpl. unfold combination. induction (elements W) as [| w l IH]; [reflexivity |].
  simpl. rewrite map_app, map_map, fold_right_app, IH. clear IH.
  generalize (fold_right add zero (map (fun w0 => scale (weight W w0)
    (fold_right add zero (map (fun k => scale (weight C k) (x w0 k)) (elements C)))) l)). intro r.
  induction (elements C) as [| k t IHt]; simpl.
  - rewrite scale_zero, zero_add. reflexivity.
  - cbn [fst snd] in *. rewrite scale_add, scale_scale, <- add_assoc. f_equal. exact IHt.
Qed.

Lemma average_of_pairs (W C : weighted_set) (x : W -> C -> R) :
  average (pairs W C) (fun p => x (fst p) (snd p)) = average W (fun w => average C (x w)).
Proof. exact (combination_of_pairs (V := line) W C x). Qed.

Lemma combination_of_one {V : space} (C : weighted_set) (v : V) :
  combination (elements C) (weight C) (fun _ => v) = v.
Proof. rewrite combination_constant. unfold sum. rewrite weight_sum. apply scale_one. Qed.

Lemma a_pick (C : weighted_set) K i (V : space) (x : C -> V) : (i < K)%nat ->
  combination (elements (draws C K)) (weight (draws C K)) (fun w => x (picked C K i w)) =
  combination (elements C) (weight C) x.
Proof.
  induction K as [| K IH]; [lia |]. intro H. cbn [draws picked]. destruct (Nat.eqb_spec i K) as [-> | N].
  - etransitivity; [exact (combination_of_pairs (draws C K) C (fun _ k => x k)) |].
    exact (combination_of_one (draws C K) (combination (elements C) (weight C) x)).
  - etransitivity; [exact (combination_of_pairs (draws C K) C (fun w _ => x (picked C K i w))) |].
    transitivity (combination (elements (draws C K)) (weight (draws C K)) (fun w => x (picked C K i w))).
    + apply combination_ext. intro w. f_equal. apply combination_of_one.
    + apply IH. lia.
Qed.

Lemma average_pick (C : weighted_set) K i (x : C -> R) : (i < K)%nat ->
  average (draws C K) (fun w => x (picked C K i w)) = average C x.
Proof. exact (a_pick C K i line x). Qed.

Lemma average_swap (W C : weighted_set) (x : W -> C -> R) :
  average W (fun w => average C (x w)) = average C (fun k => average W (fun w => x w k)).
Proof. exact (combination_swap (V := line) (elements W) (elements C) (weight W) (weight C) x). Qed.

Definition independently (C : weighted_set) (K : nat) : independent_draws (draws C K) C K.
Proof.
  refine {| pick := picked C K |}.
  - intros i V x H. apply a_pick. exact H.
  - induction K as [| K IH]; [lia |]. intros i j x Hi Hj N. cbn [draws picked].
    destruct (Nat.eqb_spec i K) as [-> | Ni]; destruct (Nat.eqb_spec j K) as [-> | Nj]; try lia.
    + etransitivity; [exact (average_of_pairs (draws C K) C (fun w k => x k (picked C K j w))) |].
      rewrite average_swap. apply average_ext. intro k. apply (average_pick C K j (x k)). lia.
    + etransitivity; [exact (average_of_pairs (draws C K) C (fun w k => x (picked C K i w) k)) |].
      exact (average_pick C K i (fun l => average C (x l)) ltac:(lia)).
    + etransitivity; [exact (average_of_pairs (draws C K) C (fun w _ => x (picked C K i w) (picked C K j w))) |].
      rewrite (average_ext _ _ (fun w => x (picked C K i w) (picked C K j w))) by (intro; apply average_constant).
      apply IH; lia.
Defined.

(** Curvature of the quadratics. *)
Lemma quadratic_at_least h c l : l <= h -> curvature_at_least l (quadratic h c).
Proof. intros H a b. simpl. unfold sub. simpl. pose proof (Rle_0_sqr (b - a)) as Q. unfold Rsqr in Q. nra. Qed.

Lemma quadratic_at_most h c L : h <= L -> curvature_at_most L (quadratic h c).
Proof. intros H a b. simpl. unfold sub. simpl. pose proof (Rle_0_sqr (b - a)) as Q. unfold Rsqr in Q. nra. Qed.
