(** * Inner products of linear combinations, computed

    A vector of every client is its mean plus deviations with mean 0, and the two are orthogonal.  A vector that is put
    together from shared vectors [s] and deviations [d] by sums, multiples and means therefore has coefficients, and an
    inner product of two such vectors is a sum over products of coefficients.  The tactics [expand] and [same_vector]
    do this computation; nothing in this file is part of any statement. *)

From Coq Require Import Reals List Lra Arith.
From FedConvex Require Import Spaces Families.
Import ListNotations.
Open Scope R_scope.

(** An inner product that is not expanded further. *)
Definition gram {F : space} (u v : F) : R := inner u v.

Inductive expr :=
  | Zero | Same (i : nat) | Apart (i : nat) | Add (x y : expr) | Sub (x y : expr) | Scale (a : R) (x : expr)
  | Mean (x : expr).

Definition coefficients := list (option R).

Definition plus (a b : option R) : option R :=
  match a, b with Some x, Some y => Some (x + y) | Some x, None => Some x | None, y => y end.
Fixpoint cadd (x y : coefficients) : coefficients :=
  match x, y with a :: x', b :: y' => plus a b :: cadd x' y' | [], y => y | x, [] => x end.
Fixpoint cscale (a : R) (x : coefficients) : coefficients :=
  match x with Some b :: t => Some (a * b) :: cscale a t | None :: t => None :: cscale a t | [] => [] end.
Fixpoint unit (i : nat) : coefficients := match i with O => [Some 1] | S j => None :: unit j end.

Fixpoint same (e : expr) : coefficients :=
  match e with
  | Zero => [] | Same i => unit i | Apart _ => [] | Add x y => cadd (same x) (same y)
  | Sub x y => cadd (same x) (cscale (-1) (same y)) | Scale a x => cscale a (same x) | Mean x => same x
  end.
Fixpoint apart (e : expr) : coefficients :=
  match e with
  | Zero => [] | Same _ => [] | Apart i => unit i | Add x y => cadd (apart x) (apart y)
  | Sub x y => cadd (apart x) (cscale (-1) (apart y)) | Scale a x => cscale a (apart x) | Mean _ => []
  end.

Definition real (a : option R) : R := match a with Some x => x | None => 0 end.

Section Expand.
Context {F : space} (M : F -> F).
Hypothesis M_add : forall u v, M (add u v) = add (M u) (M v).
Hypothesis M_scale : forall a u, M (scale a u) = scale a (M u).
Hypothesis M_inner : forall u v, inner (M u) v = inner u (M v).

Fixpoint eval (s d : list F) (e : expr) : F :=
  match e with
  | Zero => zero | Same i => nth i s zero | Apart i => nth i d zero | Add x y => add (eval s d x) (eval s d y)
  | Sub x y => sub (eval s d x) (eval s d y) | Scale a x => scale a (eval s d x) | Mean x => M (eval s d x)
  end.

Fixpoint combine (c : coefficients) (b : list F) : F :=
  match c, b with
  | Some a :: c', v :: b' => add (scale a v) (combine c' b')
  | None :: c', _ :: b' => combine c' b'
  | _, _ => zero
  end.

Lemma combine_add x y b : combine (cadd x y) b = add (combine x b) (combine y b).
Proof.
  revert y b. induction x as [| a x IH]; intros [| c y] [| v b]; simpl; rewrite ?zero_add, ?add_zero; auto.
  - destruct a, c; simpl; rewrite ?add_zero; reflexivity.
  - destruct a as [a |], c as [c |]; simpl; rewrite IH.
    + rewrite add_scale, <- !add_assoc. f_equal. rewrite !add_assoc. f_equal. apply add_comm.
    + apply add_assoc.
    + rewrite !add_assoc. f_equal. apply add_comm.
    + reflexivity.
Qed.

