"""FedDANE: DANE with the average gradient of a sample of clients instead of all clients."""

from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.dane import GradientCorrected
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import non_negative


@final
@dataclass(frozen=True, kw_only=True)
class FedDANE(GradientCorrected):
    """DANE with partial participation: one sample of clients gives the gradient g, a second one does the local work.

    w ← average of argmin_θ f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (μ/2)‖θ − w‖² over the second sample, with g the average of
    ∇f_k(w) over the first. Use it to reproduce experiments; in the FedProx paper's (Figure 4) it does worse
    than FedProx. The participation scheme of the run draws the two samples independently; a
    `Schedule` has one sample a round, which serves as both.

    With full participation it is DANE with η = 1. With partial participation g does not vanish at a stationary point of
    the objective, so that the method does not converge to it. Source: Li et al. (2020).

    Args:
        mu: μ >= 0; with 0 every f_k must be strongly convex.

    Raises:
        InvalidInput: a negative or infinite μ.
    """

    mu: Scalar = number()

    gradients_from: ClassVar[str] = "sample"
    vectors_down: ClassVar[int] = 2  # w and g; in DANE all clients already have w from sending gradients

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.corrected(cohort, cohort.sampled_gradient())
