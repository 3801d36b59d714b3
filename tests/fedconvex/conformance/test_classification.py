"""Classification with integer labels: trainers with a built-in cross-entropy are checked as they are."""

from typing import Any

import numpy as np
import pytest
import torch
from classifying import random_report

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.conformance import Report, check
from fedconvex.conformance.classification import CrossEntropy
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Subproblem

pytestmark = pytest.mark.beyond_core  # takes seconds

STEPS = fc.GradientDescent(steps=3, stepsize=0.1)
A = [[[1.0, 2.0], [0.5, -1.0]], [[-1.0, 0.25], [2.0, 1.0], [0.0, 1.0]]]
LABELS = [[2, 0], [1, 1, 2]]


def names(report: Report) -> set[str]:
    return {finding.name for finding in report.diagnosis + report.alternatives}


class Trainer:
    """FedProx (FedAvg where mu is 0) as frameworks write it: modules, optimisers, CrossEntropyLoss, state_dicts."""

    def __init__(self, mu: float = 0.0, fault: str = "", dtype: Any = torch.float64) -> None:
        self.mu, self.fault, self.dtype = mu, fault, dtype

    def init(self, problem: Any, x0: Any) -> torch.nn.Linear:
        model = torch.nn.Linear(problem.A[0].shape[1], problem.num_classes, dtype=self.dtype)
        torch.nn.utils.vector_to_parameters(torch.tensor(x0, dtype=self.dtype), model.parameters())
        return model

    def train(self, problem: Any, k: int, w: torch.nn.Linear) -> dict[str, torch.Tensor]:
        X, y = torch.tensor(problem.A[k], dtype=self.dtype), torch.tensor(problem.b[k])
        model = torch.nn.Linear(*reversed(w.weight.shape), dtype=self.dtype)
        model.load_state_dict(w.state_dict())
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        criterion = torch.nn.CrossEntropyLoss(reduction="sum" if self.fault == "sum" else "mean")
        near = list(zip(model.parameters(), w.parameters(), strict=True))
        for _ in range(3):
            optimiser.zero_grad()
            loss = criterion(model(X), y)
            for ours, server in near[1:] if self.fault == "the bias alone is near" else near:
                sign = -1 if self.fault == "sign" else 1
                loss = loss + sign * self.mu / 2 * ((ours - server.detach()) ** 2).sum()
            loss.backward()
            if self.fault == "the bias is frozen":
                model.bias.grad.zero_()
            optimiser.step()
        return model.state_dict()

    def round(self, problem: Any, w: torch.nn.Linear, active: Any) -> torch.nn.Linear:
        n = np.array([1 if self.fault == "not weighted" else len(problem.b[k]) for k in active], float)
        states = [self.train(problem, k, w) for k in active]
        new = torch.nn.Linear(*reversed(w.weight.shape), dtype=self.dtype)
        shares = (n / n.sum()).tolist()
        new.load_state_dict({name: sum(p * s[name] for p, s in zip(shares, states, strict=True)) for name in states[0]})
        return new

    def check(self) -> Report:
        return check(
            fc.FedProx(mu=self.mu) if self.mu else fc.FedGD(stepsize=0.1, local_steps=3),
            local_solver=STEPS if self.mu else None,
            loss="cross_entropy",
            init=self.init,
            round=self.round,
            server_model=lambda model: model,
        )


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("mu", [0.0, 2.0])
def test_a_trainer_with_a_built_in_cross_entropy_passes(mu: float, dtype: Any) -> None:
    report = Trainer(mu, dtype=dtype).check()
    assert report.passed, report.report()
    assert report.precision == str(dtype).removeprefix("torch.")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("not weighted", "the average is not weighted"),
        ("sign", "the proximal gradient has the wrong sign"),
        ("sum", "the clients' functions are multiplied by the number of samples"),
        ("the bias is frozen", "the model's last tensor does not move"),
        ("the bias alone is near", "the proximal term covers only the model's last tensor"),
    ],
)
def test_its_faults_are_found(fault: str, name: str) -> None:
    report = Trainer(2.0, fault).check()
    assert not report.passed
    assert name in names(report), report.report()


def local_update(model: Any, data: Any, global_model: Any, state: Any, local_steps: int) -> None:
    """SCAFFOLD, option II, steps of 0.1."""
    X, y = data
    flat = torch.nn.utils.parameters_to_vector
    c, w = state["server"]["c"], flat(model.parameters()).detach()
    own = state.get("c", torch.zeros_like(c))
    for _ in range(local_steps):
        loss = torch.nn.CrossEntropyLoss()(model(X), y)
        grads = flat(torch.autograd.grad(loss, list(model.parameters())))
        moved = flat(model.parameters()).detach() - 0.1 * (grads + c - own)
        torch.nn.utils.vector_to_parameters(moved, model.parameters())
    state["c"] = own - c + (w - moved) / (0.1 * local_steps)


@pytest.mark.slow
def test_other_shapes_classify_too() -> None:
    scaffold = fc.Scaffold(stepsize=0.1, local_steps=2)
    report = check(scaffold, local_update=local_update, loss="cross_entropy")
    assert report.passed, report.report()

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        return _steps(problem.A[k], problem.b[k], model)

    def server(problem: Any, state: Any, replies: Any) -> Any:
        n = np.array([reply.num_samples for reply in replies.values()])
        return n @ np.stack([reply.model for reply in replies.values()]) / n.sum()

    method = fc.FedGD(stepsize=0.1, local_steps=3)
    assert check(method, client=client, loss="cross_entropy").passed
    functions = {"init": lambda problem, x0: x0, "server": server, "server_model": lambda w: w}
    assert check(method, **functions, loss="cross_entropy").passed


