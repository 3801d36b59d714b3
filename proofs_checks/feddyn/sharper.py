"""FedDyn: the sharper Lemmas 1, 4 and 8, Theorems 2 and 3, and FedDynOneGD's sharper (18) and (20).

Lemmas 1 and 8 rest on the interpolation inequality between θ̃_k^t and θ_*.

With b_k = ∇L_k(θ_k^{t−1}) − ∇L_k(θ_*) and n_k = ∇L_k(θ̃_k^t) − ∇L_k(θ_*): θ̃_k^t − γ^{t−1} = (b_k − b̄ − n_k)/α. The
products ⟨b_k − b̄, n_k⟩ in the two inequalities about the devices' functions cancel, and what remains is a quadratic
form in the b_k and n_k, which is a sum of squares.

The draw enters through σ = (m − P)/(P max(m − 1, 1)). The first line of each proof has e = σ + L/α, with any σ in
[0, 1], and the second puts in what σ is: m ≥ 2 and m = 1 are two cases.
"""

from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Number, Vector, answers, gradient, mean, memory, minimiser, number, server, square
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.feddyn import convex
from fedconvex.proofs_checks.feddyn.convex import (
    HERE,
    INVARIANTS,
    SCALE,
    L,
    P,
    alpha,
    best,
    here,
    m,
    mu,
    new,
    old,
    one_line,
)
from fedconvex.proofs_checks.feddyn.one_gradient import RATIO, STATE, THETA, change, fresh, memories
from fedconvex.proofs_checks.feddyn.runs import (
    DISTANCE,
    ERROR,
    GAP,
    IN_ROUND,
    LEVEL,
    ONE,
    T,
    at,
    ended,
    mean_gap,
    mean_slope,
    telescoped,
)
from fedconvex.proofs_checks.kernel.proofs import Cases, Derivation, Earlier, Hypothesis, Lower, Proved, Upper
from fedconvex.proofs_checks.library import Parts, by, concluding, interpolation, lipschitz, split, squared, sum_of
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.sharper import sharper_constants, sharper_strongly_convex_constants
from fedconvex.theory.feddyn.vectors import slope

before, after = old - best, new - best
E = SCALE + L / alpha


def by_number_of_clients(of_case: Derivation) -> Derivation:
    """The same proof for m ≥ 2 and for m = 1: which of m − 1 and 1 is the larger one is known in each."""
    return Derivation(cases=Cases(m, number(2), of_case, of_case))


def two_squares(u: Vector, v: Vector, uu: Any, uv: Any, vv: Any) -> Parts:
    """uu‖u‖² + 2uv⟨u, v⟩ + vv‖v‖² as two squares, by completing the square in u."""
    both: Parts = uu * squared(u + uv / uu * v) + (vv - uv**2 / uu) * squared(v)
    return both


def _deviation(u: Vector) -> Vector:
    return u - mean(u)


def _with_the_draw(claim: Claim, growth: Any, kappa: Any, gap: Any, change: Any, parts: Parts) -> Derivation:
    """growth·(E‖γ^t − θ_*‖² + κC_t) ≤ E‖γ^{t−1} − θ_*‖² + κC_{t−1} − gap·(…), first with e, then as claimed.

    `change` is the number by which κ at e exceeds κ as claimed, divided by σP max(m − 1, 1) − m + P.
    """
    left: Number = growth * (vectors.distance_after + kappa * vectors.C_after)
    right = vectors.distance + kappa * vectors.C_before - gap * vectors.gap
    first = concluding(at_most(left, right), parts, "for any σ")
    scaled = change * (growth * vectors.C_after - vectors.C_before) * by(Hypothesis("scale"))
    return by_number_of_clients(Derivation((first, concluding(claim, by(Earlier("for any σ")) + scaled)), INVARIANTS))


