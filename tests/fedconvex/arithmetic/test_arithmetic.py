"""The four arithmetics do the same linear algebra; what they do is checked against Fractions by hand."""

import importlib.util
import math
import random
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problem_makers import ends, fraction, identity, inverse, rank, weighted
from rational_draws import rationals

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import (
    highest_end,
    largest_radius,
    lower_float,
    lowest_end,
    norm,
    square_root_upper,
    upper_float,
)
from fedconvex.arithmetic.rationals import float_array, float_at_least, nearest_float, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput

ALL = ["float", "exact", "ball", *(["torch"] if importlib.util.find_spec("torch") else [])]
ALLOWED = {"float": 1e-13, "torch": 1e-13, "exact": 0.0, "ball": 0.0}
objects = partial(np.array, dtype=object)
FEW = settings(max_examples=25, deadline=None)

entries = rationals(-1, 1, 30)


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[np.ndarray], list[np.ndarray], list[Fraction]]:
    """m well-conditioned (d, d) matrices, m vectors, m weights."""
    m, d = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    matrices = [[[draw(entries) + (d + 1) * (i == j) for j in range(d)] for i in range(d)] for _ in range(m)]
    vectors = [[draw(entries) for _ in range(d)] for _ in range(m)]
    return [*map(objects, matrices)], [*map(objects, vectors)], [draw(entries) for _ in range(m)]


def disagreement(name: str, computed: Any, expected: Any) -> float:
    """0 where exact or contained, else by how much it is off; arrays, matrices and batches of them alike."""
    if isinstance(computed, list):
        computed = objects([matrix.tolist() for matrix in computed])
    computed, expected = objects(computed.tolist()), objects(expected)
    assert computed.shape == expected.shape
    pairs = list(zip(computed.ravel(), expected.ravel(), strict=True))
    if name == "ball":
        with flint.ctx.workprec(4000):
            return 0.0 if all(c.contains(to_fmpq(e)) and c.rad() < 1e-25 for c, e in pairs) else math.inf
    return max(abs(float(to_fraction(c) - e)) for c, e in pairs)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ALL)
@given(batch=batches())
@FEW
def test_linear_algebra_against_fractions(name: str, batch: Any) -> None:
    A, v, s = batch
    numbers = arithmetics.get(name)
    with numbers.context():
        M = [numbers.matrix(matrix) for matrix in A]
        stack, V, weights = numbers.stack(M), numbers.array(objects(v)), numbers.array(objects(s))
        pairs = [
            (numbers.product(M[0], M[-1]), A[0] @ A[-1]),
            (numbers.products(stack, stack), [a @ a for a in A]),
            (numbers.transpose(M[0]), A[0].T),
            (numbers.identity(2), [[1, 0], [0, 1]]),
            (numbers.inverse(M[0]), inverse(A[0])),
            (numbers.inverses(stack), [inverse(a) for a in A]),
            (numbers.solve(M[0], V[0]), inverse(A[0]) @ v[0]),
            (numbers.apply(M[0], V[0]), A[0] @ v[0]),
            (numbers.matvec(stack, V), [a @ x for a, x in zip(A, v, strict=True)]),
            (numbers.weighted_sum(weights, stack), weighted(s, A)),
            (numbers.shifted(stack, s[0])[:1], [A[0] + s[0] * identity(len(v[0]))]),
            (numbers.scaled(stack, s[0])[-1:], [A[-1] * s[0]]),
            (numbers.average(weights, V), weighted(s, v)),
            (numbers.repeat(V[0], 3), [v[0]] * 3),
        ]
    for computed, expected in pairs:
        assert disagreement(name, computed, expected) <= ALLOWED[name]
    assert np.array_equal(numbers.to_float(V), float_array(objects(v)))


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_entry_is_noticed(name: str) -> None:
    numbers = arithmetics.get(name)
    with numbers.context():
        third = numbers.array(objects([Fraction(1, 3)]))
    assert disagreement(name, third, [Fraction(1, 3)]) <= ALLOWED[name]
    assert disagreement(name, third, [Fraction(1, 3) + Fraction(1, 10**12)]) > ALLOWED[name]
    assert arithmetics.of(third).name == name


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("singular", [[[0]], [[1, 2], [2, 4]], [[0, 0], [0, 1]]])
def test_singular_matrices_raise(name: str, singular: Any) -> None:
    numbers = arithmetics.get(name)
    with numbers.context():
        matrix = numbers.matrix(np.array(singular))
        right = numbers.array(np.ones(len(singular)))
        with pytest.raises(ZeroDivisionError):
            numbers.inverse(matrix)
        with pytest.raises(ZeroDivisionError):
            numbers.solve(matrix, right)
        numbers.solve(matrix + 7 * numbers.identity(len(singular)), right)  # a regular one does not


