"""Running statistics: the report says whether the server averages them or keeps its own, and they are no parameters."""

from typing import Any

import numpy as np
import pytest
import torch

import fedconvex as fc
from fedconvex.conformance import Report, check
from fedconvex.conformance.buffers import BUFFERS, RULES, buffers_of
from fedconvex.conformance.kit_model import KitModel
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains torch modules

KEEPS, WEIGHTED, ALIKE, LAST = RULES
STEPS = 2
NAME = "shift.running_mean"


class Averaging:
    """FedGD on modules: the parameters are averaged, and the buffers by the rule `buffers(rows, weights, own)`."""

    def __init__(self, buffers: Any, statistics: bool = True, evaluates: bool = False, parameters: str = "") -> None:
        self.buffers, self.statistics, self.evaluates, self.broken = buffers, statistics, evaluates, parameters

    def init(self, problem: Any, x0: Any) -> Any:
        return {"server": KitModel(x0, statistics=self.statistics).state_dict(), "sent": {}}

    def train(self, problem: Any, k: int, sent: Any) -> Any:
        model = KitModel(np.zeros(2), statistics=self.statistics)
        model.load_state_dict(sent)
        model.train(not self.evaluates)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        X, y = torch.tensor(problem.A[k]), torch.tensor(problem.b[k])[:, None]
        for _ in range(STEPS):
            optimiser.zero_grad()
            (0.5 * (model(X) - y).square().sum()).backward()
            optimiser.step()
        return {name: entry.clone() for name, entry in model.state_dict().items()}

    def round(self, problem: Any, state: Any, active: Any) -> Any:
        sent = {k: self.train(problem, k, state["server"]) for k in active}
        n = torch.tensor([problem.weights[k] for k in active])
        weights = torch.ones(len(active)) / len(active) if self.broken else n / n.sum()
        server = dict(state["server"])
        for name, own in server.items():
            rows = torch.stack([model[name] for model in sent.values()])
            if name == NAME:
                server[name] = self.buffers(rows, n / n.sum(), own)
            elif rows.is_floating_point():
                server[name] = torch.tensordot(weights.to(rows.dtype), rows, 1)
        return {"server": server, "sent": sent}

    def report(self, clients_known: bool = True) -> Report:
        return check(
            fc.FedGD(stepsize=0.1, local_steps=STEPS),
            init=self.init,
            round=self.round,
            server_model=lambda state: state["server"],
            client_models=(lambda state: state["sent"]) if clients_known else None,
        )


def notes(report: Report) -> list[str]:
    return [note.removeprefix(BUFFERS) for note in report.notes if note.startswith(BUFFERS)]


def weighted(rows: Any, weights: Any, own: Any) -> Any:
    return torch.tensordot(weights.to(rows.dtype), rows, 1)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (weighted, WEIGHTED),
        (lambda rows, weights, own: rows.mean(0), ALIKE),
        (lambda rows, weights, own: own, KEEPS),
        (lambda rows, weights, own: rows[-1], LAST),
        (lambda rows, weights, own: rows.sum(0), "the server neither averages the clients' nor keeps its own"),
    ],
)
def test_the_report_says_what_the_server_does_with_buffers(rule: Any, said: str) -> None:
    """And it is no fault: the parameters are right."""
    report = Averaging(rule).report()
    assert report.passed, report.report()
    assert notes(report) == [said]
    assert said in report.report()


def test_without_the_clients_models_only_changes_are_seen() -> None:
    kept = Averaging(lambda rows, weights, own: own).report(clients_known=False)
    changed = Averaging(weighted).report(clients_known=False)
    assert notes(kept) == ["those of the server never change"]
    assert notes(changed)[0].startswith("the server changes them")


def test_statistics_that_nobody_updates_show_nothing() -> None:
    report = Averaging(weighted, evaluates=True).report()
    assert notes(report) == ["nothing shows what the server does with them, since those of the clients never change"]


def test_models_without_statistics_have_no_note() -> None:
    assert notes(Averaging(weighted, statistics=False).report()) == []


def test_a_fault_of_the_parameters_is_named_beside_the_note() -> None:
    report = Averaging(weighted, parameters="not weighted").report()
    assert [finding.name for finding in report.diagnosis] == ["the average is not weighted"]
    assert notes(report) == [WEIGHTED]


def test_the_kits_running_mean_is_that_of_batch_normalisation() -> None:
    """By torch's own BatchNorm1d on the same feature."""
    X = torch.tensor(np.random.default_rng(0).normal(size=(7, 2)))
    ours, theirs = KitModel([1.0, 2.0], statistics=True), torch.nn.BatchNorm1d(1, dtype=torch.float64)
    for part in (X[:4], X[4:], X):
        ours(part)
        theirs(part[:, 1:])
    assert buffers_of(ours) == pytest.approx(theirs.running_mean.numpy(), rel=1e-12)
    assert ours.shift.num_batches_tracked == theirs.num_batches_tracked
    with pytest.raises(InvalidInput, match="statistics"):
        KitModel([1.0, 2.0], statistics="yes")  # type: ignore[arg-type]
