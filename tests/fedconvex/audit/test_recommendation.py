"""Recommendations against runs of other settings, exact fixed points and limits; and what they refuse."""

import json
import re
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.audit import audit
from fedconvex.audit.designs.linearised_runs import needs_first_rounds, reached_from_first_rounds
from fedconvex.audit.designs.measured_runs import MeasuredRuns
from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import ReachedTarget
from fedconvex.audit.intervals import Interval
from fedconvex.audit.recommendation_result import Recommendation
from fedconvex.audit.report import to_dictionary
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds


def least_squares(seed: int, clients: int = 4, samples: int = 8, features: int = 3) -> fc.LeastSquares:
    """Heterogeneous clients."""
    rng = np.random.default_rng(seed)
    A = [rng.standard_normal((samples, features)) @ np.diag([1, 2, 0.5]) for _ in range(clients)]
    return fc.LeastSquares(A=A, b=[rng.standard_normal(samples) + a[:, 0] * rng.standard_normal() for a in A])


def logistic(seed: int = 0) -> fc.Logistic:
    """Three clients whose classes overlap."""
    rng = np.random.default_rng(seed)
    A = [rng.standard_normal((20, 2)) for _ in range(3)]
    y = [np.where(a[:, 0] + k * a[:, 1] + rng.standard_normal(20) > 0, 1, -1) for k, a in enumerate(A)]
    return fc.Logistic(A=A, y=y, ridge=0.02)


PROBLEMS = {"least squares": least_squares(1), "logistic": logistic()}


@pytest.fixture(scope="module", params=PROBLEMS)
def found(request: pytest.FixtureRequest) -> Recommendation:
    # the model at the minimiser says little about the few rounds to a loose tolerance on logistic losses
    return fc.recommend(PROBLEMS[request.param], 1e-4 if request.param == "least squares" else 1e-6)


def measured(method: Any, problem: Any, tolerance: float, longest: int) -> int:
    """The first round of a simulation below the tolerance; `longest` + 1 if there is none."""
    gaps = fc.simulate(method, problem, longest, progress=False).to_frame(["gap"])["gap"].to_numpy()
    hit = np.flatnonzero(gaps <= tolerance * gaps[0])
    return int(hit[0]) if len(hit) else longest + 1


def test_predicted_rounds_are_those_of_simulations(found: Recommendation) -> None:
    slack = 0.05 if isinstance(found.problem, fc.LeastSquares) else 0.2
    model = QuadraticModel.of(found.problem, fc.ground_truth(found.problem))
    designs = {type(made.method): made for made in (d() for _, d in MethodDesigner(model, found.tolerance).designs())}
    for entry in found.ranked:
        design = designs[type(entry.method)]
        if design.rounds is None or design.rounds > 2000:
            continue
        run = measured(design.method, found.problem, found.tolerance, 2 * design.rounds + 5)
        assert abs(design.rounds - run) <= max(1, slack * run)
        assert entry.predicted_rounds is not None
        assert entry.measured_rounds is not None
        assert abs(entry.predicted_rounds - entry.measured_rounds) <= slack * entry.measured_rounds
        if entry.method == design.method:
            assert entry.measured_rounds == run
        else:  # runs found better parameters
            assert slack == 0.2
            assert entry.measured_rounds == measured(entry.method, found.problem, found.tolerance, run) < run


@pytest.mark.slow
def test_no_setting_of_a_grid_needs_much_fewer_rounds(found: Recommendation) -> None:
    designed = {type(entry.method).__name__: entry for entry in found.ranked}
    L = float(max(found.problem.L))
    grids: dict[str, list[Any]] = {
        "FedSplit": [fc.FedSplit(stepsize=float(s)) for s in np.geomspace(0.03, 300, 50) / L],
        "FedDyn": [fc.FedDyn(alpha=float(a)) for a in np.geomspace(0.003, 10, 50) * L],
        "Scaffold": [
            fc.Scaffold(stepsize=float(s), local_steps=e) for e in (1, 4, 16) for s in np.geomspace(0.03, 2, 15) / L
        ],
        "FedGD": [fc.FedGD(stepsize=float(s)) for s in np.geomspace(0.03, 3, 40) / L],
    }
    for name, grid in grids.items():
        own = designed[name].measured_rounds
        assert own is not None
        assert own <= 1.1 * min(measured(method, found.problem, found.tolerance, own) for method in grid)


