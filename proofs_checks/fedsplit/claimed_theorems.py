"""FedSplit: Theorem 1, which is (16), and its form for any stepsize; Corollary 1, (18); Theorem 2; (22)."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.claims.agreement import at_terms
from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import (
    Number,
    Vector,
    after,
    family,
    gradient,
    local_step,
    mean,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    server,
    shared,
    solutions,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.fedsplit.one_round import (
    FEDGD,
    INVARIANTS,
    L,
    b,
    best,
    factor,
    kappa,
    matched,
    mu,
    nearer_lines,
    one_round,
    round_lines,
    s,
)
from fedconvex.proofs_checks.kernel.proofs import (
    Between,
    Cases,
    Derivation,
    During,
    Iterate,
    LocalSteps,
    Lower,
    Nonnegative,
    Upper,
)
from fedconvex.proofs_checks.library import Lemma, Parts, by, cited, concluding, rooted, squared
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import REGULARIZED_FIXED_POINT, REGULARIZED_MINIMISER, accuracy_at, away

t = parameter("t")


def _iterated(claim: Claim, factor: Any, stepsize: Any, two_points: Parts, rest: Parts) -> Derivation:
    """‖z⁺ − z*‖ ≤ ρ‖z − z*‖ + 2b in every round; after t rounds the server's point is nearer. `rest` is given away."""
    of_round = round_lines(one_round(factor, stepsize), factor, stepsize, two_points)
    rounds = Iterate(norm(away(0, stepsize)), factor, 2 * b, cited("a round").facts, name="all rounds")
    nearer = by(During("end", cited("the mean").facts))
    end = concluding(claim, cited("all rounds") + nearer + rest)
    return Derivation((rounds, end), INVARIANTS, (*of_round, *nearer_lines(stepsize)))


@proof_of(fedsplit.theorem1)
@proof_of(fedsplit.equation16)
def distance(claim: Claim) -> Derivation:
    """2bΣρ^t is (√κ + 1)b(1 − ρ^t), since 1 − ρ = 2/(√κ + 1)."""
    given_away = by(Nonnegative((kappa.sqrt() + 1) * b * factor**t))
    return _iterated(claim, factor, matched, by(Between(solutions, minimiser)), given_away)


@proof_of(fedsplit.theorem1sharper)
def distance_any_stepsize(claim: Claim) -> Derivation:
    """q is 1/(sℓ_*) or sL^*; q ≥ 1 follows from s√ℓ_*√L^* ≤ 1 or ≥ 1, and ℓ_* ≤ L^*, in roots."""
    rooted = by(Nonnegative(0 * mu.sqrt() * L.sqrt()))  # names the roots

    def with_larger(q: Any) -> Derivation:
        return _iterated(claim, 1 - 2 / (q + 1), s, by(Between(solutions, minimiser, 1 / (s * q), q / s)), rooted)

    return Derivation(cases=Cases(1 / s**2, mu * L, above=with_larger(1 / (s * mu)), below=with_larger(s * L)))


# Corollary 1: gradient steps in place of exact proximal steps, any number of them.
# A step from any point u makes u⁺ of it; p is the proximal point. The subproblem here is f_j + ‖· − x‖²/(2s), on which
# steps of size αs are the paper's steps of size α on sf_j + ½‖· − x‖².
alpha = fedsplit.local_stepsize.formula(mu=mu, L=kappa * mu)
u, p = family("u"), solutions
at_first, stepped = norm(u - p), norm(local_step(u) - p)


def _steps(ratio: Number) -> Derivation:
    """‖u⁺ − p‖ ≤ (1 − 2/(√κ+1))‖u − p‖ ≤ ratio·‖u − p‖, e times."""
    one = rooted(stepped, factor * at_first, (alpha * matched) ** 2 * by(Between(u, p)), "a step")
    given_away = cited("a step") + (ratio - factor) * by(Nonnegative(at_first))
    return Derivation((*one, LocalSteps(p, ratio, "u", given_away.facts)))


@proof_of(fedsplit.corollary1)
@proof_of(fedsplit.equation18)
def error(claim: Claim) -> Derivation:
    return _steps(1 - 1 / (kappa.sqrt() + 1))


@proof_of(fedsplit.corollary1sharper)
def error_sharp(claim: Claim) -> Derivation:
    return _steps(factor)


# Theorem 2: the regularised objective, round by round.
# φ_j = f_j + (λ/2)‖· − x^(1)‖² has curvatures between λ and L_λ = L^* + λ, which 1/(sq) and q/s enclose; its minimiser
# is x_λ^*, and z_λ^* the fixed point. Squared distances contract by (1 − 2/(q + 1))².
weight, m = parameter("regularizer"), parameter("num_clients")
smoothness = L + weight
anchor: Vector = shared("anchor", 0)
apart = memory("z", 0) - REGULARIZED_FIXED_POINT


