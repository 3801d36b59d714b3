"""Other shapes of implementations (a whole run, the clients or the server part): right ones pass, faults are named."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import plain_methods as plain
import pytest
import torch

import fedconvex as fc
from fedconvex.conformance import Report, check, conforms_to, findings
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

STEPS = fc.GradientDescent(steps=3, stepsize=0.1)


def names(report: Report) -> list[str]:
    return [finding.name for finding in report.diagnosis]


def any_name(report: Report) -> set[str]:
    return {finding.name for finding in report.diagnosis + report.alternatives}


def gradient(problem: Any, k: int, x: Any) -> Any:
    return problem.A[k].T @ (problem.A[k] @ x - problem.b[k])


def weights(problem: Any, active: Any) -> Any:
    n = np.array([len(problem.b[k]) for k in active])
    return n / n.sum()


# ── all rounds at once ───────────────────────────────────────────────────────────────────────────────────────────────


def trajectory(problem: Any, x0: Any, rounds: Any, local_steps: Any, sign: int = -1) -> Iterator[Any]:
    """FedGD's models after every round."""
    w = x0
    for active, work in zip(rounds, local_steps, strict=True):
        ends = []
        for k, steps in zip(active, work, strict=True):
            theta = w
            for _ in range(steps):
                theta = theta + sign * 0.1 * gradient(problem, k, theta)
            ends.append(theta)
        w = weights(problem, active) @ np.stack(ends)
        yield w


FORMS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "all models": lambda x0, found: np.array(found),
    "x0 and all models": lambda x0, found: [x0, *found],
    "modules": lambda x0, found: [{"first": w[:1], "second": w[1:]} for w in found],
    "a generator": lambda x0, found: (w for w in found),
    "the last model": lambda x0, found: found[-1],
    "the last model as a list": lambda x0, found: found[-1].tolist(),
    "the last model as a dict": lambda x0, found: {"model": found[-1]},
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("form", FORMS)
def test_a_whole_run(form: str) -> None:
    calls = []

    def run(problem: Any, x0: Any, rounds: Any, local_steps: Any) -> Any:
        calls.append(len(rounds))
        return FORMS[form](x0, list(trajectory(problem, x0, rounds, local_steps)))

    report = check(fc.FedGD(stepsize=0.1, local_steps=2), run=run)
    assert report.passed, report.report()
    assert "stragglers" in {run.scenario.name for run in report.runs}
    if "last" not in form:
        assert len(calls) == len(report.runs) + 2  # one call a run, and two runs for reproducibility


def test_the_fault_of_a_whole_run_is_named() -> None:
    def run(problem: Any, x0: Any, rounds: Any) -> Any:
        work = [[2] * len(active) for active in rounds]
        return list(trajectory(problem, x0, rounds, work, sign=1))

    report = check(fc.FedGD(stepsize=0.1, local_steps=2), run=run)
    assert not report.passed
    assert report.deviations[0].round == 1

    def unweighted(problem: Any, x0: Any, rounds: Any) -> Any:
        w = x0
        for active in rounds:
            w = np.mean([w - 0.1 * gradient(problem, k, w) for k in active], axis=0)
        return w

    assert names(check(fc.FedSGD(stepsize=0.1), run=unweighted)) == ["the average is not weighted"]


