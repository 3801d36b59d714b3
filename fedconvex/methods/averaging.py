"""The base class of FedGD, FedAvg, FedSGD, FedProx and FedNova: local work from the server's point, then averaging."""

from collections.abc import Callable
from typing import ClassVar

from fedconvex.arithmetic.rationals import Array
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.problems.subproblem import Subproblem


class Averaging(Method):
    """w ← Σ_k weights_k θ_k with θ_k ≈ argmin_θ f_k(θ) + (proximal_weight/2)‖θ − w‖², started at w."""

    memoryless: ClassVar[bool] = True

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        if not self.is_proximal:  # no center: solvers skip the term, and torch runs save memory
            return Subproblem(start=cohort.points)
        return Subproblem(start=cohort.points, weight=self.proximal_weight, center=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        return State(cohort.average(answers.points))

    @property
    def is_proximal(self) -> bool:
        """Whether the subproblem has a proximal term."""
        return False