def gap() -> Parts:
    """(F(x) − F*)/m ≤ (λ/2)‖x^(1) − x*‖² + ½L_λ‖z − z_λ*‖²: F ≤ F_λ, the descent lemma for F_λ, F_λ(x_λ*) ≤ F_λ(x*)."""
    at, there = server(0), REGULARIZED_MINIMISER
    values = by(Upper(at, there)) + by(Lower(minimiser, there))
    return (
        values
        + weight / 2 * (squared(minimiser - there) + squared(at - anchor))
        + smoothness / 2 * squared(apart - mean(apart))
    )


def contracting(q: Number, claim: Claim, larger: Number | None = None) -> Derivation:
    """‖z⁺ − z_λ*‖² ≤ (1 − 2/(q + 1))²‖z − z_λ*‖² in every round, or a larger ratio; ‖x^(1) − x*‖ stays."""
    ratio = (1 - 2 / (q + 1)) ** 2
    two_points = by(Between(solutions, REGULARIZED_MINIMISER, 1 / (s * q) - weight, q / s - weight))
    spare = Parts() if larger is None else (larger - ratio) * squared(apart)
    of_round = (1 - ratio) * s**2 * two_points + spare
    kept = ratio if larger is None else larger
    rounds = Iterate(square(apart), kept, number(0), of_round.facts, of_round.squares, name="all rounds")
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


# (22): the rounds of FedSplit and of FedGD to a relative accuracy ε, both with the constant ½.
# ε is relative to the largest gap at the first distance. The ε of which t is half the count is exp(−2t/√κ) for FedSplit
# and exp(−2t/κ) for FedGD; 1 − x ≤ exp(−x).
most = kappa * mu
counts: Any = at_terms(fedsplit.equation22.calculator)
here = server(0) - minimiser


def _rounds(claim: Claim, potential: Any, ratio: Number, of_round: Parts, gap: Parts, scale: Any) -> Derivation:
    """‖·‖² shrinks by the ratio in every round, and the gap at the end is at most `scale` times it."""
    every = Iterate(potential, ratio, number(0), of_round.facts, of_round.squares, name="all rounds")
    ended = scale * cited("all rounds") + m * by(During("end", gap.facts, gap.squares))
    return Derivation((every, concluding(claim, ended)), INVARIANTS)


@proof_of(fedsplit.equation22)
def fedsplit_rounds(claim: Claim) -> Derivation:
    """Both 1 − 2/(√κ + 1) ≤ 1 − 1/√κ ≤ exp(−1/√κ), squared."""
    apart, ratio = away(0, matched), (-1 / kappa.sqrt()).exp() ** 2
    exact = (1 - factor**2) * matched**2 * by(Between(solutions, minimiser))
    nearer = most / 2 * squared(apart - mean(apart)) + by(Upper(server(0), minimiser))
    return _rounds(claim, square(apart), ratio, exact + (ratio - factor**2) * squared(apart), nearer, m * most / 2)


# FedGD with one local step of size 2/(ℓ_* + L^*), from x^(1): ε·½mL^*‖x^(1) − x*‖² after ½κ log(1/ε) rounds.
_counted = dict.fromkeys(("num_clients", "t"), "positive")
FEDGD_RUN = replace(
    FEDGD, signs={**FEDGD.signs, **_counted}, counts=frozenset(_counted),
    example={**FEDGD.example, "num_clients": Fraction(2), "t": Fraction(2)},
)  # fmt: skip
_relative = accuracy_at(Fraction(1, 2), counts.fedgd)
FEDGD_CLAIM = at_most(
    m * (after(value(server(0))) - value(minimiser)), m * most / 2 * square(here) * _relative, rounds="t"
)  # fmt: skip


def _fedgd() -> Derivation:
    shrunk, ratio = (kappa - 1) / (kappa + 1), (-1 / kappa).exp() ** 2
    change = gradient(server(0)) - gradient(minimiser)
    steps = best**2 * (by(Between(server(0), minimiser)) + squared(change - mean(change)))
    of_round = steps + (ratio - shrunk**2) * squared(here)
    made = _rounds(FEDGD_CLAIM, square(here), ratio, of_round, by(Upper(server(0), minimiser)), m * most / 2)
    return replace(made, invariants=())


FEDGD_ROUNDS = Lemma(FEDGD_RUN, FEDGD_CLAIM, _fedgd())
