"""FedDyn and FedDynOneGD without convexity: how much of their bounds is used, and what the theorems need."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from feddyn_quantities import slopes

import fedconvex as fc
from fedconvex import participation
from fedconvex.proofs_checks.feddyn.exact_runs import rational
from fedconvex.proofs_checks.feddyn.tightness import tightness
from fedconvex.theory import feddyn

pytestmark = pytest.mark.beyond_core  # takes seconds


def quotient(key: str) -> Any:
    found = tightness(feddyn.PAPER.find(key), key)
    assert found is not None
    return found.quotient


def test_quotients_found() -> None:
    assert quotient("lemma11") == Fraction(1, 3)
    assert quotient("lemma11sharper") == 1
    assert quotient("lemma12sharper") == 1
    assert quotient("theorem4") > Fraction(1, 3)
    for name in ("lemma17", "lemma18", "lemma21", "equation19", "lemma19sharper"):
        assert quotient(name) == 1, name
    assert Fraction(42, 100) < quotient("lemma19") < Fraction(43, 100)


def drawn(number: int) -> Any:
    """Curvatures of both signs with a positive mean, α at least 20 L m/P."""
    random = Random(number)
    m = random.randint(1, 3)
    P = random.randint(1, m)
    a = [Fraction(random.choice([-3, -2, -1, 1, 2, 3]), 2) for _ in range(m)]
    while sum(a) <= 0:
        a[random.randrange(m)] += 2
    a = [x if x else Fraction(1, 3) for x in a]
    c = tuple(Fraction(random.randint(-6, 6), 2) for _ in range(m))
    alpha = 20 * max(map(abs, a)) * Fraction(m, P) * Fraction(random.randint(10, 15), 10)
    return tuple(a), c, alpha, P, Fraction(random.randint(-4, 4)), random.randint(1, 2)


def test_the_sharper_theorem_is_below_the_papers() -> None:
    for number in range(40):
        curvatures, _, alpha, P, _, t = drawn(number)
        given = {
            "alpha": alpha, "L": max(map(abs, curvatures)), "num_clients": Fraction(len(curvatures)), "num_active": P,
            "T": t, "delta": Fraction(3), "spread": Fraction(5),
        }  # fmt: skip
        assert feddyn.nonconvex_bound_sharper(**given) < feddyn.nonconvex_bound(**given) * Fraction(3, 4)


def test_a_smaller_theorem_would_be_false() -> None:
    """On ½θ² with α = 4, over many rounds, the sharper bound is used to a quarter: a tenth of it does not hold."""
    happens, promised = slopes(feddyn.theorem4sharper)(((1,), (0,), 4, 1, 1, 20))
    assert promised / 10 < happens <= promised


def test_theorem5_needs_models_that_are_stationary() -> None:
    """With θ_k⁰ read as any models, θ⁰ say, the third case promises 0; two rounds' mean is 1/(2α²)."""
    problem, alpha = fc.Quadratic([[[1]], [[1]]], [[1], [-1]]), Fraction(100)
    method = fc.FedDynOneGD(alpha=alpha)
    averages: list[Any] = []
    for k in (0, 1):
        run = fc.simulate(method, problem, 1, participation.Schedule([[k]]), x0=[Fraction(0)], arithmetic="exact")
        averages.append(rational(run.points[1][0]) + rational(run.state.shared["h"][0]) / alpha)
    squared = [(0 + x**2) / 2 for x in averages]  # ∇ℓ(γ) = γ; γ⁰ = 0
    assert squared == [1 / (2 * alpha**2)] * 2
    given = {"L": 1, "mu": 1, "num_clients": 2, "num_active": 1, "T": 2, "D0": 0, "G": 1, "delta": 0, "spread": 0}
    assert feddyn.theorem5(**given).nonconvex == 0
