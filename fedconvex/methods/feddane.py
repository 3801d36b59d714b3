"""FedDANE: DANE with the gradient of a sample of clients in place of everyone's."""

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
    """g = average of ∇f_k(w) over a sample of clients; a second sample then solves. Li et al. (2020); FedProx Figure 4.

    The two samples are drawn independently by the run's participation scheme (a `Schedule` has one sample a round,
    which serves for both). Once the samples differ from everyone, stationary points are no longer fixed points: g
    does not vanish there.

    Args:
        mu: μ >= 0.
    """

    mu: Scalar = number()

    stationary: ClassVar[bool] = True
    gradients_from: ClassVar[str] = "sample"
    vectors_down: ClassVar[int] = 2  # w and g; in DANE, everybody has w already

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.tilted(cohort, cohort.sampled_gradient())
