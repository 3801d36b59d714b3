"""FedNova: averages the clients' progress per unit of local work, so that more work means no larger weight."""

from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, State, TakesLocalSteps


@final
@dataclass(frozen=True, kw_only=True)
class FedNova(TakesLocalSteps, Averaging):
    """FedNova: FedAvg with progress divided by the local work: w ← w + ℓ Σ_k weights_k (θ_k − w)/ℓ_k.

    ℓ_k = s·τ_k is the sum of client k's local stepsizes and ℓ = Σ_k weights_k ℓ_k. Use it if clients do different
    numbers of local steps, because they have different numbers of samples (SGD epochs) or are stragglers: FedAvg would
    then minimise a differently weighted objective. It does not remove the bias of several local steps: with equal work
    it is FedAvg and has its fixed points; with unequal work they solve Σ_k weights_k (θ_k(w) − w)/ℓ_k = 0.

    Source: Wang et al. (2020), equations (5) to (7), for gradient or SGD steps, where ‖a_k‖₁ = τ_k is the number of
    local steps (momentum included by `SGD`) and τ_eff = Σ_k weights_k τ_k.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: τ, an integer >= 1; or τ_k for every client, such as (3, 1, 5). A run may replace both by another
            local solver that reports its path lengths (`SGD`).

    Raises:
        InvalidInput: values out of range.
    """

    no_prox: ClassVar[str] = ""

    @property
    def needs_path_lengths(self) -> bool:
        return True

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        # progress per unit of local stepsize, then scaled by the average amount of work
        directions = (answers.points - cohort.points) / answers.path_lengths
        return State(state.server + cohort.average(answers.path_lengths) * cohort.average(directions))
