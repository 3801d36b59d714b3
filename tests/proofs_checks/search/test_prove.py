"""The search for proofs: the kernel accepts what it finds, false claims have none, the same proof comes every time."""

import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import free, gradient, inner, mean, minimiser, number, parameter, square, value
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.search import prove, proved
from fedconvex.symbols import IllFormed
from fedconvex.theory import statement

pytestmark = pytest.mark.beyond_core

L, mu = parameter("L"), parameter("mu")
x, y = free("x"), free("y")
slope = gradient(x)
change = gradient(y) - slope
step = x - mean(slope) / L
SMOOTH = ClaimSetting(signs={"L": "positive"}, curvature=(-L, L), example={"L": Fraction(1)})
CONVEX = replace(SMOOTH, curvature=(number(0), L))
STRONGLY_CONVEX = ClaimSetting(
    signs={"L": "positive", "mu": "positive"}, conditions=((L, ">=", mu),), objective=(mu, L), minimiser=True,
    example={"L": Fraction(2), "mu": Fraction(1)},
)  # fmt: skip

# A user's lemmas: the setting, the left side, the right side.
LEMMAS = {
    "descent": (SMOOTH, square(slope) / (2 * L), value(x) - value(x - slope / L)),
    "cocoercivity": (CONVEX, square(change) / L, inner(change, y - x)),
    "contraction": (STRONGLY_CONVEX, square(step - minimiser), (1 - mu / L) * square(x - minimiser)),
    "sharp contraction": (STRONGLY_CONVEX, square(step - minimiser), (1 - mu / L) ** 2 * square(x - minimiser)),
    "gradient dominance": (STRONGLY_CONVEX, 2 * mu * (value(x) - value(minimiser)), square(mean(slope))),
    "gap": (STRONGLY_CONVEX, value(step) - value(minimiser), (1 - mu / L) * (value(x) - value(minimiser))),
}  # fmt: skip
# Not false with a seventh less: the bound is not the best one.
LOOSE = ("contraction", "gap")
QUICK = ("feddyn.lemma2", "feddyn.lemma3", "feddyn.lemma7", "feddyn.lemma16", "feddyn.equation5", "fedprox.equation3",
         "fedprox.theorem4convexeveryone", "dane.oneround", "fedsplit.proposition1")  # fmt: skip
SLOWER = ("feddyn.lemma1", "feddyn.lemma4", "feddyn.lemma5", "feddyn.equation10", "feddyn.equation12",
          "feddyn.equation14", "feddyn.lemma19sharper", "fedprox.corollary7", "fedprox.equation6")  # fmt: skip


def test_the_kernel_accepts_what_is_found_for_a_users_lemma() -> None:
    for name, (setting, left, right) in LEMMAS.items():
        claim = at_most(left, right)
        proof = proved(setting, claim)
        assert proof is not None, name
        assert theorem(setting, claim, proof).claim == claim


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [name for name in LEMMAS if name not in LOOSE])
def test_false_variants_have_no_proof(name: str) -> None:
    setting, left, right = LEMMAS[name]
    assert proved(setting, at_most(left, right * Fraction(6, 7))) is None
    assert proved(setting, at_most(left * Fraction(8, 7), right)) is None


@pytest.mark.slow
def test_a_class_that_is_too_large_has_no_proof() -> None:
    """Cocoercivity needs convexity, and the descent lemma smoothness."""
    _, left, right = LEMMAS["cocoercivity"]
    assert proved(SMOOTH, at_most(left, right)) is None
    _, left, right = LEMMAS["descent"]
    assert proved(replace(SMOOTH, curvature=(-L, 2 * L)), at_most(left, right)) is None


def test_what_a_search_writes_wrongly_is_no_missing_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[proved.__module__], "number_of", lambda of: parameter("σ′"))
    with pytest.raises(IllFormed, match="σ′: is no name"):
        prove(statement("feddyn.lemma7"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("identifier", QUICK)
def test_statements_of_the_catalogue(identifier: str) -> None:
    _check(identifier)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", SLOWER)
def test_longer_searches(identifier: str) -> None:
    _check(identifier)


def _check(identifier: str) -> None:
    """The kernel accepts the proof in its own right, without any other statement."""
    found = statement(identifier)
    proof = prove(found)
    assert isinstance(proof, Derivation)
    assert isinstance(found.claim, Claim)
    assert theorem(found.setting, found.claim, proof).setting == found.setting


@pytest.mark.slow
def test_changed_statements_have_no_proof() -> None:
    found = statement("feddyn.lemma3")
    assert found.claim is not None
    assert proved(found.setting, replace(found.claim, right=found.claim.right * Fraction(6, 7))) is None
    found = statement("dane.oneround")
    assert found.claim is not None
    assert proved(found.setting, replace(found.claim, left=found.claim.left + Fraction(1, 7))) is None


@pytest.mark.slow
def test_the_same_proof_comes_every_time() -> None:
    for identifier in ("feddyn.lemma7", "dane.oneround"):
        assert prove(statement(identifier)) == prove(statement(identifier))


def test_what_is_not_searched() -> None:
    """Claims about whole runs, settings without an example, and claims that mean nothing in the setting."""
    assert prove(statement("feddyn.theorem2")) is None
    _, left, right = LEMMAS["descent"]
    assert proved(replace(SMOOTH, example={}), at_most(left, right)) is None
    assert proved(SMOOTH, at_most(value(minimiser), value(x))) is None
