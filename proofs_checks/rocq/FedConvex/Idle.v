(** * The clients that are not drawn

    The mean of |u_k|^2 over the clients that a draw without replacement leaves out is >= 0.  Nothing in this file is
    part of any statement. *)

From Coq Require Import Reals List Lra FunctionalExtensionality.
From FedConvex Require Import Spaces Families Functions Normal Draws.
Open Scope R_scope.

Section Idle.
Context {W C : weighted_set} {V : space} {P m : R} (d : draw_without_replacement W C P m).
Hypothesis P_one : 1 <= P.
Hypothesis m_one : 1 <= m.
Implicit Types u n : random W C V.

Lemma drawn_part_at_most u : inner u (selected d u) <= inner u u.
Proof.
  apply average_le. intro w. apply average_le. intro k. unfold selected. rewrite inner_scale_r.
  pose proof (inner_square V (u w k)). destruct (chosen_or_not _ _ _ _ d w k) as [-> | ->]; lra.
Qed.

Lemma selected_add u n : selected d (add u n) = add (selected d u) (selected d n).
Proof.
  apply functional_extensionality. intro w. apply functional_extensionality. intro k. apply scale_add.
Qed.

Lemma selected_self u n : inner (selected d u) n = inner u (selected d n).
Proof.
  apply average_ext. intro w. apply average_ext. intro k. unfold selected. rewrite inner_scale, inner_scale_r.
  reflexivity.
Qed.

(** As many clients are drawn in every outcome: of a vector that all share, the mean over the drawn is P/m of it. *)
Lemma mean_of_selected n : mean_of_all n = n -> mean_of_all (selected d n) = scale (P / m) n.
Proof.
  intro H. transitivity (scale (P / m) (mean_of_drawn d n)).
  - apply functional_extensionality. intro w. exact (selected_mean d P_one m_one n w).
  - f_equal. apply functional_extensionality. intro w. apply functional_extensionality. intro k.
    apply (D_constant d P_one). intro j. rewrite <- H. reflexivity.
Qed.

(** With a fixed part E u, and the rest n that all clients share. *)
Lemma idle_square u : mean_of_all (sub u (expectation u)) = sub u (expectation u) ->
  0 <= inner u u - inner u (selected d (expectation u)) -
    inner (add (mean_of_all (selected d (expectation u))) (scale (P / m) (sub u (expectation u)))) (sub u (expectation u)).
Proof.
  set (n := sub u (expectation u)). set (s := selected d (expectation u)). intro Hn. pose proof (drawn_part_at_most u) as Q.
  assert (U : u = add (expectation u) n) by (symmetry; apply sub_add).
  assert (S : selected d u = add s (selected d n)) by (rewrite U at 1; apply selected_add).
  enough (inner u (selected d u) = inner u s + inner (add (mean_of_all s) (scale (P / m) n)) n) by lra.
  rewrite S at 1. rewrite inner_add_r. f_equal.
  transitivity (inner (mean_of_all (add s (selected d n))) n).
  - rewrite <- S, mean_of_all_self, Hn. symmetry. apply selected_self.
  - rewrite mean_of_all_add, (mean_of_selected n Hn). reflexivity.
Qed.
End Idle.
