"""FedDyn and FedDynOneGD: Theorems 1 and 5 with constants, from the same rounds as Theorems 2 to 4, (18) and (20).

α is what each case chooses. Where it is β, a maximum, there are two cases.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import last_answers, minimiser, number, server, square
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.feddyn import convex
from fedconvex.proofs_checks.feddyn.one_gradient import MOVE, STATE, THETA
from fedconvex.proofs_checks.feddyn.runs import (
    HERE,
    IN_ROUND,
    LEVEL,
    MEMORY_ERROR,
    ONE,
    L,
    P,
    T,
    alpha,
    at,
    averaged_gap,
    ended,
    m,
    mean_gap,
    mean_square_slope,
    mu,
    one_gradient_nonconvex_round,
    one_gradient_round,
    telescoped,
)
from fedconvex.proofs_checks.kernel.proofs import Cases, Derivation, Earlier, Infimum, Lower, Proved, Upper
from fedconvex.proofs_checks.library import by, lipschitz, squared
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.convex import convex_constants, strongly_convex_constants
from fedconvex.theory.feddyn.nonconvex import nonconvex_constants
from fedconvex.theory.feddyn.vectors import slope


def by_larger(factor: Any, of_case: Derivation) -> Derivation:
    """The same proof where β = max(c(m/P)μ, dL) is the first, and where it is the second; `factor` is c/d."""
    return Derivation(cases=Cases(factor * m * mu / P, L, of_case, of_case))


@proof_of(feddyn.theorem1stronglyconvex)
def strongly_convex_rate(claim: Claim) -> Derivation:
    constants, constant = strongly_convex_constants.formula(mu=mu, **IN_ROUND), number(1240) / 3
    end = constants.r**T
    first, second = constant * alpha / end, constant * m / (P * alpha * end)
    return by_larger(number(1) / 6, mean_gap(claim, "feddyn.lemma8", constants, constants.r, first, second))


@proof_of(feddyn.theorem1convex)
def convex_rate(claim: Claim) -> Derivation:
    constants, root = convex_constants.formula(**IN_ROUND), (m / P).sqrt()
    return mean_gap(claim, "feddyn.lemma1", constants, ONE, 300 * root * L / T, 300 * root / (L * T))


@proof_of(feddyn.theorem1nonconvex)
def nonconvex_rate(claim: Claim) -> Derivation:
    return mean_square_slope(
        claim, "feddyn.lemma10", nonconvex_constants.formula(**IN_ROUND), 90 * L * m / (P * T), 90 * L**2 / T
    )


# FedDynOneGD


@proof_of(feddyn.theorem5stronglyconvex)
def one_gradient_strongly_convex_rate(claim: Claim) -> Derivation:
    parts, kappa, ratio = one_gradient_round(mu, by(Proved("feddyn.equation17")))
    constant, end = number(151) / 15, ratio**T
    first, second = constant * alpha / end, constant * m / (P * alpha * end)
    return by_larger(number(1), averaged_gap(claim, parts, ONE, alpha, kappa, ratio, first, second))


@proof_of(feddyn.theorem5convex)
def one_gradient_convex_rate(claim: Claim) -> Derivation:
    """(17) with μ = 0, which it excludes."""
    tangents = 2 / alpha * (by(Lower(minimiser, THETA)) + by(Upper(HERE, THETA)))
    parts, kappa, _ = one_gradient_round(number(0), tangents + L / alpha**3 * STATE + MOVE)
    root = (m / P).sqrt()
    return averaged_gap(claim, parts, ONE, alpha, kappa, ONE, 50 * root * L / T, 50 * root / (L * T))


@proof_of(feddyn.theorem5nonconvex)
def one_gradient_nonconvex_rate(claim: Claim) -> Derivation:
    """B_0 = (1/m)Σ‖∇L_k(θ⁰)‖² is at most L² times the spread of the θ_k⁰, at which the gradients vanish."""
    parts, z = one_gradient_nonconvex_round()
    rounds = telescoped(LEVEL + z * square(MEMORY_ERROR), square(slope(0)) / (4 * alpha), parts)
    share, models = 4 * alpha / T, last_answers(0)
    end = at("end", by(Infimum(HERE)) + z * squared(MEMORY_ERROR))
    first, second = 200 * L * m / (P * T) - share, 200 * L**2 / T - z * share * L**2
    near = z * share * lipschitz(server(0), models, L)
    start = at("start", first * by(Infimum(server(0))) + near + second * squared(models - server(0)))
    return ended(claim, rounds, convex.INVARIANTS, (share, Earlier("all rounds")), (share, end), (1, start))
