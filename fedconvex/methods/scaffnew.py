"""Scaffnew (ProxSkip): gradient steps corrected by control variates, with communication at random."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.stepsizes import stepsize
from fedconvex.validation import positive


@final
@dataclass(frozen=True, kw_only=True)
class Scaffnew(Method):
    """Scaffnew: x̂_k = x_k − γ(∇F_k(x_k) − h_k); with probability p: w ← mean x̂_k, x_k ← w, h_k ← h_k + (p/γ)(w − x̂_k).

    A round is one local step and one toss of a coin: with probability 1 − p it is local, then x_k ← x̂_k, w and h_k
    stay, and nothing is sent. Use it for strongly convex clients where communication is expensive: with p = 1/√κ and
    γ = 1/L it needs of the order of √κ communications, κ = L/μ, for any heterogeneity. Between two communications there
    are 1/p steps on average. At the start x_k = w and h_k = 0; mean h_k stays 0.

    Fixed points: x_k = w in rounds with communication; local rounds then give ∇F_k(w) = h_k, and mean h_k = 0: the
    stationary points of the objective, for every p. With p = 1 it is gradient descent with stepsize γ.

    Source: Mishchenko, Malinovsky, Stich and Richtárik (2022), Algorithm 2, where all clients take part. Here clients
    may be absent, and keep x_k and h_k; the mean is that of the participants, and mean h_k stays 0 where each of them
    counts once in it (not with `Weighted`, whose draws may repeat a client). The paper minimises
    the plain mean of the clients' functions: on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain.

    Args:
        stepsize: γ > 0 or a `StepsizeSchedule`.
        probability: p in (0, 1], of a round with communication.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    probability: Scalar = number(default=1)

    plain: ClassVar[bool] = True
    no_prox: ClassVar[str] = "its server step is written for mean h_k = 0, and with ψ the mean is a subgradient of ψ"
    control_variate: ClassVar[str | None] = "control"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        if positive(self.probability, "probability") != 1 and not 1 - self.probability > 0:
            raise InvalidInput("probability", self.probability, "is larger than 1", "give 0 < probability <= 1")

    @property
    def skip(self) -> Scalar:
        return 1 - self.probability

    @property
    def local_solver(self) -> LocalSolver:
        return GradientDescent(steps=1, stepsize=self.stepsize)

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, memory={"model": repeat(server), "control": repeat(0 * server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        start = cohort.points if self.skip == 0 else state.memory["model"]
        return Subproblem(start=start, linear=-state.memory["control"])

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        control = state.memory["control"]
        if not cohort.communicates:
            return State(state.server, memory={"model": answers.points, "control": control})
        server = cohort.average(answers.points)
        model = server + 0 * answers.points  # the server's point for every client
        control = control + self.probability / self.stepsize * (model - answers.points)
        return State(server, memory={"model": model, "control": control})
