"""FedSplit: Theorem 1, which is (16), and its form for any stepsize, from the inequality of one round."""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import minimiser, norm, parameter, solutions
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.fedsplit.one_round import (
    INVARIANTS,
    L,
    b,
    factor,
    kappa,
    matched,
    mu,
    nearer_lines,
    one_round,
    round_lines,
    s,
)
from fedconvex.proofs_checks.kernel.proofs import Between, Cases, Derivation, During, Iterate, Nonnegative
from fedconvex.proofs_checks.library import Parts, by, cited, concluding
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import away

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
