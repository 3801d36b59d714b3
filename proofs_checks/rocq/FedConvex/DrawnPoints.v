(** * Gradients at points that depend on a draw

    Of a gradient at a point that depends on the draw nothing is known but that it is one vector, whatever the draw: it
    is its mean over the clients, in every outcome, plus deviations with mean 0 in every outcome.  Inner products with
    the vectors of [Random] are sums over products of coefficients as there; those with the means see only the means,
    and those with the deviations only the deviations.  Nothing in this file is part of any statement. *)

From Coq Require Import Reals List Lra FunctionalExtensionality.
From FedConvex Require Import Spaces Families Functions Normal Draws Random.
Import ListNotations.
Open Scope R_scope.

(** A vector: one of [Random], a mean, deviations, and what sums, multiples and means over all clients make of them. *)
Inductive dexpr :=
  | DOf (x : rexpr) | DMeans (i : nat) | DApart (i : nat) | DAdd (x y : dexpr) | DSub (x y : dexpr)
  | DScale (a : R) (x : dexpr) | DMean (x : dexpr).

Record dform := DForm { of_random : form; of_means : coefficients; of_apart : coefficients }.

Definition mean_form (pi : R) (f : form) : form :=
  Form (cadd (f_same f) (cscale pi (f_kept f))) [] (cadd (f_noise f) (cscale pi (f_replaced f))) [] [].

Definition dadd (x y : dform) : dform :=
  DForm (fadd (of_random x) (of_random y)) (cadd (of_means x) (of_means y)) (cadd (of_apart x) (of_apart y)).
Definition dscale (a : R) (x : dform) : dform :=
  DForm (fscale a (of_random x)) (cscale a (of_means x)) (cscale a (of_apart x)).

Fixpoint dform_of (pi : R) (e : dexpr) : option dform :=
  match e with
  | DOf x => match form_of pi x with Some f => Some (DForm f [] []) | None => None end
  | DMeans i => Some (DForm (Form [] [] [] [] []) (unit i) [])
  | DApart i => Some (DForm (Form [] [] [] [] []) [] (unit i))
  | DAdd x y => match dform_of pi x, dform_of pi y with Some a, Some b => Some (dadd a b) | _, _ => None end
  | DSub x y =>
      match dform_of pi x, dform_of pi y with Some a, Some b => Some (dadd a (dscale (-1) b)) | _, _ => None end
  | DScale c x => match dform_of pi x with Some a => Some (dscale c a) | None => None end
  | DMean x => match dform_of pi x with
               | Some a => Some (DForm (mean_form pi (of_random a)) (of_means a) [])
               | None => None
               end
  end.

Section Expand.
Context {F : space} (M D E S : F -> F) (pi sg : R) (law : draw_laws M D E S pi sg).

Fixpoint deval (s d g h : list F) (e : dexpr) : F :=
  match e with
  | DOf x => reval M D E S s d x | DMeans i => nth i g zero | DApart i => nth i h zero
  | DAdd x y => add (deval s d g h x) (deval s d g h y) | DSub x y => sub (deval s d g h x) (deval s d g h y)
  | DScale a x => scale a (deval s d g h x) | DMean x => M (deval s d g h x)
  end.

(** Inner products of two linear combinations, of different lists. *)
Fixpoint cross_row (a : R) (u : F) (y : coefficients) (c : list F) : option R :=
  match y, c with
  | Some b :: y', v :: c' => plus (Some (a * b * gram u v)) (cross_row a u y' c')
  | None :: y', _ :: c' => cross_row a u y' c'
  | _, _ => None
  end.
Fixpoint cross (x : coefficients) (b : list F) (y : coefficients) (c : list F) : option R :=
  match x, b with
  | Some a :: x', u :: b' => plus (cross_row a u y c) (cross x' b' y c)
  | None :: x', _ :: b' => cross x' b' y c
  | _, _ => None
  end.

Lemma cross_row_is a u y c : real (cross_row a u y c) = a * inner u (combine y c).
Proof.
  revert c. induction y as [| [b |] y IH]; intros [| v c]; cbn [cross_row combine];
    rewrite ?real_plus, ?IH, ?inner_add_r, ?inner_scale_r, ?inner_zero_r; unfold gram; simpl; ring.
Qed.

Lemma cross_is x b y c : real (cross x b y c) = inner (combine x b) (combine y c).
Proof.
  revert b. induction x as [| [a |] x IH]; intros [| u b]; cbn [cross combine];
    rewrite ?real_plus, ?IH, ?cross_row_is, ?inner_add, ?inner_scale, ?inner_zero_l; simpl; ring.
Qed.

