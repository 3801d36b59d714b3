(** * Inner products of vectors that depend on a draw, computed

    As in [Normal], for rounds with drawn clients.  With a shared and fixed, u a fixed deviation, D the average over the
    drawn and S the part of those that are drawn, every vector is a sum of a, u, D u, S a and S u.  Nothing in this file
    is part of any statement. *)

From Coq Require Import Reals List Lra FunctionalExtensionality.
From Coq Require Import Psatz.
From FedConvex Require Import Spaces Families Functions Normal Draws.
Import ListNotations.
Open Scope R_scope.

Inductive rexpr :=
  | RZero | RSame (i : nat) | RApart (i : nat) | RAdd (x y : rexpr) | RSub (x y : rexpr) | RScale (a : R) (x : rexpr)
  | RMean (x : rexpr) | RDrawn (x : rexpr) | RExpected (x : rexpr) | RSelected (x : rexpr).

Record form := Form { f_same : coefficients; f_apart : coefficients; f_noise : coefficients; f_kept : coefficients;
                      f_replaced : coefficients }.

Definition fadd (x y : form) : form :=
  Form (cadd (f_same x) (f_same y)) (cadd (f_apart x) (f_apart y)) (cadd (f_noise x) (f_noise y))
    (cadd (f_kept x) (f_kept y)) (cadd (f_replaced x) (f_replaced y)).
Definition fscale (a : R) (x : form) : form :=
  Form (cscale a (f_same x)) (cscale a (f_apart x)) (cscale a (f_noise x)) (cscale a (f_kept x))
    (cscale a (f_replaced x)).

Fixpoint form_of (pi : R) (e : rexpr) : option form :=
  match e with
  | RZero => Some (Form [] [] [] [] [])
  | RSame i => Some (Form (unit i) [] [] [] [])
  | RApart i => Some (Form [] (unit i) [] [] [])
  | RAdd x y => match form_of pi x, form_of pi y with Some a, Some b => Some (fadd a b) | _, _ => None end
  | RSub x y => match form_of pi x, form_of pi y with Some a, Some b => Some (fadd a (fscale (-1) b)) | _, _ => None end
  | RScale c x => match form_of pi x with Some a => Some (fscale c a) | None => None end
  | RMean x => match form_of pi x with
               | Some a => Some (Form (cadd (f_same a) (cscale pi (f_kept a))) []
                                      (cadd (f_noise a) (cscale pi (f_replaced a))) [] [])
               | None => None
               end
  | RExpected x => match form_of pi x with
                   | Some a => Some (Form (cadd (f_same a) (cscale pi (f_kept a)))
                                          (cadd (f_apart a) (cscale pi (f_replaced a))) [] [] [])
                   | None => None
                   end
  | RDrawn x => match form_of pi x with Some (Form s d [] [] []) => Some (Form s [] d [] []) | _ => None end
  | RSelected x => match form_of pi x with Some (Form s d [] [] []) => Some (Form [] [] [] s d) | _ => None end
  end.

Section Expand.
Context {F : space} (M D E S : F -> F) (pi sg : R) (law : draw_laws M D E S pi sg).

Fixpoint reval (s d : list F) (e : rexpr) : F :=
  match e with
  | RZero => zero | RSame i => nth i s zero | RApart i => nth i d zero | RAdd x y => add (reval s d x) (reval s d y)
  | RSub x y => sub (reval s d x) (reval s d y) | RScale a x => scale a (reval s d x) | RMean x => M (reval s d x)
  | RDrawn x => D (reval s d x) | RExpected x => E (reval s d x) | RSelected x => S (reval s d x)
  end.

Definition is_same (a : F) : Prop := M a = a /\ E a = a.
Definition is_apart (u : F) : Prop := M u = zero /\ E u = u.

Lemma zero_of (T : F -> F) : (forall a u, T (scale a u) = scale a (T u)) -> T zero = zero.
Proof. intro H. rewrite <- (scale_none F zero), H, !scale_none. reflexivity. Qed.