@pytest.mark.parametrize(
    ("returned", "name"),
    [
        (lambda x0, rounds: [x0] * (len(rounds) + 2), findings.MODELS_OF_RUN),
        (lambda x0, rounds: np.zeros((0, 2)), findings.MODELS_OF_RUN),
        (lambda x0, rounds: itertools.repeat(x0), findings.MODELS_OF_RUN),  # it never ends
        (lambda x0, rounds: None, findings.SHAPE),
        (lambda x0, rounds: [], findings.SHAPE),
        (lambda x0, rounds: [[x0, x0]] * len(rounds), findings.SHAPE),
        (lambda x0, rounds: x0 / 0, findings.NOT_FINITE),
        (lambda x0, rounds: rounds.append([0]), findings.SHAPE),
        (lambda x0, rounds: x0.fill(0), findings.CHANGES_START),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_whole_run_that_returns_something_else_is_reported(returned: Callable[..., Any], name: str) -> None:
    report = check(fc.FedSGD(stepsize=0.1), run=lambda problem, x0, rounds: returned(x0, rounds))
    assert name in names(report)


# ── the clients' part ────────────────────────────────────────────────────────────────────────────────────────────────


def scaffold_client(problem: Any, k: int, model: Any, state: Any, local_steps: int, fault: str = "") -> Any:
    c, own, w = state["server"]["c"], state.get("c", 0 * model), model.copy()
    for _ in range(local_steps):
        tilt = own - c if fault == "sign" else c - own
        model -= 0.1 * (gradient(problem, k, model) + tilt)
    state["c"] = own - (0 if fault == "c forgotten" else c) + (w - model) / (0.1 * local_steps)
    return None if fault == "" else model  # trained in place


def fedprox_client(problem: Any, k: int, model: Any, state: Any) -> Any:
    theta = model
    for _ in range(3):
        theta = theta - 0.1 * (gradient(problem, k, theta) + 0.5 * (theta - model))
    return {"weight": theta.reshape(1, 2)}


def test_right_clients_pass() -> None:
    report = check(fc.Scaffold(stepsize=0.1, local_steps=3), client=scaffold_client)
    assert report.passed, report.report()
    assert check(fc.FedProx(mu=0.5), client=fedprox_client, local_solver=STEPS).passed
    dane = check(fc.FedDANE(mu=0.5), client=fedprox_client, local_solver=STEPS)
    assert "the gradient correction is left out: this is FedProx" in any_name(dane)
    single = check(
        fc.FedProx(mu=0.5),
        local_solver=STEPS,
        client=lambda *given: fedprox_client(*given)["weight"].astype(np.float32)[0],
    )
    assert single.passed
    assert single.precision == "float32"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("sign", "the correction of the local gradient has the wrong sign"),
        ("c forgotten", "option II does not subtract c"),
    ],
)
def test_the_clients_fault_is_named(fault: str, name: str) -> None:
    def client(problem: Any, k: int, model: Any, state: Any, local_steps: int) -> Any:
        return scaffold_client(problem, k, model, state, local_steps, fault)

    report = check(fc.Scaffold(stepsize=0.1, local_steps=3), client=client)
    assert name in any_name(report), report.report()
    assert "the kit simulated the server" in report.report()
    assert "server memory is summed" not in report.report()  # the server's faults are not this part's


def test_a_client_that_returns_something_else_is_reported() -> None:
    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        return np.zeros((2, 2))

    assert names(check(fc.FedSGD(stepsize=0.1), client=client)) == [findings.SHAPE]

    def changing(problem: Any, k: int, model: Any, state: Any) -> Any:
        problem.b[k][:] = 0

    assert names(check(fc.FedSGD(stepsize=0.1), client=changing)) == [findings.CHANGES_DATA]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("convert", "name"),
    [
        (lambda x: torch.tensor(x).to(torch.bfloat16), findings.COARSE),
        (lambda x: x.astype(np.float16), findings.COARSE),
        (lambda x: np.round(x).astype(int), findings.INTEGERS),
    ],
)
def test_a_clients_coarse_or_whole_numbers_are_reported(convert: Callable[..., Any], name: str) -> None:
    report = check(
        fc.FedSGD(stepsize=0.1),
        client=lambda problem, k, model, state: convert(model - 0.1 * gradient(problem, k, model)),
    )
    assert name in names(report)


# ── the server's part ────────────────────────────────────────────────────────────────────────────────────────────────


def fedavg_server(fault: str = "") -> dict[str, Any]:
    def server(problem: Any, state: Any, replies: Any) -> Any:
        n = np.array([1 if fault == "not weighted" else reply.num_samples for reply in replies.values()])
        n = n / (sum(len(b) for b in problem.b) if fault == "weights lost" else n.sum())
        return n @ np.stack([reply.model for reply in replies.values()])

    return {"init": lambda problem, x0: x0.copy(), "server": server, "server_model": lambda w: w}


def fednova_server(problem: Any, state: Any, replies: Any) -> Any:
    p = np.array([reply.num_samples for reply in replies.values()]) / sum(r.num_samples for r in replies.values())
    tau = np.array([reply.local_steps for reply in replies.values()])
    moves = np.stack([(reply.model - state) / reply.local_steps for reply in replies.values()])
    return state + (p @ tau) * (p @ moves)


def scaffold_server(fault: str = "") -> dict[str, Any]:
    def server(problem: Any, state: Any, replies: Any) -> Any:
        c = state[1]
        m = {"divided by the active": len(replies), "summed": 1}.get(fault, problem.num_clients)
        new = c + sum(reply.changes["c"] for reply in replies.values()) / m
        return np.mean([reply.model for reply in replies.values()], axis=0), c if fault == "never updated" else new

    return {
        "init": lambda problem, x0: (x0.copy(), 0 * x0),
        "server": server,
        "server_model": lambda state: state[0],
        "broadcast": lambda state: {"c": state[1]},
    }


