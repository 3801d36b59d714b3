"""DANE with η = 1 and proximal weight 1/s: what clients gain in a round, however different they are."""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import after, minimiser, server, value
from fedconvex.statements.assumptions import (
    Convex,
    Everyone,
    ExactSolutions,
    ProximalStepsize,
    Runs,
    Smooth,
    StronglyConvex,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import named
from fedconvex.statements.notation import NUMBER, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.exact_rates.notation import ORDERED, PAPER
from fedconvex.theory.exact_rates.proximal import OF_PROXIMAL_STEP
from fedconvex.types import Real

DANE = (Runs("DANE", fixed=(("eta", 1),)), ProximalStepsize(), Everyone(), ExactSolutions())


@PAPER.statement(
    "DANE round", ClaimType.TIGHT, symbol=r"\rho", relation="=", units=NUMBER, ours=True, redefines=OF_PROXIMAL_STEP,
    assumes=(*DANE, StronglyConvex(), Smooth(), ORDERED, Condition("stepsize", "<=", lambda mu, L: 1 / (L - mu))),
    states=lambda rate: at_most(
        value(server(1)) - value(minimiser), rate * (value(server(0)) - value(minimiser))
    ),
)  # fmt: skip
def dane_round(*, stepsize: Real, mu: Real, L: Real) -> Any:
    """With η = 1 and s ≤ 1/(L − μ), a round contracts f(w) − f(w*) by 1/(1 + sμ)². (`L` is in the condition only.)

    s = 1/(L − μ) gives (1 − μ/L)², the rate of gradient descent with stepsize 1/L: without similarity a round of DANE
    is worth one gradient step. Clients that are the same quadratic of curvature μ attain it.
    """
    return 1 / (1 + stepsize * mu) ** 2


@PAPER.statement(
    "DANE, convex clients", ClaimType.UPPER, symbol="f(w^T)-f(w^*)", units=VALUE, ours=True,
    redefines=OF_PROXIMAL_STEP,
    assumes=(*DANE, Convex(), Smooth(), Condition("stepsize", "<", lambda L: 1 / L)),
    states=lambda bound: at_most(after(value(server(0))) - value(minimiser), bound, rounds="T"),
)  # fmt: skip
def dane_convex(*, stepsize: Real, L: Real, T: Real, D0: Real) -> Any:
    """Convex clients, η = 1, s < 1/L: f(w^T) − f(w*) ≤ (1/s + cL)‖w⁰ − w*‖²/(2(T + c)), c = s²L²/(1 − s²L²).

    The last model, not an average, and however different the clients are.
    """
    c = named("c", stepsize**2 * L**2 / (1 - stepsize**2 * L**2))
    return (1 / stepsize + c * L) * D0 / (2 * (T + c))
