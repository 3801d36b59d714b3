"""Runs whose local solutions begin where the last ones point to end where runs of exact solutions do."""

from dataclasses import replace

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.arithmetic import newton
from fedconvex.audit import continued_solutions
from fedconvex.audit.continued_solutions import ContinuedExact, with_continued_solutions
from fedconvex.local_solvers.base import EVERYONE
from fedconvex.methods.base import Cohort
from fedconvex.participation import Draw
from fedconvex.problems.base import Subproblem
from fedconvex.runs.rounds import Rounds, rounds_of

METHODS = [fc.FedProx(mu=0.2), fc.FedSplit(stepsize=3), fc.FedDyn(alpha=0.1)]


def problem(seed: int = 0) -> fc.MultinomialLogistic:
    rng = np.random.default_rng(seed)
    A = [rng.standard_normal((n, 4)) * (1 + k) for k, n in enumerate((15, 30, 8))]
    return fc.MultinomialLogistic(A, [rng.integers(0, 3, len(a)) for a in A], num_classes=3, ridge=1e-2)


@pytest.fixture(autouse=True)
def products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often Hessians are multiplied; conjugate gradients also for small problems."""
    monkeypatch.setattr(newton, "INVERSION_LIMIT", 0)
    counted, original = [], newton.conjugate_gradients

    def solved(xp, multiply, right, tolerance=newton.FORCING):
        return original(xp, lambda v: counted.append(1) or multiply(v), right, tolerance)

    monkeypatch.setattr(newton, "conjugate_gradients", solved)
    return counted


def points(rounds: Rounds, count: int) -> list[np.ndarray]:
    found, state = [], rounds.start(np.zeros(rounds.problem.dim))
    for _ in range(count):
        state = rounds.advance(state)
        found.append(state.server)
    return found


def first_subproblem(rounds: Rounds, start: np.ndarray | float = 0.0) -> Subproblem:
    """What the clients minimise in the first round."""
    state = rounds.start(np.zeros(rounds.problem.dim) + start)
    rows = rounds.clients.rows(state.server)
    cohort = Cohort(rows, rounds.clients.num_clients, True, True, rounds._average(EVERYONE), *[lambda: None] * 4)
    return rounds.method.subproblem(state, cohort)


@pytest.mark.parametrize("method", METHODS)
def test_points_are_those_of_exact_solutions_for_fewer_products(method, products):
    plain = rounds_of(method, problem())
    expected = points(plain, 40)
    many = len(products)
    products.clear()
    found = points(with_continued_solutions(plain), 40)
    assert max(np.linalg.norm(a - b) for a, b in zip(found, expected, strict=True)) < 1e-11
    assert len(products) < 0.8 * many
    assert np.linalg.norm(expected[-1] - expected[-2]) > 1e-12  # still on its way: the comparison says something


@pytest.mark.parametrize("method", METHODS)
def test_every_answer_is_stationary(method):
    rounds = with_continued_solutions(rounds_of(method, problem(1)))
    state = rounds.start(np.zeros(rounds.problem.dim))
    for _ in range(30):
        played = rounds.play(state)
        answers = played.answers.points
        own = played.clients.gradients(answers)
        left = np.linalg.norm(played.subproblem.add_gradients(answers, own), axis=1)
        assert (left <= 1e-13 * (1 + np.linalg.norm(own, axis=1))).all()
        moved = played.subproblem.add_gradients(answers + 1e-6, played.clients.gradients(answers + 1e-6))
        assert np.linalg.norm(moved) > 1e-9  # the test sees a wrong answer
        state = played.state


@pytest.mark.parametrize("wrong", [1e6, 1e-3, -1.0])
def test_wrong_predictions_cost_time_alone(wrong, monkeypatch):
    monkeypatch.setattr(ContinuedExact, "_predicted", lambda self: wrong)
    method = METHODS[0]
    plain = rounds_of(method, problem(2))
    found = points(with_continued_solutions(plain), 5)
    assert max(np.linalg.norm(a - b) for a, b in zip(found, points(plain, 5), strict=True)) < 1e-11


def test_a_run_that_stands_still_is_predicted_without_a_unique_fit():
    """All known differences are equal, or 0: the system for the coefficients is singular."""
    rounds = rounds_of(METHODS[1], problem(3))
    solver = ContinuedExact()
    subproblem = first_subproblem(rounds, fc.ground_truth(problem(3)).point)
    answers = [solver.solve(rounds.clients, subproblem).points for _ in range(10)]
    assert max(abs(one - answers[0]).max() for one in answers) < 1e-13


def test_a_new_run_forgets_the_last_one():
    plain = rounds_of(METHODS[2], problem(4))
    first, second = (points(with_continued_solutions(plain), 12) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


def test_drawn_clients_are_solved_as_ever():
    rounds = rounds_of(METHODS[0], problem(5))
    solver = ContinuedExact()
    subproblem = first_subproblem(rounds)
    solver.solve(rounds.clients, subproblem)
    some = np.array([0, 2])
    found = solver.solve(rounds.clients.subset(some), subproblem.of(some), Draw(some)).points
    assert abs(found - rounds.clients.minimise(subproblem)[some]).max() < 1e-12
    assert len(solver._known) == 1  # what is known is of all clients


@pytest.mark.parametrize("method", [fc.FedProx(mu=0), fc.FedSplit(stepsize=1)])
def test_other_solvers_and_quadratics_stay_as_they_are(method):
    quadratic = fc.Quadratic([np.eye(2), 2 * np.eye(2)], [np.ones(2), np.zeros(2)])
    rounds = rounds_of(method, quadratic)
    assert with_continued_solutions(rounds) is rounds
    steps = rounds_of(method, problem(), local_solver=fc.GradientDescent(steps=2, stepsize=0.01))
    assert with_continued_solutions(steps) is steps


def test_what_exact_refuses_is_refused():
    concave = fc.Quadratic([[[-2]], [[5]]], [[1], [0]])
    ContinuedExact().require(concave, None, 3)
    with pytest.raises(fc.InvalidInput, match="too small"):
        ContinuedExact().require(concave, None, 1)


@pytest.mark.parametrize("wild", [np.inf, np.nan, 1e300])
def test_a_diverging_run_goes_on_from_usual_starts(wild):
    """Of numbers beyond floats nothing is predicted, and no library complains."""
    solver = ContinuedExact()
    solver._known[:] = [np.full((3, 5), x) for x in (wild, 1.0, 2.0)]
    with np.errstate(all="ignore"):
        found = solver._predicted()
    assert (np.ndim(found) == 0) == (not np.isfinite(wild))
    rounds = rounds_of(METHODS[0], problem())
    subproblem = first_subproblem(rounds)
    solver._known[:] = [np.full(subproblem.start.shape, np.inf)] * 3
    found = solver.solve(rounds.clients, subproblem).points
    assert abs(found - rounds.clients.minimise(subproblem)).max() < 1e-12


def test_few_rounds_are_kept():
    rounds = with_continued_solutions(rounds_of(METHODS[0], problem(6)))
    points(rounds, 3 * continued_solutions.ORDER)
    assert isinstance(rounds.solver, ContinuedExact)
    assert len(rounds.solver._known) == continued_solutions.ORDER + 1
    assert replace(rounds, solver=ContinuedExact()).solver._known == []