Lemma same_combination s c : Forall is_same s -> is_same (combine c s).
Proof.
  intro H. revert c. induction H as [| v s [Hm He] H IH]; intros [| [a |] c]; simpl;
    try (split; [apply (zero_of M (M_scale _ _ _ _ _ _ law)) | apply (zero_of E (E_scale _ _ _ _ _ _ law))]).
  - destruct (IH c) as [Im Ie]. split.
    + rewrite (M_add _ _ _ _ _ _ law), (M_scale _ _ _ _ _ _ law), Hm, Im. reflexivity.
    + rewrite (E_add _ _ _ _ _ _ law), (E_scale _ _ _ _ _ _ law), He, Ie. reflexivity.
  - apply IH.
Qed.

Lemma apart_combination d c : Forall is_apart d -> is_apart (combine c d).
Proof.
  intro H. revert c. induction H as [| v d [Hm He] H IH]; intros [| [a |] c]; simpl;
    try (split; [apply (zero_of M (M_scale _ _ _ _ _ _ law)) | apply (zero_of E (E_scale _ _ _ _ _ _ law))]).
  - destruct (IH c) as [Im Ie]. split.
    + rewrite (M_add _ _ _ _ _ _ law), (M_scale _ _ _ _ _ _ law), Hm, Im, scale_zero. apply add_zero.
    + rewrite (E_add _ _ _ _ _ _ law), (E_scale _ _ _ _ _ _ law), He, Ie. reflexivity.
  - apply IH.
Qed.

Section Basis.
Variables s d : list F.
Hypothesis Hs : Forall is_same s.
Hypothesis Hd : Forall is_apart d.

Definition of_form (f : form) : F :=
  add (add (combine (f_same f) s) (combine (f_apart f) d))
    (add (D (combine (f_noise f) d)) (add (S (combine (f_kept f) s)) (S (combine (f_replaced f) d)))).

Lemma swap (p q r t : F) : add (add p q) (add r t) = add (add p r) (add q t).
Proof. rewrite <- !add_assoc. f_equal. rewrite !add_assoc. f_equal. apply add_comm. Qed.

Lemma of_fadd x y : of_form (fadd x y) = add (of_form x) (of_form y).
Proof.
  unfold of_form. simpl. rewrite !combine_add, (D_add _ _ _ _ _ _ law), !(S_add _ _ _ _ _ _ law).
  rewrite (swap (combine (f_same x) s)), (swap (S (combine (f_kept x) s))), (swap (D (combine (f_noise x) d))).
  apply swap.
Qed.

Lemma of_fscale a x : of_form (fscale a x) = scale a (of_form x).
Proof.
  unfold of_form. simpl. rewrite !combine_scale, (D_scale _ _ _ _ _ _ law), !(S_scale _ _ _ _ _ _ law), !scale_add.
  reflexivity.
Qed.

Lemma S_zero : S zero = zero. Proof. apply zero_of, (S_scale _ _ _ _ _ _ law). Qed.
Lemma D_zero : D zero = zero. Proof. apply zero_of, (D_scale _ _ _ _ _ _ law). Qed.

