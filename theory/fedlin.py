r"""Mitra, Jaafar, Pappas, Hassani: *Linear convergence in federated learning* (NeurIPS 2021), the method FedLin.

Main statements
---------------
* `two_steps`, `rate`: two local steps are two steps of gradient descent on f, however the clients differ.
* `three_steps`: three local steps are worth three rounds, with no error floor.

FedLin's clients correct their gradients by those at the server's point, so that the objective's minimiser is a fixed
point. The statements here are in that setting, without compression, with equally many local steps for all clients.

Notation: `stepsize` s; `mu`, `L` curvatures of every client.
"""

from typing import Any

from fedconvex.claims.claim import at_most, equal
from fedconvex.claims.terms import (
    after,
    gradient,
    mean,
    mean_of_rounds,
    minimiser,
    norm,
    parameter,
    server,
    square,
    value,
)
from fedconvex.statements.assumptions import Everyone, Runs, Smooth, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import power
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    GRADIENT,
    LENGTH,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    STEPSIZE,
    VALUE,
    Parameter,
)
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import CONVEXITY, ROUNDS, SMOOTHNESS
from fedconvex.types import Real

START = server(0) - minimiser
SLOPE = mean(gradient(server(0)))
STEPPED = server(0) - parameter("stepsize") * SLOPE  # one step of gradient descent on f

PAPER = Paper(
    name="fedlin",
    short="FedLin",
    reference="Mitra, Jaafar, Pappas, Hassani: Linear convergence in federated learning (NeurIPS 2021)",
    convention="f = (1/m) sum_k F_k, a plain mean",
    letters=Letters(server="x^@", minimiser="x^*", answers="y_k^@", mean=r"\frac{1}{m}\sum_k", expectation=""),
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
        "T": ROUNDS,
        "distance": Parameter(
            r"\|x^t-x^*\|", "distance to the minimiser before the round", LENGTH, least=0, means=norm(START)
        ),
        "D": Parameter(r"\|x^t-x^*\|^2", "squared distance before the round", SQUARED_LENGTH, least=0,
                       means=square(START)),
        "first_distance": Parameter(r"\|x^0-x^*\|", "distance of the start", LENGTH, least=0, measured="distance",
                                    means=norm(START)),
        "delta": Parameter(r"\Delta", "initial suboptimality f(x⁰) − f_*", VALUE, least=0, measured="initial_gap"),
        "value": Parameter("f(x^t)", "the objective before the round", VALUE, means=value(server(0))),
        "slope": Parameter(r"\|\nabla f(x^t)\|^2", "the objective's squared gradient before the round",
                           SQUARED_GRADIENT, least=0, means=square(SLOPE)),
        "next_slope": Parameter(
            r"\|\nabla f(x^t-s\nabla f(x^t))\|^2", "the same after a step of gradient descent", SQUARED_GRADIENT,
            least=0, means=square(mean(gradient(STEPPED))),
        ),
        "first": Parameter(r"\nabla f(x^t)", "the objective's gradient before the round", GRADIENT, means=SLOPE),
        "second": Parameter(r"\nabla f(x^t-s\nabla f(x^t))", "the same after a step of gradient descent", GRADIENT,
                            means=mean(gradient(STEPPED))),
    },
)  # fmt: skip
TWO, THREE = ((Runs("FedLin", local_steps=e), Everyone(), Smooth()) for e in (2, 3))
STRONGLY = (StronglyConvex(), Condition("mu", "<=", "L"))
SHORT = Condition("stepsize", "<=", lambda L: 1 / (4 * L))


@PAPER.statement(
    "Two local steps", ClaimType.IDENTITY, symbol=r"x^t-x^{t+1}", relation="=", units=LENGTH, assumes=TWO,
    states=lambda moved: equal(server(0) - server(1), moved),
)  # fmt: skip
def two_steps(*, stepsize: Real, first: Real, second: Real) -> Any:
    """A round of two local steps is two steps of gradient descent on f: s∇f(x) + s∇f(x − s∇f(x)).

    The first corrected gradient is ∇f(x) for all clients; the mean of the second ones is ∇f at their common point.
    """
    return stepsize * first + stepsize * second


@PAPER.statement(
    "Two local steps, distance", ClaimType.TIGHT, symbol=r"\|x^{t+1}-x^*\|", units=LENGTH,
    assumes=(*TWO, *STRONGLY, Condition("stepsize", "<=", lambda mu, L: 2 / (mu + L))),
    states=norm(server(1) - minimiser),
)  # fmt: skip
def two_steps_distance(*, stepsize: Real, mu: Real, L: Real, distance: Real) -> Any:
    """A round of two local steps: (1 − sμ)²‖x − x*‖, for any heterogeneity; attained by quadratics.

    (`L` occurs in the condition only.)
    """
    return (1 - stepsize * mu) ** 2 * distance


@PAPER.statement(
    "Two local steps, value", ClaimType.UPPER, symbol="f(x^{t+1})", units=VALUE,
    assumes=(*TWO, Condition("stepsize", "<=", lambda L: 2 / L)), states=value(server(1)),
)  # fmt: skip
def two_steps_value(*, stepsize: Real, L: Real, value: Real, slope: Real, next_slope: Real) -> Any:
    """A round of two local steps on clients that need not be convex: f(x) − s(1 − sL/2)(‖∇f(x)‖² + ‖∇f(x')‖²).

    x' = x − s∇f(x).
    """
    return value - stepsize * (1 - stepsize * L / 2) * (slope + next_slope)


@PAPER.statement(
    "Three local steps", ClaimType.UPPER, symbol=r"\|x^{t+1}-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(*THREE, *STRONGLY, SHORT), states=square(server(1) - minimiser),
)  # fmt: skip
def three_steps(*, stepsize: Real, mu: Real, L: Real, D: Real) -> Any:
    """A round of three local steps: (1 − sμ)³‖x − x*‖², for any heterogeneity. (`L` occurs in the condition only.)"""
    return (1 - stepsize * mu) ** 3 * D


@PAPER.statement(
    "Two local steps, T rounds", ClaimType.TIGHT, symbol=r"\|x^T-x^*\|", units=LENGTH,
    assumes=(*TWO, *STRONGLY, Condition("stepsize", "<=", lambda mu, L: 2 / (mu + L))),
    states=lambda bound: at_most(after(norm(START)), bound, rounds="T"),
)  # fmt: skip
def rate(*, T: Real, stepsize: Real, mu: Real, L: Real, first_distance: Real) -> Any:
    """T rounds of two local steps: (1 − sμ)^{2T}‖x⁰ − x*‖; attained by quadratics.

    (`L` occurs in the condition only.)
    """
    return power((1 - stepsize * mu) ** 2, T) * first_distance


@PAPER.statement(
    "Two local steps, nonconvex", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t<T}\|\nabla f(x^t)\|^2",
    units=SQUARED_GRADIENT, assumes=(*TWO, Condition("stepsize", "<", lambda L: 2 / L)),
    states=lambda bound: at_most(mean_of_rounds(square(SLOPE)), bound, rounds="T"),
)  # fmt: skip
def nonconvex_rate(*, T: Real, stepsize: Real, L: Real, delta: Real) -> Any:
    """The mean squared gradient over T rounds on clients that need not be convex: Δ/(s(1 − sL/2)T), with no error."""
    return delta / (stepsize * (1 - stepsize * L / 2) * T)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