def feddyn_server(fault: str = "") -> dict[str, Any]:
    def server(problem: Any, state: Any, replies: Any) -> Any:
        w, h = state
        models = [reply.model for reply in replies.values()]
        h = h - 0.5 / problem.num_clients * sum(model - w for model in models)
        return np.mean(models, axis=0) - (0 if fault == "not applied" else h / 0.5), h

    return {
        "init": lambda problem, x0: (x0.copy(), 0 * x0),
        "server": server,
        "server_model": lambda state: state[0],
    }


def fedsplit_server(problem: Any, state: Any, replies: Any) -> Any:
    _, z = state
    z = [replies[k].memory["z"] if k in replies else z[k] for k in range(problem.num_clients)]
    return np.mean(z, axis=0), z


def fedpd_server(problem: Any, state: Any, replies: Any) -> Any:
    return np.mean([reply.model + 0.5 * reply.memory["dual"] for reply in replies.values()], axis=0)


def test_right_servers_pass() -> None:
    for method, functions in [
        (fc.FedGD(stepsize=0.1, local_steps=2), fedavg_server()),
        (fc.FedNova(stepsize=0.1, local_steps=3), {**fedavg_server(), "server": fednova_server}),
        (fc.Scaffold(stepsize=0.1, local_steps=2), scaffold_server()),
        (fc.FedDyn(alpha=0.5), feddyn_server()),
        (fc.FedDANE(mu=0.5), fedavg_server()),
        (fc.FedPD(eta=0.5), {**fedavg_server(), "server": fedpd_server}),
        (
            fc.FedSplit(stepsize=1),
            {
                "init": lambda problem, x0: (x0, [x0] * problem.num_clients),
                "server": fedsplit_server,
                "server_model": lambda state: state[0],
            },
        ),
    ]:
        report = check(method, **functions)
        assert report.passed, report.report()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("method", "functions", "name"),
    [
        (fc.FedGD(stepsize=0.1, local_steps=2), fedavg_server("not weighted"), "the average is not weighted"),
        (fc.FedGD(stepsize=0.1, local_steps=2), fedavg_server("weights lost"), "weights of dropped clients are lost"),
        (
            fc.FedNova(stepsize=0.1, local_steps=3),
            fedavg_server(),
            "progress is not divided by the number of local steps: this is FedAvg",
        ),
        (
            fc.Scaffold(stepsize=0.1, local_steps=2),
            scaffold_server("divided by the active"),
            "server memory is divided by |P_t| instead of m",
        ),
        (
            fc.Scaffold(stepsize=0.1, local_steps=2),
            scaffold_server("summed"),
            "server memory is summed, not divided by m",
        ),
        (
            fc.Scaffold(stepsize=0.1, local_steps=2),
            scaffold_server("never updated"),
            "the server's control variate is never updated",
        ),
        (fc.FedDyn(alpha=0.5), feddyn_server("not applied"), "server memory is not applied"),
    ],
)
def test_the_servers_fault_is_named(method: Any, functions: dict[str, Any], name: str) -> None:
    report = check(method, **functions)
    assert report.diagnosis[0].name == name, report.report()
    assert "the kit simulated the clients" in report.report()
    assert "clients take one local step too many" not in report.report()


@pytest.mark.slow
def test_half_right_is_right_in_its_half() -> None:
    """A FedDyn whose server alone is wrong: its clients' part passes, and the report says that it is only a part."""

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        g = state.get("g", 0 * model)
        theta = np.linalg.solve(
            problem.A[k].T @ problem.A[k] + 0.5 * np.eye(2), problem.A[k].T @ problem.b[k] + g + 0.5 * model
        )
        state["g"] = g - 0.5 * (theta - model)
        return theta

    assert check(fc.FedDyn(alpha=0.5), client=client).passed
    assert not check(fc.FedDyn(alpha=0.5), **feddyn_server("not applied")).passed


def test_servers_that_misbehave_are_reported() -> None:
    functions = fedavg_server()

    def nothing(problem: Any, state: Any, replies: Any) -> None:
        state[:] = functions["server"](problem, state, replies)

    report = check(fc.FedSGD(stepsize=0.1), **{**functions, "server": nothing})
    assert names(report) == [findings.NO_STATE]
    first_only = check(
        fc.FedSGD(stepsize=0.1),
        **{**functions, "server": lambda problem, state, replies: next(iter(replies.values())).model},
    )
    assert findings.ORDER in names(first_only)


