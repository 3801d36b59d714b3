"""The four problem classes against their formulas, written anew in mpmath and differentiated numerically there."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pandas
import pytest
import scipy.sparse
from mpmath import mp
from problem_makers import FLOATS

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import fraction_array, nearest_float, to_fraction
from fedconvex.problems import Problem, Subproblem
from fedconvex.problems.linear_models import size_groups

DIGITS = mpmath.workdps(100)
POWER_LAW = [1, 40, 2, 11, 3, 12, 5]
SIZES = {"equal": [4, 4, 4], "power law": POWER_LAW, "one client": [6]}
KINDS = ["least squares", "quadratic", "logistic", "multinomial"]
PAIRS = [(kind, name) for kind in KINDS for name in [*FLOATS, "ball", "exact"] if (name, kind[0]) != ("exact", "m")]
PAIRS.remove(("logistic", "exact"))


@dataclass(frozen=True)
class Case:
    """A problem, the formula of client k's function of a list of mpf, the range of points that make sense."""

    problem: Problem
    value: Callable[[int, list[Any]], Any]

    def gradient(self, k: int, x: list[Any]) -> list[Any]:
        h = mp.mpf(10) ** -30
        return [(self.value(k, moved(x, {i: h})) - self.value(k, moved(x, {i: -h}))) / (2 * h) for i in range(len(x))]

    def hessian(self, k: int, x: list[Any]) -> list[list[Any]]:
        h = mp.mpf(10) ** -22

        def corner(i: int, j: int, a: int, b: int) -> Any:
            return a * b * self.value(k, moved(moved(x, {i: a * h}), {j: b * h}))

        signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        entry = [[sum(corner(i, j, a, b) for a, b in signs) / (4 * h * h) for j in range(i + 1)] for i in range(len(x))]
        return [[entry[max(i, j)][min(i, j)] for j in range(len(x))] for i in range(len(x))]


def moved(x: list[Any], steps: dict[int, Any]) -> list[Any]:
    return [v + steps.get(i, 0) for i, v in enumerate(x)]


def to_mp(value: Any) -> Any:
    exact = to_fraction(value.item() if hasattr(value, "item") else value)
    return mp.mpf(exact.numerator) / exact.denominator


def make(kind: str, sizes: list[int], seed: int = 0, ridge: Any = Fraction(1, 8), p: int = 3) -> Case:
    """Data are multiples of 1/4, so that every arithmetic gets the same ones."""
    rng = np.random.default_rng(seed)
    weights = [k + 1 for k in range(len(sizes))]
    A = [rng.integers(-6, 7, (n, p)) / 4 for n in sizes]
    if kind == "quadratic":
        H, c = [a.T @ a - np.eye(p) for a in A], [rng.integers(-8, 9, p) for _ in A]

        def quadratic(k: int, x: list[Any]) -> Any:
            Hx = [sum(to_mp(v) * z for v, z in zip(row, x, strict=True)) for row in H[k]]
            return sum(z * (h / 2 - int(v)) for z, h, v in zip(x, Hx, c[k], strict=True))

        return Case(fc.Quadratic(H=H, c=c, weights=weights), quadratic)
    targets = {"least squares": (-9, 10), "logistic": (0, 2), "multinomial": (0, 3)}[kind]
    y = [rng.integers(*targets, n) for n in sizes]
    y = [2 * v - 1 for v in y] if kind == "logistic" else y

    def model(k: int, x: list[Any]) -> Any:
        rows = [[to_mp(v) for v in row] for row in A[k]]
        if kind == "multinomial":
            rows = [[*row, 1] for row in rows]
        W = [x[i : i + len(rows[0])] for i in range(0, len(x), len(rows[0]))]
        scores = [[mp.fdot(row, w) for w in W] for row in rows]
        if kind == "least squares":
            return sum((z[0] - int(t)) ** 2 for z, t in zip(scores, y[k], strict=True)) / 2
        if kind == "logistic":
            losses = [mp.log(1 + mp.exp(-int(t) * z[0])) for z, t in zip(scores, y[k], strict=True)]
        else:
            losses = [mp.log(sum(map(mp.exp, z))) - z[t] for z, t in zip(scores, y[k], strict=True)]
        return sum(losses) / len(losses) + to_mp(ridge) / 2 * sum(v * v for v in x)

    if kind == "least squares":
        return Case(fc.LeastSquares(A=A, b=y, weights=weights), model)
    if kind == "logistic":
        return Case(fc.Logistic(A=A, y=y, ridge=ridge, weights=weights), model)
    return Case(fc.MultinomialLogistic(A=A, y=y, num_classes=3, ridge=ridge, weights=weights), model)


