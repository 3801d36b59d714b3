(** * Rounds in which only drawn clients take part

    A vector that depends on the draw of a round is a family over the outcomes of the draw, of families over the clients:
    [random W C V].  Its inner product is the expectation of the mean inner product. *)

From Coq Require Import Reals List Lra Psatz FunctionalExtensionality.
From FedConvex Require Import Spaces Families Functions Normal.
Open Scope R_scope.

Definition random (W C : weighted_set) (V : space) : space := families W (families C V).

(** A vector that does not depend on the draw, and one that all clients have in common. *)
Definition fixed {W C V} (u : random W C V) : Prop := exists v : families C V, forall w, u w = v.
Definition common {W C V} (u : random W C V) : Prop := forall w, shared (u w).

Arguments fixed {W C V} u%V.
Arguments common {W C V} u%V.

(** The mean over all clients, in every outcome, and the expectation over the outcomes. *)
Definition mean_of_all {W C V} (u : random W C V) : random W C V := fun w => mean (u w).
Definition expectation {W C V} (u : random W C V) : random W C V := mean u.

Arguments mean_of_all {W C V} u%V.
Arguments expectation {W C V} u%V.

(** ** Draws without replacement

    [chosen w k] is 1 where client k is drawn, else 0.  P of m clients are drawn, every client with the same probability,
    and every two clients with the same probability; the m clients have the same weight. *)

Record draw_without_replacement (W C : weighted_set) (P m : R) := {
  chosen : W -> C -> R;
  chosen_or_not : forall w k, chosen w k = 0 \/ chosen w k = 1;
  drawn_number : forall w, sum (elements C) (chosen w) = P;
  clients_differ : NoDup (elements C);
  clients_number : INR (length (elements C)) = m;
  equal_weights : forall k, weight C k = 1 / m;
  each_is_drawn : forall k, average W (fun w => chosen w k) = P / m;
  pair_is_drawn : forall j k, j <> k -> average W (fun w => chosen w j * chosen w k) = P * (P - 1) / (m * (m - 1))
}.
Arguments chosen {W C P m} d w k.

(** ** Independent draws

    [pick i w] is the i-th of K drawn clients.  Each is client k with probability p_k: the expectation of x_(pick i) is
    the mean of the x_k, whatever vectors they are.  Two draws are independent. *)

Record independent_draws (W C : weighted_set) (K : nat) := {
  pick : nat -> W -> C;
  each_pick : forall i (V : space) (x : C -> V), (i < K)%nat ->
    combination (elements W) (weight W) (fun w => x (pick i w)) = combination (elements C) (weight C) x;
  two_picks : forall i j (x : C -> C -> R), (i < K)%nat -> (j < K)%nat -> i <> j ->
    average W (fun w => x (pick i w) (pick j w)) = average C (fun k => average C (x k))
}.
Arguments pick {W C K} i0 i w.

(** The server's average over the clients that are drawn, and what remains where those that are drawn replace the old
    by the new. *)
Definition mean_of_drawn {W C V P m} (d : draw_without_replacement W C P m) (u : random W C V) : random W C V :=
  fun w _ => scale (1 / P) (combination (elements C) (chosen d w) (u w)).

Definition selected {W C V P m} (d : draw_without_replacement W C P m) (u : random W C V) : random W C V :=
  fun w k => scale (chosen d w k) (u w k).

Definition mean_of_picks {W C V K} (d : independent_draws W C K) (u : random W C V) : random W C V :=
  fun w _ => scale (1 / INR K) (combination (seq 0 K) (fun _ => 1) (fun i => u w (pick d i w))).

Arguments mean_of_drawn {W C V P m} d u%V.
Arguments selected {W C V P m} d u%V.
Arguments mean_of_picks {W C V K} d u%V.

(** The real numbers as a space. *)
Definition line : space.
Proof.
  refine {| vector := R; zero := 0; add := Rplus; scale := Rmult; inner := Rmult |}; intros; try ring.
  apply Rle_0_sqr.
Defined.

(** ** The laws of draws: nothing below this line is part of any statement *)

