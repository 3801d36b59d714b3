"""What frameworks are fed is the problem itself: its functions, its first point, its samples."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch

import fedconvex as fc
from fedconvex.conformance import check
from fedconvex.conformance.adapters import (
    LinearModule,
    MissingFramework,
    Steps,
    gradient_steps,
    half_squares,
    names_of,
    point,
    require,
    require_module,
    samples,
)
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 1]]], b=[[1, -1], [2]], weights=[2, 1])


def test_the_loss_of_the_linear_model_is_the_clients_function() -> None:
    x = np.array([0.5, -2.0])
    for k, (A, b) in enumerate(samples(PROBLEM)):
        model = LinearModule(x)
        assert point(model).tolist() == x.tolist()
        loss = half_squares(model(A), b)
        loss.backward()
        assert loss.item() == PROBLEM.client_values(x)[k]
        assert model.weight.grad is not None
        assert model.weight.grad[0].tolist() == PROBLEM.client_gradients(x)[k].tolist()


def test_every_client_has_its_own_number_of_samples() -> None:
    assert [len(b) for _, b in samples(PROBLEM)] == [2, 1]


def test_a_loss_that_the_adapters_do_not_use_is_refused() -> None:
    with pytest.raises(InvalidInput, match="loss='half_sum'"):
        samples(fc.Quadratic(H=[[[1]]], c=[[1]]))


def test_a_framework_has_names_for_the_methods_in_its_table_alone() -> None:
    table = {fc.FedADMM: ("fedadmm", {"rho": "rho", "eta": "server_stepsize"}), fc.Scaffold: ("scaffold", {})}
    assert names_of(fc.FedADMM(rho=2, server_stepsize=1), "It", table) == ("fedadmm", {"rho": 2.0, "eta": 1.0})
    assert names_of(fc.Scaffold(stepsize=1), "It", table, option=2) == ("scaffold", {})
    refused = (fc.FedProx(mu=1), fc.FedADMM(rho=2), fc.Scaffold(stepsize=1, option=1))
    for method in refused:
        with pytest.raises(InvalidInput, match=r"is not one that It ships.*FedADMM, Scaffold with option=2"):
            names_of(method, "It", table, option=2)


def test_gradient_steps_are_those_of_pytorch_programs() -> None:
    x, (A, b), after = np.array([0.5, -2.0]), samples(PROBLEM)[0], list[int]()
    model = LinearModule(x)
    gradient_steps(model, lambda: half_squares(model(A), b), Steps(2, 0.25), lambda: after.append(1))
    for _ in range(2):
        x = x - 0.25 * (A.T @ (A @ torch.tensor(x)[:, None] - b)).numpy().ravel()
    assert np.abs(point(model) - x).max() <= 1e-15
    assert after == [1, 1]


def test_steps_are_the_methods_own_or_the_solvers() -> None:
    method = fc.FedGD(stepsize=Fraction(1, 4), local_steps=3)
    assert Steps.of(method, None) == Steps(3, 0.25)
    assert Steps.of(method, fc.GradientDescent(steps=5, stepsize=Fraction(1, 8))) == Steps(5, 0.125)


def test_exact_local_solutions_are_refused_with_the_cure() -> None:
    with pytest.raises(InvalidInput, match=r"local_solver = Exact.*give GradientDescent"):
        Steps.of(fc.FedProx(mu=1), None)


@pytest.mark.parametrize(
    ("lacking", "cure"),
    [
        (lambda: require("no-such-framework", "1.3.0"), "pip install no-such-framework==1.3.0"),
        (
            lambda: require_module("no_such.module", "It", "abc", "clone it"),
            "It, which is not installed; clone it",
        ),
    ],
)
def test_a_missing_framework_is_named_with_the_cure(lacking: Callable[[], None], cure: str) -> None:
    with pytest.raises(MissingFramework, match=cure):
        lacking()


def test_a_check_without_the_framework_does_not_pass() -> None:
    def lacking(*_: object) -> None:
        raise MissingFramework("fedlab", "1.3.0")

    report = check(fc.FedGD(stepsize=1), init=lacking, round=lacking, server_model=lacking)
    assert not report.passed
    assert "pip install fedlab==1.3.0" in report.report()
