"""Unusual numbers: NumPy scalars, 0-d arrays, integers of hundreds of digits, mixed types, extreme floats."""

import math
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pandas as pd
import pytest
import sympy
import torch
from statement_makers import arguments, as_float, each, of_numbers

from fedconvex.errors import InvalidInput
from fedconvex.theory import feddyn, fedprox, fedsplit, ghadimi_lan, nesterov, rockafellar

FORMULAS = of_numbers()
NAMES = sorted(FORMULAS)
AT = {"mu": 50, "L": 1, "L_minus": 0, "B": 1.25, "gamma": 0, "K": 10}
VALUE = fedprox.rho(**AT)

ONE_NUMBER: dict[str, Any] = {
    "int": int, "float": float, "Fraction": Fraction, "float64": np.float64, "float32": np.float32,
    "float16": np.float16, "int8": np.int8, "int64": np.int64, "uint16": np.uint16, "longdouble": np.longdouble,
    "0-d array": np.array, "0-d float array": lambda v: np.array(float(v)),
    "0-d float32 array": lambda v: np.array(v, dtype=np.float32),
    "0-d array of a Fraction": lambda v: np.array(Fraction(v), dtype=object),
    "read from an array": lambda v: np.full(3, v)[1], "read from a Series": lambda v: pd.Series([v]).iloc[0],
    "int subclass": lambda v: type("Count", (int,), {})(v),
    "float subclass": lambda v: type("Number", (float,), {})(v),
}  # fmt: skip


@pytest.mark.parametrize("kind", ONE_NUMBER)
def test_one_number_of_every_type(kind: str) -> None:
    """Beside the float B a float results, and the same one."""
    result = fedprox.rho(**{**AT, "mu": ONE_NUMBER[kind](50), "K": ONE_NUMBER[kind](10)})
    assert type(result) is float
    assert result == VALUE
    assert fedprox.rho(**{**AT, "mu": ONE_NUMBER[kind](51)}) != VALUE


@pytest.mark.parametrize("kind", ["Fraction", "longdouble", "0-d array of a Fraction"])
def test_exact_numbers_alone_are_exact(kind: str) -> None:
    number = ONE_NUMBER[kind]
    total = feddyn.lemma6(count=number(3), total=number(7))
    assert type(total) is Fraction
    assert total == 21
    root = fedsplit.optimal_stepsize(mu=number(1), L=number(2))
    assert isinstance(root, flint.arb)
    assert root.rel_accuracy_bits() > 100
    with flint.ctx.workprec(200):
        assert root.overlaps(1 / flint.arb(2).sqrt())
    assert fedsplit.optimal_stepsize(mu=number(4), L=number(9)) == Fraction(1, 6)


def test_extended_precision_is_not_rounded_away() -> None:
    """Where long doubles are longer than doubles."""
    eps = np.finfo(np.longdouble).eps
    if eps == np.finfo(np.float64).eps:
        pytest.skip("long doubles are doubles here")
    below = np.longdouble(1) - eps
    assert float(below) == 1.0
    with pytest.raises(InvalidInput, match="needs B >= 1"):
        fedprox.rho(**{**AT, "B": below})
    assert feddyn.lemma3(epsilon=np.longdouble(1) + eps) == 1 + Fraction(*eps.as_integer_ratio())


def test_long_integers_in_a_list_with_floats_are_not_rounded() -> None:
    """2⁵³ + 1 is no float; the nearest one is 2⁵³, which is not above it."""
    for long in (2**53 + 1, np.int64(2**53 + 1)):
        results = fedprox.rho(**{**AT, "mu": [2.0**60, long], "L_minus": 2**53})
        assert results[1] < 0 < results[0]
        with pytest.raises(InvalidInput, match=r"mu\[1\] = .*needs mu > L_minus"):
            fedprox.rho(**{**AT, "mu": [2.0**60, long - 1], "L_minus": 2**53})
    assert fedsplit.least_squares_solution(A=[[[2**53 + 1, 0.5], [0, 1]]], b=[[1, 0]])[0] == Fraction(1, 2**53 + 1)


