"""Lemmas about FedSplit that are no statement of its paper: for the kernel to prove, and to refuse where changed.

Moreau envelopes, x and y being any two points of each client; one round; and fixed points.
"""

from collections.abc import Iterable
from typing import Any

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.settings import setting_of
from fedconvex.claims.terms import (
    Vector,
    family,
    gradient,
    inner,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    server,
    solutions,
    square,
    value,
)
from fedconvex.proofs_checks.fedsplit.claimed_fixed_points import minimises, resting_fedgd
from fedconvex.proofs_checks.fedsplit.one_round import (
    INVARIANTS,
    factor,
    matched,
    one_round,
    round_lines,
)
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Lower
from fedconvex.proofs_checks.library import Lemma, Parts, by, concluding, squared, with_example
from fedconvex.statements.assumptions import ProxError
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.convergence import FEDSPLIT
from fedconvex.theory.fedsplit.vectors import vanishes

s = parameter("stepsize")
CONVEX = with_example(ClaimSetting(signs={"stepsize": "positive"}, curvature=(number(0), None)))

x, y = family("x"), family("y")
points, slopes = x - y, gradient(x) - gradient(y)


def _each(left: Any, right: Any) -> Claim:
    return at_most(left, right, of_client=True)


def _of(setting: ClaimSetting, left: Any, right: Any, parts: Parts) -> Lemma:
    claim = _each(left, right)
    return Lemma(setting, claim, Derivation((concluding(claim, parts),)))


# ---- the gradient of the Moreau envelope, before Proposition 2
# M(z) = f(p) + ‖z − p‖²/(2s) with p the proximal point at z, which is p + s∇f(p).


def _envelope(p: Vector) -> Any:
    return value(p) + s / 2 * square(gradient(p))


def _center(p: Vector) -> Any:
    return p + s * gradient(p)


# ⟨∇M(z), z' − z⟩, with ∇M(z) = (z − p)/s, which is ∇f(p); here p is y, and p' is x.
_tangent = _envelope(y) + inner(gradient(y), _center(x) - _center(y))
ENVELOPE_ABOVE_TANGENT = _of(CONVEX, _tangent, _envelope(x), by(Lower(x, y)) + s / 2 * squared(slopes))
ENVELOPE_BELOW_PARABOLA = _of(
    CONVEX, _envelope(x), _tangent + square(_center(x) - _center(y)) / (2 * s),
    by(Lower(y, x)) + 1 / (2 * s) * squared(points),
)  # fmt: skip


# ---- a round

MATCHED = setting_of((*FEDSPLIT, ProxError()), (), fedsplit.PAPER.notation, {}, frozenset({"minimiser"}))
# Theorem 1.
_claim = one_round(factor, matched)
_lines = round_lines(_claim, factor, matched, by(Between(solutions, minimiser)))
ROUND = Lemma(MATCHED, _claim, Derivation(_lines, INVARIANTS))


# ---- fixed points

# Proposition 3: the average of a fixed point of FedSplit is optimal.
FEDSPLIT_IS_OPTIMAL = minimises(fedsplit.proposition3.setting, mean(memory("z", 0)))


def gradients_on_the_way(local_steps: int) -> Iterable[Vector]:
    """∇f_j(G_j^{i−1}(x)), i = 1, …, e."""
    point = server(0)
    for _ in range(local_steps):
        yield gradient(point)
        point = fedsplit.gradient_map.calculator.formula(x=point, stepsize=s, gradient=gradient(point))


def rests(local_steps: int) -> Lemma:
    """(5) for a number of local steps."""
    first, *others = gradients_on_the_way(local_steps)
    claim = vanishes(fedsplit.fedgd_residual.calculator.formula(gradients=sum(others, start=first)))
    return Lemma(resting_fedgd(local_steps), claim, Derivation((concluding(claim, Parts()),)))


FEDGD_RESTS = tuple(rests(e) for e in (1, 2, 3))
# After Proposition 1: with one local step a fixed point is a minimiser.
FEDGD_IS_OPTIMAL = minimises(resting_fedgd(1, convex=True), server(0))
