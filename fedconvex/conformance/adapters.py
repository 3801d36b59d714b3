"""Parts of an adapter, which presents a framework as the functions that `fedconvex.conformance.check` takes.

An adapter runs the framework's own server and clients, and replaces only the data, the loss and the client sampling:
`LinearModule`, `half_squares` and `samples` are what it passes to a framework built on PyTorch, whose methods and
parameters `names_of` looks up. `examples/frameworks` has adapters for nine frameworks: copy the one that is most like
yours.
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypedDict

import numpy as np
import torch

from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.local_solvers.base import LocalSolver as LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method as Method
from fedconvex.problems.quadratics import LeastSquares


class ImplementationFunctions(TypedDict):
    """An implementation as keyword arguments of `check`."""

    init: Callable[[Any, Any], Any]
    round: Callable[[Any, Any, Any], Any]
    server_model: Callable[[Any], Array]


class WholeRunFunctions(TypedDict):
    """An implementation that runs all rounds by itself, as keyword arguments of `check`."""

    run: Callable[..., Any]
    loss: str


class MissingFramework(FedconvexError, ImportError):
    """The adapter's framework is not installed."""

    def __init__(self, package: str, tested: str, cure: str | None = None) -> None:
        cure = cure or f"pip install {package}=={tested}"
        super().__init__(f"this adapter needs {package}, which is not installed; {cure}")


def require(package: str, tested: str) -> None:
    """Raise MissingFramework unless the framework is installed."""
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise MissingFramework(package, tested) from None


def require_module(module: str, framework: str, tested: str, cure: str) -> None:
    """Raise MissingFramework unless the module of a framework that pip does not install can be imported."""
    try:
        found = importlib.util.find_spec(module)
    except ImportError:
        found = None
    if found is None:
        raise MissingFramework(framework, tested, cure)


def not_shipped(method: Method, framework: str, shipped: str) -> InvalidInput:
    """The error for a method that the framework does not implement."""
    return InvalidInput("method", method, f"is not one that {framework} ships", f"give {shipped}")


def names_of(method: Method, framework: str, shipped: Mapping[type, tuple[Any, ...]], **only: Any) -> tuple[Any, ...]:
    """What a framework calls a method: the entry of its class, whose last item becomes the method's own parameters.

    Args:
        shipped: for each class of methods a tuple of anything, such as the names of the framework's module and class,
            and last a dictionary from the framework's names of parameters to ours.
        only: the values of parameters that the framework has no choice of.

    Raises:
        InvalidInput: a method that is not in the table, or with another value of such a parameter.
    """
    *names, parameters = shipped.get(type(method), (None,))
    given = {theirs: getattr(method, ours, 0) for theirs, ours in (parameters or {}).items()}
    fits = all(getattr(method, name, value) == value for name, value in only.items())
    if parameters is None or None in given.values() or not fits:
        where = ", ".join(f"{name}={value!r}" for name, value in only.items())
        listed = f"{', '.join(one.__name__ for one in shipped)}{f' with {where}' if where else ''}"
        raise not_shipped(method, framework, f"{listed}, and numbers for all parameters")
    return (*names, {theirs: float(value) for theirs, value in given.items()})


def nested(settings: Any) -> Any:
    """A dictionary of dictionaries as an object with attributes, in the way of configuration files."""
    if not isinstance(settings, dict):
        return settings
    return SimpleNamespace(**{name: nested(value) for name, value in settings.items()})


@dataclass(frozen=True)
class Steps:
    """Full-batch gradient steps: a framework's epochs of one batch each."""

    epochs: int
    stepsize: float

    @classmethod
    def of(cls, method: Method, local_solver: LocalSolver | None) -> "Steps":
        """The steps of this local solver, or of the method's own where it is None."""
        solver = local_solver if local_solver is not None else method.local_solver
        if not isinstance(solver, GradientDescent):
            raise InvalidInput(
                "local_solver", solver, "frameworks take gradient steps", "give GradientDescent(steps=…, stepsize=…)"
            )
        return cls(solver.steps, float(solver.stepsize))


class LinearModule(torch.nn.Linear):
    """θ ↦ Aθ in float64, starting at x0."""

    def __init__(self, x0: Any) -> None:
        start = np.asarray(x0, dtype=np.float64)
        super().__init__(len(start), 1, bias=False, dtype=torch.float64)
        with torch.no_grad():
            self.weight.copy_(torch.tensor(start[None]))

    def loss(self, A: torch.Tensor, b: torch.Tensor, eval: bool = False) -> torch.Tensor:
        """½‖Aθ − b‖²: pfl calls the loss as a method of the model."""
        return half_squares(self(A), b)

    def metrics(self, A: torch.Tensor, b: torch.Tensor, eval: bool = True) -> dict[str, Any]:
        """No metrics; pfl calls this, too."""
        return {}


def half_squares(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """½‖output − target‖², summed over samples: f_k of `fedconvex.LeastSquares`."""
    return (output - target).square().sum() / 2


def gradient_steps(
    model: torch.nn.Module, loss: Callable[[], torch.Tensor], steps: Steps, after: Callable[[], object] = lambda: None
) -> None:
    """Full-batch gradient steps as PyTorch programs take them; `after` is called after each."""
    optimiser = torch.optim.SGD(model.parameters(), lr=steps.stepsize)
    for _ in range(steps.epochs):
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()
        after()


def samples(problem: LeastSquares) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """A_k (n_k, d) and b_k (n_k, 1) of every client; the framework computes its weights from the n_k."""
    if not isinstance(problem, LeastSquares):
        raise InvalidInput("loss", problem, "is not the one that the adapters use", "check with loss='half_sum'")
    return [
        (torch.tensor(np.asarray(A, dtype=np.float64)), torch.tensor(np.asarray(b, dtype=np.float64)[:, None]))
        for A, b in zip(problem.A, problem.b, strict=True)
    ]


def point(model: torch.nn.Module) -> Array:
    """The model's parameters (d,)."""
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach().numpy().copy()