def points(case: Case, seed: int = 1, scale: float = 1.0) -> np.ndarray:
    shape = case.problem.num_clients, case.problem.dim
    return np.random.default_rng(seed).integers(-8, 9, shape) / 8 * scale


def given_as(name: str, X: np.ndarray) -> Any:
    numbers = arithmetics.get(name)
    with numbers.context():
        return fraction_array(X) if name == "exact" else numbers.array(X)


def off(name: str, computed: Any, expected: Any) -> float:
    """The largest deviation beyond what the arithmetic allows itself, relative to 1 + the largest expected entry."""
    expected = np.array(expected, dtype=object)
    computed = np.array(computed.tolist() if hasattr(computed, "tolist") else computed, dtype=object)
    assert computed.shape == expected.shape
    worst = mp.mpf(0)
    for c, e in zip(computed.ravel(), expected.ravel(), strict=True):
        if name == "ball":
            middle, radius = (mp.mpf(int(m)) * mp.mpf(2) ** int(z) for m, z in (c.mid().man_exp(), c.rad().man_exp()))
            worst = max(worst, abs(middle - e) - radius, radius - 1e-20)
        else:
            worst = max(worst, abs(to_mp(c) - e))
    return float(worst / (1 + max(map(abs, expected.ravel()))))


def allowed(name: str) -> float:
    return 1e-13 if name in FLOATS else 1e-35  # of the differentiation in mpmath


@pytest.mark.sample(14)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("kind", "name"), PAIRS)
@DIGITS
def test_values_and_derivatives(kind: str, name: str, sizes: str) -> None:
    case = make(kind, SIZES[sizes])
    problem, X = case.problem, points(case)
    rows = [[to_mp(v) for v in row] for row in X]
    clients, total = range(len(rows)), sum(range(1, len(rows) + 1))
    shares = [mp.mpf(k + 1) / total for k in clients]
    given, same = given_as(name, X), given_as(name, X[0])
    values, gradients = ([f(k, rows[k]) for k in clients] for f in (case.value, case.gradient))
    assert off(name, problem.client_values(given), values) < allowed(name)
    assert off(name, problem.client_gradients(given), gradients) < allowed(name)
    values, gradients = ([f(k, rows[0]) for k in clients] for f in (case.value, case.gradient))
    assert off(name, problem.client_values(same), values) < allowed(name)
    assert off(name, problem.client_gradients(same), gradients) < allowed(name)
    assert off(name, [problem.value(same)], [mp.fdot(shares, values)]) < allowed(name)
    mean = [mp.fdot(shares, [g[i] for g in gradients]) for i in range(problem.dim)]
    assert off(name, problem.gradient(same), mean) < allowed(name)
    assert off(name, problem.gradient(same), [v + 1e-9 for v in mean]) > allowed(name)  # a wrong one is noticed


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("kind", KINDS)
@DIGITS
def test_hessians(kind: str) -> None:
    case = make(kind, [3, 1, 7], p=2)
    problem, X = case.problem, points(case)
    rows = [[to_mp(v) for v in row] for row in X]
    assert off("float", problem.client_hessians(X), [case.hessian(k, rows[k]) for k in range(3)]) < 1e-13
    at_one = np.array([case.hessian(k, rows[0]) for k in range(3)], dtype=object)
    assert off("float", problem.hessian(X[0]), (at_one[0] + 2 * at_one[1] + 3 * at_one[2]) / 6) < 1e-13
    products = problem.clients("float").hessian_products(X, X[::-1])
    assert off("float", products, [np.dot(case.hessian(k, rows[k]), rows[2 - k]) for k in range(3)]) < 1e-13