Record draw_laws {F : space} (M D E S : F -> F) (pi sg : R) : Prop := {
  M_add : forall u v, M (add u v) = add (M u) (M v);
  M_scale : forall a u, M (scale a u) = scale a (M u);
  M_self : forall u v, inner (M u) v = inner u (M v);
  E_add : forall u v, E (add u v) = add (E u) (E v);
  E_scale : forall a u, E (scale a u) = scale a (E u);
  E_self : forall u v, inner (E u) v = inner u (E v);
  D_add : forall u v, D (add u v) = add (D u) (D v);
  D_scale : forall a u, D (scale a u) = scale a (D u);
  S_add : forall u v, S (add u v) = add (S u) (S v);
  S_scale : forall a u, S (scale a u) = scale a (S u);
  S_self : forall u v, inner (S u) v = inner u (S v);
  S_twice : forall u v, inner (S u) (S v) = inner (S u) v;
  D_same : forall a, M a = a -> E a = a -> D a = a;
  M_S_same : forall a, M a = a -> E a = a -> M (S a) = scale pi a;
  E_S : forall a, E a = a -> E (S a) = scale pi a;
  M_D : forall u, M (D u) = D u;
  E_D : forall u, M u = zero -> E u = u -> E (D u) = zero;
  M_S_apart : forall u, M u = zero -> E u = u -> M (S u) = scale pi (D u);
  D_inner : forall u v, M u = zero -> E u = u -> M v = zero -> E v = v -> inner (D u) (D v) = sg * inner u v
}.

Section Laws.
Context {W C : weighted_set} {V : space}.
Implicit Types u v : random W C V.

Lemma fixed_is u : fixed u -> expectation u = u.
Proof. intros [v H]. apply mean_shared. exists v. exact H. Qed.

Lemma is_fixed u : expectation u = u -> fixed u.
Proof. intros <-. exact (mean_is_shared u). Qed.

Lemma common_is u : common u -> mean_of_all u = u.
Proof. intro H. apply functional_extensionality. intro w. apply mean_shared, H. Qed.

Lemma mean_of_all_add u v : mean_of_all (add u v) = add (mean_of_all u) (mean_of_all v).
Proof. apply functional_extensionality. intro w. apply mean_add. Qed.

Lemma mean_of_all_scale a u : mean_of_all (scale a u) = scale a (mean_of_all u).
Proof. apply functional_extensionality. intro w. apply mean_scale. Qed.

Lemma mean_of_all_self u v : inner (mean_of_all u) v = inner u (mean_of_all v).
Proof. apply average_ext. intro w. apply inner_mean. Qed.

Lemma combination_at {A} (l : list A) c (x : A -> families C V) k :
  combination l c x k = combination l c (fun i => x i k).
Proof.
  induction l as [| i l IH]; [reflexivity |].
  change (add (scale (c i) (x i k)) (combination l c x k) =
    add (scale (c i) (x i k)) (combination l c (fun j => x j k))).
  rewrite IH. reflexivity.
Qed.

Lemma expectation_at u w k : expectation u w k = combination (elements W) (weight W) (fun x => u x k).
Proof. apply combination_at. Qed.

Lemma combination_ext {A} (l : list A) c e (x y : A -> V) :
  (forall k, scale (c k) (x k) = scale (e k) (y k)) -> combination l c x = combination l e y.
Proof. intro H. unfold combination. f_equal. apply map_ext. exact H. Qed.

Lemma combination_ext_in {A} (l : list A) c e (x y : A -> V) :
  (forall k, In k l -> scale (c k) (x k) = scale (e k) (y k)) -> combination l c x = combination l e y.
Proof. intro H. unfold combination. f_equal. apply map_ext_in. exact H. Qed.

Lemma combination_swap {A B} (l : list A) (t : list B) c e (x : A -> B -> V) :
  combination l c (fun i => combination t e (x i)) = combination t e (fun j => combination l c (fun i => x i j)).
Proof.
  induction l as [| i l IH].
  - unfold combination at 1. simpl. symmetry.
    transitivity (combination t e (fun _ => zero : V)); [apply combination_ext; reflexivity |].
    rewrite combination_constant. apply scale_zero.
  - transitivity (add (scale (c i) (combination t e (x i))) (combination l c (fun i => combination t e (x i))));
      [reflexivity |].
    rewrite IH, <- combination_scale, <- combination_add. apply combination_ext. reflexivity.
Qed.

Lemma combination_times {A} (l : list A) c e (y : V) :
  combination l c (fun i => scale (e i) y) = scale (sum l (fun i => c i * e i)) y.
