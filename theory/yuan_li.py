r"""Yuan, Li: *On convergence of FedProx: local dissimilarity invariant bounds* (NeurIPS 2022).

Main statements
---------------
* `gradient_at_fixed_point`, `distance_at_fixed_point`: FedProx's bias is of the order of its stepsize s = 1/weight.
* `one_round`, `rounds_bound`: the linear rate to a distance of σ*/μ at most, for every s.
* `sharper_round`, `sharper_rounds`: the rate with an error of the order of s², for small s.

The paper bounds FedProx without assuming that the clients' gradients are similar at all points. The statements here are
in that setting, for exact local solutions: their heterogeneity is σ*² = mean‖∇F_k(x*)‖², at the minimiser alone.

Notation: `stepsize` s, so that the proximal term has the weight 1/s; `mu`, `L` curvatures of every client.
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import after, answers, gradient, mean, minimiser, norm, server, square
from fedconvex.statements.assumptions import (
    AtFixedPoint,
    Convex,
    Everyone,
    ExactSolutions,
    ProximalStepsize,
    Runs,
    Smooth,
    StronglyConvex,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import power
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    GRADIENT,
    LENGTH,
    SQUARED_LENGTH,
    STEPSIZE,
    Parameter,
)
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import CONVEXITY, ROUNDS, SIGMA_STAR, SIGMA_STAR2, SMOOTHNESS
from fedconvex.types import Real

START = server(0) - minimiser

PAPER = Paper(
    name="yuan_li",
    short="Yuan & Li",
    reference="Yuan, Li: On convergence of FedProx: local dissimilarity invariant bounds, non-smoothness and beyond "
    "(NeurIPS 2022)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    letters=Letters(server="w^@", minimiser="w^*", answers="w_k^@", solutions="w_k^@", expectation=""),
    restated=True,
    notation={
        "stepsize": Parameter("s", "inverse of the proximal term's weight", STEPSIZE, above=0),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
        "T": ROUNDS,
        "sigma_star": SIGMA_STAR,
        "sigma_star2": SIGMA_STAR2,
        "distance": Parameter(
            r"\|w^t-w^*\|", "distance to the minimiser before the round", LENGTH, least=0, means=norm(START)
        ),
        "D": Parameter(r"\|w^t-w^*\|^2", "squared distance before the round", SQUARED_LENGTH, least=0,
                       means=square(START)),
        "D0": Parameter(r"\|w^0-w^*\|^2", "squared distance of the start", SQUARED_LENGTH, least=0,
                        measured="squared_distance", means=square(START)),
    },
)  # fmt: skip
FEDPROX = (Runs("FedProx"), ProximalStepsize(), Everyone(), ExactSolutions())
STRONGLY = (*FEDPROX, Smooth(), StronglyConvex(), Condition("mu", "<=", "L"))
SHORT = Condition("stepsize", "<=", lambda L: 1 / (2 * L))


@PAPER.statement(
    "One round", ClaimType.UPPER, symbol=r"\|w^{t+1}-w^*\|", units=LENGTH, assumes=(*FEDPROX, StronglyConvex()),
    states=norm(server(1) - minimiser),
)  # fmt: skip
def one_round(*, stepsize: Real, mu: Real, distance: Real, sigma_star: Real) -> Any:
    """One round: (‖w − w*‖ + sσ*)/(1 + sμ), for clients that need not be smooth.

    Where the clients share their minimiser (σ* = 0) it is the rate of the proximal point algorithm.
    """
    return (distance + stepsize * sigma_star) / (1 + stepsize * mu)


@PAPER.statement(
    "T rounds", ClaimType.UPPER, symbol=r"\|w^T-w^*\|^2", units=SQUARED_LENGTH, assumes=(*FEDPROX, StronglyConvex()),
    states=lambda bound: at_most(after(square(START)), bound, rounds="T"),
)  # fmt: skip
def rounds_bound(*, T: Real, stepsize: Real, mu: Real, D0: Real, sigma_star2: Real) -> Any:
    """T rounds: q^T‖w⁰ − w*‖² + (1 − q^T)σ*²/μ², q = 1/(1 + sμ), for clients that need not be smooth."""
    rest = 1 / power(1 + stepsize * mu, T)
    return rest * D0 + (1 - rest) * sigma_star2 / mu**2


@PAPER.statement(
    "Fixed point, clients", ClaimType.TIGHT, symbol=r"(\mathbb{E}_k\|w_k-w\|^2)^{1/2}", units=LENGTH,
    assumes=(*FEDPROX, Convex(), AtFixedPoint()), states=norm(answers - server(0)),
)  # fmt: skip
def spread_at_fixed_point(*, stepsize: Real, sigma_star: Real) -> Any:
    """At a fixed point the clients' answers are at most sσ* away (root mean square); linear F_k attain it."""
    return stepsize * sigma_star


@PAPER.statement(
    "Fixed point, gradient", ClaimType.UPPER, symbol=r"\|\nabla f(w)\|", units=GRADIENT,
    assumes=(*FEDPROX, Smooth(), Convex(), AtFixedPoint()), states=norm(mean(gradient(server(0)))),
)  # fmt: skip
def gradient_at_fixed_point(*, stepsize: Real, L: Real, sigma_star: Real) -> Any:
    """At a fixed point the objective's gradient is at most sLσ*: the bias vanishes with the stepsize."""
    return stepsize * L * sigma_star


@PAPER.statement(
    "Fixed point, distance", ClaimType.UPPER, symbol=r"\|w-w^*\|", units=LENGTH,
    assumes=(*STRONGLY, AtFixedPoint()), states=norm(server(0) - minimiser),
)  # fmt: skip
def distance_at_fixed_point(*, stepsize: Real, mu: Real, L: Real, sigma_star: Real) -> Any:
    """A fixed point is at most sLσ*/μ from the minimiser; by `rounds_bound` at most σ*/μ, however large s is."""
    return stepsize * L * sigma_star / mu


@PAPER.statement(
    "One round, short steps", ClaimType.UPPER, symbol=r"\|w^{t+1}-w^*\|^2", units=SQUARED_LENGTH,
    assumes=(*STRONGLY, SHORT), states=square(server(1) - minimiser),
)  # fmt: skip
def sharper_round(*, stepsize: Real, mu: Real, L: Real, D: Real, sigma_star2: Real) -> Any:
    """One round with s ≤ 1/(2L): (‖w − w*‖² + 2s³Lσ*²)/(1 + sμ/2)."""
    return (D + 2 * stepsize**3 * L * sigma_star2) / (1 + stepsize * mu / 2)


@PAPER.statement(
    "T rounds, short steps", ClaimType.UPPER, symbol=r"\|w^T-w^*\|^2", units=SQUARED_LENGTH,
    assumes=(*STRONGLY, SHORT), states=lambda bound: at_most(after(square(START)), bound, rounds="T"),
)  # fmt: skip
def sharper_rounds(*, T: Real, stepsize: Real, mu: Real, L: Real, D0: Real, sigma_star2: Real) -> Any:
    """T rounds with s ≤ 1/(2L): q^T‖w⁰ − w*‖² + (1 − q^T)·4s²Lσ*²/μ, q = 1/(1 + sμ/2)."""
    rest = 1 / power(1 + stepsize * mu / 2, T)
    return rest * D0 + (1 - rest) * 4 * stepsize**2 * L * sigma_star2 / mu


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