@given(flat=st.lists(st.integers(-2, 2), min_size=9, max_size=9))
@FEW
def test_exact_inverse_exists_exactly_where_it_does(flat: list[int]) -> None:
    numbers, A = arithmetics.get("exact"), np.array(flat).reshape(3, 3)
    if rank(A) < 3:
        with pytest.raises(ZeroDivisionError):
            numbers.inverse(numbers.matrix(A))
    else:
        assert disagreement("exact", numbers.inverse(numbers.matrix(A)), inverse(A)) == 0


@pytest.mark.parametrize("entry", [Fraction(-7, 3), Fraction(1, 10**30), Fraction(5)])
def test_a_single_number_is_inverted_exactly(entry: Fraction) -> None:
    numbers = arithmetics.get("exact")
    matrix = numbers.matrix(objects([[entry]]))
    assert disagreement("exact", numbers.inverse(matrix), [[1 / entry]]) == 0
    assert disagreement("exact", numbers.inverse(matrix), [[1 / entry + Fraction(1, 10**40)]]) > 0


@pytest.mark.parametrize("number", [0, 1, -1, 7, -(10**40)])
def test_integers_become_fractions_in_lowest_terms(number: int) -> None:
    for value in (flint.fmpq(number), flint.fmpq(number, 6), flint.fmpq(6 * number, 6)):
        found = to_fraction(value)
        assert type(found) is Fraction
        assert (found.numerator, found.denominator) == (int(value.p), int(value.q))
        assert found.denominator > 0


def test_a_float_is_the_dyadic_rational_that_it_is() -> None:
    tenth, dyadic = 0.1, Fraction(3602879701896397, 2**55)
    assert to_fraction(tenth) == dyadic != Fraction(1, 10)
    exact, balls = arithmetics.get("exact"), arithmetics.get("ball")
    for entry in (exact.array([tenth])[0], exact.matrix([[tenth]])[0, 0], to_fmpq(tenth)):
        assert to_fraction(entry) == dyadic
    with balls.context():
        for ball in (balls.array([tenth])[0], balls.matrix([[tenth]])[0, 0]):
            assert ball.rad() == 0
            assert ball.contains(to_fmpq(dyadic))
            assert not ball.contains(flint.fmpq(1, 10))
    assert to_fraction(np.float32(0.1)) == Fraction(13421773, 2**27)


def test_users_get_fractions() -> None:
    exact = arithmetics.get("exact")
    values = exact.publish(exact.array(objects([[1, Fraction(1, 3)], [0.5, np.int64(4)]])))
    assert values.tolist() == [[1, Fraction(1, 3)], [Fraction(1, 2), 4]]
    assert {type(v) for v in [*values.ravel(), exact.publish_scalar(flint.fmpq(1, 3))]} == {Fraction}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.zeros(2), "float"), ([1, 2], "float"), ([[1.5], [2]], "float"), (np.arange(3), "float"),
        ([Fraction(1, 2), 1], "exact"), (objects([flint.fmpq(1), 2]), "exact"), ([[flint.fmpz(1)]], "exact"),
        (objects([flint.arb(1), Fraction(1)]), "ball"), ([[flint.arb(1)], [2.0]], "ball"),
    ],
)  # fmt: skip
def test_the_arithmetic_of_an_array(values: Any, name: str) -> None:
    assert arithmetics.of(values).name == name