Theorem reval_is e f : form_of pi e = Some f -> reval s d e = of_form f.
Proof.
  assert (Is := fun c => same_combination s c Hs). assert (Ia := fun c => apart_combination d c Hd).
  revert f. induction e as [| i | i | x Hx y Hy | x Hx y Hy | a x Hx | x Hx | x Hx | x Hx | x Hx]; intros f H; simpl in *.
  - injection H as <-. unfold of_form. simpl. rewrite D_zero, S_zero, !add_zero. reflexivity.
  - injection H as <-. unfold of_form. simpl. rewrite D_zero, S_zero, !add_zero. symmetry. apply combine_unit.
  - injection H as <-. unfold of_form. simpl. rewrite D_zero, S_zero, !add_zero, zero_add. symmetry. apply combine_unit.
  - destruct (form_of pi x) as [a |], (form_of pi y) as [b |]; try discriminate. injection H as <-.
    rewrite of_fadd, (Hx _ eq_refl), (Hy _ eq_refl). reflexivity.
  - destruct (form_of pi x) as [a |], (form_of pi y) as [b |]; try discriminate. injection H as <-.
    rewrite of_fadd, of_fscale, (Hx _ eq_refl), (Hy _ eq_refl). reflexivity.
  - destruct (form_of pi x) as [b |]; try discriminate. injection H as <-. rewrite of_fscale, (Hx _ eq_refl). reflexivity.
  - destruct (form_of pi x) as [b |]; try discriminate. injection H as <-. rewrite (Hx _ eq_refl). unfold of_form. simpl.
    destruct (Is (f_same b)) as [M1 E1], (Ia (f_apart b)) as [M2 E2], (Ia (f_noise b)) as [M3 E3].
    destruct (Is (f_kept b)) as [M4 E4], (Ia (f_replaced b)) as [M5 E5].
    rewrite !(M_add _ _ _ _ _ _ law), M1, M2, (M_D _ _ _ _ _ _ law), (M_S_same _ _ _ _ _ _ law _ M4 E4),
      (M_S_apart _ _ _ _ _ _ law _ M5 E5), !combine_add, !combine_scale, (D_add _ _ _ _ _ _ law),
      (D_scale _ _ _ _ _ _ law), S_zero, !add_zero.
    rewrite (add_assoc F (D _)), (add_comm F (D (combine (f_noise b) d)) (scale pi (combine (f_kept b) s))).
    rewrite <- (add_assoc F (scale pi _)), add_assoc. reflexivity.
  - destruct (form_of pi x) as [[x1 x2 [|] [|] [|]] |]; try discriminate. injection H as <-.
    rewrite (Hx _ eq_refl). unfold of_form. simpl. destruct (Is x1) as [M1 E1].
    rewrite D_zero, S_zero, !add_zero, (D_add _ _ _ _ _ _ law), (D_same _ _ _ _ _ _ law _ M1 E1). reflexivity.
  - destruct (form_of pi x) as [b |]; try discriminate. injection H as <-. rewrite (Hx _ eq_refl). unfold of_form. simpl.
    destruct (Is (f_same b)) as [M1 E1], (Ia (f_apart b)) as [M2 E2], (Ia (f_noise b)) as [M3 E3].
    destruct (Is (f_kept b)) as [M4 E4], (Ia (f_replaced b)) as [M5 E5].
    rewrite !(E_add _ _ _ _ _ _ law), E1, E2, (E_D _ _ _ _ _ _ law _ M3 E3), !(E_S _ _ _ _ _ _ law) by assumption.
    rewrite !combine_add, !combine_scale, D_zero, S_zero, !zero_add, add_zero. apply swap.
  - destruct (form_of pi x) as [[x1 x2 [|] [|] [|]] |]; try discriminate. injection H as <-.
    rewrite (Hx _ eq_refl). unfold of_form. simpl.
    rewrite D_zero, S_zero, !add_zero, !zero_add, (S_add _ _ _ _ _ _ law). reflexivity.
Qed.

(** Inner products of the five parts. *)
Section Products.
Variables a b u v : F.
Hypothesis Ha : is_same a.
Hypothesis Hb : is_same b.
Hypothesis Hu : is_apart u.
Hypothesis Hv : is_apart v.

Lemma same_apart : inner a u = 0.
Proof. destruct Ha as [Ma _], Hu as [Mu _]. rewrite <- Ma, (M_self _ _ _ _ _ _ law), Mu. apply inner_zero_r. Qed.

Lemma fixed_noise c : E c = c -> inner c (D u) = 0.
Proof.
  intro H. destruct Hu as [Mu Eu].
  rewrite <- H, (E_self _ _ _ _ _ _ law), (E_D _ _ _ _ _ _ law _ Mu Eu). apply inner_zero_r.
Qed.

Lemma fixed_selected c t : E c = c -> E t = t -> inner c (S t) = pi * inner c t.
Proof.
  intros H K. rewrite <- H at 1. rewrite (E_self _ _ _ _ _ _ law), (E_S _ _ _ _ _ _ law _ K). apply inner_scale_r.
