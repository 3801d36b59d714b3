"""FedProx(μ): every client minimises its function plus a proximal term, the server averages."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import NotConverged
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, SolvesExactly, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import integer_at_least, non_negative, positive


@final
@dataclass(frozen=True, kw_only=True)
class FedProx(SolvesExactly, Averaging):
    """FedProx: w ← average of argmin_θ f_k(θ) + (μ/2)‖θ − w‖².

    Use it for heterogeneous clients with unequal or unreliable work: its theory allows inexact answers, and a large μ
    keeps it stable where several local epochs of FedAvg diverge. It converges in general to a point other than the
    minimiser (FedSplit paper, Proposition 2): a larger μ reduces this bias and slows the method. Methods without bias
    are `FedSplit`, `FedDyn` and `Scaffold`.

    Source: FedProx paper, Algorithm 2. For its γ-inexact clients (Definitions 1 and 2) use the local solver
    `ToInexactness(gamma)`, for its experiments `SGD`, and for partial work of stragglers
    `Stragglers(fraction, policy="use")`. The FedSplit paper (equations (6), (7)) writes s = 1/μ.

    Args:
        mu: μ >= 0; for nonconvex clients larger than −mu_k. With μ = 0 there is no proximal term, and for the
            exact solver every f_k must have a unique minimiser.

    Raises:
        InvalidInput: a negative or infinite μ; one that is too small for the clients (when a run starts).
    """

    mu: Scalar = number()

    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")

    @property
    def proximal_weight(self) -> Scalar:
        return self.mu

    @property
    def is_proximal(self) -> bool:
        return bool(self.mu != 0)  # bool: mu may be a flint number


@final
@dataclass(frozen=True, kw_only=True)
class AdaptiveFedProx(SolvesExactly):
    """FedProx that adds `step` to μ when the loss rises and subtracts it after `falls` falls in a row.

    Use it when no good μ is known in advance. It evaluates the objective in every round, which a real federation would
    pay with additional communication, and no theorem of the paper covers it.

    FedProx paper, section 5.3.2 and Figures 3 and 11: step 0.1, falls 5. The loss is f at the server's point; the
    losses up to a round's point determine its μ. The paper leaves three details open, decided here: the count of falls
    starts again after a decrease of μ (otherwise every further fall would decrease it), an equal loss ends a row of
    falls, and μ stays >= 0. In floating point, losses that differ by their rounding alone rise or fall.

    Args:
        mu: μ >= 0 of the first round.
        step: > 0.
        falls: an integer >= 1.

    Raises:
        InvalidInput: values out of range; during a run, if μ has fallen to 0 and a client's function has no unique
            minimiser.
        NotConverged: during a run in balls, if the precision does not decide whether the loss rose.
    """

    mu: Scalar = number()
    step: Scalar = number(default=Fraction(1, 10))
    falls: int = 5

    adapts_proximal_weight: ClassVar[bool] = True

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")
        positive(self.step, "step")
        object.__setattr__(self, "falls", integer_at_least(self.falls, 1, "falls"))

    @property
    def proximal_weight(self) -> Scalar:
        """μ of the first round. The solver checks those of later rounds when they occur."""
        return self.mu

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        one = 0 * server[:1] + 1  # a 1 in the arithmetic of the run
        return State(server, shared={"mu": self.mu * one, "fallen": 0 * one, "losses": one[:0]})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        mu, _, _ = self._decide(state, cohort)
        return Subproblem(start=cohort.points, weight=mu[0], center=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        mu, fallen, loss = self._decide(state, cohort)
        return State(cohort.average(answers.points), shared={"mu": mu, "fallen": fallen, "losses": loss})

    def _decide(self, state: State, cohort: Cohort) -> tuple[Array, Array, Array]:
        """This round's μ, the number of falls since the last rise or decrease of μ, and the loss: (1,) arrays."""
        # computed twice a round, for the subproblem and for the update, since a method keeps nothing but the state
        mu, fallen, before = state.shared["mu"], state.shared["fallen"], state.shared["losses"]
        loss = 0 * mu + cohort.objective()
        if not len(before):
            return mu, fallen, loss
        risen, fell = bool(loss[0] > before[0]), bool(loss[0] < before[0])
        if not (risen or fell or loss[0] == before[0]):  # overlapping balls compare as none of the three
            raise NotConverged("whether the loss rose cannot be decided at this precision; give more bits of precision")
        if risen:
            return mu + self.step, 0 * fallen, loss
        fallen = fallen + 1 if fell else 0 * fallen
        if fallen[0] < self.falls:
            return mu, fallen, loss
        lower = mu - self.step  # clipped at 0 below
        return (lower if lower[0] > 0 else 0 * mu), 0 * fallen, loss
