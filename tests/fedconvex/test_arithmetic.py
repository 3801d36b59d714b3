"""The four arithmetics do the same linear algebra; what they do is checked against Fractions by hand."""

import importlib.util
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedconvex import arithmetic as arithmetics
from fedconvex.balls import lower_float, norm, square_root_upper, upper_float
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.rationals import float_array, nearest_float, to_fmpq, to_fraction

TORCH = pytest.param(
    "torch", marks=pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
)
ALL = ["float", "exact", "ball", TORCH]
Rows = list[list[Fraction]]
FEW = settings(max_examples=25, deadline=None)

entries = st.fractions(min_value=-1, max_value=1, max_denominator=30)
signed = st.sampled_from([-1, 1])


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[Rows], Rows, list[Fraction]]:
    """m well-conditioned (d, d) matrices, m vectors, m weights."""
    m, d = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    matrices = [[[draw(entries) + (d + 1) * (i == j) for j in range(d)] for i in range(d)] for _ in range(m)]
    return matrices, [[draw(entries) for _ in range(d)] for _ in range(m)], [draw(entries) for _ in range(m)]


def product(A: Rows, B: Rows) -> Rows:
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*B, strict=True)]
        for row in A
    ]


def times(A: Rows, x: list[Fraction]) -> list[Fraction]:
    return [row[0] for row in product(A, [[v] for v in x])]


def identity(d: int) -> Rows:
    return [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]


def inverse(A: Rows) -> Rows | None:
    """Gauss and Jordan; None where A is singular."""
    d = len(A)
    rows = [[*row, *unit] for row, unit in zip(A, identity(d), strict=True)]
    for j in range(d):
        pivot = next((i for i in range(j, d) if rows[i][j]), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in set(range(d)) - {j}:
            rows[i] = [v - rows[i][j] * w for v, w in zip(rows[i], rows[j], strict=True)]
    return [row[d:] for row in rows]


def objects(values: Any) -> np.ndarray:
    return np.array(values, dtype=object)


def disagreement(name: str, computed: Any, expected: Any) -> float:
    """0 where exact or contained, else by how much it is off; matrices and arrays alike."""
    if hasattr(computed, "tolist") and not isinstance(computed, np.ndarray):
        computed = objects(computed.tolist())
    elif isinstance(computed, list):  # a batch of flint matrices
        computed = objects([matrix.tolist() for matrix in computed])
    expected = objects(expected)
    assert computed.shape == expected.shape
    pairs = list(zip(computed.ravel().tolist(), expected.ravel().tolist(), strict=True))
    if name == "ball":
        with flint.ctx.workprec(4000):
            contained = all(c.contains(to_fmpq(e)) and c.rad() < 1e-25 for c, e in pairs)
        return 0.0 if contained else math.inf
    if name == "exact":
        return float(max(abs(to_fraction(c) - e) for c, e in pairs))
    return max(abs(float(Fraction(c) - e)) for c, e in pairs)


def tolerance(name: str) -> float:
    return 1e-13 if name in ("float", "torch") else 0.0


@pytest.mark.parametrize("name", ALL)
@given(batch=batches())
@FEW
def test_linear_algebra_against_fractions(name: str, batch: Any) -> None:
    matrices, vectors, weights = batch
    numbers = arithmetics.get(name)
    inverses = [inverse(A) for A in matrices]
    with numbers.context():
        M = [numbers.matrix(objects(A)) for A in matrices]
        stack, V, w = numbers.stack(M), numbers.array(objects(vectors)), numbers.array(objects(weights))
        d = numbers.size(M[0])
        shifted = [
            [[a + s * (i == j) for j, a in enumerate(r)] for i, r in enumerate(A)]
            for A, s in zip(matrices, weights, strict=True)
        ]
        weighted = [
            [sum(s * A[i][j] for s, A in zip(weights, matrices, strict=True)) for j in range(d)] for i in range(d)
        ]
        mean = [sum(s * v[j] for s, v in zip(weights, vectors, strict=True)) for j in range(d)]
        pairs = [
            (numbers.product(M[0], M[-1]), product(matrices[0], matrices[-1])),
            (numbers.products(stack, stack), [product(A, A) for A in matrices]),
            (numbers.transpose(M[0]), [list(column) for column in zip(*matrices[0], strict=True)]),
            (numbers.identity(d), identity(d)),
            (numbers.inverse(M[0]), inverses[0]),
            (numbers.inverses(stack), inverses),
            (numbers.solve(M[0], V[0]), times(inverses[0] or [], vectors[0])),
            (numbers.apply(M[0], V[0]), times(matrices[0], vectors[0])),
            (numbers.matvec(stack, V), [times(A, v) for A, v in zip(matrices, vectors, strict=True)]),
            (numbers.weighted_sum(w, stack), weighted),
            (numbers.add_to_diagonal(stack, w), shifted),
            (numbers.average(w, V), mean),
            (numbers.repeat(V[0], 3), [vectors[0]] * 3),
        ]
    for computed, expected in pairs:
        assert disagreement(name, computed, expected) <= tolerance(name)
    assert np.array_equal(numbers.to_float(V), float_array(objects(vectors)))


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_entry_is_noticed(name: str) -> None:
    numbers = arithmetics.get(name)
    with numbers.context():
        third = numbers.array(objects([Fraction(1, 3)]))
    assert disagreement(name, third, [Fraction(1, 3)]) <= tolerance(name)
    assert disagreement(name, third, [Fraction(1, 3) + Fraction(1, 10**12)]) > tolerance(name)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("singular", [[[0]], [[1, 2], [2, 4]], [[0, 0], [0, 1]]])
def test_singular_matrices_raise(name: str, singular: Any) -> None:
    numbers = arithmetics.get(name)
    with numbers.context():
        matrix = numbers.matrix(np.array(singular))
        right = numbers.array(np.ones(len(singular)))
        for call in (lambda: numbers.inverse(matrix), lambda: numbers.solve(matrix, right)):
            with pytest.raises(ZeroDivisionError):
                call()
        regular = numbers.matrix(np.array(singular) + np.eye(len(singular), dtype=int) * 7)
        numbers.solve(regular, right)  # and a regular one does not


@given(
    A=st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(st.integers(-2, 2), min_size=d, max_size=d), min_size=d, max_size=d)
    )
)
@FEW
def test_exact_inverse_exists_exactly_where_it_does(A: list[list[int]]) -> None:
    numbers = arithmetics.get("exact")
    expected = inverse([[Fraction(v) for v in row] for row in A])
    if expected is None:
        with pytest.raises(ZeroDivisionError):
            numbers.inverse(numbers.matrix(np.array(A)))
    else:
        assert disagreement("exact", numbers.inverse(numbers.matrix(np.array(A))), expected) == 0


