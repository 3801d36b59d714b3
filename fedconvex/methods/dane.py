"""DANE: the clients' functions are tilted to have the objective's gradient at the server's point."""

from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import non_negative, positive


class GradientCorrected(Averaging):
    """w ← average of argmin_θ f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (μ/2)‖θ − w‖², from w; subclasses say what g is.

    With g = η∇f(w), a stationary point of the objective is a fixed point, whatever μ. Convergence is another matter:
    on clients that differ much, small μ diverges.
    """

    mu: Scalar

    memoryless: ClassVar[bool] = False  # the linear term depends on gradients

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()

    @property
    def proximal_weight(self) -> Scalar:
        return self.mu

    @property
    def stationary_inexactly(self) -> bool:
        """All subproblems start with gradient g; where they descend, convex ones move against it: so does the mean."""
        return True

    def tilted(self, cohort: Cohort, gradient: Array) -> Subproblem:
        """The subproblem with g = `gradient`, (d,)."""
        linear = gradient - cohort.gradients()
        return Subproblem(start=cohort.points, linear=linear, weight=self.mu, center=cohort.points)


@final
@dataclass(frozen=True, kw_only=True)
class DANE(GradientCorrected):
    """g = η∇f(w), the gradient of all clients. Shamir, Srebro and Zhang (2014), equation (13).

    Every client sends its gradient in every round, even if only some are asked for answers afterwards.

    Args:
        mu: μ >= 0.
        eta: η > 0.
    """

    mu: Scalar = number()
    eta: Scalar = number(default=1)

    stationary: ClassVar[bool] = True
    gradients_from: ClassVar[str] = "everyone"

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")
        positive(self.eta, "eta")

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.tilted(cohort, self.eta * cohort.full_gradient())