def test_weights_are_normalised_exactly() -> None:
    weights = [0.1, Fraction(1, 3), 2, 0]
    problem = fc.Quadratic(H=[np.eye(1)] * 4, c=[np.zeros(1)] * 4, weights=weights)
    total = Fraction(0.1) + Fraction(1, 3) + 2
    assert problem.exact_weights == tuple(Fraction(w) / total for w in weights)
    assert sum(problem.exact_weights) == 1
    assert problem.weights.tolist() == [float(w) for w in problem.exact_weights]
    assert fc.Quadratic(H=[np.eye(1)] * 3, c=[np.zeros(1)] * 3).exact_weights == (Fraction(1, 3),) * 3


def test_weights_may_be_a_column_of_a_table_whatever_its_index() -> None:
    given = {"H": [np.eye(1)] * 3, "c": [np.zeros(1)] * 3}
    for column in (pandas.Series([3, 1, 4], index=[7, 0, 1]), pandas.Series([0.75, 0.25, 1.0])):
        assert fc.Quadratic(**given, weights=column).exact_weights == (Fraction(3, 8), Fraction(1, 8), Fraction(1, 2))
    with pytest.raises(fc.InvalidInput, match="one entry for each of the 3 clients"):
        fc.Quadratic(**given, weights=pandas.Series([3, 1]))
    with pytest.raises(fc.InvalidInput, match=r"weights\[1\] = -1"):
        fc.Quadratic(**given, weights=pandas.Series([3, -1, 4]))


def test_clients_of_similar_size_share_an_array() -> None:
    groups = size_groups(POWER_LAW)
    assert sorted(k for group in groups for k in group) == list(range(len(POWER_LAW)))
    assert all(max(POWER_LAW[k] for k in g) <= 1.25 * min(POWER_LAW[k] for k in g) for g in groups)
    assert [1 in g and len(g) == 1 for g in groups].count(True) == 1  # the largest alone
    assert size_groups([5, 5, 4]) == [[0, 1, 2]]


@pytest.mark.sample(16)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("apart", [1e-9, 1e-4, 1.0, 8.0, 30.0, 1e3])
@pytest.mark.parametrize("at", [1.0, 24.0])
@pytest.mark.parametrize("kind", KINDS)
@DIGITS
def test_differences_do_not_cancel(kind: str, at: float, apart: float) -> None:
    case = make(kind, POWER_LAW, ridge=0)
    X = points(case, scale=at)
    Y = X + apart * points(case, seed=2)
    rows = [[[to_mp(v) for v in row] for row in Z] for Z in (X, Y)]
    expected = [case.value(k, y) - case.value(k, x) for k, (x, y) in enumerate(zip(*rows, strict=True))]
    for name in FLOATS:
        computed = case.problem.clients(name).differences(given_as(name, Y), given_as(name, X)).tolist()
        assert max(abs(to_mp(c) / e - 1) for c, e in zip(computed, expected, strict=True)) < 1e-10
    if apart == 1e-9:  # the plain difference of values would not do
        plain = case.problem.client_values(Y) - case.problem.client_values(X)
        assert max(abs(to_mp(c) / e - 1) for c, e in zip(plain, expected, strict=True)) > 1e-10


