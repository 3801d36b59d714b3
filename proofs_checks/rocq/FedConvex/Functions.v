(** * Functions with a gradient, and the curvature between their quadratics

    A [function] comes with its gradient: the vector whose inner product with v is the derivative along v, at every
    point and for every v. *)

From Coq Require Import Reals List Lra FunctionalExtensionality.
From FedConvex Require Import Spaces Families.
Open Scope R_scope.

Record function (V : space) := {
  value : V -> R;
  gradient : V -> V;
  gradient_is_derivative : forall x v, derivable_pt_lim (fun t => value (add x (scale t v))) 0 (inner (gradient x) v)
}.

Arguments value {V} f x%V.
Arguments gradient {V} f x%V.

(** f(b) >= f(a) + <grad f(a), b - a> + (l/2)|b - a|^2: strong convexity for l > 0, convexity for l = 0, and weak
    convexity for l < 0. *)
Definition curvature_at_least {V} (l : R) (f : function V) : Prop :=
  forall a b, value f a + inner (gradient f a) (sub b a) + l / 2 * inner (sub b a) (sub b a) <= value f b.

(** f(b) <= f(a) + <grad f(a), b - a> + (L/2)|b - a|^2: all that is used of L-smoothness. *)
Definition curvature_at_most {V} (L : R) (f : function V) : Prop :=
  forall a b, value f b <= value f a + inner (gradient f a) (sub b a) + L / 2 * inner (sub b a) (sub b a).

(** ** Facts about one function *)

Section Facts.
Context {V : space} (f : function V).
Implicit Types a b : V.

Lemma lower l c a b : curvature_at_least l f -> c <= l ->
  0 <= value f b - value f a - inner (gradient f a) (sub b a) - c / 2 * inner (sub b a) (sub b a).
Proof. intros H Hc. specialize (H a b). pose proof (inner_square V (sub b a)). nra. Qed.

Lemma upper L c a b : curvature_at_most L f -> L <= c ->
  0 <= value f a + inner (gradient f a) (sub b a) + c / 2 * inner (sub b a) (sub b a) - value f b.
Proof. intros H Hc. specialize (H a b). pose proof (inner_square V (sub b a)). nra. Qed.

(** The quadratic above at b and the one below at a, compared where they are closest. *)
Lemma interpolation l L a b : curvature_at_least l f -> curvature_at_most L f -> l < L ->
  let d := sub b a in let g := sub (gradient f b) (gradient f a) in
  (inner g g + l * L * inner d d - 2 * l * inner g d) / (2 * (L - l))
    <= value f b - value f a - inner (gradient f a) d.
Proof.
  intros Hl HL order d g.
  set (c := add b (scale (- / (L - l)) (sub g (scale l d)))).
  pose proof (Hl a c) as low. pose proof (HL b c) as up. unfold c, d, g in *. clear c d g.
  repeat rewrite ?inner_sub_l, ?inner_sub_r, ?inner_add, ?inner_add_r, ?inner_scale, ?inner_scale_r in *.
  rewrite ?(inner_comm V b a), ?(inner_comm V (gradient f b) (gradient f a)), ?(inner_comm V a (gradient f a)),
    ?(inner_comm V a (gradient f b)), ?(inner_comm V b (gradient f a)), ?(inner_comm V b (gradient f b)) in *.
  set (fc := value f (add b _)) in *. clearbody fc.
  match type of low with ?p <= fc => match type of up with fc <= ?q =>
    match goal with |- ?x <= ?y => replace x with (y - (q - p)) by (field; lra) end end end.
  lra.
Qed.

Lemma length_zero (u v : V) : inner u u = 0 -> inner u v = 0.
Proof.
  intro H. assert (N : norm u = 0) by (unfold norm; rewrite H; apply sqrt_0).
  pose proof (cauchy_schwarz u v) as P. pose proof (cauchy_schwarz (scale (-1) u) v) as Q.
  rewrite norm_negative, inner_scale in Q by lra. rewrite N in *. lra.
Qed.

(** All curvature lies in [l, L]: <g - l d, L d - g> >= 0 for d = b - a and the change g of the gradient. *)
Lemma between l L c e a b : curvature_at_least l f -> curvature_at_most L f -> c <= l -> L <= e ->
  let d := sub b a in let g := sub (gradient f b) (gradient f a) in
  0 <= inner (sub g (scale c d)) (sub (scale e d) g).
