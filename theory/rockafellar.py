"""Rockafellar: *Monotone operators and the proximal point algorithm* (1976): x ← prox_{sf}(x).

Main statements
---------------
* `contraction`: a proximal step on a strongly convex function.
* `convex_gap_bound`: the rate on convex functions, due to Güler (1991).

Use it as the baseline of FedProx: with one client, FedProx with exact solutions is this method, s = 1/μ_prox, and so
the claims are stated.

Notation: `mu` strong convexity of f; `stepsize` s.
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import after, minimiser, norm, server, square, value
from fedconvex.statements.assumptions import (
    Convex,
    Everyone,
    ExactSolutions,
    ProximalStepsize,
    Runs,
    SingleClient,
    StronglyConvex,
)
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import CURVATURE, SQUARED_LENGTH, STEPSIZE, VALUE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.types import Real

PROXIMAL_STEPS = (Runs("FedProx"), ProximalStepsize(), Everyone(), ExactSolutions(), SingleClient())
START, NEXT = server(0) - minimiser, server(1) - minimiser

PAPER = Paper(
    name="rockafellar",
    short="Rockafellar",
    reference="Rockafellar: Monotone operators and the proximal point algorithm (1976)",
    convention="one function f",
    letters=Letters(server="x_@", minimiser="x_*", objective="f", function="f", expectation=""),
    notation={
        "stepsize": Parameter("s", "stepsize of the proximal steps", STEPSIZE, above=0),
        "mu": Parameter(r"\mu", "strong convexity of f", CURVATURE, least=0),
        "t": Parameter("t", "steps", least=1, integer=True),
        "D0": Parameter("D_0", "‖x₀ − x_*‖²", SQUARED_LENGTH, least=0, means=square(START)),
    },
)


@PAPER.statement(
    "Proximal step", ClaimType.TIGHT, symbol=r"\|x_1-x_*\|/\|x_0-x_*\|",
    assumes=(*PROXIMAL_STEPS, StronglyConvex()), states=lambda factor: at_most(norm(NEXT), factor * norm(START)),
)  # fmt: skip
def contraction(*, stepsize: Real, mu: Real) -> Any:
    """1/(1 + sμ): a proximal step contracts distances by this factor; attained by quadratics."""
    return 1 / (1 + stepsize * mu)


@PAPER.statement(
    "Convex functions", ClaimType.UPPER, symbol="f(x_t)-f_*", units=VALUE,
    assumes=(*PROXIMAL_STEPS, Convex()),
    states=lambda bound: at_most(after(value(server(0))) - value(minimiser), bound, rounds="t"),
)  # fmt: skip
def convex_gap_bound(*, t: Real, stepsize: Real, D0: Real) -> Any:
    """After t proximal steps on a convex function: ‖x₀ − x_*‖²/(2st) (Güler 1991)."""
    return D0 / (2 * stepsize * t)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
