"""The base class of FedGD, FedAvg, FedSGD, FedProx and FedNova: local work from the server's point, then averaging."""

from collections.abc import Callable

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.problems.subproblem import Subproblem


class Averaging(Method):
    """w ← Σ_k weights_k θ_k with θ_k ≈ argmin_θ f_k(θ) + (proximal_weight/2)‖θ − w‖², started at w."""

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        if not self.is_proximal:  # no center: solvers skip the term, and torch runs save memory
            return Subproblem(start=cohort.points)
        return Subproblem(start=cohort.points, weight=self.proximal_weight, center=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        return State(cohort.average(answers.points))

    def prox_stepsize(self, cohort: Cohort, answers: Answers) -> Scalar:
        """For servers that only average: 1/μ of the proximal term.

        The answers are then θ_k = w − ∇M_k(w)/μ with M_k the Moreau envelope of f_k.
        Without one: the participants' mean sum of local stepsizes, how far the server moves along a constant gradient.
        """
        if self.is_proximal:
            return 1 / self.proximal_weight
        assert answers.path_lengths is not None
        return cohort.average(answers.path_lengths)[0]

    def require_prox(self, local_solver: LocalSolver) -> None:
        super().require_prox(local_solver)
        if self.is_proximal == local_solver.has_path_lengths:
            if self.is_proximal:
                problem = "takes a fixed number of steps, which move the server by less than 1/μ times a gradient"
                cure = "give Exact(), or another solver of the whole subproblem"
            else:
                problem, cure = "takes no steps of known size, of which the server's proximal step is", "give SGD(…)"
            raise InvalidInput("local_solver", local_solver, problem, cure)

    @property
    def is_proximal(self) -> bool:
        """Whether the subproblem has a proximal term."""
        return False
