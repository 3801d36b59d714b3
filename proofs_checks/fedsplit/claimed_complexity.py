"""FedSplit: (22), the rounds of FedSplit and of FedGD to a relative accuracy ε, both with the constant ½.

ε is relative to the largest gap at the first distance. The ε of which t is half the count is exp(−2t/√κ) for FedSplit
and exp(−2t/κ) for FedGD; 1 − x ≤ exp(−x).
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.claims.agreement import at_terms
from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import (
    Number,
    after,
    gradient,
    mean,
    minimiser,
    number,
    parameter,
    server,
    solutions,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.fedsplit.one_round import (
    FEDGD,
    INVARIANTS,
    best,
    factor,
    kappa,
    matched,
    mu,
)
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, During, Iterate, Upper
from fedconvex.proofs_checks.library import Lemma, Parts, by, cited, concluding, squared
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import accuracy_at, away

m, L = parameter("num_clients"), kappa * mu
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
    nearer = L / 2 * squared(apart - mean(apart)) + by(Upper(server(0), minimiser))
    return _rounds(claim, square(apart), ratio, exact + (ratio - factor**2) * squared(apart), nearer, m * L / 2)


# FedGD with one local step of size 2/(ℓ_* + L^*), from x^(1): ε·½mL^*‖x^(1) − x*‖² after ½κ log(1/ε) rounds.
_counted = dict.fromkeys(("num_clients", "t"), "positive")
FEDGD_RUN = replace(
    FEDGD, signs={**FEDGD.signs, **_counted}, counts=frozenset(_counted),
    example={**FEDGD.example, "num_clients": Fraction(2), "t": Fraction(2)},
)  # fmt: skip
_relative = accuracy_at(Fraction(1, 2), counts.fedgd)
FEDGD_CLAIM = at_most(
    m * (after(value(server(0))) - value(minimiser)), m * L / 2 * square(here) * _relative, rounds="t"
)  # fmt: skip


def _fedgd() -> Derivation:
    shrunk, ratio = (kappa - 1) / (kappa + 1), (-1 / kappa).exp() ** 2
    change = gradient(server(0)) - gradient(minimiser)
    steps = best**2 * (by(Between(server(0), minimiser)) + squared(change - mean(change)))
    of_round = steps + (ratio - shrunk**2) * squared(here)
    made = _rounds(FEDGD_CLAIM, square(here), ratio, of_round, by(Upper(server(0), minimiser)), m * L / 2)
    return replace(made, invariants=())


FEDGD_ROUNDS = Lemma(FEDGD_RUN, FEDGD_CLAIM, _fedgd())
