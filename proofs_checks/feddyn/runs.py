"""FedDyn and FedDynOneGD over T rounds: Theorems 2, 3 and 4, equations (18) and (20), as printed and sharper.

A potential V falls in every round: r V⁺ + gain ≤ V. Telescoped with weights r^t, Σ r^t gain_t ≤ V_0 − r^T V_T, and V_T
is not negative. What remains is that the printed constants are at least those that V_0 gives.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    gradient,
    infimum,
    last_answers,
    memory,
    minimiser,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.feddyn import convex, nonconvex
from fedconvex.proofs_checks.kernel.proofs import (
    Combine,
    Derivation,
    During,
    Earlier,
    Fact,
    Infimum,
    Jensen,
    Lower,
    Proved,
    Telescope,
    facts,
)
from fedconvex.proofs_checks.library import Parts, by, squared
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.convex import convex_constants, strongly_convex_constants
from fedconvex.theory.feddyn.nonconvex import nonconvex_constants
from fedconvex.theory.feddyn.one_gradient import one_gradient_nonconvex_scales, one_gradient_scales
from fedconvex.theory.feddyn.sharper_nonconvex import sharper_nonconvex_constants
from fedconvex.theory.feddyn.vectors import apart, average, slope

alpha, L, mu, m, P, T = map(parameter, ("alpha", "L", "mu", "num_clients", "num_active", "T"))
HERE = average(0)
ONE = number(1)
DISTANCE, ERROR, SPREAD = HERE - minimiser, memory("gradient", 0) - gradient(minimiser), apart(0)
MEMORY_ERROR = memory("gradient", 0) - gradient(HERE)
GAP = value(HERE) - value(minimiser)
LEVEL = value(HERE) - infimum
IN_ROUND = {"alpha": alpha, "L": L, "num_clients": m, "num_active": P}


def at(when: str, parts: Parts) -> During:
    """What is ≥ 0 then."""
    return During(when, parts.facts, parts.squares)


def telescoped(potential: Number, gain: Number, parts: Parts, ratio: Number = ONE) -> Telescope:
    """The line that adds up the rounds."""
    return Telescope(potential, gain, ratio, facts=parts.facts, squares=parts.squares, name="all rounds")


def ended(claim: Claim, rounds: Telescope, invariants: Any, *shares: tuple[Any, Fact]) -> Derivation:
    """The sum over the rounds, and what else the claim is the sum of."""
    return Derivation((rounds, Combine(claim.left, claim.right, facts(*shares))), invariants)


def mean_gap(claim: Claim, lemma: str, constants: Any, ratio: Number, first: Any, second: Any) -> Derivation:
    """V = ‖γ − θ*‖² + κC falls by κ₀ times the gap."""
    return averaged_gap(claim, by(Proved(lemma)), constants.kappa0, ONE, constants.kappa, ratio, first, second)


def averaged_gap(
    claim: Claim, one_round: Parts, kappa0: Any, weight: Number, kappa: Any, ratio: Number, first: Any, second: Any
) -> Derivation:
    """V = weight·‖γ − θ*‖² + κC; Jensen's inequality for the gap at the mean of the γ^t.

    `first` and `second` are the numbers by which the claim multiplies D_0 and G.
    """
    rounds = telescoped(weight * square(DISTANCE) + kappa * square(ERROR), kappa0 * GAP, one_round, ratio)
    share = 1 / (kappa0 * (T if ratio == ONE else (ratio**T - 1) / (ratio - 1)))
    end = at("end", weight * squared(DISTANCE) + kappa * squared(ERROR))
    start = at("start", (first - weight * share) * squared(DISTANCE) + (second - kappa * share) * squared(ERROR))
    shares = ((1, Jensen(HERE, ratio)), (share, Earlier("all rounds")), (share * ratio**T, end), (1, start))
    return ended(claim, rounds, convex.INVARIANTS, *shares)


@proof_of(feddyn.theorem2)
def convex_rate(claim: Claim) -> Derivation:
    constants = convex_constants.formula(**IN_ROUND)
    return mean_gap(claim, "feddyn.lemma1", constants, ONE, 10 * alpha / T, 100 * m / (P * alpha * T))


@proof_of(feddyn.theorem3)
def strongly_convex_rate(claim: Claim) -> Derivation:
    constants = strongly_convex_constants.formula(mu=mu, **IN_ROUND)
    end = constants.r ** (T - 1)
    return mean_gap(claim, "feddyn.lemma8", constants, constants.r, 20 * alpha / end, 400 * m / (P * alpha * end))


def mean_slope(
    claim: Claim, rounds: Telescope, invariants: Any, error: Vector, begun: Vector, kappa: Any, kappa0: Any, first: Any,
    second: Any,
) -> Derivation:  # fmt: skip
    """V = ℓ(γ) − ℓ_* + κ‖error‖², which begins as ℓ(θ⁰) − ℓ_* + κ‖begun‖²; a round gains κ₀‖∇ℓ(γ)‖²."""
    share = 1 / (kappa0 * T)
    end = at("end", by(Infimum(HERE)) + kappa * squared(error))
    start = at("start", (first - share) * by(Infimum(server(0))) + (second - kappa * share) * squared(begun))
    return ended(claim, rounds, invariants, (share, Earlier("all rounds")), (share, end), (1, start))


def mean_square_slope(claim: Claim, lemma: str, constants: Any, first: Any, second: Any) -> Derivation:
    kappa, kappa0 = constants.kappa, constants.kappa0
    rounds = telescoped(LEVEL + kappa * square(SPREAD), kappa0 * square(slope(0)), by(Proved(lemma)))
    begun = last_answers(0) - server(0)
    return mean_slope(claim, rounds, nonconvex.INVARIANTS, SPREAD, begun, kappa, kappa0, first, second)


@proof_of(feddyn.theorem4)
def nonconvex_rate(claim: Claim) -> Derivation:
    constants = nonconvex_constants.formula(**IN_ROUND)
    return mean_square_slope(claim, "feddyn.lemma10", constants, 3 * alpha / T, 30 * L**3 * m / (P * alpha * T))


@proof_of(feddyn.theorem4sharper)
def nonconvex_rate_sharper(claim: Claim) -> Derivation:
    constants = sharper_nonconvex_constants.formula(**IN_ROUND)
    share = 1 / (constants.kappa0 * T)
    return mean_square_slope(claim, "feddyn.lemma10sharper", constants, share, constants.kappa * share)


# FedDynOneGD


def one_gradient_round(mu: Number, seventeen: Parts) -> tuple[Parts, Number, Number]:
    """α times (17), and the scaled Lemmas 14 and 15, leave at least one gap: that, κ, and the potential's ratio."""
    scales = one_gradient_scales.formula(mu=mu, **IN_ROUND)
    ratio = 1 + mu / (3 * alpha)
    at_best = by(Lower(HERE, minimiser, number(0)))  # the gap is not negative
    left = 2 - alpha * (scales.scale14 * 8 * L / alpha**2 + scales.scale15 * 4 * L * P / m)
    lemmas = seventeen + scales.scale14 * by(Proved("feddyn.lemma14"))
    parts = alpha * (lemmas + scales.scale15 * by(Proved("feddyn.lemma15"))) + (left - 1) * at_best
    return parts, alpha * scales.scale15 / ratio, ratio