Proof.
  unfold combination, sum. induction l as [| i l IH]; simpl; [symmetry; apply scale_none |].
  rewrite IH, scale_scale, add_scale. reflexivity.
Qed.

Lemma inner_two_combinations {A B} (l : list A) (t : list B) c e (x : A -> V) (y : B -> V) :
  inner (combination l c x) (combination t e y) = sum l (fun i => sum t (fun j => c i * e j * inner (x i) (y j))).
Proof.
  rewrite inner_combination. apply sum_ext. intros i _. rewrite inner_comm, inner_combination, <- sum_scale.
  apply sum_ext. intros j _. rewrite inner_comm. ring.
Qed.

Lemma average_sum {A} (S : weighted_set) (l : list A) (x : S -> A -> R) :
  average S (fun w => sum l (x w)) = sum l (fun i => average S (fun w => x w i)).
Proof.
  induction l as [| i l IH].
  - unfold sum. simpl. apply average_constant.
  - transitivity (average S (fun w => x w i + sum l (x w))); [reflexivity |]. rewrite average_add, IH. reflexivity.
Qed.

Section Uniform.
Context {P m : R} (d : draw_without_replacement W C P m).
Hypothesis P_one : 1 <= P.
Hypothesis m_one : 1 <= m.

Let D := @mean_of_drawn W C V P m d.
Let S := @selected W C V P m d.

Lemma selected_mean u w : mean (fun k => scale (chosen d w k) (u w k)) = scale (P / m) (D u w) :> families C V.
Proof.
  apply functional_extensionality. intro k. unfold D, mean_of_drawn, mean. simpl. rewrite scale_scale.
  rewrite <- combination_scale. apply combination_ext. intro j. rewrite !scale_scale, (equal_weights _ _ _ _ d).
  f_equal. field. split; lra.
Qed.

Lemma double_sum (l : list C) (x : C -> C -> R) (q r : R) (c : C -> C -> R) : NoDup l ->
  (forall j k, j <> k -> c j k = q) -> (forall k, c k k = r) ->
  sum l (fun j => sum l (fun k => c j k * x j k)) =
  q * sum l (fun j => sum l (x j)) + (r - q) * sum l (fun k => x k k).
Proof.
  intros H Hq Hr. induction H as [| a l Ha Hl IH]; [unfold sum; simpl; ring |].
  assert (E : forall y : C -> C -> R, sum (a :: l) (fun j => sum (a :: l) (y j)) =
    y a a + sum l (y a) + sum l (fun j => y j a) + sum l (fun j => sum l (y j))).
  { intro y. transitivity (y a a + sum l (y a) + sum l (fun j => y j a + sum l (y j))); [reflexivity |].
    rewrite sum_add. ring. }
  rewrite (E (fun j k => c j k * x j k)), (E x), IH, Hr.
  rewrite (sum_ext l (fun k => c a k * x a k) (fun k => q * x a k)).
  2: { intros k Hk. rewrite Hq; [reflexivity | intros ->; contradiction]. }
  rewrite (sum_ext l (fun j => c j a * x j a) (fun j => q * x j a)).
  2: { intros k Hk. rewrite Hq; [reflexivity | intros ->; contradiction]. }
  rewrite !sum_scale. transitivity (r * x a a + q * sum l (x a) + q * sum l (fun k => x k a) +
    (q * sum l (fun j => sum l (x j)) + (r - q) * sum l (fun k => x k k))); [ring |].
  transitivity (q * (x a a + sum l (x a) + sum l (fun j => x j a) + sum l (fun j => sum l (x j))) +
    (r - q) * (x a a + sum l (fun k => x k k))); [ring | reflexivity].
Qed.

Lemma sum_of_apart (x : C -> V) : combination (elements C) (weight C) x = zero ->
  combination (elements C) (fun _ => 1) x = zero.
Proof.
  intro H. transitivity (scale m (combination (elements C) (weight C) x)); [| rewrite H; apply scale_zero].
  rewrite <- combination_scale. apply combination_ext. intro k. rewrite scale_scale, (equal_weights _ _ _ _ d).
  f_equal. field. lra.
Qed.

Lemma D_constant u w (v : V) : (forall k, u w k = v) -> forall k, D u w k = v.
Proof.
  intros H k. unfold D, mean_of_drawn.
  transitivity (scale (1 / P) (combination (elements C) (chosen d w) (fun _ => v))).
  - f_equal. apply combination_ext. intro j. rewrite H. reflexivity.
  - rewrite combination_constant, (drawn_number _ _ _ _ d), scale_scale.
    replace (1 / P * P) with 1 by (field; lra). apply scale_one.
