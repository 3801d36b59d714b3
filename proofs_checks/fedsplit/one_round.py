"""FedSplit: the inequalities of one round that Theorem 1 and (22) iterate.

z* = x* − s∇f(x*) is the fixed point. With p = prox(2x − z) and g the gradient there, a round makes p − sg of p + sg.
Lengths of vectors of the clients are root mean squares. The curvatures lie between ℓ = 1/(sq) and L = q/s, where q is
√κ for the matched stepsize, and the factor is (q − 1)/(q + 1).
"""

from typing import Any

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import (
    answers,
    mean,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    server,
    solutions,
)
from fedconvex.proofs_checks.kernel.proofs import Hypothesis, Line
from fedconvex.proofs_checks.library import (
    Parts,
    by,
    cauchy_schwarz,
    cited,
    concluding,
    rooted,
    squared,
    with_example,
)
from fedconvex.theory import fedsplit, nesterov
from fedconvex.theory.fedsplit.vectors import away, fixed_point, matched_stepsize

matched = matched_stepsize
mu, kappa, L, b, s = map(parameter, ("mu", "kappa", "L", "b", "stepsize"))
factor = fedsplit.contraction.formula(kappa=kappa)
INVARIANTS = (("server", mean(memory("z", 0))),)

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


def server_is_nearer(stepsize: Any) -> Claim:
    """‖x − x*‖ ≤ ‖z − z*‖: a mean is no longer than the family."""
    return at_most(norm(server(0) - minimiser), norm(away(0, stepsize)))


def nearer_lines(stepsize: Any) -> tuple[Line, ...]:
    """Its lines; the last one is "the mean"."""
    apart = away(0, stepsize)
    claim = server_is_nearer(stepsize)
    return rooted(claim.left, claim.right, squared(apart - mean(apart)), "the mean")


# ---- a round of FedGD with one local step, with which (22) compares

best = nesterov.best_stepsize.formula(mu=mu, L=kappa * mu)
FEDGD = with_example(ClaimSetting(
    method="FedGD", method_parameters={"stepsize": best, "local_steps": number(1)}, minimiser=True,
    signs={"mu": "positive", "kappa": "positive"}, conditions=((kappa, ">=", number(1)),), curvature=(mu, kappa * mu),
))  # fmt: skip
