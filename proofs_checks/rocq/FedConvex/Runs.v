(** * Runs of many rounds

    Where everyone takes part, a run is a sequence: [w t] is the vector before round t + 1.  Where clients are drawn, a
    vector depends on what the rounds before have drawn: [w h], where h is the list of the outcomes so far, the last one
    first.  Rounds draw independently of each other. *)

From Coq Require Import Reals List Lra Lia Psatz Arith FunctionalExtensionality.
From FedConvex Require Import Spaces Families Functions Normal Steps Draws Random.
Import ListNotations.
Open Scope R_scope.

(** The vector before the round that follows the outcomes h, and after it; a vector that is always the same. *)
Definition now {W C V} (u : list (element W) -> families C V) (h : list W) : random W C V := fun _ => u h.
Definition next {W C V} (u : list (element W) -> families C V) (h : list W) : random W C V := fun o => u (o :: h).
Definition always {W C V} (u : families C V) : random W C V := fun _ => u.

(** The expectation of a number after t rounds. *)
Fixpoint after {W : weighted_set} (t : nat) (x : list W -> R) : R :=
  match t with
  | O => x nil
  | S t => after t (fun h => average W (fun o => x (o :: h)))
  end.

(** Sums and means over the first n rounds, with weights r^t: of the weights, of numbers [x t], and of vectors. *)
Fixpoint weights (r : R) (n : nat) : R := match n with O => 0 | S n => weights r n + r ^ n end.
Fixpoint sum_of_rounds (r : R) (n : nat) (x : nat -> R) : R :=
  match n with O => 0 | S n => sum_of_rounds r n x + r ^ n * x n end.
Fixpoint vectors_of_rounds {X : space} (r : R) (u : nat -> X) (n : nat) : X :=
  match n with O => zero | S n => add (vectors_of_rounds r u n) (scale (r ^ n) (u n)) end.
Definition mean_of_rounds {X : space} (r : R) (u : nat -> X) (n : nat) : X :=
  scale (1 / weights r n) (vectors_of_rounds r u n).

(** The same along the rounds that led to h. *)
Fixpoint vectors_along {A} {X : space} (r : R) (u : list A -> X) (h : list A) : X :=
  match h with nil => zero | _ :: h => add (vectors_along r u h) (scale (r ^ length h) (u h)) end.
Definition mean_along {A} {X : space} (r : R) (u : list A -> X) (h : list A) : X :=
  scale (1 / weights r (length h)) (vectors_along r u h).

(** ** Nothing below this line is part of any statement *)

Lemma fixed_now {W C V} (u : list (element W) -> families C V) past : fixed (now u past).
Proof. exists (u past). reflexivity. Qed.

Lemma fixed_always {W C V} (u : families C V) : fixed (@always W C V u).
Proof. exists u. reflexivity. Qed.

Definition here (t : nat) (x : nat -> R) : R := x t.

Lemma weights_power r n : r ^ n = 1 + (r - 1) * weights r n.
Proof. induction n as [| n IH]; simpl; [ring |]. nra. Qed.

Lemma weights_ones n : weights 1 n = INR n.
Proof. induction n as [| n IH]; [reflexivity |]. rewrite S_INR. simpl. rewrite IH, pow1. reflexivity. Qed.

Lemma weights_nonneg r n : 0 <= r -> 0 <= weights r n.
Proof. intro H. induction n as [| n IH]; simpl; [lra |]. pose proof (pow_le r n H). lra. Qed.

Lemma weights_most r n : 0 <= r -> (1 <= n)%nat -> 1 <= weights r n.
Proof.
  intros H. destruct n as [| n]; [lia |]. intros _. induction n as [| n IH]; [simpl; lra |].
  change (weights r (S (S n))) with (weights r (S n) + r ^ S n). pose proof (pow_le r (S n) H). lra.
Qed.

Lemma a_round_at_least n : 1 <= INR n -> (1 <= n)%nat.
Proof. intro H. destruct n; [simpl in H; lra | lia]. Qed.

Lemma power_less r n : r <> 0 -> (1 <= n)%nat -> r ^ (n - 1) = (1 + (r - 1) * weights r n) / r.
Proof.
  intros H N. destruct n as [| n]; [lia |]. replace (S n - 1)%nat with n by lia. rewrite <- weights_power. simpl.
  field. exact H.
Qed.

Lemma power_more r n : r ^ (n + 1) = (1 + (r - 1) * weights r n) * r.
Proof. rewrite pow_add, <- weights_power. simpl. ring. Qed.

