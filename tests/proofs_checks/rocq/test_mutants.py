"""Rocq refuses exported theorems in which one thing is changed, and what its tactics and definitions do not show.

Each theorem, case or lemma stands alone in its mutants, after the file of its statement, which Rocq accepts: so it is
in its own proof that Rocq refuses them.
"""

import re
from collections.abc import Callable

import pytest

from fedconvex.proofs_checks.rocq.compiling import Rocq
from fedconvex.proofs_checks.rocq.files import LIBRARY, exported, library
from fedconvex.theory import statement

from .theorem_folders import WITH_ROCQ, accepts

pytestmark = WITH_ROCQ
Accepts = Callable[[str, str], bool | None]
EXP, ROUND_BY_ROUND, CORRECTED = (
    f"fedsplit.{key}" for key in ("equation22", "theorem2roundbyround", "theorem2corrected")
)
STEPS, RESTS = "khaled.anynumberoflocalsteps", "malinovskiy.fixedpoint"
# Changes of a theorem, at the last place in its claim and hypotheses, or else at the first place in its proof.
MUTANTS = (
    # a constant, a sign, a hypothesis, a multiplier
    ("feddyn.equation5", "/ (2 * L) <= value F x - value F xs.", "/ (3 / 2 * L) <= value F x - value F xs."),
    ("feddyn.equation5", "/ (2 * L) <= value F x - value F xs.", "/ (2 * L) <= value F xs - value F x."),
    ("feddyn.equation5", "curvature_at_most L (f k)", "curvature_at_most (2 * L) (f k)"),
    ("feddyn.equation5", "(mean (gradient F xs) = zero) ->", "(mean (gradient F x) = zero) ->"),
    ("feddyn.equation5", "by_identity _ _ (1 * (", "by_identity _ _ (2 * ("),
    ("feddyn.equation4", "curvature_at_most L f", "curvature_at_least L f"),
    # with roots, at a fixed point, with quotients, over T rounds, with everyone and with drawn clients
    ("fedprox.corollary10", "norm (gradient F w) <= (sqrt (1 + sigma2 / epsilon))",
     "norm (gradient F w) <= (sqrt (1 + sigma2 / (2 * epsilon)))"),
    ("fedprox.corollary10", "(epsilon <= inner", "(epsilon / 2 <= inner"),
    ("fedsplit.proposition2", "(w_next = w) ->", "(w_next = w_next) ->"),
    ("fedsplit.proposition2", "(w_next = (mean theta)%V) ->", "(w_next = (2 * mean theta)%V) ->"),
    ("malinovskiy.localstep", "(stepsize <= 2 / (mu + L)) ->", "(stepsize <= 3 / (mu + L)) ->"),
    ("malinovskiy.localstep", "<= (1 - stepsize * mu) * (norm (y - z)).",
     "<= (1 - 2 * stepsize * mu) * (norm (y - z))."),
    ("yuan_li.trounds", "(1 / ((1 + stepsize * mu) ^ rounds)) *", "(1 / ((1 + stepsize * mu) ^ (S rounds))) *"),
    ("yuan_li.trounds", "(j < rounds)%nat -> (w (S j)) = (mean", "(S j < rounds)%nat -> (w (S j)) = (mean"),
    ("gower.troundspofmclients", "(length past < rounds)%nat -> (next", "(S (length past) < rounds)%nat -> (next"),
    ("gower.troundspofmclients", "after rounds", "after (S rounds)"),
    ("fedprox.theorem4convexeveryone", "(sqrt (L * L / 2) <= mu) ->", "(sqrt (L * L / 8) <= mu) ->"),
    ("fedprox.theorem4convexeveryone_sign_1", "(root2 * root2 = 2)", "(root2 * root2 = 3)"),
    # refuted: claims that hold, with the same instances: the instance breaks nothing, and Rocq says so
    ("fedsplit.equation17", " + (u - (2 * w - z)))%V).", " - local_stepsize * (u - (2 * w - z)))%V)."),
    ("fedsplit.equation19", "(regularizer / 8) * (num_clients *", "(regularizer / 8) * (1 *"),
    ("fedprox.corollary9", "(gamma_drawn <= 1) ->", "(gamma_drawn = gamma) ->"),
    ("fedsplit.theorem2", "((z O) = ((w O))%V) ->", "((z O) = (2 * (w O))%V) ->"),
    ("fedsplit.theorem2", "Rmax (num_clients", "Rmax (1 + num_clients"),
    # divisors in divisors, chosen parameters
    ("exact_rates.fedpdround", "(eta * L))) ^ 2) * (inner (w - xs", "(eta * L))) ^ 3) * (inner (w - xs"),
    ("exact_rates.fedpdround", "(dual + (1 / eta) * (theta - w)))%V) ->",
     "(dual + (1 / eta) * (theta - anchor)))%V) ->"),
    ("exact_rates.fedpdconvexclients", "/ (2 * T).", "/ (3 * T)."),
    ("fedprox.remark8", "/ (T) <= epsilon.", "/ (T) <= epsilon / 2."),
    ("feddyn.lemma1sharper", "- (2 / alpha) * (value F (w", "- (3 / alpha) * (value F (w"),
    # up to half a minute each
    ("feddyn.theorem5convex", "<= 50 * ((sqrt", "<= 49 * ((sqrt"),
    ("feddyn.theorem5stronglyconvex", "<= 151 * (((Rmax", "<= 150 * (((Rmax"),
    # the clients' objective, Γ, δ, a single client
    ("li_fedavg.varianceattheminimiser", "(gap_at_most Gamma f", "(gap_at_most (2 * Gamma) f"),
    ("li_fedavg.varianceattheminimiser", "<= 2 * L * Gamma.", "<= L * Gamma."),
    ("li_fedavg.drawnclients", "(gap_at_most Gamma f (value F xs)) ->", "(gap_at_most Gamma f (value F w)) ->"),
    ("dane.similarclients", "(similar delta f) ->", "(similar (2 * delta) f) ->"),
    ("dane.similarclients", "curvature_at_least convexity", "curvature_at_least (convexity / 2)"),
    ("dane.gradientsofsimilarclients", "+ delta * (norm (w - xs)).", "+ delta / 2 * (norm (w - xs))."),
    ("nesterov.theorem2_1_15", "curvature_at_most L (objective f)", "curvature_at_most (2 * L) (objective f)"),
    ("nesterov.corollary2_1_2", "/ (t + 4)", "/ (t + 9)"),
    ("nesterov.smoothfunctions", "curvature_at_most L (objective f)", "curvature_at_most (2 * L) (objective f)"),
    ("ghadimi_lan.corollary2_2convex", "(curvature_at_most L (objective f)) ->", "(True) ->"),
    ("rockafellar.proximalstep", "(single C) ->", "(True) ->"),
    # any number of local steps, proofs by cases
    ("fedsplit.corollary1", "(sqrt kappa + 1)) ^ steps)", "(sqrt kappa + 1)) ^ S steps)"),
    ("fedsplit.corollary1", "((1 - 1 / (sqrt kappa + 1)) ^ steps)", "((1 - 3 / (sqrt kappa + 1)) ^ steps)"),
    ("fedsplit.corollary1", "(forall i, (i < steps)%nat -> y (S i)", "(forall i, (S i < steps)%nat -> y (S i)"),
    ("fedsplit.corollary1", "(theta = y steps) ->", "(theta = y (pred steps)) ->"),
    ("fedsplit.proposition1", "(w_next = w) ->", "(w_next = w_next) ->"),
    ("fedsplit.proposition1", "(gradient F (y i))%V) steps)", "(gradient F (y i))%V) (S steps))"),
    ("fedsplit.proposition1", "(theta = y steps) ->", "(theta = y (S steps)) ->"),
    ("li_fedavg.drift", "<= (stepsize ^ 2) *", "<= (stepsize ^ 3) *"),
    ("exact_rates.scaffoldroundconvexclients", "- 2 * stepsize * (", "- 3 * stepsize * ("),
    ("exact_rates.scaffoldconvexclientslocalsteps", "(theta j) = (y j) steps) ->", "(theta j) = (y j) (S steps)) ->"),
    ("exact_rates.scaffoldconvexclientslocalsteps", "(j < rounds)%nat -> (y j) O =", "(S j < rounds)%nat -> (y j) O ="),
    ("exact_rates.scaffoldconvexclientslocalsteps", "/ (2 * stepsize * T).", "/ (3 * stepsize * T)."),
    ("giselsson_boyd.reflectedproximalstep", "((stepsize * L - 1) / (stepsize * L + 1))) * (norm",
     "((stepsize * L - 2) / (stepsize * L + 1))) * (norm"),
    ("giselsson_boyd.reflectedproximalstep", "curvature_at_most L (f k)", "curvature_at_most (2 * L) (f k)"),
    ("giselsson_boyd.reflectedproximalstep", "(Rle_or_lt (mu * L)", "(Rle_or_lt (2 * mu * L)"),
    ("exact_rates.fedproxroundofpclients", "(Rle_or_lt (2) (num_clients))", "(Rle_or_lt (3) (num_clients))"),
    # gradients at points that depend on the draw, lengths in its outcomes
    ("fedprox.equation9", "norm (next_ - w)", "norm (next_ - next_)"),
    ("fedprox.equation9", "+ L * (norm (mean theta - w)", "- L * (norm (mean theta - w)"),
    ("fedprox.equation10", "average W (fun o => (norm ((mean_of_all (gradient F w)) o) +",
     "average W (fun o => (norm ((mean_of_all (gradient F w)) o) -"),
    ("fedprox.equation10", "curvature_at_most L (f k)", "curvature_at_most (4 * L) (f k)"),
    ("fedprox.equation11", "+ 2 * L * (norm", "+ 1 * L * (norm"),
    ("fedprox.equation11", "+ L * (inner", "+ L * - (inner"),
    ("fedprox.equation12", "average W (fun o => norm ((w_next", "average W (fun o => 2 * norm ((w_next"),
    ("fedprox.equation12", "<= norm (w_next", "<= - norm (w_next"),
    ("fedprox.equation14", "<= (B * (1 + gamma)", "<= (- B * (1 + gamma)"),
    ("fedprox.equation14", "(norm (mean_of_all (gradient F w))) ^ 2", "(norm (mean_of_all (gradient F w))) ^ 3"),
    ("feddyn.lemma21", "<= (2 * (L ^ 2)", "<= (1 * (L ^ 2)"),
    ("feddyn.lemma21", "gradient F w_next) (gradient", "gradient F w) (gradient"),
    # powers of twice the number of rounds, values of exp, proximal points, potentials that rest on earlier lines
    (EXP, "(sqrt kappa) * (- 1))))))) ^ (2 * rounds)).", "(sqrt kappa) * (- 1))))))) ^ (5 * rounds))."),
    (EXP, "<= (kappa * mu / 2) *", "<= (kappa * mu / 3) *"),
    (EXP, "((exp (- (1 / (1 * (- ((sqrt kappa)", "((exp (- (3 / (1 * (- ((sqrt kappa)"),
    (EXP, "curvature_at_most (kappa * mu) (f k)", "curvature_at_most (2 * kappa * mu) (f k)"),
    (EXP, "assert (exp_1_least : 1 + ", "assert (exp_1_least : 2 + "),
    (ROUND_BY_ROUND, "+ 1)) ^ (2 * rounds)) * (((sqrt", "+ 1)) ^ (2 * rounds * rounds)) * (((sqrt"),
    (ROUND_BY_ROUND, "+ ((L + regularizer) / 2) *", "+ ((L + regularizer) * 0) *"),
    (ROUND_BY_ROUND, "= (regularizer * (anchor - prox))%V) ->", "= (2 * regularizer * (anchor - prox))%V) ->"),
    (ROUND_BY_ROUND, "(anchor = ((w O))%V) ->", "(anchor = anchor) ->"),
    (CORRECTED, "<= num_clients * regularizer *", "<= num_clients * 0 *"),
    (CORRECTED, "^ (2 * rounds)) / 2.", "^ (2 * rounds * rounds)) / 2."),
    (CORRECTED, "= (regularizer * (anchor - prox))%V) ->", "= (regularizer * (prox - anchor))%V) ->"),
    (STEPS, "<= ((1 - stepsize * mu) ^ steps) *", "<= ((1 - stepsize * mu) ^ S steps) *"),
    (STEPS, "(norm (gradient F xs)) / mu.", "(norm (gradient F xs)) / (5 * mu)."),
    (STEPS, "(theta = y steps) ->", "(theta = y (pred steps)) ->"),
    (STEPS, "(stepsize <= 2 / (mu + L)) ->", "(stepsize <= 3 / (mu + L)) ->"),
    (RESTS, "<= (norm (gradient F xs)) / mu.", "<= (norm (gradient F xs)) / (5 * mu)."),
    (RESTS, "(w_next = w) ->\n  norm", "(w_next = w_next) ->\n  norm"),
    (RESTS, "(forall i, (i < steps)%nat -> y (S i)", "(forall i, (S i < steps)%nat -> y (S i)"),
    (f"{ROUND_BY_ROUND}_case_1", "+ 1)) ^ (2 * rounds)) * (((sqrt", "+ 1)) ^ (2 * rounds * rounds)) * (((sqrt"),
    (f"{ROUND_BY_ROUND}_case_3", "+ ((L + regularizer) / 2) * ((1 -", "+ ((L + regularizer) * 0) * ((1 -"),
    (f"{CORRECTED}_case_2", "(1 / (stepsize ^ 2) <= regularizer *", "(1 / (stepsize ^ 2) <= 2 * regularizer *"),
    (f"{CORRECTED}_case_3", "assert (exp_1_least : 1 + ", "assert (exp_1_least : 2 + "),
    # 1/(1 − p) where p may be 1
    (f"{RESTS}_multiplier", "(power <= 1 - stepsize * mu) ->\n  0 <=", "(power <= 1) ->\n  0 <="),
    # our sharper forms, Theorem 1 with its constant: many cases; in their proofs a multiplier, a coefficient of a form
    ("feddyn.lemma8sharper", "(1 - 4 * mu / alpha) *", "(1 - 3 * mu / alpha) *"),
    ("feddyn.lemma8sharper", "(30 * L <= alpha) ->", "(29 * L <= alpha) ->"),
    ("feddyn.lemma8sharper", "(1 + mu / alpha) * (inner", "(1 + 2 * mu / alpha) * (inner"),
    ("feddyn.theorem2sharper", "/ ((2 / alpha) * T).", "/ ((3 / alpha) * T)."),
    ("feddyn.theorem2sharper", "(Rmax (num_clients - 1) 1)", "(Rmax (num_clients - 1) 2)"),
    ("feddyn.theorem2sharper", "((now h nil) = (0 * (now w nil))%V) ->", "((now h nil) = (1 * (now w nil))%V) ->"),
    ("feddyn.theorem3sharper", "(1 - 4 * mu / alpha) *", "(1 + 4 * mu / alpha) *"),
    ("feddyn.theorem3sharper", "^ rounds - 1)", "^ (rounds + 1) - 1)"),
    ("feddyn.theorem1stronglyconvex", "<= 1240 * (((Rmax", "<= 1239 * (((Rmax"),
    ("feddyn.theorem1stronglyconvex", "(30 * L) = alpha) ->", "(29 * L) = alpha) ->"),
    ("fedprox.remark8sharper", "/ (T) <= epsilon.", "/ (T) <= epsilon / 2."),
    ("fedprox.remark8sharper", "((4 * L * delta / epsilon) *", "((3 * L * delta / epsilon) *"),
    ("fedprox.remark8sharper", "(4 * (sqrt (1 + sigma2 / epsilon)) <= K) ->",
     "(3 * (sqrt (1 + sigma2 / epsilon)) <= K) ->"),
    ("feddyn.lemma8sharper_case_2", "apply (by_identity _ _ (((2 / alpha) * 1) *",
     "apply (by_identity _ _ (((3 / alpha) * 1) *"),
    ("feddyn.lemma8sharper_case_2", "* alpha * (mu ^ 2) + alpha * (mu ^ 3)) / 1) / alpha) / alpha) / L) / L) *",
     "* alpha * (mu ^ 2) + alpha * (mu ^ 3)) / 2) / alpha) / alpha) / L) / L) *"),
    ("feddyn.theorem2sharper_case_2_round_1", "Rmax (1 - 1) 1) with (1)", "Rmax (1 - 1) 1) with (2)"),
)  # fmt: skip