Lemma combine_scale a x b : combine (cscale a x) b = scale a (combine x b).
Proof.
  revert b. induction x as [| c x IH]; intros [| v b]; simpl; try (destruct c); simpl; rewrite ?scale_zero; auto.
  rewrite IH, scale_add, scale_scale. reflexivity.
Qed.

Lemma combine_unit i b : combine (unit i) b = nth i b zero.
Proof.
  revert b. induction i as [| i IH]; intros [| v b]; simpl; auto. rewrite scale_one. apply add_zero.
Qed.

Lemma M_zero : M zero = zero.
Proof. rewrite <- (scale_none F zero), M_scale, !scale_none. reflexivity. Qed.

Lemma M_combine_same c s : Forall (fun v => M v = v) s -> M (combine c s) = combine c s.
Proof.
  intro H. revert c. induction H as [| v s Hv H IH]; intros [| [a |] c]; simpl; auto using M_zero.
  rewrite M_add, M_scale, Hv, IH. reflexivity.
Qed.

Lemma M_combine_apart c d : Forall (fun v => M v = zero) d -> M (combine c d) = zero.
Proof.
  intro H. revert c. induction H as [| v d Hv H IH]; intros [| [a |] c]; simpl; auto using M_zero.
  rewrite M_add, M_scale, Hv, IH, scale_zero. apply add_zero.
Qed.

Lemma nth_apart i d : Forall (fun v => M v = zero) d -> M (nth i d zero) = zero.
Proof. intro H. rewrite <- (combine_unit i d). apply M_combine_apart. exact H. Qed.

Section Basis.
Variables s d : list F.
Hypothesis Hs : Forall (fun v => M v = v) s.
Hypothesis Hd : Forall (fun v => M v = zero) d.

Lemma eval_combine e : eval s d e = add (combine (same e) s) (combine (apart e) d).
Proof.
  assert (swap : forall p q r t : F, add (add p q) (add r t) = add (add p r) (add q t)).
  { intros. rewrite <- !add_assoc. f_equal. rewrite !add_assoc. f_equal. apply add_comm. }
  induction e as [| i | i | x Hx y Hy | x Hx y Hy | a x Hx | x Hx]; simpl.
  - symmetry. apply add_zero.
  - rewrite combine_unit, add_zero. reflexivity.
  - rewrite combine_unit, zero_add. reflexivity.
  - rewrite !combine_add, Hx, Hy. apply swap.
  - unfold sub. rewrite !combine_add, !combine_scale, Hx, Hy, scale_add. apply swap.
  - rewrite !combine_scale, Hx. apply scale_add.
  - rewrite Hx, M_add, M_combine_same, M_combine_apart by assumption. reflexivity.
Qed.

(** The inner product of a mean and a deviation is 0. *)
Lemma orthogonal x y : inner (combine x s) (combine y d) = 0.
Proof.
  rewrite <- (M_combine_same x s Hs), M_inner, M_combine_apart by assumption. apply inner_zero_r.
Qed.

Definition entry (b : list F) (i j : nat) : R :=
  if Nat.leb i j then gram (nth i b zero) (nth j b zero) else gram (nth j b zero) (nth i b zero).

Fixpoint row (b : list F) (a : R) (i j : nat) (y : coefficients) : option R :=
  match y with
  | [] => None
  | None :: y' => row b a i (S j) y'
  | Some c :: y' => plus (Some (a * c * entry b i j)) (row b a i (S j) y')
  end.

Fixpoint rows (b : list F) (i : nat) (x y : coefficients) : option R :=
  match x with
  | [] => None
  | None :: x' => rows b (S i) x' y
  | Some a :: x' => plus (row b a i 0 y) (rows b (S i) x' y)
  end.

Lemma real_plus a b : real (plus a b) = real a + real b.
Proof. destruct a, b; simpl; ring. Qed.

Lemma entry_is b i j : entry b i j = inner (nth i b zero) (nth j b zero).
Proof. unfold entry, gram. destruct (Nat.leb i j); [reflexivity | apply inner_comm]. Qed.

