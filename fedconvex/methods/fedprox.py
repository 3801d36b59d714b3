"""FedProx(μ): every client minimises its function plus a proximal term, the server averages."""

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
class FedProx(Method):
    """w ← Σ_k weights_k argmin_θ f_k(θ) + (μ/2)‖θ − w‖². FedProx paper, Algorithm 2, with everyone taking part.

    The FedSplit paper (equations (6), (7)) writes the same with s = 1/μ. The fixed point is in general not the
    minimiser of the objective (its Proposition 2); the bias grows with 1/μ and the speed falls with μ.

    Args:
        mu: μ > 0; for a client that is not convex, μ must exceed minus its least curvature.
    """

    mu: Scalar = number()

    memoryless: ClassVar[bool] = True
    stationary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive(self.mu, "mu")

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()

    def start(self, points: Array) -> State:
        return State(points[0])

    def subproblem(self, state: State, points: Array) -> Subproblem:
        return Subproblem(start=points, weight=self.mu, center=points)

    def update(self, state: State, points: Array, answers: Array, average: Callable[[Array], Array]) -> State:
        return State(average(answers))