@pytest.mark.parametrize("tenth", [0.1, np.float64(0.1)])
def test_a_float_is_the_dyadic_rational_that_it_is(tenth: float) -> None:
    dyadic = Fraction(3602879701896397, 2**55)
    assert to_fraction(tenth) == dyadic != Fraction(1, 10)
    exact, balls = arithmetics.get("exact"), arithmetics.get("ball")
    for matrix_or_array in (exact.array(np.array([tenth]))[0], exact.matrix(np.array([[tenth]]))[0, 0], to_fmpq(tenth)):
        assert to_fraction(matrix_or_array) == dyadic
    with balls.context():
        for ball in (balls.array(np.array([tenth]))[0], balls.matrix(np.array([[tenth]]))[0, 0]):
            assert ball.rad() == 0
            assert ball.contains(to_fmpq(dyadic))
            assert not ball.contains(flint.fmpq(1, 10))
    assert to_fraction(np.float32(0.1)) == Fraction(13421773, 2**27)
    assert to_fraction(np.longdouble(1) + np.longdouble(2) ** -60) in (
        1 + Fraction(1, 2**60),
        1,
    )  # 1 where it is a double


def test_what_users_get() -> None:
    exact = arithmetics.get("exact")
    values = exact.publish(exact.array(objects([[1, Fraction(1, 3)], [0.5, np.int64(4)]])))
    assert values.tolist() == [[1, Fraction(1, 3)], [Fraction(1, 2), 4]]
    assert {type(v) for v in values.ravel()} == {Fraction}
    assert type(exact.publish_scalar(flint.fmpq(1, 3))) is Fraction
    assert [arithmetics.get(name).certainty for name in ("float", "exact", "ball")] == [
        Certainty.NUMERIC,
        Certainty.EXACT,
        Certainty.ENCLOSED,
    ]


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


def test_the_arithmetic_of_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    assert arithmetics.of(torch.zeros(2)).name == "torch"
    assert arithmetics.get("torch").array(torch.zeros(2, dtype=torch.float32)).dtype == torch.float64


def test_getting_an_arithmetic() -> None:
    balls = arithmetics.get("ball", precision=300)
    assert arithmetics.get(balls) is balls
    with balls.context():
        assert flint.ctx.prec == 300
        assert arithmetics.of([flint.arb(1)]).precision == 300  # type: ignore[attr-defined]
    for unknown in ("rational", None, 64, ["float"]):
        with pytest.raises(InvalidInput, match="arithmetic = .* choose one of float, exact, ball, torch"):
            arithmetics.get(unknown)  # type: ignore[arg-type]


