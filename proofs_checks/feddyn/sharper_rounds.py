"""FedDyn, convex devices: the sharper Lemmas 1 and 8, by the interpolation inequality between θ̃_k^t and θ_*.

With b_k = ∇L_k(θ_k^{t−1}) − ∇L_k(θ_*) and n_k = ∇L_k(θ̃_k^t) − ∇L_k(θ_*): θ̃_k^t − γ^{t−1} = (b_k − b̄ − n_k)/α. The
products ⟨b_k − b̄, n_k⟩ in the two inequalities about the devices' functions cancel, and what remains is a quadratic
form in the b_k and n_k, which is a sum of squares.

The draw enters through σ = (m − P)/(P max(m − 1, 1)). The first line of each proof has e = σ + L/α, with any σ in
[0, 1], and the second puts in what σ is: m ≥ 2 and m = 1 are two cases.
"""

from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Number, Vector, answers, mean, minimiser, number
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.feddyn.convex import HERE, INVARIANTS, SCALE, L, P, alpha, best, m, mu, new, old
from fedconvex.proofs_checks.kernel.proofs import Cases, Derivation, Earlier, Hypothesis, Lower, Upper
from fedconvex.proofs_checks.library import Parts, by, concluding, interpolation, squared
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn import vectors

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