@proof_of(feddyn.equation18)
def one_gradient_rate(claim: Claim) -> Derivation:
    parts, kappa, ratio = one_gradient_round(mu, by(Proved("feddyn.equation17")))
    rounds = telescoped(alpha * square(DISTANCE) + kappa * square(ERROR), GAP, parts, ratio)
    end = at("end", alpha * squared(DISTANCE) + kappa * squared(ERROR))
    start = at("start", (10 * m / (P * alpha) - kappa) / T * squared(ERROR))
    shares = ((1 / T, Earlier("all rounds")), (ratio**T / T, end), (1, start))
    return ended(claim, rounds, convex.INVARIANTS, *shares)


@proof_of(feddyn.equation20)
def one_gradient_nonconvex_rate(claim: Claim) -> Derivation:
    parts, z = one_gradient_nonconvex_round()
    first, second = 4 * alpha / T, 50 * m * L / (P * alpha * T)
    rounds = telescoped(LEVEL + z * square(MEMORY_ERROR), square(slope(0)) / (4 * alpha), parts)
    begun = gradient(server(0))
    return mean_slope(claim, rounds, convex.INVARIANTS, MEMORY_ERROR, begun, z, 1 / (4 * alpha), first, second)


def one_gradient_nonconvex_round() -> tuple[Parts, Number]:
    """4α times (19), and the scaled Lemmas 19 and 20, leave at least one ‖∇ℓ‖²: that, over 4α, and z."""
    scales = one_gradient_nonconvex_scales.formula(**IN_ROUND)
    z, scale = scales.scale20, scales.scale19
    gained = 1 / (2 * alpha) - L**2 / alpha**3 - scale * (4 / alpha**2 + 8 * L**2 / alpha**4)
    gained = gained - z * L**2 / alpha**2 * 4 * P / (2 * m - P)
    lemmas = by(Proved("feddyn.equation19")) + scale * by(Proved("feddyn.lemma19"))
    return lemmas + z * by(Proved("feddyn.lemma20")) + (gained - 1 / (4 * alpha)) * squared(slope(0)), z