def test_error_floors_are_below_the_tolerance_and_smaller_mu_have_larger_ones() -> None:
    problem = least_squares(1)
    found = fc.recommend(problem, 1e-4, check=False)
    proximal = next(entry.method for entry in found.ranked if isinstance(entry.method, fc.FedProx))
    first = problem.value(np.zeros(3)) - fc.ground_truth(problem).value
    assert fc.fixed_point(proximal, problem, arithmetic="exact").gap <= 1e-4 * first
    assert found.smallest_mu is not None
    assert fc.fixed_point(fc.FedProx(mu=found.smallest_mu * 1.001), problem).gap <= 1e-4 * first
    assert fc.fixed_point(fc.FedProx(mu=found.smallest_mu * 0.995), problem).gap > 1e-4 * first


def test_bias_and_floor_are_relative_and_enclose_the_exact_ones() -> None:
    problem = least_squares(2)
    found = fc.recommend(problem, 0.05, check=False)
    truth = fc.ground_truth(problem)
    first = float(problem.value(np.zeros(3)) - truth.value)
    for entry in found.ranked:
        assert entry.bias is not None
        assert entry.floor is not None
        assert entry.floor.certainty is Certainty.ENCLOSED
        exact = float(fc.fixed_point(entry.method, problem, arithmetic="exact").gap) / first
        assert entry.floor.lower * (1 - 1e-6) <= exact <= entry.floor.upper * (1 + 1e-6) + 1e-25


def test_bytes_are_those_that_a_simulation_counts(found: Recommendation) -> None:
    entry = found.best
    assert entry.predicted_rounds is not None
    frame = fc.simulate(entry.method, found.problem, entry.predicted_rounds).to_frame([])
    assert entry.bytes == frame["bytes_down"].sum() + frame["bytes_up"].sum()
    in_runs = [
        (other.method.vectors_down + other.method.vectors_up) * other.measured_rounds
        for other in found.ranked
        if other.measured_rounds is not None
    ]
    assert in_runs == sorted(in_runs)


def test_a_limit_of_rounds_that_no_method_keeps_gives_the_nearest() -> None:
    problem = least_squares(3)
    found = fc.recommend(problem, 1e-9, rounds=4)
    assert found.best.predicted_rounds is None
    assert "No method is predicted to reach the tolerance within 4 rounds" in found.why
    gaps = fc.simulate(found.method, problem, 4).to_frame(["gap"])["gap"]
    assert gaps[4] / gaps[0] == pytest.approx(found.best.relative_gap, rel=1e-6)
    unlimited = fc.recommend(problem, 1e-9, check=False).method
    assert gaps[4] <= fc.simulate(unlimited, problem, 4).to_frame(["gap"])["gap"][4] * (1 + 1e-9)


def test_a_limit_of_local_steps_holds_for_every_method() -> None:
    found = fc.recommend(least_squares(1), 1e-4, local_steps=3)
    for entry in found.ranked:
        assert isinstance(entry.local_solver, fc.GradientDescent)
        assert entry.local_solver.steps <= 3
        if entry.checked:
            assert entry.measured_rounds is not None
            assert abs(entry.measured_rounds - entry.predicted_rounds) <= 1


@pytest.mark.slow
def test_drawn_participants_are_counted_by_runs() -> None:
    found = fc.recommend(least_squares(1), 1e-2, participation=fc.participation.Uniform(2))
    best = found.best
    assert best.checked
    assert best.measured_rounds is not None
    assert best.bytes is None  # depends on who is drawn
    everyone = fc.recommend(least_squares(1), 1e-2, participation=fc.participation.Uniform(4), check=False)
    assert everyone.limits.participation is None


def test_identical_clients_and_one_client_are_solved_locally() -> None:
    A, b = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]), np.array([1.0, 2.0, 0.5])
    same = fc.recommend(fc.LeastSquares(A=[A, A], b=[b, b]))
    assert same.shared_minimizer
    assert "share one minimiser" in same.why
    assert same.best.measured_rounds == 1
    alone = fc.recommend(fc.LeastSquares(A=[A], b=[b]))
    assert "one client: solve its problem locally" in alone.why
    assert not fc.recommend(least_squares(1), 1e-2, check=False).shared_minimizer