Lemma combine_map (T : F -> F) : (forall u v, T (add u v) = add (T u) (T v)) ->
  (forall a u, T (scale a u) = scale a (T u)) -> forall c b, combine c (map T b) = T (combine c b).
Proof.
  intros Ha Hs c. induction c as [| [a |] c IH]; intros [| v b]; simpl; try (symmetry; exact (zero_of T Hs)).
  - rewrite IH, Ha, Hs. reflexivity.
  - apply IH.
Qed.

Section Basis.
Variables s d g h : list F.
Hypothesis Hs : Forall (is_same M E) s.
Hypothesis Hd : Forall (is_apart M E) d.
Hypothesis Hg : Forall (fun v => M v = v) g.
Hypothesis Hh : Forall (fun v => M v = zero) h.

Definition of_dform (f : dform) : F :=
  add (of_form D S s d (of_random f)) (add (combine (of_means f) g) (combine (of_apart f) h)).

Let Is := fun c => same_combination M D E S pi sg law s c Hs.
Let Ia := fun c => apart_combination M D E S pi sg law d c Hd.

Lemma M_of_form f : M (of_form D S s d f) = of_form D S s d (mean_form pi f).
Proof.
  unfold of_form. simpl. destruct (Is (f_same f)) as [M1 E1], (Ia (f_apart f)) as [M2 E2], (Ia (f_noise f)) as [M3 E3].
  destruct (Is (f_kept f)) as [M4 E4], (Ia (f_replaced f)) as [M5 E5].
  rewrite !(M_add _ _ _ _ _ _ law), M1, M2, (M_D _ _ _ _ _ _ law), (M_S_same _ _ _ _ _ _ law _ M4 E4),
    (M_S_apart _ _ _ _ _ _ law _ M5 E5), !combine_add, !combine_scale, (D_add _ _ _ _ _ _ law),
    (D_scale _ _ _ _ _ _ law), (S_zero M D E S pi sg law), !add_zero.
  rewrite (add_assoc F (D _)), (add_comm F (D (combine (f_noise f) d)) (scale pi (combine (f_kept f) s))).
  rewrite <- (add_assoc F (scale pi _)), add_assoc. reflexivity.
Qed.

Lemma M_of_means c : M (combine c g) = combine c g.
Proof. exact (M_combine_same M (M_add _ _ _ _ _ _ law) (M_scale _ _ _ _ _ _ law) c g Hg). Qed.

Lemma M_of_apart c : M (combine c h) = zero.
Proof. exact (M_combine_apart M (M_add _ _ _ _ _ _ law) (M_scale _ _ _ _ _ _ law) c h Hh). Qed.

Lemma of_nothing : of_form D S s d (Form [] [] [] [] []) = zero.
Proof.
  unfold of_form. simpl. rewrite (D_zero M D E S pi sg law), (S_zero M D E S pi sg law), !add_zero. reflexivity.
Qed.

Lemma of_dadd x y : of_dform (dadd x y) = add (of_dform x) (of_dform y).
Proof.
  unfold of_dform. simpl. rewrite (of_fadd M D E S pi sg law), !combine_add.
  rewrite (swap (combine (of_means x) g)). apply swap.
Qed.

Lemma of_dscale a x : of_dform (dscale a x) = scale a (of_dform x).
Proof. unfold of_dform. simpl. rewrite (of_fscale M D E S pi sg law), !combine_scale, !scale_add. reflexivity. Qed.

Theorem deval_is e f : dform_of pi e = Some f -> deval s d g h e = of_dform f.
Proof.
  revert f. induction e as [x | i | i | x Hx y Hy | x Hx y Hy | a x Hx | x Hx]; intros f H; simpl in *.
  - destruct (form_of pi x) as [b |] eqn:Eb; try discriminate. injection H as <-.
    rewrite (reval_is M D E S pi sg law s d Hs Hd x b Eb). unfold of_dform. simpl. rewrite !add_zero. reflexivity.
  - injection H as <-. unfold of_dform. simpl. rewrite of_nothing, zero_add, add_zero. symmetry. apply combine_unit.
  - injection H as <-. unfold of_dform. simpl. rewrite of_nothing, !zero_add. symmetry. apply combine_unit.
  - destruct (dform_of pi x) as [a |], (dform_of pi y) as [b |]; try discriminate. injection H as <-.
    rewrite of_dadd, (Hx _ eq_refl), (Hy _ eq_refl). reflexivity.
  - destruct (dform_of pi x) as [a |], (dform_of pi y) as [b |]; try discriminate. injection H as <-.
    rewrite of_dadd, of_dscale, (Hx _ eq_refl), (Hy _ eq_refl). reflexivity.
  - destruct (dform_of pi x) as [b |]; try discriminate. injection H as <-.
    rewrite of_dscale, (Hx _ eq_refl). reflexivity.
  - destruct (dform_of pi x) as [b |]; try discriminate. injection H as <-. rewrite (Hx _ eq_refl). unfold of_dform.
    simpl. rewrite !(M_add _ _ _ _ _ _ law), M_of_form, M_of_means, M_of_apart. reflexivity.
