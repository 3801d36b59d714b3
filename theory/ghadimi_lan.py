"""Ghadimi and Lan: *Stochastic first- and zeroth-order methods for nonconvex stochastic programming* (2013).

Main statements
---------------
* `nonconvex_bound`, `convex_bound` (Corollary 2.2): stochastic gradient descent stopped at a random step, with
  stepsizes min(1/L, D/(σ√N)).

Use it as the baseline of FedProx's Remark 8, which compares its number of rounds with that of SGD. The claims are
stated for FedGD with one local step and K drawn clients, whose average is a stochastic gradient with a variance of at
most that of the clients' gradients, and for the mean over all steps, which is what a random step expects. They hold
for all stepsizes between 1/(L + σ√N/D) and that minimum.

Notation: `L` smoothness; `sigma2` bound on the variance σ² of one stochastic gradient; `N` steps; `D` a free length.
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import gradient, mean, mean_of_rounds, minimiser, server, square, value
from fedconvex.statements.assumptions import BoundedVarianceEverywhere, Convex, Runs, SampledIID, SmoothObjective
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import sqrt
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    CURVATURE,
    LENGTH,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    STEPSIZE,
    VALUE,
    Parameter,
)
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.types import Real

PAPER = Paper(
    name="ghadimi_lan",
    short="Ghadimi & Lan",
    reference="Ghadimi, Lan: Stochastic first- and zeroth-order methods for nonconvex stochastic programming (2013)",
    convention="one function f, unbiased gradients with variance at most sigma2",
    letters=Letters(start=1, server="x_@", minimiser="x_*", expectation="E"),
    notation={
        "stepsize": Parameter(r"\gamma", "stepsize", STEPSIZE, above=0),
        "K": Parameter("K", "clients drawn for a step", least=1, integer=True),
        "L": Parameter("L", "smoothness", CURVATURE, above=0),
        "N": Parameter("N", "steps", least=1, integer=True),
        "sigma2": Parameter(r"\sigma^2", "variance of a stochastic gradient", SQUARED_GRADIENT, least=0),
        "delta": Parameter(r"\Delta", "initial suboptimality f(x₁) − f_*", VALUE, least=0, measured="initial_gap"),
        "D0": Parameter("D_1", "‖x₁ − x_*‖²", SQUARED_LENGTH, least=0, means=square(server(0) - minimiser)),
        "D": Parameter(r"\tilde D", "the length that sets the stepsize", LENGTH, above=0),
    },
)


def _bound(square: Any, N: Real, L: Real, sigma2: Real, D: Real) -> Any:
    """L·square/N + (D + square/D)·σ/√N."""
    return L * square / N + (D + square / D) * sqrt(sigma2 / N)


STOCHASTIC_STEPS = (
    Runs("FedGD", local_steps=1), SampledIID(), SmoothObjective(), BoundedVarianceEverywhere(),
    Condition("L", "<=", lambda stepsize: 1 / stepsize),
    Condition("L", ">=", lambda stepsize, sigma2, N, D: 1 / stepsize - sqrt(sigma2 * N) / D),
    Condition("D", ">=", lambda stepsize, sigma2, N: stepsize * sqrt(sigma2 * N)),
)  # fmt: skip


@PAPER.statement(
    "Corollary 2.2 (nonconvex)", ClaimType.UPPER, symbol=r"E\|\nabla f(x_R)\|^2", units=SQUARED_GRADIENT,
    assumes=STOCHASTIC_STEPS,
    states=lambda bound: at_most(mean_of_rounds(square(mean(gradient(server(0))))), bound, rounds="N"),
)  # fmt: skip
def nonconvex_bound(*, N: Real, L: Real, delta: Real, sigma2: Real, D: Real) -> Any:
    """The squared gradient at a random step: L[L D_f²/N + (D + D_f²/D)σ/√N] with D_f² = 2(f(x₁) − f_*)/L."""
    return L * _bound(2 * delta / L, N, L, sigma2, D)


@PAPER.statement(
    "Corollary 2.2 (convex)", ClaimType.UPPER, symbol="E f(x_R)-f_*", units=VALUE,
    assumes=(*STOCHASTIC_STEPS, Convex()),
    states=lambda bound: at_most(mean_of_rounds(value(server(0))) - value(minimiser), bound, rounds="N"),
)  # fmt: skip
def convex_bound(*, N: Real, L: Real, D0: Real, sigma2: Real, D: Real) -> Any:
    """The gap at a random step: L D_X²/N + (D + D_X²/D)σ/√N with D_X² = ‖x₁ − x_*‖²."""
    return _bound(D0, N, L, sigma2, D)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