Qed.

Lemma noise_kept : inner (D u) (S a) = 0.
Proof.
  destruct Ha as [Ma Ea]. rewrite <- (M_D _ _ _ _ _ _ law u), (M_self _ _ _ _ _ _ law), (M_S_same _ _ _ _ _ _ law _ Ma Ea).
  rewrite inner_scale_r, inner_comm, (fixed_noise a Ea). ring.
Qed.

Lemma noise_replaced : inner (D u) (S v) = pi * sg * inner u v.
Proof.
  destruct Hu as [Mu Eu], Hv as [Mv Ev].
  rewrite <- (M_D _ _ _ _ _ _ law u), (M_self _ _ _ _ _ _ law), (M_S_apart _ _ _ _ _ _ law _ Mv Ev), inner_scale_r.
  rewrite (D_inner _ _ _ _ _ _ law) by assumption. ring.
Qed.

Lemma selected_selected c t : E c = c -> E t = t -> inner (S c) (S t) = pi * inner c t.
Proof.
  intros H K. rewrite (S_twice _ _ _ _ _ _ law), inner_comm, (fixed_selected t c K H), inner_comm. reflexivity.
Qed.
End Products.

Definition times (a : R) (x : option R) : option R := match x with Some b => Some (a * b) | None => None end.

Definition product (x y : form) : option R :=
  plus (rows s 0 (f_same x) (f_same y))
  (plus (times pi (plus (rows s 0 (f_same x) (f_kept y))
                  (plus (rows s 0 (f_kept x) (f_same y)) (rows s 0 (f_kept x) (f_kept y)))))
  (plus (rows d 0 (f_apart x) (f_apart y))
  (plus (times pi (plus (rows d 0 (f_apart x) (f_replaced y))
                  (plus (rows d 0 (f_replaced x) (f_apart y)) (rows d 0 (f_replaced x) (f_replaced y)))))
  (plus (times sg (rows d 0 (f_noise x) (f_noise y)))
        (times (pi * sg) (plus (rows d 0 (f_noise x) (f_replaced y)) (rows d 0 (f_replaced x) (f_noise y)))))))).

Lemma real_times a x : real (times a x) = a * real x.
Proof. destruct x; simpl; ring. Qed.

Lemma rows_all (b : list F) x y : real (rows b 0 x y) = inner (combine x b) (combine y b).
Proof. apply rows_is. Qed.

