(** * Clients: finite families of vectors, their means, and deviations from the mean

    A [weighted_set] is a finite set whose elements have weights >= 0 with sum 1: the clients with the weights p_k of the
    server's average, or the outcomes of a draw with their probabilities. *)

From Coq Require Import Reals List Lra FunctionalExtensionality.
From FedConvex Require Import Spaces.
Open Scope R_scope.

Record weighted_set := {
  element :> Type;
  elements : list element;
  every_element : forall k, In k elements;
  weight : element -> R;
  weight_nonneg : forall k, 0 <= weight k;
  weight_sum : fold_right Rplus 0 (map weight elements) = 1
}.

Definition sum {A} (l : list A) (x : A -> R) : R := fold_right Rplus 0 (map x l).

(** The mean sum_k p_k x_k of numbers. *)
Definition average (S : weighted_set) (x : S -> R) : R := sum (elements S) (fun k => weight S k * x k).

Section Sums.
Context {A : Type} (l : list A).
Implicit Types x y : A -> R.

Lemma sum_add x y : sum l (fun k => x k + y k) = sum l x + sum l y.
Proof. unfold sum. induction l as [| k t IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_scale a x : sum l (fun k => a * x k) = a * sum l x.
Proof. unfold sum. induction l as [| k t IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_ext x y : (forall k, In k l -> x k = y k) -> sum l x = sum l y.
Proof. intro H. unfold sum. f_equal. apply map_ext_in. exact H. Qed.

Lemma sum_nonneg x : (forall k, 0 <= x k) -> 0 <= sum l x.
Proof. intro H. unfold sum. induction l as [| k t IH]; simpl; [lra | specialize (H k); lra]. Qed.

Lemma sum_le x y : (forall k, x k <= y k) -> sum l x <= sum l y.
Proof. intro H. unfold sum. induction l as [| k t IH]; simpl; [lra | specialize (H k); lra]. Qed.
End Sums.

Section Averages.
Context (S : weighted_set).
Implicit Types x y : S -> R.

Lemma average_add x y : average S (fun k => x k + y k) = average S x + average S y.
Proof. unfold average. rewrite <- sum_add. apply sum_ext. intros. ring. Qed.

Lemma average_scale a x : average S (fun k => a * x k) = a * average S x.
Proof. unfold average. rewrite <- sum_scale. apply sum_ext. intros. ring. Qed.

Lemma average_ext x y : (forall k, x k = y k) -> average S x = average S y.
Proof. intro H. unfold average. apply sum_ext. intros. rewrite H. reflexivity. Qed.

Lemma average_nonneg x : (forall k, 0 <= x k) -> 0 <= average S x.
Proof. intro H. apply sum_nonneg. intro k. apply Rmult_le_pos; [apply weight_nonneg | apply H]. Qed.

Lemma average_le x y : (forall k, x k <= y k) -> average S x <= average S y.
Proof. intro H. apply sum_le. intro k. apply Rmult_le_compat_l; [apply weight_nonneg | apply H]. Qed.

Lemma average_constant c : average S (fun _ => c) = c.
Proof.
  transitivity (c * sum (elements S) (weight S)).
  - unfold average. rewrite <- sum_scale. apply sum_ext. intros. ring.
  - unfold sum. rewrite weight_sum. ring.
Qed.
End Averages.

(** ** One vector for every client

    [families S V] are the families (u_k) of vectors, with the mean inner product <u, v> = sum_k p_k <u_k, v_k>.  So
    [norm u] is the root of the mean squared length, and families are a [space] themselves. *)

Definition families (S : weighted_set) (V : space) : space.
Proof.
  refine {|
    vector := S -> V;
    zero := fun _ => zero;
    add := fun u v k => add (u k) (v k);
    scale := fun a u k => scale a (u k);
    inner := fun u v => average S (fun k => inner (u k) (v k))
  |}; intros; try apply functional_extensionality; intros.
  - apply add_comm.
  - apply add_assoc.
  - apply add_zero.
  - apply scale_one.
  - apply scale_none.
  - apply scale_scale.
  - apply scale_add.
  - apply add_scale.
  - apply average_ext. intro. apply inner_comm.
  - rewrite <- average_add. apply average_ext. intro. apply inner_add.
  - rewrite <- average_scale. apply average_ext. intro. apply inner_scale.
  - apply average_nonneg. intro. apply inner_square.
Defined.

(** sum_k c_k u_k over a list. *)
Definition combination {V : space} {A} (l : list A) (c : A -> R) (u : A -> V) : V :=
  fold_right add zero (map (fun k => scale (c k) (u k)) l).

(** The mean of a family, as the family with the mean in every place. *)
Definition mean {S V} (u : families S V) : families S V :=
  fun _ => combination (elements S) (weight S) u.

(** A vector that all clients have in common. *)
Definition shared {S V} (u : families S V) : Prop := exists v : V, forall k, u k = v.

Arguments mean {S V} u%V.
Arguments shared {S V} u%V.

Section Means.
Context {S : weighted_set} {V : space}.
Implicit Types u v : families S V.

Lemma inner_combination {A} (l : list A) c (x : A -> V) w :
  inner (combination l c x) w = sum l (fun k => c k * inner (x k) w).
Proof.
  unfold combination, sum. induction l as [| k t IH]; simpl; [apply inner_zero_l |].
  rewrite inner_add, inner_scale, IH. reflexivity.
Qed.

Lemma combination_add {A} (l : list A) c (x y : A -> V) :
  combination l c (fun k => add (x k) (y k)) = add (combination l c x) (combination l c y).
Proof.
  unfold combination. induction l as [| k t IH]; simpl; [symmetry; apply add_zero |]. rewrite IH, scale_add.
  rewrite <- !add_assoc. f_equal. rewrite !add_assoc. f_equal. apply add_comm.
Qed.

Lemma combination_scale {A} (l : list A) c a (x : A -> V) :
  combination l c (fun k => scale a (x k)) = scale a (combination l c x).
Proof.
  unfold combination. induction l as [| k t IH]; simpl; [symmetry; apply scale_zero |].
  rewrite IH, scale_add, !scale_scale. do 2 f_equal. ring.
Qed.

Lemma combination_constant {A} (l : list A) c (x : V) : combination l c (fun _ => x) = scale (sum l c) x.
Proof.
  unfold combination, sum. induction l as [| k t IH]; simpl; [symmetry; apply scale_none |].
  rewrite IH. symmetry. apply add_scale.
Qed.

Lemma mean_add u v : mean (add u v) = add (mean u) (mean v).
Proof. apply functional_extensionality. intro. apply combination_add. Qed.

Lemma mean_scale a u : mean (scale a u) = scale a (mean u).
Proof. apply functional_extensionality. intro. apply combination_scale. Qed.

Lemma mean_shared u : shared u -> mean u = u.
Proof.
  intros [v H]. apply functional_extensionality. intro k. unfold mean.
  replace u with (fun _ : S => v) by (apply functional_extensionality; intro; symmetry; apply H).
  rewrite combination_constant. unfold sum. rewrite weight_sum. apply scale_one.
Qed.

Lemma mean_is_shared u : shared (mean u).
Proof. exists (combination (elements S) (weight S) u). reflexivity. Qed.

Lemma mean_zero : mean zero = zero :> families S V.
Proof. apply mean_shared. exists zero. reflexivity. Qed.

Lemma mean_mean u : mean (mean u) = mean u.
Proof. apply mean_shared, mean_is_shared. Qed.

Lemma inner_mean u v : inner (mean u) v = inner u (mean v).
Proof.
  assert (H : forall x y : families S V, inner (mean x) y = inner (mean x) (mean y)).
  { intros x y. unfold inner at 1 2. simpl. unfold mean. rewrite average_constant.
    unfold average. rewrite (inner_comm V (combination _ _ x)), inner_combination. apply sum_ext.
    intros. rewrite inner_comm. reflexivity. }
  rewrite (H u v), (inner_comm _ u (mean v)), (H v u). apply inner_comm.
Qed.

Lemma shared_add u v : shared u -> shared v -> shared (add u v).
Proof. intros [a Ha] [b Hb]. exists (add a b). intro. simpl. rewrite Ha, Hb. reflexivity. Qed.

Lemma shared_scale a u : shared u -> shared (scale a u).
Proof. intros [v H]. exists (scale a v). intro. simpl. rewrite H. reflexivity. Qed.

(** Every family is its mean plus deviations with mean 0. *)
Lemma split_family u : exists a b, u = add a b /\ mean a = a /\ mean b = zero.
Proof.
  exists (mean u), (sub u (mean u)). split; [symmetry; apply sub_add |]. split; [apply mean_mean |].
  unfold sub. rewrite mean_add, mean_scale, mean_mean. apply sub_self.
Qed.
End Means.
