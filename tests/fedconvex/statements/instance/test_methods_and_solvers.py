"""What an instance takes from method, local solver and participation; unmeasured constants, with the reason."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from bound_makers import starts, strongly_convex
from hypothesis import given
from hypothesis import strategies as st
from instance_makers import HALF, INDEFINITE, PAIR, QUARTER, near
from problem_makers import few, fraction, logistics

import fedconvex as fc
from fedconvex import participation
from fedconvex.errors import InvalidInput
from fedconvex.statements.instance import Instance, Unmeasured


@few
@given(
    st.data(),
    strongly_convex() | logistics(),
    st.sampled_from([Fraction(0), Fraction(1), Fraction(4)]),
    st.integers(1, 5),
    st.sampled_from([Fraction(1, 20), Fraction(1, 10), QUARTER]),
)
def test_gradient_steps_are_as_inexact_as_proved(
    data: Any, problem: Any, mu: Fraction, steps: int, stepsize: Fraction
) -> None:
    x, solver = data.draw(starts(problem)).astype(float), fc.GradientDescent(steps=steps, stepsize=stepsize)
    instance = Instance(problem, fc.FedProx(mu=mu), local_solver=solver)
    try:
        proved = float(instance.measure("inexactness"))
    except Unmeasured:
        assert float(stepsize * (mu + fraction(instance.smoothness))) > 2
        return
    for start in (x, x + 1):
        run = fc.simulate(fc.FedProx(mu=mu), problem, 1, local_solver=solver, x0=start, measure="inexactness")
        # beside a client's own minimiser the gradients, whose quotient it is, are rounding errors
        steep = np.linalg.norm(problem.client_gradients(start), axis=1) > 1e-3
        assert (run.client_inexactness[0, steep] <= proved * (1 + 1e-9) + 1e-12).all()


def test_the_proved_inexactness_is_reached() -> None:
    """One client of curvature 1, μ = 1, steps of 1/4: every step halves the subproblem's gradient."""
    problem, solver = fc.Quadratic([[[1]]], [[1]]), fc.GradientDescent(steps=3, stepsize=QUARTER)
    proved = Instance(problem, fc.FedProx(mu=1), local_solver=solver).inexactness
    run = fc.simulate(fc.FedProx(mu=1), problem, 1, local_solver=solver, measure="inexactness")
    assert run.client_inexactness[0, 0] == 1 / 8
    assert near(proved, 1 / 8)
    assert proved >= flint.arb(1) / 8


@few
@given(st.data(), strongly_convex(), st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]))
def test_solvers_that_say_their_inexactness(data: Any, problem: Any, gamma: Fraction) -> None:
    x, m = data.draw(starts(problem)), problem.num_clients
    each = [gamma] + [gamma / 2] * (m - 1)
    for solver in (fc.ToInexactness(gamma), fc.ToInexactness(each)):
        assert Instance(problem, fc.FedProx(mu=1), local_solver=solver).inexactness == gamma
        run = fc.simulate(fc.FedProx(mu=1), problem, 1, None, solver, x, arithmetic="exact", measure="inexactness")
        assert np.nanmax(run.client_inexactness) <= float(gamma) * (1 + 1e-12)
    assert Instance(problem, fc.FedProx(mu=1)).inexactness == 0


def test_what_the_method_says() -> None:
    assert Instance(PAIR, fc.FedProx(mu=7)).proximal_weight == 7
    assert Instance(PAIR, fc.FedSplit(stepsize=HALF)).stepsize == HALF
    assert Instance(PAIR, fc.FedDynOneGD(alpha=5)).alpha == 5
    assert Instance(PAIR, fc.FedSplit(stepsize=HALF)).prox_error == 0
    assert Instance(PAIR, fc.FedProx(mu=7), rounds=9).num_rounds == 9


