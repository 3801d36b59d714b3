"""Drawn methods, stepsizes, participation schemes, weights, partitions and runs are valid and varied."""

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_makers import assert_refused

import fedconvex as fc
from fedconvex import strategies
from fedconvex.errors import InvalidInput, NoMinimizer
from fedconvex.methods import METHODS
from fedconvex.strategies.stepsizes import RULES

pytestmark = pytest.mark.beyond_core  # runs Hypothesis inside its tests

CURVED = strategies.quadratic_problems(mu=1, L=10, max_clients=2, max_dim=2, positive_weights=True)


def test_all_methods_and_choices_occur(drawn: Any) -> None:
    found = drawn(strategies.methods(), 400)
    wanted = {name: lambda method, kind=kind: type(method) is kind for name, kind in METHODS.items()}
    assert found.missing(wanted) == []
    splits = drawn(strategies.methods(kinds=fc.FedSplit), 100)
    assert splits.missing({s: lambda method, s=s: method.start == s for s in ("center", "server", "warm")}) == []


@given(strategies.methods(Fraction(1, 3), 2, kinds=[fc.FedProx, fc.Scaffold]))
def test_numbers_of_methods(method: Any) -> None:
    assert type(method) in (fc.FedProx, fc.Scaffold)
    asked = method.mu if isinstance(method, fc.FedProx) else method.stepsize
    assert Fraction(1, 3) <= asked <= 2


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", sorted(RULES))
def test_drawn_stepsizes_converge(name: str) -> None:
    """A second route: the eigenvalues of one round, decided exactly."""

    @given(CURVED, st.data())
    def converges(problem: Any, data: Any) -> None:
        kind = METHODS[name]
        found = strategies.admissible(kind, problem)
        value = data.draw(strategies.stepsizes_for(kind, problem))
        assert value in found
        assert fc.fixed_point(kind(**{found.parameter: value}), problem, arithmetic="exact").attracting is not False

    converges()


@given(CURVED, st.data(), st.integers(1, 3), st.sampled_from([1, 2]))
def test_scaffold_with_local_steps(problem: Any, data: Any, steps: int, option: Any) -> None:
    template = fc.Scaffold(stepsize=1, local_steps=steps, option=option)
    method = replace(template, stepsize=data.draw(strategies.stepsizes_for(template, problem)))
    assert fc.fixed_point(method, problem, arithmetic="exact").attracting


def test_beyond_the_interval_methods_diverge() -> None:
    """The ends are ends: at 2/L gradient descent on one client no longer converges."""
    problem = fc.Quadratic([[[4]]], [[1]])
    found = strategies.admissible(fc.FedGD, problem)
    assert found.below is not None
    assert Fraction(499_999, 1_000_000) < found.below <= Fraction(1, 2)  # L is known by a bound
    assert fc.fixed_point(fc.FedGD(stepsize=found.below * Fraction(999, 1000)), problem, arithmetic="exact").attracting
    assert "Baillon" in found.source
    assert not fc.fixed_point(fc.FedGD(stepsize=Fraction(1, 2)), problem, arithmetic="exact").attracting
    assert Fraction(1, 2) not in found
    assert Fraction(0) not in found
    corrected = strategies.admissible(fc.DANE, fc.Quadratic([[[4]], [[1]]], [[1], [0]]))
    assert 1 <= corrected.above < Fraction(100_001, 100_000)


@given(strategies.logistic_problems(), st.data())
def test_floats_stay_inside(problem: Any, data: Any) -> None:
    value = data.draw(strategies.stepsizes_for(fc.FedGD, problem, exact=False))
    assert isinstance(value, float)
    assert value in strategies.admissible(fc.FedGD, problem)


def test_where_nothing_is_known_it_says_so() -> None:
    saddle = fc.Quadratic([[[1]], [[-1]]], [[0], [0]])
    flat = fc.LeastSquares([[[1, 0]]], [[1]])
    with pytest.raises(InvalidInput, match="not convex"):
        strategies.stepsizes_for(fc.FedGD, saddle)
    with pytest.raises(InvalidInput, match="known to converge"):
        strategies.stepsizes_for(fc.FedAvg, flat)
    with pytest.raises(InvalidInput, match="one minimiser"):
        strategies.stepsizes_for(fc.FedDyn, flat)
    with pytest.raises(NoMinimizer):
        strategies.stepsizes_for(fc.FedGD, fc.Quadratic([[[0]]], [[1]]))
    with pytest.raises(InvalidInput, match="server_stepsize"):
        strategies.stepsizes_for(fc.Scaffold(stepsize=1, server_stepsize=Fraction(1, 2)), fc.Quadratic([[[1]]], [[1]]))


