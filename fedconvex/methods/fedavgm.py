"""FedAvgM: FedGD whose server moves with momentum (the heavy ball)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.server_optimizer import ServerOptimizer
from fedconvex.parameters import number
from fedconvex.step_numbers import NumberOfSteps
from fedconvex.validation import fraction_of_one


@final
@dataclass(frozen=True, kw_only=True)
class FedAvgM(ServerOptimizer):
    """FedAvgM: m ← βm + Δ; w ← w + ηm, with Δ = Σ_k weights_k (θ_k − w) and θ_k after e local gradient steps from w.

    Use it where FedAvg is slow because the objective is badly conditioned, or where few participants make Δ noisy. The
    fixed points are FedGD's, for every β and η: momentum removes no bias. It is rational, so that runs and fixed points
    are exact in fractions, and `fixed_point(…).attracting` decides for which β and η it converges.

    Source: Hsu, Qi and Brown (2019), with v = −m; the server stepsize η as in Reddi et al. (2021), section 2. At first
    m = 0. Conventions differ: here, as in torch.optim.SGD without dampening, Δ is not multiplied by 1 − β, so that a
    constant Δ moves w by ηΔ/(1 − β) a round.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.
        momentum: β in [0, 1); with 0 and η = 1 this is FedGD.
        server_stepsize: η > 0 or a `StepsizeSchedule`.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    local_steps: NumberOfSteps = 1
    momentum: Scalar = number(default=Fraction(9, 10))
    server_stepsize: Scalar = number(default=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction_of_one(self.momentum, "momentum")

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, shared={"momentum": 0 * server})

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        momentum = self.momentum * state.shared["momentum"] + self.progress(cohort, answers)
        return State(state.server + self.server_stepsize * momentum, shared={"momentum": momentum})
