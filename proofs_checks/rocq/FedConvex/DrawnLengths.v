(** * Lengths in the outcomes of a draw

    In the outcome o of a draw, a vector u that depends on it has the length [norm (u o)]; E|u| is
    [average W (fun o => norm (u o))].  It is not [norm u], the root of E|u|^2, unless u is the same in every outcome.
    Nothing in this file is part of any statement. *)

From Coq Require Import Reals List Lra Psatz.
From FedConvex Require Import Spaces Families Functions Normal Steps Draws Random.
Open Scope R_scope.

Lemma triangle_inequality {F : space} (u v : F) : norm (u + v) <= norm u + norm v.
Proof.
  pose proof (norm_nonneg u). pose proof (norm_nonneg v). pose proof (norm_nonneg (u + v)%V).
  pose proof (cauchy_schwarz u v) as C. pose proof (norm_square (u + v)%V) as Q.
  rewrite inner_add, !inner_add_r, (inner_comm F v u), <- !norm_square in Q. nra.
Qed.

Lemma triangle {F : space} (t u v : F) : 0 <= norm t * (norm u + norm v - norm (u + v)).
Proof.
  apply Rmult_le_pos; [apply norm_nonneg |]. pose proof (triangle_inequality u v). lra.
Qed.

Section Draws.
Context {W C : weighted_set} {V : space}.
Implicit Types t u v : random W C V.

Lemma triangle_in_draws t u v :
  0 <= average W (fun o => norm (t o) * (norm (u o) + norm (v o) - norm ((u + v)%V o))).
Proof. apply average_nonneg. intro o. exact (triangle (t o) (u o) (v o)). Qed.

(** (E|u|)^2 <= E|u|^2. *)
Lemma mean_length u : 0 <= norm u - average W (fun o => norm (u o)).
Proof.
  set (a := average W (fun o => norm (u o))).
  assert (Q : 0 <= average W (fun o => (norm (u o) - a) * (norm (u o) - a)))
    by (apply average_nonneg; intro o; apply Rle_0_sqr).
  assert (E : average W (fun o => (norm (u o) - a) * (norm (u o) - a)) = inner u u - a * a).
  { transitivity (average W (fun o => inner (u o) (u o) + (-2 * a * norm (u o) + a * a))).
    - apply average_ext. intro o. rewrite <- norm_square. ring.
    - rewrite !average_add, !average_scale, average_constant. fold a.
      change (average W (fun o => inner (u o) (u o))) with (inner u u). ring. }
  rewrite E, <- norm_square in Q. pose proof (norm_nonneg u). nra.
Qed.

(** For generated proofs: the length in every outcome as a number n o, with E n^2 = |u|^2. *)
Lemma a_length_in_draws u : exists n : W -> R,
  (forall o, norm (u o) = n o) /\ (forall o, 0 <= n o) /\ average W (fun o => n o * n o) = inner u u.
Proof.
  exists (fun o => norm (u o)). split; [reflexivity | split; [intro; apply norm_nonneg |]].
  apply average_ext. intro o. apply norm_square.
Qed.

Lemma length_of_fixed u n : fixed u -> norm u = n -> forall o, norm (u o) = n.
Proof.
  intros [v H] <- o. rewrite H. unfold norm. f_equal.
  transitivity (average W (fun _ => inner v v)); [symmetry; apply average_constant |].
  apply average_ext. intro p. rewrite H. reflexivity.
Qed.

Lemma multiple_in_draws u v c n : (forall o, norm (v o) = n o) -> u = scale c v -> 0 <= c ->
  forall o, norm (u o) = c * n o.
Proof. intros H -> Hc o. rewrite <- H. apply (norm_scale c (v o)). exact Hc. Qed.

Lemma opposite_in_draws u v c n : (forall o, norm (v o) = n o) -> u = scale (- c) v -> 0 <= c ->
  forall o, norm (u o) = c * n o.
Proof.
  intros H -> Hc o. rewrite <- H. change ((scale (- c) v) o) with (scale (- c) (v o)). rewrite norm_negative by lra.
  ring.
Qed.
End Draws.
