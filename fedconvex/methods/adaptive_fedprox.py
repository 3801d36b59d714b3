"""FedProx with the paper's rule for μ: up when the loss rises, down when it has fallen for long enough."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import NotConverged
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import integer_at_least, non_negative, positive


@final
@dataclass(frozen=True, kw_only=True)
class AdaptiveFedProx(Method):
    """FedProx with μ + step where the loss has risen, μ − step where it has fallen `falls` times in a row.

    FedProx paper, section 5.3.2 and Figures 3 and 11: step 0.1, falls 5. The loss is the objective f at the server's
    point; a round's μ is decided by the losses up to that round's point. The paper leaves open that the count of falls
    starts again after a decrease of μ (otherwise every further fall would decrease it), that an equal loss ends a row
    of falls, and that μ stays >= 0. Where μ falls to 0 and a client's function alone cannot be minimised, the run ends
    with InvalidInput.

    Args:
        mu: the first round's μ >= 0.
        step: > 0.
        falls: an integer >= 1.
    """

    mu: Scalar = number()
    step: Scalar = number(default=Fraction(1, 10))
    falls: int = 5

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")
        positive(self.step, "step")
        object.__setattr__(self, "falls", integer_at_least(self.falls, 1, "falls"))

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()

    @property
    def proximal_weight(self) -> Scalar:
        """Of the first round; later ones are checked as they come."""
        return self.mu

    @property
    def linear(self) -> bool:
        return False

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        one = 0 * server[:1] + 1
        return State(server, shared={"mu": self.mu * one, "fallen": 0 * one, "losses": one[:0]})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        mu, _, _ = self._decide(state, cohort)
        return Subproblem(start=cohort.points, weight=mu[0], center=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        mu, fallen, loss = self._decide(state, cohort)
        return State(cohort.average(answers.points), shared={"mu": mu, "fallen": fallen, "losses": loss})

    def _decide(self, state: State, cohort: Cohort) -> tuple[Array, Array, Array]:
        """This round's μ, the falls counted towards the next decrease, and the loss here: (1,) arrays."""
        mu, fallen, before = state.shared["mu"], state.shared["fallen"], state.shared["losses"]
        loss = 0 * mu + cohort.objective()
        if not len(before):
            return mu, fallen, loss
        risen, fell = bool(loss[0] > before[0]), bool(loss[0] < before[0])
        if not (risen or fell or loss[0] == before[0]):  # balls that overlap
            raise NotConverged("whether the loss rose cannot be decided at this precision; give more bits of precision")
        if risen:
            return mu + self.step, 0 * fallen, loss
        fallen = fallen + 1 if fell else 0 * fallen
        if fallen[0] < self.falls:
            return mu, fallen, loss
        lower = mu - self.step
        return (lower if lower[0] > 0 else 0 * mu), 0 * fallen, loss
