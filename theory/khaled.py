r"""Khaled, Mishchenko, Richtárik: *Tighter theory for local SGD on identical and heterogeneous data* (AISTATS 2020).

Main statements
---------------
* `distance_after_round`: any number of local steps reaches the distance σ*/μ of the minimiser at a linear rate.
* `one_local_step`: a local step from any models of the clients moves their mean towards the minimiser, up to a drift.
* `two_steps`, `strongly_convex_rate`, `convex_rate`: rounds of two local steps, with an error of the order of s².

The paper's measure of heterogeneity is σ*² = mean‖∇F_k(x*)‖², the clients' gradients at the minimiser alone: no bound
at other points is assumed. The statements here are in that setting, without stochastic gradients.

Notation: `stepsize` s, `local_steps` e of the local gradient steps; `mu`, `L` curvatures of every client.
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import (
    after,
    family,
    gradient,
    local_step,
    mean,
    mean_of_rounds,
    minimiser,
    norm,
    server,
    square,
    value,
)
from fedconvex.statements.assumptions import Convex, Everyone, Runs, Smooth, StronglyConvex
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
from fedconvex.theory.notation import CONVEXITY, ROUNDS, SIGMA_STAR, SIGMA_STAR2, SMOOTHNESS
from fedconvex.types import Real

MODELS = family("y")  # any models of the clients
CENTRE = mean(MODELS)
STEPPED = local_step(MODELS)
START = server(0) - minimiser

PAPER = Paper(
    name="khaled",
    short="Local GD",
    reference="Khaled, Mishchenko, Richtárik: Tighter theory for local SGD on identical and heterogeneous data "
    "(AISTATS 2020)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    letters=Letters(server="x^@", minimiser="x^*", answers="y_k^@", local_step="G_k", expectation=""),
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "local_steps": Parameter("e", "local steps in a round", least=1, integer=True, measured="local_steps"),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
        "T": ROUNDS,
        "sigma_star": SIGMA_STAR,
        "sigma_star2": SIGMA_STAR2,
        "distance": Parameter(
            r"\|x^t-x^*\|", "distance to the minimiser before the round", LENGTH, least=0, means=norm(START)
        ),
        "D": Parameter(r"\|x^t-x^*\|^2", "squared distance before the round", SQUARED_LENGTH, least=0,
                       means=square(START)),
        "D0": Parameter(r"\|x^0-x^*\|^2", "squared distance of the start", SQUARED_LENGTH, least=0,
                        measured="squared_distance", means=square(START)),
        "gap": Parameter(r"(f(x^t)-f(x^*))", "suboptimality before the round", VALUE, least=0,
                         means=value(server(0)) - value(minimiser)),
        "mean_distance": Parameter(r"\|\bar y-x^*\|^2", "squared distance of the models' mean", SQUARED_LENGTH, least=0,
                                   means=square(CENTRE - minimiser)),
        "mean_gap": Parameter(r"(f(\bar y)-f(x^*))", "suboptimality of the models' mean", VALUE, least=0,
                              means=value(CENTRE) - value(minimiser)),
        "drift": Parameter(r"\sqrt V", "root mean square distance of the models from their mean", LENGTH, least=0,
                           means=norm(MODELS - CENTRE)),
        "V": Parameter("V", "mean squared distance of the models from their mean", SQUARED_LENGTH, least=0,
                       means=square(MODELS - CENTRE)),
        "spread": Parameter(r"\zeta", "root mean square of the clients' gradients at the models' mean, less their mean",
                            GRADIENT, least=0, means=norm(gradient(CENTRE) - mean(gradient(CENTRE)))),
    },
)  # fmt: skip
CLIENTS = (Everyone(), Smooth(), Convex())
STRONGLY = (Everyone(), Smooth(), StronglyConvex(), Condition("mu", "<=", "L"))
SHORT = Condition("stepsize", "<=", lambda L: 1 / (4 * L))
ANY_STEPS, TWO_STEPS = Runs("FedGD"), Runs("FedGD", local_steps=2)


@PAPER.statement(
    "Gradients", ClaimType.UPPER, symbol=r"\mathbb{E}_k\|\nabla F_k(x^t)\|^2", units=SQUARED_GRADIENT,
    assumes=(ANY_STEPS, *CLIENTS), states=square(gradient(server(0))),
)  # fmt: skip
def gradients(*, L: Real, gap: Real, sigma_star2: Real) -> Any:
    """The clients' mean squared gradient is at most 4L(f(x) − f(x*)) + 2σ*² at every point x.

    Use it in the place of a bound of the gradients' dissimilarity at all points: only that at the minimiser is needed.
    """
    return 4 * L * gap + 2 * sigma_star2


@PAPER.statement(
    "One local step", ClaimType.UPPER, symbol=r"\|\mathbb{E}_k G_k(y_k)-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(ANY_STEPS, *STRONGLY, Condition("stepsize", "<=", lambda L: 1 / (2 * L))),
    states=square(mean(STEPPED) - minimiser),
)  # fmt: skip
def one_local_step(*, stepsize: Real, mu: Real, L: Real, mean_distance: Real, mean_gap: Real, V: Real) -> Any:
    """A local step from any models y_k: (1 − sμ)‖ȳ − x*‖² − 2s(1 − 2sL)(f(ȳ) − f(x*)) + sL(1 + 2sL)V.

    V = mean‖y_k − ȳ‖². With all y_k alike it is a step of gradient descent on f.
    """
    s, sL = stepsize, stepsize * L
    return (1 - s * mu) * mean_distance - 2 * s * (1 - 2 * sL) * mean_gap + sL * (1 + 2 * sL) * V


@PAPER.statement(
    "One local step, convex", ClaimType.UPPER, symbol=r"\|\mathbb{E}_k G_k(y_k)-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(ANY_STEPS, *CLIENTS, Condition("stepsize", "<=", lambda L: 1 / (2 * L))),
    states=square(mean(STEPPED) - minimiser),
)  # fmt: skip
def one_local_step_convex(*, stepsize: Real, L: Real, mean_distance: Real, mean_gap: Real, V: Real) -> Any:
    """The same for convex clients: ‖ȳ − x*‖² − 2s(1 − 2sL)(f(ȳ) − f(x*)) + sL(1 + 2sL)V."""
    return one_local_step.calculator.formula(
        stepsize=stepsize, mu=0, L=L, mean_distance=mean_distance, mean_gap=mean_gap, V=V
    )


@PAPER.statement(
    "Drift", ClaimType.UPPER, symbol=r"(\mathbb{E}_k\|G_k(y_k)-\mathbb{E}_k G_k(y_k)\|^2)^{1/2}", units=LENGTH,
    assumes=(ANY_STEPS, *CLIENTS, Condition("stepsize", "<=", lambda L: 2 / L)),
    states=norm(STEPPED - mean(STEPPED)),
)  # fmt: skip
def drift_after(*, stepsize: Real, L: Real, drift: Real, spread: Real) -> Any:
    """A local step moves the models apart by at most sζ: √V⁺ ≤ √V + sζ, ζ² = mean‖∇F_k(ȳ) − ∇f(ȳ)‖².

    (`L` occurs in the condition only.)
    """
    return drift + stepsize * spread


@PAPER.statement(
    "Any number of local steps", ClaimType.UPPER, symbol=r"\|x^{t+1}-x^*\|", units=LENGTH,
    assumes=(
        ANY_STEPS, *STRONGLY, Condition("stepsize", "<=", lambda mu, L: 2 / (mu + L)),
        Condition("stepsize", "<", lambda mu: 1 / mu),
    ),
    states=norm(server(1) - minimiser),
)  # fmt: skip
def distance_after_round(
    *, stepsize: Real, local_steps: Real, mu: Real, L: Real, distance: Real, sigma_star: Real
) -> Any:
    """One round of e local steps: (1 − sμ)^e‖x − x*‖ + (1 − (1 − sμ)^e)σ*/μ.

    Where the clients share their minimiser (σ* = 0) there is no error, and e local steps are worth e rounds. (`L`
    occurs in the condition only.)
    """
    q = power(1 - stepsize * mu, local_steps)
    return q * distance + (1 - q) * sigma_star / mu


@PAPER.statement(
    "Two local steps", ClaimType.UPPER, symbol=r"\|x^{t+1}-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(TWO_STEPS, *STRONGLY, SHORT), states=square(server(1) - minimiser),
)  # fmt: skip
def two_steps(*, stepsize: Real, mu: Real, L: Real, D: Real, sigma_star2: Real) -> Any:
    """One round of two local steps: (1 − sμ)²‖x − x*‖² + 3s³Lσ*²."""
    return (1 - stepsize * mu) ** 2 * D + 3 * stepsize**3 * L * sigma_star2


@PAPER.statement(
    "Two local steps, T rounds", ClaimType.UPPER, symbol=r"\|x^T-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(TWO_STEPS, *STRONGLY, SHORT),
    states=lambda bound: at_most(after(square(START)), bound, rounds="T"),
)  # fmt: skip
def strongly_convex_rate(*, T: Real, stepsize: Real, mu: Real, L: Real, D0: Real, sigma_star2: Real) -> Any:
    """T rounds of two local steps: q^T‖x⁰ − x*‖² + (1 − q^T)/(1 − q)·3s³Lσ*², q = (1 − sμ)²."""
    q = (1 - stepsize * mu) ** 2
    rest = power(q, T)
    return rest * D0 + (1 - rest) / (1 - q) * 3 * stepsize**3 * L * sigma_star2


@PAPER.statement(
    "Two local steps, convex, one round", ClaimType.UPPER, symbol=r"\|x^{t+1}-x^*\|^2", units=SQUARED_LENGTH,
    assumes=(TWO_STEPS, *CLIENTS, SHORT), states=square(server(1) - minimiser),
)  # fmt: skip
def two_steps_convex(*, stepsize: Real, L: Real, D: Real, gap: Real, sigma_star2: Real) -> Any:
    """One round of two local steps: ‖x − x*‖² − (9/8)s(f(x) − f(x*)) + 3s³Lσ*²."""
    return D - 9 * stepsize * gap / 8 + 3 * stepsize**3 * L * sigma_star2


@PAPER.statement(
    "Two local steps, convex", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t<T} f(x^t)-f(x^*)", units=VALUE,
    assumes=(TWO_STEPS, *CLIENTS, SHORT),
    states=lambda bound: at_most(mean_of_rounds(value(server(0))) - value(minimiser), bound, rounds="T"),
)  # fmt: skip
def convex_rate(*, T: Real, stepsize: Real, L: Real, D0: Real, sigma_star2: Real) -> Any:
    """The mean suboptimality over T rounds of two local steps: 8‖x⁰ − x*‖²/(9sT) + (8/3)s²Lσ*²."""
    return 8 * D0 / (9 * stepsize * T) + 8 * stepsize**2 * L * sigma_star2 / 3


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