Qed.

Lemma one_client : m = 1 -> forall j k : C, j = k.
Proof.
  intros H j k. pose proof (clients_number _ _ _ _ d) as N. rewrite H in N.
  pose proof (every_element C j) as Hj. pose proof (every_element C k) as Hk.
  assert (L : length (elements C) = 1%nat) by (apply INR_eq; rewrite N; reflexivity).
  destruct (elements C) as [| a [| b l]]; simpl in *; try discriminate.
  destruct Hj as [<- | []], Hk as [<- | []]. reflexivity.
Qed.

Lemma two_drawn (q : R) (u v : C -> V) : (forall j k, j <> k -> average W (fun w => chosen d w j * chosen d w k) = q) ->
  combination (elements C) (fun _ => 1) u = zero ->
  average W (fun w => inner (combination (elements C) (chosen d w) u) (combination (elements C) (chosen d w) v)) =
  (P / m - q) * sum (elements C) (fun k => inner (u k) (v k)).
Proof.
  intros Hq Hu.
  rewrite (average_ext W _ (fun w => sum (elements C) (fun j => sum (elements C) (fun k =>
    chosen d w j * chosen d w k * inner (u j) (v k))))) by (intro w; apply inner_two_combinations).
  rewrite average_sum.
  rewrite (sum_ext _ _ (fun j => sum (elements C) (fun k =>
    average W (fun w => chosen d w j * chosen d w k) * inner (u j) (v k)))).
  2: { intros j _. rewrite average_sum. apply sum_ext. intros k _. rewrite Rmult_comm, <- average_scale.
       apply average_ext. intro w. ring. }
  rewrite (double_sum _ (fun j k => inner (u j) (v k)) q (P / m)).
  - assert (Z : sum (elements C) (fun j => sum (elements C) (fun k => inner (u j) (v k))) = 0).
    { transitivity (inner (combination (elements C) (fun _ => 1) u) (combination (elements C) (fun _ => 1) v)).
      - rewrite inner_two_combinations. apply sum_ext. intros j _. apply sum_ext. intros k _. ring.
      - rewrite Hu. apply inner_zero_l. }
    rewrite Z. ring.
  - apply (clients_differ _ _ _ _ d).
  - exact Hq.
  - intro k. rewrite <- (each_is_drawn _ _ _ _ d k). apply average_ext. intro w.
    destruct (chosen_or_not _ _ _ _ d w k) as [-> | ->]; ring.
Qed.

Lemma sum_average (x : C -> R) : sum (elements C) x = m * average C x.
Proof.
  unfold average. rewrite <- sum_scale. apply sum_ext. intros k _. rewrite (equal_weights _ _ _ _ d). field. lra.
Qed.

Lemma uniform_law_with (sg q : R) :
  (forall j k, j <> k -> average W (fun w => chosen d w j * chosen d w k) = q) ->
  m * (P / m - q) / P ^ 2 = sg ->
  draw_laws (@mean_of_all W C V) D (@expectation W C V) S (P / m) sg.
