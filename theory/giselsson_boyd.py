"""Giselsson and Boyd: *Linear convergence and metric selection for Douglas-Rachford splitting and ADMM* (2017).

Main statements
---------------
* `reflection_contraction`: the reflected proximal step 2prox_{sf} − I, hence a round of Peaceman–Rachford splitting
  against a subspace, which FedSplit is.
* `averaged_contraction`: with relaxation a (Theorem 2; a = 1/2 is Douglas–Rachford splitting).

Use it to see where FedSplit's rate comes from, and what relaxation would change. The claims are stated for FedSplit,
where g keeps the clients' vectors equal: z_k are the vectors that are reflected, z* is the fixed point.

Notation: `mu` strong convexity (their σ), `L` smoothness (their β), `stepsize` s (their γ), `relaxation` (their α).
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import gradient, memory, minimiser, named, norm, parameter
from fedconvex.statements.assumptions import Everyone, ExactSolutions, Runs, Smooth, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum, sqrt
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import CURVATURE, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.types import Real

PAPER = Paper(
    name="giselsson_boyd",
    short="Giselsson & Boyd",
    reference="Giselsson, Boyd: Linear convergence and metric selection for Douglas-Rachford splitting and ADMM (2017)",
    convention="f + g with f strongly convex and smooth; for FedSplit f is the sum over clients, g keeps them equal",
    letters=Letters(memory={"z": "z_k^@"}, minimiser="x^*", expectation=""),
    notation={
        "stepsize": Parameter("s", "stepsize of the proximal steps", STEPSIZE, above=0),
        "mu": Parameter(r"\mu", "strong convexity", CURVATURE, above=0),
        "L": Parameter("L", "smoothness", CURVATURE, above=0),
        "kappa": Parameter(r"\kappa", "condition number L/mu", least=1),
        "relaxation": Parameter("a", "relaxation", above=0),
    },
)
FEDSPLIT = (Runs("FedSplit"), Everyone(), ExactSolutions(), Smooth(), StronglyConvex(), Condition("mu", "<=", "L"))
FIXED_POINT = named("z_#^*", minimiser - parameter("stepsize") * gradient(minimiser))
BEFORE, AFTER = memory("z", 0) - FIXED_POINT, memory("z", 1) - FIXED_POINT


@PAPER.statement(
    "Reflected proximal step", ClaimType.TIGHT, symbol=r"\|z_{t+1}-z_*\|/\|z_t-z_*\|", assumes=FEDSPLIT,
    states=lambda factor: at_most(norm(AFTER), factor * norm(BEFORE)),
)  # fmt: skip
def reflection_contraction(*, stepsize: Real, mu: Real, L: Real) -> Any:
    """max((1 − sμ)/(1 + sμ), (sL − 1)/(sL + 1)): a reflected proximal step contracts distances by this factor."""
    return maximum((1 - stepsize * mu) / (1 + stepsize * mu), (stepsize * L - 1) / (stepsize * L + 1))


@PAPER.calculator(of="Reflected proximal step", units=STEPSIZE, assumes=(Condition("mu", "<=", "L"),))
def optimal_stepsize(*, mu: Real, L: Real) -> Any:
    """1/√(μL): the stepsize with the smallest `reflection_contraction`."""
    return 1 / sqrt(mu * L)


@PAPER.calculator(of="Reflected proximal step")
def optimal_contraction(*, kappa: Real) -> Any:
    """(√κ − 1)/(√κ + 1): the contraction with that stepsize, FedSplit's 1 − 2/(√κ + 1)."""
    return (sqrt(kappa) - 1) / (sqrt(kappa) + 1)


@PAPER.statement(
    "Theorem 2", ClaimType.TIGHT, symbol=r"\|z_1-z_*\|/\|z_0-z_*\|",
    assumes=(
        *FEDSPLIT,
        Condition("relaxation", "<", lambda stepsize, mu: 1 + stepsize * mu),
        Condition("relaxation", "<", lambda stepsize, L: 1 + 1 / (stepsize * L)),
    ),
    states=lambda factor: at_most(norm((1 - parameter("relaxation")) * BEFORE + parameter("relaxation") * AFTER),
                                  factor * norm(BEFORE)),
)  # fmt: skip
def averaged_contraction(*, relaxation: Real, stepsize: Real, mu: Real, L: Real) -> Any:
    """|1 − a| + aδ for 0 < a < 2/(1 + δ), δ the `reflection_contraction`: a round with relaxation a,
    which makes (1 − a)z + az⁺ of z where the round without makes z⁺.
    """
    return abs(1 - relaxation) + relaxation * reflection_contraction.calculator.formula(stepsize=stepsize, mu=mu, L=L)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
