"""Runs that other programs recorded: those of the declared method have its causes, all others are named as another run.

The programs are written here in NumPy, without the package's methods.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from designed_problems import least_squares, logistic

import fedconvex as fc
from fedconvex.methods import Method

pytestmark = pytest.mark.beyond_core  # takes seconds

NOT_ITS_RUN = "not this method's run"
ROUNDS, STEPS = 80, 10
Step = Callable[[Any, np.ndarray, np.ndarray], np.ndarray]


def curvature(problem: Any) -> float:
    """The largest curvature of a client."""
    return float(max(problem.L))


def local_steps(problem: Any, change: Step, rounds: int = ROUNDS, start: float = 0.0) -> list[float]:
    """The losses of averaged local gradient steps of size 0.3/L, with another term in the gradient."""
    x = np.full(problem.dim, start)
    losses = [float(problem.value(x))]
    for _ in range(rounds):
        X = np.tile(x, (problem.num_clients, 1))
        for _ in range(STEPS):
            X = X - 0.3 / curvature(problem) * (problem.client_gradients(X) + change(problem, X, x))
        x = problem.weights @ X
        losses.append(float(problem.value(x)))
    return losses


def proximal(factor: float) -> Step:
    """μ(x − center) with μ = 0.3 L; −1: its sign is wrong."""
    return lambda problem, X, x: factor * 0.3 * curvature(problem) * (X - x)


# what ran instead of FedProx with exact local solutions
FAULTS: dict[str, Callable[[Any], list[float]]] = {
    "the reference point renewed at every step": lambda p: local_steps(p, proximal(0)),
    "a proximal term of the wrong sign": lambda p: local_steps(p, proximal(-1)),
    "few local steps": lambda p: local_steps(p, proximal(1)),
    "twice the weight": lambda p: recorded(fc.FedProx(mu=0.6 * curvature(p)), p),
    "an explosion": lambda p: (p.value(np.zeros(p.dim)) * 2.0 ** np.arange(30)).tolist(),
    "standing still": lambda p: [float(p.value(np.zeros(p.dim)))] * 30,
}


def recorded(method: Method, problem: Any, **options: Any) -> list[float]:
    """The losses of a simulation."""
    frame = fc.simulate(method, problem, ROUNDS, progress=False, **options).to_frame(["value"])
    return [float(loss) for loss in frame["value"]]


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", [least_squares, logistic])
@pytest.mark.parametrize("fault", FAULTS)
def test_another_program_s_losses_are_not_explained_by_the_declared_method(fault: str, make: Any, seed: int) -> None:
    problem = make(seed)
    found = fc.diagnose(FAULTS[fault](problem), fc.FedProx(mu=0.3 * curvature(problem)), problem)
    assert found.cause == NOT_ITS_RUN
    assert "explosion" in fault or "divergence" not in str(found)


@pytest.mark.sample(1)
@pytest.mark.parametrize("make", [least_squares, logistic])
def test_the_method_that_ran_is_found_with_its_parameters(make: Any) -> None:
    problem = make(1)
    L = curvature(problem)
    declared = fc.FedProx(mu=0.3 * L)
    found = fc.diagnose(FAULTS["the reference point renewed at every step"](problem), declared, problem)
    assert f"FedGD(stepsize={0.3 / L:.6g}, local_steps=10) gives all recorded numbers" in found.evidence
    # FedProx's own local steps are found as such, and what no candidate gives is not named
    found = fc.diagnose(FAULTS["few local steps"](problem), declared, problem)
    assert f"with 10 gradient steps of size {0.3 / L:.6g} gives all" in found.evidence
    found = fc.diagnose(FAULTS["a proximal term of the wrong sign"](problem), declared, problem)
    assert "gives all" not in found.evidence


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("form", ["float64", "float32", "every third round", "from elsewhere"])
@pytest.mark.parametrize("make", [least_squares, logistic])
def test_the_declared_method_s_own_losses_have_its_cause(make: Any, form: str, seed: int) -> None:
    problem = make(seed)
    L = curvature(problem)
    for method, cause in ((fc.FedProx(mu=0.3 * L), "bias floor"), (fc.FedGD(stepsize=1e-3 / L), "slow contraction")):
        options: dict[str, Any] = {"x0": np.full(problem.dim, 0.5)} if form == "from elsewhere" else {}
        losses = np.array(recorded(method, problem, **options), dtype="float32" if form == "float32" else float)
        if form == "every third round":
            losses[np.arange(len(losses)) % 3 > 0] = np.nan
        for known in (options, {}):  # with the start, and without it
            assert fc.diagnose(losses, method, problem, **known).cause == cause


def test_a_run_from_elsewhere_that_levels_off_at_another_point_is_another_run() -> None:
    problem = logistic(2)
    losses = local_steps(problem, proximal(0), rounds=300, start=0.7)
    found = fc.diagnose(losses, fc.FedProx(mu=curvature(problem)), problem)
    assert found.cause == NOT_ITS_RUN
    assert "levelled off" in found.evidence


@pytest.mark.parametrize("from_file", [False, True])
def test_a_cycle_is_no_slow_contraction(from_file: bool) -> None:
    problem = logistic(3)
    largest = np.linalg.eigvalsh(problem.hessian(fc.ground_truth(problem).point))[-1]
    method = fc.FedGD(stepsize=3.2 / largest)
    run = fc.simulate(method, problem, 200)
    values = run.to_frame(["value"])["value"].to_numpy()
    assert np.allclose(values[-2:], values[-4:-2])
    assert values[-1] != pytest.approx(values[-2])
    found = fc.diagnose(values, method, problem) if from_file else fc.diagnose(run)
    assert found.cause == "divergence by stepsize"
    assert "repeats every 2 rounds" in found.evidence
    assert found.number >= 2.2 - 1e-6  # |1 − 3.2|


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", [lambda seed: least_squares(seed, clients=6), logistic])
def test_runs_with_draws_are_compared_with_several_seeds(make: Any, seed: int) -> None:
    problem, two = make(seed), fc.participation.Uniform(2)
    L = curvature(problem)
    methods = (fc.FedGD(stepsize=0.5 / L), fc.FedDyn(alpha=L / 3), fc.FedAvg(stepsize=0.1 / L, epochs=2, batch_size=5))
    for method in methods:
        own = fc.simulate(method, problem, ROUNDS, participation=two, seed=50 + seed).to_frame(["value"])["value"]
        assert fc.diagnose(own, method, problem, participation=two).cause != NOT_ITS_RUN
        exploding = own + own[0] * (1.3 ** np.arange(ROUNDS + 1) - 1)
        assert fc.diagnose(exploding, method, problem, participation=two).cause == NOT_ITS_RUN


def test_losses_of_the_mean_name_their_factor() -> None:
    problem = least_squares(5)
    losses = np.array(recorded(fc.FedGD(stepsize=0.5 / curvature(problem)), problem))
    mean_squared = losses * 2 * problem.num_clients / sum(len(A) for A in problem.A)
    with pytest.raises(fc.InvalidInput, match=r"the mean squared error: multiply the losses by 4$"):
        fc.diagnose(mean_squared, fc.FedGD(stepsize=0.5 / curvature(problem)), problem)


def test_a_cure_is_priced_for_the_run_s_participation() -> None:
    problem, two = least_squares(11, clients=6), fc.participation.Uniform(2)
    method = fc.FedGD(stepsize=0.5 / curvature(problem), local_steps=5)
    run = fc.simulate(method, problem, 400, participation=two)
    cure = fc.diagnose(run, tolerance=1e-3).cure
    alpha, rounds = cure.split("FedDyn(alpha=")[1].split(" rounds with the clients of seed 0")[0].split("): ")
    gaps = fc.simulate(fc.FedDyn(alpha=float(alpha)), problem, int(rounds), participation=two).to_frame(["gap"])["gap"]
    assert (gaps.to_numpy() <= 1e-3 * gaps[0]).nonzero()[0].tolist() == [int(rounds)]
