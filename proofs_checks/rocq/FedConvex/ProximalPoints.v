(** * Points at which the mean of the gradients is known

    A minimiser p of f + (c/2)|. - v|^2 is a hypothesis of a theorem: the mean of the clients' gradients at p is
    c (v - p).  Nothing in this file is part of any statement. *)

From FedConvex Require Import Spaces Families.

(** Vectors of the clients with the mean b are b plus deviations. *)
Lemma mean_and_rest {C : weighted_set} {V : space} (u b : families C V) :
  mean u = b -> exists d, u = add b d /\ mean d = zero.
Proof.
  intros <-. exists (sub u (mean u)). split; [symmetry; apply sub_add |].
  unfold sub. rewrite mean_add, mean_scale, mean_mean. apply sub_self.
Qed.
