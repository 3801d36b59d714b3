"""FedProx, Remark 5, and its sharper form: for which parameters Theorem 4's ρ is positive."""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, number
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.fedprox.one_round import B, K, gamma, mu
from fedconvex.proofs_checks.kernel.proofs import Cases, Derivation, Nonnegative
from fedconvex.proofs_checks.library import by, concluding
from fedconvex.theory import fedprox
from fedconvex.theory.fedprox import vectors


@proof_of(fedprox.remark5)
def both_margins_are_needed(claim: Claim) -> Derivation:
    """The smaller margin is that with the larger of γB and B/√K. In the second case √2 − 1 = 1/(√2 + 1) remains."""
    root, share = number(2).sqrt(), B / K.sqrt()
    scaled: Number = mu * vectors.theorem4(fedprox.rho.calculator.formula)
    above = by(Nonnegative(1 - gamma * B - scaled))
    below = by(Nonnegative(1 - root * share - scaled)) + share * by(Nonnegative(1 / (root + 1)))
    return Derivation(cases=Cases(gamma * B, share, *(Derivation((concluding(claim, p),)) for p in (above, below))))


proved_by_sum(fedprox.PAPER.find("remark5sharper"))
