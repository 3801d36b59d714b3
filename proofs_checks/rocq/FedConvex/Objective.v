(** * What clients have in common: their objective, its class, and how far they are from it

    The objective of clients with functions f_k and weights p_k is f = sum_k p_k f_k, a function of one point.  Where a
    setting assumes something of f alone, or bounds how much the clients differ from it, it does so in these words. *)

From Coq Require Import Reals List Lra Psatz FunctionalExtensionality.
From FedConvex Require Import Spaces Families Functions Normal Steps Draws Random.
Open Scope R_scope.

(** f(x) = sum_k p_k f_k(x), with the gradient sum_k p_k grad f_k(x).  That f has curvature at least l is
    [curvature_at_least l (objective f)]: its clients may have any. *)
Definition objective {S : weighted_set} {V : space} (f : S -> function V) : function V.
Proof.
  refine {|
    value := fun x => average S (fun k => value (f k) x);
    gradient := fun x => combination (elements S) (weight S) (fun k => gradient (f k) x)
  |}.
  intros x v. rewrite inner_combination. apply (derivative_of_sum (elements S) (weight S)).
  intro k. apply (gradient_is_derivative V (f k)).
Defined.

(** f_* - sum_k p_k inf f_k <= Gamma, with f_* in the place of [least]; in theorems that is [value F xs], for the
    minimiser xs.  The infima need not be attained: whatever points v_k the clients choose, the mean of the f_k(v_k) is
    at least f_* - Gamma. *)
Definition gap_at_most {S : weighted_set} {V : space} (Gamma : R) (f : S -> function V) (least : R) : Prop :=
  forall v : S -> V, least - average S (fun k => value (f k) (v k)) <= Gamma.

(** Clients are delta-similar: every grad f_k - grad f has the Lipschitz constant delta.  Where there are second
    derivatives, this is |Hess f_k(x) - Hess f(x)| <= delta for every k and x. *)
Definition similar {S : weighted_set} {V : space} (delta : R) (f : S -> function V) : Prop :=
  forall k (a b : V),
    norm ((gradient (f k) b - gradient (objective f) b) - (gradient (f k) a - gradient (objective f) a))
      <= delta * norm (b - a).

(** There is one client. *)
Definition single (S : weighted_set) : Prop := forall j k : S, j = k.

(** ** Nothing below this line is part of any statement *)

(** The objective at the points of all clients: its gradients are grad f(u_k). *)
Definition everywhere {S : weighted_set} {V : space} (f : S -> function V) : function (families S V) :=
  together (fun _ : S => objective f).

Section Everyone.
Context {S : weighted_set} {V : space} (f : S -> function V).
Implicit Types a b u v : families S V.

Lemma at_shared u : mean u = u -> forall j k, u j = u k.
Proof.
  intros H j k. pose proof (f_equal (fun v : families S V => v j) H) as A.
  pose proof (f_equal (fun v : families S V => v k) H) as B. simpl in A, B. rewrite <- A, <- B. reflexivity.
Qed.

Lemma everywhere_at_shared u : mean u = u -> mean (gradient (together f) u) = gradient (everywhere f) u.
Proof.
  intro H. apply functional_extensionality. intro k. simpl.
  unfold mean. f_equal. apply functional_extensionality. intro j. simpl.
  rewrite (at_shared u H j k). reflexivity.
Qed.

Lemma value_at_shared u : mean u = u -> value (everywhere f) u = value (together f) u.
Proof.
  intro H. simpl. rewrite <- (average_constant S (average S (fun k => value (f k) (u k)))).
  apply average_ext. intro k. apply average_ext. intro j. rewrite (at_shared u H k j). reflexivity.
Qed.

(** Inner products with shared vectors see the mean of the gradients alone. *)
Lemma slope_at_shared a b : mean a = a -> mean b = b ->
  inner (gradient (everywhere f) a) (sub b a) = inner (gradient (together f) a) (sub b a).
Proof.
  intros Ha Hb. rewrite <- (everywhere_at_shared a Ha), inner_mean. f_equal.
  unfold sub. rewrite mean_add, mean_scale, Ha, Hb. reflexivity.
Qed.

Lemma objective_lower l c a b : curvature_at_least l (objective f) -> c <= l -> mean a = a -> mean b = b ->
  0 <= value (together f) b - value (together f) a - inner (gradient (together f) a) (sub b a)
    - c / 2 * inner (sub b a) (sub b a).
Proof.
  intros H Hc Ha Hb. rewrite <- (slope_at_shared a b Ha Hb), <- (value_at_shared a Ha), <- (value_at_shared b Hb).
  apply (lower (everywhere f) l); [| exact Hc]. apply together_at_least. intro. exact H.
Qed.

Lemma objective_upper L c a b : curvature_at_most L (objective f) -> L <= c -> mean a = a -> mean b = b ->
  0 <= value (together f) a + inner (gradient (together f) a) (sub b a) + c / 2 * inner (sub b a) (sub b a)
    - value (together f) b.