def test_getting_an_arithmetic() -> None:
    balls = arithmetics.get("ball", precision=300)
    assert arithmetics.get(balls) is balls
    with balls.context():
        assert flint.ctx.prec == 300
        assert arithmetics.of([flint.arb(1)]).precision == 300  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match=r"arithmetic = rational: .* give one of float, exact, ball, torch"):
        arithmetics.get("rational")


NO_NUMBERS = [math.nan, math.inf, -math.inf, np.float32("nan"), np.longdouble("inf"), True, np.bool_(0), "1", None, 1j]
NO_NUMBERS += [[1], Decimal("1"), flint.arb(1), np.zeros(2), b"1"]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("convert", [to_fraction, to_fmpq])
def test_what_is_no_rational_number_is_refused(convert: Any, value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"mu = .*; give "):
        convert(value, "mu")


THREES = [3, np.int8(3), np.uint64(3), 3.0, np.float32(3), Fraction(3), flint.fmpz(3), flint.fmpq(3), np.array(3)]


@pytest.mark.parametrize("value", THREES, ids=repr)
def test_what_is_a_rational_number_is_taken(value: Any) -> None:
    assert (to_fraction(value), to_fmpq(value)) == (3, flint.fmpq(3))
    assert type(to_fraction(value)) is Fraction


@given(value=entries.filter(bool), scale=st.integers(-400, 400), bits=st.integers(2, 200), spread=st.integers(-60, 3))
@settings(max_examples=200, deadline=None)
def test_float_bounds_are_never_on_the_wrong_side(value: Fraction, scale: int, bits: int, spread: int) -> None:
    true = value * Fraction(10) ** scale
    with flint.ctx.workprec(bits):
        ball = flint.arb(to_fmpq(true)) + flint.arb(0, 1) * flint.arb(to_fmpq(true * Fraction(2) ** spread))
        low, high = lower_float(ball), upper_float(ball)
        lowest, highest = ends(ball)
    assert high == math.inf or Fraction(high) >= highest
    assert low == -math.inf or Fraction(low) <= lowest
    size = max(abs(lowest), abs(highest))
    if size < 2 * Fraction(10) ** 300:  # and not far from it
        slack = 8 * size / 2 ** min(bits, 50) + Fraction(1, 2**1000)
        assert Fraction(high) - highest <= slack
        assert lowest - Fraction(low) <= slack


def test_rounding_to_nearest_would_be_on_the_wrong_side() -> None:
    assert nearest_float(Fraction(2**54 + 3, 2**54)) == 1 + 2**-52
    assert nearest_float(-(Fraction(10) ** 400)) == -math.inf
    third, tenth = Fraction(1, 3), Fraction(1, 10)
    assert Fraction(nearest_float(third)) < third <= Fraction(upper_float(flint.arb(to_fmpq(third))))
    assert Fraction(nearest_float(tenth)) > tenth >= Fraction(lower_float(flint.arb(to_fmpq(tenth))))
    for endless in (flint.arb("inf"), flint.arb("nan"), flint.arb(0, "inf")):
        assert (lower_float(endless), upper_float(endless)) == (-math.inf, math.inf)


@given(vector=st.lists(entries, min_size=1, max_size=4))
@FEW
def test_norms_and_roots_contain_the_true_ones(vector: list[Fraction]) -> None:
    ball = norm([flint.arb(to_fmpq(v)) for v in vector])
    low, high = ends(ball)
    assert max(low, 0) ** 2 <= sum(v * v for v in vector) <= high**2
    assert high - low <= Fraction(2, 10**10)
    root = square_root_upper(flint.arb(0, 4))  # what reaches below 0 is ignored
    assert [root.contains(value) for value in (0, 2, 3)] == [True, True, False]
    assert square_root_upper(flint.arb(-1)) == 0
    assert square_root_upper(flint.arb(4)) == 2


