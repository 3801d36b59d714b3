"""The check's diagnosis of two faults at once, unknown faults, other conventions and misbehaviour; refusals."""

import itertools
import json
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import plain_methods as plain
import pytest
import torch
from checking import report_of
from planted_edits import planted, report_on

import fedconvex as fc
from fedconvex.conformance import Report, check, findings
from fedconvex.conformance.identification import identify
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

STEPS = fc.GradientDescent(steps=4, stepsize=0.1)


def gradient(problem: Any, k: int, x: Any) -> Any:
    return problem.A[k].T @ (problem.A[k] @ x - problem.b[k])


def fedgd(step: Callable[..., Any] | None = None, **changed: Any) -> dict[str, Any]:
    """A right FedGD(stepsize=0.1, local_steps=2); `step` and the other functions take the place of its own."""

    def local(problem: Any, k: int, x: Any) -> Any:
        return x - 0.1 * gradient(problem, k, x)

    def round(problem: Any, x: Any, active: Any) -> Any:
        move = step or local
        n = np.array([len(problem.b[k]) for k in active]) / sum(len(problem.b[k]) for k in active)
        return n @ np.stack([move(problem, k, move(problem, k, x)) for k in active])

    return {"init": lambda problem, x0: x0.copy(), "round": round, "server_model": lambda x: x, **changed}


def checked(implementation: dict[str, Any], **options: Any) -> Report:
    return check(fc.FedGD(stepsize=0.1, local_steps=2), **implementation, **options)


def names(report: Report) -> list[str]:
    return [finding.name for finding in report.diagnosis]


def test_a_right_one_passes() -> None:
    report = checked(fedgd())
    assert report.passed
    assert report.diagnosis == report.alternatives == report.deviations == ()
    assert "conforms" in report.report()
    assert "differs" not in report.report()


def test_two_faults_at_once_are_both_named() -> None:
    both = {"the proximal gradient has the wrong sign", "the average is not weighted"}
    assert set(names(report_on("FedProx, steps", *both, clients_known=False))) == both


def test_an_unknown_fault_is_not_given_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deviation is shown with its numbers, and what still agrees is said."""

    def round(problem: Any, x: Any, active: Any) -> Any:
        return fedgd()["round"](problem, x, active) + (np.array([0.25, 0]) if len(active) == 2 else 0)

    monkeypatch.setattr(identify, "MOST_ROUNDS", 20_000)  # a short search
    report = checked(fedgd(round=round))
    assert names(report) == [findings.UNKNOWN]
    assert {d.scenario for d in report.deviations} == {
        "identical clients",
        "clients that skip rounds",
        "clients that skip rounds, more or fewer samples",
        "twelve rounds from far away",
    }
    first = report.deviations[0]
    assert (first.round, first.client) == (1, None)
    assert first.size == pytest.approx(0.25)
    assert np.subtract(first.found, first.expected) == pytest.approx([0.25, 0])
    statuses = {p.status for p in report.properties}
    assert "broken" not in statuses
    assert "holds" in statuses


@pytest.mark.parametrize(("half", "undecided"), [("clients", "local steps"), ("server", "the average")])
def test_an_unknown_fault_of_one_half_leaves_the_other_half_decided(
    half: str, undecided: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each half of a round is judged from the models before it, where the clients' are known."""
    monkeypatch.setattr(identify, "MOST_ROUNDS", 20_000)

    class Odd(plain.FedProx):
        def solve(self, *given: Any, **named: Any) -> Any:
            theta = super().solve(*given, **named)
            return theta + 0.01 * np.sin(theta) if half == "clients" else theta

        def after(self, state: Any, w: Any, sent: Any, **more: Any) -> Any:
            return super().after(state, w + 0.01 * np.sin(w) if half == "server" else w, sent, **more)

    made = Odd(mu=0.5, stepsize=0.1, steps=4)
    report = report_of(fc.FedProx(mu=0.5), made, clients=True, local_solver=STEPS)
    statuses = {p.name: p.status for p in report.properties}
    assert names(report) == [findings.UNKNOWN]
    assert {status for name, status in statuses.items() if undecided in name} == {"undecided"}
    other = "the average" if half == "clients" else "local steps"
    assert {status for name, status in statuses.items() if other in name} == {"holds"}


