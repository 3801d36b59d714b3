"""What frameworks are fed is the problem itself: its functions, its first point, its samples."""

import importlib.util
import inspect
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.conformance import check
from fedconvex.conformance.adapters import MissingFramework, Steps, fedlab, flower, fluke, names_of, pfl, pfllib
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 1]]], b=[[1, -1], [2]], weights=[2, 1])


def test_the_loss_of_the_linear_model_is_the_clients_function() -> None:
    from fedconvex.conformance.adapters.linear_model import LinearModule, half_squares, point, samples

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
    from fedconvex.conformance.adapters.linear_model import samples

    assert [len(b) for _, b in samples(PROBLEM)] == [2, 1]


def test_a_loss_that_the_adapters_do_not_use_is_refused() -> None:
    from fedconvex.conformance.adapters.linear_model import samples

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
    import torch

    from fedconvex.conformance.adapters.linear_model import LinearModule, gradient_steps, half_squares, point, samples

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
    ("adapter", "package"), [(flower, "flwr"), (pfl, "pfl"), (fedlab, "fedlab"), (fluke, "fluke-fl")]
)
def test_a_missing_framework_is_named_with_the_version_to_install(adapter, package) -> None:
    try:
        version(package)
    except PackageNotFoundError:
        with pytest.raises(MissingFramework, match=f"pip install {package}=={adapter.TESTED}"):
            adapter.wrap(fc.FedGD(stepsize=1))
    else:
        with pytest.raises(InvalidInput, match="is not one that"):
            adapter.wrap(fc.FedSplit(stepsize=1), fc.GradientDescent(steps=1, stepsize=1))


def test_a_framework_that_pip_does_not_install_is_named_with_the_place_to_put_it() -> None:
    if importlib.util.find_spec("flcore") is None:
        with pytest.raises(MissingFramework, match="put the folder system of its clone on PYTHONPATH"):
            pfllib.wrap(fc.FedGD(stepsize=1))
    else:
        with pytest.raises(InvalidInput, match="is not one that"):
            pfllib.wrap(fc.FedSplit(stepsize=1), fc.GradientDescent(steps=1, stepsize=1))


@pytest.mark.parametrize("adapter", [pfllib, fluke])
def test_a_code_base_is_wrapped_in_sixty_lines(adapter: ModuleType) -> None:
    """Counted as lines of code: neither blank, nor of a docstring, nor imports."""
    lines, _ = inspect.getsourcelines(adapter.wrap)
    code = [line for line in lines if line.strip() and not line.strip().startswith(("from ", "#"))]
    documentation = (adapter.wrap.__doc__ or "").count("\n") + 1
    assert len(code) - documentation <= 60


def test_a_check_without_the_framework_does_not_pass() -> None:
    def lacking(*_: object) -> None:
        raise MissingFramework("fedlab", "1.3.0")

    report = check(fc.FedGD(stepsize=1), init=lacking, round=lacking, server_model=lacking)
    assert not report.passed
    assert "pip install fedlab==1.3.0" in report.report()
