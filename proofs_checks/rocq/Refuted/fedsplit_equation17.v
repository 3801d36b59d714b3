(** f(u) = u^2/2, s = 1, a = 1/2, x = z = 0, u = 1: the gradient step leads to 0, and the printed right side is 3/2. *)

From Coq Require Import FunctionalExtensionality Psatz.
From FedConvex Require Import Instances.

(* the theorem *)
Proof.
  intro claim.
  specialize (claim line one_client (fun _ => quadratic 1 0) 1 (1 / 2) 1 (fun _ => 1) (fun _ => 0) (fun _ => 0)).
  assert (shared ((fun _ => 0) : families one_client line)) as same by (exists 0; reflexivity).
  pose proof (f_equal (fun v => v tt) (claim ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) same)) as at_client.
  simpl in at_client. unfold sub in at_client. simpl in at_client. lra.
Qed.
