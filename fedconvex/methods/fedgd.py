"""FedGD(s, e): every client takes e gradient steps from the server's point, the server averages."""

from dataclasses import dataclass
from typing import final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import Averaging
from fedconvex.parameters import number
from fedconvex.validation import integer_at_least, positive


@final
@dataclass(frozen=True, kw_only=True)
class FedGD(Averaging):
    """w ← Σ_k weights_k G_k^e(w) with G_k(x) = x − s∇f_k(x). FedSplit paper, equations (3), (4).

    One local step is gradient descent on the objective; with more, the fixed point is in general not the minimiser
    (Proposition 1), unless all clients share a minimiser.

    Args:
        stepsize: s > 0.
        local_steps: e, an integer >= 1.
    """

    stepsize: Scalar = number()
    local_steps: int = 1

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")
        object.__setattr__(self, "local_steps", integer_at_least(self.local_steps, 1, "local_steps"))

    @property
    def local_solver(self) -> LocalSolver:
        return GradientDescent(steps=self.local_steps, stepsize=self.stepsize)