Proof.
  intros Hq Hsg.
  assert (MS : forall u, mean_of_all (S u) = scale (P / m) (D u)).
  { intro u. apply functional_extensionality. intro w. apply selected_mean. }
  assert (DC : forall u, mean_of_all u = u -> D u = u).
  { intros u Hu. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    apply D_constant. intro j. rewrite <- Hu. reflexivity. }
  assert (EF : forall u : random W C V, expectation u = u -> exists v : families C V, u = fun _ => v).
  { intros u Hu. destruct (is_fixed u Hu) as [v Hv]. exists v. apply functional_extensionality. exact Hv. }
  constructor.
  - exact mean_of_all_add.
  - exact mean_of_all_scale.
  - exact mean_of_all_self.
  - exact mean_add.
  - exact mean_scale.
  - exact inner_mean.
  - intros u v. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    unfold D, mean_of_drawn. simpl. rewrite combination_add. apply scale_add.
  - intros a u. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    unfold D, mean_of_drawn. simpl. rewrite combination_scale, !scale_scale. f_equal. ring.
  - intros u v. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    apply scale_add.
  - intros a u. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    unfold S, selected. simpl. rewrite !scale_scale. f_equal. ring.
  - intros u v. apply average_ext. intro w. apply average_ext. intro k. unfold S, selected.
    rewrite inner_scale, inner_scale_r. reflexivity.
  - intros u v. apply average_ext. intro w. apply average_ext. intro k. unfold S, selected.
    rewrite !inner_scale, inner_scale_r. destruct (chosen_or_not _ _ _ _ d w k) as [-> | ->]; ring.
  - intros a Ha _. exact (DC a Ha).
  - intros a Ha _. rewrite MS, (DC a Ha). reflexivity.
  - intros a Ha. destruct (EF a Ha) as [v ->]. apply functional_extensionality. intro w.
    apply functional_extensionality. intro k. rewrite expectation_at. unfold S, selected.
    rewrite combination_times. simpl. f_equal. apply (each_is_drawn _ _ _ _ d).
  - intro u. apply common_is. intro w. exists (scale (1 / P) (combination (elements C) (chosen d w) (u w))).
    reflexivity.
  - intros u Mu Eu. destruct (EF u Eu) as [v ->].
    assert (Hv : combination (elements C) (weight C) v = zero).
    { destruct (elements W) as [| w l] eqn:EW.
      - pose proof (weight_sum W) as Q. rewrite EW in Q. simpl in Q. lra.
      - destruct (elements C) as [| k t] eqn:EC.
        + reflexivity.
        + pose proof (f_equal (fun x : random W C V => x w k) Mu) as Q. rewrite <- EC. exact Q. }
    apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    rewrite expectation_at. unfold D, mean_of_drawn.
    rewrite combination_scale.
    transitivity (scale (1 / P) (combination (elements C) (fun _ => P / m) v)).
    { f_equal. transitivity (combination (elements C) (fun _ => 1) (fun j => scale (P / m) (v j))).
      - transitivity (combination (elements C) (fun _ => 1) (fun j =>
          combination (elements W) (weight W) (fun x => scale (chosen d x j) (v j)))).
        + rewrite <- combination_swap. apply combination_ext. intro x. f_equal. apply combination_ext. intro j.
          rewrite scale_one. reflexivity.
        + apply combination_ext. intro j. f_equal. rewrite combination_times. f_equal.
          apply (each_is_drawn _ _ _ _ d).
      - apply combination_ext. intro j. rewrite scale_scale. f_equal. ring. }
    transitivity (scale (1 / P) (scale (P / m) (combination (elements C) (fun _ => 1) v))).
    { f_equal. rewrite <- combination_scale. apply combination_ext. intro j. rewrite scale_scale. f_equal. ring. }
    rewrite (sum_of_apart v Hv), !scale_zero. reflexivity.
  - intros u Mu Eu. rewrite MS. reflexivity.
  - intros u v Mu Eu Mv Ev. destruct (EF u Eu) as [x ->]. destruct (EF v Ev) as [y ->].
    assert (Hx : combination (elements C) (fun _ => 1) x = zero).
    { apply sum_of_apart. destruct (elements W) as [| w l] eqn:EW.
      - pose proof (weight_sum W) as Q. rewrite EW in Q. simpl in Q. lra.
      - destruct (elements C) as [| k t] eqn:EC.
        + reflexivity.
        + pose proof (f_equal (fun z : random W C V => z w k) Mu) as Q. rewrite <- EC. exact Q. }
    unfold D, mean_of_drawn. simpl.
    rewrite (average_ext W _ (fun w => (1 / P) ^ 2 *
      inner (combination (elements C) (chosen d w) x) (combination (elements C) (chosen d w) y))).
    2: { intro w. rewrite average_constant, inner_scale, inner_scale_r. ring. }
    rewrite average_scale, (two_drawn q x y Hq Hx), sum_average, average_constant, <- Hsg. field. split; lra.
Qed.

Theorem uniform_law : P <= m ->
  exists sg, 0 <= sg /\ sg <= 1 /\ sg * P * (m - 1) - m + P = 0 /\ (m <= 1 -> sg * P - m + P = 0) /\
    draw_laws (@mean_of_all W C V) D (@expectation W C V) S (P / m) sg.