@pytest.mark.sample(28)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("far", [1.0, 1e3])
@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_subproblems_are_minimised(kind: str, name: str, far: float, weight: float) -> None:
    case = make(kind, POWER_LAW, ridge=0)
    weight += 2.0 if kind == "quadratic" else 0.0  # the clients' least curvature is -1
    numbers = arithmetics.get(name, precision=192)
    with numbers.context():
        start, center, linear = (numbers.array(points(case, s, t)) for s, t in ((3, far), (4, far), (5, weight / 4)))
        subproblem = Subproblem(start=start, weight=numbers.scalar(weight), center=center, linear=linear)
        clients = case.problem.clients(numbers)
        theta = clients.minimise(subproblem)
        residual, wrong = (clients.gradients(t) + linear + subproblem.weight * (t - center) for t in (theta, theta + 1))
    assert tuple(theta.shape) == (case.problem.num_clients, case.problem.dim)
    if name == "exact":
        assert not residual.any()
        assert wrong.any()
    elif name == "ball":
        assert all(entry.contains(0) for entry in residual.ravel())
        assert not all(entry.contains(0) for entry in wrong.ravel())
    else:
        size, L = abs(numbers.to_float(theta)) + abs(numbers.to_float(center)), case.problem.L[:, None]
        scale = (1 + weight + L) * (1 + size.max(axis=1, keepdims=True))
        # quadratics multiply with an inverse, whose rounding the condition number magnifies
        rounding = 1e-12 + (kind in ("least squares", "quadratic")) * 1e-16 * (L + weight) / min(weight, 1)
        assert (abs(numbers.to_float(residual)) <= rounding * scale).all()
        assert not (abs(numbers.to_float(wrong)) <= rounding * scale).all()


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("kind", ["logistic", "multinomial"])
@pytest.mark.parametrize("weight", [0.0, 0.25, 1e4])
@DIGITS
def test_enclosed_minimisers_contain_the_true_one(kind: str, weight: float) -> None:
    case = make(kind, [6], p=1)
    balls = arithmetics.get("ball")
    with balls.context():
        zero = balls.array(np.zeros((1, case.problem.dim)))
        task = Subproblem(start=zero + 50, weight=balls.scalar(weight), center=zero + 2, linear=zero - 1)
        enclosed = case.problem.clients(balls).minimise(task)[0]

    def gradient(*x: Any) -> list[Any]:
        return [g + weight * (v - 2) - 1 for g, v in zip(case.gradient(0, list(x)), x, strict=True)]

    true = list(mp.findroot(gradient, [to_mp(float(entry.mid())) for entry in enclosed], tol=1e-60))
    with flint.ctx.workprec(300):
        near, far = ([flint.arb(mp.nstr(v + shift, 60)) for v in true] for shift in (0, mp.mpf("1e-9")))
    assert all(entry.contains(v) and entry.rad() < 1e-12 for entry, v in zip(enclosed, near, strict=True))
    assert not any(entry.contains(v) for entry, v in zip(enclosed, far, strict=True))


def test_values_near_zero_keep_their_digits() -> None:
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((20, 3)), 1e4 * rng.standard_normal(3)
    b = A @ x
    value = fc.LeastSquares([A], [b]).value(x)
    residuals = []
    for row, t in zip(A, b, strict=True):
        residuals.append(sum(Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)) - Fraction(t))
    assert 0 <= value < 1e-20
    assert sum(r * r for r in residuals) / 2 < Fraction(1, 10**20)
    H, c = A.T @ A, A.T @ b
    assert abs(x @ H @ x / 2 - c @ x + b @ b / 2) > 1e-9  # expanding the square would lose them


def test_integers_too_long_for_floats_stay_exact_beside_floats() -> None:
    problem = fc.Quadratic([[[2**60 + 1, 0], [0, 0.5]]], [[1, 1]])
    assert problem.H[0][0, 0] == 2**60 + 1
    assert problem.H[0][1, 1] == Fraction(1, 2)
    assert fc.Quadratic([[[3, 0], [0, 0.5]]], [[1, 1]]).H[0].dtype == np.float64


@pytest.mark.parametrize(
    "long",
    [2**53 + 1, np.int64(2**53 + 1), np.uint64(2**64 - 1), 2**70 + 1, np.longdouble(1) / 3, np.longdouble("1e400")],
    ids=str,
)
@pytest.mark.parametrize("other", [0.5, 3, Fraction(1, 3)], ids=str)
def test_numbers_too_long_for_floats_stay_exact_whatever_their_type(long, other) -> None:
    if isinstance(long, np.longdouble) and np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("long doubles are floats here")
    problem = fc.LeastSquares([[[other, long]]], [[long]])
    assert [to_fraction(v) for v in problem.A[0][0]] == [Fraction(other), to_fraction(long)]
    assert to_fraction(problem.b[0][0]) == to_fraction(long)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long doubles are floats here")
def test_arrays_of_long_doubles_are_rounded_only_where_nothing_is_lost() -> None:
    third = np.array([[np.longdouble(1) / 3, 1]])
    assert to_fraction(fc.LeastSquares([third], [[1]]).A[0][0, 0]) == to_fraction(third[0, 0]) != Fraction(1 / 3)
    assert fc.LeastSquares([third.round()], [[1]]).A[0].dtype == np.float64
    with pytest.raises(fc.InvalidInput, match="is not finite"):
        fc.LeastSquares([third * np.longdouble("nan")], [[1]])


