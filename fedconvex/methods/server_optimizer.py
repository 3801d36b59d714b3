"""FedAvgM, FedAdagrad, FedAdam and FedYogi: FedGD's clients, and an optimiser on the server.

The server takes the clients' mean progress Δ = Σ_k weights_k (θ_k − w) for the negative gradient of an optimiser of its
own. At rest Δ = 0, so that the fixed points are FedGD's, bias of several local steps included.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, State, TakesLocalSteps
from fedconvex.parameters import number
from fedconvex.stepsizes import stepsize
from fedconvex.validation import fraction_of_one, non_negative, positive


class ServerOptimizer(TakesLocalSteps, Averaging):
    """Clients take `local_steps` gradient steps from w; the server moves w by its optimiser's rule for Δ."""

    server_stepsize: Scalar

    no_prox: ClassVar[str] = "its averages over the rounds would hold gradients of f alone, without what ψ subtracts"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "server_stepsize", stepsize(self.server_stepsize, "server_stepsize"))

    def progress(self, cohort: Cohort, answers: Answers) -> Array:
        """Δ, (d,): the average of the participants' θ_k − w."""
        return cohort.average(answers.points - cohort.points)


class AdaptiveServerOptimizer(ServerOptimizer):
    """m ← β₁m + (1 − β₁)Δ; v ← `second_moment`; w ← w + η m/(√v + τ), all entry by entry.

    Source: Reddi et al. (2021), Algorithm 2, without correction of the first rounds' bias. At the start m = 0 and
    v = τ², the least that the paper allows (v₋₁ ≥ τ²).
    """

    beta1: Scalar
    tau: Scalar
    initial: Scalar

    takes_square_roots: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction_of_one(self.beta1, "beta1")
        positive(self.tau, "tau")
        if self.initial is None:
            object.__setattr__(self, "initial", self.tau * self.tau)
        non_negative(self.initial, "initial")

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        zero = 0 * server
        return State(server, shared={"first_moment": zero, "second_moment": zero + self.initial})

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        progress = self.progress(cohort, answers)
        m = self.beta1 * state.shared["first_moment"] + (1 - self.beta1) * progress
        v = self.second_moment(state.shared["second_moment"], progress * progress, cohort)
        server = state.server + self.server_stepsize * m / (cohort.square_root(v) + self.tau)
        return State(server, shared={"first_moment": m, "second_moment": v})

    @abstractmethod
    def second_moment(self, before: Array, square: Array, cohort: Cohort) -> Array:
        """v after a round, (d,), given v before and Δ², both entry by entry."""


@final
@dataclass(frozen=True, kw_only=True)
class FedAvgM(ServerOptimizer):
    """FedAvgM: m ← βm + Δ; w ← w + ηm, or with `nesterov` w ← w + η(βm + Δ).

    Δ = Σ_k weights_k (θ_k − w) with θ_k after e local gradient steps from w.

    Use it where FedAvg is slow because the objective is badly conditioned, or where few participants make Δ noisy. The
    fixed points are FedGD's, for every β and η: momentum removes no bias. It is rational, so that runs and fixed points
    are exact in fractions, and `fixed_point(…).attracting` decides for which β and η it converges.

    Source: Hsu, Qi and Brown (2019), with v = −m; the server stepsize η as in Reddi et al. (2021), section 2. At first
    m = 0. Code bases read the paper's momentum as the heavy ball's, the default here, or as Nesterov's accelerated
    gradient, in torch.optim.SGD's form (`nesterov`). Conventions differ: here, as in torch.optim.SGD without
    dampening, Δ is not multiplied by 1 − β, so that a constant Δ moves w by ηΔ/(1 − β) a round.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.
        momentum: β in [0, 1); with 0 and η = 1 this is FedGD.
        server_stepsize: η > 0 or a `StepsizeSchedule`.
        nesterov: True or False.

    Raises:
        InvalidInput: values out of range.
    """

    momentum: Scalar = number(default=Fraction(9, 10))
    server_stepsize: Scalar = number(default=1)
    nesterov: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction_of_one(self.momentum, "momentum")
        if not isinstance(self.nesterov, bool):
            raise InvalidInput("nesterov", self.nesterov, "is neither True nor False", "give one of them")

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, shared={"momentum": 0 * server})

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        progress = self.progress(cohort, answers)
        momentum = self.momentum * state.shared["momentum"] + progress
        step = self.momentum * momentum + progress if self.nesterov else momentum
        return State(state.server + self.server_stepsize * step, shared={"momentum": momentum})


