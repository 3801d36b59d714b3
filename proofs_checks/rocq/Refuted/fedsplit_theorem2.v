(** f(x) = x^2/2 from x^(1) = 1, with weight 1/(n^2 - 1) for n = 10000, and 300 rounds: a round contracts by
    (n - 1)/(n + 1) only, so that x is above 0.9 after them, and the gap is above the bound of 1/9. *)

From Coq Require Import FunctionalExtensionality Psatz.
From FedConvex Require Import Instances.

Definition n : R := 10000.
Definition regularizer : R := 1 / (n * n - 1).
Definition q : R := (n - 1) / (n + 1).
(** x before round j + 1, and the answer to it. *)
Definition x (j : nat) : R := 1 / (n * n) + (- q) ^ j * (1 - 1 / (n * n)).
Definition theta (j : nat) : R := (1 + n * x j) / (n * (n + 1)).

Lemma next j : x (S j) = x j + 2 * (theta j - x j).
Proof. unfold theta, x. simpl. generalize ((- q) ^ j). intro p. unfold q, n. field. Qed.

Lemma root : sqrt (regularizer * (1 + regularizer)) = n / (n * n - 1).
Proof.
  replace (regularizer * (1 + regularizer)) with (n / (n * n - 1) * (n / (n * n - 1)))
    by (unfold regularizer, n; field). apply sqrt_square. unfold n. lra.
Qed.

Lemma bernoulli j : 1 - INR j * (2 / 10001) <= q ^ j.
Proof.
  induction j as [| j IH]; [simpl; lra |]. rewrite S_INR. simpl. pose proof (pos_INR j) as J.
  unfold q, n in *. nra.
Qed.

Lemma above : 9 / 10 <= x 300.
Proof.
  unfold x. replace ((- q) ^ 300) with (q ^ 300).
  - pose proof (bernoulli 300) as B. replace (INR 300) with 300 in B by (rewrite INR_IZR_INZ; reflexivity).
    unfold n. lra.
  - change 300%nat with (2 * 150)%nat. rewrite !pow_mult. f_equal. ring.
Qed.

(* the theorem *)
Proof.
  intro claim.
  assert (rounds : INR 300 = 300) by (rewrite INR_IZR_INZ; reflexivity).
  specialize (claim line one_client (fun _ => quadratic 1 0) 1 (1 / 9) 1 regularizer 1 300 300%nat
    (fun _ _ => 1) (fun j _ => theta j) (fun j _ => x j) (fun j _ => x j) (fun _ => 0)).
  assert (small : 0 < regularizer < 1 / 9) by (unfold regularizer, n; lra).
  assert (same : forall c : R, shared ((fun _ => c) : families one_client line)) by (intro c; exists c; reflexivity).
  assert (start : x 0 = 1) by (unfold x, n; simpl; lra).
  specialize (claim ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)
    ltac:(unfold Rdiv in *; lra) ltac:(lra) ltac:(lra) (fun _ => quadratic_at_least 1 0 0 ltac:(lra))
    (fun _ => quadratic_at_most 1 0 1 ltac:(lra)) (eq_sym rounds) (fun j => same (x j))).
  lapply claim; clear claim; [intro claim | apply functional_extensionality; intros []; symmetry; exact start].
  specialize (claim eq_refl (fun _ => same 1) (same 0)).
  lapply claim; clear claim; [intro claim | apply functional_extensionality; intros []; unfold mean, combination; simpl; ring].
  rewrite root in claim.
  lapply claim; clear claim; [intro claim |].
  2: { intros j _. apply functional_extensionality. intros []. simpl. unfold sub. simpl. unfold theta.
       generalize (x j). intro y. unfold regularizer, n. field. }
  lapply claim; clear claim; [intro claim |].
  2: { intros j _. apply functional_extensionality. intros []. rewrite next. unfold mean, combination. simpl.
       unfold sub. simpl. field. }
  lapply claim; clear claim; [intro claim | reflexivity].
  lapply claim; clear claim; [intro claim |].
  2: { intros j _. apply functional_extensionality. intros []. rewrite next. simpl. unfold sub. simpl. ring. }
  rewrite start in claim. pose proof above as high. generalize (x 300) claim high. clear. intros y claim high.
  pose (ones := (fun _ => 1) : families one_client line). pose (zeros := (fun _ => 0) : families one_client line).
  fold ones zeros in claim.
  assert (one : inner (ones - zeros)%V (ones - zeros)%V = 1) 
    by (unfold ones, zeros; simpl; unfold average, sum, sub; simpl; ring).
  rewrite one in claim. replace (1 * 1) with 1 in claim by ring. rewrite sqrt_1 in claim.
  assert (value (together (fun _ : one_client => quadratic 1 0)) (fun _ => y) = y * y / 2) as first
    by (simpl; unfold average, sum; simpl; field).
  assert (value (together (fun _ : one_client => quadratic 1 0)) zeros = 0) as last
    by (unfold zeros; simpl; unfold average, sum; simpl; field).
  rewrite first, last in claim.
  assert (most : Rmax (1 * regularizer * 1) ((100 * 1 / 300) ^ 2) <= 1 / 9).
  { apply Rmax_lub; unfold regularizer, n; lra. }
  nra.
Qed.