def test_data_beyond_floats_are_exact_or_refused() -> None:
    problem = fc.LeastSquares(A=[[[1e200]], [[2e200]]], b=[[1], [1e200]])
    assert fc.fixed_point(fc.FedProx(mu=1), problem, "exact").unique
    with pytest.raises(fc.InvalidInput, match="beyond the range of float64"):
        fc.ground_truth(problem)


@pytest.mark.parametrize("name", ["float", "torch"])
def test_values_without_a_ridge_are_finite_where_the_square_of_the_point_overflows(name: str) -> None:
    """Against balls, whose exponents have no limit."""
    problem = fc.Logistic([[[1, 2], [3, -1]], [[0.5, -2]]], [[1, -1], [1]])
    far = np.array([1e200, 2e200])
    rows = given_as("ball", np.stack([far, -far]))
    clients = problem.clients("ball")
    for found, enclosed in (
        (problem.client_values(given_as(name, far)), clients.values(rows[0])),
        (problem.clients(name).differences(given_as(name, far), given_as(name, -far)), clients.differences(*rows)),
    ):
        np.testing.assert_allclose(found.tolist(), [nearest_float(x) for x in enclosed], rtol=1e-12)


@pytest.mark.parametrize("name", ["exact", "float", "ball", "torch"])
def test_prox_of_every_client_in_one_call(name: str) -> None:
    """prox_{s f}(v) = (v + s c)/(1 + s h) in one dimension; s is 1/μ."""
    problem, s = fc.Quadratic(H=[[[1]], [[0]], [[7]]], c=[[2], [-1], [5]]), Fraction(1, 3)
    V = [[Fraction(4)], [Fraction(-2)], [Fraction(1, 2)]]
    expected = [(v[0] + s * c) / (1 + s * h) for v, h, c in zip(V, (1, 0, 7), (2, -1, 5), strict=True)]
    found = problem.client_prox(given_as(name, np.array(V, dtype=object)), s)
    assert found.shape == (3, 1)
    assert (
        max(abs(nearest_float(v) / float(e) - 1) for v, e in zip(found[:, 0].tolist(), expected, strict=True)) < 1e-14
    )
    with pytest.raises(fc.InvalidInput, match="stepsize"):
        problem.client_prox(np.zeros(1), 0)


@pytest.mark.parametrize("design", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", FLOATS)
def test_overflow_with_both_signs_is_infinite(kind: str, design: Any) -> None:
    """3·10³⁰⁸ − 5·10³⁰⁸ is below every float; gradients are those of saturated losses, on any processor.

    The other client's weights are small, and 0: its own scores are right beside.
    """
    rows = [[[3.0, 5.0], [5.0, 3.0]], [[1.0, 2.0]]]
    problem = fc.Logistic(A=[design(np.array(A)) for A in rows], y=[[1, -1], [1]], ridge=0)
    huge = np.array([[1e308, -1e308], [0.0, 0.0]])
    points = huge if kind == "float" else importlib.import_module("torch").tensor(huge)
    with np.errstate(all="ignore"):
        values, gradients = problem.client_values(points), problem.client_gradients(points)
    assert list(map(float, values)) == [np.inf, pytest.approx(np.log(2))]
    assert np.asarray(gradients).tolist() == [[(5.0 - 3.0) / 2, (3.0 - 5.0) / 2], [-0.5, -1.0]]


def test_an_infinity_of_the_wrong_sign_is_no_score() -> None:
    """2·10³⁰⁸ − 3·10³⁰⁸: the first term alone is infinite."""
    problem = fc.Logistic(A=[np.array([[2.0, -1, -1, -1]])], y=[[1]])
    with np.errstate(all="ignore"):
        values, gradients = problem.client_values(np.full(4, 1e308)), problem.client_gradients(np.full(4, 1e308))
    assert values.tolist() == [1e308]
    assert gradients.tolist() == [[-2, 1, 1, 1]]
