"""Code that no edit of the method describes gets no wrong name, and what is equivalent to one gets its name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.conformance import Report, check, findings
from fedconvex.conformance.identification import identify

pytestmark = pytest.mark.beyond_core  # takes seconds

STEPSIZE, STEPS = 0.1, 4


def right_gradient(A: Any, b: Any, theta: Any) -> Any:
    return A.T @ (A @ theta - b)


def averaged(rows: Any, n: Any, w: Any) -> Any:
    return n @ rows / n.sum()


def fedavg(gradient: Callable[..., Any] = right_gradient, average: Callable[..., Any] = averaged) -> Report:
    """FedAvg with another gradient, or another average, than the right ones."""

    def round(problem: Any, state: Any, active: Any, local_steps: Any) -> Any:
        w, sent = state["w"], {}
        for k, steps in zip(active, local_steps, strict=True):
            theta = w
            for _ in range(steps):
                theta = theta - STEPSIZE * gradient(problem.A[k], problem.b[k], theta)
            sent[k] = theta
        n = np.array([len(problem.b[k]) for k in active], float)
        return {"w": average(np.stack([sent[k] for k in active]), n, w), "sent": sent}

    return check(
        fc.FedAvg(epochs=STEPS, stepsize=STEPSIZE, batch_size=None),
        init=lambda problem, x0: {"w": x0.copy(), "sent": {}},
        round=round,
        server_model=lambda state: state["w"],
        client_models=lambda state: state["sent"],
    )


def unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


def test_the_code_without_a_fault_passes() -> None:
    assert fedavg().passed


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "odd",
    [
        {"gradient": lambda A, b, theta: A.T @ np.clip(A @ theta - b, -1, 1)},  # Huber's loss
        {"average": lambda rows, n, w: averaged(rows, n + 1, w)},
        {"gradient": lambda A, b, theta: right_gradient(A, b, theta) + 0.05 * np.sign(theta)},
        {"average": lambda rows, n, w: averaged(rows, n, w) + 1e-3 * np.sin(averaged(rows, n, w))},
    ],
)
def test_what_no_known_fault_explains_is_not_named(odd: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identify, "MOST_ROUNDS", 50_000)  # a short search
    report = fedavg(**odd)
    assert [finding.name for finding in report.diagnosis] == [findings.UNKNOWN]
    assert report.explanations == ()


def test_normalised_gradients_are_not_named_a_loss_twice_as_large_that_is_clipped() -> None:
    """Where no gradient is shorter than half the norm the numbers are the same."""
    report = fedavg(gradient=lambda A, b, theta: unit(right_gradient(A, b, theta)))
    assert [finding.name for finding in report.diagnosis] == ["local gradients are scaled to a norm of 1"]


def test_a_mean_of_old_and_new_model_is_a_shorter_step() -> None:
    report = fedavg(average=lambda rows, n, w: 0.7 * averaged(rows, n, w) + 0.3 * w)
    assert report.explanations[0] == ("the server's step is multiplied by 0.7",)


@pytest.mark.slow
def test_of_sets_that_the_numbers_cannot_tell_apart_one_at_least_is_listed_whole() -> None:
    """Gradients twice as long, clipped at 2.5, are those clipped at 1.25 with twice the stepsize."""

    def clipped(A: Any, b: Any, theta: Any) -> Any:
        twice = 2 * right_gradient(A, b, theta)
        return twice * min(1, 2.5 / np.linalg.norm(twice))

    report = fedavg(gradient=clipped)
    assert {frozenset(names) for names in report.explanations} & {
        frozenset({"the clients' functions are twice as large", "local gradients are clipped to a norm of 2.5"}),
        frozenset({"it agrees with stepsize replaced by 2·stepsize", "local gradients are clipped to a norm of 1.25"}),
    }
