"""Recommendations against runs of other settings, exact fixed points and limits; and what they refuse."""

import json
import re
from typing import Any

import numpy as np
import pytest
from designed_problems import least_squares, logistic, measured

import fedconvex as fc
from fedconvex.audit import audit
from fedconvex.audit.designs.measured_runs import MeasuredRuns
from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.intervals import Interval
from fedconvex.audit.recommendation_result import Recommendation
from fedconvex.audit.report import to_dictionary
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

NEARLY_SEPARABLE = fc.Logistic(A=[[[1.0], [2.0]], [[-1.0], [0.5]]], y=[[1, 1], [-1, 1]], ridge=1e-8)
PROBLEMS = {"least squares": least_squares(1), "logistic": logistic()}


@pytest.fixture(scope="module", params=PROBLEMS)
def found(request: pytest.FixtureRequest) -> Recommendation:
    # the model at the minimiser says little about the few rounds to a loose tolerance on logistic losses
    return fc.recommend(PROBLEMS[request.param], 1e-4 if request.param == "least squares" else 1e-6)


def test_predicted_rounds_are_those_of_simulations(found: Recommendation) -> None:
    slack = 0.05 if isinstance(found.problem, fc.LeastSquares) else 0.2
    model = QuadraticModel.of(found.problem, fc.ground_truth(found.problem))
    designs = {
        type(made.method): made for made in (d() for d in MethodDesigner(model, found.tolerance).designs.values())
    }
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
    assert entry.measured_rounds is not None
    frame = fc.simulate(entry.method, found.problem, entry.measured_rounds).to_frame([])
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

    from fedconvex.audit.display import print_audit

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
    ({"among": "fedavg,fedproxy"}, "among = fedproxy", "did you mean fedprox"),
    ({"among": ()}, "among = ()", "names no method"),
    ({"among": 3}, "among = 3", "give names"),
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
    problem = NEARLY_SEPARABLE
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
    problem = NEARLY_SEPARABLE
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
    balanced = fc.Quadratic(H=[np.eye(2), 2 * np.eye(2)], c=[np.ones(2), -np.ones(2)])
    without_features = fc.LeastSquares(A=[np.zeros((5, 2))] * 2, b=[np.ones(5)] * 2)
    for problem in (balanced, without_features):
        with pytest.raises(InvalidInput, match="has its minimiser at 0"):
            fc.recommend(problem)


def test_a_method_that_passes_the_tolerance_and_rises_again_is_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    above = Interval(0.5, 0.4, 0.6, Certainty.ENCLOSED)
    monkeypatch.setattr("fedconvex.audit.recommendation._relative_bias", lambda *_: (above, above))
    found = fc.recommend(least_squares(1), 0.1)
    assert not any(entry.is_confirmed for entry in found.ranked if entry.predicted_rounds is not None)
    assert "no run reached it" in found.why


@pytest.mark.slow
def test_more_local_steps_than_a_run_can_take_are_designed_and_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit at which a design takes seconds; that of a run's 100,000 steps takes minutes."""
    monkeypatch.setattr("fedconvex.audit.designs.search.MOST_STEPS", 1999)
    found = fc.recommend(logistic(), 1e-3, local_steps=2000)
    long = [entry for entry in found.ranked if "2000" in entry.local_work]
    assert long
    assert not any(entry.checked for entry in long)
    assert found.best.measured_rounds is not None


@pytest.mark.parametrize("among", [("FedAvg", "FedProx"), "fedavg,fedprox", (fc.FedGD, fc.FedProx)])
def test_only_the_methods_that_a_framework_has_are_recommended(among: Any) -> None:
    found = fc.recommend(least_squares(1), 1e-3, among=among)
    assert {type(entry.method) for entry in found.ranked} == {fc.FedGD, fc.FedProx}
    assert {type(entry.method) for _, entry in found.under_limits} <= {fc.FedGD, fc.FedProx}


def test_a_check_that_fails_is_reported() -> None:
    problem = least_squares(1)
    truth = fc.ground_truth(problem)
    target = 1e-6 * (problem.value(np.zeros(3)) - truth.value)
    runs = MeasuredRuns(truth, target)
    assert runs.rounds_to((fc.FedGD(stepsize=1e-6), None), 20) is None
    assert runs.rounds_to((fc.FedGD(stepsize=100), None), 20) is None