def alone(name: str) -> tuple[str, str, str]:
    """The statement, then its theorem, or one of its cases or lemmas, after the accepted file: claim and proof."""
    identifier = re.sub(r"_(case|sign|multiplier)(_.*|$)", "", name)
    text, module = exported(statement(identifier)).text, exported(statement(identifier)).module
    begins = re.search(r"^(Lemma|Theorem) ", text, re.M)
    of = re.search(rf"^(Lemma|Theorem) {module}{name.removeprefix(identifier)} :.*?^Qed\.", text, re.M | re.S)
    assert begins
    assert of
    claim, proof = of[0].split("\nProof.", 1)
    return (
        identifier,
        f"{text[: begins.start()]}From Statements Require Import {module}.\n\n{claim}",
        f"\nProof.{proof}\n",
    )


@pytest.fixture
def accepted_alone(rocq: Rocq, request: pytest.FixtureRequest, tried_before: Callable[..., bool]) -> Accepts:
    """Whether Rocq accepts a text after a statement's file; None where this was tried before with the same texts."""

    def accepts_it(identifier: str, text: str) -> bool | None:
        made = exported(statement(identifier))
        before = [made.text, *(exported(statement(name)).text for name in made.cited)]
        if tried_before(rocq.version, *library().values(), *before, text):
            return None
        return accepts(rocq, request.getfixturevalue("folder_of")(identifier), text)

    return accepts_it


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _, _ in MUTANTS))
def test_a_theorem_alone_is_accepted(accepted_alone: Accepts, name: str) -> None:
    """As the mutants are written, but without a change."""
    identifier, claim, proof = alone(name)
    assert accepted_alone(identifier, claim + proof) is not False


