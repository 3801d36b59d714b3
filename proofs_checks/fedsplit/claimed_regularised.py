"""FedSplit on the regularised objective: Theorem 2 round by round.

φ_j = f_j + (λ/2)‖· − x^(1)‖² has curvatures between λ and L_λ = L^* + λ, which 1/(sq) and q/s enclose; its minimiser is
x_λ^*, and z_λ^* the fixed point. Squared distances contract by (1 − 2/(q + 1))².
"""

from collections.abc import Callable

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    server,
    shared,
    solutions,
    square,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Between, Cases, Derivation, During, Iterate, Lower, Upper
from fedconvex.proofs_checks.library import Parts, by, cited, concluding, squared
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import REGULARIZED_FIXED_POINT, REGULARIZED_MINIMISER

s, L, weight, m = (parameter(name) for name in ("stepsize", "L", "regularizer", "num_clients"))
smoothness = L + weight
anchor: Vector = shared("anchor", 0)
away = memory("z", 0) - REGULARIZED_FIXED_POINT
INVARIANTS = (("server", mean(memory("z", 0))),)


def gap() -> Parts:
    """(F(x) − F*)/m ≤ (λ/2)‖x^(1) − x*‖² + ½L_λ‖z − z_λ*‖²: F ≤ F_λ, the descent lemma for F_λ, F_λ(x_λ*) ≤ F_λ(x*)."""
    at, there = server(0), REGULARIZED_MINIMISER
    values = by(Upper(at, there)) + by(Lower(minimiser, there))
    return (
        values
        + weight / 2 * (squared(minimiser - there) + squared(at - anchor))
        + smoothness / 2 * squared(away - mean(away))
    )


def contracting(q: Number, claim: Claim, larger: Number | None = None) -> Derivation:
    """‖z⁺ − z_λ*‖² ≤ (1 − 2/(q + 1))²‖z − z_λ*‖² in every round, or a larger ratio; ‖x^(1) − x*‖ stays."""
    ratio = (1 - 2 / (q + 1)) ** 2
    two_points = by(Between(solutions, REGULARIZED_MINIMISER, 1 / (s * q) - weight, q / s - weight))
    spare = Parts() if larger is None else (larger - ratio) * squared(away)
    of_round = (1 - ratio) * s**2 * two_points + spare
    kept = ratio if larger is None else larger
    rounds = Iterate(square(away), kept, number(0), of_round.facts, of_round.squares, name="all rounds")
    start = Iterate(square(anchor - minimiser), number(1), name="the start")
    at_end = gap()
    ended = m * (by(During("end", at_end.facts, at_end.squares)) + smoothness / 2 * cited("all rounds")
                 + weight / 2 * cited("the start"))  # fmt: skip
    return Derivation((rounds, start, concluding(claim, ended)), INVARIANTS)


def by_stepsize(claim: Claim, of: Callable[[Number], Derivation]) -> Derivation:
    """q is 1/(sλ) or sL_λ; the cases show q ≥ 1, too, so that the factor is visibly no less than 0."""
    short, long = of(1 / (s * weight)), of(s * smoothness)
    compared = Derivation(cases=Cases(1 / s**2, weight * smoothness, above=short, below=long))
    return Derivation(cases=Cases(number(1), s * weight, above=compared, below=long))


@proof_of(fedsplit.theorem2roundbyround)
def round_by_round(claim: Claim) -> Derivation:
    return by_stepsize(claim, lambda q: contracting(q, claim))


@proof_of(fedsplit.theorem2corrected)
def rounds_to_accuracy(claim: Claim) -> Derivation:
    """1 − 2/(q + 1) ≤ exp(−2/(q + 1))."""
    return by_stepsize(claim, lambda q: contracting(q, claim, (-(2 / (q + 1))).exp() ** 2))
