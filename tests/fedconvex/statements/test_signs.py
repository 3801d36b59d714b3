"""The sign of a formula at, beside and far from its zeros, against rational numbers."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import reference_rho
import sympy
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from statement_makers import ball

from fedconvex.errors import InvalidInput
from fedconvex.statements import Sign
from fedconvex.theory import fedprox, fedsplit, nesterov

RATIONAL_ROOTS = (2, 8, 18, 32, 50, 72, 200, 5000)  # 2K is a square
ZEROS = [
    {"mu": mu, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    for mu in (Fraction(7, 3), Fraction(50))
    for L_minus in (Fraction(0), Fraction(1, 3))
    for B, gamma in ((Fraction(1), Fraction(0)), (Fraction(6, 5), Fraction(1, 100)))
    for K in (18, 50, 5000)
]
fractions = st.fractions(min_value=0, max_value=50, max_denominator=1000)


def of_value(value: Any) -> Sign:
    return Sign.POSITIVE if value > 0 else Sign.NEGATIVE if value < 0 else Sign.ZERO


def zero(at: dict[str, Any]) -> Fraction:
    """The L, a rational number, for which ρ is exactly 0."""
    L = reference_rho.smoothness_of_no_decrease(**at, root=reference_rho.root_of_double(at["K"]))
    assert isinstance(L, Fraction)
    assert L > 0
    return L


@pytest.mark.parametrize("at", ZEROS, ids=str)
def test_exact_zero(at: dict[str, Any]) -> None:
    L = zero(at)
    assert fedprox.rho(L=L, **at) == 0
    assert fedprox.rho.sign(L=L, **at) is Sign.ZERO
    assert fedprox.rho_variable.sign(L=L, **{n: v for n, v in at.items() if n != "gamma"}, gammas=[at["gamma"]]) is (
        Sign.ZERO
    )


@pytest.mark.parametrize("at", ZEROS, ids=str)
@pytest.mark.parametrize("digits", [24, 300])
def test_beside_an_exact_zero_where_floats_are_blind(at: dict[str, Any], digits: int) -> None:
    below, above = (zero(at) * (1 + way * Fraction(1, 10**digits)) for way in (-1, 1))
    assert fedprox.rho.sign(L=below, **at) is Sign.POSITIVE
    assert fedprox.rho.sign(L=above, **at) is Sign.NEGATIVE
    floats = [
        fedprox.rho(L=float(L), **{n: v if n == "K" else float(v) for n, v in at.items()}) for L in (below, above)
    ]
    assert floats[0] == floats[1]  # whatever it says, it is wrong of one of them


@pytest.mark.parametrize("K", [3, 10, 101])
@pytest.mark.parametrize("digits", [24, 300])
def test_beside_an_irrational_zero(K: int, digits: int) -> None:
    at = {"mu": Fraction(50), "L_minus": Fraction(1, 3), "B": Fraction(1), "gamma": Fraction(0), "K": K}
    with flint.ctx.workprec(2000):
        L = reference_rho.smoothness_of_no_decrease(
            **{n: v if n == "K" else ball(v) for n, v in at.items()}, root=reference_rho.root_of_double(K)
        )
        below = Fraction(int((L * 10**digits).floor().unique_fmpz()), 10**digits)
    above = below + Fraction(1, 10**digits)
    assert fedprox.rho.sign(L=below, **at) is Sign.POSITIVE
    assert fedprox.rho.sign(L=above, **at) is Sign.NEGATIVE
    needed = digits * 3.2  # bits
    enough = 1 << int(needed).bit_length() + 1
    for L in (below, above):
        assert fedprox.rho.sign(L=L, **at, limit=int(needed) // 2) is Sign.UNKNOWN
        assert fedprox.rho.sign(L=L, **at, limit=enough) is not Sign.UNKNOWN


@given(
    mu=fractions, L=fractions, L_minus=fractions, extra=fractions, gamma=fractions, K=st.sampled_from(RATIONAL_ROOTS)
)
def test_sign_is_that_of_the_rational_number(
    mu: Fraction, L: Fraction, L_minus: Fraction, extra: Fraction, gamma: Fraction, K: int
) -> None:
    assume(mu > 0)
    at = {"mu": L_minus + mu, "L": L, "L_minus": L_minus, "B": 1 + extra / 50, "gamma": gamma / 50, "K": K}
    exact = reference_rho.rho(**at, root=reference_rho.root_of_double(K))
    assert fedprox.rho.sign(**at) is of_value(exact)
    assert fedprox.rho(**at) == exact


def test_unknown_where_the_limit_is_too_small_for_anything() -> None:
    at = {"mu": 50, "L": 1, "L_minus": 0, "B": 1, "gamma": 0, "K": 10}
    assert fedprox.rho.sign(**at) is Sign.POSITIVE
    assert fedprox.rho.sign(**at, precision=64, limit=63) is Sign.UNKNOWN


@pytest.mark.parametrize("K", [3, 5, 7, 11])
def test_an_irrational_exact_zero_stays_unknown(K: int) -> None:
    """1/μ − √(2/K)·√(1 + σ²/ε)/μ vanishes for 1 + σ²/ε = K/2, both roots being irrational."""
    at = {"mu": 50, "L": 0, "L_minus": 0, "gamma": 0, "K": K, "epsilon": 2}
    sign = fedprox.rho_bounded_variance.sign
    assert sign(sigma2=K - 2, **at) is Sign.UNKNOWN
    for limit in (64, 1000, 1 << 13):
        assert sign(sigma2=K - 2, **at, limit=limit) is Sign.UNKNOWN
    tiny = Fraction(1, 10**300)
    assert sign(sigma2=K - 2 - tiny, **at) is Sign.POSITIVE
    assert sign(sigma2=K - 2 + tiny, **at) is Sign.NEGATIVE
    assert sign(sigma2=K - 2 + tiny, **at, limit=512) is Sign.UNKNOWN


def test_an_exact_zero_of_two_rational_roots() -> None:
    at = {"mu": 50, "L": 0, "L_minus": 0, "gamma": 0, "K": 8, "epsilon": 1}
    assert fedprox.rho_bounded_variance.sign(sigma2=3, **at) is Sign.ZERO


def test_balls_that_contain_a_zero_leave_the_sign_unknown() -> None:
    at = ZEROS[0]
    L = zero(at)
    with flint.ctx.workprec(200):
        middle = ball(L)
        wide, narrow = flint.arb(middle.mid(), flint.arb(1e-6)), flint.arb(middle.mid(), flint.arb(2) ** -180)
        for limit in (64, 1 << 12, 1 << 13):
            assert fedprox.rho.sign(L=wide, **at, limit=limit) is Sign.UNKNOWN
            assert fedprox.rho.sign(L=narrow, **at, limit=limit) is Sign.UNKNOWN
        for own, shift in ((wide, flint.arb(1e-5)), (narrow, flint.arb(1e-40))):
            assert fedprox.rho.sign(L=own - shift, **at) is Sign.POSITIVE
            assert fedprox.rho.sign(L=own + shift, **at) is Sign.NEGATIVE


def test_an_exact_zero_of_exact_balls_stays_unknown_or_zero() -> None:
    """Balls of no width: their zero may be proved or not, but no sign is made up."""
    exact = {"kappa": flint.arb(4), "b": flint.arb(1), "epsilon": flint.arb(3)}
    assert fedsplit.floor_margin.sign(**exact) in (Sign.ZERO, Sign.UNKNOWN)
    assert fedsplit.floor_margin.sign(kappa=4, b=1, epsilon=3) is Sign.ZERO


def test_arrays_of_signs_are_the_loop() -> None:
    at = ZEROS[1]
    L = zero(at)
    Ls = [L * (1 + Fraction(way, 10**30)) for way in (-1, 0, 1)]
    alone = [fedprox.rho.sign(L=value, **at) for value in Ls]
    assert alone == [Sign.POSITIVE, Sign.ZERO, Sign.NEGATIVE]
    floats = np.array([[0.0, 1e-3, 1.0, 1e3]]), np.array([[20.0], [50.0], [1e4]])
    rest = {"L_minus": 0.25, "B": 1.25, "gamma": 0.0, "K": 50}
    signs = fedprox.rho.sign(L=floats[0], mu=floats[1], **rest)
    assert signs.shape == (3, 4)
    assert {Sign.POSITIVE, Sign.NEGATIVE} == set(signs.ravel())
    for i, j in np.ndindex(3, 4):
        assert signs[i, j] is fedprox.rho.sign(L=float(floats[0][0, j]), mu=float(floats[1][i, 0]), **rest)


def test_arrays_with_exact_zeros() -> None:
    signs = fedsplit.floor_margin.sign(kappa=np.array([4.0, 4.0, 9.0]), b=1, epsilon=np.array([3.0, 3.5, 3.0]))
    assert list(signs) == [Sign.ZERO, Sign.POSITIVE, Sign.NEGATIVE]
    accuracies = [np.nextafter(3.0, 0), 3.0, np.nextafter(3.0, 4)]
    signs = fedsplit.floor_margin.sign(kappa=np.full(3, 4.0), b=1, epsilon=np.array(accuracies))
    assert list(signs) == [Sign.NEGATIVE, Sign.ZERO, Sign.POSITIVE]
    assert fedsplit.floor_margin.sign(kappa=np.ones((0, 2)), b=1, epsilon=1).shape == (0, 2)


def test_arrays_beside_balls_and_fractions() -> None:
    accuracy = np.array([2.5, 3.5])
    for kappa in (Fraction(4), flint.arb(4), 4, 4.0):
        assert list(fedsplit.floor_margin.sign(kappa=kappa, b=1, epsilon=accuracy)) == [Sign.NEGATIVE, Sign.POSITIVE]
    wide = flint.arb(4, 3)
    assert list(fedsplit.floor_margin.sign(kappa=wide, b=1, epsilon=np.array([3.0, 99.0]))) == [
        Sign.UNKNOWN,
        Sign.POSITIVE,
    ]


def test_a_sign_that_was_computed_has_no_truth_value_either() -> None:
    with pytest.raises(TypeError, match="compare it"):
        assert not fedprox.rho.sign(mu=1, L=100, L_minus=0, B=1, gamma=0, K=10)
    signs = fedsplit.floor_margin.sign(kappa=np.array([4.0]), b=1, epsilon=3)
    with pytest.raises(TypeError, match="no truth value"):
        signs.all()


@pytest.mark.parametrize("value", [torch.tensor([50.0]), torch.tensor(50.0), sympy.Integer(50), sympy.Symbol("mu")])
def test_tensors_and_symbols_have_no_certified_sign(value: Any) -> None:
    with pytest.raises(InvalidInput, match="no certified sign"):
        fedprox.rho.sign(mu=value, L=1, L_minus=0, B=1, gamma=0, K=10)


def test_a_sign_is_asked_of_admissible_arguments_only() -> None:
    at = {"L": 1, "L_minus": 2, "B": 1, "gamma": 0, "K": 10}
    with pytest.raises(InvalidInput, match=r"^mu = 2: fedprox\.theorem4 needs mu > L_minus"):
        fedprox.rho.sign(mu=2, **at)
    with pytest.raises(InvalidInput, match=r"^mu\[1, 0\] = 1\.0: fedprox\.theorem4 needs mu > L_minus = 2"):
        fedprox.rho.sign(mu=np.array([[3.0], [1.0]]), **at)
    with pytest.raises(InvalidInput, match=r"K = 10\.5"):
        fedprox.rho.sign(mu=3, **{**at, "K": 10.5})
    with pytest.raises(TypeError, match="nu"):
        fedprox.rho.sign(mu=3, **at, nu=1)


def test_the_largest_and_the_smallest_floats() -> None:
    tiny, huge = 5e-324, 1.7976931348623157e308
    assert fedsplit.floor_margin.sign(kappa=1, b=tiny, epsilon=2 * tiny) is Sign.ZERO
    assert fedsplit.floor_margin.sign(kappa=1, b=tiny, epsilon=tiny) is Sign.NEGATIVE
    assert fedsplit.floor_margin.sign(kappa=1, b=tiny, epsilon=Fraction(tiny) * 2 + Fraction(1, 10**900)) is (
        Sign.POSITIVE
    )
    assert fedsplit.floor_margin.sign(kappa=huge, b=huge, epsilon=huge) is Sign.NEGATIVE
    assert nesterov.shrinks.sign(stepsize=tiny, mu=tiny, L=huge) is Sign.POSITIVE
    assert nesterov.shrinks.sign(stepsize=huge, mu=huge, L=huge) is Sign.NEGATIVE