Lemma sum_of_rounds_le r n x y : 0 <= r -> (forall t, (t < n)%nat -> x t <= y t) ->
  sum_of_rounds r n x <= sum_of_rounds r n y.
Proof.
  intros Hr H. induction n as [| n IH]; simpl; [lra |].
  pose proof (pow_le r n Hr). assert (sum_of_rounds r n x <= sum_of_rounds r n y) by (apply IH; intros; apply H; lia).
  pose proof (H n (Nat.lt_succ_diag_r n)). nra.
Qed.

(** ** Linear combinations of numbers of rounds *)

Definition total {X} (l : list (R * X)) (E : X -> R) : R := fold_right (fun p s => fst p * E (snd p) + s) 0 l.

Lemma total_ext {X} (l : list (R * X)) E G : (forall x, E x = G x) -> total l E = total l G.
Proof. intro H. unfold total. induction l as [| p l IH]; simpl; [reflexivity |]. rewrite H, IH. reflexivity. Qed.

Lemma sum_of_total {X} (l : list (R * X)) (E : nat -> X -> R) k r n :
  sum_of_rounds r n (fun t => total l (E t) + k) =
  total l (fun x => sum_of_rounds r n (fun t => E t x)) + k * weights r n.
Proof.
  induction n as [| n IH]; simpl.
  - assert (total l (fun _ => 0) = 0) as ->; [| ring].
    unfold total. induction l as [| p l IH]; simpl; [reflexivity |]. rewrite IH. ring.
  - rewrite IH. clear IH.
    enough (total l (fun x => sum_of_rounds r n (fun t => E t x) + r ^ n * E n x) =
      total l (fun x => sum_of_rounds r n (fun t => E t x)) + r ^ n * total l (E n)) as -> by ring.
    unfold total. induction l as [| p l IH]; simpl; [ring |]. rewrite IH. ring.
Qed.

Lemma telescope_numbers r e n (v g : nat -> R) : 0 <= r ->
  (forall t, (t < n)%nat -> r * v (S t) + g t <= v t + e) ->
  r ^ n * v n + sum_of_rounds r n g <= v O + e * weights r n.
Proof.
  intros Hr H. induction n as [| n IH]; simpl; [lra |].
  assert (A : r ^ n * v n + sum_of_rounds r n g <= v O + e * weights r n) by (apply IH; intros; apply H; lia).
  pose proof (H n (Nat.lt_succ_diag_r n)) as B. pose proof (pow_le r n Hr) as P.
  apply (Rmult_le_compat_l (r ^ n)) in B; [| exact P]. nra.
Qed.

(** r^n V_n + the gains so far <= V_0 + the errors so far, for potentials and gains that are linear combinations. *)
Lemma telescope {X} r e n (E : nat -> X -> R) (v : nat -> list (R * X)) (k : nat -> R) (g : list (R * X)) c :
  0 <= r ->
  (forall t, (t < n)%nat ->
    0 <= total (v t) (E t) + k t + e - r * (total (v (S t)) (E (S t)) + k (S t)) - (total g (E t) + c)) ->
  0 <= total (v O) (E O) + k O + e * weights r n - r ^ n * (total (v n) (E n) + k n)
    - (total g (fun x => sum_of_rounds r n (fun t => E t x)) + c * weights r n).
Proof.
  intros Hr H. rewrite <- sum_of_total.
  pose proof (telescope_numbers r e n (fun t => total (v t) (E t) + k t) (fun t => total g (E t) + c) Hr) as T.
  cbv beta in T. enough (forall t, (t < n)%nat -> r * (total (v (S t)) (E (S t)) + k (S t)) + (total g (E t) + c)
    <= total (v t) (E t) + k t + e) as Q by (specialize (T Q); lra).
  intros t Ht. specialize (H t Ht). lra.
Qed.

(** V_n <= q^n V_0 + the errors so far. *)
Lemma iterate_numbers q e n (v : nat -> R) : 0 <= q -> (forall t, (t < n)%nat -> v (S t) <= q * v t + e) ->
  v n <= q ^ n * v O + e * weights q n.
Proof.
  intros Hq H. induction n as [| n IH]; simpl; [lra |].
  assert (A : v n <= q ^ n * v O + e * weights q n) by (apply IH; intros; apply H; lia).
  pose proof (H n (Nat.lt_succ_diag_r n)) as B. apply (Rmult_le_compat_l q) in A; [| exact Hq].
  pose proof (weights_power q n) as P. nra.
Qed.

