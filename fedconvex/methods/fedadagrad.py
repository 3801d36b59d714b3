"""FedAdagrad: FedGD whose server divides every entry's step by the root of the sum of its squares."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.methods.base import Cohort
from fedconvex.methods.server_optimizer import AdaptiveServerOptimizer
from fedconvex.parameters import number
from fedconvex.step_numbers import NumberOfSteps


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

    stepsize: Scalar = number()
    local_steps: NumberOfSteps = 1
    server_stepsize: Scalar = number(default=Fraction(1, 10))
    beta1: Scalar = number(default=Fraction(0))
    tau: Scalar = number(default=Fraction(1, 1000))
    initial: Scalar = number(default=None)

    def second_moment(self, before: Array, square: Array, cohort: Cohort) -> Array:
        return before + square