Proof.
  intros H Hc Ha Hb. rewrite <- (slope_at_shared a b Ha Hb), <- (value_at_shared a Ha), <- (value_at_shared b Hb).
  apply (upper (everywhere f) L); [| exact Hc]. apply together_at_most. intro. exact H.
Qed.

Lemma objective_between l L c e a b ga gb :
  curvature_at_least l (objective f) -> curvature_at_most L (objective f) -> c <= l -> L <= e ->
  ga = gradient (everywhere f) a -> gb = gradient (everywhere f) b ->
  0 <= inner (sub (sub gb ga) (scale c (sub b a))) (sub (scale e (sub b a)) (sub gb ga)).
Proof.
  intros Hl HL Hc He -> ->. apply (between (everywhere f) l L); [| | exact Hc | exact He].
  - apply together_at_least. intro. exact Hl.
  - apply together_at_most. intro. exact HL.
Qed.

Lemma clients_infima Gamma least : gap_at_most Gamma f least -> forall v,
  0 <= value (together f) v - least + Gamma.
Proof. intros H v. specialize (H v). simpl. lra. Qed.

Lemma similar_in_mean delta : 0 <= delta -> similar delta f -> forall a b ga gb,
  ga = gradient (everywhere f) a -> gb = gradient (everywhere f) b ->
  0 <= inner (sub b a) (sub b a) * delta ^ 2
    - inner (sub (sub (gradient (together f) b) gb) (sub (gradient (together f) a) ga))
        (sub (sub (gradient (together f) b) gb) (sub (gradient (together f) a) ga)).
Proof.
  intros Hd H a b ga gb -> ->. apply mean_of_lengths; [exact Hd |]. intro k. apply H.
Qed.

Lemma mean_of_single : single S -> forall u, mean u = u.
Proof.
  intros H u. apply functional_extensionality. intro k. unfold mean.
  replace u with (fun _ : S => u k) by (apply functional_extensionality; intro j; rewrite (H j k); reflexivity).
  rewrite combination_constant. unfold sum. rewrite weight_sum. apply scale_one.
Qed.

Lemma zero_of_single : single S -> forall u, mean u = zero -> u = zero.
Proof. intros H u Z. rewrite <- (mean_of_single H u). exact Z. Qed.
End Everyone.

(** The same in a round with drawn clients. *)
Section Drawn.
Context {W C : weighted_set} {V : space} (f : C -> function V).
Let F : function (random W C V) := together (fun _ : W => together f).
Implicit Types a b u v : random W C V.

Lemma average_of_four c (x y z q : W -> R) :
  average W (fun w => x w - y w - z w - c * q w) = average W x - average W y - average W z - c * average W q.
Proof.
  transitivity (average W (fun w => x w + (- 1 * y w + (- 1 * z w + - c * q w)))).
  - apply average_ext. intro w. ring.
  - rewrite !average_add, !average_scale. ring.
Qed.

Lemma drawn_lower l c a b : curvature_at_least l (objective f) -> c <= l -> mean_of_all a = a -> mean_of_all b = b ->
  0 <= value F b - value F a - inner (gradient F a) (sub b a) - c / 2 * inner (sub b a) (sub b a).
Proof.
  intros H Hc Ha Hb.
  apply (Rle_trans _ (average W (fun w => value (together f) (b w) - value (together f) (a w)
    - inner (gradient (together f) (a w)) (sub (b w) (a w)) - c / 2 * inner (sub (b w) (a w)) (sub (b w) (a w))))).
  - apply average_nonneg. intro w. apply (objective_lower f l); [exact H | exact Hc | |].
    + exact (f_equal (fun u : random W C V => u w) Ha).
    + exact (f_equal (fun u : random W C V => u w) Hb).
  - apply Req_le, average_of_four.
Qed.

Lemma drawn_upper L c a b : curvature_at_most L (objective f) -> L <= c -> mean_of_all a = a -> mean_of_all b = b ->
  0 <= value F a + inner (gradient F a) (sub b a) + c / 2 * inner (sub b a) (sub b a) - value F b.
Proof.
  intros H Hc Ha Hb.
  apply (Rle_trans _ (average W (fun w => value (together f) (a w) - value (together f) (b w)
    - - 1 * inner (gradient (together f) (a w)) (sub (b w) (a w))
    - - (c / 2) * inner (sub (b w) (a w)) (sub (b w) (a w))))).
  - apply average_nonneg. intro w. pose proof (objective_upper f L c (a w) (b w) H Hc) as Q.
    specialize (Q (f_equal (fun u : random W C V => u w) Ha) (f_equal (fun u : random W C V => u w) Hb)). lra.
  - apply Req_le. rewrite (average_of_four _ _ _ (fun w => - 1 * _)), average_scale. simpl. ring.
Qed.

Lemma drawn_infima Gamma least : gap_at_most Gamma f least -> forall v, 0 <= value F v - least + Gamma.
Proof.
  intros H v. enough (least - Gamma <= value F v) by lra. rewrite <- (average_constant W (least - Gamma)).
  simpl. apply average_le. intro w. specialize (H (v w)). lra.
Qed.
End Drawn.
