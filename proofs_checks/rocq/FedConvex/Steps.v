(** * Steps of proofs that are written by a program

    Lemmas and tactics for the generated proofs: signs of formulas, divisors other than 0, and sums of inequalities.
    Nothing in this file is part of any statement. *)

From Coq Require Import Reals List Lra Lia Psatz.
From FedConvex Require Import Spaces Families Functions Normal.
Open Scope R_scope.

Lemma by_identity left right total : right - left = total -> 0 <= total -> left <= right.
Proof. lra. Qed.

Lemma by_equation left right total : right - left = total -> total = 0 -> left = right.
Proof. lra. Qed.

Lemma difference left right : left <= right -> 0 <= right - left.
Proof. lra. Qed.

Lemma no_less smaller larger : 0 <= larger - smaller -> smaller <= larger.
Proof. lra. Qed.

Lemma no_difference left right : left = right -> right - left = 0.
Proof. lra. Qed.

Lemma plus_nonneg a b : 0 <= a -> 0 <= b -> 0 <= a + b.
Proof. lra. Qed.

Lemma times_zero a b : b = 0 -> a * b = 0.
Proof. intros ->. ring. Qed.

Lemma nonneg_zero a b : 0 <= a -> b = 0 -> 0 <= a + b.
Proof. lra. Qed.

Lemma both_zero a b : a = 0 -> b = 0 -> a + b = 0.
Proof. lra. Qed.

Lemma by_squares a b : a ^ 2 <= b ^ 2 -> 0 <= b -> a <= b.
Proof. intros. nra. Qed.

Lemma larger_first a b : 0 <= a - b -> Rmax a b = a.
Proof. intro. apply Rmax_left. lra. Qed.

Lemma larger_second a b : 0 <= b - a -> Rmax a b = b.
Proof. intro. apply Rmax_right. lra. Qed.

Lemma root_above a b x : 0 < a -> a <= b -> 0 < x -> a * b <= x ^ 2 -> a <= x.
Proof. intros. destruct (Rle_or_lt a x); [assumption |]. exfalso. nra. Qed.

Lemma root_below a b x : 0 < a -> a <= b -> 0 < x -> x ^ 2 <= a * b -> x <= b.
Proof. intros. destruct (Rle_or_lt x b); [assumption |]. exfalso. nra. Qed.

Lemma root_above_strictly a b x : 0 < a -> a < b -> 0 < x -> a * b <= x ^ 2 -> a < x.
Proof. intros. destruct (Rlt_or_le a x); [assumption |]. exfalso. nra. Qed.

Lemma root_below_strictly a b x : 0 < a -> a < b -> 0 < x -> x ^ 2 <= a * b -> x < b.
Proof. intros. destruct (Rlt_or_le x b); [assumption |]. exfalso. nra. Qed.

Lemma at_most_one_less (n : nat) (z : Z) x : x = INR n -> x < IZR z -> x <= IZR z - 1.
Proof.
  intros -> H. rewrite INR_IZR_INZ in *. apply lt_IZR in H. rewrite <- minus_IZR. apply IZR_le. lia.
Qed.

Lemma a_name {A} (x : A) : exists y, x = y.
Proof. eexists. reflexivity. Qed.

Lemma isolate {F : space} (g r : F) : add g r = zero -> g = scale (-1) r.
Proof.
  intro H. apply sub_zero. unfold sub. rewrite scale_scale. replace (-1 * -1) with 1 by ring.
  rewrite scale_one. exact H.
Qed.

Lemma isolate_from {F : space} (g r e : F) : add g r = e -> g = sub e r.
Proof.
  intros <-. unfold sub. rewrite <- add_assoc. fold (sub r r). rewrite sub_self, add_zero. reflexivity.
Qed.

Lemma norm_multiple {F : space} (u v : F) c n : norm v = n -> u = scale c v -> 0 <= c -> norm u = c * n.
Proof. intros <- -> H. apply norm_scale. exact H. Qed.

Lemma norm_opposite {F : space} (u v : F) c n : norm v = n -> u = scale (- c) v -> 0 <= c -> norm u = c * n.
Proof. intros <- -> H. rewrite norm_negative by lra. ring. Qed.

Lemma norm_of_zero {F : space} (u : F) : u = zero -> norm u = 0.
Proof. intros ->. unfold norm. rewrite inner_zero_l. apply sqrt_0. Qed.

