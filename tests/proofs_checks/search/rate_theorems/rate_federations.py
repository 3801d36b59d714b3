"""What `discover` has found against random federations, and as a file."""

from fractions import Fraction as F

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import number
from fedconvex.proofs_checks import Discovered
from fedconvex.proofs_checks.export.json_proofs import from_json, to_json
from fedconvex.proofs_checks.falsification import falsify_claim
from fedconvex.proofs_checks.kernel import theorem


def is_never_broken(found: Discovered, tries: int) -> bool:
    """On random federations; a rate that is one percent smaller is broken by some."""
    assert found.proof is not None
    claim, setting = found.proof.claim, found.proof.setting
    smaller = at_most(claim.left, number(F(99, 100)) * claim.right)
    assert falsify_claim(smaller, setting) is not None
    return falsify_claim(claim, setting, tries=tries) is None


def is_replayed_from_a_file(found: Discovered) -> bool:
    assert found.proof is not None
    setting, claim, proof = found.proof.setting, found.proof.claim, found.proof.proof
    assert proof is not None
    return theorem(*from_json(to_json(setting, claim, proof))).claim == claim