ENDLESS = [flint.arb("nan"), flint.arb("inf"), flint.arb(0, "inf"), flint.arb(1) / flint.arb(0, 1)]


@pytest.mark.parametrize("endless", ENDLESS, ids=str)
def test_what_is_not_finite_has_no_finite_length(endless: Any) -> None:
    """Comparisons with NaN are all False: whoever reads a False one as the opposite gets 0 here."""
    for root in (square_root_upper(endless), norm([endless]), norm([flint.arb(3), endless, flint.arb(4)])):
        assert not root.is_finite()
        assert root.contains(0)
        assert root.contains(10**30)
    for others in ([endless], [flint.arb(1), endless], [endless, flint.arb(1)]):
        assert largest_radius(others) == math.inf
        assert highest_end(others) == flint.arb("inf")
        assert lowest_end(others) == flint.arb("-inf")


@given(middles=st.lists(st.integers(-9, 9), min_size=1, max_size=4), radius=st.integers(0, 5))
@FEW
def test_the_highest_and_the_lowest_end(middles: list[int], radius: int) -> None:
    balls = [flint.arb(middle, radius * (i % 2)) for i, middle in enumerate(middles)]
    highest, lowest = fraction(highest_end(balls)), fraction(lowest_end(balls))
    assert 0 <= highest - max(m + radius * (i % 2) for i, m in enumerate(middles)) < Fraction(1, 10**6)
    assert 0 <= min(m - radius * (i % 2) for i, m in enumerate(middles)) - lowest < Fraction(1, 10**6)


@given(st.fractions() | st.builds(lambda q, e: q * Fraction(10) ** e, st.fractions(), st.integers(-340, 320)))
@example(Fraction(1, 10**400))
@example(Fraction(-1, 10**400))
@example(Fraction(10**400))
@example(Fraction(-(10**400)))
def test_float_at_least_is_the_least_float_that_is_not_below(number):
    bound = float_at_least(number)
    assert math.nextafter(bound, -math.inf) < number <= bound


def test_nearest_float_is_no_upper_bound():
    assert nearest_float(Fraction(3, 10)) < Fraction(3, 10) < float_at_least(Fraction(3, 10))
    assert nearest_float(Fraction(1, 10**400)) == 0 < float_at_least(Fraction(1, 10**400))


def units_of_floats(bits: int) -> list[Fraction]:
    """Numbers at, between and beyond the floats of all sizes: subnormal, normal, and larger than the largest."""
    draws = random.Random(bits)
    exponents = [-1080, -1075, -1074, -1073, -1050, -1023, -1022, -1021, -1, 0, 52, 970, 1023]
    return [
        Fraction(draws.getrandbits(bits) | 1) * Fraction(2) ** (e - cut) for e in exponents for cut in (0, bits // 2)
    ]


@pytest.mark.parametrize("bits", [1, 2, 5, 52, 53, 54, 80, 200])
def test_bounds_are_rounded_to_the_safe_side_among_the_smallest_floats_too(bits: int) -> None:
    for size in units_of_floats(bits):
        for exact in (size, -size):
            ball = flint.arb(to_fmpq(exact))
            high, low = upper_float(ball), lower_float(ball)
            assert high == math.inf or Fraction(high) >= exact
            assert low == -math.inf or Fraction(low) <= exact
            bound = float_at_least(exact)
            assert bound == math.inf or Fraction(bound) >= exact


def test_rounding_subnormal_numbers_to_nearest_would_not_be_safe() -> None:
    least = Fraction(5e-324)
    assert Fraction(nearest_float(least * Fraction(5, 4))) < least * Fraction(5, 4)
    assert nearest_float(least / 3) == 0
    assert upper_float(flint.arb(to_fmpq(least / 3))) == float_at_least(least / 3) == 5e-324