def _steps(A: Any, labels: Any, x: Any) -> Any:
    """Three gradient steps by hand."""
    for _ in range(3):
        scores = A @ x[:6].reshape(3, 2).T + x[6:]
        odds = np.exp(scores - scores.max(1, keepdims=True))
        error = odds / odds.sum(1, keepdims=True) - np.eye(3)[labels]
        x = x - 0.1 * np.concatenate([(error.T @ A).ravel(), error.sum(0)]) / len(A)
    return x


def test_gradients_and_values_agree_with_torch_and_lie_in_their_balls() -> None:
    """Two other routes: automatic differentiation, and `MultinomialLogistic` with its parameters in torch's order."""
    problem = CrossEntropy(A, LABELS, 3, weights=[2, 3])
    draws = np.random.default_rng(1).normal(size=(2, 9))
    clients = problem.clients("float")
    for k, x in enumerate(draws):
        model = torch.nn.Linear(2, 3, dtype=torch.float64)
        torch.nn.utils.vector_to_parameters(torch.tensor(x), model.parameters())
        X = torch.tensor(A[k], dtype=torch.float64)
        loss = torch.nn.CrossEntropyLoss()(model(X), torch.tensor(LABELS[k]))
        loss.backward()
        expected = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).numpy()
        assert clients.gradients(draws)[k] == pytest.approx(expected, rel=1e-14, abs=1e-15)
        assert clients.values(draws)[k] == pytest.approx(loss.item(), rel=1e-14)
    rows = np.concatenate([draws[:, :6].reshape(2, 3, 2), draws[:, 6:, None]], axis=2).reshape(2, 9)
    other = fc.MultinomialLogistic(A=A, y=LABELS, num_classes=3).client_gradients(rows).reshape(2, 3, 3)
    assert clients.gradients(draws) == pytest.approx(
        np.concatenate([other[:, :, :2].reshape(2, 6), other[:, :, 2]], axis=1), rel=1e-14, abs=1e-15
    )
    balls = arithmetics.get("ball", precision=200)
    with balls.context():
        enclosed = problem.clients(balls)
        for found, rough in [
            (enclosed.gradients(balls.array(draws)), clients.gradients(draws)),
            (enclosed.values(balls.array(draws)), clients.values(draws)),
        ]:
            for ball, number in zip(found.ravel(), rough.ravel(), strict=True):
                assert float(ball.rad()) < 1e-50
                assert abs(float(ball.mid()) - number) < 1e-14


def test_the_problem_that_implementations_see() -> None:
    problem = CrossEntropy(A, LABELS, 3)
    assert [labels.dtype for labels in problem.b] == [np.int64] * 2
    assert (problem.num_clients, problem.dim, problem.num_classes) == (2, 9, 3)
    assert not any(array.flags.writeable for array in (*problem.A, *problem.b))
    assert problem.is_convex
    assert problem.mu.tolist() == [0, 0]
    assert pytest.approx(fc.MultinomialLogistic(A=A, y=LABELS, num_classes=3).L) == problem.L
    with pytest.raises(NotImplementedError):
        problem.clients("float").minimise(Subproblem(start=np.zeros((2, 9))))


@pytest.mark.parametrize(
    ("method", "solver", "argument"),
    [
        (fc.FedProx(mu=1), None, "local_solver"),
        (fc.FedSplit(stepsize=1), fc.Exact(), "local_solver"),
        (fc.FedGD(stepsize=3, local_steps=2), None, "stepsize"),
        (fc.FedProx(mu=1), fc.GradientDescent(steps=2, stepsize=2.5), "stepsize"),
    ],
)
def test_what_has_no_certain_answer_is_refused(method: Any, solver: Any, argument: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(method, client=lambda *given: None, loss="cross_entropy", local_solver=solver)
    assert refused.value.argument == argument


@pytest.mark.slow
@pytest.mark.parametrize("stepsize", [1e-4, 1e-2, 0.5, 2.0])
def test_every_stepsize_leaves_rounds_that_show_faults(stepsize: float) -> None:
    """The tolerance stays far below what one round moves, in both precisions."""

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        return model

    report = check(fc.FedGD(stepsize=stepsize, local_steps=5), client=client, loss="cross_entropy")
    for reference in report.references:
        moves = np.abs(np.diff(reference.points, axis=0)).max(1)
        assert (reference.tolerances(53)[1:] < 1e-9 * moves).all()
        assert (reference.tolerances(24)[1:] < 0.05 * moves).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(12))
def test_a_random_right_implementation_passes(seed: int) -> None:
    report = random_report(seed)
    assert report.verdict == ("undecided" if report.covered.missing else "conforms"), report.report()


@pytest.mark.exhaustive
def test_hundred_random_right_implementations_pass() -> None:
    reports = {seed: random_report(seed) for seed in range(12, 112)}
    assert {seed: report.report() for seed, report in reports.items() if report.verdict == "differs"} == {}
    assert all(report.passed or report.covered.missing for report in reports.values())
