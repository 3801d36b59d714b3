"""FedSplit(s): Peaceman–Rachford splitting between the clients' functions and their agreement."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.base import Method, State
from fedconvex.parameters import number
from fedconvex.problems.base import Subproblem
from fedconvex.rationals import Array, Scalar
from fedconvex.validation import positive


@final
@dataclass(frozen=True, kw_only=True)
class FedSplit(Method):
    """z_k ← z_k + 2(prox_{sF_k}(2x − z_k) − x), x ← mean z_k. FedSplit paper, Algorithm 1.

    The paper minimises the plain sum of the clients' functions; on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, so that uniform weights give the paper's method.
    With exact proximal steps the fixed points are the stationary points of the objective (Proposition 3).

    On convex quadratics with a unique minimiser the server's point converges to it from everywhere: the lifted map is
    z ↦ RCz with the orthogonal reflection C = 2·mean − I and R = 2(I + sH)⁻¹ − I, a symmetric contraction that keeps
    the length of a vector only on the clients' kernels. A z whose length is never reduced therefore has its mean in
    the kernel of every H_k, which is {0} when the minimiser is unique; its server point is 0.

    Args:
        stepsize: s > 0; s = 1/√(ℓ_* L^*) gives the contraction of Theorem 1.
    """

    stepsize: Scalar = number()

    objective: ClassVar[str] = "sum"
    memoryless: ClassVar[bool] = False
    stationary: ClassVar[bool] = True
    converges_on_convex_quadratics: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()

    def start(self, points: Array) -> State:
        return State(points[0], points)

    def subproblem(self, state: State, points: Array) -> Subproblem:
        center = 2 * points - state.memory
        return Subproblem(start=center, weight=1 / self.stepsize, center=center, guess=points)

    def update(self, state: State, points: Array, answers: Array, average: Callable[[Array], Array]) -> State:
        memory = state.memory + 2 * (answers - points)
        return State(average(memory), memory)
