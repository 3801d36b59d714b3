"""Random federations against what `discover` has found."""

from fractions import Fraction as F

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import number
from fedconvex.proofs_checks import Discovered
from fedconvex.proofs_checks.falsification import falsify_claim


def is_never_broken(found: Discovered, tries: int) -> bool:
    """On random federations; a rate that is one percent smaller is broken by some."""
    assert found.proof is not None
    claim, setting = found.proof.claim, found.proof.setting
    smaller = at_most(claim.left, number(F(99, 100)) * claim.right)
    assert falsify_claim(smaller, setting) is not None
    return falsify_claim(claim, setting, tries=tries) is None
