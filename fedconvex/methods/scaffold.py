"""SCAFFOLD: local gradient steps corrected by control variates."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import integer_at_least, positive


@final
@dataclass(frozen=True, kw_only=True)
class Scaffold(Method):
    """y_k: steps θ ← θ − s(∇F_k(θ) − c_k + c) from w; w ← w + η·mean(y_k − w); c ← c + (1/m) Σ_k (c_k⁺ − c_k).

    Karimireddy et al. (2020), Algorithm 1; c_k and c start at 0. Option I: c_k⁺ = ∇F_k(w), one more gradient a round.
    Option II: c_k⁺ = c_k − c + (w − y_k)/ℓ_k with ℓ_k the sum of the local stepsizes (K·s): the mean of the gradients
    that the client met. Clients that do not take part keep their c_k. Both options use c and c_k as they were when the
    round began.

    The paper minimises the plain mean of the clients' functions: on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain. Sends two vectors each way.

    Args:
        stepsize: s > 0 and local_steps >= 1, of the local gradient steps. Another local solver may be given to a run;
            option II then needs one that takes steps of known size.
        server_stepsize: η > 0.
        option: 1 or 2.
    """

    stepsize: Scalar = number()
    local_steps: int = 1
    server_stepsize: Scalar = number(default=1)
    option: Literal[1, 2] = 2

    plain: ClassVar[bool] = True
    vectors_down: ClassVar[int] = 2
    vectors_up: ClassVar[int] = 2
    control_variate: ClassVar[str | None] = "c"

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")
        positive(self.server_stepsize, "server_stepsize")
        object.__setattr__(self, "local_steps", integer_at_least(self.local_steps, 1, "local_steps"))
        if self.option not in (1, 2):
            raise InvalidInput(
                "option", self.option, "is neither 1 nor 2", "give 1 (gradient at w) or 2 (from the path)"
            )

    @property
    def local_solver(self) -> LocalSolver:
        return GradientDescent(steps=self.local_steps, stepsize=self.stepsize)

    @property
    def needs_path_lengths(self) -> bool:
        return self.option == 2

    @property
    def stationary_inexactly(self) -> bool:
        """II: constant c_k make (w − y_k)/ℓ = c, of mean 0. I: all subproblems start with gradient c, as in DANE."""
        return True

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
        c = cohort.updated_mean(state.shared["c"], state.memory["c"], memory)  # changes by (1/m) Σ_k (c_k⁺ − c_k)
        return State(server, shared={"c": c}, memory={"c": memory})
