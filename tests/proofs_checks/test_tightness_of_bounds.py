"""No bound is violated near the instances where it is tightest, and the search finds the known ones."""

from fractions import Fraction
from random import Random

import pytest

from fedconvex.proofs_checks import papers_with_proofs
from fedconvex.proofs_checks.tightness import Tightness, counterexample, neighbours, perturbed, search, shrunk
from fedconvex.proofs_checks.verification import proof_of
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core  # takes seconds

MEASURED = [
    statement
    for name in papers_with_proofs()
    for statement in papers()[name].everything
    if (proof := proof_of(statement)) is not None and proof.tightness is not None
]
SMALL = 1e-9  # of balls and floats


@pytest.mark.parametrize("statement", MEASURED, ids=lambda s: s.identifier)
def test_no_instance_near_the_worst_one_breaks_the_bound(statement: Statement) -> None:
    proof = proof_of(statement)
    assert proof is not None
    assert proof.tightness is not None
    assert 0 < float(proof.tightness.quotient) <= 1
    random, admitted = Random(7), 0
    for _ in range(25):
        try:
            found = proof.tightness.measure(perturbed(random, proof.tightness.instance))
        except Exception:  # a neighbour may be no instance at all
            continue
        if found is not None:
            admitted += 1
            happens, promised = map(float, found)
            assert happens <= promised * (1 + SMALL) + SMALL
    assert admitted > 0 or not isinstance(proof.tightness.instance, tuple)


def square(instance: tuple[int, int]) -> tuple[Fraction, Fraction] | None:
    """xy against (x² + y²)/2: used most for x = y."""
    x, y = map(Fraction, instance)
    return (x * y, (x * x + y * y) / 2) if min(x, y) > 0 else None


def test_the_search_finds_what_is_there() -> None:
    def draw(random: Random) -> tuple[int, int]:
        return random.randint(1, 50), random.randint(1, 50)

    instance, quotient = search(square, draw, perturbed, starts=20, steps=400)
    assert quotient == 1
    assert instance[0] == instance[1]
    assert search(square, draw, perturbed, starts=20, steps=400) == (instance, quotient)


def too_small(instance: tuple[int, int]) -> tuple[Fraction, Fraction] | None:
    """(x + y)² against x² + y², which is wrong as soon as xy > 0."""
    x, y = map(Fraction, instance)
    return (x + y) ** 2, x * x + y * y


def test_a_counterexample_is_made_simple() -> None:
    def draw(random: Random) -> tuple[Fraction, int]:
        return Fraction(random.randint(-99, 99), 7), random.randint(-99, 99)

    assert counterexample(too_small, draw, perturbed, starts=20, steps=50) in ((1, 1), (-1, -1))
    assert counterexample(square, draw, perturbed, starts=20, steps=50) is None


def test_shrinking_keeps_what_is_asked() -> None:
    assert shrunk(lambda n: n >= 13, 100) == 13
    assert shrunk(lambda pair: sum(pair) > 2, (Fraction(17, 3), Fraction(-5, 7))) == (3, 0)


def test_a_bound_that_is_broken_would_be_noticed() -> None:
    broken = Tightness(lambda x: (Fraction(x[0]), Fraction(10)), (20,))
    assert broken.quotient > 1
    assert any(happens > promised for promised, happens in neighbours(broken, 0.05))


def test_an_instance_that_is_not_admissible_is_no_measurement() -> None:
    with pytest.raises(AssertionError, match="not admissible"):
        _ = Tightness(square, (-1, 1)).quotient
