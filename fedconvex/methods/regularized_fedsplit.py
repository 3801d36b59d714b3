"""FedSplit on the regularised objective of Theorem 2, for clients that are convex but not strongly convex."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import positive


@final
@dataclass(frozen=True, kw_only=True)
class RegularizedFedSplit(Method):
    """FedSplit(s) on the functions F_k + (λ/2)‖· − x⁽¹⁾‖², x⁽¹⁾ the server's first point. FedSplit paper, Theorem 2.

    Equation (19) prints λ/(2m) where λ/2 is meant: the text goes on to call the function λ-strongly convex and
    (L^* + λ)-smooth, which it is with λ/2, and the theorem's λ < ε/(m‖x⁽¹⁾ − x*‖²) bounds the added cost
    (mλ/2)‖x⁽¹⁾ − x*‖² by ε/2. The fixed point minimises the regularised objective and so depends on the start.

    Args:
        stepsize: s > 0; the theorem takes s = 1/√(λ(L^* + λ)).
        regularization: λ > 0.
    """

    stepsize: Scalar = number()
    regularization: Scalar = number()

    plain: ClassVar[bool] = True
    depends_on_start: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")
        positive(self.regularization, "regularization")

    @property
    def local_solver(self) -> LocalSolver:
        return self._splitting.local_solver

    @property
    def proximal_weight(self) -> Scalar:
        return self._splitting.proximal_weight + self.regularization

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        state = self._splitting.initial_state(server, repeat)
        return State(server, shared={"anchor": server}, memory=state.memory)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        asked = self._splitting.subproblem(state, cohort)
        # the two quadratic terms are one, centred between their centres
        pull = asked.weight * asked.center + self.regularization * state.shared["anchor"]
        weight = self.proximal_weight
        return Subproblem(start=asked.start, weight=weight, center=pull / weight, guess=asked.guess)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        moved = self._splitting.update(state, cohort, answers)
        return State(moved.server, shared=state.shared, memory=moved.memory)

    @property
    def _splitting(self) -> FedSplit:
        return FedSplit(stepsize=self.stepsize)
