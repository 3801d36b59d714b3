"""FedProx, equations (9) to (12) and (14): from the mean of all answers to the average over the drawn devices.

With a = w̄ − w, v = w⁺ − w and u = w⁺ − w̄ = v − a in every draw. L₀ is the bound ‖∇f(w)‖ + L(‖a‖ + ‖v‖) on the local
Lipschitz constant.
"""

from fractions import Fraction

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, expected, gradient, mean, norm, server, square
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.fedprox.one_round import ROUND, B, K, L, here, moves, slope, steepness
from fedconvex.proofs_checks.kernel.proofs import (
    Derivation,
    Earlier,
    Line,
    Lower,
    MeanLength,
    Nonnegative,
    Triangle,
    Upper,
)
from fedconvex.proofs_checks.library import Parts, by, cauchy_schwarz, concluding, lipschitz, rooted, squared
from fedconvex.theory import fedprox
from fedconvex.theory.fedprox import vectors

average, step = vectors.average, vectors.mean_step
new_step, deviation = server(1) - here, server(1) - average
farther: Parts = L * by(Triangle(step, deviation, deviation))  # ‖v‖ ≤ ‖a‖ + ‖u‖, times ‖u‖


@proof_of(fedprox.equation9)
def value_at_server(claim: Claim) -> Derivation:
    """The mean of two inequalities, with the tangents at w̄ and at w⁺; ‖u‖ ≤ ‖v‖ + ‖a‖."""
    to = vectors.any_next
    away, lines = to - average, list[Line]()
    parts = (by(Upper(to, average, L)) + by(Lower(average, to, -L))) * Fraction(1, 2)
    for name, point in (("at the mean", average), ("at the server", to)):
        change = gradient(point) - gradient(here)
        near = lipschitz(point, here, L) + squared(change - mean(change))
        lines += rooted(norm(mean(change)), L * norm(point - here), near, name)
        parts += (cauchy_schwarz(slope, away) + cauchy_schwarz(mean(change), away)) * Fraction(1, 2)
        parts += by(Earlier(name)) * (norm(away) / 2)
    rest = L / 2 * by(Triangle(to - here, -step, away))
    return Derivation((*lines, concluding(claim, parts + rest)))


@proof_of(fedprox.equation10)
def expected_value_at_server(claim: Claim) -> Derivation:
    """Smoothness between w̄ and w⁺, which is w̄ in expectation; ‖u‖ ≤ ‖v‖ + ‖a‖."""
    product: Number = (norm(step) + norm(new_step)) * norm(deviation)
    parts = by(Upper(server(1), average, L)) + L / 2 * by(Triangle(new_step, -step, deviation))
    parts += by(Nonnegative(steepness * expected(norm(deviation)))) + L / 2 * by(Nonnegative(expected(product)))
    return Derivation((concluding(claim, parts),))


proved_by_sum(fedprox.equation11, farther)

proved_by_sum(fedprox.equation12, by(MeanLength(deviation)))


@proof_of(fedprox.equation14)
def sampling_costs_as_printed(claim: Claim) -> Derivation:
    """(11), (12), (13) and the display after (6)."""
    far: Number = B * ROUND.move * steepness
    spread: Number = (2 / K).sqrt() * far
    drawn = 1 / K * (ROUND.moved + squared(mean(moves)) + (ROUND.move * B) ** 2 * squared(slope))
    lines = (
        *ROUND.moves,
        *rooted(norm(step), far, ROUND.moved + squared(moves - mean(moves)), "mean step"),
        *rooted(expected(square(deviation)).sqrt(), spread, drawn, "deviation"),
    )
    slopes: Number = steepness + 2 * L * norm(step)
    parts = (
        farther + slopes * (by(MeanLength(deviation)) + by(Earlier("deviation")))
        + 2 * L * spread * by(Earlier("mean step")) + L * by(Earlier("deviation, squared"))
    )  # fmt: skip
    return Derivation((*lines, concluding(claim, parts)))
