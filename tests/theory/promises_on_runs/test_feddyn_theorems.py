"""FedDyn's bounds after T rounds hold on exact runs over all draws; their slack, and the effect of alpha."""

from fractions import Fraction

import numpy as np
import pytest
from bound_makers import gradient, lower, mean, square, upper
from dynamic_runs import DynamicRuns, dynamic_runs
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few
from promises import Asked, at_most, promised

import fedconvex as fc
from fedconvex.statements.instance import Instance
from fedconvex.theory import feddyn
from fedconvex.theory.bounds import Applies

HALF = Fraction(1, 2)


@few
@given(dynamic_runs(fc.FedDyn), st.integers(1, 2))
def test_theorems_2_to_4(runs: DynamicRuns, T: int) -> None:
    runs.T = T
    bounds, applied = runs.bounds(), 0
    r = 1 + lower(Instance(runs.problem, runs.method).mu) / runs.alpha
    for name, number in {
        "theorem2": mean(runs.gap(mean(averages)) for averages in _averages(runs, T)),
        "theorem3": mean(runs.gap(_weighted(averages, r)) for averages in _averages(runs, T)),
        "theorem4": mean(mean(square(gradient(runs.terms, x)) for x in averages) for averages in _averages(runs, T)),
    }.items():
        if isinstance(bounds[f"feddyn.{name}"], Applies):
            assert at_most(number, bounds[f"feddyn.{name}"].value)
            applied += 1
    assert applied == 3 or runs.alpha < 150 * upper(Instance(runs.problem, runs.method).smoothness)


@few
@given(dynamic_runs(fc.FedDynOneGD), st.integers(1, 2))
def test_equations_18_and_20(runs: DynamicRuns, T: int) -> None:
    runs.T = T
    bounds = runs.bounds()
    third = 1 + lower(Instance(runs.problem, runs.method).mu) / (3 * runs.alpha)
    gaps = [[runs.gap(x) for x in averages] for averages in _averages(runs, T)]
    slopes = [[square(gradient(runs.terms, x)) for x in averages] for averages in _averages(runs, T)]
    for name, number in {
        "equation18": mean(sum(third**t * gap for t, gap in enumerate(row)) / T for row in gaps),
        "equation20": mean(map(mean, slopes)),
    }.items():
        entry = bounds[f"feddyn.{name}"]
        if isinstance(entry, Applies):
            assert at_most(number, entry.value)
        else:
            assert "alpha" in entry.assumption


def _averages(runs: DynamicRuns, T: int) -> list[list[np.ndarray]]:
    """γ⁰, …, γ^{T−1} for every sequence of sets."""
    return [[runs.average(s[:t]) for t in range(T)] for s in runs.sequences(T - 1)]


def _weighted(points: list[np.ndarray], r: Fraction) -> np.ndarray:
    return sum(r**t * x for t, x in enumerate(points)) / sum(r**t for t in range(len(points)))


ONE = fc.Quadratic([[[1]]], [[0]])


@pytest.mark.parametrize(
    ("name", "alpha", "number", "loose"),
    [("theorem2", 26, HALF, 520), ("theorem3", 31, HALF, 1240), ("theorem4", 21, Fraction(1), 33)],
)
def test_the_theorems_are_loose_by_so_much_and_no_more(name: str, alpha: int, number: Fraction, loose: int) -> None:
    """On ½x² from 1, with one round: the gap is 1/2, the squared gradient 1."""
    bound = promised(Asked(fc.FedDyn(alpha=alpha), ONE, x0=[1], rounds=1), f"feddyn.{name}")
    assert number <= lower(bound)
    assert number > upper(bound) / (loose * Fraction(101, 100))


def test_theorem2_is_false_for_small_alpha() -> None:
    """At α = 1/100 the formula gives less than the gap: the condition on α matters, and is refused."""
    assert (
        feddyn.convex_bound.calculator.formula(alpha=Fraction(1, 100), L=1, num_clients=1, num_active=1, T=1, D0=1, G=0)
        < HALF
    )
    entry = Asked(fc.FedDyn(alpha=Fraction(1, 100)), ONE, x0=[1], rounds=1)["feddyn.theorem2"]
    assert not isinstance(entry, Applies)
    assert entry.assumption == "alpha >= 25*L"
