"""FedSplit on a regularised objective, for clients that are convex but not strongly convex."""

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
    """FedSplit on F_k + (λ/2)‖· − x⁽¹⁾‖², where x⁽¹⁾ is the starting point.

    Use it for convex clients without strong convexity, to reach a given suboptimality ε in a number of rounds of order
    1/√ε (up to a logarithm). It converges to the minimiser of the regularised objective, which differs from that of
    the objective and depends on the starting point; `FedSplit` has no such bias, but the paper proves no rate there.

    Source: FedSplit paper, Theorem 2. Its equation (19) prints λ/(2m) where λ/2 is meant: the text goes on to call the
    function λ-strongly convex and (L^* + λ)-smooth, which it is with λ/2, and the theorem's λ < ε/(m‖x⁽¹⁾ − x*‖²)
    bounds the added cost (mλ/2)‖x⁽¹⁾ − x*‖² by ε/2. The objective is the plain sum of the F_k, as in `FedSplit`.

    Args:
        stepsize: s > 0; the theorem takes s = 1/√(λ(L^* + λ)).
        regularization: λ > 0.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    regularization: Scalar = number()

    plain: ClassVar[bool] = True

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
        plain = self._splitting.subproblem(state, cohort)
        # (w₁/2)‖θ − c₁‖² + (λ/2)‖θ − x⁽¹⁾‖² is one quadratic of weight w₁ + λ around the weighted mean of its centers
        pull = plain.weight * plain.center + self.regularization * state.shared["anchor"]
        weight = self.proximal_weight
        return Subproblem(start=plain.start, weight=weight, center=pull / weight, guess=plain.guess)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        moved = self._splitting.update(state, cohort, answers)
        return State(moved.server, shared=state.shared, memory=moved.memory)

    @property
    def _splitting(self) -> FedSplit:
        made = object.__new__(FedSplit)  # the stepsize has been checked, and in proofs it is a formula
        object.__setattr__(made, "stepsize", self.stepsize)
        return made
