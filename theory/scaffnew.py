r"""Mishchenko, Malinovsky, Stich, Richtárik: *ProxSkip* (ICML 2022), the method Scaffnew.

Main statements
---------------
* `one_step`: what one local step and one toss of the coin make of V in expectation, as an equation.
* `acceleration`: V contracts by max((1 − sμ)², 1 − p²), whatever the heterogeneity.

A step of Scaffnew from the clients' models x_k with control variates h_k, mean h_k = 0: x̂_k = x_k − s(∇F_k(x_k) − h_k);
with probability p all clients get x⁺ = mean x̂_k and h_k⁺ = h_k + (p/s)(x⁺ − x̂_k), else x_k⁺ = x̂_k. The claims have both
outcomes with their probabilities, from any x_k and h_k. The statements here are in the paper's setting.

Notation: `stepsize` s, `probability` p; `mu`, `L` curvatures of every client.
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most, equal
from fedconvex.claims.terms import Number, Vector, family, gradient, mean, minimiser, named, parameter, square
from fedconvex.statements.assumptions import Smooth, StepOf, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import NUMBER, SQUARED_LENGTH, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import CONVEXITY, SMOOTHNESS
from fedconvex.types import Real

s, p = parameter("stepsize"), parameter("probability")
MODELS = family("x")
CONTROLS = named("h_#", family("c") - mean(family("c")))  # any vectors of the clients with the mean 0
HATS = named(r"\hat x_#", MODELS - s * (gradient(MODELS) - CONTROLS))
AVERAGE = named(r"\bar x", mean(HATS))


def energy(models: Vector, controls: Vector) -> Number:
    """V = mean‖x_k − x*‖² + (s/p)² mean‖h_k − ∇F_k(x*)‖²."""
    return square(models - minimiser) + square(s / p * (controls - gradient(minimiser)))


BEFORE = energy(MODELS, CONTROLS)
LOCAL = energy(HATS, CONTROLS)
COMMUNICATED = energy(AVERAGE, CONTROLS + p / s * (AVERAGE - HATS))
EXPECTED = p * COMMUNICATED + (1 - p) * LOCAL
PULLED = MODELS - minimiser - s * (gradient(MODELS) - gradient(minimiser))

PAPER = Paper(
    name="scaffnew",
    short="Scaffnew",
    reference="Mishchenko, Malinovsky, Stich, Richtárik: ProxSkip: Yes! Local gradient steps (ICML 2022)",
    convention="f = (1/m) sum_k F_k, a plain mean",
    letters=Letters(minimiser="x^*", mean=r"\frac{1}{m}\sum_k"),
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "probability": Parameter("p", "probability of a communication", above=0, most=1, measured="probability"),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
        "stepped": Parameter(
            "A", "mean squared distance of x_k − s∇F_k(x_k) from x* − s∇F_k(x*)", SQUARED_LENGTH, least=0,
            means=square(PULLED),
        ),
        "controls": Parameter("C", "(s/p)² mean‖h_k − ∇F_k(x*)‖²", SQUARED_LENGTH, least=0,
                              means=square(s / p * (CONTROLS - gradient(minimiser)))),
    },
)  # fmt: skip


def contracts(rate: Number) -> Claim:
    """The expectation of V after the step is at most the rate times V."""
    return at_most(EXPECTED, rate * BEFORE)


@PAPER.statement(
    "One step", ClaimType.IDENTITY, symbol=r"\mathbb{E} V^+", relation="=", units=SQUARED_LENGTH,
    assumes=(StepOf("Scaffnew"),), states=lambda right: equal(EXPECTED, right),
)  # fmt: skip
def one_step(*, probability: Real, stepped: Real, controls: Real) -> Any:
    """The expectation of V after a step: A + (1 − p²)C, for any differentiable functions.

    A is what a gradient step makes of mean‖x_k − x*‖², C the part of V that the control variates have. So the coin pays
    for the control variates alone, and the gradients for the models.
    """
    return stepped + (1 - probability**2) * controls


@PAPER.statement(
    "Acceleration", ClaimType.TIGHT, symbol=r"\rho", relation="=", units=NUMBER, states=contracts,
    assumes=(
        StepOf("Scaffnew"), Smooth(), StronglyConvex(), Condition("mu", "<=", "L"),
        Condition("stepsize", "<=", lambda mu, L: 2 / (mu + L)),
    ),
)  # fmt: skip
def acceleration(*, stepsize: Real, probability: Real, mu: Real, L: Real) -> Any:
    """A step contracts V in expectation by ρ = max((1 − sμ)², 1 − p²), for any heterogeneity and number of clients.

    Use it to choose p: with s = 1/L and p of the order of 1/√κ, of the order of κ ln(1/ε) steps suffice, of which about
    √κ ln(1/ε) communicate. The factor is attained where the clients are one quadratic, or the models are right.
    (`L` occurs in the condition only.)
    """
    return maximum((1 - stepsize * mu) ** 2, 1 - probability**2)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