Theorem inner_forms x y : inner (of_form x) (of_form y) = real (product x y).
Proof.
  unfold product. rewrite !real_plus, !real_times, !real_plus, !rows_all. unfold of_form.
  pose proof (same_combination s (f_same x) Hs) as A. pose proof (apart_combination d (f_apart x) Hd) as U.
  pose proof (apart_combination d (f_noise x) Hd) as N. pose proof (same_combination s (f_kept x) Hs) as K.
  pose proof (apart_combination d (f_replaced x) Hd) as Q.
  pose proof (same_combination s (f_same y) Hs) as A'. pose proof (apart_combination d (f_apart y) Hd) as U'.
  pose proof (apart_combination d (f_noise y) Hd) as N'. pose proof (same_combination s (f_kept y) Hs) as K'.
  pose proof (apart_combination d (f_replaced y) Hd) as Q'.
  revert A U N K Q A' U' N' K' Q'.
  generalize (combine (f_same x) s) (combine (f_apart x) d) (combine (f_noise x) d) (combine (f_kept x) s)
    (combine (f_replaced x) d) (combine (f_same y) s) (combine (f_apart y) d) (combine (f_noise y) d)
    (combine (f_kept y) s) (combine (f_replaced y) d).
  intros a u n k q a' u' n' k' q' A U N K Q A' U' N' K' Q'.
  rewrite !inner_add, !inner_add_r.
  rewrite (same_apart a u') by assumption. rewrite (inner_comm F u a'), (same_apart a' u) by assumption.
  rewrite (fixed_noise n' N' a (proj2 A)), (fixed_noise n' N' u (proj2 U)).
  rewrite (inner_comm F (D n) a'), (inner_comm F (D n) u'), (fixed_noise n N a' (proj2 A')), (fixed_noise n N u' (proj2 U')).
  rewrite (fixed_selected a k' (proj2 A) (proj2 K')), (fixed_selected a q' (proj2 A) (proj2 Q')).
  rewrite (fixed_selected u k' (proj2 U) (proj2 K')), (fixed_selected u q' (proj2 U) (proj2 Q')).
  rewrite (inner_comm F (S k) a'), (inner_comm F (S k) u'), (inner_comm F (S q) a'), (inner_comm F (S q) u').
  rewrite (fixed_selected a' k (proj2 A') (proj2 K)), (fixed_selected a' q (proj2 A') (proj2 Q)).
  rewrite (fixed_selected u' k (proj2 U') (proj2 K)), (fixed_selected u' q (proj2 U') (proj2 Q)).
  rewrite (noise_kept k' n K' N), (noise_replaced n q' N Q').
  rewrite (inner_comm F (S k) (D n')), (inner_comm F (S q) (D n')).
  rewrite (noise_kept k n' K N'), (noise_replaced n' q N' Q).
  rewrite (selected_selected k k' (proj2 K) (proj2 K')), (selected_selected k q' (proj2 K) (proj2 Q')).
  rewrite (selected_selected q k' (proj2 Q) (proj2 K')), (selected_selected q q' (proj2 Q) (proj2 Q')).
  rewrite (D_inner _ _ _ _ _ _ law n n') by (apply N || apply N').
  rewrite (same_apart a q') by assumption. rewrite (inner_comm F u k'), (same_apart k' u) by assumption.
  rewrite (same_apart a' q) by assumption. rewrite (inner_comm F u' k), (same_apart k u') by assumption.
  rewrite (same_apart k q') by assumption. rewrite (inner_comm F q k'), (same_apart k' q) by assumption.
  rewrite (inner_comm F a' k), (inner_comm F u' q), (inner_comm F n' q). ring.
Qed.

Definition all_agree (x y : form) : Prop :=
  agree (f_same x) (f_same y) /\ agree (f_apart x) (f_apart y) /\ agree (f_noise x) (f_noise y) /\
  agree (f_kept x) (f_kept y) /\ agree (f_replaced x) (f_replaced y).

Lemma same_forms x y : all_agree x y -> of_form x = of_form y.
Proof.
  intros (H1 & H2 & H3 & H4 & H5). unfold of_form.
  rewrite (combine_agree _ _ s H1), (combine_agree _ _ d H2), (combine_agree _ _ d H3), (combine_agree _ _ s H4),
    (combine_agree _ _ d H5). reflexivity.
Qed.
End Basis.
End Expand.

(** [random_basis M D E S pi sg s d]: [s] are fixed vectors that all clients share, [d] fixed deviations. *)
Inductive random_basis {F : space} (M D E S : F -> F) (pi sg : R) (s d : list F) : Prop :=
  Random_basis : draw_laws M D E S pi sg -> Forall (is_same M E) s -> Forall (is_apart M E) d ->
    random_basis M D E S pi sg s d.

Definition the_form (pi : R) (e : rexpr) : form :=
  match form_of pi e with Some f => f | None => Form [] [] [] [] [] end.
Definition has_form (pi : R) (e : rexpr) : Prop := match form_of pi e with Some _ => True | None => False end.

Lemma form_is pi e : has_form pi e -> form_of pi e = Some (the_form pi e).
Proof. unfold has_form, the_form. destruct (form_of pi e); [reflexivity | intros []]. Qed.

Lemma random_inner {F : space} (M D E S : F -> F) pi sg s d : random_basis M D E S pi sg s d -> forall x y,
  has_form pi x -> has_form pi y ->
  inner (reval M D E S s d x) (reval M D E S s d y) = real (product pi sg s d (the_form pi x) (the_form pi y)).
Proof.
  intros [law Hs Hd] x y Hx Hy.
  rewrite (reval_is M D E S pi sg law s d Hs Hd x _ (form_is pi x Hx)).
  rewrite (reval_is M D E S pi sg law s d Hs Hd y _ (form_is pi y Hy)).
  apply (inner_forms M D E S pi sg law s d Hs Hd).
Qed.

Lemma random_same {F : space} (M D E S : F -> F) pi sg s d : random_basis M D E S pi sg s d -> forall x y,
  has_form pi x -> has_form pi y -> all_agree (the_form pi x) (the_form pi y) ->
  reval M D E S s d x = reval M D E S s d y.
Proof.
  intros [law Hs Hd] x y Hx Hy H.
  rewrite (reval_is M D E S pi sg law s d Hs Hd x _ (form_is pi x Hx)).
  rewrite (reval_is M D E S pi sg law s d Hs Hd y _ (form_is pi y Hy)).
  apply same_forms. exact H.
Qed.

Ltac random_reify s d u :=
  lazymatch u with
  | zero => constr:(RZero)
  | add ?x ?y => let a := random_reify s d x in let b := random_reify s d y in constr:(RAdd a b)
  | sub ?x ?y => let a := random_reify s d x in let b := random_reify s d y in constr:(RSub a b)
  | scale ?c ?x => let a := random_reify s d x in constr:(RScale c a)
  | mean_of_all ?x => let a := random_reify s d x in constr:(RMean a)
  | expectation ?x => let a := random_reify s d x in constr:(RExpected a)
  | mean_of_drawn _ ?x => let a := random_reify s d x in constr:(RDrawn a)
  | mean_of_picks _ ?x => let a := random_reify s d x in constr:(RDrawn a)
  | selected _ ?x => let a := random_reify s d x in constr:(RSelected a)
  | _ => match constr:(tt) with
         | _ => let n := place u s in constr:(RSame n)
         | _ => let n := place u d in constr:(RApart n)
         end
  end.

Ltac random_compute H :=
  cbv [reval nth unit cadd cscale plus rows row entry Nat.leb real agree vanish form_of the_form has_form fadd fscale
       f_same f_apart f_noise f_kept f_replaced product times all_agree] in H.

(** As [Strategy] in [Normal]. *)
Strategy expand [reval form_of the_form has_form fadd fscale f_same f_apart f_noise f_kept f_replaced product times
                 all_agree].

Ltac random_expand :=
  lazymatch goal with
  | B : random_basis ?M ?D ?E ?S ?pi ?sg ?s ?d |- _ =>
      repeat match goal with
      | |- context [inner ?u ?v] =>
          let x := random_reify s d u in let y := random_reify s d v in
          let H := fresh "H" in
          pose proof (random_inner M D E S pi sg s d B x y I I) as H; random_compute H; rewrite H; clear H
      end
  end.

Ltac random_same_vector :=
  lazymatch goal with
  | B : random_basis ?M ?D ?E ?S ?pi ?sg ?s ?d |- ?u = ?v =>
      let x := random_reify s d u in let y := random_reify s d v in
      let H := fresh "H" in
      pose proof (random_same M D E S pi sg s d B x y I I) as H; random_compute H; apply H; clear H; repeat split
  end.

(** ** Steps of generated proofs *)

Section Steps.
Context {W C : weighted_set} {V : space}.
Implicit Types u v : random W C V.

Lemma fixed_add u v : fixed u -> fixed v -> fixed (add u v).
Proof. intros [a Ha] [b Hb]. exists (add a b). intro w. simpl. rewrite Ha, Hb. reflexivity. Qed.

Lemma fixed_scale a u : fixed u -> fixed (scale a u).
Proof. intros [v H]. exists (scale a v). intro w. simpl. rewrite H. reflexivity. Qed.

Lemma fixed_sub u v : fixed u -> fixed v -> fixed (sub u v).
Proof. intros. apply fixed_add; [| apply fixed_scale]; assumption. Qed.

Lemma fixed_mean_of_all u : fixed u -> fixed (mean_of_all u).
Proof. intros [v H]. exists (mean v). intro w. unfold mean_of_all. rewrite H. reflexivity. Qed.

Lemma fixed_zero : fixed (zero : random W C V).
Proof. exists zero. reflexivity. Qed.

Lemma split_random u : fixed u -> exists a b, u = add a b /\ is_same mean_of_all expectation a /\
  is_apart mean_of_all expectation b /\ fixed a /\ fixed b.
Proof.
  intro H. assert (Ha : fixed (mean_of_all u)) by (apply fixed_mean_of_all, H).
  assert (Hb : fixed (sub u (mean_of_all u))) by (apply fixed_sub; assumption).
  exists (mean_of_all u), (sub u (mean_of_all u)). split; [symmetry; apply sub_add |].
  assert (M : mean_of_all (mean_of_all u) = mean_of_all u) by (apply common_is; intro w; apply mean_is_shared).
  repeat split; try assumption; try (apply fixed_is; assumption).
  unfold sub. rewrite mean_of_all_add, mean_of_all_scale, M. apply sub_self.
Qed.

Lemma is_same_of u : fixed u -> common u -> is_same mean_of_all expectation u.
Proof. intros Hf Hc. split; [apply common_is | apply fixed_is]; assumption. Qed.

Lemma is_apart_of u : fixed u -> mean_of_all u = zero -> is_apart mean_of_all expectation u.
Proof. intros Hf Hm. split; [exact Hm | apply fixed_is, Hf]. Qed.

Lemma random_lengths c (e r : random W C V) : 0 <= c ->
  (forall w k, norm (e w k) <= c * norm (r w k)) -> 0 <= inner r r * c ^ 2 - inner e e.
Proof.
  intros Hc H. enough (inner e e <= c ^ 2 * inner r r) by lra. simpl inner. rewrite <- average_scale.
  apply average_le. intro w. rewrite <- average_scale. apply average_le. intro k.
  rewrite <- !norm_square. specialize (H w k). pose proof (norm_nonneg (e w k)). nra.
Qed.
End Steps.

Lemma fixed_gradient {W C : weighted_set} {V : space} (f : C -> function V) (u : random W C V) :
  fixed u -> fixed (gradient (together (fun _ : W => together f)) u).
Proof. intros [v H]. exists (gradient (together f) v). intro w. simpl. rewrite H. reflexivity. Qed.

(** A vector made of fixed ones is fixed. *)
(** Every client is at one of two points, so its gradient is one of two gradients. *)
Lemma gradient_of_selected {W C : weighted_set} {V : space} {P m} (f : C -> function V)
  (d : draw_without_replacement W C P m) (u v : random W C V) :
  let F : function (random W C V) := together (fun _ : W => together f) in
  gradient F (add u (selected d (sub v u))) = add (gradient F u) (selected d (sub (gradient F v) (gradient F u))).
Proof.
  apply functional_extensionality. intro w. apply functional_extensionality. intro k. simpl. unfold selected.
  destruct (chosen_or_not _ _ _ _ d w k) as [-> | ->].
  - rewrite !scale_none, !add_zero. reflexivity.
  - rewrite !scale_one. transitivity (gradient (f k) (v w k)); [f_equal; exact (sub_add (v w k) (u w k)) |].
    symmetry. exact (sub_add (gradient (f k) (v w k)) (gradient (f k) (u w k))).
Qed.

Ltac is_fixed_vector G :=
  match goal with
  | |- _ => assumption
  | |- fixed (add _ _) => apply fixed_add; is_fixed_vector G
  | |- fixed (sub _ _) => apply fixed_sub; is_fixed_vector G
  | |- fixed (scale _ _) => apply fixed_scale; is_fixed_vector G
  | |- fixed (mean_of_all _) => apply fixed_mean_of_all; is_fixed_vector G
  | |- fixed (gradient _ _) => apply G; is_fixed_vector G
  end.

Ltac apply_conj :=
  match goal with
  | |- _ => assumption
  | H : is_same _ _ ?u |- _ ?u = ?u => apply H
  | H : is_apart _ _ ?u |- _ ?u = _ => apply H
  end.