Lemma iterate {X} q e n (E : nat -> X -> R) (v : nat -> list (R * X)) (k : nat -> R) : 0 <= q ->
  (forall t, (t < n)%nat -> 0 <= q * (total (v t) (E t) + k t) + e - (total (v (S t)) (E (S t)) + k (S t))) ->
  0 <= q ^ n * (total (v O) (E O) + k O) + e * weights q n - (total (v n) (E n) + k n).
Proof.
  intros Hq H. pose proof (iterate_numbers q e n (fun t => total (v t) (E t) + k t) Hq) as T. cbv beta in T.
  enough (forall t, (t < n)%nat -> total (v (S t)) (E (S t)) + k (S t) <= q * (total (v t) (E t) + k t) + e) as Q
    by (specialize (T Q); lra).
  intros t Ht. specialize (H t Ht). lra.
Qed.

(** ** Expectations over the draws of all rounds so far *)

(** The sum over the rounds that led to where a run stands. *)
Fixpoint along {A} (r : R) (x : list A -> R) (h : list A) : R :=
  match h with nil => 0 | _ :: h => along r x h + r ^ length h * x h end.

Section After.
Context {W : weighted_set}.
Implicit Types x y : list W -> R.

Lemma after_le t x y : (forall h, length h = t -> x h <= y h) -> after t x <= after t y.
Proof.
  revert x y. induction t as [| t IH]; intros x y H; simpl; [apply H; reflexivity |].
  apply IH. intros h Hh. apply average_le. intro o. apply H. simpl. rewrite Hh. reflexivity.
Qed.

Lemma after_ext t x y : (forall h, length h = t -> x h = y h) -> after t x = after t y.
Proof. intro H. apply Rle_antisym; apply after_le; intros h Hh; rewrite (H h Hh); lra. Qed.

Lemma after_add t x y : after t (fun h => x h + y h) = after t x + after t y.
Proof.
  revert x y. induction t as [| t IH]; intros x y; simpl; [reflexivity |].
  rewrite <- IH. apply after_ext. intros h _. apply average_add.
Qed.

Lemma after_scale t a x : after t (fun h => a * x h) = a * after t x.
Proof.
  revert x. induction t as [| t IH]; intro x; simpl; [reflexivity |].
  rewrite <- IH. apply after_ext. intros h _. apply average_scale.
Qed.

Lemma after_constant t a : after t (fun _ : list W => a) = a.
Proof.
  induction t as [| t IH]; simpl; [reflexivity |]. transitivity (after t (fun _ : list W => a)); [| exact IH].
  apply after_ext. intros h _. apply average_constant.
Qed.

Lemma after_total t (l : list (R * (list W -> R))) k :
  after t (fun h => total l (fun x => x h) + k) = total l (after t) + k.
Proof.
  rewrite after_add, after_constant. f_equal. unfold total. induction l as [| p l IH]; simpl.
  - apply after_constant.
  - rewrite after_add, after_scale, IH. reflexivity.
Qed.

(** What holds in every round holds in expectation. *)
Lemma in_expectation t (l : list (R * (list W -> R))) k :
  (forall h, length h = t -> 0 <= total l (fun x => x h) + k) -> 0 <= total l (after t) + k.
Proof. intro H. rewrite <- after_total, <- (after_constant t 0). apply after_le. exact H. Qed.

Lemma equal_in_expectation t (l : list (R * (list W -> R))) k :
  (forall h, length h = t -> total l (fun x => x h) + k = 0) -> total l (after t) + k = 0.
Proof. intro H. rewrite <- after_total, <- (after_constant t 0). apply after_ext. exact H. Qed.

Lemma round_in_expectation t (v l : list (R * (list W -> R))) k :
  (forall h, length h = t -> 0 <= total v (fun x => average W (fun o => x (o :: h))) + (total l (fun x => x h) + k)) ->
  0 <= total v (after (S t)) + (total l (after t) + k).
Proof.
  intro H. rewrite <- (after_total t l k).
  assert (total v (after (S t)) = after t (fun h => total v (fun x => average W (fun o => x (o :: h))))) as ->.
  { clear H. unfold total. induction v as [| p v IH]; [symmetry; exact (after_constant t 0) |].
    cbn [fold_right]. rewrite IH, after_add, after_scale. reflexivity. }
  rewrite <- after_add, <- (after_constant t 0). apply after_le. exact H.
Qed.

Lemma after_along r n x : after n (along r x) = sum_of_rounds r n (fun t => after t x).
Proof.
  induction n as [| n IH]; [reflexivity |]. cbn [after sum_of_rounds along]. rewrite <- IH.
  transitivity (after n (fun h => along r x h + r ^ n * x h)).
  - apply after_ext. intros h <-. apply average_constant.
  - rewrite after_add, after_scale. reflexivity.
Qed.
End After.

