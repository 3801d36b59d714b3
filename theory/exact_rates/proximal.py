"""FedProx with exact local solutions, proximal weight 1/s: where it ends, and how fast it comes there."""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import (
    after,
    answers,
    expected,
    mean,
    mean_of_rounds,
    minimiser,
    norm,
    server,
    square,
    value,
)
from fedconvex.statements.assumptions import (
    AtFixedPoint,
    Convex,
    Everyone,
    ExactSolutions,
    ProximalStepsize,
    Runs,
    SampledUniformly,
    Smooth,
    StronglyConvex,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import named, power, sqrt
from fedconvex.statements.notation import LENGTH, SQUARED_LENGTH, STEPSIZE, VALUE, Parameter
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.exact_rates.notation import ACTIVE, ORDERED, PAPER, spread_of_the_draw
from fedconvex.types import Real

FEDPROX = (Runs("FedProx"), ProximalStepsize(), ExactSolutions())
STRONGLY = (StronglyConvex(), Smooth(), ORDERED)
OF_PROXIMAL_STEP = {
    "stepsize": Parameter("s", "stepsize of the proximal steps: their weight is 1/s", STEPSIZE, above=0)
}
ERROR = r"\|w^{t+1}-w^*\|^2"


@PAPER.statement(
    "FedProx error floor", ClaimType.TIGHT, ours=True, symbol=r"\|w-w^*\|", units=LENGTH, redefines=OF_PROXIMAL_STEP,
    assumes=(*FEDPROX, Everyone(), *STRONGLY, AtFixedPoint()), states=norm(server(0) - minimiser),
)  # fmt: skip
def fedprox_floor(*, stepsize: Real, mu: Real, L: Real, zeta: Real) -> Any:
    """FedProx's fixed point is at most s(L − μ)ζ_*/(2√(μL(1 + sμ)(1 + sL))) away from the minimiser.

    Use it to choose the proximal weight 1/s for an accuracy. ζ_*² = mean‖∇F_k(w*)‖². Clients of curvatures μ and L in
    the ratio L(1 + sμ) to μ(1 + sL) attain it.
    """
    both = (1 + stepsize * mu) * (1 + stepsize * L)
    return stepsize * (L - mu) * zeta / (2 * sqrt(mu * L * both))


def _price(stepsize: Real, mu: Real, L: Real) -> Any:
    """What heterogeneity adds in a round, per ζ_*²."""
    return stepsize**3 * (L - mu) / (2 * (1 + stepsize * mu) ** 2 * (1 + stepsize * L))


@PAPER.statement(
    "FedProx round", ClaimType.TIGHT, ours=True, symbol=ERROR, units=SQUARED_LENGTH, redefines=OF_PROXIMAL_STEP,
    assumes=(*FEDPROX, Everyone(), *STRONGLY), states=square(server(1) - minimiser),
)  # fmt: skip
def fedprox_round(*, stepsize: Real, mu: Real, L: Real, D: Real, zeta2: Real) -> Any:
    """One round: ‖w⁺ − w*‖² ≤ ‖w − w*‖²/(1 + sμ)² + s³(L − μ)ζ_*²/(2(1 + sμ)²(1 + sL)).

    Neither number can be smaller for clients of any number: the first is attained, the second approached as one of ever
    more clients has curvature L and the others μ. Where local minimisers agree, ζ_* = 0 and FedProx converges.
    """
    return D / (1 + stepsize * mu) ** 2 + _price(stepsize, mu, L) * zeta2


@PAPER.statement(
    "FedProx run", ClaimType.UPPER, ours=True, symbol=r"\|w^T-w^*\|^2", units=SQUARED_LENGTH,
    redefines=OF_PROXIMAL_STEP, assumes=(*FEDPROX, Everyone(), *STRONGLY),
    states=lambda bound: at_most(after(square(server(0) - minimiser)), bound, rounds="T"),
)  # fmt: skip
def fedprox_run(*, stepsize: Real, mu: Real, L: Real, T: Real, D0: Real, zeta2: Real) -> Any:
    """After T rounds: q^T‖w⁰ − w*‖² + (L − μ)s²ζ_*²(1 − q^T)/(2μ(2 + sμ)(1 + sL)), q = 1/(1 + sμ)².

    As T grows it becomes 2L(1 + sμ)/((L − μ)(2 + sμ)) times the square of `fedprox_floor`: nearly once for sμ small and
    κ large.
    """
    shrunk = 1 / power(1 + stepsize * mu * (2 + stepsize * mu), T)  # q^T
    floor = stepsize**2 * (L - mu) / (2 * mu * (2 + stepsize * mu) * (1 + stepsize * L))
    return shrunk * D0 + floor * (1 - shrunk) * zeta2


@PAPER.statement(
    "FedProx round of P clients", ClaimType.TIGHT, ours=True, symbol=r"\mathbb{E}" + ERROR, units=SQUARED_LENGTH,
    redefines=OF_PROXIMAL_STEP, assumes=(*FEDPROX, SampledUniformly(), ACTIVE, *STRONGLY),
    states=expected(square(server(1) - minimiser)),
)  # fmt: skip
def fedprox_drawn_round(
    *, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real, D: Real, zeta2: Real
) -> Any:
    """One round of P of m clients: E‖w⁺ − w*‖² ≤ (‖w − w*‖² + s²bζ_*²)/(1 + sμ)²,
    b = (s(L − μ) + 2σ(1 + sμ))/(2(1 + sL) − σs(L − μ)), σ = (m − P)/(P(m − 1)).

    With P = 1 it is the known bound of stochastic proximal steps, b = 1; with everyone it is `fedprox_round`.
    """
    sigma = spread_of_the_draw(num_clients=num_clients, num_active=num_active)
    apart, least, most = stepsize * (L - mu), 1 + stepsize * mu, 1 + stepsize * L
    price = (apart + 2 * sigma * least) / (2 * most - sigma * apart)
    return (D + stepsize**2 * named("b", price) * zeta2) / least**2


@PAPER.statement(
    "FedProx, convex clients", ClaimType.UPPER, ours=True, symbol=r"\frac{1}{T}\sum_{t=1}^T f(w^t)-f(w^*)", units=VALUE,
    redefines=OF_PROXIMAL_STEP,
    assumes=(*FEDPROX, Everyone(), Convex(), Smooth(), Condition("stepsize", "<", lambda L: 1 / L)),
    states=lambda bound: at_most(mean_of_rounds(value(mean(answers))) - value(minimiser), bound, rounds="T"),
)  # fmt: skip
def fedprox_convex(*, stepsize: Real, L: Real, T: Real, D0: Real, zeta2: Real) -> Any:
    """Convex clients and s < 1/L: the mean of f(w¹), …, f(w^T) exceeds f(w*) by at most
    ‖w⁰ − w*‖²/(2sT) + s²Lζ_*²/(2(1 − s²L²)).

    The error floor is of the order of s². Without heterogeneity the bound is approached from ever further away.
    """
    return D0 / (2 * stepsize * T) + stepsize**2 * L * zeta2 / (2 * (1 - stepsize**2 * L**2))
