"""FedLin: gradient steps whose linear term gives every client's function the objective's gradient at the start."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.unequal_steps import gradient_steps
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.dane import GradientCorrected
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.step_numbers import NumberOfSteps, numbers_of_steps
from fedconvex.stepsizes import stepsize


@final
@dataclass(frozen=True, kw_only=True)
class FedLin(GradientCorrected):
    """FedLin: local steps θ ← θ − s(∇F_k(θ) − ∇F_k(w) + ∇f(w)) from w, then w ← mean θ_k.

    Use it for heterogeneous clients with cheap local steps, where an extra round of gradients costs little: all clients
    send ∇F_k(w) before the local work, so that no control variate becomes stale, as it may in `Scaffold`. It is DANE
    without a proximal term, with gradient steps in place of exact solutions.

    Fixed points: a stationary point of the objective is one, as the first step from it is 0; for s < 2/L and
    convex clients there is no other (`stationary_inexactly` in `DANE`'s base class).

    Source: Mitra, Jaafar, Pappas and Hassani (2021), Algorithm 1, without compression, with the same stepsize for all
    clients. The paper minimises the plain mean of the clients' functions: on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain. Clients of different speed: its τ_k are a tuple
    `local_steps`, the same in every round; those that are late at random are `Stragglers(fraction, policy="use")`.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`.
        local_steps: τ, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    local_steps: NumberOfSteps = 1
    mu = 0  # no proximal term

    plain: ClassVar[bool] = True
    gradients_from: ClassVar[str] = "everyone"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        object.__setattr__(self, "local_steps", numbers_of_steps(self.local_steps, "local_steps"))

    @property
    def local_solver(self) -> LocalSolver:
        return gradient_steps(self.local_steps, self.stepsize)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return replace(self.corrected(cohort, cohort.full_gradient()), center=None)