@pytest.mark.parametrize(("name", "old", "new"), MUTANTS)
def test_a_mutant_is_refused(accepted_alone: Accepts, name: str, old: str, new: str) -> None:
    identifier, claim, proof = alone(name)
    if old in claim:
        claim = new.join(claim.rsplit(old, 1))
    else:
        assert old in proof
        proof = proof.replace(old, new, 1)
    assert not accepted_alone(identifier, claim + proof)


# ---- what the library shows

HEAD = f"""From Coq Require Import Reals List Lra Psatz.
From FedConvex Require Import {" ".join(LIBRARY)}.
Open Scope R_scope.
"""
# A vector u that depends on the draw anyhow: one that is drawn, and its parts.
OF_A_DRAW = """forall (V : space) (W C : weighted_set) (P m : R) (d : draw_without_replacement W C P m)
  (u a : random W C V),
  1 <= P -> 1 <= m -> P <= m -> fixed a -> common a ->"""
WITH_A_BASIS = """Proof.
  intros V W C P m d u a P_one m_one P_m a_fixed a_common.
  destruct (@uniform_law W C V P m d P_one m_one P_m) as (sg & _ & _ & _ & _ & law).
  pose proof (is_same_of _ a_fixed a_common) as a_mean.
  destruct (split_drawn u) as (g & h & u_is & g_mean & h_mean).
  assert (vectors : random_basis mean_of_all (mean_of_drawn d) expectation (selected d) (P / m) sg (a :: nil) nil).
  { constructor; [exact law | repeat constructor; apply_conj | repeat constructor]. }
  assert (drawn : drawn_basis mean_of_all (mean_of_drawn d) expectation (selected d) (P / m) sg
    (a :: nil) nil (g :: nil) (h :: nil)).
  { constructor; [exact vectors | repeat constructor; assumption | repeat constructor; assumption]. }
  rewrite u_is. """
