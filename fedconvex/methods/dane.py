"""DANE, FedDANE, FedLin: a linear term gives the clients' functions the objective's gradient at the server's point."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, SolvesExactly, State, TakesLocalSteps
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import non_negative, positive


class GradientCorrected(SolvesExactly, Averaging):
    """w ← average of argmin_θ f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (μ/2)‖θ − w‖², started at w; subclasses choose g.

    With g = η∇f(w), a stationary point of the objective is a fixed point for every μ. It need not attract: on
    heterogeneous clients the iteration diverges if μ is small.
    """

    mu: Scalar

    no_prox: ClassVar[str] = "its corrected local work follows ∇f, which need not be 0 at the minimisers of f + ψ"

    @property
    def proximal_weight(self) -> Scalar:
        return self.mu

    def corrected(self, cohort: Cohort, gradient: Array) -> Subproblem:
        """The subproblem with g = `gradient`, (d,)."""
        linear = gradient - cohort.gradients()  # makes the subproblem's gradient at w equal to g
        return Subproblem(start=cohort.points, linear=linear, weight=self.mu, center=cohort.points)


@final
@dataclass(frozen=True, kw_only=True)
class DANE(GradientCorrected):
    """DANE: clients minimise f_k(θ) − ⟨∇f_k(w) − η∇f(w), θ⟩ + (μ/2)‖θ − w‖², the server averages.

    Use it for clients with similar Hessians, for which it resembles Newton's method and needs few rounds. On
    heterogeneous clients it needs a large μ; `Scaffold`, `FedDyn` and `FedSplit` are then safer. The fixed points are
    the stationary points of the objective, also with inexact local solutions.

    Every round costs a second communication: all clients send their gradients, even if only some of them do local work.
    Source: Shamir, Srebro and Zhang (2014), equation (13).

    Args:
        mu: μ >= 0; with 0 every f_k must be strongly convex.
        eta: η > 0, the weight of the objective's gradient; 1 is Newton-like.

    Raises:
        InvalidInput: values out of range.
    """

    mu: Scalar = number()
    eta: Scalar = number(default=1)

    gradients_from: ClassVar[str] = "everyone"

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")
        positive(self.eta, "eta")

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.corrected(cohort, self.eta * cohort.full_gradient())


@final
@dataclass(frozen=True, kw_only=True)
class FedDANE(GradientCorrected):
    """DANE with partial participation: one sample of clients gives the gradient g, a second one does the local work.

    w ← average of argmin_θ f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (μ/2)‖θ − w‖² over the second sample, with g the average of
    ∇f_k(w) over the first. Use it to reproduce experiments; in the FedProx paper's (Figure 4) it does worse
    than FedProx. The participation scheme of the run draws the two samples independently; a
    `Schedule` has one sample a round, which serves as both.

    With full participation it is DANE with η = 1. With partial participation g does not vanish at a stationary point of
    the objective, so that the method does not converge to it. Source: Li et al. (2020).

    Args:
        mu: μ >= 0; with 0 every f_k must be strongly convex.

    Raises:
        InvalidInput: a negative or infinite μ.
    """

    mu: Scalar = number()

    gradients_from: ClassVar[str] = "sample"
    vectors_down: ClassVar[int] = 2  # w and g; in DANE all clients already have w from sending gradients

    def __post_init__(self) -> None:
        non_negative(self.mu, "mu")

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.corrected(cohort, cohort.sampled_gradient())


@final
@dataclass(frozen=True, kw_only=True)
class FedLin(TakesLocalSteps, GradientCorrected):
    """FedLin: local steps θ ← θ − s(∇F_k(θ) − ∇F_k(w) + ∇f(w)) from w, then w ← mean θ_k.

    Use it for heterogeneous clients with cheap local steps, where an extra round of gradients costs little: all clients
    send ∇F_k(w) before the local work, so that no control variate becomes stale, as it may in `Scaffold`. It is DANE
    without a proximal term, with gradient steps in place of exact solutions.

    Fixed points: a stationary point of the objective is one, as the first step from it is 0; for s < 2/L and
    convex clients there is no other (`stationary_inexactly` in `DANE`'s base class).

    Source: Mitra, Jaafar, Pappas and Hassani (2021), Algorithm 1, without compression, with the same stepsize for all
    clients. The paper minimises the plain mean of the clients' functions: on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain. Clients of different speed: its τ_k are a tuple
    `local_steps`, the same in every round; those that are late at random are `Stragglers(fraction, policy="use")`.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`.
        local_steps: τ, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.

    Raises:
        InvalidInput: values out of range.
    """

    mu = 0  # no proximal term

    plain: ClassVar[bool] = True
    gradients_from: ClassVar[str] = "everyone"

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return replace(self.corrected(cohort, cohort.full_gradient()), center=None)
