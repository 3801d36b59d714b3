"""Each cause of a stuck run planted, found, and not found where it is absent."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from designed_problems import least_squares, logistic

import fedconvex as fc
from fedconvex.audit.run_diagnosis import RunDiagnosis
from fedconvex.audit.run_series import read_losses
from fedconvex.errors import InvalidInput
from fedconvex.methods import Method

pytestmark = pytest.mark.beyond_core  # takes seconds

PROBLEM = least_squares(11, clients=6)
L = float(max(PROBLEM.L))
TWO_OF_SIX = fc.participation.Uniform(2)


def diagnosed(method: Method, rounds: int, tolerance: float = 1e-6, **options: Any) -> RunDiagnosis:
    """The diagnosis of a simulated run."""
    return fc.diagnose(fc.simulate(method, PROBLEM, rounds, progress=False, **options), tolerance=tolerance)


# cause -> a run that has it, and the same run without it
PLANTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bias floor": (
        {"method": fc.FedProx(mu=1), "rounds": 200},
        {"method": fc.FedDyn(alpha=5), "rounds": 200},
    ),
    "slow contraction": (
        {"method": fc.FedGD(stepsize=0.01 / L), "rounds": 200},
        {"method": fc.FedGD(stepsize=1.5 / L), "rounds": 400},
    ),
    "divergence by stepsize": (
        {"method": fc.FedGD(stepsize=4 / L), "rounds": 60},
        {"method": fc.FedGD(stepsize=1.5 / L), "rounds": 400},
    ),
    "sampling noise": (
        {"method": fc.FedGD(stepsize=0.5 / L), "rounds": 800, "participation": TWO_OF_SIX},
        {"method": fc.FedGD(stepsize=0.5 / L), "rounds": 800},
    ),
    "local solver too inexact": (
        {"method": fc.FedSplit(stepsize=0.2), "rounds": 200,
         "local_solver": fc.GradientDescent(steps=2, stepsize=1 / (L + 5))},
        {"method": fc.FedSplit(stepsize=0.2), "rounds": 200},
    ),
    "stale memory": (
        {"method": fc.FedDyn(alpha=5), "rounds": 30, "participation": fc.participation.Uniform(1)},
        {"method": fc.FedDyn(alpha=5), "rounds": 30},
    ),
}  # fmt: skip


@pytest.mark.parametrize("cause", PLANTED)
def test_a_planted_cause_is_found_and_not_where_it_is_absent(cause: str) -> None:
    planted, absent = PLANTED[cause]
    found = diagnosed(**planted)
    assert found.cause == cause
    assert found.evidence
    assert found.cure
    assert np.isfinite(found.number)
    other = diagnosed(**absent)
    assert cause not in [one.cause for one in other.causes]


def test_numbers_are_those_of_exact_computations() -> None:
    proximal = fc.FedProx(mu=1)
    first = PROBLEM.value(np.zeros(3)) - fc.ground_truth(PROBLEM).value
    exact = float(fc.fixed_point(proximal, PROBLEM, arithmetic="exact").gap) / first
    assert diagnosed(proximal, 200).number == pytest.approx(exact, rel=1e-6)
    eigenvalues = np.linalg.eigvalsh(PROBLEM.hessian(np.zeros(3)))
    slow = diagnosed(fc.FedGD(stepsize=0.01 / L), 200)
    assert slow.number == pytest.approx(max(1 - 0.01 / L * eigenvalues), rel=1e-4)
    fast = diagnosed(fc.FedGD(stepsize=4 / L), 60)
    assert fast.number == pytest.approx(4 / L * eigenvalues[-1] - 1, rel=1e-2)


@pytest.mark.slow
def test_the_stepsize_of_a_cure_converges_and_a_larger_one_does_not() -> None:
    cure = diagnosed(fc.FedGD(stepsize=4 / L), 60).cure
    stable = float(cure.split("stepsize <= ")[1].split(" ")[0])
    assert diagnosed(fc.FedGD(stepsize=stable * 0.98), 60).cause != "divergence by stepsize"
    assert diagnosed(fc.FedGD(stepsize=stable * 1.1), 200).cause == "divergence by stepsize"


@pytest.mark.slow
def test_local_steps_of_a_cure_reach_the_tolerance() -> None:
    stepsize = 1 / (L + 5)
    solver = fc.GradientDescent(steps=2, stepsize=stepsize)
    cure = diagnosed(fc.FedSplit(stepsize=0.2), 200, local_solver=solver).cure
    steps = int(cure.split("take ")[1].split(" ")[0])
    more = diagnosed(fc.FedSplit(stepsize=0.2), 400, local_solver=fc.GradientDescent(steps=steps, stepsize=stepsize))
    assert more.cause == "not stuck"


def test_answers_that_are_inexact_by_a_tolerance_are_named() -> None:
    found = diagnosed(fc.FedSplit(stepsize=0.2), 200, local_solver=fc.ToInexactness(gamma=0.4))
    assert found.cause == "local solver too inexact"
    assert "gamma" in found.cure


@pytest.mark.slow
def test_mini_batches_are_sampling_noise() -> None:
    found = diagnosed(fc.FedAvg(stepsize=0.02, epochs=1, batch_size=2), 600, tolerance=1e-4)
    full = diagnosed(fc.FedAvg(stepsize=0.02, epochs=1, batch_size=None), 600, tolerance=1e-4)
    assert found.cause in ("sampling noise", "bias floor")
    assert "sampling noise" not in [one.cause for one in full.causes]


@pytest.mark.parametrize("kind", ["loss", "gradient_norm"])
def test_recorded_losses_and_gradient_norms_give_the_cause_of_the_run(kind: str) -> None:
    method = fc.FedProx(mu=1)
    frame = fc.simulate(method, PROBLEM, 200).to_frame(["value", "gradient_norm"])
    recorded = frame["value" if kind == "loss" else kind].tolist()
    assert fc.diagnose(recorded, method, PROBLEM, kind=kind).cause == "bias floor"
    assert fc.diagnose(recorded, PROBLEM, method, kind=kind).cause == "bias floor"  # type: ignore[arg-type]
    right = fc.simulate(fc.FedDyn(alpha=5), PROBLEM, 200).to_frame(["value", "gradient_norm"])
    recorded = right["value" if kind == "loss" else kind].tolist()
    assert fc.diagnose(recorded, fc.FedDyn(alpha=5), PROBLEM, kind=kind).cause == "not stuck"


def test_losses_that_overflow_at_the_end_diverge() -> None:
    losses = [*(10.0 * 3.0 ** np.arange(20)), np.inf, np.nan, np.nan]
    assert fc.diagnose(losses, fc.FedGD(stepsize=4 / L), PROBLEM).cause == "divergence by stepsize"


def test_logistic_losses_are_diagnosed() -> None:
    assert fc.diagnose(fc.simulate(fc.FedProx(mu=0.05), logistic(), 200)).cause == "bias floor"
    assert fc.diagnose(fc.simulate(fc.FedSplit(stepsize=5), logistic(), 200)).cause == "not stuck"


def test_text_frame_and_json() -> None:
    found = diagnosed(fc.FedProx(mu=1), 200)
    assert len(str(found).splitlines()) <= 25
    assert max(map(len, str(found).splitlines())) <= 100
    assert list(found.to_frame()["cause"]) == [one.cause for one in found.causes]
    assert json.loads(json.dumps(found.to_dictionary(), allow_nan=False))["cause"] == "bias floor"
    assert "bias floor" in found._repr_html_()


def losses_of(method: Method, rounds: int) -> np.ndarray:
    """The losses of a run from 0, as another program records them."""
    return np.asarray(fc.simulate(method, PROBLEM, rounds).to_frame(["value"])["value"])


def test_losses_that_the_method_cannot_have_are_not_explained_by_it() -> None:
    """A stepsize that contracts does not diverge, and losses that never fall are no slow contraction."""
    method = fc.FedGD(stepsize=1 / L)
    own = losses_of(method, 30)
    overflowing = [*own[:10], np.inf, np.nan]
    standing = np.full(30, own[0])
    for losses in (own[0] * 2.0 ** np.arange(20), overflowing, standing, losses_of(fc.FedGD(stepsize=0.001 / L), 30)):
        found = fc.diagnose(losses, method, PROBLEM)
        assert found.cause == "not this method's run"
        assert found.number > 5
        assert found.evidence
    assert fc.diagnose(own, method, PROBLEM).cause == "slow contraction"
    # from elsewhere nothing is known of the method's losses
    elsewhere = fc.simulate(method, PROBLEM, 30, x0=np.full(3, 100.0))
    recorded = elsewhere.to_frame(["value"])["value"]
    assert "give x0=…" in fc.diagnose(recorded, method, PROBLEM).evidence
    known = fc.diagnose(recorded, method, PROBLEM, x0=np.full(3, 100.0))
    causes = [found.cause for found in (fc.diagnose(elsewhere), fc.diagnose(recorded, method, PROBLEM), known)]
    assert causes == ["slow contraction"] * 3


def test_a_run_that_overflows_at_once_has_no_factor_below_1() -> None:
    losses = [*7 * losses_of(fc.FedGD(stepsize=1 / L), 10), np.inf]  # not from 0
    assert fc.diagnose(losses, fc.FedGD(stepsize=4 / L), PROBLEM).number > 1


def test_another_method_or_problem_than_the_run_s_is_refused() -> None:
    run = fc.simulate(fc.FedProx(mu=1), PROBLEM, 30)
    assert fc.diagnose(run, fc.FedProx(mu=1), PROBLEM).cause == fc.diagnose(run).cause
    assert fc.diagnose(run, problem=PROBLEM).cause == fc.diagnose(run).cause
    with pytest.raises(InvalidInput, match="is not the method of the run"):
        fc.diagnose(run, fc.FedGD(stepsize=1), PROBLEM)
    with pytest.raises(InvalidInput, match="is not the problem of the run; call diagnose"):
        fc.diagnose(run, problem=fc.LeastSquares(A=PROBLEM.A[:2], b=[[1] * 8, [2] * 8]))


def test_the_picture_has_the_run_its_prediction_and_the_floor() -> None:
    found = diagnosed(fc.FedProx(mu=1), 200)
    axes = found.plot()
    run, predicted, floor, tolerance = axes.lines
    exact = losses_of(fc.FedProx(mu=1), 200) - fc.ground_truth(PROBLEM).value
    assert np.allclose(np.asarray(run.get_ydata()), exact / exact[0], rtol=1e-6)
    places = np.asarray(predicted.get_xdata(), dtype=int)
    assert places[0] == 0
    assert places[-1] == 200
    assert np.allclose(np.asarray(predicted.get_ydata()), exact[places] / exact[0], rtol=1e-6)
    stop = fc.fixed_point(fc.FedProx(mu=1), PROBLEM)
    assert np.allclose(np.asarray(floor.get_ydata()), float(stop.gap) / exact[0], rtol=1e-6)
    assert np.allclose(np.asarray(tolerance.get_ydata()), 1e-6)
    assert "bias floor" in axes.get_title()
    norms = fc.simulate(fc.FedProx(mu=1), PROBLEM, 50).to_frame(["gradient_norm"])["gradient_norm"]
    drawn = fc.diagnose(norms, fc.FedProx(mu=1), PROBLEM, kind="gradient_norm").plot()
    exact = np.asarray(norms) ** 2
    assert np.allclose(np.asarray(drawn.lines[1].get_ydata()), exact / exact[0], rtol=1e-6)


LOSSES = [10.0, 9, 8, 7, 6, 5]
METHOD = fc.FedGD(stepsize=0.1 / L)
REFUSED: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((LOSSES,), {}, "problem = None: is needed with a list of losses"),
    ((LOSSES, PROBLEM), {}, "method = None: is needed"),
    ((METHOD, PROBLEM), {}, "give the run first"),
    (([np.nan, 9, 8, 7, 6, 5], PROBLEM, METHOD), {}, "losses[0] = nan: is missing"),
    (([10, 9, np.inf, 7, 6, 5], PROBLEM, METHOD), {}, "losses[2] = inf: is followed by finite ones"),
    (([10, np.nan, np.nan, np.nan, 7], PROBLEM, METHOD), {}, "fewer than 5 rounds"),
    ((LOSSES, PROBLEM, METHOD), {"x0": [1, 1]}, "x0"),
    ((LOSSES, PROBLEM, METHOD), {"x0": [1, 1, 1]}, "and the run begins with"),
    ((fc.simulate(METHOD, PROBLEM, 9),), {"x0": [0, 0, 0]}, "knows its start"),
    (([10, 9], PROBLEM, METHOD), {}, "fewer than 5 rounds"),
    (([[10, 9]] * 5, PROBLEM, METHOD), {}, "must have one axis"),
    ((["a"] * 6, PROBLEM, METHOD), {}, "is neither a run nor a list of losses"),
    (([3, 2, 1, 0, -1, -2.0], PROBLEM, METHOD), {}, "is below the minimum"),
    (([1, 1, 1, -1, 1, 1.0], PROBLEM, METHOD), {"kind": "gradient_norm"}, "is no norm"),
    ((LOSSES, PROBLEM, METHOD), {"kind": "accuracy"}, "choose loss or gradient_norm"),
    ((LOSSES, PROBLEM, METHOD), {"tolerance": float("inf")}, "tolerance = inf"),
    ((LOSSES, PROBLEM, METHOD), {"tolerance": 0}, "must be positive"),
    ((10**400, PROBLEM, METHOD), {}, "is neither a run nor a list of losses"),
    ((LOSSES, PROBLEM, METHOD), {"tolerance": 5e-324}, "float64 points"),
    ((LOSSES, PROBLEM, METHOD), {"tolerance": 2}, "reached before the first round"),
    ((LOSSES, PROBLEM, METHOD), {"participation": fc.participation.Uniform(50)}, "K = 50"),
    ((LOSSES, PROBLEM, fc.AdaptiveFedProx(mu=1)), {}, "not affine in its state"),
    ((LOSSES, PROBLEM, 3), {}, "is not a method"),
    (([*LOSSES, -np.inf], PROBLEM, METHOD), {}, "below every minimum"),
    (([np.nan] * 9, PROBLEM, METHOD), {}, "has no finite number"),
    (([1e200] * 9, PROBLEM, METHOD), {"kind": "gradient_norm"}, "beyond the range of float64"),
]


@pytest.mark.parametrize(("given", "options", "reason"), REFUSED, ids=[case[2] for case in REFUSED])
def test_wrong_input_is_refused(given: tuple[Any, ...], options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as error:
        fc.diagnose(*given, **options)
    assert reason in str(error.value)


def test_losses_of_few_digits_are_refused_where_these_hide_the_tolerance() -> None:
    losses = [round(value, 2) for value in fc.simulate(fc.FedDyn(alpha=5), PROBLEM, 60).to_frame(["value"])["value"]]
    with pytest.raises(InvalidInput, match=r"rounded to 0\.01"):
        fc.diagnose(losses, fc.FedDyn(alpha=5), PROBLEM, tolerance=1e-9)


FILES = {
    "round,loss\n0,5\n1,4\n1,3\n": "round = 1: follows round 1",
    "round,loss\n0,5\n2,4\n1,3\n": "round = 1: follows round 2",
    "round,loss\n0,5\n1,4\n99999999999,3\n": "round = 99999999999: follows round 1",
    "round,loss\n0,5\n1,x\n": "could not convert",
    "round,accuracy\n0,5\n": "has the columns round, accuracy",
    "": "cannot be read",
    "loss\n5,9\n4,9\n3,9\n": "rows with more fields than the header",  # else the losses are 9, 9, 9
    "loss,loss\n5,1\n4,1\n": "has two columns loss",
    "round;loss\n0;5\n1;4\n": "separate the columns by commas",
}


@pytest.mark.parametrize("text", FILES)
def test_files_with_gaps_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "losses.csv").write_text(text)
    with pytest.raises(InvalidInput) as error:
        read_losses(tmp_path / "losses.csv")
    assert FILES[text] in str(error.value)


def test_files_are_read(tmp_path: Path) -> None:
    file = tmp_path / "losses.csv"
    file.write_text("Round, Loss\n1, 5\n2, 4.5\n3, nan\n")
    numbers, kind = read_losses(file)
    assert kind == "loss"
    assert numbers[:2].tolist() == [5, 4.5]
    for text in ("round,loss\n0,5\n2,4\n3,\n5,nan\n6,\n", 'loss\n5\n""\n4\nNone\nN/A\nnan\n'):  # unrecorded, overflowed
        file.write_text(text)
        assert np.array_equal(read_losses(file)[0], [5, np.nan, 4, np.nan, np.nan, np.nan], equal_nan=True)
    file.write_text("grad_norm\n5\n4\n")
    assert read_losses(file)[1] == "gradient_norm"
    with pytest.raises(InvalidInput, match="is no file"):
        read_losses(tmp_path / "other.csv")


@pytest.mark.parametrize("method", [fc.FedProx(mu=1000), fc.FedGD(stepsize=10)])
def test_a_minimiser_at_0_leaves_a_cure_without_parameters(method: Method) -> None:
    problem = fc.LeastSquares(A=[np.eye(2), np.diag([1.0, 3.0])], b=[np.zeros(2)] * 2)
    found = fc.diagnose(fc.simulate(method, problem, 9, x0=[1, 1]))
    assert "run a method without bias" in found.cure