@given(st.integers(1, 4), st.integers(1, 3), st.data())
def test_schemes_fit(num_clients: int, rounds: int, data: Any) -> None:
    scheme = data.draw(strategies.participation_schemes(num_clients=num_clients, rounds=rounds))
    problem = fc.Quadratic([[[1]]] * num_clients, [[0]] * num_clients)
    assert len(fc.simulate(fc.FedGD(stepsize=1), problem, rounds, scheme, progress=False).points) == rounds + 1


def test_all_schemes_occur(drawn: Any) -> None:
    found = drawn(strategies.participation_schemes(num_clients=3), 150)
    occurs = {kind.__name__: lambda scheme, kind=kind: type(scheme) is kind for kind in fc.participation.SCHEMES}
    assert found.missing(occurs, at_least=1) == []
    wanted = {f"{K} of 3": lambda scheme, K=K: scheme == fc.participation.Uniform(K) for K in (1, 2, 3)}
    assert found.missing(wanted, at_least=1) == []


@given(strategies.weights(min_clients=2, max_clients=4))
def test_weights(drawn_weights: list[Any]) -> None:
    assert 2 <= len(drawn_weights) <= 4
    assert sum(drawn_weights) > 0
    assert min(drawn_weights) >= 0


def test_silent_clients_occur(drawn: Any) -> None:
    found = drawn(strategies.weights(min_clients=2), 100)
    assert found.missing({"silent": lambda w: 0 in w, "unequal": lambda w: len(set(w)) > 1}) == []


@given(strategies.partitions(1, 4, min_samples=4, max_samples=9))
def test_partitions(parts: list[np.ndarray]) -> None:
    assert 1 <= len(parts) <= 4
    assert all(len(part) and (np.diff(part) > 0).all() and part.dtype == np.int64 for part in parts)
    everything = np.sort(np.concatenate(parts))
    assert np.array_equal(everything, np.arange(len(everything)))


@given(strategies.trajectories(1, 2))
def test_trajectories(run: fc.Trajectory) -> None:
    assert 2 <= len(run.points) <= 3
    assert all(isinstance(entry, Fraction) for entry in run.points.ravel())
    assert run.points.shape[1] == run.problem.dim


def test_a_new_method_s_numbers_are_drawn() -> None:
    """Every number that has no default: else the class could not be made at all."""
    for kind in METHODS.values():
        wanted = [f.name for f in fields(kind) if f.metadata.get("number")]
        assert wanted, kind


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: strategies.quadratic_problems(3, 1), "max_value"),
        (lambda: strategies.quadratic_problems(mu=2, L=1), "L"),
        (lambda: strategies.quadratic_problems(L=-1), "L"),
        (lambda: strategies.quadratic_problems(mu="one"), "mu"),
        (lambda: strategies.least_squares_problems(min_clients=3, max_clients=2), "max_clients"),
        (lambda: strategies.least_squares_problems(max_dim=0), "max_dim"),
        (lambda: strategies.least_squares_problems(0, 0, full_rank=True), "max_value"),
        (lambda: strategies.logistic_problems(ridge=-1), "ridge"),
        (lambda: strategies.multinomial_problems(num_classes=1), "num_classes"),
        (lambda: strategies.weights(0, 0), "max_value"),
        (lambda: strategies.weights(-1), "min_value"),
        (lambda: strategies.participation_schemes(num_clients=0), "num_clients"),
        (lambda: strategies.participation_schemes(1, 4, num_clients=3), "max_value"),
        (lambda: strategies.participation_schemes(kinds=int), "kinds"),
        (lambda: strategies.methods(0), "min_value"),
        (lambda: strategies.methods(kinds=[int]), "kinds"),
        (lambda: strategies.methods(kinds=[]), "kinds"),
        (lambda: strategies.partitions(3, 4, min_samples=2), "min_samples"),
        (lambda: strategies.trajectories(-1), "min_value"),
        (lambda: strategies.constants(names=("kappa",)), "names"),
        (lambda: strategies.constants(3, 2), "max_value"),
        (lambda: strategies.satisfying("fedprox.theorem4"), "statement"),
    ],
)
def test_bad_input_is_named_before_anything_is_drawn(call: Any, named: str) -> None:
    assert assert_refused(call).argument == named
