"""FedDynOneGD over T rounds: the sharper equations (18) and (20)."""

from fractions import Fraction

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import gradient, mean, memory, minimiser, number, server, square
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.feddyn import convex
from fedconvex.proofs_checks.feddyn.one_gradient import RATIO, STATE, THETA, best, change, fresh, here, memories
from fedconvex.proofs_checks.feddyn.runs import (
    DISTANCE,
    ERROR,
    GAP,
    HERE,
    LEVEL,
    L,
    P,
    T,
    alpha,
    at,
    ended,
    m,
    mean_slope,
    mu,
    telescoped,
)
from fedconvex.proofs_checks.kernel.proofs import Derivation, Earlier, Lower, Proved
from fedconvex.proofs_checks.library import by, interpolation, lipschitz, split, squared, sum_of
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.vectors import slope


@proof_of(feddyn.equation18sharper)
def one_gradient_rate(claim: Claim) -> Derivation:
    """α times (17), ε_t in two parts, and the gradients at θ^{t−1} in place of Lemma 15, leave 7/4 of the gap.

    With V = (1/m)Σ‖∇L_k(θ^{t−1}) − ∇L_k(θ_*)‖²: ε_t ≤ (2/α²)(A + V), A_t = (1 − P/m)A + (P/m)V, and
    V ≤ 5(L²/α²)A + (5/2)L·gap. κ and `of_V` make A and V cancel.
    """
    errors, far = memories - best, fresh - best
    growth, part, spent = 1 + mu / (3 * alpha), P / m, (1 + mu / alpha) * 2 / alpha
    V_of_A = 5 * RATIO
    kappa = (L + mu) / alpha**2 + spent * (1 + V_of_A)
    kappa = kappa / (1 - growth * (1 - part) - growth * part * V_of_A)
    of_V = spent + growth * kappa * part
    two = 1 / alpha**2 * sum_of(errors - mean(errors), -far) + 2 / alpha**2 * squared(mean(errors))
    near = split(here - best, change, Fraction(1, 4)) + 5 * (lipschitz(THETA, HERE, L) + RATIO * STATE)
    near = near + Fraction(5, 2) * L * interpolation(HERE, minimiser, 0, L)
    spare = 2 - Fraction(5, 2) * L * of_V - Fraction(7, 4)
    parts = alpha * by(Proved("feddyn.equation17")) + (alpha + mu) * two + of_V * near
    parts = parts + spare * by(Lower(HERE, minimiser, number(0)))
    rounds = telescoped(alpha * square(DISTANCE) + kappa * square(ERROR), Fraction(7, 4) * GAP, parts, growth)
    end = at("end", alpha * squared(DISTANCE) + kappa * squared(ERROR))
    start = at("start", (5 * m / (4 * P * alpha) - Fraction(4, 7) * kappa) / T * squared(ERROR))
    share = Fraction(4, 7) / T
    return ended(claim, rounds, convex.INVARIANTS, (share, Earlier("all rounds")), (share * growth**T, end), (1, start))


@proof_of(feddyn.equation20sharper)
def one_gradient_nonconvex_rate(claim: Claim) -> Derivation:
    """As (20), with the sharper Lemma 19. `excess` and z make B_{t−1} and ε_t cancel."""
    factor, small = 1 / alpha**2 + 2 * L / alpha**3 + 2 * L**2 / alpha**4, L**2 / alpha**3
    idle = P / (2 * m - P)
    z = (small + L / 2 * factor) / (idle - 4 * idle * RATIO - 2 * m / P * L**2 * factor)
    excess, kappa0 = 2 * m / P * L**2 * z + L / 2, 10 / (21 * alpha)
    spare = 1 / (2 * alpha) - small - excess * factor - z * RATIO * 4 * idle - kappa0
    lemmas = by(Proved("feddyn.equation19")) + excess * by(Proved("feddyn.lemma19sharper"))
    parts = lemmas + z * by(Proved("feddyn.lemma20")) + spare * squared(slope(0))
    error, begun = memory("gradient", 0) - gradient(HERE), gradient(server(0))
    rounds = telescoped(LEVEL + z * square(error), kappa0 * square(slope(0)), parts)
    first, second = 21 * alpha / (10 * T), 5 * m * L / (2 * P * alpha * T)
    return mean_slope(claim, rounds, convex.INVARIANTS, error, begun, z, kappa0, first, second)
