"""Inner products of different vectors are different unknown numbers, whatever the vectors are called."""

import pytest

from fedconvex.claims.claim import ClaimSetting, equal
from fedconvex.claims.terms import free, inner
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation


@pytest.mark.parametrize(
    "names", [("a|free b", "c", "a", "b|free c"), ("a'), ('same", "c", "a", "b"), ("a", "b", "a", "c")]
)
def test_products_of_vectors_with_confusing_names_differ(names: tuple[str, str, str, str]) -> None:
    u, v, w, x = map(free, names)
    claim = equal(inner(u, v), inner(w, x))
    with pytest.raises(Refused, match="is left"):
        theorem(ClaimSetting(), claim, Derivation((Combine(claim.left, claim.right, relation="="),)))


def test_a_product_is_symmetric() -> None:
    claim = equal(inner(free("a"), free("b")), inner(free("b"), free("a")))
    assert theorem(ClaimSetting(), claim, Derivation((Combine(claim.left, claim.right, relation="="),))).claim == claim
