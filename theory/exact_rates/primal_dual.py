"""FedDyn, FedDynOneGD, FedPD and FedSplit: the methods whose memories hold the clients' gradients at the solution."""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    expected,
    gradient,
    mean,
    mean_of_rounds,
    memory,
    minimiser,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.statements.assumptions import (
    Convex,
    Everyone,
    ExactSolutions,
    Runs,
    SampledUniformly,
    Smooth,
    StronglyConvex,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum, named
from fedconvex.statements.notation import NUMBER, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.exact_rates.notation import ACTIVE, ORDERED, PAPER
from fedconvex.types import Real

STRONGLY = (StronglyConvex(), Smooth(), ORDERED)
MEAN_GAP = r"\frac{1}{T}\sum_{t=1}^T f(\bar w^t)-f(w^*)"


def mean_gap_of_answers(bound: Number) -> Any:
    """The mean of f over the rounds, at the mean of the clients' answers."""
    return at_most(mean_of_rounds(value(mean(answers))) - value(minimiser), bound, rounds="T")


@PAPER.statement(
    "FedDyn, convex clients", ClaimType.UPPER, ours=True, symbol=MEAN_GAP, units=VALUE,
    assumes=(Runs("FedDyn"), ExactSolutions(), Everyone(), Convex(), Smooth(),
             Condition("alpha", ">=", lambda L: 2 * L)),
    states=mean_gap_of_answers,
)  # fmt: skip
def feddyn_convex(*, alpha: Real, L: Real, T: Real, D0: Real, zeta2: Real) -> Any:
    """With everyone and α ≥ 2L, f at the clients' mean answers of rounds 1, …, T exceeds f(w*) on average by at most
    (α‖w⁰ − w*‖² + ζ_*²/α)/(2T). (`L` is in the condition only.)

    The FedDyn paper has (10α‖w⁰ − w*‖² + 100ζ_*²/α)/T for α ≥ 25L: at the smallest α of each, 250 times as much for
    ζ_* = 0. `feddyn.theorem2sharper` needs α ≥ 5L.
    """
    return (alpha * D0 + zeta2 / alpha) / (2 * T)


@PAPER.statement(
    "FedDynOneGD, convex clients", ClaimType.UPPER, ours=True, units=VALUE,
    symbol=r"\frac{1}{T}\sum_{t<T}f(w^t)-f(w^*)",
    assumes=(Runs("FedDynOneGD"), Everyone(), Convex(), Smooth(), Condition("alpha", ">=", lambda L: 3 * L)),
    states=lambda bound: at_most(mean_of_rounds(value(server(0))) - value(minimiser), bound, rounds="T"),
)  # fmt: skip
def feddynonegd_convex(*, alpha: Real, L: Real, T: Real, D0: Real) -> Any:
    """With everyone and α ≥ 3L, the mean of f(w⁰), …, f(w^{T−1}) exceeds f(w*) by at most α‖w⁰ − w*‖²/(2T), however
    different the clients are. (`L` is in the condition only.)

    The method is then gradient descent with steps (2∇f(w^t) − ∇f(w^{t−1}))/α. The FedDyn paper's (18) has α ≥ 50L,
    α‖w⁰ − w*‖² + 10ζ_*²/α over T: at the smallest α of each, more than 33 times as much.
    """
    return alpha * D0 / (2 * T)


def state_error(time: int) -> Number:
    """V = ‖w + h/α − w*‖² + ‖h‖²/α²."""
    h = shared("h", time) / parameter("alpha")
    return square(server(time) + h - minimiser) + square(h)


@PAPER.statement(
    "FedDynOneGD round", ClaimType.UPPER, ours=True, symbol=r"\rho", relation="=", units=NUMBER,
    assumes=(Runs("FedDynOneGD"), Everyone(), *STRONGLY, Condition("alpha", ">=", lambda mu, L: 2 * (mu + L))),
    states=lambda rate: at_most(state_error(1), rate * state_error(0)),
)  # fmt: skip
def feddynonegd_round(*, alpha: Real, mu: Real, L: Real) -> Any:
    """With everyone and α ≥ 2(μ + L), a round contracts V = ‖w + h/α − w*‖² + ‖h‖²/α² by 1 − μL/(α(μ + L)).

    The FedDyn paper's Theorem 5 has α ≥ 50L and 1/(1 + μ/(3α)). On quadratics of curvature μ errors fall by
    ((1 − 2u + √(1 + 4u²))/2)², u = μ/α, about 1 − 2u: no rate is below that, which is twice as fast.
    """
    return 1 - mu * L / (alpha * (mu + L))


ETA = parameter("eta")


def from_rest(time: int) -> Vector:
    """w − ηλ_k − w* − η∇F_k(w*), which vanishes at the fixed point alone."""
    return server(time) - minimiser - ETA * (memory("dual", time) + gradient(minimiser))


FEDPD = (Runs("FedPD", fixed=(("skip", 0),)), ExactSolutions(), Everyone())


@PAPER.statement(
    "FedPD round", ClaimType.TIGHT, ours=True, symbol=r"\rho", relation="=", units=NUMBER, assumes=(*FEDPD, *STRONGLY),
    states=lambda rate: at_most(square(from_rest(1)), rate * square(from_rest(0))),
)  # fmt: skip
def fedpd_round(*, eta: Real, mu: Real, L: Real) -> Any:
    """Without skipping, a round contracts V = mean‖w − ηλ_k − w* − η∇F_k(w*)‖² by ρ = (q/(1 + q))²,
    q = max(1/(ημ), ηL).

    λ_k is client k's dual. η = 1/√(μL) is best, (√κ/(1 + √κ))²; the FedPD paper has rates for nonconvex clients only.
    Equal quadratics of curvature μ or L attain it.
    """
    q = named("q", maximum(1 / (eta * mu), eta * L))
    return (q / (1 + q)) ** 2


@PAPER.statement(
    "FedPD, convex clients", ClaimType.UPPER, ours=True, symbol=MEAN_GAP, units=VALUE,
    assumes=(*FEDPD, Convex(), Smooth(), Condition("eta", "<=", lambda L: 1 / (2 * L))), states=mean_gap_of_answers,
)  # fmt: skip
def fedpd_convex(*, eta: Real, L: Real, T: Real, D0: Real, zeta2: Real) -> Any:
    """Without skipping and for η ≤ 1/(2L), f at the clients' mean answers of rounds 1, …, T exceeds f(w*) on average by
    at most (‖w⁰ − w*‖²/η + ηζ_*²)/(2T). (`L` is in the condition only.)
    """
    return (D0 / eta + eta * zeta2) / (2 * T)


FIXED_POINT = minimiser - parameter("stepsize") * gradient(minimiser)


@PAPER.statement(
    "FedSplit round of P clients", ClaimType.TIGHT, ours=True, symbol=r"\rho", relation="=", units=NUMBER,
    assumes=(Runs("FedSplit", fixed=(("server", "all"),)), ExactSolutions(), SampledUniformly(), ACTIVE, *STRONGLY),
    states=lambda rate: at_most(
        expected(square(memory("z", 1) - FIXED_POINT)), rate * square(memory("z", 0) - FIXED_POINT)
    ),
)  # fmt: skip
def fedsplit_drawn_round(*, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """P of m clients: E mean‖z_k − z_k*‖² contracts by exactly 1 − (P/m)(1 − δ²), δ = (q − 1)/(q + 1),
    q = max(1/(sμ), sL), z_k* = w* − s∇F_k(w*).

    s = 1/√(μL) is best. The FedSplit paper has everyone take part. Equal quadratics of curvature μ or L attain it from
    any state.
    """
    q = named("q", maximum(1 / (stepsize * mu), stepsize * L))
    return 1 - num_active / num_clients * (1 - ((q - 1) / (q + 1)) ** 2)