Qed.

(** With means and with deviations. *)
Definition with_means (f : form) (y : coefficients) : option R :=
  plus (cross (cadd (f_same f) (cscale pi (f_kept f))) s y g)
       (cross (cadd (f_noise f) (cscale pi (f_replaced f))) (map D d) y g).
Definition with_apart (f : form) (y : coefficients) : option R :=
  plus (cross (f_apart f) d y h) (plus (cross (f_kept f) (map S s) y h) (cross (f_replaced f) (map S d) y h)).

Lemma with_means_is f y : real (with_means f y) = inner (of_form D S s d f) (combine y g).
Proof.
  rewrite <- (M_of_means y), <- (M_self _ _ _ _ _ _ law), M_of_form. unfold with_means, of_form. simpl.
  rewrite real_plus, !cross_is, (combine_map D (D_add _ _ _ _ _ _ law) (D_scale _ _ _ _ _ _ law)).
  rewrite (S_zero M D E S pi sg law), !add_zero, inner_add. reflexivity.
Qed.

Lemma with_apart_is f y : real (with_apart f y) = inner (of_form D S s d f) (combine y h).
Proof.
  unfold with_apart, of_form. rewrite !real_plus, !cross_is.
  rewrite !(combine_map S (S_add _ _ _ _ _ _ law) (S_scale _ _ _ _ _ _ law)), !inner_add.
  assert (flat : forall u, M u = u -> inner u (combine y h) = 0).
  { intros u Hu. rewrite <- Hu, (M_self _ _ _ _ _ _ law), M_of_apart. apply inner_zero_r. }
  rewrite (flat (combine (f_same f) s)) by apply Is.
  rewrite (flat (D (combine (f_noise f) d))) by apply (M_D _ _ _ _ _ _ law). ring.
Qed.

Definition dproduct (x y : dform) : option R :=
  plus (product pi sg s d (of_random x) (of_random y))
  (plus (plus (with_means (of_random x) (of_means y)) (with_means (of_random y) (of_means x)))
  (plus (plus (with_apart (of_random x) (of_apart y)) (with_apart (of_random y) (of_apart x)))
  (plus (rows g 0 (of_means x) (of_means y)) (rows h 0 (of_apart x) (of_apart y))))).

Theorem inner_dforms x y : inner (of_dform x) (of_dform y) = real (dproduct x y).
Proof.
  unfold dproduct, of_dform. rewrite !real_plus, !with_means_is, !with_apart_is, !rows_all.
  rewrite <- (inner_forms M D E S pi sg law s d Hs Hd), !inner_add, !inner_add_r.
  rewrite (inner_comm F (combine (of_means x) g) (of_form D S s d (of_random y))).
  rewrite (inner_comm F (combine (of_apart x) h) (of_form D S s d (of_random y))).
  rewrite (inner_comm F (combine (of_apart x) h) (combine (of_means y) g)).
  assert (flat : forall c e, inner (combine c g) (combine e h) = 0).
  { intros c e. rewrite <- (M_of_means c), (M_self _ _ _ _ _ _ law), M_of_apart. apply inner_zero_r. }
  rewrite !flat. ring.
Qed.

Definition all_dagree (x y : dform) : Prop :=
  all_agree (of_random x) (of_random y) /\ agree (of_means x) (of_means y) /\ agree (of_apart x) (of_apart y).

Lemma same_dforms x y : all_dagree x y -> of_dform x = of_dform y.
Proof.
  intros (H1 & H2 & H3). unfold of_dform.
  rewrite (same_forms D S s d _ _ H1), (combine_agree _ _ g H2), (combine_agree _ _ h H3). reflexivity.
Qed.
End Basis.
End Expand.

(** [drawn_basis M D E S pi sg s d g h]: with the vectors [s] and [d] of [random_basis], [g] are means over the clients,
    and [h] deviations, in every outcome. *)
Inductive drawn_basis {F : space} (M D E S : F -> F) (pi sg : R) (s d g h : list F) : Prop :=
  Drawn_basis : random_basis M D E S pi sg s d -> Forall (fun v => M v = v) g -> Forall (fun v => M v = zero) h ->
    drawn_basis M D E S pi sg s d g h.

Definition the_dform (pi : R) (e : dexpr) : dform :=
  match dform_of pi e with Some f => f | None => DForm (Form [] [] [] [] []) [] [] end.
Definition has_dform (pi : R) (e : dexpr) : Prop := match dform_of pi e with Some _ => True | None => False end.

