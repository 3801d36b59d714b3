"""FedProx over T rounds: Theorem 6, Remark 8 and its sharper form; Remark 5: where Theorem 4's ρ is positive.

The decreases of all rounds add up to at most f(w⁰) − f_* ≤ Δ. Where the clients' gradients have a bounded variance, a
round decreases f by r‖∇f(w)‖² − e with rε − e = ρε, whether ‖∇f(w)‖² is at least ε or not.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, infimum, number, parameter, square, value, without_names
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.fedprox.one_round import ROUND, B, K, L, epsilon, gamma, here, mu, sigma2, slope
from fedconvex.proofs_checks.fedprox.one_round_sharper import convex_clients_decrease
from fedconvex.proofs_checks.kernel.proofs import (
    ZERO,
    Cases,
    Combine,
    Derivation,
    During,
    Earlier,
    Hypothesis,
    Infimum,
    Line,
    Nonnegative,
    Telescope,
    facts,
)
from fedconvex.proofs_checks.library import Parts, by, concluding, squared
from fedconvex.theory import fedprox
from fedconvex.theory.fedprox import vectors

rho, delta, T = map(parameter, ("rho", "delta", "T"))
VARIANCE = by(Hypothesis("variance"))


def accurate_after_all_rounds(
    claim: Claim, rho: Number, rate: Number, error: Number, one_round: Parts, lines: tuple[Line, ...] = ()
) -> Derivation:
    """From E f(w⁺) ≤ f(w) − rate·‖∇f(w)‖² + error in every round, where Δ ≤ ρεT and rate·ε − error = ρε."""
    rounds = Telescope(
        value(here) - infimum, rate * square(slope), error=error, facts=one_round.facts, squares=one_round.squares,
        name="all rounds",
    )  # fmt: skip
    share: Number = 1 / (rate * T)
    last = facts(
        (share, Earlier("all rounds")),
        (share, During("start", facts((1, Hypothesis("initial gap"))))),
        (share, During("end", facts((1, Infimum(here))))),
        (share, Nonnegative(rho * epsilon * T - delta)),
    )
    return Derivation((rounds, Combine(claim.left, claim.right, last)), of_round=lines)


@proof_of(fedprox.theorem6)
def gradients_are_small(claim: Claim) -> Derivation:
    """Theorem 4 in every round; its ρ is at least the given one."""
    *lines, last = ROUND.decrease(vectors.decrease(rho), ROUND.given_away).lines
    assert isinstance(last, Combine)
    of_theorem4 = without_names(vectors.theorem4(fedprox.rho.calculator.formula))
    parts = Parts(last.facts, last.squares) + (of_theorem4 - rho) * squared(slope)
    return accurate_after_all_rounds(claim, rho, rho, ZERO, parts, tuple(lines))


def of_bounded_variance(
    claim: Claim, weight: Number, B: Number, rho: Number, left_over: Parts, beyond: Any = 0
) -> Derivation:
    """Convex clients solved exactly; B² = 1 + σ²/ε + beyond.

    `left_over` shows that the round decreases f by more than ρ. σ² + ‖∇f(w)‖² bounds ‖g‖² where B²‖∇f(w)‖² did.
    """
    parts, often = convex_clients_decrease(1 / K, weight, B, VARIANCE)
    rate: Number = rho + often * sigma2 / epsilon
    return accurate_after_all_rounds(
        claim, rho, rate, often * sigma2, parts + left_over + beyond * (often * squared(slope))
    )


@proof_of(fedprox.remark8)
def rounds_as_of_sgd(claim: Claim) -> Derivation:
    """At μ = 6L(1 + σ²/ε), with 1 + σ²/ε in the place of B: there are no roots then."""
    B = 1 + sigma2 / epsilon
    weight = 6 * L * B
    kept = (2 * weight + L - L * B) / (2 * (weight + L))
    convex = kept / weight - L * (1 - 1 / K) * kept**2 / (2 * weight**2) - L * B**2 / (2 * K * weight**2)
    rho: Number = 1 / (24 * L * B)
    return of_bounded_variance(claim, weight, B, rho, (convex - rho) * squared(slope), B**2 - B)


@proof_of(fedprox.PAPER.find("remark8sharper"))
def fewer_rounds(claim: Claim) -> Derivation:
    """At μ = LB; B − 1 = (σ²/ε)/(B + 1) is not negative."""
    B = (1 + sigma2 / epsilon).sqrt()
    more = sigma2 / epsilon / (B + 1)
    slacks: tuple[Number, ...] = (1 / (8 * B) - 1 / (2 * K), more / (8 * B**2), 1 / (8 * K * B**2))
    left_over = sum((slack / L * squared(slope) for slack in slacks), start=Parts())
    return of_bounded_variance(claim, L * B, B, 1 / (4 * L * B), left_over)


@proof_of(fedprox.remark5)
def both_margins_are_needed(claim: Claim) -> Derivation:
    """The smaller margin is that with the larger of γB and B/√K. In the second case √2 − 1 = 1/(√2 + 1) remains."""
    root, share = number(2).sqrt(), B / K.sqrt()
    scaled: Number = mu * vectors.theorem4(fedprox.rho.calculator.formula)
    above = by(Nonnegative(1 - gamma * B - scaled))
    below = by(Nonnegative(1 - root * share - scaled)) + share * by(Nonnegative(1 / (root + 1)))
    return Derivation(cases=Cases(gamma * B, share, *(Derivation((concluding(claim, p),)) for p in (above, below))))


proved_by_sum(fedprox.PAPER.find("remark5sharper"))
