"""Proofs of the statements on FedProx with exact solutions: a gradient step with the gradients at its answers.

θ_k = w − s∇F_k(θ_k), so that w⁺ = w − s·mean∇F_k(θ_k). At a fixed point these gradients have the mean 0.
"""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, answers, gradient, mean, minimiser, norm, number, parameter, server, square
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Derivation, Line, Lower, Proved, Upper
from fedconvex.proofs_checks.library import (
    Parts,
    added_up,
    by,
    cauchy_schwarz,
    cited,
    concluding,
    interpolation,
    jensen,
    lipschitz,
    rooted,
    split,
    squared,
)
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import yuan_li

s, mu, L, T = map(parameter, ("stepsize", "mu", "L", "T"))
w, x, after = server(0), minimiser, server(1)
SIGMA = norm(gradient(x))
MONOTONE = by(Lower(answers, x)) + by(Lower(x, answers))  # ⟨∇F_k(θ_k) − ∇F_k(x*), θ_k − x*⟩ ≥ μ‖θ_k − x*‖²


def one_round_lines() -> tuple[Line, ...]:
    """‖w⁺ − x*‖ ≤ q‖w − x*‖ + qsσ*, q = 1/(1 + sμ): θ_k is a proximal step from w, x* one from x* + s∇F_k(x*)."""
    q = 1 / (1 + s * mu)
    d, e = w - x, answers - x
    pulled = d - s * gradient(x)  # (1 + sμ)e plus s times a monotone change of gradients, less μe
    rest = pulled - (1 + s * mu) * e
    near = rooted(norm(e), q * norm(pulled), q**2 * squared(rest) + 2 * s * q * MONOTONE, "answers")
    far = rooted(norm(pulled), norm(d) + s * SIGMA, 2 * s * cauchy_schwarz(d, gradient(x), -1), "pull")
    centre = rooted(norm(after - x), norm(e), jensen(e), "mean")
    return (*near, *far, *centre)


@proof_of(yuan_li.one_round)
def one_round(claim: Claim) -> Derivation:
    """The mean of the answers is at most as far away as they are."""
    parts = cited("mean") + cited("answers") + 1 / (1 + s * mu) * cited("pull")
    return Derivation((*one_round_lines(), concluding(claim, parts)))


@proof_of(yuan_li.rounds_bound)
def rounds_bound(claim: Claim) -> Derivation:
    """‖w − x*‖² − σ*²/μ² shrinks by q in every round, as ‖d − s∇F_k(x*)‖² ≤ (1 + sμ)(‖d‖² + (s/μ)‖∇F_k(x*)‖²)."""
    q, d, e = 1 / (1 + s * mu), w - x, answers - x
    rest = d - s * gradient(x) - (1 + s * mu) * e
    parts = jensen(e) + q**2 * squared(rest) + 2 * s * q * MONOTONE + q**2 * split(d, -s * gradient(x), s * mu)
    return over_rounds(claim, 1 + s * mu, square(gradient(x)) / mu**2, 1 / q * parts)


def over_rounds(claim: Claim, growth: Number, limit: Number, once: Parts) -> Derivation:
    """growth·(‖w⁺ − x*‖² − limit) ≤ ‖w − x*‖² − limit in every round, by the parts `once`."""
    return added_up(claim, once, square(w - x) - limit, number(0), 1 / growth**T, ratio=growth)


def at_rest() -> tuple[Line, ...]:
    """mean‖∇F_k(θ_k)‖² ≤ σ*²: the mean of ⟨∇F_k(θ_k) − ∇F_k(x*), θ_k − x*⟩ is that of −s⟨·, ∇F_k(θ_k)⟩."""
    found = gradient(answers)
    monotone = by(Lower(answers, x, number(0))) + by(Lower(x, answers, number(0)))
    parts = 2 / s * monotone + squared(found - gradient(x))
    return rooted(norm(answers - w), s * SIGMA, s**2 * parts, "spread")


@proof_of(yuan_li.spread_at_fixed_point)
def spread_at_fixed_point(claim: Claim) -> Derivation:
    """The gradients at the answers have the mean 0, and are as long as the steps."""
    return Derivation((*at_rest(), concluding(claim, cited("spread"))))


def slope_lines() -> tuple[Line, ...]:
    """‖∇f(w)‖ ≤ sLσ*, as ∇f(w) is the mean of ∇F_k(w) − ∇F_k(θ_k)."""
    change = gradient(w) - gradient(answers)
    parts = lipschitz(w, answers, L) + jensen(change)
    return (*at_rest(), *rooted(norm(mean(gradient(w))), L * norm(answers - w), parts, "slope"))


@proof_of(yuan_li.gradient_at_fixed_point)
def gradient_at_fixed_point(claim: Claim) -> Derivation:
    """From the distance of the answers."""
    return Derivation((*slope_lines(), concluding(claim, cited("slope") + L * cited("spread"))))


@proof_of(yuan_li.distance_at_fixed_point)
def distance_at_fixed_point(claim: Claim) -> Derivation:
    """‖∇f(w)‖ ≥ μ‖w − x*‖."""
    d, slope = w - x, mean(gradient(w))
    parts = 2 / mu * (by(Lower(w, x)) + by(Lower(x, w))) + 1 / mu**2 * squared(slope - mu * d)
    far = rooted(norm(d), norm(slope) / mu, parts, "far")
    near = cited("slope") + L * cited("spread")
    return Derivation((*slope_lines(), *far, concluding(claim, cited("far") + 1 / mu * near)))


@proof_of(yuan_li.sharper_round)
def sharper_round(claim: Claim) -> Derivation:
    """Half of what the clients' functions between x* and θ_k say has μ, half of it pays for the answers' spread."""
    found = gradient(answers)
    parts = 2 * s * by(Upper(after, answers)) + s * by(Lower(x, answers)) + s * interpolation(x, answers, 0, L)
    parts += 2 * s * by(Lower(after, x, number(0))) + s * mu / 2 * squared(answers - after)
    parts += s**3 * L * squared(found - 2 * gradient(x)) + (s**2 + s**3 * L) * squared(mean(found))
    parts += (s / (2 * L) - 2 * s**3 * L) * squared(found - gradient(x))
    return Derivation((concluding(claim, 1 / (1 + s * mu / 2) * parts),))


@proof_of(yuan_li.sharper_rounds)
def sharper_rounds(claim: Claim) -> Derivation:
    """‖w − x*‖² less its limit shrinks by q in every round."""
    growth = 1 + s * mu / 2
    return over_rounds(
        claim, growth, 4 * s**2 * L / mu * square(gradient(x)), growth * by(Proved("yuan_li.oneroundshortsteps"))
    )


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "oneround": ((2,), (0,), 1, (2, 1), ()),
    "trounds": ((F(1, 20),), (2,), 0, (1, F(1, 20), F(1, 20)), ()),
    "fixedpointclients": ((1, 0), (1, 1), 2, (F(1, 20),), ()),
    "fixedpointgradient": ((0, F(1, 2)), (2, 2), 0, (F(1, 2), F(1, 10)), ()),
    "fixedpointdistance": ((F(1, 20), F(1, 10)), (2, -1), 2, (F(1, 10), F(1, 20), F(1, 8)), ()),
    "oneroundshortsteps": ((F(1, 20),), (-1,), 1, (F(1, 10), F(1, 20), F(1, 20)), ()),
    "troundsshortsteps": ((F(1, 20),), (-1,), 2, (F(1, 10), 1, F(1, 20), F(1, 20)), ()),
}  # fmt: skip
remarks_of_instances(yuan_li.PAPER, INSTANCES, {"oneround", "fixedpointclients"})
