"""Proofs of Nesterov's rates of gradient descent on one function: the objective of any clients that take one step."""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    gradient,
    infimum,
    mean,
    minimiser,
    norm,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import (
    ROUND,
    Between,
    Cases,
    Derivation,
    During,
    Hypothesis,
    Infimum,
    Iterate,
    Lower,
    Telescope,
    Upper,
)
from fedconvex.proofs_checks.library import Parts, added_up, by, cited, concluding, rooted, squared
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import nesterov

w, after, x = server(0), server(1), minimiser
slope = mean(gradient(w))
s, mu, L, kappa, delta = map(parameter, ("stepsize", "mu", "L", "kappa", "delta"))
before = parameter(ROUND)
NONE = Parts()


def _cocoercive(b: Vector, a: Vector) -> Parts:
    """f(b) − f(a) − ⟨∇f(a), b − a⟩ ≥ ‖∇f(b) − ∇f(a)‖²/(2L) of the objective, for clients that are only convex."""
    closest = b - mean(gradient(b) - gradient(a)) / L
    return by(Upper(closest, b)) + by(Lower(closest, a))


def _nearer(claim: Claim, q: Number, short: bool, squares: Parts = NONE) -> Derivation:
    """‖x_t − x_*‖ ≤ q^t‖x₀ − x_*‖ from ‖x⁺ − x_*‖² ≤ q²‖x − x_*‖², for q at least 1 − sμ (`short` steps) or sL − 1.

    With e = g − μd, d = x − x_*, g = ∇f(x), the step is (1 − sμ)d − se, and s²⟨e, (L − μ)d − e⟩ ≥ 0 leaves
    s(2 − s(μ + L))⟨e, d⟩ ≥ 0. With Ld − g in the place of e the signs change.
    """
    steps, bounds = (2 - s * (mu + L), Lower) if short else (s * (mu + L) - 2, Upper)
    parts = s**2 * by(Between(w, x)) + s * steps * (by(bounds(w, x)) + by(bounds(x, w))) + squares
    lines = rooted(norm(after - x), q * norm(w - x), parts, "a step")
    rounds = Iterate(norm(w - x), q, facts=cited("a step").facts, name="all steps")
    return Derivation((rounds, concluding(claim, cited("all steps"))), of_round=lines)


@proof_of(nesterov.gradientstep)
def any_stepsize(claim: Claim) -> Derivation:
    """The larger of |1 − sμ| and |1 − sL| is 1 − sμ for s ≤ 2/(μ + L), and sL − 1 else."""

    def either(q: Number, short: bool, sign: Any) -> Derivation:
        """Whatever the sign of the other one."""
        proof = _nearer(claim, q, short)
        return Derivation(cases=Cases(sign, number(1), proof, proof))

    above, below = either(1 - s * mu, True, s * L), either(s * L - 1, False, s * mu)
    return Derivation(cases=Cases(number(2), s * (mu + L), above, below))


@proof_of(nesterov.theorem2_1_15)
def best_stepsize(claim: Claim) -> Derivation:
    """Then both are (L − μ)/(L + μ), which is at most (κ − 1)/(κ + 1)."""
    q = (kappa - 1) / (kappa + 1)
    return _nearer(claim, q, True, (q**2 - ((L - mu) / (L + mu)) ** 2) * squared(w - x))


@proof_of(nesterov.corollary2_1_2)
def convex_gap(claim: Claim) -> Derivation:
    """(τ + 1)(f(x_τ) − f_*) + (L/2)‖x_τ − ∇f(x_τ)/L − x_*‖² never grows; at the start it is at most (L/2)‖x₀ − x_*‖².

    It gives L‖x₀ − x_*‖²/(2(t + 1)), which is less than the book's bound.
    """
    t, gap = parameter("t"), value(w) - value(x)
    potential = (before + 1) * gap + L / 2 * square(w - slope / L - x)
    step = (before + 1) * by(Upper(after, w)) + _cocoercive(x, after)
    left = (before + 1) / (2 * L) * squared(slope)
    rounds = Telescope(potential, number(0), facts=step.facts, squares=left.squares, name="all steps")
    begun = _cocoercive(x, w)
    ended = L / 2 * squared(w - slope / L - x)
    known = by(During("start", begun.facts)) + by(During("end", (), ended.squares)) + cited("all steps")
    given_away = by(During("start", (), squared(w - x).squares))
    share = 1 / (t + 1)
    return Derivation((rounds, concluding(claim, share * known + (2 * L / (t + 4) - L / 2 * share) * given_away)))


@proof_of(nesterov.smoothfunctions)
def gradients(claim: Claim) -> Derivation:
    """The decreases of all steps add up to at most Δ."""
    decrease, T = s * (1 - s * L / 2), parameter("T")
    return added_up(
        claim, by(Upper(after, w)), value(w) - infimum, decrease * square(slope), 1 / (decrease * T),
        start=by(Hypothesis("initial gap")), end=by(Infimum(w)), name="all steps",
    )  # fmt: skip


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "gradientstep": ((1,), (0,), 1, (2, 1, F(1, 2), 1), ()),
    "theorem2_1_15": ((1,), (0,), 1, (3, 3, 1, F(1, 2), 1), ()),
}  # fmt: skip
remarks_of_instances(nesterov.PAPER, INSTANCES, frozenset(INSTANCES))