Lemma dform_is pi e : has_dform pi e -> dform_of pi e = Some (the_dform pi e).
Proof. unfold has_dform, the_dform. destruct (dform_of pi e); [reflexivity | intros []]. Qed.

Lemma drawn_inner {F : space} (M D E S : F -> F) pi sg s d g h : drawn_basis M D E S pi sg s d g h -> forall x y,
  has_dform pi x -> has_dform pi y ->
  inner (deval M D E S s d g h x) (deval M D E S s d g h y) =
  real (dproduct D S pi sg s d g h (the_dform pi x) (the_dform pi y)).
Proof.
  intros [[law Hs Hd] Hg Hh] x y Hx Hy.
  rewrite (deval_is M D E S pi sg law s d g h Hs Hd Hg Hh x _ (dform_is pi x Hx)).
  rewrite (deval_is M D E S pi sg law s d g h Hs Hd Hg Hh y _ (dform_is pi y Hy)).
  apply (inner_dforms M D E S pi sg law s d g h Hs Hd Hg Hh).
Qed.

Lemma drawn_same {F : space} (M D E S : F -> F) pi sg s d g h : drawn_basis M D E S pi sg s d g h -> forall x y,
  has_dform pi x -> has_dform pi y -> all_dagree (the_dform pi x) (the_dform pi y) ->
  deval M D E S s d g h x = deval M D E S s d g h y.
Proof.
  intros [[law Hs Hd] Hg Hh] x y Hx Hy H.
  rewrite (deval_is M D E S pi sg law s d g h Hs Hd Hg Hh x _ (dform_is pi x Hx)).
  rewrite (deval_is M D E S pi sg law s d g h Hs Hd Hg Hh y _ (dform_is pi y Hy)).
  apply same_dforms. exact H.
Qed.

(** The gradient is its mean over the clients plus deviations, in every outcome. *)
Lemma split_drawn {W C V} (u : random W C V) :
  exists a b, u = add a b /\ mean_of_all a = a /\ mean_of_all b = zero.
Proof.
  assert (M : mean_of_all (mean_of_all u) = mean_of_all u) by (apply common_is; intro w; apply mean_is_shared).
  exists (mean_of_all u), (sub u (mean_of_all u)). split; [symmetry; apply sub_add | split; [exact M |]].
  unfold sub. rewrite mean_of_all_add, mean_of_all_scale, M. apply sub_self.
Qed.

Ltac drawn_reify s d g h u :=
  match constr:(tt) with
  | _ => let x := random_reify s d u in constr:(DOf x)
  | _ => lazymatch u with
         | add ?x ?y => let a := drawn_reify s d g h x in let b := drawn_reify s d g h y in constr:(DAdd a b)
         | sub ?x ?y => let a := drawn_reify s d g h x in let b := drawn_reify s d g h y in constr:(DSub a b)
         | scale ?c ?x => let a := drawn_reify s d g h x in constr:(DScale c a)
         | mean_of_all ?x => let a := drawn_reify s d g h x in constr:(DMean a)
         | _ => match constr:(tt) with
                | _ => let n := place u g in constr:(DMeans n)
                | _ => let n := place u h in constr:(DApart n)
                end
         end
  end.

Ltac drawn_compute H :=
  cbv [deval reval nth map unit cadd cscale plus rows row entry Nat.leb real agree vanish form_of dform_of the_form
       has_form the_dform has_dform fadd fscale dadd dscale mean_form f_same f_apart f_noise f_kept f_replaced of_random
       of_means of_apart product dproduct with_means with_apart cross cross_row times all_agree all_dagree] in H.

(** All inner products in the goal, as sums over those of the basis. *)
Ltac drawn_expand :=
  lazymatch goal with
  | B : drawn_basis ?M ?D ?E ?S ?pi ?sg ?s ?d ?g ?h |- _ =>
      repeat match goal with
      | |- context [inner ?u ?v] =>
          let x := drawn_reify s d g h u in let y := drawn_reify s d g h v in
          let H := fresh "H" in
          pose proof (drawn_inner M D E S pi sg s d g h B x y I I) as H; drawn_compute H; rewrite H; clear H
      end
  end.

(** Two vectors are equal, because their coefficients are. *)
Ltac drawn_same_vector :=
  lazymatch goal with
  | B : drawn_basis ?M ?D ?E ?S ?pi ?sg ?s ?d ?g ?h |- ?u = ?v =>
      let x := drawn_reify s d g h u in let y := drawn_reify s d g h v in
      let H := fresh "H" in
      pose proof (drawn_same M D E S pi sg s d g h B x y I I) as H; drawn_compute H; apply H; clear H; repeat split
  end.
