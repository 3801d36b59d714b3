"""The object of a check: a method and its clients' local solver, with rational parameters."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Method
from fedconvex.parameters import in_arithmetic

LARGEST_BATCH = 5  # samples of the largest client in any scenario


@dataclass(frozen=True)
class Setup:
    """A method and its clients' local solver; `given` is None if that is the method's own."""

    method: Method
    given: LocalSolver | None = None

    @cached_property
    def solver(self) -> LocalSolver:
        """The local solver in use."""
        return self.method.local_solver if self.given is None else self.given

    @cached_property
    def effort(self) -> int | None:
        """The number of local steps or epochs; None for a solver that is not counted in steps."""
        return self.solver.effort

    @property
    def path_length(self) -> Scalar | None:
        """The sum of the local stepsizes; None for exact local solutions."""
        return self.solver.stepsize * self.effort if isinstance(self.solver, GradientDescent | SGD) else None


def setup_of(method: Any, local_solver: Any) -> Setup:
    """The setup with rational parameters, after checking that every round has exactly one correct result."""
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.Scaffold(stepsize=0.1)")
    if method.skip != 0:
        problem = "tosses a coin in every round, so that no run is the right one"
        raise InvalidInput(
            "method", method, problem, "check it with communication in all rounds (skip 0, probability 1)"
        )
    if not (local_solver is None or isinstance(local_solver, LocalSolver)):
        raise InvalidInput("local_solver", local_solver, "is not a local solver", "give for example fedconvex.Exact()")
    exact = arithmetics.get("exact")
    setup = Setup(in_arithmetic(method, exact), None if local_solver is None else in_arithmetic(local_solver, exact))
    solver = setup.solver
    if not isinstance(solver, Exact | GradientDescent | SGD):
        cure = "give Exact(), GradientDescent(steps=…, stepsize=…) or SGD(…, batch_size=None)"
        raise InvalidInput("local_solver", solver, "has more than one right answer", cure)
    if isinstance(solver, SGD):
        solver.require_arithmetic(exact)
        if solver.batch_size is not None and solver.batch_size < LARGEST_BATCH:
            cure = f"check with batch_size=None or >= {LARGEST_BATCH}: all of a client's samples"
            raise InvalidInput("batch_size", solver.batch_size, "makes local work random", cure)
    return setup