@proof_of(feddyn.lemma1sharper)
def potential_decreases(claim: Claim) -> Derivation:
    others = number(1).max(m - 1)
    printed = (m - P) / (P * others) + L / alpha
    kappa, change = m / P * E / (alpha * (alpha - 2 * L * E)), m / P / (alpha - 2 * L * E) / (alpha - 2 * L * printed)
    q, s, c = E / (alpha * (alpha - 2 * L * E)), E / alpha**2, 1 / (alpha * L)
    means = q * squared(mean(before)) + (c - q - 1 / alpha**2 - L / alpha**3) * squared(mean(after))
    rest = two_squares(_deviation(before), _deviation(after), q - s, s, c - q - s) + means
    parts = 2 / alpha * (interpolation(minimiser, answers, 0, L) + by(Upper(HERE, answers))) + rest
    return _with_the_draw(claim, 1, kappa, 2 / alpha, change / (P * others), parts)


@proof_of(feddyn.lemma8sharper)
def potential_shrinks(claim: Claim) -> Derivation:
    """The first two squares are what is left of C beyond 4/5 of the κP/m of the convex case."""
    others = number(1).max(m - 1)
    kappa, growth, rho = 2 * m / P * E / alpha**2, 1 + mu / alpha, mu / alpha
    q, c = kappa * P / m, (L + mu) / (alpha * L**2)
    kept, draw = Fraction(4, 5) * q, (rho - L / alpha - growth * SCALE) / alpha**2
    shares = (kappa * (1 - growth * (1 - P / m)) - kept) * squared(before) + kept * squared(mean(before))
    deviations = two_squares(
        _deviation(after), _deviation(before),
        draw + c * growth**2 - growth * q, -draw - c * growth * rho, draw + c * rho**2 + kept,
    )  # fmt: skip
    means = two_squares(
        mean(after), HERE - minimiser,
        c * growth**2 - 1 / alpha**2 - L / alpha**3 - growth * q, -c * growth * mu, 4 * rho**2 + c * mu**2,
    )  # fmt: skip
    point = minimiser + (after - mu * (answers - minimiser)) / L  # where the two quadratics are furthest apart
    below = by(Upper(point, minimiser)) + by(Lower(point, answers))
    grown = 8 * mu / alpha**2 * by(Lower(HERE, minimiser))
    parts = 2 / alpha * (below + by(Upper(HERE, answers))) + grown + shares + deviations + means
    gap, change = 2 / alpha * (1 - 4 * mu / alpha), 2 * m / P / alpha**2
    return _with_the_draw(claim, growth, kappa, gap, change / (P * others), parts)


@proof_of(feddyn.lemma4sharper)
def devices_move_less(claim: Claim) -> Derivation:
    """Lemma 4's first and last vector stay together: the errors of the stored gradients, beyond their mean h."""
    errors = old - best
    three = sum_of(errors - mean(errors), best - here, here - new)
    bounds = lipschitz(answers, HERE, L) + 2 * L * interpolation(HERE, minimiser, 0, L) + squared(mean(errors))
    return one_line(claim, 1 / alpha**2 * (three + 3 * bounds))


def _exact(claim: Claim, lemma: str, constants: Any, ratio: Number, weights: Any) -> Derivation:
    """The printed constants are those that the potential gives at the start; `weights` is the sum of the r^t."""
    share = 1 / (constants.kappa0 * weights)
    return by_number_of_clients(mean_gap(claim, lemma, constants, ratio, share, constants.kappa * share))


@proof_of(feddyn.theorem2sharper)
def convex_rate(claim: Claim) -> Derivation:
    return _exact(claim, "feddyn.lemma1sharper", sharper_constants.formula(**IN_ROUND), ONE, T)


@proof_of(feddyn.theorem3sharper)
def strongly_convex_rate(claim: Claim) -> Derivation:
    constants, r = sharper_strongly_convex_constants.formula(mu=mu, **IN_ROUND), 1 + mu / alpha
    return _exact(claim, "feddyn.lemma8sharper", constants, r, (r**T - 1) / (r - 1))


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
