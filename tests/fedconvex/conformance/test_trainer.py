"""PyTorch trainers through `local_update`: right ones pass, faults on the client's side are named."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fedconvex as fc
from fedconvex.conformance import check, findings

pytestmark = pytest.mark.beyond_core  # takes seconds


def flat(module: Any) -> torch.Tensor:
    """All parameters in one vector, with their gradients' history."""
    return torch.cat([parameter.flatten() for parameter in module.parameters()])


STEPS = fc.GradientDescent(steps=3, stepsize=0.1)


def fedprox(fault: str = "") -> Callable[..., Any]:
    """FedProx with autograd and torch's own optimiser, as tutorials write it; mu = 0.5."""

    def local_update(model: Any, data: Any, global_model: Any, state: dict[str, Any]) -> Any:
        X, y = data
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        reference = [p.detach().clone() for p in global_model.parameters()]
        if fault == "aliased":
            reference = list(model.parameters())
        elif fault == "own last model":
            reference = state.get("last", reference)
        for _ in range(4 if fault == "one step more" else 3):
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(model(X), y)
            pairs = list(zip(model.parameters(), reference, strict=True))
            chosen = {"last tensor": pairs[-1:], "first tensor": pairs[:1]}.get(fault, pairs)
            squares = sum(((p - q) ** 2).sum() for p, q in chosen)
            if fault == "not squared":
                squares = torch.sqrt(squares + 1e-300)
            loss = loss + {"sign": -0.25, "not halved": 0.5}.get(fault, 0.25) * squares
            loss.backward()
            optimiser.step()
        state["last"] = [p.detach().clone() for p in model.parameters()]
        if fault == "overwrites":
            global_model.load_state_dict(model.state_dict())
        if fault == "spoils the data":
            y += 1
        if fault == "raises":
            raise RuntimeError("out of memory")
        return {"a module": model, "a state_dict": model.state_dict(), "a list": list(model.parameters())}.get(fault)

    return local_update


def scaffold(fault: str = "") -> Callable[..., Any]:
    """SCAFFOLD, option II, steps of 0.1; told how many steps to take."""

    def local_update(model: Any, data: Any, global_model: Any, state: dict[str, Any], local_steps: int) -> None:
        X, y = data
        c = state["server"]["c"]
        own = state.get("c", torch.zeros_like(c))
        correction = own - c if fault == "sign" else c - own
        for _ in range(local_steps):
            gradients = torch.autograd.grad(torch.nn.functional.mse_loss(model(X), y), list(model.parameters()))
            step = torch.cat([gradient.flatten() for gradient in gradients]) + correction
            torch.nn.utils.vector_to_parameters(flat(model).detach() - 0.1 * step, model.parameters())
        if fault != "not stored":
            path = 0.1 * (1 if fault == "no steps" else local_steps)
            state["c"] = own - c + (flat(global_model) - flat(model)).detach() / path

    return local_update


def feddyn(fault: str = "") -> Callable[..., Any]:
    """FedDyn, three steps of 0.1, alpha = 0.5."""

    def local_update(model: Any, data: Any, global_model: Any, state: dict[str, Any]) -> None:
        X, y = data
        w = flat(global_model).detach()
        gradient = state.get("gradient", torch.zeros_like(w))
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimiser.zero_grad()
            at = flat(model).detach() if fault == "no gradient" else flat(model)
            linear = {"sign": 1}.get(fault, -1) * (gradient * at).sum()
            loss = torch.nn.functional.mse_loss(model(X), y) + linear + 0.25 * ((flat(model) - w) ** 2).sum()
            loss.backward()
            optimiser.step()
        change = 0.5 * (flat(model).detach() - w)
        state["gradient"] = gradient + change if fault == "memory sign" else gradient - change

    return local_update


@pytest.mark.sample(1)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_right_trainers_pass(precision: str) -> None:
    for form in ("", "a module", "a state_dict", "a list"):
        report = check(fc.FedProx(mu=0.5), local_solver=STEPS, local_update=fedprox(form), precision=precision)
        assert report.passed, report.report()
    assert check(fc.Scaffold(stepsize=0.1, local_steps=4), local_update=scaffold(), precision=precision).passed
    assert check(fc.FedDyn(alpha=0.5), local_solver=STEPS, local_update=feddyn(), precision=precision).passed


def test_the_gradient_that_the_server_sends() -> None:
    def local_update(model: Any, data: Any, global_model: Any, state: dict[str, Any]) -> Any:
        X, y = data

        def gradient(w: Any) -> Any:
            return 2 / len(y) * X.T @ (X @ w - y.flatten())

        w = theta = flat(global_model).detach()
        for _ in range(3):
            tilt = state["server"]["gradient"] - gradient(w)
            theta = theta - 0.1 * (gradient(theta) + tilt + 0.5 * (theta - w))
        return theta

    for method in (fc.FedDANE(mu=0.5), fc.DANE(mu=0.5)):
        assert check(method, local_solver=STEPS, local_update=local_update).passed


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("sign", "the proximal gradient has the wrong sign"),
        ("aliased", "the proximal term is always zero"),
        ("not halved", "the proximal term is not halved"),
        ("own last model", "the proximal term pulls to the client's own last model, where it has one"),
        ("last tensor", "the proximal term covers only the model's last tensor"),
        ("first tensor", "the proximal term covers only the model's first tensor"),
        ("one step more", "clients take one local step too many"),
        ("overwrites", findings.CHANGES_GLOBAL),
        ("spoils the data", findings.CHANGES_DATA),
        ("raises", findings.RAISES),
    ],
)
def test_faults_of_a_fedprox_trainer_are_named(fault: str, said: str) -> None:
    report = check(fc.FedProx(mu=0.5), local_solver=STEPS, local_update=fedprox(fault))
    assert not report.passed
    assert report.diagnosis[0].name == said, report.report()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("sign", "the correction of the local gradient has the wrong sign"),
        ("not stored", "the clients' memory is never stored"),
        ("no steps", "option II does not divide by the local steps"),
    ],
)
def test_faults_of_a_scaffold_trainer_are_named(fault: str, said: str) -> None:
    report = check(fc.Scaffold(stepsize=0.1, local_steps=4), local_update=scaffold(fault))
    assert said in [finding.name for finding in report.diagnosis + report.alternatives], report.report()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no gradient", "the correction of the local gradient is left out"),
        ("sign", "the correction of the local gradient has the wrong sign"),
        ("memory sign", "the clients' memory is updated with the wrong sign"),
    ],
)
def test_faults_of_a_feddyn_trainer_are_named(fault: str, said: str) -> None:
    report = check(fc.FedDyn(alpha=0.5), local_solver=STEPS, local_update=feddyn(fault))
    assert said in [finding.name for finding in report.diagnosis + report.alternatives], report.report()


def test_another_loss_than_stated_is_named() -> None:
    report = check(fc.FedProx(mu=0.5), local_solver=STEPS, local_update=fedprox(), loss="half_sum")
    assert not report.passed
    assert report.diagnosis[0].name == "the clients' functions are divided by half the number of samples"
