"""FedDynOneGD: how much of its bounds is used, and exact runs."""

from fractions import Fraction
from typing import Any

import pytest
from drawn_federations import drawn
from feddyn_quantities import of, quantities

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
    for name in ("lemma17", "lemma18", "lemma21", "equation19", "lemma19sharper"):
        assert quotient(name) == 1, name
    assert Fraction(42, 100) < quotient("lemma19") < Fraction(43, 100)


@pytest.mark.parametrize("number", range(25))
def test_exact_runs_keep_lemma_19_sharper(number: int) -> None:
    found = quantities(drawn(number, 2), True)
    assert found["epsilon"] <= of(feddyn.lemma19sharper.calculator, found)


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
