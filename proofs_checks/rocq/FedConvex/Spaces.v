(** * Vectors, lengths, inner products

    A [space] is a real vector space with an inner product.  Nothing says that it is complete or of finite dimension,
    and a vector other than 0 may have length 0: every theorem below holds for R^d in particular. *)

From Coq Require Import Reals Lra.
Open Scope R_scope.

Record space := {
  vector :> Type;
  zero : vector;
  add : vector -> vector -> vector;
  scale : R -> vector -> vector;
  inner : vector -> vector -> R;
  add_comm : forall u v, add u v = add v u;
  add_assoc : forall u v w, add u (add v w) = add (add u v) w;
  add_zero : forall u, add u zero = u;
  scale_one : forall u, scale 1 u = u;
  scale_none : forall u, scale 0 u = zero;
  scale_scale : forall a b u, scale a (scale b u) = scale (a * b) u;
  scale_add : forall a u v, scale a (add u v) = add (scale a u) (scale a v);
  add_scale : forall a b u, scale (a + b) u = add (scale a u) (scale b u);
  inner_comm : forall u v, inner u v = inner v u;
  inner_add : forall u v w, inner (add u v) w = inner u w + inner v w;
  inner_scale : forall a u v, inner (scale a u) v = a * inner u v;
  inner_square : forall u, 0 <= inner u u
}.

Arguments zero {s}.
Arguments add {s} u v.
Arguments scale {s} a u.
Arguments inner {s} u v.

(** The length of a vector, and the difference of two. *)
Definition norm {V : space} (u : V) : R := sqrt (inner u u).
Definition sub {V : space} (u v : V) : V := add u (scale (-1) v).

Declare Scope vector_scope.
Delimit Scope vector_scope with V.
Bind Scope vector_scope with vector.
Arguments add {s} (u v)%V.
Arguments scale {s} a%R u%V.
Arguments inner {s} (u v)%V.
Arguments norm {V} u%V.
Arguments sub {V} (u v)%V.
Infix "+" := add : vector_scope.
Infix "-" := sub : vector_scope.
Notation "a * u" := (scale a%R u) : vector_scope.

(** ** What follows for every space *)

Section Facts.
Context {V : space}.
Implicit Types u v w : V.

Lemma inner_zero_l v : inner zero v = 0.
Proof. rewrite <- (scale_none V v), inner_scale. ring. Qed.

Lemma inner_zero_r v : inner v zero = 0.
Proof. rewrite inner_comm. apply inner_zero_l. Qed.

Lemma inner_add_r u v w : inner w (add u v) = inner w u + inner w v.
Proof. rewrite (inner_comm V w (add u v)), inner_add, (inner_comm V u w), (inner_comm V v w). reflexivity. Qed.

Lemma inner_scale_r a u v : inner u (scale a v) = a * inner u v.
Proof. rewrite (inner_comm V u (scale a v)), inner_scale, (inner_comm V v u). reflexivity. Qed.

Lemma inner_sub_l u v w : inner (sub u v) w = inner u w - inner v w.
Proof. unfold sub. rewrite inner_add, inner_scale. ring. Qed.

Lemma inner_sub_r u v w : inner w (sub u v) = inner w u - inner w v.
Proof. unfold sub. rewrite inner_add_r, inner_scale_r. ring. Qed.

Lemma zero_add u : add zero u = u.
Proof. rewrite add_comm. apply add_zero. Qed.

Lemma scale_zero a : scale a zero = zero :> V.
Proof. rewrite <- (scale_none V zero), scale_scale, Rmult_0_r. reflexivity. Qed.

Lemma sub_self u : sub u u = zero.
Proof.
  unfold sub. rewrite <- (scale_one V u) at 1. rewrite <- add_scale, Rplus_opp_r. apply scale_none.
Qed.

Lemma sub_add u v : add v (sub u v) = u.
Proof.
  unfold sub. rewrite (add_comm V u), add_assoc. fold (sub v v). rewrite sub_self. apply zero_add.
Qed.

(** Two vectors with difference 0 are equal. *)
Lemma sub_zero u v : sub u v = zero -> u = v.
Proof. intro H. rewrite <- (sub_add u v), H. apply add_zero. Qed.

Lemma norm_nonneg u : 0 <= norm u.
Proof. apply sqrt_pos. Qed.

Lemma norm_square u : norm u * norm u = inner u u.
Proof. apply sqrt_sqrt, inner_square. Qed.

Lemma norm_scale a u : 0 <= a -> norm (scale a u) = a * norm u.
Proof.
  intro H. unfold norm. rewrite inner_scale, inner_scale_r, <- Rmult_assoc, sqrt_mult_alt, sqrt_square; nra.
Qed.

Lemma norm_negative a u : a <= 0 -> norm (scale a u) = - a * norm u.
Proof.
  intro H. rewrite <- norm_scale by lra. unfold norm. rewrite !inner_scale, !inner_scale_r. f_equal. ring.
Qed.

Theorem cauchy_schwarz u v : inner u v <= norm u * norm v.
Proof.
  destruct (Rle_lt_dec (inner u v) 0) as [H | H].
  - pose proof (norm_nonneg u). pose proof (norm_nonneg v). nra.
  - assert (square : inner u v * inner u v <= inner u u * inner v v).
    { set (a := inner v v). set (b := inner u v).
      assert (Ha : 0 <= a) by apply inner_square.
      destruct (Req_dec a 0) as [Za | Za].
      - pose proof (inner_square V (sub u (scale ((inner u u + 1) / b) v))) as Q.
        rewrite inner_sub_l, !inner_sub_r, !inner_scale, !inner_scale_r in Q.
        rewrite (inner_comm V v u) in Q. fold a b in Q. rewrite Za in Q.
        assert (Hb : b <> 0) by (unfold b; lra).
        replace ((inner u u + 1) / b * b) with (inner u u + 1) in Q by (field; exact Hb).
        pose proof (inner_square V u). lra.
      - pose proof (inner_square V (sub (scale a u) (scale b v))) as Q.
        rewrite inner_sub_l, !inner_sub_r, !inner_scale, !inner_scale_r in Q.
        rewrite (inner_comm V v u) in Q. fold a b in Q. nra. }
    rewrite <- (sqrt_square (inner u v)) by lra. unfold norm.
    rewrite <- sqrt_mult by apply inner_square. apply sqrt_le_1_alt. exact square.
Qed.

End Facts.