Lemma combine_skip (b : list F) c j : combine c (skipn j b) =
  match c with
  | [] => zero | Some a :: c' => add (scale a (nth j b zero)) (combine c' (skipn (S j) b))
  | None :: c' => combine c' (skipn (S j) b)
  end.
Proof.
  destruct c as [| c t]; [destruct (skipn j b); reflexivity |].
  revert b. induction j as [| j IH]; intros [| v b]; simpl.
  - destruct c; rewrite ?scale_zero, ?zero_add; destruct t as [| [|] ?]; reflexivity.
  - destruct c; reflexivity.
  - destruct c; rewrite ?scale_zero, ?zero_add; destruct t as [| [|] ?]; reflexivity.
  - apply IH.
Qed.

Lemma row_is b a i j y : real (row b a i j y) = inner (scale a (nth i b zero)) (combine y (skipn j b)).
Proof.
  revert j. induction y as [| c y IH]; intro j; rewrite combine_skip; cbn [row]; [simpl; rewrite inner_zero_r; auto |].
  destruct c as [c |]; rewrite ?real_plus, IH; [| reflexivity].
  cbn [real]. rewrite inner_add_r, inner_scale_r, !inner_scale, entry_is. ring.
Qed.

Lemma rows_is b i x y : real (rows b i x y) = inner (combine x (skipn i b)) (combine y b).
Proof.
  revert i. induction x as [| c x IH]; intro i; rewrite combine_skip; cbn [rows]; [simpl; rewrite inner_zero_l; auto |].
  destruct c as [c |]; rewrite ?real_plus, IH; [| reflexivity]. rewrite row_is, inner_add. reflexivity.
Qed.

Theorem expand_inner x y :
  inner (eval s d x) (eval s d y) = real (plus (rows s 0 (same x) (same y)) (rows d 0 (apart x) (apart y))).
Proof.
  rewrite real_plus, !rows_is, !eval_combine, inner_add, !inner_add_r. simpl skipn.
  rewrite (inner_comm F (combine (apart x) d) (combine (same y) s)), !orthogonal. ring.
Qed.

Fixpoint vanish (x : coefficients) : Prop := match x with [] => True | a :: t => real a = 0 /\ vanish t end.
Fixpoint agree (x y : coefficients) : Prop :=
  match x, y with
  | a :: x', b :: y' => real a = real b /\ agree x' y'
  | [], y => vanish y
  | x, [] => vanish x
  end.

Lemma combine_vanish x b : vanish x -> combine x b = zero.
Proof.
  revert b. induction x as [| [a |] x IH]; intros [| v b] H; simpl in *; auto; destruct H as [E H].
  - rewrite E, scale_none, zero_add. apply IH. exact H.
  - apply IH. exact H.
Qed.

Lemma combine_agree x y b : agree x y -> combine x b = combine y b.
Proof.
  revert y b. induction x as [| a x IH]; intros [| c y] b H.
  - reflexivity.
  - rewrite (combine_vanish _ b H). reflexivity.
  - rewrite (combine_vanish _ b H). reflexivity.
  - destruct b as [| v b]; [destruct a, c; reflexivity |]. destruct H as [E H].
    destruct a as [a |], c as [c |]; simpl in *; rewrite (IH _ b H); subst; rewrite ?scale_none, ?zero_add; auto.
Qed.

Theorem same_vectors x y : agree (same x) (same y) -> agree (apart x) (apart y) -> eval s d x = eval s d y.
Proof. intros H K. rewrite !eval_combine, (combine_agree _ _ s H), (combine_agree _ _ d K). reflexivity. Qed.
End Basis.
End Expand.

(** ** Tactics: [expand] and [same_vector], where the context has a [basis]. *)

Ltac place x l :=
  lazymatch l with
  | x :: _ => constr:(O)
  | _ :: ?t => let n := place x t in constr:(S n)
  end.

