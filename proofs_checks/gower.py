"""Proofs of the rates of gradient steps with the clients of a draw: the variance is bounded at the minimiser alone.

E‖g_S‖² = (1 − c)‖∇f(x)‖² + c·mean‖∇F_k(x)‖², and mean‖∇F_k(x)‖² ≤ 4L(f(x) − f(x*)) + 2σ*².
"""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, gradient, infimum, mean, minimiser, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import (
    Derivation,
    Hypothesis,
    Infimum,
    Iterate,
    Lower,
    Proved,
    Upper,
    facts,
)
from fedconvex.proofs_checks.library import (
    Parts,
    added_up,
    by,
    cited,
    concluding,
    gap_above_slope,
    interpolation,
    squared,
    suboptimal,
)
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import gower

s, mu, L, K, m, P, T = map(parameter, ("stepsize", "mu", "L", "K", "num_clients", "num_active", "T"))
w, x = server(0), minimiser
slope = gradient(w)
IID, UNIFORM = 1 / K, gower.variance(m, P)


def descent(c: Number) -> tuple[Parts, Number]:
    """E‖x⁺ − x*‖² ≤ ‖x − x*‖² − μs‖x − x*‖² − gain·(f(x) − f(x*)) + 2s²cσ*², and gain = 2s(1 − sL(1 + c))."""
    at_all = 4 * L * interpolation(w, x, 0, L) + squared(slope - 2 * gradient(x))
    parts = 2 * s * by(Lower(x, w)) + s**2 * (c * at_all + (1 - c) * gap_above_slope(w, L))
    return parts, 2 * s * (1 - s * L * (1 + c))


def drawn_uniformly() -> Parts:
    """The kernel's σ is c: it multiplies the clients' variance."""
    return -(s**2) / (P * (m - 1)) * square(slope - mean(slope)) * by(Hypothesis("scale"))


def one_round(claim: Claim, c: Number, more: Parts) -> Derivation:
    """The descent, with what is left of the gap."""
    parts, gain = descent(c)
    return Derivation((concluding(claim, parts + gain * suboptimal(w) + more),))


def rate(claim: Claim, c: Number, identifier: str) -> Derivation:
    """‖x − x*‖² less its limit shrinks by 1 − sμ in every round, in expectation."""
    limit = 2 * s * c / mu * square(gradient(x))
    once = facts((1, Proved(identifier)))
    rounds = Iterate(square(w - x) - limit, 1 - s * mu, facts=once, name="all rounds")
    return Derivation((rounds, concluding(claim, cited("all rounds"))))


def convex_rate(claim: Claim, c: Number, more: Parts) -> Derivation:
    """The gap has a factor of at least s in the decrease of ‖x − x*‖²."""
    parts, gain = descent(c)
    parts += (gain - s) * suboptimal(w) + more
    kept = s * (value(w) - value(x)) - 2 * s**2 * c * square(gradient(x))
    return added_up(claim, parts, square(w - x), kept, 1 / (s * T), end=squared(w - x))


@proof_of(gower.one_round_iid)
def one_round_iid(claim: Claim) -> Derivation:
    """With c = 1/K."""
    return one_round(claim, IID, Parts())


@proof_of(gower.rate_iid)
def rate_iid(claim: Claim) -> Derivation:
    """Round by round."""
    return rate(claim, IID, gower.one_round_iid.identifier)


@proof_of(gower.convex_rate_iid)
def convex_rate_iid(claim: Claim) -> Derivation:
    """With c = 1/K and μ = 0."""
    return convex_rate(claim, IID, Parts())


@proof_of(gower.one_round_uniform)
def one_round_uniform(claim: Claim) -> Derivation:
    """With c = (m − P)/(P(m − 1)) ≤ 1."""
    return one_round(claim, UNIFORM, drawn_uniformly())


@proof_of(gower.rate_uniform)
def rate_uniform(claim: Claim) -> Derivation:
    """Round by round."""
    return rate(claim, UNIFORM, gower.one_round_uniform.identifier)


@proof_of(gower.convex_rate_uniform)
def convex_rate_uniform(claim: Claim) -> Derivation:
    """With the same c and μ = 0."""
    return convex_rate(claim, UNIFORM, drawn_uniformly())


def decrease() -> Parts:
    """E f(x⁺) ≤ f(x) − s(1 − sL/2)‖∇f(x)‖² + (s²L/2)cσ², and c is the kernel's σ."""
    noise: Parts = s**2 * UNIFORM * by(Hypothesis("variance")) + drawn_uniformly()
    return by(Upper(server(1), w)) + L / 2 * noise


# The descent lemma for f from x, where x⁺ is x − s∇f(x) in expectation.
proved_by_sum(gower.one_round_nonconvex, decrease())


@proof_of(gower.nonconvex_rate)
def nonconvex_rate(claim: Claim) -> Derivation:
    """1 − sL/2 ≥ 1/2, and the decreases of all rounds add up to at most the initial suboptimality."""
    of_f = square(mean(slope))
    once = decrease() + s * (1 - s * L) / 2 * squared(mean(slope))
    error = s**2 * L / 2 * UNIFORM * parameter("sigma2")
    start, end = by(Hypothesis("initial gap")), by(Infimum(w))
    return added_up(claim, once, value(w) - infimum, s / 2 * of_f, 2 / (s * T), start=start, end=end, error=error)


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "oneroundindependentdraws": ((F(1, 20),), (-1,), 2, (1, 2, F(1, 20), F(1, 20)), ()),
    "troundsindependentdraws": ((F(1, 20),), (0,), 2, (1, 1, 1, F(1, 20), F(1, 20)), ()),
    "convexindependentdraws": ((F(1, 2),), (-1,), 0, (2, F(1, 2), 2, F(2, 3)), ()),
    "oneroundpofmclients": ((F(1, 20), F(1, 20)), (0, 0), 1, (F(1, 8), F(1, 20), 1, 2, F(1, 20)), ()),
    "troundspofmclients": ((F(1, 20), F(1, 20)), (-1, -1), 2, (2, 1, F(1, 20), 1, 2, F(1, 20)), ()),
    "convexpofmclients": ((F(1, 4), F(1, 4)), (2, -2), 2, (F(1, 4), 2, 2, 2, 1), ()),
    "oneroundnonconvex": ((2, 2), (-1, 1), 1, (2, 1, 2, 1, F(2, 3)), ()),
    "troundsnonconvex": ((F(1, 2), 1), (0, 1), 1, (1, 2, F(1, 20), 2, 2, F(1, 4), 1), ()),
}  # fmt: skip
remarks_of_instances(gower.PAPER, INSTANCES, {"oneroundnonconvex"})
