"""DIANA and EF21: gradient steps whose clients send compressed differences to what the server knows of them."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.compressors import Compressor, Contractive, Unbiased
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.stepsizes import stepsize
from fedconvex.validation import instance_of, positive

TWICE_OR_NOTHING, ALL_OR_NOTHING = Unbiased(1), Contractive(Fraction(1, 2))


@dataclass(frozen=True, kw_only=True)
class CompressedDifferences(Method):
    """The methods whose clients keep h_k, an estimate of ∇F_k(w), and send C(∇F_k(w) − h_k).

    The gradients are those of the clients' local work, (w − θ_k)/ℓ_k with ℓ_k the sum of the local stepsizes: of one
    gradient step, ∇F_k(w). The server knows h = mean h_k of all clients.
    """

    stepsize: Scalar = number()
    compressor: Compressor

    plain: ClassVar[bool] = True
    compresses: ClassVar[bool] = True
    no_prox: ClassVar[str] = "its server step is written for smooth objectives"
    control_variate: ClassVar[str | None] = "h"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        instance_of(self.compressor, Compressor, "compressor", "a compressor", "give for example RandK(10)")

    @property
    def local_solver(self) -> LocalSolver:
        return GradientDescent(steps=1, stepsize=self.stepsize)

    @property
    def needs_path_lengths(self) -> bool:
        return True

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, shared={"h": 0 * server}, memory={"h": repeat(0 * server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return Subproblem(start=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        known = state.memory["h"]
        sent = cohort.compress(self.compressor, (cohort.points - answers.points) / answers.path_lengths - known)
        following = known + self.learned(sent)
        h = cohort.updated_mean(state.shared["h"], known, following)
        return State(self.moved(state, cohort, sent, h), shared={"h": h}, memory={"h": following})

    @abstractmethod
    def learned(self, sent: Array) -> Array:
        """By how much the participants' h_k change."""

    @abstractmethod
    def moved(self, state: State, cohort: Cohort, sent: Array, h: Array) -> Array:
        """The server's next point; `h` is the mean of all clients' new h_k."""


@final
@dataclass(frozen=True, kw_only=True)
class DIANA(CompressedDifferences):
    """DIANA: w ← w − γ(h + mean m_k) with m_k = C(∇F_k(w) − h_k); then h_k ← h_k + α·m_k, and h is the mean of the h_k.

    Use it where communication is expensive and an unbiased compressor is at hand: unlike plainly compressed gradients
    it converges to the minimiser of heterogeneous clients, since ∇F_k(w) − h_k vanishes. α = 1/(1 + ω) and
    γ = 1/((1 + 6ω/m)L) of the paper's theory; `lyapunov` gives the rate of any. Absent clients keep their h_k; h is the
    mean of all. With `Unbiased(0)` and everyone it is gradient descent.

    Source: Mishchenko, Gorbunov, Takáč and Richtárik (2019), Algorithm 1, without momentum and regulariser. The paper
    minimises the plain mean of the clients' functions: on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain.

    Args:
        stepsize: γ > 0 or a `StepsizeSchedule`.
        compressor: an unbiased one, such as `RandK(10)` or `Unbiased(9)`; by default one with ω = 1.
        memory_stepsize: α > 0, by default 1/2, the paper's 1/(1 + ω) for that.

    Raises:
        InvalidInput: values out of range, a compressor that is not unbiased.
    """

    compressor: Compressor = TWICE_OR_NOTHING
    memory_stepsize: Scalar = number(default=Fraction(1, 2))

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.memory_stepsize, "memory_stepsize")
        if isinstance(self.compressor.promise(10**9), Contractive):
            cure = "give one that is, such as RandK(k), or take EF21"
            raise InvalidInput("compressor", self.compressor, "is not unbiased, which DIANA needs", cure)

    def learned(self, sent: Array) -> Array:
        return self.memory_stepsize * sent

    def moved(self, state: State, cohort: Cohort, sent: Array, h: Array) -> Array:
        return state.server - self.stepsize * (state.shared["h"] + cohort.average(sent))


@final
@dataclass(frozen=True, kw_only=True)
class EF21(CompressedDifferences):
    """EF21: h_k ← h_k + C(∇F_k(w) − h_k), then w ← w − γ·h with h the mean of the h_k: error feedback.

    Use it with contractive compressors, such as the largest entries, which are better than random ones and biased: what
    was not sent stays in ∇F_k(w) − h_k. Absent clients keep their h_k. The paper's theory has
    γ = 1/(L(1 + √(β/θ))), θ = 1 − √(1 − δ), β = (1 − δ)/θ; `lyapunov` gives the rate of any. Its h_k begin at 0, where
    the paper's begin at C(∇F_k(w⁰)): a round later, and w waits for none.

    Source: Richtárik, Sokolov and Fatkhullin (2021), Algorithm 2. The paper minimises the plain mean of the clients'
    functions: on a weighted problem client k contributes F_k = num_clients · weights[k] · f_k, and averages are plain.

    Args:
        stepsize: γ > 0 or a `StepsizeSchedule`.
        compressor: one that is contractive, such as `TopK(10)` or `Contractive(1/10)`; by default one with δ = 1/2.

    Raises:
        InvalidInput: values out of range, an unbiased compressor, whose errors may be larger than what it compresses.
    """

    compressor: Compressor = ALL_OR_NOTHING

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.compressor.promise(10**9), Unbiased):
            cure = "give one that is, such as TopK(k), or take DIANA"
            raise InvalidInput("compressor", self.compressor, "is not contractive, which EF21 needs", cure)

    def learned(self, sent: Array) -> Array:
        return sent

    def moved(self, state: State, cohort: Cohort, sent: Array, h: Array) -> Array:
        return state.server - self.stepsize * h