def test_float32_weights_of_the_average_are_a_note() -> None:
    class Weights(plain.FedProx):
        def weights(self, problem: Any, active: Any) -> Any:
            return super().weights(problem, active).astype(np.float32).astype(np.float64)

    made = Weights(stepsize=0.1, steps=4)
    report = report_of(fc.FedGD(stepsize=0.1, local_steps=4), made, clients=True)
    assert report.passed, report.report()
    assert "the weights of the average are rounded to float32" in report.notes

    class Twice(Weights):
        def after(self, state: Any, w: Any, sent: Any, **more: Any) -> Any:
            return super().after(state, 2 * w - state["w"], sent, **more)

    made = Twice(stepsize=0.1, steps=4)
    report = report_of(fc.FedGD(stepsize=0.1, local_steps=4), made, clients=True)
    assert names(report) == ["the server's step is taken twice"]
    assert report.deviations[0].size > 1e-3  # the gross one, not the rounding that comes before it
    ratios = [deviation.size / deviation.tolerance for deviation in report.deviations]
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.slow
def test_the_first_client_that_deviates_is_named() -> None:
    class Odd(plain.Scaffold):
        def round(self, problem: Any, state: Any, active: Any, local_steps: Any) -> Any:
            state = super().round(problem, state, active, local_steps)
            if state["t"] == 2 and 2 in state["sent"]:
                state["sent"][2] = state["sent"][2] + 1e-3
            return state

    report = report_of(fc.Scaffold(stepsize=0.1, local_steps=4), Odd(stepsize=0.1, steps=4), clients=True)
    assert (report.deviations[0].round, report.deviations[0].client) == (2, 2)
    assert "client 2" in str(report.deviations[0])


@pytest.mark.parametrize(
    ("theirs", "said"),
    [(1, "mu replaced by 2·mu"), (Fraction(1, 4), "mu replaced by mu/2"), (2, "mu replaced by 1/mu")],
)
def test_another_convention_is_translated(theirs: Any, said: str) -> None:
    made = plain.FedProx(mu=float(theirs), stepsize=0.1, steps=4)
    report = report_of(fc.FedProx(mu=0.5), made, local_solver=STEPS)
    assert any(said in finding.name for finding in report.diagnosis + report.alternatives)


@pytest.mark.parametrize("loss", ["sum", "half_mean", "mean"])
def test_losses_of_other_size_are_right_where_stated(loss: str) -> None:
    factor = {"sum": lambda n: 2, "half_mean": lambda n: 1 / n, "mean": lambda n: 2 / n}[loss]

    def step(problem: Any, k: int, x: Any) -> Any:
        return x - 0.1 * factor(len(problem.b[k])) * gradient(problem, k, x)

    assert checked(fedgd(step), loss=loss).passed
    assert not checked(fedgd(step)).passed
    assert not checked(fedgd(), loss=loss).passed


def test_equal_weights_are_right_where_stated() -> None:
    def round(problem: Any, x: Any, active: Any) -> Any:
        return np.mean([x - 0.1 * gradient(problem, k, x) for k in active], axis=0)

    one = fc.FedGD(stepsize=0.1, local_steps=1)
    assert check(one, **fedgd(round=round), weights="equal").passed
    assert names(check(one, **fedgd(round=round))) == ["the average is not weighted"]


def raising(problem: Any, x: Any, active: Any) -> Any:
    if len(active) < problem.num_clients:
        raise RuntimeError("nobody told me that clients can be away")
    return fedgd()["round"](problem, x, active)


def overwriting(problem: Any, x0: Any) -> Any:
    x0 *= 1.0
    x = x0.copy()
    x0[:] = 0
    return x


NOISE = itertools.count()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("implementation", "said"),
    [
        (fedgd(round=raising), findings.RAISES),
        (fedgd(init=lambda problem, x0: 1 / 0), findings.RAISES),
        (fedgd(server_model=lambda x: x[None]), findings.SHAPE),
        (fedgd(server_model=lambda x: "the model"), findings.NOT_NUMBERS),
        (fedgd(server_model=lambda x: None), findings.SHAPE),
        (fedgd(round=lambda problem, x, active: x * np.nan), findings.NOT_FINITE),
        (fedgd(init=overwriting), findings.CHANGES_START),
        (fedgd(round=lambda problem, x, active: None), findings.NO_STATE),
        (fedgd(client_models=lambda x: [x]), findings.CLIENT_MODELS),
        (
            fedgd(lambda problem, k, x: x - 0.1 * gradient(problem, k, x) + 1e-3 * next(NOISE)),
            findings.NOT_DETERMINISTIC,
        ),
        (fedgd(server_model=lambda x: x.astype(np.float16)), findings.COARSE),
        (fedgd(server_model=lambda x: x.astype(np.float32).astype(np.float64)), findings.SINGLE),
    ],
)
def test_misbehaviour_is_reported_not_raised(implementation: dict[str, Any], said: str) -> None:
    report = checked(implementation)
    assert not report.passed
    assert said in names(report)
    assert said in report.report()
    assert report.to_dict()["passed"] is False