Lemma a_length {F : space} (u : F) : exists n, norm u = n /\ 0 <= n /\ n * n = inner u u.
Proof. exists (norm u). auto using norm_nonneg, norm_square. Qed.

Lemma cauchy_schwarz_plus {F : space} (u v : F) : 0 <= norm u * norm v - inner u v * 1.
Proof. pose proof (cauchy_schwarz u v). lra. Qed.

Lemma cauchy_schwarz_minus {F : space} (u v : F) : 0 <= norm u * norm v - inner u v * (-1).
Proof.
  pose proof (cauchy_schwarz (scale (-1) u) v) as H. rewrite norm_negative, inner_scale in H by lra. lra.
Qed.

(** What all clients satisfy, they satisfy in the mean. *)
Lemma mean_of_lengths {S : weighted_set} {V : space} c (e r : families S V) : 0 <= c ->
  (forall k, norm (e k) <= c * norm (r k)) -> 0 <= inner r r * c ^ 2 - inner e e.
Proof.
  intros Hc H. enough (inner e e <= c ^ 2 * inner r r) by lra. simpl inner. rewrite <- average_scale.
  apply average_le. intro k. rewrite <- !norm_square. specialize (H k). pose proof (norm_nonneg (e k)). nra.
Qed.

Lemma length_bound {V : space} c (e r : V) : 0 <= c -> norm e <= c * norm r -> 0 <= inner r r * c ^ 2 - inner e e.
Proof. intros. rewrite <- !norm_square. pose proof (norm_nonneg e). nra. Qed.

Lemma mean_of_errors {S : weighted_set} {V : space} c (e : families S V) : 0 <= c ->
  (forall k, norm (e k) <= c) -> 0 <= c ^ 2 - inner e e.
Proof.
  intros Hc H. enough (inner e e <= average S (fun _ => c ^ 2)) by (rewrite average_constant in *; lra).
  simpl inner. apply average_le. intro k. rewrite <- !norm_square. specialize (H k).
  pose proof (norm_nonneg (e k)). nra.
Qed.

Lemma error_bound {V : space} c (e : V) : 0 <= c -> norm e <= c -> 0 <= c ^ 2 - inner e e.
Proof. intros. rewrite <- !norm_square. pose proof (norm_nonneg e). nra. Qed.

Lemma root_of a : 0 <= a -> exists r, 0 <= r /\ a = r * r /\ sqrt a = r.
Proof. intro H. exists (sqrt a). rewrite sqrt_sqrt by exact H. auto using sqrt_pos. Qed.

Lemma positive_root_of a : 0 < a -> exists r, 0 < r /\ a = r * r /\ sqrt a = r.
Proof.
  intro H. exists (sqrt a). rewrite sqrt_sqrt by lra. auto using sqrt_lt_R0.
Qed.

Lemma root_is a r : 0 <= r -> r * r = a -> sqrt a = r.
Proof. intros H <-. apply sqrt_square. exact H. Qed.

(** What is not 0 has no factor that is. *)
Lemma factor_of {a x : R} : 0 < a -> (x = 0 -> a = 0) -> x <> 0.
Proof. intros H K Z. specialize (K Z). lra. Qed.

Lemma of_opposite x : - x <> 0 -> x <> 0.
Proof. intros H Z. apply H. rewrite Z. ring. Qed.

(** Conditions as slacks: x >= b is x = b + s. *)
Lemma slack_above x b c r : 0 < c -> 0 <= c * x - r -> b = r / c -> exists s, 0 <= s /\ x = b + s.
Proof.
  intros Hc H ->. exists (x - r / c). split; [| ring].
  replace (x - r / c) with ((c * x - r) / c) by (field; lra).
  apply Rmult_le_pos; [exact H |]. left. apply Rinv_0_lt_compat. exact Hc.
Qed.

(** ** Tactics *)

(** 0 <= or 0 < an expression without differences: its letters have a sign by the context, all else by its structure.
    It fails quickly, and searches for nothing: formulas of hundreds of terms end here. *)
