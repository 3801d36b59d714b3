"""FedDyn: equations (2) to (6), (8), (9) and (11), and Lemmas 2 and 6."""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import family, mean, memory, minimiser, parameter
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Lower, Upper
from fedconvex.proofs_checks.library import by, concluding, interpolation, jensen
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.vectors import x, y, z

L, n = parameter("L"), parameter("count")
INVARIANTS = (("shared h", mean(memory("gradient", 0))),)


@proof_of(feddyn.equation2)
@proof_of(feddyn.equation8)
@proof_of(feddyn.equation9)
@proof_of(feddyn.lemma2)
def vectors_agree(claim: Claim) -> Derivation:
    """The rounds' own algebra: both sides are the same vector."""
    return Derivation((Combine(claim.left, claim.right, relation="="),), INVARIANTS)


@proof_of(feddyn.equation3)
def gradient_vanishes(claim: Claim) -> Derivation:
    return Derivation((Combine(claim.left, claim.right, relation="="),))


@proof_of(feddyn.equation4)
def below_the_quadratic(claim: Claim) -> Derivation:
    return Derivation((concluding(claim, by(Upper(y, x))),))


@proof_of(feddyn.equation5)
def gradients_differ_little(claim: Claim) -> Derivation:
    return Derivation((concluding(claim, interpolation(x, minimiser, 0, L)),))


@proof_of(feddyn.equation6)
@proof_of(feddyn.equation11)
def through_three_points(claim: Claim) -> Derivation:
    """(Strong) convexity between x and y, smoothness between x and z."""
    return Derivation((concluding(claim, by(Lower(y, x)) + by(Upper(z, x))),))


@proof_of(feddyn.lemma6)
def sum_is_small(claim: Claim) -> Derivation:
    return Derivation((concluding(claim, n**2 * jensen(family("v"))),))
