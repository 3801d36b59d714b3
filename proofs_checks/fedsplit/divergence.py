"""FedSplit with one local step at Corollary 1's parameters: on clients of curvature L^* every run diverges."""

from dataclasses import replace
from fractions import Fraction

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import after, gradient, mean, minimiser, norm, number, parameter, server
from fedconvex.proofs_checks.fedsplit.claimed_theorems import alpha
from fedconvex.proofs_checks.fedsplit.one_round import INVARIANTS, kappa, matched, mu
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Telescope
from fedconvex.proofs_checks.library import Lemma, by, cauchy_schwarz, cited, concluding, rooted, squared, with_example
from fedconvex.theory.fedsplit.one_run import SETTING, diverges
from fedconvex.theory.fedsplit.vectors import SUBPROBLEM_CENTER

L, growth = kappa * mu, diverges(kappa)
# (1 + √2)² is below 25/4
STEEP = with_example(replace(
    SETTING, curvature=(L, L), conditions=(*SETTING.conditions, (kappa, ">=", number(Fraction(25, 4)))),
    gradient_steps={**SETTING.gradient_steps, "steps": number(1)},
))  # fmt: skip
distance = norm(server(0) - minimiser)
AWAY: Claim = at_most(distance, (1 / growth) ** parameter("t") * after(distance), rounds="t")


def _away() -> Derivation:
    """x⁺ − x* = (1 − 2αsL^*)(x − x*) − 2αs·rest, where the rest is 0, and 2αsL^* − 1 is the growth."""
    apart = gradient(SUBPROBLEM_CENTER) - gradient(minimiser) - L * (SUBPROBLEM_CENTER - minimiser)
    rest, before, moved = mean(apart), server(0) - minimiser, server(1) - minimiser
    step = alpha * matched
    linear = by(Between(SUBPROBLEM_CENTER, minimiser)) + squared(apart - rest)
    shrunk = at_most(growth * norm(before), norm(moved) + 2 * step * norm(rest))
    lines = (
        *rooted(norm(rest), number(0), linear, "the rest"),
        *rooted(shrunk.left, shrunk.right, 4 * step * cauchy_schwarz(moved, rest), "the triangle inequality"),
        concluding(at_most(growth * norm(before), norm(moved)),
                   cited("the triangle inequality") + 2 * step * cited("the rest"), "a round"),
    )  # fmt: skip
    facts = (1 / growth * cited("a round")).facts
    grown = Telescope(-distance, number(0), 1 / growth, number(0), facts)
    return Derivation((grown,), INVARIANTS, lines)


DIVERGES = Lemma(STEEP, AWAY, _away())
