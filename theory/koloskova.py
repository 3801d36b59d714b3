r"""Koloskova, Loizou, Boreiri, Jaggi, Stich: *A unified theory of decentralized SGD* (ICML 2020), local GD among it.

Main statements
---------------
* `one_round`: two local steps decrease any smooth objective, up to an error of the order of s³.
* `rate`: the mean squared gradient over T rounds, where the clients' gradients have a bounded variance.
* `dissimilar_round`: the decrease without an error, where their dissimilarity is bounded.

The paper's clients need not be convex, and their gradients differ by a bounded variance. The statements here are in
that setting, for local steps with exact gradients, after which all clients' models are averaged.

Notation: `stepsize` s of the local gradient steps; `L` smoothness of every client.
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import gradient, mean, mean_of_rounds, server, square, value
from fedconvex.statements.assumptions import (
    BoundedVariance,
    BoundedVarianceEverywhere,
    Dissimilarity,
    Everyone,
    Runs,
    Smooth,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import SQUARED_GRADIENT, STEPSIZE, VALUE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import ROUNDS, SMOOTHNESS
from fedconvex.types import Real

SLOPE = square(mean(gradient(server(0))))

PAPER = Paper(
    name="koloskova",
    short="Nonconvex local GD",
    reference="Koloskova, Loizou, Boreiri, Jaggi, Stich: A unified theory of decentralized SGD (ICML 2020)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    letters=Letters(server="x^@", answers="y_k^@", expectation=""),
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "L": SMOOTHNESS,
        "B": Parameter("B", "dissimilarity of the clients' gradients", least=1, measured="dissimilarity"),
        "sigma2": Parameter(r"\zeta^2", "variance of the clients' gradients", SQUARED_GRADIENT, least=0,
                            measured="gradient_variance"),
        "T": ROUNDS,
        "delta": Parameter(r"\Delta", "initial suboptimality f(x⁰) − f_*", VALUE, least=0, measured="initial_gap"),
        "value": Parameter("f(x^t)", "the objective before the round", VALUE, measured="value", means=value(server(0))),
        "slope": Parameter(r"\|\nabla f(x^t)\|^2", "the objective's squared gradient before the round",
                           SQUARED_GRADIENT, least=0, measured="square", means=SLOPE),
    },
)  # fmt: skip
TWO_STEPS = (Runs("FedGD", local_steps=2), Everyone(), Smooth(), Condition("stepsize", "<=", lambda L: 1 / (2 * L)))


@PAPER.statement(
    "One round", ClaimType.UPPER, symbol="f(x^{t+1})", units=VALUE, assumes=(*TWO_STEPS, BoundedVariance()),
    states=value(server(1)),
)  # fmt: skip
def one_round(*, stepsize: Real, L: Real, value: Real, slope: Real, sigma2: Real) -> Any:
    """A round of two local steps: f(x) − s(1 − s²L²/4)‖∇f(x)‖² + s³L²ζ²/4, for any smooth clients."""
    small = stepsize**2 * L**2 / 4
    return value - stepsize * (1 - small) * slope + stepsize * small * sigma2


@PAPER.statement(
    "One round, dissimilar clients", ClaimType.UPPER, symbol="f(x^{t+1})", units=VALUE,
    assumes=(*TWO_STEPS, Dissimilarity()), states=value(server(1)),
)  # fmt: skip
def dissimilar_round(*, stepsize: Real, L: Real, B: Real, value: Real, slope: Real) -> Any:
    """A round of two local steps: f(x) − s(1 − s²L²B²/4)‖∇f(x)‖², with no error where sLB < 2."""
    return value - stepsize * (1 - stepsize**2 * L**2 * B**2 / 4) * slope


@PAPER.statement(
    "T rounds", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t<T}\|\nabla f(x^t)\|^2", units=SQUARED_GRADIENT,
    assumes=(*TWO_STEPS, BoundedVarianceEverywhere()),
    states=lambda bound: at_most(mean_of_rounds(SLOPE), bound, rounds="T"),
)  # fmt: skip
def rate(*, T: Real, stepsize: Real, L: Real, delta: Real, sigma2: Real) -> Any:
    """The mean squared gradient over T rounds of two local steps: (Δ/(sT) + s²L²ζ²/4)/(1 − s²L²/4)."""
    small = stepsize**2 * L**2 / 4
    return (delta / (stepsize * T) + small * sigma2) / (1 - small)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