def test_text_fits_a_page_and_frame_and_json_have_every_method(found: Recommendation) -> None:
    lines = str(found).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert "<table" in found._repr_html_()
    frame = found.to_frame()
    assert len(frame) == 5
    assert {"predicted_rounds", "measured_rounds", "bytes", "relative_bias", "bias_known"} <= set(frame.columns)
    written = json.loads(json.dumps(found.to_dictionary(), allow_nan=False))
    assert [entry["method"] for entry in written["ranked"]] == list(frame["method"])
    assert written["ranked"][0]["predicted_rounds"] == found.best.predicted_rounds


def test_an_audit_ends_with_the_same_recommendation(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    from fedconvex.audit.report import print_audit

    result = audit(PROBLEMS["least squares"], ["fedgd"], rounds=3, tolerance=1e-4)
    alone = fc.recommend(PROBLEMS["least squares"], 1e-4)
    assert repr(result.recommendation.method) == repr(alone.method)
    assert to_dictionary(result)["recommendation"]["method"] == repr(alone.method).partition(", start")[0] + (
        ")" if ", start" in repr(alone.method) else ""
    )
    print_audit(result, Console(width=120))
    assert re.search(r"recommendation: run Fed\w+\(", capsys.readouterr().out)


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"tolerance": 0}, "tolerance = 0", "must be positive"),
    ({"tolerance": float("inf")}, "tolerance = inf", "finite"),
    ({"tolerance": float("nan")}, "tolerance = nan", "finite"),
    ({"tolerance": 1}, "tolerance = 1", "before the first round"),
    ({"tolerance": 1e-30}, "tolerance = 1e-30", "float64"),
    ({"rounds": 0}, "rounds = 0", "integer >= 1"),
    ({"local_steps": 10**400}, "local_steps = ", "too large to limit the solver"),
    ({"local_steps": 1.5}, "local_steps = 1.5", "integer >= 1"),
    ({"participation": 3}, "participation = 3", "participation scheme"),
    ({"participation": fc.participation.Uniform(9)}, "K = 9", "4 clients"),
    ({"problem": fc.FedProx(mu=1)}, "problem = FedProx(mu=1)", "chooses the method itself"),
    ({"problem": 1e-6}, "problem = 1e-06", "is not a problem"),
    ({"check": "no"}, "check = no", "True or False"),
]


@pytest.mark.parametrize(
    ("wrong", "shown", "reason"), REFUSED, ids=[str(next(iter(case[0].items()))) for case in REFUSED]
)
def test_wrong_arguments_are_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], shown: str, reason: str
) -> None:
    monkeypatch.setattr("fedconvex.audit.recommendation.ground_truth", None)  # would fail if it were called
    with pytest.raises(InvalidInput) as error:
        fc.recommend(**{"problem": least_squares(1), **wrong})
    assert shown in str(error.value)
    assert reason in str(error.value)