(** ** Jensen's inequality *)

Section Jensen.
Context {X : space} (f : function X) (convex : curvature_at_least 0 f).

Lemma value_at_mean r (m : X) : 0 <= r -> forall n (u : nat -> X),
  weights r n * value f m + inner (gradient f m) (sub (vectors_of_rounds r u n) (scale (weights r n) m)) <=
  sum_of_rounds r n (fun t => value f (u t)).
Proof.
  intros Hr n u. rewrite inner_sub_r, inner_scale_r.
  induction n as [| n IH]; simpl.
  - rewrite inner_zero_r. lra.
  - rewrite inner_add_r, inner_scale_r. pose proof (convex m (u n)) as C. rewrite inner_sub_r in C.
    pose proof (pow_le r n Hr) as P. pose proof (inner_square X (sub (u n) m)) as Q.
    assert (value f m + (inner (gradient f m) (u n) - inner (gradient f m) m) <= value f (u n)) as D by lra.
    apply (Rmult_le_compat_l (r ^ n)) in D; [| exact P]. lra.
Qed.

Lemma jensen_along {A} r (m : X) : 0 <= r -> forall (u : list A -> X) h,
  weights r (length h) * value f m +
    inner (gradient f m) (sub (vectors_along r u h) (scale (weights r (length h)) m)) <=
  along r (fun h => value f (u h)) h.
Proof.
  intros Hr u h. rewrite inner_sub_r, inner_scale_r. induction h as [| o h IH]; simpl.
  - rewrite inner_zero_r. lra.
  - rewrite inner_add_r, inner_scale_r. pose proof (convex m (u h)) as C. rewrite inner_sub_r in C.
    pose proof (pow_le r (length h) Hr) as P. pose proof (inner_square X (sub (u h) m)) as Q.
    assert (value f m + (inner (gradient f m) (u h) - inner (gradient f m) m) <= value f (u h)) as D by lra.
    apply (Rmult_le_compat_l (r ^ length h)) in D; [| exact P]. lra.
Qed.

Lemma no_distance (v : X) c : c <> 0 -> forall g : X, inner g (sub v (scale c (scale (1 / c) v))) = 0.
Proof.
  intros Hc g. rewrite scale_scale. replace (c * (1 / c)) with 1 by (field; exact Hc).
  rewrite scale_one, sub_self. apply inner_zero_r.
Qed.

Lemma jensen_of_rounds r n (u : nat -> X) : 0 <= r -> 0 < weights r n ->
  0 <= 1 / weights r n * sum_of_rounds r n (fun t => value f (u t)) - value f (mean_of_rounds r u n).
Proof.
  intros Hr S. pose proof (value_at_mean r (mean_of_rounds r u n) Hr n u) as J. unfold mean_of_rounds in *.
  rewrite no_distance in J by lra.
  assert (D : value f (scale (1 / weights r n) (vectors_of_rounds r u n)) * 1 <=
    1 / weights r n * sum_of_rounds r n (fun t => value f (u t))).
  { apply (Rmult_le_reg_l (weights r n)); [exact S |]. rewrite <- (Rmult_assoc (weights r n) (1 / weights r n)).
    replace (weights r n * (1 / weights r n)) with 1 by (field; lra). lra. }
  lra.
Qed.
End Jensen.

Lemma jensen_after {W : weighted_set} {X : space} (f : function X) (convex : curvature_at_least 0 f) r n
  (u : list W -> X) : 0 <= r -> 0 < weights r n ->
  0 <= 1 / weights r n * sum_of_rounds r n (fun t => after t (fun h => value f (u h)))
    - after n (fun h => value f (mean_along r u h)).
Proof.
  intros Hr S. rewrite <- (after_along r n (fun h => value f (u h))), <- after_scale.
  enough (after n (fun h => value f (mean_along r u h)) <=
    after n (fun h => 1 / weights r n * along r (fun h => value f (u h)) h)) by lra.
  apply after_le. intros h Hh. pose proof (jensen_along f convex r (mean_along r u h) Hr u h) as J.
  unfold mean_along in *. rewrite Hh in *. rewrite no_distance in J by lra.
  apply (Rmult_le_reg_l (weights r n)); [exact S |]. rewrite <- Rmult_assoc.
  replace (weights r n * (1 / weights r n)) with 1 by (field; lra). lra.
Qed.

(** ** For proofs that are written by a program *)

Lemma same_difference left right total : left <= right -> total = right - left -> 0 <= total.
Proof. lra. Qed.

Lemma equal_difference left right total : left = right -> total = right - left -> total = 0.
Proof. lra. Qed.