Proof.
  intros Hl HL Hc He d g.
  assert (low : curvature_at_least c f) by (intros x y; pose proof (lower l c x y Hl Hc); lra).
  assert (up : curvature_at_most e f) by (intros x y; pose proof (upper L e x y HL He); lra).
  assert (more : forall E, e < E -> c < E -> 0 <= (E + c) * inner g d - inner g g - c * E * inner d d).
  { intros E HE order.
    assert (up' : curvature_at_most E f) by (intros x y; pose proof (upper e E x y up); lra).
    pose proof (interpolation c E a b low up' order) as P. pose proof (interpolation c E b a low up' order) as Q.
    simpl in P, Q. fold d g in P.
    assert (Ed : sub a b = scale (-1) d).
    { unfold d, sub. rewrite scale_add, scale_scale. replace (-1 * -1) with 1 by ring.
      rewrite scale_one. apply add_comm. }
    assert (Eg : sub (gradient f a) (gradient f b) = scale (-1) g).
    { unfold g, sub. rewrite scale_add, scale_scale. replace (-1 * -1) with 1 by ring.
      rewrite scale_one. apply add_comm. }
    rewrite Ed, Eg, !inner_scale, !inner_scale_r in Q.
    assert (S : (inner g g + c * E * inner d d - 2 * c * inner g d) / (E - c) <= inner g d).
    { replace (inner g d) with (- inner (gradient f a) d - -1 * inner (gradient f b) d) at 2
        by (unfold g; rewrite inner_sub_l; ring).
      replace ((inner g g + c * E * inner d d - 2 * c * inner g d) / (E - c)) with
        ((inner g g + c * E * inner d d - 2 * c * inner g d) / (2 * (E - c)) +
         (-1 * (-1 * inner g g) + c * E * (-1 * (-1 * inner d d)) - 2 * c * (-1 * (-1 * inner g d))) / (2 * (E - c)))
        by (field; lra).
      lra. }
    apply (Rmult_le_compat_l (E - c)) in S; [| lra].
    replace ((E - c) * ((inner g g + c * E * inner d d - 2 * c * inner g d) / (E - c))) with
      (inner g g + c * E * inner d d - 2 * c * inner g d) in S by (field; lra).
    lra. }
  rewrite inner_sub_l, !inner_sub_r, !inner_scale, !inner_scale_r, (inner_comm V d g).
  destruct (Rle_lt_dec c e) as [order | order].
  - apply Rnot_lt_le. intro A.
    set (q := inner g d - c * inner d d). set (A' := (e + c) * inner g d - inner g g - c * e * inner d d).
    assert (HA : A' < 0) by (unfold A'; lra).
    set (t := - A' / (2 * (Rabs q + 1))).
    pose proof (Rabs_pos q) as q0. pose proof (Rle_abs q) as q1.
    assert (t0 : 0 < t) by (apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra]).
    assert (t1 : t * (Rabs q + 1) = - A' / 2) by (unfold t; field; lra).
    assert (P : 0 <= A' + t * q).
    { pose proof (more (e + t)) as P. unfold A', q. lra. }
    assert (t * q <= t * Rabs q) by (apply Rmult_le_compat_l; lra). lra.
  - assert (flat : forall u v : V, inner u v = 0).
    { intros u v. apply length_zero. pose proof (low a (add a u)) as P. pose proof (up a (add a u)) as Q.
      assert (E : sub (add a u) a = u).
      { unfold sub. rewrite (add_comm V a u), <- add_assoc. fold (sub a a). rewrite sub_self. apply add_zero. }
      rewrite E in *. pose proof (inner_square V u). nra. }
    rewrite !flat. lra.
Qed.
End Facts.

(** ** The functions of all clients, as one function of families

    Its value is the mean sum_k p_k f_k(u_k), and its gradient the family of the gradients grad f_k(u_k). *)

Lemma derivative_of_sum {A} (l : list A) (c : A -> R) (x : A -> R -> R) (y : A -> R) t :
  (forall k, derivable_pt_lim (x k) t (y k)) ->
  derivable_pt_lim (fun r => sum l (fun k => c k * x k r)) t (sum l (fun k => c k * y k)).
Proof.
  intro H. unfold sum. induction l as [| k l IH]; simpl.
  - apply derivable_pt_lim_const.
  - apply (derivable_pt_lim_plus (fun r => c k * x k r) (fun r => fold_right Rplus 0 (map _ l))).
    + apply derivable_pt_lim_scal. apply H.
    + exact IH.
Qed.

Definition together {S : weighted_set} {V} (f : S -> function V) : function (families S V).
Proof.
  refine {|
    value := fun u : families S V => average S (fun k => value (f k) (u k));
    gradient := fun u : families S V => (fun k => gradient (f k) (u k)) : families S V
  |}.
  intros x v. apply derivative_of_sum. intro k. apply (gradient_is_derivative V (f k)).
Defined.

Lemma together_at_least {S : weighted_set} {V} (f : S -> function V) l :
  (forall k, curvature_at_least l (f k)) -> curvature_at_least l (together f).
Proof.
  intros H a b. simpl. rewrite <- average_scale, <- !average_add. apply average_le. intro k. apply H.
Qed.

Lemma together_at_most {S : weighted_set} {V} (f : S -> function V) L :
  (forall k, curvature_at_most L (f k)) -> curvature_at_most L (together f).
Proof.
  intros H a b. simpl. rewrite <- average_scale, <- !average_add. apply average_le. intro k. apply H.
Qed.

Lemma curvature_weaker_least {V} (f : function V) l c : curvature_at_least l f -> c <= l -> curvature_at_least c f.
Proof. intros H Hc a b. pose proof (lower f l c a b H Hc). lra. Qed.

Lemma curvature_weaker_most {V} (f : function V) L c : curvature_at_most L f -> L <= c -> curvature_at_most c f.
Proof. intros H Hc a b. pose proof (upper f L c a b H Hc). lra. Qed.
