"""The base classes of FedAvgM, FedAdagrad, FedAdam and FedYogi: FedGD's clients, and an optimiser on the server.

The server takes the clients' mean progress Δ = Σ_k weights_k (θ_k − w) for the negative gradient of an optimiser of its
own. At rest Δ = 0, so that the fixed points are FedGD's, bias of several local steps included.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.unequal_steps import gradient_steps
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, State
from fedconvex.step_numbers import NumberOfSteps, numbers_of_steps
from fedconvex.stepsizes import stepsize
from fedconvex.validation import fraction_of_one, non_negative, positive


class ServerOptimizer(Averaging):
    """Clients take `local_steps` gradient steps from w; the server moves w by its optimiser's rule for Δ."""

    stepsize: Scalar
    local_steps: NumberOfSteps
    server_stepsize: Scalar

    no_prox: ClassVar[str] = "its averages over the rounds would hold gradients of f alone, without what ψ subtracts"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        object.__setattr__(self, "server_stepsize", stepsize(self.server_stepsize, "server_stepsize"))
        object.__setattr__(self, "local_steps", numbers_of_steps(self.local_steps, "local_steps"))

    @property
    def local_solver(self) -> LocalSolver:
        return gradient_steps(self.local_steps, self.stepsize)

    def progress(self, cohort: Cohort, answers: Answers) -> Array:
        """Δ, (d,): the average of the participants' θ_k − w."""
        return cohort.average(answers.points - cohort.points)


class AdaptiveServerOptimizer(ServerOptimizer):
    """m ← β₁m + (1 − β₁)Δ; v ← `second_moment`; w ← w + η m/(√v + τ), all entry by entry.

    Source: Reddi et al. (2021), Algorithm 2, without correction of the first rounds' bias. At the start m = 0 and
    v = τ², the least that the paper allows (v₋₁ ≥ τ²).
    """

    beta1: Scalar
    tau: Scalar
    initial: Scalar

    takes_square_roots: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction_of_one(self.beta1, "beta1")
        positive(self.tau, "tau")
        if self.initial is None:
            object.__setattr__(self, "initial", self.tau * self.tau)
        non_negative(self.initial, "initial")

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        zero = 0 * server
        return State(server, shared={"first_moment": zero, "second_moment": zero + self.initial})

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        progress = self.progress(cohort, answers)
        m = self.beta1 * state.shared["first_moment"] + (1 - self.beta1) * progress
        v = self.second_moment(state.shared["second_moment"], progress * progress, cohort)
        server = state.server + self.server_stepsize * m / (cohort.square_root(v) + self.tau)
        return State(server, shared={"first_moment": m, "second_moment": v})

    @abstractmethod
    def second_moment(self, before: Array, square: Array, cohort: Cohort) -> Array:
        """v after a round, (d,), given v before and Δ², both entry by entry."""