# ── which functions belong together ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("method", "functions", "argument"),
    [
        (fc.FedSGD(stepsize=1), {"run": 3}, "run"),
        (fc.FedSGD(stepsize=1), {"client": "train"}, "client"),
        (fc.FedSGD(stepsize=1), {"server": len}, "init"),
        (fc.FedSGD(stepsize=1), {"run": len, "client": len}, "client"),
        (fc.FedSGD(stepsize=1), {"run": len, "init": len}, "run"),
        (fc.FedSGD(stepsize=1), {**fedavg_server(), "round": len}, "server"),
        (fc.FedSGD(stepsize=1), {**fedavg_server(), "broadcast": 3}, "broadcast"),
        (fc.FedSGD(stepsize=1), {}, "init"),
        (fc.Scaffold(stepsize=1), fedavg_server(), "broadcast"),
    ],
)
def test_functions_that_do_not_belong_together_are_refused(
    method: Any, functions: dict[str, Any], argument: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(method, **functions)
    assert refused.value.argument == argument


def test_the_decorator_takes_all_shapes() -> None:
    conforms_to(fc.FedGD(stepsize=0.1, local_steps=2))(fedavg_server)()
    conforms_to(fc.FedProx(mu=0.5), local_solver=STEPS)(lambda: {"client": fedprox_client})()


@pytest.mark.slow
def test_a_whole_plain_method_as_a_run() -> None:
    made = plain.Scaffold(stepsize=0.1, steps=2)

    def run(problem: Any, x0: Any, rounds: Any) -> Iterator[Any]:
        state = made.init(problem, x0)
        for active in rounds:
            state = made.round(problem, state, active, [2] * len(active))
            yield state["w"]

    assert check(fc.Scaffold(stepsize=0.1, local_steps=2), run=run).passed


# ── the search in every shape ────────────────────────────────────────────────────────────────────────────────────────


def odd_steps(problem: Any, k: int, w: Any, weight_decay: float) -> Any:
    """Three local steps with a weight decay."""
    theta = w
    for _ in range(3):
        theta = theta - 0.1 * (gradient(problem, k, theta) + weight_decay * theta)
    return theta


def test_a_clients_weight_decay_is_fitted() -> None:
    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        return odd_steps(problem, k, model, 0.00037)

    assert names(check(fc.FedGD(stepsize=0.1, local_steps=3), client=client)) == [
        "local steps have a weight decay of 0.00037"
    ]


@pytest.mark.slow
def test_two_faults_of_a_whole_run_are_both_named() -> None:
    def run(problem: Any, x0: Any, rounds: Any) -> Iterator[Any]:
        for active in rounds:
            x0 = np.mean([odd_steps(problem, k, x0, 0.00037) for k in active], axis=0)
            yield x0

    assert set(names(check(fc.FedGD(stepsize=0.1, local_steps=3), run=run))) == {
        "local steps have a weight decay of 0.00037",
        "the average is not weighted",
    }


@pytest.mark.slow
def test_two_faults_of_a_server_are_both_named() -> None:
    """And none of the clients, whom the kit plays."""

    def server(problem: Any, w: Any, replies: Any) -> Any:
        return 0.9 * np.mean([reply.model for reply in replies.values()], axis=0)

    functions = {"init": lambda problem, x0: x0, "server": server, "server_model": lambda w: w}
    report = check(fc.FedGD(stepsize=0.1, local_steps=3), **functions)
    assert set(names(report)) == {"the server's new model is multiplied by 0.9", "the average is not weighted"}


@pytest.mark.slow
def test_numbers_are_fitted_where_code_shuffles() -> None:
    """On the problems whose order does not matter; the orders of the others are found by correct steps."""

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        order = np.random.default_rng(len(state)).permutation(len(problem.b[k]))
        for batch in np.split(order, range(2, len(order), 2)):
            A, b = problem.A[k][batch], problem.b[k][batch]
            model = model - 0.05 * (2 * A.T @ (A @ model - b) / len(b) + 0.00037 * model)
        return model

    report = check(fc.FedAvg(stepsize=0.05, epochs=1, batch_size=2), client=client, shuffled=True)
    assert names(report) == ["local steps have a weight decay of 0.00037"]