Ltac reify M s d u :=
  lazymatch u with
  | zero => constr:(Zero)
  | add ?x ?y => let a := reify M s d x in let b := reify M s d y in constr:(Add a b)
  | sub ?x ?y => let a := reify M s d x in let b := reify M s d y in constr:(Sub a b)
  | scale ?c ?x => let a := reify M s d x in constr:(Scale c a)
  | mean ?x => let a := reify M s d x in constr:(Mean a)
  | _ => match constr:(tt) with
         | _ => let n := place u s in constr:(Same n)
         | _ => let n := place u d in constr:(Apart n)
         end
  end.

Ltac compute_in H :=
  cbv [eval nth same apart unit cadd cscale plus rows row entry Nat.leb real agree vanish] in H.

(** When Rocq checks what [compute_in] has computed, it unfolds these first, and the operations on vectors last. *)
Strategy expand [eval nth same apart unit cadd cscale plus rows row entry Nat.leb real agree vanish].

(** Means on families, and nothing in the place of means on single vectors. *)
Inductive mean_like {F : space} (M : F -> F) : Prop :=
  Mean_like : (forall u v, M (add u v) = add (M u) (M v)) -> (forall a u, M (scale a u) = scale a (M u)) ->
              (forall u v, inner (M u) v = inner u (M v)) -> mean_like M.

Lemma mean_of_clients S V : mean_like (@mean S V).
Proof. constructor; [exact mean_add | exact mean_scale | exact inner_mean]. Qed.

Lemma mean_of_one (F : space) : mean_like (fun u : F => u).
Proof. constructor; reflexivity. Qed.

Lemma expand_by {F : space} (M : F -> F) (law : mean_like M) s d :
  Forall (fun v => M v = v) s -> Forall (fun v => M v = zero) d -> forall x y,
  inner (eval M s d x) (eval M s d y) = real (plus (rows s 0 (same x) (same y)) (rows d 0 (apart x) (apart y))).
Proof. destruct law. intros. apply expand_inner; assumption. Qed.

Lemma same_by {F : space} (M : F -> F) (law : mean_like M) s d :
  Forall (fun v => M v = v) s -> Forall (fun v => M v = zero) d -> forall x y,
  agree (same x) (same y) -> agree (apart x) (apart y) -> eval M s d x = eval M s d y.
Proof. destruct law. intros. apply same_vectors; assumption. Qed.

(** [basis M s d]: [s] are vectors that the mean leaves as they are, [d] deviations with mean 0. *)
Inductive basis {F : space} (M : F -> F) (s d : list F) : Prop :=
  Basis : mean_like M -> Forall (fun v => M v = v) s -> Forall (fun v => M v = zero) d -> basis M s d.

Lemma expand_in {F : space} (M : F -> F) s d : basis M s d -> forall x y,
  inner (eval M s d x) (eval M s d y) = real (plus (rows s 0 (same x) (same y)) (rows d 0 (apart x) (apart y))).
Proof. intros []. apply expand_by; assumption. Qed.

Lemma same_in {F : space} (M : F -> F) s d : basis M s d -> forall x y,
  agree (same x) (same y) -> agree (apart x) (apart y) -> eval M s d x = eval M s d y.
Proof. intros []. apply same_by; assumption. Qed.

(** All inner products in the goal, as sums over those of the basis. *)
Ltac expand :=
  lazymatch goal with
  | B : basis ?M ?s ?d |- _ =>
      repeat match goal with
      | |- context [inner ?u ?v] =>
          let x := reify M s d u in let y := reify M s d v in
          let H := fresh "H" in
          pose proof (expand_in M s d B x y) as H; compute_in H; rewrite H; clear H
      end
  end.

(** Two vectors are equal, because their coefficients are. *)
Ltac same_vector :=
  lazymatch goal with
  | B : basis ?M ?s ?d |- ?u = ?v =>
      let x := reify M s d u in let y := reify M s d v in
      let H := fresh "H" in
      pose proof (same_in M s d B x y) as H; compute_in H; apply H; clear H; repeat split
  end.
