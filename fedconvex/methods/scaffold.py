"""SCAFFOLD: local gradient steps that control variates correct for client drift."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, State, TakesLocalSteps
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.stepsizes import stepsize
from fedconvex.validation import integer_at_least


@final
@dataclass(frozen=True, kw_only=True)
class Scaffold(TakesLocalSteps):
    """SCAFFOLD: local steps θ ← θ − s(∇F_k(θ) − c_k + c) from w to y_k, then w ← w + η·mean(y_k − w).

    c_k estimates ∇F_k at the solution and c, the mean of all m clients' c_k, the objective's gradient: the correction
    removes the bias of several local steps. Use it for heterogeneous clients with cheap local gradient steps, also with
    partial participation; it sends two vectors each way, so compare it per byte and not per round. With few
    participants the c_k become stale, which requires smaller stepsizes.

    Option I: c_k⁺ = ∇F_k(w), one more gradient a round. Option II: c_k⁺ = c_k − c + (w − y_k)/ℓ_k with ℓ_k the sum of
    the local stepsizes (K·s): the mean of the gradients along the client's path. Absent clients keep their c_k, and
    c ← c + (1/m) Σ_k (c_k⁺ − c_k). Both options use c and c_k from the beginning of the round; at first they are 0.

    Source: Karimireddy et al. (2020), Algorithm 1. The paper minimises the plain mean of the clients' functions: on a
    weighted problem client k contributes F_k = num_clients · weights[k] · f_k, and averages are plain.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: their number K, an integer >= 1; one for every client, such as (3, 1, 5); or a
            `RandomNumberOfSteps`. A run may replace both by another local solver; option II then needs
            one that reports its path lengths (`SGD`).
        server_stepsize: η > 0 or a `StepsizeSchedule`.
        option: 1 or 2, for the paper's I and II.

    Raises:
        InvalidInput: values out of range.
    """

    server_stepsize: Scalar = number(default=1)
    option: Literal[1, 2] = 2

    plain: ClassVar[bool] = True
    no_prox: ClassVar[str] = "its corrected local steps follow ∇f, which need not be 0 at the minimisers of f + ψ"
    vectors_down: ClassVar[int] = 2
    vectors_up: ClassVar[int] = 2
    control_variate: ClassVar[str | None] = "c"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "server_stepsize", stepsize(self.server_stepsize, "server_stepsize"))
        try:
            option = integer_at_least(self.option, 1, "option")
        except InvalidInput:
            option = 0
        if option not in (1, 2):
            raise InvalidInput(
                "option", self.option, "is neither 1 nor 2", "give 1 (gradient at w) or 2 (from the path)"
            )
        object.__setattr__(self, "option", option)

    @property
    def needs_path_lengths(self) -> bool:
        return self.option == 2

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, shared={"c": 0 * server}, memory={"c": repeat(0 * server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return Subproblem(start=cohort.points, linear=state.shared["c"] - state.memory["c"])

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        moved = answers.points - cohort.points
        if self.option == 1:
            memory = cohort.gradients()
        else:
            memory = state.memory["c"] - state.shared["c"] - moved / answers.path_lengths
        server = state.server + self.server_stepsize * cohort.average(moved)
        c = cohort.updated_mean(state.shared["c"], state.memory["c"], memory)  # c + (1/m) Σ_k (c_k⁺ − c_k)
        return State(server, shared={"c": c}, memory={"c": memory})