@pytest.mark.sample(1)
@pytest.mark.parametrize("off", [5e-14, 1e-13, 1e-9])
def test_a_small_deviation_is_not_put_down_to_a_fault_without_effect(off: float) -> None:
    """Faults that change nothing agree with every run that is nearly right."""
    report = checked(fedgd(lambda problem, k, x: x - 0.1 * (1 + off) * gradient(problem, k, x)))
    assert not report.passed
    named = [*names(report), *(finding.name for finding in report.alternatives)]
    assert not {name for name, seen in report.suspects.seen_in.items() if not seen} & set(named)
    fitted = {name for name in names(report) if name.startswith("stepsize is 0.1000000001")}
    assert fitted == (set(names(report)) if off == 1e-9 else set())  # one that large is measured
    assert set(names(report)) - fitted <= {findings.UNKNOWN}
    assert "precision only" not in report.report()  # all that is known is the size


def test_data_that_are_written_to_are_reported() -> None:
    """Both an attempt that the arrays refuse and one that goes round their protection."""

    def attempt(problem: Any, k: int, x: Any) -> Any:
        problem.A[k][0, 0] = 0
        return x

    assert findings.CHANGES_DATA in names(checked(fedgd(attempt)))
    memory = {}

    def behind(problem: Any, k: int, x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            memory[k] = torch.from_numpy(problem.b[k])
        memory[k] += 1
        return x

    assert findings.CHANGES_DATA in names(checked(fedgd(behind)))


def test_what_can_still_be_checked_is_checked() -> None:
    """It raises where clients are away; the other problems show that the steps go the wrong way."""

    def round(problem: Any, x: Any, active: Any) -> Any:
        if len(active) < problem.num_clients:
            raise RuntimeError("away")
        return fedgd(lambda problem, k, x: x - 0.2 * gradient(problem, k, x))["round"](problem, x, active)

    report = checked(fedgd(round=round))
    assert "the clients' functions are twice as large" in names(report)
    assert findings.RAISES in names(report)


def test_the_order_of_clients_must_not_matter() -> None:
    def round(problem: Any, state: Any, active: Any) -> Any:
        x, first = state
        right = fedgd()["round"](problem, x, active)
        return (right + (0.1 if active and active[0] > active[-1] else 0), first)

    report = checked(
        {"init": lambda problem, x0: (x0.copy(), 0), "round": round, "server_model": lambda state: state[0]}
    )
    assert findings.ORDER in names(report)


def test_a_state_that_is_worked_on_in_place_is_fine() -> None:
    def round(problem: Any, x: Any, active: Any) -> Any:
        x[:] = fedgd()["round"](problem, x, active)
        return x

    assert checked(fedgd(round=round)).passed

    def another(problem: Any, x: Any, active: Any) -> Any:
        x[:] = fedgd()["round"](problem, x, active)
        return x.copy()

    report = checked(fedgd(round=another))
    assert report.passed
    assert findings.OLD_STATE in report.notes


def test_single_precision_may_be_stated() -> None:
    lossy = fedgd(server_model=lambda x: x.astype(np.float32).astype(np.float64))
    assert checked(lossy, precision="float32").passed


@pytest.mark.slow
def test_table_dictionary_and_picture() -> None:
    report = checked(fedgd(lambda problem, k, x: x + 0.1 * gradient(problem, k, x)))
    frame = report.to_frame()
    assert list(frame.columns) == ["problem", "round", "deviation", "tolerance"]
    assert (frame.deviation > frame.tolerance).any()
    assert len(frame) == sum(len(run.scenario.rounds) + 1 for run in report.runs)
    assert json.loads(json.dumps(report.to_dict()))["deviations"]
    axes = report.figure()
    assert len(axes.get_lines()) == len(report.runs) + 1


@pytest.mark.parametrize(
    ("method", "options", "argument"),
    [
        (fc.FedGD(stepsize=1), {"round": None}, "round"),
        (fc.FedGD(stepsize=1), {"init": 3}, "init"),
        (fc.FedGD(stepsize=1), {"server_model": "w"}, "server_model"),
        (fc.FedGD(stepsize=1), {"local_update": lambda *given: None}, "local_update"),
        ("FedGD", {}, "method"),
        (fc.FedAvg(stepsize=1, batch_size=2), {}, "batch_size"),
        (fc.FedPD(eta=1, skip=0.5), {}, "method"),
        (fc.FedProx(mu=1), {"local_solver": fc.ToInexactness(gamma=0.5)}, "local_solver"),
        (fc.FedProx(mu=1), {"local_solver": "exact"}, "local_solver"),
        (fc.FedProx(mu=1), {"loss": "mse"}, "loss"),
        (fc.FedProx(mu=1), {"weights": "all"}, "weights"),
        (fc.FedSplit(stepsize=1), {"weights": "samples"}, "weights"),
        (fc.FedProx(mu=1), {"precision": "float16"}, "precision"),
    ],
)
def test_what_cannot_be_checked_is_refused(method: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(method, **{**fedgd(), **options})
    assert refused.value.argument == argument


@pytest.mark.slow
def test_of_faults_that_are_nearly_the_same_the_closer_one_is_named() -> None:
    """In single precision, the wrong sign of a weak pull is hard to tell from weight decay."""
    made = plain.FedProx(dtype=np.float32, mu=-1e-4, stepsize=0.1, steps=5)
    report = report_of(fc.FedProx(mu=1e-4), made, local_solver=fc.GradientDescent(steps=5, stepsize=0.1))
    assert names(report) == ["the proximal gradient has the wrong sign"]


def test_memory_that_changes_within_a_round_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """SCAFFOLD whose server adds up c client by client, and FedDyn whose clients share one vector."""
    monkeypatch.setattr(identify, "MOST_ROUNDS", 20_000)  # a short search

    class ServerByServer(plain.Scaffold):
        def round(self, problem: Any, state: Any, active: Any, local_steps: Any) -> Any:
            w, c, c_k, ends = state["w"], state["c"], list(state["own"]), []
            for k, K in zip(active, local_steps, strict=True):
                ends.append(self.solve(problem, k, w, c - c_k[k], work=K))
                new = c_k[k] - c + (w - ends[-1]) / (K * self.stepsize)
                c, c_k[k] = c + (new - c_k[k]) / problem.num_clients, new
            return {**state, "w": sum(ends) / len(ends), "c": c, "own": c_k}

    made = ServerByServer(stepsize=0.1, steps=4)
    assert findings.ORDER in names(report_of(fc.Scaffold(stepsize=0.1, local_steps=4), made))


class Momentum(plain.FedProx):
    """FedGD with a momentum of one half: the velocity starts at zero, or `fault` says how it lasts."""

    fault = ""

    def round(self, problem: Any, state: Any, active: Any, local_steps: Any) -> Any:
        w, sent, velocities = state["w"], {}, dict(state.get("velocities", {}))
        for k, K in zip(active, local_steps, strict=True):
            owner = {"": None, "kept": k, "shared": "everybody"}[self.fault]
            theta, velocity = w, velocities.get(owner, 0 * w)
            for _ in range(K):
                velocity = 0.5 * velocity + self.gradient(problem, k, theta)
                theta = theta - 0.1 * velocity
            sent[k] = theta
            if self.fault:
                velocities[owner] = velocity
        shares = zip(self.weights(problem, active), active, strict=True)
        return self.after(state, sum(q * sent[k] for q, k in shares), sent, velocities=velocities)


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("", []),
        ("kept", ["momentum is kept from round to round"]),
        ("shared", ["momentum is shared between clients", findings.ORDER]),
    ],
)
def test_momentum_is_each_clients_own(fault: str, found: list[str]) -> None:
    made = Momentum()
    made.fault = fault
    solver = fc.SGD(steps=4, batch_size=None, stepsize=0.1, momentum=0.5)
    assert names(report_of(fc.FedGD(stepsize=0.1, local_steps=4), made, local_solver=solver)) == found


@pytest.mark.sample(1)
@pytest.mark.parametrize("steps", [1, 30, 100])
def test_few_and_many_local_steps(steps: int) -> None:
    """Beyond a number of steps, the truth comes from balls and faulty runs from floats."""
    for faults in ([], ["clients take one local step too many"]):
        made = planted("SCAFFOLD II", *faults, stepsize=0.01, steps=steps)
        assert names(report_of(fc.Scaffold(stepsize=0.01, local_steps=steps), made)) == faults