AWKWARD = {
    "clients that are not convex": fc.Quadratic(
        H=[np.diag([6.0, -2]), np.diag([1.0, 9])], c=[np.ones(2), np.array([1.0, -3])]
    ),
    "many minimisers": fc.LeastSquares(A=[[[1, 1, 1], [0, 1, 1]], [[2, 0, 0]]], b=[[1, 2], [5]]),
    "one unknown": fc.LeastSquares(A=[[[1.0]], [[2.0]]], b=[[1.0], [0.0]]),
    "a weight of 0": fc.LeastSquares(A=[[[1.0], [2.0]], [[3.0]], [[2.0]]], b=[[1, 2], [5], [1]], weights=[1, 0, 3]),
    "no ridge": fc.Logistic(A=[[[1.0], [2.0], [-1.0]], [[1.0], [0.5]]], y=[[1, 1, 1], [-1, 1]]),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_problems_have_a_recommendation_that_its_run_confirms(name: str) -> None:
    best = fc.recommend(AWKWARD[name], 1e-4).best
    assert best.checked
    assert best.predicted_rounds is not None
    assert best.measured_rounds is not None
    assert abs(best.predicted_rounds - best.measured_rounds) <= max(1, 0.2 * best.measured_rounds)


@pytest.mark.sample(1)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_a_method_whose_run_misses_the_tolerance_is_not_recommended(tolerance: float) -> None:
    """Far from the minimiser of nearly separable data the curvature is a million times larger than at it."""
    problem = fc.Logistic(A=[[[1.0], [2.0]], [[-1.0], [0.5]]], y=[[1, 1], [-1, 1]], ridge=1e-8)
    found = fc.recommend(problem, tolerance)
    assert not all(entry.is_as_predicted for entry in found.ranked)
    reached = [entry.measured_rounds is not None for entry in found.ranked]
    assert reached == sorted(reached, reverse=True)
    sent = [
        entry.measured_rounds * (entry.method.vectors_down + entry.method.vectors_up)
        for entry in found.ranked
        if entry.measured_rounds is not None
    ]
    assert sent == sorted(sent)
    assert all(entry.predicted_rounds is None or entry.predicted_rounds >= 1 for entry in found.ranked)
    assert "the ranking is by the runs" in found.why
    assert "the ranking is by the runs" not in fc.recommend(least_squares(1)).why
    run = fc.simulate(found.method, problem, found.best.measured_rounds or 0, local_solver=found.best.local_solver)
    truth = fc.ground_truth(problem)
    gaps = [problem.value(x) - truth.value for x in run.points]
    assert gaps[-1] <= tolerance * gaps[0]
    assert gaps[-2] > tolerance * gaps[0]
    audited = audit(problem, ["fedgd"], rounds=2, tolerance=tolerance).recommendation
    assert audited is not None
    assert audited.best.measured_rounds is not None


def test_a_run_that_needs_more_rounds_than_there_are_is_not_counted() -> None:
    problem = fc.Logistic(A=[[[1.0], [2.0]], [[-1.0], [0.5]]], y=[[1, 1], [-1, 1]], ridge=1e-8)
    found = fc.recommend(problem, rounds=1)
    for entry in found.ranked:
        run = measured(entry.method, problem, found.tolerance, 1)
        assert entry.measured_rounds == (1 if run == 1 and entry.checked else None)
    late = MeasuredRuns(fc.ground_truth(problem), 1e-20)
    assert late.rounds_to((fc.FedSplit(stepsize=1), None), 3) is None


def test_a_recommendation_that_no_run_confirms_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MeasuredRuns, "tuned", lambda self, design, longest: (design.method, None))
    found = fc.recommend(least_squares(1), 0.1)
    assert all(entry.checked for entry in found.ranked)
    assert "no run reached it" in found.why
    assert "sends the fewest" not in found.why


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_curvature_whose_squares_leave_the_floats_is_refused(scale: float) -> None:
    problem = fc.LeastSquares(A=[[[scale, 0], [0, scale]], [[scale, scale]]], b=[[scale, 1], [2 * scale]])
    with np.errstate(over="ignore"), pytest.raises(InvalidInput, match="beyond the range of float64; rescale"):
        fc.recommend(problem)


def test_a_minimiser_at_the_start_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has its minimiser at 0"):
        fc.recommend(fc.Quadratic(H=[np.eye(2), 2 * np.eye(2)], c=[np.ones(2), -np.ones(2)]))


def test_runs_decide_where_the_model_is_off() -> None:
    """A stepsize with which the model needs 6 rounds takes 7 on the logistic losses, and others take 6."""
    problem = fc.data.fedsplit_logistic(clients=6, features=8, samples=60, spread=1.0, ridge=0.01, seed=3)
    truth = fc.ground_truth(problem)
    model = QuadraticModel.of(problem, truth)
    design = MethodDesigner(model, 1e-6).fedgd()
    runs = MeasuredRuns(truth, 1e-6 * model.first_gap)
    assert (design.rounds, runs.rounds_to((design.method, None), 50)) == (6, 7)
    method, rounds = runs.tuned(design, 50)
    assert rounds == measured(method, problem, 1e-6, 50) == 6
    split = MethodDesigner(model, 1e-6).fedsplit()
    assert runs.tuned(split, 50)[0] is split.method  # its run is as predicted