def test_narrow_floats_are_the_numbers_that_they_are() -> None:
    tenth = np.float32(0.1)
    assert Fraction(float(tenth)) != Fraction(0.1)
    assert fedprox.iterations(delta=tenth, rho=1, epsilon=0.1) == 2  # above 0.1
    assert fedprox.iterations(delta=np.float16(0.1), rho=1, epsilon=0.1) == 1  # below it
    assert feddyn.lemma6(count=1, total=tenth) == float(tenth)


def test_one_entry_is_an_array_and_no_axes_is_a_number() -> None:
    assert isinstance(fedprox.rho(**{**AT, "mu": np.array(50)}), float)
    assert fedprox.rho(**{**AT, "mu": np.array([50])}).shape == (1,)
    assert fedprox.rho(**{**AT, "mu": [50]}).shape == (1,)
    assert fedprox.rho(**{**AT, "mu": [[50], [60]]}).shape == (2, 1)
    assert fedprox.rho(**{**AT, "mu": pd.Series([50, 60], index=[7, 3])}).shape == (2,)
    assert fedprox.rho(**{**AT, "mu": pd.DataFrame({"a": [50, 60]})}).shape == (2, 1)
    assert fedprox.rho(**{**AT, "mu": torch.tensor(50.0)}).shape == ()
    assert fedprox.rho(**{**AT, "mu": list(range(50, 53))}).shape == (3,)


