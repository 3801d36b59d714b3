"""The papers' thresholds, met exactly or missed by less than a float resolves: in numbers, arrays and balls."""

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy
import torch

from fedconvex.errors import InvalidInput
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import sqrt
from fedconvex.theory import feddyn, fedprox, fedsplit, nesterov

ACAR = {"num_clients": 4, "num_active": 2, "T": 10, "D0": 1, "G": 1}


@pytest.mark.parametrize(
    ("alpha", "L"),
    [
        (27.5, 1.1), (np.float64(27.5), 1.1), (Fraction(55, 2), 1.1),
        (Fraction(55, 2) - Fraction(1, 10**24), Fraction(11, 10)),
        (25 - Fraction(1, 10**24), 1), (25 - Fraction(1, 10**24), 1.0), (math.nextafter(25, 0), 1),
        (np.float32(27.5), np.float64(1.1)),
        (27.5, np.nextafter(np.float32(1.1), np.float32(2))), (np.longdouble(25) - np.longdouble(2) ** -58, 1),
        (24, 1), (flint.arb(25) - flint.arb(2) ** -40, 1), (sympy.Rational(25) - sympy.Rational(1, 10**30), 1),
        (25 * sympy.sqrt(2) - sympy.Rational(1, 10**30), sympy.sqrt(2)),
    ],
    ids=repr,
)  # fmt: skip
def test_alpha_below_its_threshold(alpha: Any, L: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^alpha = .*feddyn\.theorem2 needs alpha >= 25\*L"):
        feddyn.convex_bound(alpha=alpha, L=L, **ACAR)


@pytest.mark.parametrize(
    ("alpha", "L"),
    [
        (27.500000000000004, 1.1), (Fraction(55, 2), Fraction(11, 10)), (25 + Fraction(1, 10**24), 1),
        (25, 1), (25.0, 1.0),
        (27.5, Fraction(11, 10)), (math.nextafter(25, 26), 1), (np.float32(27.5), Fraction(11, 10)), (flint.arb(25), 1),
        (flint.arb(25), flint.arb(1)), (25 * sympy.sqrt(2), sympy.sqrt(2)), (25 * Fraction(1.1), 1.1),
        (np.longdouble(25) + np.longdouble(2) ** -58, 1),
    ],
    ids=repr,
)  # fmt: skip
def test_alpha_at_its_threshold_or_above(alpha: Any, L: Any) -> None:
    assert feddyn.convex_bound(alpha=alpha, L=L, **ACAR) is not None


def test_the_thresholds_inside_arrays() -> None:
    good = np.array([[28.0, 27.500000000000004], [30.0, 27.500000000000007]])
    assert feddyn.convex_bound(alpha=good, L=1.1, **ACAR).shape == (2, 2)
    bad = good.copy()
    bad[1, 1] = bad[0, 1] = 27.5
    for L in (1.1, np.array([1.1]), np.full((2, 2), 1.1), Fraction(1.1)):
        with pytest.raises(InvalidInput, match=r"^alpha\[0, 1\] = 27\.5: feddyn\.theorem2 needs alpha >= 25\*L"):
            feddyn.convex_bound(alpha=bad, L=L, **ACAR)
    assert feddyn.convex_bound(alpha=bad, L=Fraction(11, 10), **ACAR).shape == (2, 2)
    with pytest.raises(InvalidInput, match=r"^alpha\[0, 1\] = 27\.5"):
        feddyn.convex_bound(alpha=bad, L=Fraction(11, 10) + Fraction(1, 10**24), **ACAR)
    with pytest.raises(InvalidInput, match=r"^alpha\[1\] = 27\.5"):
        feddyn.convex_bound(alpha=torch.tensor([28.0, 27.5], dtype=torch.float64), L=1.1, **ACAR)
    assert len(feddyn.convex_bound(alpha=torch.tensor([28.0, 27.5]), L=Fraction(11, 10), **ACAR)) == 2
    with pytest.raises(InvalidInput, match=r"^alpha\[1\] = 27\.5"):
        feddyn.convex_bound(alpha=np.array([28, 27.5], dtype=np.float32), L=1.1, **ACAR)


def test_one_scalar_against_an_array_of_bounds() -> None:
    with pytest.raises(
        InvalidInput, match=r"^alpha = 27\.5: feddyn\.theorem2 needs alpha >= 25\*L = 27\.5|^alpha = 27\.5"
    ):
        feddyn.convex_bound(alpha=27.5, L=np.array([1.0, 1.1, 1.2]), **ACAR)
    assert len(feddyn.convex_bound(alpha=27.5, L=np.array([1.0, np.nextafter(1.1, 0)]), **ACAR)) == 2


def test_thresholds_of_several_roundings_inside_arrays() -> None:
    """20Lm/P rounds three times: what floats say of α beside it is checked against rational numbers."""
    random = np.random.default_rng(3)
    count = 4000
    L, m = random.uniform(0.1, 9, count), random.integers(1, 60, count)
    P = random.integers(1, m + 1)
    alpha = 20 * L * m / P
    alpha = np.choose(random.integers(0, 3, count), [np.nextafter(alpha, 0), alpha, np.nextafter(alpha, 1e9)])
    numbers = zip(*(v.tolist() for v in (alpha, L, m, P)), strict=True)
    holds = np.array([Fraction(a) * p >= 20 * Fraction(l) * n for a, l, n, p in numbers])
    wrong_in_floats = (alpha >= 20 * L * m / P) & ~holds & (alpha > 20 * L * m / P)
    assert wrong_in_floats.sum() > 10
    rest = {"T": 1, "delta": 1, "spread": 1}
    assert len(
        feddyn.nonconvex_bound(alpha=alpha[holds], L=L[holds], num_clients=m[holds], num_active=P[holds], **rest)
    )
    for start in range(0, count, 100):
        left = ~holds[start:]
        with pytest.raises(InvalidInput, match=rf"^alpha\[{left.argmax()}\] = .*needs alpha >= 20\*L"):
            feddyn.nonconvex_bound(
                alpha=alpha[start:], L=L[start:], num_clients=m[start:], num_active=P[start:], **rest
            )


ON_THE_EDGE = [
    (fedprox.rho, {"mu": 1, "L": 0, "L_minus": 0, "B": 1, "gamma": 0, "K": 1}),
    (fedprox.rho, {"mu": 1, "L": 0, "L_minus": 0, "B": 1, "gamma": 1, "K": 1}),
    (fedprox.rho_bounded_variance, {"mu": 1, "L": 0, "L_minus": 0, "sigma2": 0, "epsilon": 1, "gamma": 0, "K": 1}),
    (fedprox.iterations, {"delta": 0, "rho": 1, "epsilon": 1}),
    (fedprox.convex_choice, {"L": 1, "B": 2, "K": 16}),
    (fedprox.dissimilarity, {"mean_square": 1, "square": 1}),
    (fedprox.inexactness, {"residual": 0, "client_gradient": 1}),
    (fedsplit.distance_bound, {"t": 1, "kappa": 1, "initial_distance": 0, "num_clients": 1, "b": 0}),
    (fedsplit.optimal_stepsize, {"mu": 2, "L": 2}),
    (fedsplit.complexities, {"kappa": 1, "epsilon": 1}),
    (feddyn.convex_bound, {"alpha": 25, "L": 1, "num_clients": 1, "num_active": 1, "T": 1, "D0": 0, "G": 0}),
    (feddyn.strongly_convex_bound,
     {"alpha": 30, "L": 1, "mu": 1, "num_clients": 6, "num_active": 1, "T": 1, "D0": 0, "G": 0}),
    (feddyn.nonconvex_bound, {"alpha": 40, "L": 1, "num_clients": 2, "num_active": 1, "T": 1, "delta": 0, "spread": 0}),
    (feddyn.convex_rounds, {"alpha": 25, "L": 1, "num_clients": 1, "num_active": 1, "D0": 0, "G": 0, "epsilon": 1}),
    (nesterov.distance_after, {"t": 1, "stepsize": 1, "mu": 1, "L": 1, "initial_distance": 0}),
    (nesterov.decrease, {"stepsize": 2, "L": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("calculator", "given"), ON_THE_EDGE, ids=lambda value: getattr(value, "owner", None))
def test_everything_on_the_edge(calculator: Any, given: dict[str, Any]) -> None:
    """Values that the papers allow, read off their pages: zeros, ones, everyone takes part, thresholds met exactly."""
    for convert in (int, float, Fraction, np.array, lambda v: np.array([float(v)])):
        assert calculator(**{n: convert(v) for n, v in given.items()}) is not None


def test_an_irrational_threshold() -> None:
    """Lemma 1 of the FedDyn paper: α > (10 + √140)L, in floats one ulp apart."""
    with flint.ctx.workprec(200):
        threshold = 10 + flint.arb(140).sqrt()
        below = float(threshold.mid())
        if flint.arb(below) > threshold:
            below = math.nextafter(below, 0)
    above = math.nextafter(below, 99)
    given = {"L": 1, **ACAR}
    assert feddyn.convex_bound_of_lemma(alpha=above, **given) > 0
    with pytest.raises(InvalidInput, match=f"^alpha = {below!r}"):
        feddyn.convex_bound_of_lemma(alpha=below, **given)
    with pytest.raises(InvalidInput, match=rf"^alpha\[1\] = {below!r}"):
        feddyn.convex_bound_of_lemma(alpha=np.array([above, below, below]), **given)
    digits = 10**200
    exact = Fraction(math.isqrt(140 * digits**2), digits) + 10
    with pytest.raises(InvalidInput, match=r"needs alpha > "):
        feddyn.convex_bound_of_lemma(alpha=exact, **given)
    assert feddyn.convex_bound_of_lemma(alpha=exact + Fraction(1, digits), **given) > 0


@pytest.mark.parametrize("relation", [">=", "<=", ">", "<"])
def test_a_bound_that_is_no_number_is_not_met(relation: str) -> None:
    """√y − 1/(√y² − y): no precision tells the denominator from 0, and every comparison with the result is False."""
    nowhere = Condition("x", relation, lambda y: sqrt(y) - 1 / (sqrt(y) ** 2 - y))
    equal = Condition("x", relation, lambda y: sqrt(y) + 1 - sqrt(y))
    assert nowhere.check("x", {"x": 2, "y": 3}) is not None
    assert (equal.check("x", {"x": 1, "y": 3}) is None) is (relation in (">=", "<="))


AT = {"mu": 50, "L": 1, "L_minus": 0, "B": 1, "gamma": 0, "K": 10}
BALLS = {**AT, "B": flint.arb(1.2), "mu": flint.arb(50, 0.125)}
UNDECIDED = "which this ball does not decide"
BEYOND = [
    (fedprox.rho, {**AT, "B": 1 - Fraction(1, 10**20)}, r"^B = 99999999999999999999/10+: .*theorem4 needs B >= 1"),
    (fedprox.rho, {**AT, "mu": 2, "L_minus": 2}, r"^mu = 2: fedprox\.theorem4 needs mu > L_minus = 2"),
    (fedprox.rho, {**AT, "gamma": 1 + Fraction(1, 10**30)}, r"^gamma = .*needs gamma <= 1"),
    (fedprox.rho, {**AT, "K": 0}, r"^K = 0: .*needs K >= 1"),
    (fedprox.rho, {**AT, "K": -3}, r"^K = -3: "),
    (fedprox.rho, {**BALLS, "L_minus": flint.arb(49.9375)},
     rf"mu > L_minus = 49\.9.* {UNDECIDED}; give a narrower ball"),
    (fedprox.rho, {**BALLS, "L_minus": flint.arb(51)}, r"needs mu > L_minus.*; give mu > L_minus"),
    (feddyn.convex_bound, {"alpha": flint.arb(25, 1e-9), "L": 1, **ACAR}, UNDECIDED),
    (feddyn.convex_bound, {"alpha": flint.arb(25), "L": flint.arb(1, 1e-9), **ACAR}, UNDECIDED),
    (fedsplit.distance_bound, {"t": 1, "kappa": 0.99, "initial_distance": 1, "num_clients": 1},
     r"^kappa = 0\.99.*fedsplit\.theorem1 needs kappa >= 1"),
    (fedsplit.optimal_stepsize, {"mu": 2, "L": 1}, r"^mu = 2: fedsplit: Theorem 1 needs mu <= L = 1"),
    (nesterov.gradient_bound, {"T": 1, "stepsize": 0.5, "L": 4, "delta": 1},
     r"^stepsize = 0\.5: nesterov\.smoothfunctions needs stepsize < 2/L"),
]  # fmt: skip


@pytest.mark.parametrize(("calculator", "given", "says"), BEYOND)
def test_at_a_threshold_or_beyond_it(calculator: Any, given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        calculator(**given)


def test_just_inside() -> None:
    assert float(1 - Fraction(1, 10**20)) == 1  # floats do not see how far beyond it is
    assert fedprox.rho(**{**AT, "B": Fraction(1)}) > 0
    assert fedprox.rho(**{**AT, "mu": 2 + Fraction(1, 10**30), "L_minus": 2}) < 0
    assert nesterov.gradient_bound(T=1, stepsize=math.nextafter(0.5, 0), L=4, delta=1) > 0


def test_balls_that_do_not_decide() -> None:
    """A theorem's condition must be certain; a letter's own range need not."""
    at = {**AT, "B": flint.arb(1.2)}
    for letter, wide, outside in (
        ("B", flint.arb(1, 1e-3), flint.arb(0.9, 1e-3)),
        ("gamma", flint.arb(0, 1e-3), flint.arb(-0.1, 1e-3)),
        ("gamma", flint.arb(1, 1e-3), flint.arb(1.1, 1e-3)),
        ("L_minus", flint.arb(0, 1e-3), flint.arb(-1, 1e-3)),
        ("K", flint.arb(1, 0.1), flint.arb(0.5, 0.1)),
    ):
        assert fedprox.rho(**{**at, letter: wide}).is_finite()
        with pytest.raises(InvalidInput, match=f"^{letter} = .*fedprox.theorem4 needs"):
            fedprox.rho(**{**at, letter: outside})
