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
from fedconvex.local_solvers.unequal_steps import require_equal_steps
from fedconvex.methods.base import Method
from fedconvex.parameters import in_arithmetic

LARGEST_CLASSIFYING_STEP = 2  # beyond 2/L, L = 1/2 being the curvature of a bias, steps rise instead of falling
LARGEST_CLIENT = 5  # its samples, in any scenario without shuffled batches


@dataclass(frozen=True)
class Setup:
    """A method and its clients' local solver; `given` is None if that is the method's own.

    `weighted`: means over clients have weights by samples where the method's paper has plain ones.
    """

    method: Method
    given: LocalSolver | None = None
    weighted: bool = False

    @cached_property
    def solver(self) -> LocalSolver:
        """The local solver in use."""
        return self.method.local_solver if self.given is None else self.given

    @cached_property
    def effort(self) -> int | None:
        """The number of local steps or epochs; None for a solver that is not counted in steps."""
        return self.solver.effort

    @property
    def most_batches(self) -> int:
        """The number of batches in an epoch of the largest client; 1 without mini-batches."""
        size = self.solver.batch_size if isinstance(self.solver, SGD) else None
        return 1 if size is None else -(-LARGEST_CLIENT // size)

    @property
    def most_steps(self) -> int | None:
        """The largest client's number of local steps; None for exact local solutions."""
        counts_epochs = isinstance(self.solver, SGD) and self.solver.steps is None
        return self.effort if self.effort is None or not counts_epochs else self.effort * self.most_batches

    @property
    def path_length(self) -> Scalar | None:
        """The sum of the largest client's local stepsizes; None for exact local solutions."""
        return self.solver.stepsize * self.most_steps if isinstance(self.solver, GradientDescent | SGD) else None


def setup_of(method: Any, local_solver: Any) -> Setup:
    """The setup with rational parameters, after checking that a round's result depends on nothing but its batches."""
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.Scaffold(stepsize=0.1)")
    if method.skip != 0 or method.compresses:
        what = "communicates" if method.skip != 0 else "compresses"
        problem = f"{what} at random, so that there is no exact trajectory to compare with"
        cure = "check it with communication in all rounds (skip 0, probability 1)"
        raise InvalidInput(
            "method", method, problem, cure if method.skip != 0 else "check one that sends whole vectors"
        )
    if not (local_solver is None or isinstance(local_solver, LocalSolver)):
        raise InvalidInput("local_solver", local_solver, "is not a local solver", "give for example fedconvex.Exact()")
    exact = arithmetics.get("exact")
    setup = Setup(in_arithmetic(method, exact), None if local_solver is None else in_arithmetic(local_solver, exact))
    solver = setup.solver
    require_equal_steps(getattr(method, "local_steps", 1), solver, "is not checked")
    if not isinstance(solver, Exact | GradientDescent | SGD):
        cure = "give Exact(), GradientDescent(steps=…, stepsize=…) or SGD(…, batch_size=None)"
        raise InvalidInput("local_solver", solver, "has more than one right answer", cure)
    if isinstance(solver, SGD):
        solver.require_arithmetic(exact)
        if solver.within_round is not None:
            problem = "changes the stepsize within a round, which is not checked"
            raise InvalidInput("within_round", solver.within_round, problem, "leave it out")
    return setup


def require_small_steps(setup: Setup) -> None:
    """Raises InvalidInput unless clients take gradient steps that are stable on a cross-entropy."""
    solver = setup.solver
    if not isinstance(solver, GradientDescent | SGD):
        problem = "solves subproblems exactly, for which cross-entropies have no formula"
        raise InvalidInput("local_solver", solver, problem, "give GradientDescent(steps=…, stepsize=…) or SGD(…)")
    if solver.stepsize > LARGEST_CLASSIFYING_STEP:
        problem = "is too large for cross-entropies, whose biases have a curvature of 1/2: rounding errors would grow"
        cure = f"check with stepsize <= {LARGEST_CLASSIFYING_STEP}"
        raise InvalidInput("stepsize", solver.stepsize, problem, cure)


def require_known_batches(setup: Setup, known: bool, loss: str) -> None:
    """Raises InvalidInput where the kit does not know the clients' mini-batches, or the loss is no mean."""
    solver: Any = setup.solver
    if not known:
        problem = "makes local work depend on the batches"
        cure = "take an argument `batches` and visit these, or state shuffled=True where the code shuffles by itself"
        raise InvalidInput("batch_size", solver.batch_size, problem, cure)
    if loss in ("sum", "half_sum"):
        problem = "is a sum over the client's samples, which does not define a batch's loss"
        raise InvalidInput(
            "loss", loss, problem, "choose a mean, over a batch then: 'mean', 'half_mean', 'cross_entropy'"
        )