Ltac seen :=
  lazymatch goal with
  | |- 0 <= IZR _ => apply (IZR_le 0); intro; discriminate
  | |- 0 < IZR _ => apply (IZR_lt 0); reflexivity
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; seen
  | |- 0 <= _ * _ => apply Rmult_le_pos; seen
  | |- 0 <= _ / _ => apply Rmult_le_pos; [seen | apply Rlt_le, Rinv_0_lt_compat; seen]
  | |- 0 <= _ ^ _ => apply pow_le; seen
  | |- 0 <= / _ => apply Rlt_le, Rinv_0_lt_compat; seen
  | |- 0 < _ + _ =>
      first [apply Rplus_le_lt_0_compat; [seen | seen] | apply Rplus_lt_le_0_compat; [seen | seen] | assumption]
  | |- 0 < _ * _ => first [apply Rmult_lt_0_compat; seen | assumption]
  | |- 0 < _ / _ => apply Rmult_lt_0_compat; [seen | apply Rinv_0_lt_compat; seen]
  | |- 0 < _ ^ _ => apply pow_lt; seen
  | |- 0 < / _ => apply Rinv_0_lt_compat; seen
  | |- 0 < _ => assumption
  | |- 0 <= _ => first [assumption | apply Rlt_le; assumption]
  end.

(** Of two numbers >= 0 that are not both 0, the first is positive, or it is 0 and the other one is. *)
Ltac one_of_two :=
  match goal with
  | H : 0 < ?x + ?y, X : 0 <= ?x, Y : 0 <= ?y |- _ =>
      is_var x; is_var y; destruct X as [X | X]; [clear H | subst x; rewrite Rplus_0_l in H]
  end.

(** 0 <= or 0 < an expression: by its structure, from what is known of its parts. *)
Ltac sign_by_search :=
  match goal with
  | |- _ => assumption
  | |- _ => lra
  | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; sign_by_search
  | |- 0 <= ?a * ?b => apply Rmult_le_pos; sign_by_search
  | |- 0 <= ?a / ?b => apply Rmult_le_pos; [sign_by_search | left; apply Rinv_0_lt_compat; sign_by_search]
  | |- 0 <= ?a ^ 2 => apply pow2_ge_0
  | |- 0 <= ?a ^ _ => apply pow_le; sign_by_search
  | |- 0 <= / ?b => left; apply Rinv_0_lt_compat; sign_by_search
  | |- 0 <= norm _ => apply norm_nonneg
  | |- 0 <= inner ?u ?u => apply inner_square
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; sign_by_search
  | |- 0 < ?a / ?b => apply Rmult_lt_0_compat; [sign_by_search | apply Rinv_0_lt_compat; sign_by_search]
  | |- 0 < / ?b => apply Rinv_0_lt_compat; sign_by_search
  | |- 0 < ?a ^ _ => apply pow_lt; sign_by_search
  | |- 0 < ?a + ?b => apply Rplus_lt_le_0_compat; sign_by_search
  | |- 0 < ?a + ?b => apply Rplus_le_lt_0_compat; sign_by_search
  | |- 0 < sqrt _ => apply sqrt_lt_R0; sign_by_search
  | |- _ => nra
  end.
Ltac sign := first [seen | sign_by_search].

Ltac order := first [ lra | apply Rmax_lub; order | eapply Rle_trans; [| apply Rmax_l]; order
                    | eapply Rle_trans; [| apply Rmax_r]; order | apply Rge_le; nra | nra ].

(** Divisors are not 0. *)
Ltac nonzero_one :=
  match goal with
  | |- True => exact I
  | |- _ => assumption
  | |- _ <> 0 => apply Rgt_not_eq, Rlt_gt; seen
  | |- _ => lra
  | H : 0 < ?d |- ?e <> 0 =>
      let Z := fresh in intro Z; apply (Rlt_not_eq _ _ H); rewrite <- Z; ring
  | H : 0 < ?d |- ?e <> 0 =>
      let Z := fresh in intro Z; apply (Rlt_not_eq _ _ H); replace d with (- e) by ring; rewrite Z; ring
  | H : ?d <> 0 |- ?e <> 0 =>
      let Z := fresh in intro Z; apply H; rewrite <- Z; ring
  | |- ?e <> 0 => ring_simplify e; apply Rgt_not_eq, Rlt_gt; seen
  | |- ?e <> 0 => apply of_opposite; ring_simplify (- e); apply Rgt_not_eq, Rlt_gt; seen
  | |- ?a * ?b <> 0 => apply Rmult_integral_contrapositive_currified; nonzero_one
  | |- ?e <> 0 => apply not_eq_sym, Rlt_not_eq; sign
  | |- ?e <> 0 => apply Rgt_not_eq, Rlt_gt; sign
  | |- ?e <> 0 => nra
  end.
Ltac nonzero := repeat split; nonzero_one.

(** An identity of formulas; the divisors are positive by the context. *)
Ltac identity := first [ ring | field; nonzero ].