def test_a_parameter_whose_error_floor_is_above_the_tolerance_is_not_taken() -> None:
    problem = logistic()
    truth = fc.ground_truth(problem)
    model = QuadraticModel.of(problem, truth)
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
    truth = fc.ground_truth(problem)
    model = QuadraticModel.of(problem, truth)
    method, target = fc.FedProx(mu=0.0163), 1e-2 * model.first_gap
    design = MethodDesigner(model, 1e-2).at(method)
    assert design.rounds is None
    assert needs_first_rounds(design, truth)
    reached = reached_from_first_rounds(design, model, truth, target, 100)
    assert reached is not None
    run = measured(method, problem, 1e-2, 100)
    assert abs(ceil(reached.rounds) - run) <= 0.2 * run
    above = MethodDesigner(model, 1e-2).at(
        fc.FedProx(mu=0.015)
    )  # its run passes the tolerance near its own error floor
    assert fc.fixed_point(above.method, problem).gap > target
    assert reached_from_first_rounds(above, model, truth, target, 100) is None


def test_first_rounds_improve_short_predictions() -> None:
    """SCAFFOLD needs 5 rounds; on the model, whose first rounds are too fast, 4."""
    problem = logistic()
    truth = fc.ground_truth(problem)
    model = QuadraticModel.of(problem, truth)
    design = MethodDesigner(model, 1e-6).at(fc.Scaffold(stepsize=6.39, local_steps=1))
    reached = reached_from_first_rounds(design, model, truth, 1e-6 * model.first_gap, 50)
    assert reached is not None
    assert (design.rounds, ceil(reached.rounds), measured(design.method, problem, 1e-6, 50)) == (4, 5, 5)
    assert not needs_first_rounds(MethodDesigner(model, 1e-6).at(fc.FedDyn(alpha=10)), truth)  # a long run
    exact = least_squares(1)
    its_truth = fc.ground_truth(exact)
    short = MethodDesigner(QuadraticModel.of(exact, its_truth), 1e-2).at(fc.FedSplit(stepsize=0.2))
    assert short.rounds is not None
    assert not needs_first_rounds(short, its_truth)  # the model is the problem


def test_runs_do_not_choose_a_stepsize_that_leaves_the_minimiser_again() -> None:
    """With stepsize 17.1 > 2/L a run reaches 1e-4 in fewer rounds than with any stable stepsize, and then grows."""
    problem = fc.data.breast_cancer(clients=10)
    truth = fc.ground_truth(problem)
    runs = MeasuredRuns(truth, 1e-4 * QuadraticModel.of(problem, truth).first_gap)
    unstable, stable = fc.FedGD(stepsize=17.1), fc.FedGD(stepsize=14.0)
    assert measured(unstable, problem, 1e-4, 200) < measured(stable, problem, 1e-4, 200)
    assert runs._admissible_run(unstable, 200).rounds == np.inf
    assert runs._admissible_run(stable, 200).rounds < 200


def test_a_method_that_passes_the_tolerance_and_rises_again_is_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    above = Interval(0.5, 0.4, 0.6, Certainty.ENCLOSED)
    monkeypatch.setattr("fedconvex.audit.recommendation._relative_bias", lambda *_: (above, above))
    found = fc.recommend(least_squares(1), 0.1)
    assert not any(entry.is_confirmed for entry in found.ranked if entry.predicted_rounds is not None)
    assert "no run reached it" in found.why


@pytest.mark.slow
def test_a_hundred_thousand_local_steps_are_designed_and_not_run() -> None:
    found = fc.recommend(logistic(), 1e-3, local_steps=100_000)
    assert all(not entry.checked for entry in found.ranked if "100000" in entry.local_work)
    assert found.best.measured_rounds is not None


def test_features_that_are_all_0_have_their_minimiser_at_0() -> None:
    with pytest.raises(InvalidInput, match="has its minimiser at 0"):
        fc.recommend(fc.LeastSquares(A=[np.zeros((5, 2))] * 2, b=[np.ones(5)] * 2))


def test_a_check_that_fails_is_reported() -> None:
    problem = least_squares(1)
    truth = fc.ground_truth(problem)
    target = 1e-6 * (problem.value(np.zeros(3)) - truth.value)
    runs = MeasuredRuns(truth, target)
    assert runs.rounds_to((fc.FedGD(stepsize=1e-6), None), 20) is None
    assert runs.rounds_to((fc.FedGD(stepsize=100), None), 20) is None
