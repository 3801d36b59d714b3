"""FedProx: the sharper forms of Theorem 4, which keep apart what the number of drawn devices divides and what not.

The server's step has the mean w̄ − w, and E‖w⁺ − w‖² = (1 − 1/K)‖w̄ − w‖² + (1/K) mean‖w_k − w‖². Along −∇f(w) the mean
step is at least as long as the smallest ball around a multiple of the gradient allows that it is shown to lie in.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, Vector, answers, gradient, mean, norm, number, residuals, server
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.fedprox.one_round import (
    ROUND,
    B,
    K,
    L,
    L_minus,
    gamma,
    gradients,
    here,
    moves,
    mu,
    slope,
    steepness,
)
from fedconvex.proofs_checks.kernel.proofs import Derivation, Earlier, Upper
from fedconvex.proofs_checks.library import (
    Parts,
    by,
    cauchy_schwarz,
    concluding,
    interpolation,
    rooted,
    squared,
    triangle,
)
from fedconvex.theory import fedprox

share = 1 - 1 / K  # of ‖w̄ − w‖² in E‖w⁺ − w‖²


def least_along_slope(off: Vector, far: Number, line: str, multiple: Number) -> Parts:
    """The bound on f(w⁺), where −μ(w̄ − w) = multiple·∇f + off and the line says ‖off‖ ≤ far.

    The bound is least at off = −far·∇f/‖∇f‖, because it falls with ⟨∇f, off⟩: `falls` is its derivative.
    """
    falls: Number = 1 / mu - share * L * multiple / mu**2
    nearer: Number = falls * steepness + share * L / (2 * mu**2) * (norm(off) + far)
    return cauchy_schwarz(slope, off, -1) * falls + by(Earlier(line)) * nearer + ROUND.moved * (L / (2 * K))


@proof_of(fedprox.PAPER.find("theorem4byvariance"))
def by_variance(claim: Claim) -> Derivation:
    """The mean step is nearly a gradient step, by (7)."""
    far = (L * (1 + gamma) / ROUND.mu_bar + gamma) * B * steepness
    parts = by(Upper(server(1), here, L)) + least_along_slope(ROUND.off, far, "drift", number(1))
    return Derivation((*ROUND.drift, concluding(claim, parts)))


def cocoercive(b: Vector, a: Vector, least: Number) -> Parts:
    """The gradients' difference is cocoercive, for curvatures between `least` and L."""
    return interpolation(b, a, least, L) + interpolation(a, b, least, L)


@proof_of(fedprox.PAPER.find("theorem4bycurvature"))
def by_curvature(claim: Claim) -> Derivation:
    """The step v = −μ(w_k − w) lies in the ball with the segment from μ/(μ + L)·p to μ/μ̄·p as a diameter, p = g − e."""
    middle, radius = (mu / ROUND.mu_bar + mu / (mu + L)) / 2, (mu / ROUND.mu_bar - mu / (mu + L)) / 2
    away = -mu * moves - middle * (gradients - residuals)
    apart = -mu * moves - middle * gradients  # away − middle·e
    off, size = mean(apart), middle * gamma + radius * (1 + gamma)
    factor = mu**2 * (L + L_minus) / (ROUND.mu_bar * (mu + L))
    lines = (
        *ROUND.moves,
        *rooted(norm(residuals - gradients), (1 + gamma) * norm(gradients), ROUND.tilted, "tilted"),
        *rooted(norm(away), radius * (1 + gamma) * norm(gradients),
                factor * cocoercive(answers, here, -L_minus) + radius**2 * by(Earlier("tilted, squared")), "ball"),
        *rooted(norm(off), size * B * steepness, (
            squared(apart - off) + triangle(away, -middle * residuals) + by(Earlier("ball, squared"))
            + middle**2 * by(Earlier("residuals, squared")) + 2 * middle * norm(residuals) * by(Earlier("ball"))
            + 2 * middle * radius * (1 + gamma) * norm(gradients) * by(Earlier("residuals")) + size**2 * ROUND.alike
        ), "off"),
    )  # fmt: skip
    bound = least_along_slope(off, size * B * steepness, "off", middle)
    return Derivation((*lines, concluding(claim, by(Upper(server(1), here, L)) + bound)))


def of_convex_clients(claim: Claim, drawn: Number, mu: Number = mu, slack: Any = 0) -> Derivation:
    """Exact answers of convex clients; `drawn` is 1/K, or 0 where everyone takes part; slack·‖∇f‖² is given away."""
    parts, _ = convex_clients_decrease(drawn, mu, B, ROUND.alike)
    return Derivation((concluding(claim, parts + slack * squared(slope)),))


def convex_clients_decrease(drawn: Number, mu: Number, B: Number, alike: Parts) -> tuple[Parts, Number]:
    """The parts of E f(w⁺) ≤ f(w) − ρ‖∇f(w)‖², where `alike` are those of ‖g‖² ≤ B²‖∇f(w)‖², and how often these occur.

    The gradients at the answers lie in the ball with the segment from μ/(μ + L)·g to g as a diameter, and are no longer
    than g.
    """
    at_answers = gradient(answers)
    middle, radius = (2 * mu + L) / (2 * (mu + L)), L / (2 * (mu + L))
    apart, change = at_answers - middle * gradients, at_answers - gradients
    ball = L * mu / (mu + L) * cocoercive(answers, here, number(0)) + radius**2 * alike
    short = 2 * mu * cocoercive(answers, here, number(0)) + (2 * mu / L + 1) * squared(change) + alike
    far = radius * B
    flat = (1 / mu - (1 - drawn) * L * middle / mu**2) / (2 * far)
    lies = flat + (1 - drawn) * L / (2 * mu**2)
    parts = (
        by(Upper(server(1), here, L)) + lies * (ball + squared(apart - mean(apart))) + drawn * (L / (2 * mu**2) * short)
        + flat * squared(mean(apart) + far * slope)
    )  # fmt: skip
    return parts, lies * radius**2 + drawn * L / (2 * mu**2)


@proof_of(fedprox.PAPER.find("theorem4convex"))
def convex_clients(claim: Claim) -> Derivation:
    return of_convex_clients(claim, 1 / K)


@proof_of(fedprox.PAPER.find("theorem4convexeveryone"))
def convex_clients_everyone(claim: Claim) -> Derivation:
    return of_convex_clients(claim, number(0))


@proof_of(fedprox.PAPER.find("corollary7sharper"))
def choice_for_convex_clients(claim: Claim) -> Derivation:
    """Theorem 4 for convex clients at μ = LB is more than is claimed where K ≥ 4B."""
    slack = (1 / (4 * B) - 1 / (8 * B**2) - 1 / (2 * K) + 1 / (8 * K * B**2)) / L
    return of_convex_clients(claim, 1 / K, L * B, slack)
