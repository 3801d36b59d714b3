"""Rockafellar: *Monotone operators and the proximal point algorithm* (1976): x ← prox_{sf}(x).

Main statements
---------------
* `contraction`: a proximal step on a strongly convex function.
* `convex_gap_bound`: the rate on convex functions, due to Güler (1991).

Use it as the baseline of FedProx: with one client, FedProx with exact solutions is this method, s = 1/μ_prox.

Notation: `mu` strong convexity of f; `stepsize` s.
"""

from typing import Any

from fedconvex.statements.assumptions import OfOneFunction
from fedconvex.statements.conditions import Condition
from fedconvex.statements.notation import CURVATURE, SQUARED_LENGTH, STEPSIZE, VALUE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement

PAPER = Paper(
    name="rockafellar",
    short="Rockafellar",
    reference="Rockafellar: Monotone operators and the proximal point algorithm (1976)",
    convention="one function f",
    notation={
        "stepsize": Parameter("s", "stepsize of the proximal steps", STEPSIZE, above=0),
        "mu": Parameter(r"\mu", "strong convexity of f", CURVATURE, least=0),
        "t": Parameter("t", "steps", least=1, integer=True),
        "D0": Parameter("D_0", "‖x₀ − x_*‖²", SQUARED_LENGTH, least=0),
    },
)


@PAPER.statement(
    "Proximal step", ClaimType.TIGHT, symbol=r"\|x_1-x_*\|/\|x_0-x_*\|",
    assumes=(OfOneFunction("exact proximal steps on one strongly convex function"),),
)  # fmt: skip
def contraction(*, stepsize: Any, mu: Any) -> Any:
    """1/(1 + sμ): a proximal step contracts distances by this factor; attained by quadratics."""
    return 1 / (1 + stepsize * mu)


@PAPER.statement(
    "Convex functions", ClaimType.UPPER, symbol="f(x_t)-f_*", units=VALUE,
    assumes=(OfOneFunction("exact proximal steps on one convex function"), Condition("t", ">=", 1)),
)  # fmt: skip
def convex_gap_bound(*, t: Any, stepsize: Any, D0: Any) -> Any:
    """After t proximal steps on a convex function: ‖x₀ − x_*‖²/(2st) (Güler 1991)."""
    return D0 / (2 * stepsize * t)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
