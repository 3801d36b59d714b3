"""SCAFFOLD, FedDyn and FedADMM with every mean weighted by samples, stated as weights="samples"."""

from typing import Any

import numpy as np
import pytest
from checking import report_of

import fedconvex as fc
from fedconvex.conformance import check
from fedconvex.conformance.identification import identify

pytestmark = pytest.mark.beyond_core  # takes seconds

STEPS, STEPSIZE, WEIGHT = 3, 0.1, 0.5
SOLVER = fc.GradientDescent(steps=STEPS, stepsize=STEPSIZE)
METHODS: dict[str, Any] = {
    "SCAFFOLD": (fc.Scaffold(stepsize=STEPSIZE, local_steps=STEPS), None),
    "FedDyn": (fc.FedDyn(alpha=WEIGHT), SOLVER),
    "FedADMM": (fc.FedADMM(rho=WEIGHT), SOLVER),
}


class Weighted:
    """The three methods by hand; `memory`: the weights of the server's memory, which should be n_k/Σn as well."""

    def __init__(self, kind: str, memory: str = "samples") -> None:
        self.kind, self.by = kind, memory

    def init(self, problem: Any, x0: Any) -> Any:
        zeros = np.zeros((problem.num_clients, 2))
        return {"w": x0.copy(), "h": 0 * x0, "own": zeros, "last": zeros + x0}

    def round(self, problem: Any, state: Any, active: Any) -> Any:
        w, h, own, last = state["w"], state["h"], state["own"].copy(), state["last"].copy()
        n = np.array([len(b) for b in problem.b], float)
        mine = n[active] / n[active].sum()
        overall = n[active] / n.sum() if self.by == "samples" else np.ones(len(active)) / len(n)
        models, change, moved = [], 0, 0
        for k, p in zip(active, overall, strict=True):
            linear = {"SCAFFOLD": h - own[k], "FedDyn": -own[k], "FedADMM": own[k]}[self.kind]
            y = w
            for _ in range(STEPS):
                pull = 0 if self.kind == "SCAFFOLD" else WEIGHT * (y - w)
                y = y - STEPSIZE * (problem.A[k].T @ (problem.A[k] @ y - problem.b[k]) + linear + pull)
            new = {
                "SCAFFOLD": own[k] - h + (w - y) / (STEPS * STEPSIZE),
                "FedDyn": own[k] - WEIGHT * (y - w),
                "FedADMM": own[k] + WEIGHT * (y - w),
            }[self.kind]
            change, moved = change + p * (new - own[k]), moved + p * (y - last[k] + (new - own[k]) / WEIGHT)
            own[k], last[k] = new, y
            models.append(y)
        mean, h = mine @ np.array(models), h + change
        w = {"SCAFFOLD": mean, "FedDyn": mean - h / WEIGHT, "FedADMM": w + moved}[self.kind]
        return {"w": w, "h": h, "own": own, "last": last}

    def server_model(self, state: Any) -> Any:
        return state["w"]


def report(kind: str, memory: str = "samples", weights: str | None = "samples") -> Any:
    (method, solver), made = METHODS[kind], Weighted(kind, memory)
    return report_of(method, made, local_solver=solver, weights=weights)


@pytest.mark.parametrize("kind", METHODS)
def test_the_weighted_form_conforms_where_it_is_stated(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identify, "MOST_ROUNDS", 0)  # what differs needs no name here
    stated = report(kind)
    assert stated.passed, stated.report()
    assert report(kind, weights=None).verdict == "differs"
    assert report(kind, memory="equal").verdict == "differs"


def test_a_fault_of_a_weighted_form_is_identified() -> None:
    class Wrong(Weighted):
        def round(self, problem: Any, state: Any, active: Any) -> Any:
            new = super().round(problem, state, active)
            return {**new, "w": 2 * new["w"] - state["w"]}

    method, _ = METHODS["SCAFFOLD"]
    found = report_of(method, Wrong("SCAFFOLD"), weights="samples")
    assert [finding.name for finding in found.diagnosis] == ["the server's step is taken twice"]


@pytest.mark.parametrize("part", ["client", "server"])
def test_one_part_alone_conforms_to_the_weighted_form(part: str) -> None:
    method, _ = METHODS["SCAFFOLD"]

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        c, own, y = state["server"]["c"], state.get("c", 0 * model), model
        for _ in range(STEPS):
            y = y - STEPSIZE * (problem.A[k].T @ (problem.A[k] @ y - problem.b[k]) + c - own)
        state["c"] = own - c + (model - y) / (STEPS * STEPSIZE)
        return y

    def server(problem: Any, state: Any, replies: Any) -> Any:
        _, c = state
        n = np.array([reply.num_samples for reply in replies.values()], float)
        total = sum(len(b) for b in problem.b)
        changes = [reply.changes["c"] for reply in replies.values()]
        models = np.array([reply.model for reply in replies.values()])
        return n @ models / n.sum(), c + n @ np.array(changes) / total

    functions: dict[str, Any] = {"client": client}
    if part == "server":
        functions = {
            "init": lambda problem, x0: (x0, 0 * x0),
            "server": server,
            "server_model": lambda state: state[0],
            "broadcast": lambda state: {"c": state[1]},
        }
    found = check(method, **functions, weights="samples")
    assert found.passed, found.report()