MULTIPLE = "forall (V : space) (W C : weighted_set) (u v : random W C V) c,"
BY_MULTIPLE = """Proof.
  intros. apply (multiple_in_draws u v c (fun o => norm (v o))); [reflexivity | assumption | sign].
Qed."""
TWO = "(fun k : two_clients => if k then quadratic {} {} else quadratic {} {})"
STEEP, APART = TWO.format(3, 0, "(- 1)", 0), TWO.format(1, 1, 1, "(- 1)")
DIFFERENT = TWO.format(3, 0, 1, 0)
COMPUTED = "unfold norm in *; simpl in *; unfold sub, objective, average, combination, sum in *; simpl in *"
IDLE = (
    "forall W C V P m (d : draw_without_replacement W C P m) (u : random W C V), 1 <= P -> 1 <= m -> {}"
    "0 <= inner u u - inner u (selected d (expectation u)) - inner (add (mean_of_all (selected d (expectation u))) "
    "(scale (P / m) (sub u (expectation u)))) (sub u (expectation u)). "
    "Proof. intros. apply (idle_square d); assumption. Qed."
)
IS_IDLE = IDLE.format("mean_of_all (sub u (expectation u)) = sub u (expectation u) -> ")
MEAN_AND_REST = (
    "forall (C : weighted_set) (V : space) (u b : families C V), mean u = b -> "
    "exists d, u = add b d /\\ mean d = zero. Proof. intros C V u b known. exact (mean_and_rest u b known). Qed."
)
POWER = (
    "forall r n, r ^ (2 * n) = 1 + (r ^ 2 - 1) * weights (r ^ 2) n. "
    "Proof. intros. rewrite pow_mult. apply weights_power. Qed."
)
FORM = (
    "forall (F : space) (u v : F) a b d, 0 <= a -> 0 <= d -> {}0 <= a * inner u u + 2 * b * inner u v + d * inner v v. "
    "Proof. intros. apply form_nonneg; first [assumption | nra]. Qed."
)
SHOWN = (
    # signs and divisors
    "forall a b, 0 < a -> 0 <= b -> 0 < a * (2 + b) / (a ^ 2 + b). Proof. intros. seen. Qed.",
    "forall a b, 0 < a - b -> 0 <= 3 * (a - b) ^ 2. Proof. intros. seen. Qed.",
    "forall a b t : R, 0 < (a - b) / 2 * t -> a - b <> 0. Proof. intros a b t H. apply (factor_of H); intro zero; "
    "rewrite zero; unfold Rdiv; ring. Qed.",
    "forall a b : R, a - b <> 0 -> (b - a) / (a - b) = - 1. Proof. intros. field; nonzero. Qed.",
    "forall a b, 0 <= a -> 0 <= b -> 0 < a + b -> 0 < 2 * a + 3 * b. Proof. intros. repeat one_of_two; seen. Qed.",
    "forall n x, x = INR n -> x < 2 -> x <= 2 - 1. Proof. intros. apply (at_most_one_less n _ _); assumption. Qed.",
    # a divisor that is positive once it is multiplied out, and one whose opposite is
    "forall a m s : R, 0 < m -> 0 < s -> a + (a + m - a) * s - a <> 0. Proof. intros. nonzero. Qed.",
    "forall a m s : R, 0 < m -> 0 < s -> a - (a + m) * s + a * s - a <> 0. Proof. intros. nonzero. Qed.",
    # what depends on a draw
    f"{OF_A_DRAW} inner (mean_of_all u) (u - mean_of_all u) = 0. {WITH_A_BASIS} drawn_expand. ring. Qed.",
    f"{OF_A_DRAW} inner a u = inner a (mean_of_all u). {WITH_A_BASIS} drawn_expand. ring. Qed.",
    f"{OF_A_DRAW} mean_of_all (mean_of_all u + a) = (a + mean_of_all u)%V. {WITH_A_BASIS} "
    "drawn_same_vector; ring. Qed.",
    "forall (V : space) (u v : V), norm (u + v) <= norm u + norm v. Proof. intros. apply triangle_inequality. Qed.",
    "forall (V : space) (W C : weighted_set) (u : random W C V), 0 <= norm u - average W (fun o => norm (u o)). "
    "Proof. intros. apply mean_length. Qed.",
    f"{MULTIPLE} 0 <= c -> u = (c * v)%V -> forall o, norm (u o) = c * norm (v o). {BY_MULTIPLE}",
    # two clients on a line
    f"curvature_at_least 1 (objective {STEEP}). Proof. intros x y. {COMPUTED}. lra. Qed.",
    f"~ curvature_at_least 1 ({STEEP} false). Proof. intro H. specialize (H 0 1). {COMPUTED}. lra. Qed.",
    f"gap_at_most (1 / 2) {APART} 0. Proof. intro v. unfold average, sum; simpl. "
    "pose proof (Rle_0_sqr (v true + 1)). pose proof (Rle_0_sqr (v false - 1)). unfold Rsqr in *. lra. Qed.",
    f"~ gap_at_most (1 / 3) {APART} 0. Proof. intro H. specialize (H (fun k => if k then - 1 else 1)). "
    "unfold average, sum in H; simpl in H. lra. Qed.",
    f"similar 1 {DIFFERENT}. Proof. intros k x y. rewrite Rmult_1_l. apply sqrt_le_1_alt. "
    f"destruct k; {COMPUTED}; apply Req_le; field. Qed.",
    f"~ similar (1 / 2) {DIFFERENT}. Proof. intro H. specialize (H true 0 1). {COMPUTED}. "
    "match type of H with sqrt ?a <= _ * sqrt ?b => replace a with 1 in H by field; replace b with 1 in H by ring end. "
    "rewrite sqrt_1 in H. lra. Qed.",
    "single one_client. Proof. intros [] []. reflexivity. Qed.",
    "~ single two_clients. Proof. intro H. discriminate (H true false). Qed.",
    # what the lemma about idle clients says
    IS_IDLE,
    # means and powers
    MEAN_AND_REST,
    POWER,
    FORM.format("b ^ 2 <= a * d -> "),
)
NOT_SHOWN = (
    "forall a b, 0 <= a -> 0 <= b -> 0 < a * b. Proof. intros. seen. Qed.",
    "forall a b, 0 <= a -> 0 <= b -> 0 <= a - b. Proof. intros. sign. Qed.",
    "forall a : R, 0 <= a. Proof. intros. seen. Qed.",
    "0 <= - 1. Proof. seen. Qed.",
    "forall a b, 0 <= a -> 0 <= b -> 0 < a + b -> 0 < a * b. Proof. intros. repeat one_of_two; seen. Qed.",
    "forall n x, 2 * x = INR n -> x < 2 -> x <= 2 - 1. Proof. intros. apply (at_most_one_less n _ _); assumption. Qed.",
    "forall a b t : R, 0 < (a - b) / 2 * t -> a + b <> 0. Proof. intros a b t H. apply (factor_of H); intro zero; "
    "rewrite zero; unfold Rdiv; ring. Qed.",
    "forall a b : R, a <> 0 -> a / b * b = a. Proof. intros. field; nonzero. Qed.",
    "forall a m s : R, 0 <= m -> 0 < s -> a + (a + m - a) * s - a <> 0. Proof. intros. nonzero. Qed.",
    "forall a m s : R, 0 < m -> 0 < s -> a - (a + m) * s + a <> 0. Proof. intros. nonzero. Qed.",
    f"{OF_A_DRAW} inner (mean_of_all u) (u - mean_of_all u) = inner u u. {WITH_A_BASIS} drawn_expand. ring. Qed.",
    f"{OF_A_DRAW} inner (selected d a) u = (P / m) * inner a u. {WITH_A_BASIS} drawn_expand. ring. Qed.",
    # the expectation of a gradient at such a point is another vector, and so is what its drawn part is
    f"{OF_A_DRAW} expectation u = u. {WITH_A_BASIS} drawn_same_vector; ring. Qed.",
    f"{OF_A_DRAW} mean_of_drawn d u = mean_of_all u. {WITH_A_BASIS} drawn_same_vector; ring. Qed.",
    f"{OF_A_DRAW} u = mean_of_all u. {WITH_A_BASIS} drawn_same_vector; ring. Qed.",
    "forall (V : space) (u v : V), norm u + norm v <= norm (u + v). Proof. intros. apply triangle_inequality. Qed.",
    # E|u| is no root of E|u|^2
    "forall (V : space) (W C : weighted_set) (u : random W C V), 0 <= average W (fun o => norm (u o)) - norm u. "
    "Proof. intros. apply mean_length. Qed.",
    f"{MULTIPLE} u = (c * v)%V -> forall o, norm (u o) = c * norm (v o). {BY_MULTIPLE}",
    *(IDLE.format(said) for said in ("", "mean_of_all u = u -> ")),  # what the draw adds is not shared
    MEAN_AND_REST.replace("mean u = b ->", "mean b = b ->"),
    POWER.replace("(2 * n)", "(3 * n)"),
    FORM.format(""),  # without the discriminant
)


@pytest.mark.parametrize("lemma", [*SHOWN, *NOT_SHOWN])
def test_tactics_definitions_and_lemmas_show_what_holds_and_no_more(accepted_alone: Accepts, lemma: str) -> None:
    found = accepted_alone("feddyn.equation5", f"{HEAD}Lemma shown : {lemma}\n")
    assert found in (None, lemma in SHOWN)
