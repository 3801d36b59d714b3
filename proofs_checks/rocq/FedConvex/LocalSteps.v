(** * Any number of local steps

    A client's local steps are a sequence: [y i] is its point after i of them, and the n-th point is its answer.  For all
    clients together [y i] is the family of their points. *)

From Coq Require Import Reals Lra Lia Psatz Arith.
From FedConvex Require Import Spaces Families Functions.
Open Scope R_scope.

(** The sum of the vectors of the first n steps. *)
Fixpoint sum_of_steps {X : space} (u : nat -> X) (n : nat) : X :=
  match n with O => zero | S n => add (sum_of_steps u n) (u n) end.

(** ** Nothing below this line is part of any statement *)

Section Path.
Context {X : space} (y : nat -> X).

Lemma end_of_steps (g : nat -> X) s n : (forall i, (i < n)%nat -> y (S i) = sub (y i) (scale s (g i))) ->
  y n = sub (y O) (scale s (sum_of_steps g n)).
Proof.
  induction n as [| n IH]; intro H; simpl.
  - rewrite scale_zero. unfold sub. rewrite scale_zero, add_zero. reflexivity.
  - rewrite (H n (Nat.lt_succ_diag_r n)), IH by (intros; apply H; lia).
    unfold sub. rewrite !scale_add, add_assoc. reflexivity.
Qed.

(** What multiplies the distance from v by at most q in every step multiplies it by at most q^n in n steps. *)
Lemma contracts v q n : 0 <= q -> (forall i, (i < n)%nat -> norm (sub (y (S i)) v) <= q * norm (sub (y i) v)) ->
  norm (sub (y n) v) <= q ^ n * norm (sub (y O) v).
Proof.
  intro Hq. induction n as [| n IH]; intro H; simpl; [lra |].
  pose proof (H n (Nat.lt_succ_diag_r n)) as A. apply (Rle_trans _ _ _ A). rewrite Rmult_assoc.
  apply Rmult_le_compat_l; [exact Hq | apply IH; intros; apply H; lia].
Qed.
End Path.

(** The last step, after a potential that has fallen from v to e or stayed as it was. *)
Lemma last_of_steps left right m v e : 0 <= right - left - m * (v - e) -> 0 <= m -> e <= v -> left <= right.
Proof. intros. nra. Qed.

(** ** Powers of a number between 0 and 1 *)

Lemma power_at_most_one r n : 0 <= r -> r <= 1 -> r ^ n <= 1.
Proof. intros H one. pose proof (pow_incr r 1 n (conj H one)) as P. rewrite pow1 in P. exact P. Qed.

Lemma power_at_most r n : 0 <= r -> r <= 1 -> r ^ S n <= r.
Proof. intros H one. pose proof (power_at_most_one r n H one). simpl. nra. Qed.

(** Bernoulli's inequality, and the next partial sum of the binomial series. *)
Lemma bernoulli_1_of_powers r n : 0 <= r -> r <= 1 -> 0 <= r ^ n - 1 + INR n * (1 - r).
Proof.
  intros H one. induction n as [| n IH]; [simpl; lra |]. rewrite S_INR. simpl.
  pose proof (power_at_most_one r n H one). nra.
Qed.

Lemma bernoulli_2_of_powers r n : 0 <= r -> r <= 1 ->
  0 <= (1 - r) ^ 2 * INR n * (INR n - 1) / 2 - (r ^ n - 1 + INR n * (1 - r)).
Proof.
  intros H one. induction n as [| n IH]; [simpl; lra |]. rewrite S_INR. simpl.
  pose proof (bernoulli_1_of_powers r n H one). simpl in IH. nra.
Qed.