@pytest.mark.parametrize(
    ("scheme", "everyone", "drawn"),
    [
        (None, True, 2),
        (participation.Full(), True, 2),
        (participation.Uniform(1), False, 1),
        (participation.Uniform(2), True, 2),
        (participation.Weighted(5), False, 5),
        (participation.UniformThenWeighted(1), False, 1),
        (participation.Schedule([[0, 1], [1, 0]]), True, 2),
        (participation.Schedule([[0, 1], [1]]), False, None),
        (participation.Bernoulli(HALF), False, None),
        (participation.Bernoulli(1), True, 2),
    ],
)
def test_who_takes_part(scheme: Any, everyone: bool, drawn: int | None) -> None:
    instance = Instance(PAIR, fc.FedProx(mu=1), scheme)
    assert instance.everyone is everyone
    assert instance.num_clients == 2
    if drawn is None:
        with pytest.raises(Unmeasured, match="number of devices in a round is not fixed"):
            instance.measure("num_drawn")
    else:
        assert instance.num_drawn == drawn


def test_draws_with_replacement_fix_no_number_of_different_devices() -> None:
    assert Instance(PAIR, fc.FedDyn(alpha=1), participation.Uniform(1)).num_active == 1
    with pytest.raises(Unmeasured, match="different devices"):
        Instance(PAIR, fc.FedDyn(alpha=1), participation.Weighted(1)).measure("num_active")


SEPARABLE = fc.Logistic([[[1]], [[2]]], [[1], [1]])
FALLING = fc.Quadratic([[[0]]], [[1]])
LONG = fc.GradientDescent(steps=1, stepsize=10)
UNKNOWN_SOLVER = fc.SGD(epochs=1, batch_size=1, stepsize=QUARTER)


@pytest.mark.parametrize(
    ("instance", "quantity", "reason"),
    [
        (Instance(INDEFINITE, fc.FedSplit(stepsize=QUARTER)), "mu", "curvature is not proved positive"),
        (Instance(INDEFINITE, fc.FedSplit(stepsize=QUARTER)), "condition_number", "curvature is not proved positive"),
        (Instance(INDEFINITE, fc.FedDyn(alpha=9)), "spread", "own functions are not enclosed"),
        (Instance(FALLING, fc.FedProx(mu=1)), "objective_convexity", "not proved strongly convex"),
        (Instance(FALLING, fc.FedProx(mu=1)), "minimizer", "no minimiser"),
        (Instance(FALLING, fc.FedProx(mu=1)), "initial_gap", "no minimiser"),
        (Instance(SEPARABLE, fc.FedProx(mu=1)), "distance", "no minimiser"),
        (Instance(PAIR, fc.FedProx(mu=1), point=[QUARTER]), "dissimilarity", "gradient is not 0"),
        (Instance(PAIR, fc.FedProx(mu=1)), "alpha", "FedProx has no alpha"),
        (Instance(PAIR, fc.FedProx(mu=1)), "stepsize", "FedProx has no stepsize"),
        (Instance(PAIR, fc.FedDyn(alpha=1)), "proximal_weight", "FedDyn has no mu"),
        (Instance(PAIR, fc.FedProx(mu=1)), "num_rounds", "rounds"),
        (Instance(PAIR, fc.FedProx(mu=1), local_solver=LONG), "inexactness", "too long"),
        (Instance(PAIR, fc.FedProx(mu=1), local_solver=UNKNOWN_SOLVER), "inexactness", "SGD"),
        (Instance(PAIR, fc.FedSplit(stepsize=1), local_solver=LONG), "prox_error", "proximal steps"),
    ],
)
def test_reasons_for_what_is_not_measured(instance: Instance, quantity: str, reason: str) -> None:
    with pytest.raises(Unmeasured, match=reason):
        instance.measure(quantity)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (("no problem", fc.FedProx(mu=1)), "problem"),
        ((PAIR, "FedProx"), "method"),
        ((PAIR, fc.FedProx), "method"),
        ((PAIR, fc.FedProx(mu=1), participation.Uniform(3)), "K"),
        ((PAIR, fc.FedProx(mu=1), None, None, [1, 2]), "x"),
        ((PAIR, fc.FedProx(mu=1), None, None, [float("nan")]), "x"),
    ],
)
def test_what_is_no_instance(arguments: Any, culprit: str) -> None:
    with pytest.raises(InvalidInput, match=culprit):
        Instance(*arguments)
