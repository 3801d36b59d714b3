"""Inner products of different vectors are different unknown numbers, whatever the vectors are called."""

import pytest

from fedconvex.claims.claim import ClaimSetting, equal
from fedconvex.claims.terms import free, inner
from fedconvex.proofs_checks.kernel import theorem

from .attacks import called, one_line, refused


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("a|free b", "c", "a", "b|free c"), "is no name"),
        (("a'), ('same", "c", "a", "b"), "is no name"),
        (("a_free_b", "c", "a", "free_b_c"), "is left"),
        (("a", "b", "a", "c"), "is left"),
    ],
)
def test_products_of_vectors_with_confusing_names_differ(names: tuple[str, str, str, str], reason: str) -> None:
    u, v, w, x = (called(free("x"), name) for name in names)
    claim = equal(inner(u, v), inner(w, x))
    refused(ClaimSetting(), claim, one_line(claim), reason)


def test_a_product_is_symmetric() -> None:
    claim = equal(inner(free("a"), free("b")), inner(free("b"), free("a")))
    assert theorem(ClaimSetting(), claim, one_line(claim)).claim == claim