KINDS = {
    "float": (2.0, float), "Fraction": (Fraction(2), Fraction), "fmpq": (flint.fmpq(2), flint.fmpq),
    "fmpz": (flint.fmpz(2), flint.fmpq), "arb": (flint.arb(2), flint.arb), "sympy": (sympy.Integer(2), sympy.Expr),
    "symbol": (sympy.Symbol("x"), sympy.Expr), "array": (np.array([2.0]), np.ndarray),
    "tensor": (torch.tensor([2.0]), torch.Tensor),
}  # fmt: skip
# What a value of the row's kind and one of the column's give; None: refused.
MIXED = {
    ("float", "Fraction"): float, ("float", "fmpq"): float, ("float", "fmpz"): float, ("float", "arb"): flint.arb,
    ("float", "sympy"): sympy.Expr, ("float", "symbol"): sympy.Expr, ("float", "array"): np.ndarray,
    ("float", "tensor"): torch.Tensor, ("Fraction", "fmpq"): (Fraction, flint.fmpq),
    ("Fraction", "fmpz"): (Fraction, flint.fmpq), ("Fraction", "arb"): flint.arb, ("Fraction", "sympy"): sympy.Expr,
    ("Fraction", "symbol"): sympy.Expr, ("Fraction", "array"): np.ndarray, ("Fraction", "tensor"): torch.Tensor,
    ("fmpq", "arb"): flint.arb, ("fmpq", "fmpz"): flint.fmpq, ("fmpq", "sympy"): sympy.Expr,
    ("fmpq", "symbol"): sympy.Expr, ("fmpq", "array"): np.ndarray, ("fmpq", "tensor"): torch.Tensor,
    ("arb", "array"): np.ndarray, ("arb", "tensor"): None, ("sympy", "tensor"): None, ("symbol", "tensor"): None,
    ("sympy", "array"): np.ndarray, ("symbol", "array"): np.ndarray, ("array", "tensor"): torch.Tensor,
    ("sympy", "symbol"): sympy.Expr, ("arb", "fmpz"): flint.arb,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_a_result(kind: str) -> None:
    value, expected = KINDS[kind]
    assert isinstance(feddyn.smooth_upper(value=value, inner=1, L=2, square=2), expected)
    assert isinstance(feddyn.smooth_upper(value=1, inner=value, L=2, square=2), expected)


@pytest.mark.parametrize("kinds", MIXED, ids=" and ".join)
def test_the_kind_of_a_mixture(kinds: tuple[str, str]) -> None:
    first, second = (KINDS[kind][0] for kind in kinds)
    expected = MIXED[kinds]
    for value, inner in ((first, second), (second, first)):
        if expected is None:
            with pytest.raises(InvalidInput, match="cannot be combined"):
                feddyn.smooth_upper(value=value, inner=inner, L=2, square=2)
            continue
        result = feddyn.smooth_upper(value=value, inner=inner, L=2, square=2)
        assert isinstance(result, expected)
        if "symbol" not in kinds:
            number = result[0] if isinstance(result, np.ndarray | torch.Tensor) else result
            assert float(number) == 6


def test_arrays_beside_balls_give_arrays_of_balls() -> None:
    result = fedprox.rho(**{**AT, "mu": np.array([[50.0], [60.0]]), "L": flint.arb(1)})
    assert result.shape == (2, 1)
    assert result.dtype == object
    for ball, mu in zip(result.ravel(), (50, 60), strict=True):
        assert isinstance(ball, flint.arb)
        with flint.ctx.workprec(200):
            assert ball.overlaps(fedprox.rho(**{n: flint.arb(v) for n, v in {**AT, "mu": mu}.items()}))
    L = sympy.Symbol("L", positive=True)
    symbols = fedprox.rho(**{**AT, "mu": np.array([50.0, 60.0]), "L": L})
    assert [float(s.subs(L, 1)) for s in symbols] == pytest.approx(
        fedprox.rho(**{**AT, "mu": np.array([50.0, 60.0])}).tolist()
    )


# Integers and rationals far beyond the floats.


@pytest.mark.parametrize("digits", [20, 308, 309, 400, 3000])
def test_huge_integers_in_exact_arithmetic(digits: int) -> None:
    huge = 10**digits
    assert feddyn.lemma6(count=huge, total=Fraction(huge)) == huge**2
    assert feddyn.lemma6(count=huge, total=flint.fmpq(huge)) == huge**2
    assert fedprox.iterations(delta=huge, rho=1, epsilon=Fraction(1, huge)) == huge**2
    assert fedprox.iterations(delta=huge + 1, rho=huge, epsilon=1) == 2
    assert fedsplit.optimal_stepsize(mu=Fraction(1), L=huge**2) == Fraction(1, huge)
    assert rockafellar.contraction(stepsize=Fraction(huge), mu=1) == Fraction(1, huge + 1)
    K = fedprox.rho(**{n: Fraction(v) for n, v in AT.items()} | {"K": huge})
    limit = fedprox.rho_of_everyone(**{n: Fraction(v) for n, v in AT.items() if n != "K"})
    with flint.ctx.workprec(200):
        gap = flint.arb(flint.fmpq(limit.numerator, limit.denominator)) - K
        assert gap > -1e-30
        assert gap < 1e-36 + 4 * flint.arb(10) ** (-digits / 2)


def test_floats_may_leave_their_range_halfway() -> None:
    huge = 10**400
    assert fedsplit.optimal_stepsize(mu=1.0, L=huge) == 1e-200
    limit = fedprox.rho_of_everyone(**{n: v for n, v in AT.items() if n != "K"})
    assert fedprox.rho(**{**AT, "K": huge}) == pytest.approx(limit, rel=1e-14)
    assert rockafellar.convex_gap_bound(t=1, stepsize=1e308, D0=1e308) == 0.5
    assert rockafellar.convex_gap_bound(t=1, stepsize=Fraction(10) ** 400, D0=1e308) == pytest.approx(5e-93)
    for given in ({"count": huge, "total": 0.5}, {"count": 2, "total": 1e308}, {"count": huge, "total": huge}):
        with pytest.raises(InvalidInput, match="leaves the range of float64"):
            feddyn.lemma6(**given)
    assert feddyn.lemma6(count=2, total=Fraction(1e308)) == 2 * int(1e308)


def test_the_ends_of_the_floats() -> None:
    tiny, huge = 5e-324, math.nextafter(math.inf, 0)
    assert feddyn.lemma6(count=1, total=huge) == huge
    assert feddyn.lemma6(count=1, total=tiny) == tiny
    assert fedprox.iterations(delta=huge, rho=tiny, epsilon=tiny) == math.ceil(Fraction(huge) / Fraction(tiny) ** 2)
    assert fedprox.iterations(delta=tiny, rho=huge, epsilon=huge) == 1
    assert rockafellar.contraction(stepsize=tiny, mu=0.0) == 1
    assert fedsplit.optimal_stepsize(mu=tiny, L=1.0) == pytest.approx(1 / math.sqrt(tiny))
    assert fedsplit.optimal_stepsize(mu=1e-200, L=1e-200) == pytest.approx(1e200)
    exact = fedsplit.optimal_stepsize(mu=Fraction(1e-200), L=Fraction(1e-200))
    assert exact == 1 / Fraction(1e-200)
    with flint.ctx.workprec(100):
        ball = fedsplit.optimal_stepsize(mu=flint.arb(tiny), L=flint.arb(1.0))
        assert ball.rel_accuracy_bits() > 90


@pytest.mark.parametrize("value", [0, -0.0, Fraction(0), np.float64(-0.0), flint.arb(0), sympy.Integer(0), np.int8(0)])
def test_zeros(value: Any) -> None:
    """−0.0 is 0: allowed where 0 is, refused where it is not."""
    assert float(fedprox.rho(**{**AT, "L_minus": value})) == pytest.approx(VALUE)
    assert float(feddyn.lemma6(count=1, total=value)) == 0
    with pytest.raises(InvalidInput, match=r"^mu = .*0.*: fedprox\.theorem4 needs mu > 0; give mu > 0$"):
        fedprox.rho(**{**AT, "mu": value})


# Tensors.


def test_tensors_keep_their_type_and_gradient() -> None:
    for dtype in (torch.float32, torch.float64):
        mu = torch.tensor([50.0, 60.0], dtype=dtype, requires_grad=True)
        result = fedprox.rho(**{**AT, "mu": mu})
        assert result.dtype == dtype
        result.sum().backward()
        assert mu.grad.shape == (2,)
        assert (mu.grad != 0).all()
        np.testing.assert_allclose(result.detach(), fedprox.rho(**{**AT, "mu": np.array([50.0, 60.0])}), rtol=1e-5)
    integers = fedprox.rho(**{**AT, "mu": torch.tensor([50, 60])})
    assert integers.dtype == torch.float64
    assert integers[0] == VALUE
    beside = fedprox.rho(**{**AT, "mu": torch.tensor([50.0, 60.0], dtype=torch.float64), "L": np.array([[1.0], [2.0]])})
    assert beside.shape == (2, 2)


def test_tensors_of_other_layouts() -> None:
    mu = torch.arange(50, 62, dtype=torch.float64).reshape(3, 4)
    expected = fedprox.rho(**{**AT, "mu": mu.numpy()})
    np.testing.assert_allclose(fedprox.rho(**{**AT, "mu": mu.T}), expected.T, rtol=1e-12)
    np.testing.assert_allclose(fedprox.rho(**{**AT, "mu": mu[:, ::2]}), expected[:, ::2], rtol=1e-12)
    with pytest.raises(InvalidInput, match=r"^mu\[1, 0\] = -54"):
        fedprox.rho(**{**AT, "mu": torch.where(mu == 54, -mu, mu)})


def test_tensors_of_integer_formulas() -> None:
    rounds = fedprox.iterations(delta=torch.tensor([0.3, 3.0], dtype=torch.float64), rho=0.1, epsilon=1)
    assert rounds.dtype == torch.int64
    assert rounds.tolist() == [math.ceil(Fraction(d) / Fraction(0.1)) for d in (0.3, 3.0)]


# Every calculator on the kinds that a user is likely to have.


@pytest.mark.parametrize("name", NAMES)
def test_every_calculator_takes_numpy_numbers(name: str) -> None:
    calculator = FORMULAS[name]
    values = arguments(calculator, 1)

    expected = calculator(**each(values, as_float))
    for real, whole in ((np.float64, np.int64), (np.array, np.array), (float, np.uint16), (np.float64, float)):
        result = calculator(**each(values, lambda v: whole(v) if isinstance(v, int) else real(float(v))))  # noqa: B023
        assert type(result) is type(expected)
        if isinstance(expected, tuple):
            assert list(result) == pytest.approx(list(expected), rel=1e-12)
        else:
            assert result == pytest.approx(expected, rel=1e-12)


def test_the_working_precision_is_kept() -> None:
    """No calculator leaves another precision behind, not even where it refuses."""
    for precision in (53, 77, 200):
        with flint.ctx.workprec(precision):
            fedprox.rho(**{n: Fraction(v) for n, v in AT.items()})
            fedprox.rho.sign(**AT)
            fedprox.best_mu(**{n: v for n, v in AT.items() if n != "mu"})
            with pytest.raises(InvalidInput):
                fedprox.rho(**{**AT, "B": flint.arb(0.5)})
            with pytest.raises(InvalidInput):
                fedprox.iterations(delta=flint.arb(1.5, 1), rho=1, epsilon=1)
            assert flint.ctx.prec == precision
            assert fedprox.rho(**{**AT, "L": flint.arb(1)}).rel_accuracy_bits() < precision


def test_a_higher_working_precision_is_used() -> None:
    with flint.ctx.workprec(1000):
        assert fedsplit.optimal_stepsize(mu=Fraction(1), L=2).rel_accuracy_bits() > 950
        assert fedsplit.optimal_stepsize(mu=flint.arb(1), L=2).rel_accuracy_bits() > 950
    assert fedsplit.optimal_stepsize(mu=flint.arb(1), L=2).rel_accuracy_bits() < 60


@pytest.mark.parametrize("t", [10**6, 10**8, 10**17, 10**40, 10**70])
@pytest.mark.parametrize("kappa", [2.0, 1e8, 1e16, 1e33, 1e59])
def test_powers_of_a_base_that_floats_cannot_hold(kappa: float, t: int) -> None:
    """(1 − 2/(√κ + 1))ᵗ: the base is 1 to the last digit of a float, the power is not."""
    with mpmath.workdps(120):
        exact = (1 - 2 / (mpmath.sqrt(mpmath.mpf(kappa)) + 1)) ** t
    given: dict[str, Any] = {"initial_distance": 1.0, "num_clients": 1, "b": 0.0}
    alone = fedsplit.distance_bound(kappa=kappa, t=t, **given)
    assert alone == pytest.approx(float(exact), rel=1e-9, abs=1e-300)
    with mpmath.workdps(120):
        other = (1 - 2 / (mpmath.mpf(kappa) + 1)) ** t
    found = nesterov.distance_bound(kappa=kappa, t=t, initial_distance=1.0)
    assert found == pytest.approx(float(other), rel=1e-9, abs=1e-300)
    if t < 2**63:
        both = fedsplit.distance_bound(kappa=kappa, t=np.array([1, t]), **given)
        assert both[1] == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("T", [10**6, 10**8, 10**12, 10**16, 10**40])
def test_the_bound_of_strongly_convex_feddyn_at_many_rounds(T: int) -> None:
    given = {"alpha": 1e12, "L": 1.0, "mu": 1e-3, "num_clients": 1, "num_active": 1, "D0": 1.0, "G": 0.0}
    with flint.ctx.workprec(2000):
        enclosed = feddyn.strongly_convex_bound(**{n: flint.arb(v) for n, v in given.items()}, T=flint.arb(T))
    assert feddyn.strongly_convex_bound(**given, T=T) == pytest.approx(float(enclosed), rel=1e-9, abs=1e-300)


def test_tensors_say_that_they_lose_the_digits_of_powers() -> None:
    kappa = torch.tensor([1e33], dtype=torch.float64)
    with pytest.raises(InvalidInput, match="loses its digits"):
        fedsplit.distance_bound(kappa=kappa, t=10**17, initial_distance=1.0, num_clients=1, b=0.0)
    assert fedsplit.distance_bound(kappa=kappa, t=10**6, initial_distance=1.0, num_clients=1, b=0.0) > 0.999


def test_powers_in_every_kind() -> None:
    for t in (5, 5.0, Fraction(5), np.int64(5), flint.arb(5)):
        given = {"t": t, "stepsize": Fraction(1, 2), "mu": 1, "L": 3, "initial_distance": 32}
        assert nesterov.distance_after(**given) == 1
    given = {"stepsize": 0.5, "mu": 1.0, "L": 3.0, "initial_distance": 32.0}
    assert nesterov.distance_after(t=np.arange(1, 6), **given).tolist() == [16, 8, 4, 2, 1]
    still = {"stepsize": Fraction(1, 3), "mu": 3, "L": 3, "initial_distance": 7}
    assert nesterov.distance_after(t=1, **still) == 0
    assert ghadimi_lan.convex_bound(N=4, L=1, D0=1, sigma2=Fraction(1), D=1) == Fraction(5, 4)