Proof.
  intro PM. destruct (Rle_lt_or_eq_dec _ _ m_one) as [more | one].
  - exists ((m - P) / (P * (m - 1))). split; [| split; [| split; [| split]]].
    + apply Rmult_le_pos; [lra |]. left. apply Rinv_0_lt_compat. nra.
    + apply (Rmult_le_reg_r (P * (m - 1))); [nra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; nra.
    + field. split; lra.
    + lra.
    + apply (uniform_law_with _ (P * (P - 1) / (m * (m - 1)))).
      * apply (pair_is_drawn _ _ _ _ d).
      * field. repeat split; lra.
  - exists 0. assert (E : P = m) by lra. split; [lra | split; [lra | split; [lra | split; [lra |]]]].
    apply (uniform_law_with _ (P / m)).
    + intros j k N. elim N. apply one_client. lra.
    + field. split; lra.
Qed.
End Uniform.

Section Independent.
Context {K : nat} (d : independent_draws W C K).
Hypothesis K_one : 1 <= INR K.

Let D := @mean_of_picks W C V K d.

Lemma picks_constant (v : V) : scale (1 / INR K) (combination (seq 0 K) (fun _ => 1) (fun _ => v)) = v.
Proof.
  rewrite combination_constant, scale_scale.
  replace (sum (seq 0 K) (fun _ => 1)) with (INR K).
  - replace (1 / INR K * INR K) with 1 by (field; lra). apply scale_one.
  - clear K_one D d. generalize 0%nat. induction K as [| n IH]; intro b; [reflexivity |].
    rewrite S_INR, (IH (Datatypes.S b)). unfold sum. simpl. ring.
Qed.

Lemma picks_sum (c : nat -> nat -> R) (q r : R) (l : list nat) : NoDup l ->
  (forall i j, In i l -> In j l -> i <> j -> c i j = q) -> (forall i, In i l -> c i i = r) ->
  sum l (fun i => sum l (c i)) = INR (length l) * r + INR (length l) * (INR (length l) - 1) * q.
Proof.
  intros H Hq Hr. induction H as [| a l Ha Hl IH]; [unfold sum; simpl; ring |].
  assert (E : sum (a :: l) (fun i => sum (a :: l) (c i)) =
    c a a + sum l (c a) + sum l (fun i => c i a) + sum l (fun i => sum l (c i))).
  { transitivity (c a a + sum l (c a) + sum l (fun i => c i a + sum l (c i))); [reflexivity |].
    rewrite sum_add. ring. }
  rewrite E, IH; [| intros; apply Hq; simpl; auto | intros; apply Hr; simpl; auto].
  rewrite (sum_ext l (c a) (fun _ => 1 * q)), (sum_ext l (fun i => c i a) (fun _ => 1 * q)).
  - assert (N : forall x, sum l (fun _ => 1 * x) = INR (length l) * x).
    { intro x. clear. induction l as [| b l IH]; [unfold sum; simpl; ring |].
      change (1 * x + sum l (fun _ => 1 * x) = INR (length (b :: l)) * x). rewrite IH.
      change (length (b :: l)) with (Datatypes.S (length l)). rewrite S_INR. ring. }
    rewrite !N, (Hr a (or_introl eq_refl)). change (length (a :: l)) with (Datatypes.S (length l)). rewrite S_INR. ring.
  - intros i Hi. rewrite Hq; [ring | right; exact Hi | left; reflexivity | intros ->; contradiction].
  - intros i Hi. rewrite Hq; [ring | left; reflexivity | right; exact Hi | intros ->; contradiction].
Qed.

Theorem independent_law :
  draw_laws (@mean_of_all W C V) D (@expectation W C V) (fun _ => zero) 0 (1 / INR K).
Proof.
  assert (DC : forall u, mean_of_all u = u -> D u = u).
  { intros u Hu. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    unfold D, mean_of_picks. transitivity (scale (1 / INR K) (combination (seq 0 K) (fun _ => 1) (fun _ => u w k))).
    - f_equal. apply combination_ext. intro i. f_equal. rewrite <- Hu. reflexivity.
    - apply picks_constant. }
  assert (EF : forall u : random W C V, expectation u = u -> exists v : families C V, u = fun _ => v).
  { intros u Hu. destruct (is_fixed u Hu) as [v Hv]. exists v. apply functional_extensionality. exact Hv. }
  assert (MZ : forall v : families C V, mean_of_all (fun _ => v) = zero :> random W C V ->
    combination (elements C) (weight C) v = zero).
  { intros v Mu. destruct (elements W) as [| w l] eqn:EW.
    - pose proof (weight_sum W) as Q. rewrite EW in Q. simpl in Q. lra.
    - destruct (elements C) as [| k t] eqn:EC; [reflexivity |].
      pose proof (f_equal (fun x : random W C V => x w k) Mu) as Q. rewrite <- EC. exact Q. }
  constructor.
  - exact mean_of_all_add.
  - exact mean_of_all_scale.
  - exact mean_of_all_self.
  - exact mean_add.
  - exact mean_scale.
  - exact inner_mean.
  - intros u v. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    unfold D, mean_of_picks. simpl. rewrite combination_add. apply scale_add.
  - intros a u. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    unfold D, mean_of_picks. simpl. rewrite combination_scale, !scale_scale. f_equal. ring.
  - intros. symmetry. apply add_zero.
  - intros. symmetry. apply scale_zero.
  - intros. rewrite inner_zero_l, inner_zero_r. reflexivity.
  - intros. rewrite !inner_zero_l. reflexivity.
  - intros a Ha _. exact (DC a Ha).
  - intros a Ha _. rewrite scale_none. exact (M_zero mean_of_all mean_of_all_scale).
  - intros a Ha. rewrite scale_none. exact mean_zero.
  - intro u. apply common_is. intro w.
    exists (scale (1 / INR K) (combination (seq 0 K) (fun _ => 1) (fun i => u w (pick d i w)))). reflexivity.
  - intros u Mu Eu. destruct (EF u Eu) as [v ->]. apply functional_extensionality. intro w.
    apply functional_extensionality. intro k. rewrite expectation_at. unfold D, mean_of_picks.
    rewrite combination_scale, combination_swap.
    transitivity (scale (1 / INR K) (combination (seq 0 K) (fun _ => 1) (fun _ => zero : V))).
    + f_equal. apply combination_ext_in. intros i Hi. f_equal. rewrite <- (MZ v Mu). apply (each_pick _ _ _ d).
      apply in_seq in Hi. apply Hi.
    + rewrite combination_constant, !scale_zero. reflexivity.
  - intros u Mu Eu. rewrite scale_none. exact (M_zero mean_of_all mean_of_all_scale).
  - intros u v Mu Eu Mv Ev. destruct (EF u Eu) as [x ->]. destruct (EF v Ev) as [y ->].
    pose proof (MZ x Mu) as Hx.
    unfold D, mean_of_picks. simpl. rewrite average_constant.
    rewrite (average_ext W _ (fun w => (1 / INR K) ^ 2 * sum (seq 0 K) (fun i => sum (seq 0 K) (fun j =>
      inner (x (pick d i w)) (y (pick d j w)))))).
    2: { intro w. rewrite average_constant, inner_scale, inner_scale_r, inner_two_combinations.
         rewrite (sum_ext (seq 0 K) _ (fun i => sum (seq 0 K) (fun j => inner (x (pick d i w)) (y (pick d j w))))).
         - ring.
         - intros i _. apply sum_ext. intros j _. ring. }
    rewrite average_scale, average_sum.
    rewrite (sum_ext _ _ (fun i => sum (seq 0 K) (fun j => average W (fun w =>
      inner (x (pick d i w)) (y (pick d j w)))))) by (intros i _; apply average_sum).
    rewrite (picks_sum _ 0 (average C (fun k => inner (x k) (y k)))).
    + rewrite seq_length. field. lra.
    + apply seq_NoDup.
    + intros i j Hi Hj N. apply in_seq in Hi. apply in_seq in Hj.
      rewrite (two_picks _ _ _ d i j (fun k l => inner (x k) (y l))); [| apply Hi | apply Hj | exact N].
      transitivity (inner (combination (elements C) (weight C) x) (combination (elements C) (weight C) y)).
      * rewrite inner_two_combinations. unfold average. apply sum_ext. intros k _. rewrite <- sum_scale.
        apply sum_ext. intros l _. ring.
      * rewrite Hx. apply inner_zero_l.
    + intros i Hi. apply in_seq in Hi. pose proof (each_pick _ _ _ d i line (fun k => inner (x k) (y k))) as Q.
      assert (line_sum : forall A (l : list A) c (z : A -> R), combination (V := line) l c z = sum l (fun k => c k * z k))
        by reflexivity.
      rewrite !line_sum in Q. apply Q. apply Hi.
Qed.
End Independent.

End Laws.
