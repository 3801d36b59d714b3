"""No bound is violated near the instances where it is tightest, and the search finds the known ones."""

from fractions import Fraction
from random import Random

import pytest
from instance_search import counterexample, search, shrunk

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import papers_with_proofs
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.tightness import Tightness, neighbours, perturbed
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.statement import ClaimType
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core  # takes seconds

for paper in papers_with_proofs():
    load(paper)
STATEMENTS = [statement for name in papers_with_proofs() for statement in papers()[name].everything]
MEASURED = {s.identifier: found for s in STATEMENTS if (found := remarks_of(s).tightness) is not None}
SMALL = 1e-9  # of balls and floats


def test_nearly_every_bound_is_measured() -> None:
    bounds = [s for s in STATEMENTS if s.claim_type in (ClaimType.UPPER, ClaimType.TIGHT)]
    unmeasured = {s.identifier for s in bounds if s.identifier not in MEASURED and remarks_of(s).refutation is None}
    assert len(MEASURED) > 60
    assert len(unmeasured) <= len(bounds) / 5, unmeasured


@pytest.mark.parametrize("tightness", MEASURED.values(), ids=MEASURED)
def test_a_quotient_is_at_most_1_and_near_1_where_it_is_said_to_be_attained(tightness: Tightness) -> None:
    quotient = float(tightness.quotient)
    assert 0 < quotient <= 1
    assert not tightness.attained or quotient > 0.88
    assert tightness.how


@pytest.mark.parametrize("name", ["equation3", "equation5", "equation6", "equation7", "equation9", "equation11",
                                  "equation12", "corollary10", "theorem4convexeveryone"])  # fmt: skip
def test_these_bounds_are_equations_for_some_clients(name: str) -> None:
    assert MEASURED[f"fedprox.{name}"].quotient == 1


@pytest.mark.sample(6)
@pytest.mark.parametrize("tightness", MEASURED.values(), ids=MEASURED)
def test_no_instance_near_the_worst_one_breaks_the_bound(tightness: Tightness) -> None:
    random, admitted = Random(7), 0
    for _ in range(25):
        try:
            found = tightness.measure(perturbed(random, tightness.instance))
        except Exception:  # a neighbour may be no instance at all
            continue
        if found is not None:
            admitted += 1
            happens, promised = map(float, found)
            assert happens <= promised * (1 + SMALL) + SMALL
    assert admitted > 0 or not isinstance(tightness.instance, tuple)


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
    assert any(happens > promised for promised, happens in neighbours(broken, 20))


def test_an_instance_that_is_not_admissible_is_no_measurement() -> None:
    with pytest.raises(InvalidInput, match="not admissible"):
        _ = Tightness(square, (-1, 1)).quotient
