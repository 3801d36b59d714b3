"""FedNova: progress is averaged per unit of local work, so that clients that do more do not pull harder."""

from dataclasses import dataclass
from typing import final

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, State
from fedconvex.parameters import number
from fedconvex.validation import integer_at_least, positive


@final
@dataclass(frozen=True, kw_only=True)
class FedNova(Averaging):
    """w ← w + ℓ · Σ_k weights_k (θ_k − w)/ℓ_k, with ℓ_k = s·τ_k the local path length and ℓ = Σ_k weights_k ℓ_k.

    Wang et al. (2020), equations (5) to (7), for plain local gradient or SGD steps, where ‖a_k‖₁ = τ_k is the number of
    local steps and τ_eff = Σ_k weights_k τ_k. With equal work for all clients this is FedAvg, whose fixed points it
    has; clients differ in work where they have more samples (SGD epochs) or come late (`Stragglers`).

    Args:
        stepsize: s > 0 and local_steps >= 1, of the local gradient steps; another local solver may be given to a run.
    """

    stepsize: Scalar = number()
    local_steps: int = 1

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")
        object.__setattr__(self, "local_steps", integer_at_least(self.local_steps, 1, "local_steps"))

    @property
    def local_solver(self) -> LocalSolver:
        return GradientDescent(steps=self.local_steps, stepsize=self.stepsize)

    @property
    def needs_path_lengths(self) -> bool:
        return True

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        directions = (answers.points - cohort.points) / answers.path_lengths
        return State(state.server + cohort.average(answers.path_lengths) * cohort.average(directions))
