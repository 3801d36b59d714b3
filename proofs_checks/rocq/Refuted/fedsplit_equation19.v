(** f_1 = f_2 = 0, x^(1) = 0, weight 1, y = (1, 0), z = (0, 0): the regularised function is only 1/2-strongly convex. *)

From Coq Require Import FunctionalExtensionality Psatz.
From FedConvex Require Import Instances.

(* the theorem *)
Proof.
  intro claim.
  specialize (claim line two_clients (fun _ => quadratic 0 0) 1 2 1 (fun _ => 0)
    (fun k => if k then 1 else 0) (fun _ => 0)).
  assert (shared ((fun _ => 0) : families two_clients line)) as same by (exists 0; reflexivity).
  specialize (claim ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)
    (fun _ => quadratic_at_least 0 0 0 ltac:(lra)) (fun _ => quadratic_at_most 0 0 1 ltac:(lra)) same).
  simpl in claim. unfold average, sum, sub in claim. simpl in claim. lra.
Qed.