NO_NUMBERS = [math.nan, math.inf, -math.inf, np.float32("nan"), np.longdouble("inf"), True, np.bool_(0), "1", None, 1j]
NO_NUMBERS += [[1], Decimal("1"), flint.arb(1), np.zeros(2), b"1"]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("convert", [to_fraction, to_fmpq])
def test_what_is_no_rational_number_is_refused(convert: Any, value: Any) -> None:
    with pytest.raises(InvalidInput, match="mu = .*; give "):
        convert(value, "mu")


@pytest.mark.parametrize(
    "value", [3, np.int8(3), np.uint64(3), 3.0, np.float32(3), Fraction(3), flint.fmpz(3), flint.fmpq(3), np.array(3)]
)
def test_what_is_a_rational_number_is_taken(value: Any) -> None:
    assert to_fraction(value) == 3
    assert type(to_fraction(value)) is Fraction
    assert to_fmpq(value) == flint.fmpq(3)


def test_the_nearest_float() -> None:
    assert nearest_float(Fraction(1, 10)) == 0.1
    assert nearest_float(Fraction(10) ** 400) == math.inf
    assert nearest_float(-(Fraction(10) ** 400)) == -math.inf
    assert nearest_float(Fraction(2**54 + 3, 2**54)) == 1 + 2**-52  # nearest, not truncated


def dyadic(number: Any) -> Fraction:
    mantissa, exponent = (int(v) for v in number.man_exp())
    return mantissa * Fraction(2) ** exponent


@given(
    value=entries.filter(bool),
    sign=signed,
    scale=st.integers(-400, 400),
    bits=st.integers(2, 200),
    spread=st.integers(-60, 3),
)
@settings(max_examples=200, deadline=None)
def test_float_bounds_are_never_on_the_wrong_side(
    value: Fraction, sign: int, scale: int, bits: int, spread: int
) -> None:
    true = sign * value * Fraction(10) ** scale
    with flint.ctx.workprec(bits):
        ball = flint.arb(to_fmpq(true)) + flint.arb(0, 2) ** 1 * flint.arb(2) ** spread * flint.arb(to_fmpq(abs(true)))
        low, high = lower_float(ball), upper_float(ball)
        middle, radius = dyadic(ball.mid()), dyadic(ball.rad())
    assert high == math.inf or Fraction(high) >= middle + radius
    assert low == -math.inf or Fraction(low) <= middle - radius
    slack = 8 * (abs(middle) + radius) * Fraction(1, 2 ** min(bits, 50)) + Fraction(1, 2**1000)
    if max(abs(middle), radius) < Fraction(10) ** 300:  # and not far from it
        assert Fraction(high) - (middle + radius) <= slack
        assert (middle - radius) - Fraction(low) <= slack


def test_rounding_to_nearest_would_be_on_the_wrong_side() -> None:
    assert (
        Fraction(nearest_float(Fraction(1, 3))) < Fraction(1, 3) <= Fraction(upper_float(flint.arb(flint.fmpq(1, 3))))
    )
    assert (
        Fraction(nearest_float(Fraction(1, 10)))
        > Fraction(1, 10)
        >= Fraction(lower_float(flint.arb(flint.fmpq(1, 10))))
    )
    for endless in (flint.arb("inf"), flint.arb("nan"), flint.arb(0, "inf")):
        assert (lower_float(endless), upper_float(endless)) == (-math.inf, math.inf)


@given(vector=st.lists(entries, min_size=1, max_size=4))
@FEW
def test_norms_contain_the_true_one(vector: list[Fraction]) -> None:
    ball = norm([flint.arb(to_fmpq(v)) for v in vector])
    square = sum((v * v for v in vector), Fraction(0))
    assert dyadic(ball.mid()) - dyadic(ball.rad()) <= 0 or (dyadic(ball.mid()) - dyadic(ball.rad())) ** 2 <= square
    assert (dyadic(ball.mid()) + dyadic(ball.rad())) ** 2 >= square


def test_square_roots_of_balls_that_reach_below_zero() -> None:
    root = square_root_upper(flint.arb(0, 4))
    assert root.contains(0)
    assert root.contains(2)
    assert not root.contains(3)
    assert square_root_upper(flint.arb(-1)) == 0
    assert square_root_upper(flint.arb(4)).contains(2)
