"""The public names exist, load late, and are the objects that the package documents."""

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from program_runner import printed, ran

import fedconvex as fc
from fedconvex.methods import METHODS

STUB = Path(fc.__file__).with_suffix(".pyi").read_text("utf-8")

# name -> its parameters that are fixed, in this order, with the defaults that are fixed
FIXED: dict[str, dict[str, Any]] = {
    "LeastSquares": {"A": ..., "b": ..., "weights": None},
    "Quadratic": {"H": ..., "c": ..., "weights": None},
    "Logistic": {"A": ..., "y": ..., "ridge": 0.0, "weights": None},
    "MultinomialLogistic": {"A": ..., "y": ..., "num_classes": ..., "ridge": 0.0, "weights": None},
    "FedGD": {"stepsize": ..., "local_steps": ...},
    "FedProx": {"mu": ...},
    "FedSplit": {"stepsize": ...},
    "FedDyn": {"alpha": ...},
    "FedDynOneGD": {"alpha": ...},
    "Scaffold": {"stepsize": ..., "local_steps": ..., "server_stepsize": 1, "option": 2},
    "FedDANE": {"mu": ...},
    "ToInexactness": {"gamma": ...},
    "SGD": {"epochs": ..., "batch_size": ..., "stepsize": ...},
    "Exact": {},
    "GradientDescent": {"steps": ..., "stepsize": ...},
    "fixed_point": {"method": ..., "problem": ..., "arithmetic": "float"},
    "ground_truth": {"problem": ...},
    "simulate": {
        "method": ..., "problem": ..., "rounds": ..., "participation": None, "local_solver": None, "x0": None,
        "seed": 0, "arithmetic": "float",
    },
    "dissimilarity": {"problem": ..., "x": ...},
    "gradient_variance": {"problem": ..., "x": ...},
}  # fmt: skip


def misfits(call: Any, fixed: dict[str, Any]) -> list[str]:
    """The fixed parameters that a call lacks, has in another order, or gives another default."""
    parameters = inspect.signature(call).parameters
    wrong = [name for name in fixed if name not in parameters]
    wrong += [
        n for n, value in fixed.items() if n in parameters and value is not ... and parameters[n].default != value
    ]
    extra = [n for n, p in parameters.items() if n not in fixed and p.default is inspect.Parameter.empty]
    present = [name for name in parameters if name in fixed]
    return wrong + extra + (present if present != [name for name in fixed if name in parameters] else [])


@pytest.mark.parametrize("name", FIXED)
def test_fixed_names_take_their_fixed_arguments(name: str) -> None:
    assert misfits(getattr(fc, name), FIXED[name]) == []


def test_what_does_not_fit_is_noticed() -> None:
    assert misfits(lambda method, problem: None, {"problem": ..., "method": ...}) == ["method", "problem"]
    assert misfits(lambda x, weights=1: None, {"x": ..., "weights": None}) == ["weights"]
    assert misfits(lambda x, tolerance: None, {"x": ..., "y": ...}) == ["y", "tolerance"]


def test_fixed_attributes() -> None:
    problem = fc.LeastSquares(A=[[[1, 2]], [[0, 1], [1, 1]]], b=[[1], [2, 3]])
    for name in ("num_clients", "dim", "weights", "value", "gradient", "client_values", "client_gradients", "L", "mu"):
        assert hasattr(problem, name)
    assert (problem.num_clients, problem.dim) == (2, 2)
    assert problem.weights.shape == problem.L.shape == problem.mu.shape == (2,)
    stop = fc.fixed_point(fc.FedProx(mu=1), problem)
    assert (stop.point.shape, stop.bias.shape, stop.unique, stop.attracting) == ((2,), (2,), True, True)
    truth = fc.ground_truth(problem)
    assert truth.point.shape == (2,)
    assert all(isinstance(v, float) for v in (truth.value, truth.distance_bound, truth.gap_bound))
    assert callable(fc.participation.Full)
    assert fc.participation.Uniform(2) == fc.participation.Uniform(K=2)
    assert fc.participation.Weighted(2) == fc.participation.Weighted(K=2)
    assert fc.participation.Schedule([[0], [1, 0]]).clients == ((0,), (0, 1))
    ball = fc.fixed_point(fc.FedProx(mu=1), problem, arithmetic="ball").point[0]
    assert ball.lower() <= ball.upper()
    for name in ("load", "diabetes", "breast_cancer", "digits"):
        assert callable(getattr(fc.data, name))


def declared() -> dict[str, str]:
    """Name -> module, from the imports that type checkers see."""
    found = {}
    for node in ast.parse(STUB).body:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:
                assert alias.asname == alias.name  # an explicit re-export
                found[alias.name] = str(node.module)
    return found


def test_type_checkers_and_python_see_the_same_names() -> None:
    assert sorted(declared()) == list(fc.__all__)
    assert set(METHODS) <= declared().keys()
    assert FIXED.keys() | {"data", "participation"} <= set(fc.__all__)
    for name, module in declared().items():
        home = importlib.import_module(module)
        if module == "fedconvex":
            assert getattr(fc, name) is importlib.import_module(f"fedconvex.{name}")
            continue
        found = getattr(fc, name)  # `fc.audit` is the function, or the package, which is called like it
        found = found.__wrapped__ if isinstance(found, ModuleType) else found
        assert found is getattr(home, name)


def test_dir_has_them_all() -> None:
    assert set(fc.__all__) <= set(dir(fc))
    assert "Fedprox" not in dir(fc)
    assert len(dir(fc)) == len(set(dir(fc)))


@pytest.mark.parametrize("name", ["Fedprox", "least_squares", "", "np", "_private", "simulation_"])
def test_unknown_names_raise_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'fedconvex' has no attribute '{name}'"):
        getattr(fc, name)
    assert not hasattr(fc, name)


@pytest.mark.beyond_core  # starts a process
def test_everything_can_be_imported_at_once() -> None:
    program = "from fedconvex import *\nimport fedconvex\nassert set(fedconvex.__all__) <= set(globals())"
    done = ran(program)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_is_a_number_with_dots() -> None:
    assert all(part.isdigit() for part in fc.__version__.split(".")[:2])


@pytest.mark.beyond_core  # starts a process
def test_papers_models_and_data_sets_need_no_second_import() -> None:
    """In a fresh process, where nothing else has imported them."""
    code = (
        "import fedconvex as fc, sys; print('torch' in sys.modules, 'sympy' in sys.modules); "
        "print(fc.theory.fedsplit.contraction(kappa=4), fc.deep.models.__name__, fc.deep.datasets.__name__)"
    )
    loaded, found = printed(code).splitlines()
    assert loaded == "False False"
    assert found.endswith("fedconvex.deep.models fedconvex.deep.datasets")
    with pytest.raises(AttributeError, match=r"no attribute 'fedporx'; did you mean fedprox\?"):
        getattr(fc.theory, "fedporx")  # noqa: B009 – mypy knows that it is missing
