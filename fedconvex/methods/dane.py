"""DANE: a linear term gives every client's function the objective's gradient at the server's point."""

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
    """w ← average of argmin_θ f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (μ/2)‖θ − w‖², started at w; subclasses choose g.

    With g = η∇f(w), a stationary point of the objective is a fixed point for every μ. It need not attract: on
    heterogeneous clients the iteration diverges if μ is small.
    """

    mu: Scalar

    no_prox: ClassVar[str] = "its corrected local work follows ∇f, which need not be 0 at the minimisers of f + ψ"

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()

    @property
    def proximal_weight(self) -> Scalar:
        return self.mu

    def corrected(self, cohort: Cohort, gradient: Array) -> Subproblem:
        """The subproblem with g = `gradient`, (d,)."""
        linear = gradient - cohort.gradients()  # makes the subproblem's gradient at w equal to g
        return Subproblem(start=cohort.points, linear=linear, weight=self.mu, center=cohort.points)


@final
@dataclass(frozen=True, kw_only=True)
class DANE(GradientCorrected):
    """DANE: clients minimise f_k(θ) − ⟨∇f_k(w) − η∇f(w), θ⟩ + (μ/2)‖θ − w‖², the server averages.

    Use it for clients with similar Hessians, for which it resembles Newton's method and needs few rounds. On
    heterogeneous clients it needs a large μ; `Scaffold`, `FedDyn` and `FedSplit` are then safer. The fixed points are
    the stationary points of the objective, also with inexact local solutions.

    Every round costs a second communication: all clients send their gradients, even if only some of them do local work.
    Source: Shamir, Srebro and Zhang (2014), equation (13).

    Args:
        mu: μ >= 0; with 0 every f_k must be strongly convex.
        eta: η > 0, the weight of the objective's gradient; 1 is Newton-like.

    Raises:
        InvalidInput: values out of range.
    """

    mu: Scalar = number()
    eta: Scalar = number(default=1)

    gradients_from: ClassVar[str] = "everyone"

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")
        positive(self.eta, "eta")

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.corrected(cohort, self.eta * cohort.full_gradient())
