"""Losses that are not quadratic: predictions that follow their curvature, and runs that choose parameters."""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from designed_problems import least_squares, logistic, measured, modelled

import fedconvex as fc
from fedconvex.audit.designs.linearised_runs import LinearisedRuns
from fedconvex.audit.designs.measured_runs import MeasuredRuns
from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.round_maps import ReachedTarget
from fedconvex.methods import Method

pytestmark = pytest.mark.beyond_core  # takes seconds


def test_runs_decide_where_the_model_is_off() -> None:
    """A stepsize with which the model needs 6 rounds takes 7 on the logistic losses, and others take 6."""
    problem = fc.data.fedsplit_logistic(clients=6, features=8, samples=60, spread=1.0, ridge=0.01, seed=3)
    truth, model = modelled(problem)
    design = MethodDesigner(model, 1e-6).fedgd()
    runs = MeasuredRuns(truth, 1e-6 * model.first_gap)
    assert (design.rounds, runs.rounds_to((design.method, None), 50)) == (6, 7)
    method, rounds = runs.tuned(design, 50)
    assert rounds == measured(method, problem, 1e-6, 50) == 6
    split = MethodDesigner(model, 1e-6).fedsplit()
    assert runs.tuned(split, 50)[0] is split.method  # its run is as predicted


def test_a_parameter_whose_error_floor_is_above_the_tolerance_is_not_taken() -> None:
    problem = logistic()
    truth, model = modelled(problem)
    runs = MeasuredRuns(truth, 1e-2 * model.first_gap)
    design = MethodDesigner(model, 1e-2).fedprox()
    method, rounds = runs.tuned(replace(design, reached=ReachedTarget(300.0, 0.0)), 400)  # the run looks much faster
    assert rounds is not None
    assert fc.fixed_point(method, problem).gap <= runs.target
    passing = fc.FedProx(mu=float(design.method.mu) / 4)  # type: ignore[attr-defined]
    assert fc.fixed_point(passing, problem).gap > runs.target


def test_an_error_floor_that_the_model_misses_is_that_of_the_linearised_round_at_the_fixed_point() -> None:
    """On the model at the minimiser the error floor is 0.014 of f(0) − f*, on the losses 0.00998."""
    problem = fc.data.breast_cancer(clients=10)
    truth, model = modelled(problem)
    method, target = fc.FedProx(mu=0.0163), 1e-2 * model.first_gap
    design = MethodDesigner(model, 1e-2).at(method)
    assert design.rounds is None
    runs = LinearisedRuns(model, truth, target)
    assert runs.are_needed(design)
    reached = runs.reached(design, 100)
    assert reached is not None
    run = measured(method, problem, 1e-2, 100)
    assert abs(ceil(reached.rounds) - run) <= 0.2 * run
    above = MethodDesigner(model, 1e-2).at(fc.FedProx(mu=0.015))  # its run passes the tolerance near its own floor
    assert fc.fixed_point(above.method, problem).gap > target
    assert runs.reached(above, 100) is None


def test_first_rounds_improve_short_predictions() -> None:
    """SCAFFOLD needs 5 rounds; on the model, whose first rounds are too fast, 4."""
    problem = logistic()
    truth, model = modelled(problem)
    design = MethodDesigner(model, 1e-6).at(fc.Scaffold(stepsize=6.39, local_steps=1))
    runs = LinearisedRuns(model, truth, 1e-6 * model.first_gap)
    reached = runs.reached(design, 50)
    assert reached is not None
    assert (design.rounds, ceil(reached.rounds), measured(design.method, problem, 1e-6, 50)) == (4, 5, 5)
    long = MethodDesigner(model, 1e-6).at(fc.FedDyn(alpha=10))
    assert runs.are_needed(long)
    assert not replace(runs, is_costly=True).are_needed(long)
    exact = least_squares(1)
    its_truth, its_model = modelled(exact)
    short = MethodDesigner(its_model, 1e-2).at(fc.FedSplit(stepsize=0.2))
    assert short.rounds is not None
    assert not LinearisedRuns(its_model, its_truth, 1e-2).are_needed(short)  # the model is the problem


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("method", "tolerance", "on_model"),
    [
        (fc.FedGD(stepsize=13.9, local_steps=1), 1e-3, 0.6),  # the model expects 46 of 79 rounds
        (fc.FedGD(stepsize=14.3, local_steps=1), 3e-4, 100),  # its start excites a mode that runs hardly contain
        (fc.Scaffold(stepsize=2.74, local_steps=20), 1e-3, 1.2),
        (fc.FedProx(mu=0.211), 3e-3, 1.3),
        (fc.FedDyn(alpha=0.0182), 1e-3, 1.2),
    ],
    ids=repr,
)
def test_predictions_follow_the_curvature_on_the_way(method: Method, tolerance: float, on_model: float) -> None:
    """On losses that are not quadratic a run meets other curvatures than those at the minimiser."""
    problem = fc.data.breast_cancer(clients=10)
    truth, model = modelled(problem)
    design = MethodDesigner(model, tolerance).at(method)
    found = LinearisedRuns(model, truth, tolerance * model.first_gap).improved(design, 5000).rounds
    run = measured(method, problem, tolerance, 5000)
    assert design.rounds is not None
    assert found is not None
    assert abs(found - run) <= 0.2 * run
    assert design.rounds <= on_model * run if on_model < 1 else design.rounds >= on_model * run  # without that


def test_runs_do_not_choose_a_stepsize_that_leaves_the_minimiser_again() -> None:
    """With stepsize 17.1 > 2/L a run reaches 1e-4 in fewer rounds than with any stable stepsize, and then grows."""
    problem = fc.data.breast_cancer(clients=10)
    truth, model = modelled(problem)
    runs = MeasuredRuns(truth, 1e-4 * model.first_gap)
    unstable, stable = fc.FedGD(stepsize=17.1), fc.FedGD(stepsize=14.0)
    assert measured(unstable, problem, 1e-4, 200) < measured(stable, problem, 1e-4, 200)
    assert runs._admissible_run(unstable, 200).rounds == np.inf
    assert runs._admissible_run(stable, 200).rounds < 200


def test_a_design_whose_floor_the_model_understates_moves_until_the_problem_has_that_floor() -> None:
    """On the model μ = 0.643 stays below 1e-2, on the losses its error floor is 1.1e-2."""
    problem = fc.data.fedsplit_logistic(clients=5, features=6, samples=40, spread=2.0, ridge=0.001, seed=5)
    truth, model = modelled(problem)
    designer = MethodDesigner(model, 1e-2)
    design = designer.at(fc.FedProx(mu=0.643))
    floor_of = LinearisedRuns(model, truth, 1e-2 * model.first_gap).floor
    assert design.floor <= 1e-2 < floor_of(design.method)
    moved = designer.with_floor_on_problem(design, floor_of)
    assert floor_of(moved.method) <= 1e-2
    assert floor_of(moved.method) >= 0.98 * min(design.floor, 1e-2)  # no further than necessary
    enough = designer.at(fc.FedProx(mu=0.75))
    assert designer.with_floor_on_problem(enough, floor_of) is enough
    unbiased = designer.at(fc.FedDyn(alpha=1))
    assert designer.with_floor_on_problem(unbiased, floor_of) is unbiased
