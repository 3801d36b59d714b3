"""FedSplit: the inequalities of one round that Theorem 1 and (22) iterate.

z* = x* − s∇f(x*) is the fixed point. With p = prox(2x − z) and g the gradient there, a round makes p − sg of p + sg.
Lengths of vectors of the clients are root mean squares. The curvatures lie between ℓ = 1/(sq) and L = q/s, where q is
√κ for the matched stepsize, and the factor is (q − 1)/(q + 1).
"""

from typing import Any

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.methods import running
from fedconvex.claims.settings import setting_of
from fedconvex.claims.terms import (
    answers,
    gradient,
    mean,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    server,
    solutions,
    square,
    value,
)
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Hypothesis, Line, Upper
from fedconvex.proofs_checks.library import (
    Lemma,
    Parts,
    by,
    cauchy_schwarz,
    cited,
    concluding,
    rooted,
    squared,
    with_example,
)
from fedconvex.statements.assumptions import ProxError
from fedconvex.theory import fedsplit, nesterov
from fedconvex.theory.fedsplit.convergence import FEDSPLIT
from fedconvex.theory.fedsplit.vectors import away, fixed_point, matched_stepsize

matched = matched_stepsize
mu, kappa, L, b, s = map(parameter, ("mu", "kappa", "L", "b", "stepsize"))
factor = fedsplit.contraction.formula(kappa=kappa)
INVARIANTS = (("server", mean(memory("z", 0))),)

MATCHED = setting_of((*FEDSPLIT, ProxError()), (), fedsplit.PAPER.notation, {}, frozenset({"minimiser"}))


# ---- one round


def one_round(factor: Any, stepsize: Any) -> Claim:
    """‖z⁺ − z*‖ ≤ factor·‖z − z*‖ + 2b."""
    return at_most(norm(away(1, stepsize)), factor * norm(away(0, stepsize)) + 2 * b)


def round_lines(claim: Claim, factor: Any, stepsize: Any, two_points: Parts) -> tuple[Line, ...]:
    """The lines of one round with errors; the last one, "a round", has the claim.

    `two_points` is ⟨g − ℓd, Ld − g⟩ ≥ 0 at the exact proximal points and x*.
    """
    exact = memory("z", 0) + 2 * (solutions - server(0)) - fixed_point(stepsize)
    error, start = answers - solutions, norm(away(0, stepsize))
    contracts = (1 - factor**2) * stepsize**2 * two_points
    return (
        *rooted(norm(exact), factor * start, contracts, "an exact round"),
        *rooted(norm(error), b, by(Hypothesis("error")), "the errors"),
        *rooted(norm(away(1, stepsize)), norm(exact) + 2 * norm(error), 4 * cauchy_schwarz(exact, error),
                "the triangle inequality"),
        concluding(claim, cited("the triangle inequality") + cited("an exact round") + 2 * cited("the errors"),
                   "a round"),
    )  # fmt: skip


def _round(setting: ClaimSetting, factor: Any, stepsize: Any, two_points: Parts) -> Lemma:
    claim = one_round(factor, stepsize)
    return Lemma(setting, claim, Derivation(round_lines(claim, factor, stepsize, two_points), INVARIANTS))


# Theorem 1.
ROUND = _round(MATCHED, factor, matched, by(Between(solutions, minimiser)))

# Theorem 1, sharper: any stepsize, and any q of at least 1, 1/(sℓ_*) and sL^*.
q = parameter("q")
ANY_STEPSIZE = with_example(ClaimSetting(
    **running("FedSplit", stepsize=s), curvature=(mu, L), answers="error", inexactness=b,
    signs={**dict.fromkeys(("mu", "L", "stepsize", "q"), "positive"), "b": "nonnegative"}, minimiser=True,
    conditions=((L, ">=", mu), (q, ">=", 1 / (s * mu)), (q, ">=", s * L), (q, ">=", number(1))),
))  # fmt: skip
ROUND_OF_ANY_STEPSIZE = _round(
    ANY_STEPSIZE, 1 - 2 / (q + 1), s, by(Between(solutions, minimiser, 1 / (s * q), q / s))
)  # fmt: skip


def server_is_nearer(stepsize: Any) -> Claim:
    """‖x − x*‖ ≤ ‖z − z*‖: a mean is no longer than the family."""
    return at_most(norm(server(0) - minimiser), norm(away(0, stepsize)))


def nearer_lines(stepsize: Any) -> tuple[Line, ...]:
    """Its lines; the last one is "the mean"."""
    apart = away(0, stepsize)
    claim = server_is_nearer(stepsize)
    return rooted(claim.left, claim.right, squared(apart - mean(apart)), "the mean")


SERVER_IS_NEARER = Lemma(MATCHED, server_is_nearer(matched), Derivation(nearer_lines(matched), INVARIANTS))


def gap() -> Lemma:
    """(F(x) − F*)/m ≤ ½L^*‖x − x*‖²: the descent lemma at x*."""
    claim = at_most(value(server(0)) - value(minimiser), kappa * mu / 2 * square(server(0) - minimiser))
    return Lemma(MATCHED, claim, Derivation((concluding(claim, by(Upper(server(0), minimiser))),)))


GAP = gap()


# ---- a round of FedGD with one local step, with which (22) compares

best = nesterov.best_stepsize.formula(mu=mu, L=kappa * mu)
FEDGD = with_example(ClaimSetting(
    method="FedGD", method_parameters={"stepsize": best, "local_steps": number(1)}, minimiser=True,
    signs={"mu": "positive", "kappa": "positive"}, conditions=((kappa, ">=", number(1)),), curvature=(mu, kappa * mu),
))  # fmt: skip


def descent() -> Lemma:
    """‖x⁺ − x*‖ ≤ (κ − 1)/(κ + 1)‖x − x*‖, for the step 2/(ℓ_* + L^*)."""
    claim = at_most(norm(server(1) - minimiser), (kappa - 1) / (kappa + 1) * norm(server(0) - minimiser))
    change = gradient(server(0)) - gradient(minimiser)
    parts = best**2 * (by(Between(server(0), minimiser)) + squared(change - mean(change)))
    return Lemma(FEDGD, claim, Derivation(rooted(claim.left, claim.right, parts, "a round")))


DESCENT = descent()
