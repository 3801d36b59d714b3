"""FedSplit's (8) to (10) and FedProx's closed form, on matrices of every type, against the methods' fixed points."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import reference_fedsplit
import sympy
import torch

import fedconvex as fc
from fedconvex.arithmetic.rationals import fraction_array
from fedconvex.errors import InvalidInput
from fedconvex.theory import fedsplit

RANDOM = np.random.default_rng(5)
A = [
    RANDOM.integers(-4, 5, (3, 2)),
    RANDOM.integers(-4, 5, (1, 2)),
    RANDOM.integers(-4, 5, (4, 2)),
]  # one without full rank
b = [RANDOM.integers(-4, 5, len(design)) for design in A]
PROBLEM = fc.LeastSquares(A=A, b=b)
STEP = Fraction(1, 64)
CASES: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "least_squares_solution": (fedsplit.least_squares_solution, {}, None),
    "fedprox_fixed_point": (fedsplit.fedprox_fixed_point, {"stepsize": STEP}, fc.FedProx(mu=1 / STEP)),
    "fedgd_fixed_point": (
        fedsplit.fedgd_fixed_point, {"stepsize": STEP, "local_steps": 3}, fc.FedGD(stepsize=STEP, local_steps=3)
    ),
}  # fmt: skip


def exact(name: str) -> np.ndarray:
    """The method's fixed point, found from the method's own code."""
    method = CASES[name][2]
    return fc.ground_truth(PROBLEM).exact_point if method is None else fc.fixed_point(method, PROBLEM, "exact").point


@pytest.mark.parametrize("name", CASES)
def test_rationals(name: str) -> None:
    formula, given, _ = CASES[name]
    given = given or {}
    computed = formula(A=[fraction_array(design) for design in A], b=b, **given)
    assert (computed == exact(name)).all()


@pytest.mark.parametrize("name", CASES)
def test_floats_and_lists(name: str) -> None:
    formula, given, _ = CASES[name]
    floats = {n: v if n == "local_steps" else float(v) for n, v in given.items()}
    truth = exact(name).astype(float)
    for data in ({"A": A, "b": b}, {"A": [d.tolist() for d in A], "b": [r.tolist() for r in b]}):
        np.testing.assert_allclose(formula(**data, **floats), truth, rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_torch_balls_and_sympy(name: str) -> None:
    formula, given, _ = CASES[name]
    truth = exact(name)
    floats = {n: v if n == "local_steps" else float(v) for n, v in given.items()}
    tensors = {
        "A": [torch.tensor(d, dtype=torch.float64) for d in A],
        "b": [torch.tensor(r, dtype=torch.float64) for r in b],
    }
    np.testing.assert_allclose(formula(**tensors, **floats).numpy(), truth.astype(float), rtol=1e-10)
    with flint.ctx.workprec(128):
        balls = {
            n: v if n == "local_steps" else flint.arb(flint.fmpq(v.numerator, v.denominator)) for n, v in given.items()
        }
        enclosed = formula(
            A=[flint.arb_mat(d.tolist()) for d in A], b=[flint.arb_mat(r[:, None].tolist()) for r in b], **balls
        )
        for ball, true in zip(enclosed.entries(), truth, strict=True):
            assert ball.contains(flint.fmpq(true.numerator, true.denominator))
            assert ball.rad() < 1e-25
    rationals = {n: v if n == "local_steps" else sympy.Rational(v.numerator, v.denominator) for n, v in given.items()}
    symbolic = formula(A=[sympy.Matrix(d) for d in A], b=[sympy.Matrix(r) for r in b], **rationals)
    assert [Fraction(int(v.p), int(v.q)) for v in symbolic] == list(truth)


@pytest.mark.parametrize("name", CASES)
def test_independent_transcription(name: str) -> None:
    import mpmath

    formula, given, _ = CASES[name]
    numbers = {"least_squares_solution": "equation9", "fedgd_fixed_point": "equation10"}
    with mpmath.workdps(50):
        matrices = {"A": [mpmath.matrix(d.tolist()) for d in A], "b": [mpmath.matrix(r.tolist()) for r in b]}
        values = {n: v if n == "local_steps" else mpmath.mpf(v.numerator) / v.denominator for n, v in given.items()}
        expected = getattr(reference_fedsplit, numbers.get(name, name))(**matrices, **values)
        for number, true in zip(expected, exact(name), strict=True):
            assert abs(number - mpmath.mpf(true.numerator) / true.denominator) < mpmath.mpf(10) ** -40
    assert formula.calculator.formula if name != "fedprox_fixed_point" else formula.formula


def test_objective() -> None:
    x = np.array([Fraction(1, 3), Fraction(-2)])
    total = fedsplit.least_squares_objective(A=[fraction_array(d) for d in A], b=b, x=x)
    assert total == 3 * PROBLEM.value(x)  # a plain sum, where the problem has a mean


def test_the_methods_stop_elsewhere() -> None:
    assert (exact("fedgd_fixed_point") != exact("least_squares_solution")).all()
    assert (exact("fedprox_fixed_point") != exact("least_squares_solution")).all()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"A": []}, "A = "),
        ({"b": b[:2]}, "lengths"),
        ({"b": [r[:-1] if len(r) > 1 else r for r in b]}, "fit together"),
        ({"A": [d[:, :1] @ [[1, 1]] for d in A]}, "singular"),
        ({"A": 3}, "A = 3"),
    ],
)
def test_bad_data(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        fedsplit.least_squares_solution(**{"A": A, "b": b, **given})


SINGULAR = [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[2, 4, 6], [5, 7, 9], [1, 1, 1]]]  # column 1 + column 3 = 2 · column 2
ITS_B = [[1, 2, 4], [1, 0, 2]]


@pytest.mark.parametrize("scale", [1, 2.0**-260, 2.0**260])
@pytest.mark.parametrize("kind", [np.array, torch.tensor, fraction_array])
def test_singular_data_are_refused_in_every_arithmetic(kind: Any, scale: float) -> None:
    """LU factors of rounded numbers are invertible: floats gave the inverse of the rounding errors."""
    A = [kind(np.array(rows) * scale) for rows in SINGULAR]
    b = [kind(np.array(row) * 1.0) for row in ITS_B]
    with pytest.raises(InvalidInput, match="singular"):
        fedsplit.least_squares_solution(A=A, b=b)
    with pytest.raises(InvalidInput, match="singular"):
        fedsplit.fedprox_fixed_point(A=A, b=b, stepsize=Fraction(1, 7) if kind is fraction_array else 1 / 7 / scale**2)
    regular = [kind(np.array(rows) * scale + np.eye(3) * scale) for rows in SINGULAR]
    assert fedsplit.least_squares_solution(A=regular, b=b).shape == (3,)


@pytest.mark.parametrize("kind", [np.array, torch.tensor])
def test_unlike_units_are_not_singular(kind: Any) -> None:
    solved = fedsplit.least_squares_solution(
        A=[kind(np.array([[1e9, 0.0], [1e9, 1e-9]]))], b=[kind(np.array([1.0, 3.0]))]
    )
    np.testing.assert_allclose(np.asarray(solved), [1e-9, 2e9], rtol=1e-10)


X = [Fraction(1), Fraction(2)]
SHAPES: list[dict[str, Any]] = [
    {"A": [[[1, 2], [3, 4]]], "b": [[1]]},
    {"A": [[[1, 2], [3, 4]]], "b": [[[1, 1], [2, 2]]]},
    {"A": [[[1, 2], [3, 4]]], "b": [1]},
    {"A": [[[1, 2], [3, 4]]], "b": [[1, 2, 3]]},
]


@pytest.mark.parametrize("name", ["least_squares_objective", *CASES])
@pytest.mark.parametrize("data", SHAPES, ids=lambda data: str(data["b"]))
def test_shapes_that_only_broadcasting_would_accept(name: str, data: dict[str, Any]) -> None:
    formula, given, _ = CASES.get(name, (fedsplit.least_squares_objective, {"x": X}, None))
    for number in (Fraction, float):
        A, b = ([number(1) * np.array(v) for v in data[letter]] for letter in "Ab")
        with pytest.raises(InvalidInput, match="do not fit together"):
            formula(A=A, b=b, **given)


def test_clients_of_unlike_dimension() -> None:
    with pytest.raises(InvalidInput, match=r"do not fit together \(shapes 2 × 2 and 1 × 1\)"):
        fedsplit.least_squares_solution(A=[np.eye(2), np.eye(1)], b=[np.ones(2), np.ones(1)])
    with pytest.raises(InvalidInput, match="do not fit together"):
        fedsplit.least_squares_objective(A=[np.eye(2)], b=[np.ones(2)], x=1.0)


@pytest.mark.parametrize("stepsize", [2, 3, 0.5, Fraction(1, 2), Fraction(1, 3), flint.fmpq(2, 3)], ids=str)
@pytest.mark.parametrize("matrix", [flint.fmpq_mat, flint.fmpz_mat, flint.arb_mat])
def test_flint_matrices_take_every_stepsize(matrix: Any, stepsize: Any) -> None:
    """Divided by exactly: 1/3 in floats is not 1/3."""
    exactly = Fraction(int(stepsize.p), int(stepsize.q)) if hasattr(stepsize, "p") else Fraction(stepsize)
    data = {"A": [matrix(d.tolist()) for d in A], "b": [matrix(r[:, None].tolist()) for r in b]}
    for formula, more in ((fedsplit.fedprox_fixed_point, {}), (fedsplit.fedgd_fixed_point, {"local_steps": 3})):
        plain = formula(A=[fraction_array(d) for d in A], b=b, stepsize=exactly, **more)
        found = formula(**data, stepsize=stepsize, **more).entries()
        for entry, true in zip(found, plain, strict=True):
            rational = flint.fmpq(true.numerator, true.denominator)
            assert entry.contains(rational) if matrix is flint.arb_mat else entry == rational


def test_sympy_divides_exactly_too() -> None:
    data = {"A": [sympy.Matrix(d) for d in A], "b": [sympy.Matrix(r) for r in b]}
    plain = fedsplit.fedprox_fixed_point(A=[fraction_array(d) for d in A], b=b, stepsize=Fraction(3))
    assert [Fraction(int(v.p), int(v.q)) for v in fedsplit.fedprox_fixed_point(**data, stepsize=3)] == list(plain)


def test_bad_numbers() -> None:
    with pytest.raises(InvalidInput, match="stepsize = -1"):
        fedsplit.fedprox_fixed_point(A=A, b=b, stepsize=-1)
    with pytest.raises(InvalidInput, match="local_steps = 0"):
        fedsplit.fedgd_fixed_point(A=A, b=b, stepsize=0.1, local_steps=0)
    with pytest.raises(TypeError, match="stepsize"):
        fedsplit.fedprox_fixed_point(A=A, b=b)
