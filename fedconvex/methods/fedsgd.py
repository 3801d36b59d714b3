"""FedSGD, distributed SGD: every client takes one (stochastic) gradient step, the server averages."""

from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import Averaging
from fedconvex.parameters import number
from fedconvex.stepsizes import stepsize
from fedconvex.validation import integer_at_least


@final
@dataclass(frozen=True, kw_only=True)
class FedSGD(Averaging):
    """FedSGD: w ← w − s Σ_k weights_k g_k with g_k = ∇f_k(w), or its estimate from one mini-batch.

    The baseline without local work: gradient descent (or SGD) on the objective. It has no bias, and needs the most
    rounds; every method with several local steps should be compared with it.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`; full batches converge on convex clients for s < 2/L.
        batch_size: samples in the mini-batch, >= 1; None: all samples of the client, the exact gradient.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    batch_size: int | None = None

    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        if self.batch_size is not None:
            object.__setattr__(self, "batch_size", integer_at_least(self.batch_size, 1, "batch_size"))

    @property
    def local_solver(self) -> LocalSolver:
        if self.batch_size is None:
            return GradientDescent(steps=1, stepsize=self.stepsize)
        return SGD(steps=1, batch_size=self.batch_size, stepsize=self.stepsize)
