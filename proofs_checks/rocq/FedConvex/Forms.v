(** * Quadratic forms of two vectors

    Nothing in this file is part of any statement. *)

From Coq Require Import Reals Lra Psatz.
From FedConvex Require Import Spaces.
Open Scope R_scope.

(** a|u|^2 + 2b<u, v> + d|v|^2 >= 0 where b^2 <= a d: if a is positive, a times it is |au + bv|^2 + (a d - b^2)|v|^2. *)
Lemma form_nonneg {F : space} (u v : F) a b d : 0 <= a -> 0 <= d -> 0 <= a * d - b ^ 2 ->
  0 <= a * inner u u + 2 * b * inner u v + d * inner v v.
Proof.
  intros [Ha | <-] Hd H.
  - pose proof (inner_square F (add (scale a u) (scale b v))) as S. pose proof (inner_square F v) as T.
    rewrite inner_add, !inner_add_r, !inner_scale, !inner_scale_r, (inner_comm F v u) in S.
    apply (Rmult_le_reg_l a); [exact Ha |]. nra.
  - replace b with 0 by nra. pose proof (inner_square F v). nra.
Qed.