@final
@dataclass(frozen=True, kw_only=True)
class FedAdagrad(AdaptiveServerOptimizer):
    """FedAdagrad: m ← β₁m + (1 − β₁)Δ; v ← v + Δ²; w ← w + η m/(√v + τ), entry by entry.

    Δ = Σ_k weights_k (θ_k − w), with θ_k after e local gradient steps from w.

    Use it where entries of the model have gradients of very different sizes, such as sparse features. The steps shrink
    as v grows, without a schedule. The fixed points are FedGD's, whatever v: it removes no bias.

    Source: Reddi et al. (2021), Algorithm 2, without correction of the first rounds' bias; m = 0 and v = τ² at first,
    the least v that the paper allows.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.
        server_stepsize: η > 0 or a `StepsizeSchedule`; the paper tunes it.
        beta1: β₁ in [0, 1).
        tau: τ > 0, the adaptivity: the smaller, the more the entries' steps are alike.
        initial: v at the start, >= 0; None: τ². Some frameworks start at 0.

    Raises:
        InvalidInput: values out of range; exact arithmetic (when a run starts), since square roots are irrational:
            use balls, which enclose them, or floats.
    """

    server_stepsize: Scalar = number(default=Fraction(1, 10))
    beta1: Scalar = number(default=Fraction(0))
    tau: Scalar = number(default=Fraction(1, 1000))
    initial: Scalar = number(default=None)

    def second_moment(self, before: Array, square: Array, cohort: Cohort) -> Array:
        return before + square


@dataclass(frozen=True, kw_only=True)
class MovingSecondMoment(AdaptiveServerOptimizer):
    """An adaptive server whose v forgets old squares at the rate β₂."""

    server_stepsize: Scalar = number(default=Fraction(1, 10))
    beta1: Scalar = number(default=Fraction(9, 10))
    beta2: Scalar = number(default=Fraction(99, 100))
    tau: Scalar = number(default=Fraction(1, 1000))
    initial: Scalar = number(default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction_of_one(self.beta2, "beta2")


@final
@dataclass(frozen=True, kw_only=True)
class FedAdam(MovingSecondMoment):
    """FedAdam: m ← β₁m + (1 − β₁)Δ; v ← β₂v + (1 − β₂)Δ²; w ← w + η m/(√v + τ), entry by entry.

    Δ = Σ_k weights_k (θ_k − w), with θ_k after e local gradient steps from w.

    Use it where entries of the model have gradients of very different sizes. The fixed points are FedGD's, but it need
    not settle there: as Δ vanishes so does v, and a step becomes (η/τ)m, the heavy ball's with stepsize (1 − β₁)η/τ,
    which must be stable.

    Source: Reddi et al. (2021), Algorithm 2, without correction of the first rounds' bias; m = 0 and v = τ² at first,
    the least v that the paper allows.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.
        server_stepsize: η > 0 or a `StepsizeSchedule`; the paper tunes it.
        beta1: β₁ in [0, 1).
        beta2: β₂ in [0, 1).
        tau: τ > 0, the adaptivity: the smaller, the more the entries' steps are alike.
        initial: v at the start, >= 0; None: τ². Some frameworks start at 0.

    Raises:
        InvalidInput: values out of range; exact arithmetic (when a run starts), since square roots are irrational:
            use balls, which enclose them, or floats.
    """

    def second_moment(self, before: Array, square: Array, cohort: Cohort) -> Array:
        return self.beta2 * before + (1 - self.beta2) * square


@final
@dataclass(frozen=True, kw_only=True)
class FedYogi(MovingSecondMoment):
    """FedYogi: m ← β₁m + (1 − β₁)Δ; v ← v − (1 − β₂)Δ² sign(v − Δ²); w ← w + η m/(√v + τ), entry by entry.

    Δ = Σ_k weights_k (θ_k − w), with θ_k after e local gradient steps from w.

    Use it like `FedAdam` where that is unstable: v falls by at most (1 − β₂)Δ² a round, so that after a run of small Δ
    the steps do not grow abruptly. The fixed points are FedGD's, whatever v.

    Source: Reddi et al. (2021), Algorithm 2, without correction of the first rounds' bias; m = 0 and v = τ² at first,
    the least v that the paper allows.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.
        server_stepsize: η > 0 or a `StepsizeSchedule`; the paper tunes it.
        beta1: β₁ in [0, 1).
        beta2: β₂ in [0, 1).
        tau: τ > 0, the adaptivity: the smaller, the more the entries' steps are alike.
        initial: v at the start, >= 0; None: τ². Some frameworks start at 0.

    Raises:
        InvalidInput: values out of range; exact arithmetic (when a run starts), since square roots are irrational:
            use balls, which enclose them, or floats.
    """

    def second_moment(self, before: Array, square: Array, cohort: Cohort) -> Array:
        return before - (1 - self.beta2) * square * cohort.sign(before - square)
