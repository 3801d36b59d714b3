"""FedGD with one local step (FedSGD with full batches) and P of m clients: heterogeneity as noise."""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import after, expected, mean_of_rounds, minimiser, server, square, value
from fedconvex.statements.assumptions import Convex, Runs, SampledUniformly, Smooth, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import named, power
from fedconvex.statements.notation import SQUARED_LENGTH, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.exact_rates.notation import ACTIVE, PAPER, spread_of_the_draw
from fedconvex.types import Real

ONE_STEP = (Runs("FedGD", local_steps=1), SampledUniformly(), ACTIVE)
STRONGLY = (
    StronglyConvex(), Smooth(), Condition("mu", "<", "L"), Condition("stepsize", "<", lambda mu, L: 2 / (mu + L)),
)  # fmt: skip


def _price(stepsize: Real, mu: Real, L: Real, sigma: Any) -> Any:
    """What heterogeneity adds in a round, per ζ_*²."""
    slow = 1 - stepsize * mu
    return named("b", 2 * sigma * stepsize**2 * slow / (2 * slow - sigma * stepsize * (L - mu)))


@PAPER.statement(
    "FedSGD round", ClaimType.TIGHT, ours=True, symbol=r"\mathbb{E}\|w^{t+1}-w^*\|^2", units=SQUARED_LENGTH,
    assumes=(*ONE_STEP, *STRONGLY), states=expected(square(server(1) - minimiser)),
)  # fmt: skip
def fedsgd_round(
    *, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real, D: Real, zeta2: Real
) -> Any:
    """One gradient step of P of m clients, s < 2/(μ + L): E‖w⁺ − w*‖² ≤ (1 − sμ)²‖w − w*‖² + bζ_*²,
    b = 2σs²(1 − sμ)/(2(1 − sμ) − σs(L − μ)), σ = (m − P)/(P(m − 1)).

    Neither number can be smaller for clients of any number: the first is attained, the second approached where one of
    ever more clients has curvature L, the others μ, and P/m or P stays.
    """
    sigma = spread_of_the_draw(num_clients=num_clients, num_active=num_active)
    return (1 - stepsize * mu) ** 2 * D + _price(stepsize, mu, L, sigma) * zeta2


@PAPER.statement(
    "FedSGD run", ClaimType.UPPER, ours=True, symbol=r"\mathbb{E}\|w^T-w^*\|^2", units=SQUARED_LENGTH,
    assumes=(*ONE_STEP, *STRONGLY),
    states=lambda bound: at_most(after(square(server(0) - minimiser)), bound, rounds="T"),
)  # fmt: skip
def fedsgd_run(
    *, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, zeta2: Real
) -> Any:
    """After T rounds: q^T‖w⁰ − w*‖² + bζ_*²(1 − q^T)/(sμ(2 − sμ)), q = (1 − sμ)², with b as in `fedsgd_round`.

    For a small s the floor is σsζ_*²/(2μ), a quarter of the usual 2sσζ_*²/μ.
    """
    sigma = spread_of_the_draw(num_clients=num_clients, num_active=num_active)
    shrunk = power((1 - stepsize * mu) ** 2, T)
    return shrunk * D0 + _price(stepsize, mu, L, sigma) * zeta2 * (1 - shrunk) / (stepsize * mu * (2 - stepsize * mu))


@PAPER.statement(
    "FedSGD, convex clients", ClaimType.UPPER, ours=True, units=VALUE,
    symbol=r"\frac{1}{T}\sum_{t<T}\mathbb{E}f(w^t)-f(w^*)",
    assumes=(*ONE_STEP, Convex(), Smooth(), Condition("stepsize", "<", lambda L: 1 / L)),
    states=lambda bound: at_most(mean_of_rounds(value(server(0))) - value(minimiser), bound, rounds="T"),
)  # fmt: skip
def fedsgd_convex(
    *, stepsize: Real, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, zeta2: Real
) -> Any:
    """Convex clients, s < 1/L, P of m: the mean of Ef(w⁰), …, Ef(w^{T−1}) exceeds f(w*) by at most
    ‖w⁰ − w*‖²/(2sT) + σsζ_*²/(2(1 − σsL)), σ = (m − P)/(P(m − 1)).
    """
    sigma = spread_of_the_draw(num_clients=num_clients, num_active=num_active)
    return D0 / (2 * stepsize * T) + sigma * stepsize * zeta2 / (2 * (1 - sigma * stepsize * L))
