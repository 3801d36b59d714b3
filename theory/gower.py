r"""Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtárik: *SGD: general analysis and improved rates* (ICML 2019).

Main statements
---------------
* `one_round_iid`, `rate_iid`, `convex_rate_iid`: K clients drawn independently, device k with probability p_k.
* `one_round_uniform`, `rate_uniform`, `convex_rate_uniform`: P of m clients, every set equally likely.
* `one_round_nonconvex`, `nonconvex_rate`: the same for clients that need not be convex, with a bounded variance.

The paper analyses SGD under arbitrary sampling by two constants: the expected smoothness, and the gradients' variance
at the minimiser. Here a sample is the clients that take part in a round of one gradient step: the statements are in
that setting, for two of its samplings. The noise is that of the draw alone; with everyone drawn there is none.

Notation: `stepsize` s; `mu`, `L` curvatures of every client; c the variance of the average over a draw, relative to
that of one client: 1/K, or (m − P)/(P(m − 1)). `L` occurs in the conditions on the stepsize only.
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import after, expected, gradient, mean, mean_of_rounds, minimiser, server, square, value
from fedconvex.statements.assumptions import (
    BoundedVariance,
    BoundedVarianceEverywhere,
    Convex,
    Runs,
    SampledIID,
    SampledUniformly,
    Smooth,
    StronglyConvex,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import power
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import SQUARED_GRADIENT, SQUARED_LENGTH, STEPSIZE, VALUE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import CONVEXITY, ROUNDS, SIGMA_STAR2, SMOOTHNESS
from fedconvex.types import Real

START = square(server(0) - minimiser)
SLOPE = square(mean(gradient(server(0))))

PAPER = Paper(
    name="gower",
    short="SGD with any sampling",
    reference="Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtárik: SGD: General analysis and improved rates "
    "(ICML 2019)",
    convention="f = sum_k p_k F_k, a mean with weights p_k; for uniform draws a plain mean",
    letters=Letters(server="x^@", minimiser="x^*", expectation="E"),
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize", STEPSIZE, above=0, measured="stepsize"),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
        "K": Parameter("K", "clients drawn in a round", least=1, integer=True, measured="num_drawn"),
        "num_clients": Parameter("m", "clients", least=2, integer=True, measured="num_clients"),
        "num_active": Parameter("P", "clients that take part in a round", least=1, integer=True,
                                measured="num_active"),
        "T": ROUNDS,
        "sigma_star2": SIGMA_STAR2,
        "sigma2": Parameter(r"\sigma^2", "variance of the clients' gradients", SQUARED_GRADIENT, least=0,
                            measured="gradient_variance"),
        "delta": Parameter(r"\Delta", "initial suboptimality f(x⁰) − f_*", VALUE, least=0, measured="initial_gap"),
        "value": Parameter("f(x^t)", "the objective before the round", VALUE, measured="value", means=value(server(0))),
        "slope": Parameter(r"\|\nabla f(x^t)\|^2", "the objective's squared gradient before the round",
                           SQUARED_GRADIENT, least=0, measured="square", means=SLOPE),
        "D": Parameter(r"\|x^t-x^*\|^2", "squared distance before the round", SQUARED_LENGTH, least=0, means=START),
        "D0": Parameter(r"\|x^0-x^*\|^2", "squared distance of the start", SQUARED_LENGTH, least=0,
                        measured="squared_distance", means=START),
    },
)  # fmt: skip


def variance(num_clients: Real, num_active: Real) -> Any:
    """c of P of m clients: (m − P)/(P(m − 1))."""
    return (num_clients - num_active) / (num_active * (num_clients - 1))


IID = (Runs("FedGD", local_steps=1), SampledIID(), Smooth())
UNIFORM = (Runs("FedGD", local_steps=1), SampledUniformly(), Condition("num_active", "<=", "num_clients"), Smooth())
STRONGLY = (StronglyConvex(), Condition("mu", "<=", "L"))
SHORT_IID = Condition("stepsize", "<=", lambda L, K: 1 / (L * (1 + 1 / K)))
HALF_IID = Condition("stepsize", "<=", lambda L, K: 1 / (2 * L * (1 + 1 / K)))
# c ≤ 1
SHORT_UNIFORM = Condition("stepsize", "<=", lambda L: 1 / (2 * L))
HALF_UNIFORM = Condition("stepsize", "<=", lambda L: 1 / (4 * L))
NEXT = expected(square(server(1) - minimiser))


def reaches(bound: Any) -> Claim:
    """E‖x^T − x*‖² ≤ bound."""
    return at_most(after(START), bound, rounds="T")


def is_suboptimal(bound: Any) -> Claim:
    """The mean of E f(x^t) − f(x*) over T rounds is ≤ bound."""
    return at_most(mean_of_rounds(value(server(0))) - value(minimiser), bound, rounds="T")


def one_round(s: Any, mu: Real, D: Real, noise: Any) -> Any:
    """(1 − sμ)D + 2s²·noise."""
    return (1 - s * mu) * D + 2 * s**2 * noise


def rate(T: Real, s: Any, mu: Real, D0: Real, noise: Any) -> Any:
    """(1 − sμ)^T D₀ + (1 − (1 − sμ)^T)·2s·noise/μ."""
    rest = power(1 - s * mu, T)
    return rest * D0 + (1 - rest) * 2 * s * noise / mu


def convex_rate(T: Real, s: Any, D0: Real, noise: Any) -> Any:
    """D₀/(sT) + 2s·noise."""
    return D0 / (s * T) + 2 * s * noise


@PAPER.statement(
    "One round, independent draws", ClaimType.UPPER, symbol=r"E\|x^{t+1}-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(*IID, *STRONGLY, SHORT_IID), states=NEXT,
)  # fmt: skip
def one_round_iid(*, stepsize: Real, mu: Real, L: Real, K: Real, D: Real, sigma_star2: Real) -> Any:
    """One round with K independent draws: (1 − sμ)‖x − x*‖² + 2s²σ*²/K, for s ≤ 1/(L(1 + 1/K))."""
    return one_round(stepsize, mu, D, sigma_star2 / K)


@PAPER.statement(
    "T rounds, independent draws", ClaimType.UPPER, symbol=r"E\|x^T-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(*IID, *STRONGLY, SHORT_IID), states=reaches,
)  # fmt: skip
def rate_iid(*, T: Real, stepsize: Real, mu: Real, L: Real, K: Real, D0: Real, sigma_star2: Real) -> Any:
    """T rounds with K independent draws: q^T‖x⁰ − x*‖² + (1 − q^T)·2sσ*²/(Kμ), q = 1 − sμ."""
    return rate(T, stepsize, mu, D0, sigma_star2 / K)


@PAPER.statement(
    "Convex, independent draws", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t<T}E f(x^t)-f(x^*)", units=VALUE,
    assumes=(*IID, Convex(), HALF_IID), states=is_suboptimal,
)  # fmt: skip
def convex_rate_iid(*, T: Real, stepsize: Real, L: Real, K: Real, D0: Real, sigma_star2: Real) -> Any:
    """The mean suboptimality over T rounds with K independent draws: ‖x⁰ − x*‖²/(sT) + 2sσ*²/K."""
    return convex_rate(T, stepsize, D0, sigma_star2 / K)


@PAPER.statement(
    "One round, P of m clients", ClaimType.UPPER, symbol=r"E\|x^{t+1}-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(*UNIFORM, *STRONGLY, SHORT_UNIFORM), states=NEXT,
)  # fmt: skip
def one_round_uniform(
    *, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real, D: Real, sigma_star2: Real
) -> Any:
    """One round with P of m clients: (1 − sμ)‖x − x*‖² + 2s²cσ*², c = (m − P)/(P(m − 1)), for s ≤ 1/(2L)."""
    return one_round(stepsize, mu, D, variance(num_clients, num_active) * sigma_star2)


@PAPER.statement(
    "T rounds, P of m clients", ClaimType.UPPER, symbol=r"E\|x^T-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(*UNIFORM, *STRONGLY, SHORT_UNIFORM), states=reaches,
)  # fmt: skip
def rate_uniform(
    *, T: Real, stepsize: Real, mu: Real, L: Real, num_clients: Real, num_active: Real, D0: Real, sigma_star2: Real
) -> Any:
    """T rounds with P of m clients: q^T‖x⁰ − x*‖² + (1 − q^T)·2scσ*²/μ, q = 1 − sμ, c = (m − P)/(P(m − 1))."""
    return rate(T, stepsize, mu, D0, variance(num_clients, num_active) * sigma_star2)


@PAPER.statement(
    "Convex, P of m clients", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t<T}E f(x^t)-f(x^*)", units=VALUE,
    assumes=(*UNIFORM, Convex(), HALF_UNIFORM), states=is_suboptimal,
)  # fmt: skip
def convex_rate_uniform(
    *, T: Real, stepsize: Real, L: Real, num_clients: Real, num_active: Real, D0: Real, sigma_star2: Real
) -> Any:
    """The mean suboptimality over T rounds with P of m clients: ‖x⁰ − x*‖²/(sT) + 2scσ*², c = (m − P)/(P(m − 1))."""
    return convex_rate(T, stepsize, D0, variance(num_clients, num_active) * sigma_star2)


@PAPER.statement(
    "One round, nonconvex", ClaimType.UPPER, symbol="E f(x^{t+1})", units=VALUE,
    assumes=(*UNIFORM, BoundedVariance()), states=expected(value(server(1))),
)  # fmt: skip
def one_round_nonconvex(
    *, stepsize: Real, L: Real, num_clients: Real, num_active: Real, value: Real, slope: Real, sigma2: Real
) -> Any:
    """One round with P of m smooth clients: f(x) − s(1 − sL/2)‖∇f(x)‖² + (s²L/2)cσ², c = (m − P)/(P(m − 1)).

    σ² is the variance of the clients' gradients at x. Every stepsize is allowed; there is a decrease for s < 2/L.
    """
    noise = variance(num_clients, num_active) * sigma2
    return value - stepsize * (1 - stepsize * L / 2) * slope + stepsize**2 * L / 2 * noise


@PAPER.statement(
    "T rounds, nonconvex", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t<T}E\|\nabla f(x^t)\|^2", units=SQUARED_GRADIENT,
    assumes=(*UNIFORM, BoundedVarianceEverywhere(), Condition("stepsize", "<=", lambda L: 1 / L)),
    states=lambda bound: at_most(mean_of_rounds(SLOPE), bound, rounds="T"),
)  # fmt: skip
def nonconvex_rate(
    *, T: Real, stepsize: Real, L: Real, num_clients: Real, num_active: Real, delta: Real, sigma2: Real
) -> Any:
    """The mean squared gradient over T rounds with P of m smooth clients: 2Δ/(sT) + sLcσ², for s ≤ 1/L."""
    return 2 * delta / (stepsize * T) + stepsize * L * variance(num_clients, num_active) * sigma2


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
