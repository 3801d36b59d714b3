"""FedDyn with everyone: its linear rate for any α, which is tight. Not in the paper.

With all devices, FedDyn is Douglas and Rachford's splitting of the L_k and of the condition that all models are equal,
on the points θ + ∇L_k(θ_k)/α.
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Number, Vector, gradient, memory, minimiser, parameter, server, square
from fedconvex.statements.assumptions import Everyone, ExactSolutions, Runs, Smooth, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum
from fedconvex.statements.notation import NUMBER
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn.notation import PAPER
from fedconvex.types import Real


def from_rest(time: int) -> Vector:
    """θ + ∇L_k(θ_k)/α − θ_* − ∇L_k(θ_*)/α, which vanishes at the fixed point alone."""
    return server(time) - minimiser + (memory("gradient", time) - gradient(minimiser)) / parameter("alpha")


def contracts(rate: Number) -> Claim:
    """The mean square distance of the devices' points from those at rest."""
    return at_most(square(from_rest(1)), rate * square(from_rest(0)))


@PAPER.statement(
    "Linear rate", ClaimType.UPPER, symbol=r"\rho", relation="=", units=NUMBER, ours=True, states=contracts,
    assumes=(
        Runs("FedDyn"), ExactSolutions(), Everyone(), StronglyConvex(), Smooth(), Condition("mu", "<", "L"),
    ),
)  # fmt: skip
def linear_rate(*, alpha: Real, mu: Real, L: Real) -> Any:
    """With everyone, a round contracts V = mean‖θ + g_k/α − θ_* − ∇L_k(θ_*)/α‖² by ρ = (q/(1 + q))², q = max(α/μ, L/α).

    g_k is device k's stored gradient. Use it to choose α: any α > 0 contracts; α = √(μL) is best, ρ = (√κ/(1 + √κ))².
    Theorem 3 needs α ≥ 30L. Equal quadratics of curvature μ or L attain it. It is the rate of Douglas and Rachford's
    splitting that Giselsson and Boyd (2017) give for their parameters, here for the method as it runs.
    """
    q = maximum(alpha / mu, L / alpha)
    return (q / (1 + q)) ** 2
