r"""Malinovskiy, Kovalev, Gasanov, Condat, Richtárik: *From local SGD to local fixed-point methods* (ICML 2020).

Main statements
---------------
* `local_step`: a local gradient step contracts, so that a round does, and local GD has one fixed point.
* `fixed_point`, `fixed_point_of_two_steps`: how far it is from the minimiser, and how large ∇f is there.

The paper sees local GD as an average of contractions, which converges to its own fixed point. The statements here are
in that setting, for gradient steps: what the fixed point has to do with the objective.

Notation: `stepsize` s, `local_steps` e of the local gradient steps; `mu`, `L` curvatures of every client. Where `L`, or
`stepsize`, is not in a formula, it occurs in the statement's condition.
"""

from typing import Any

from fedconvex.claims.terms import family, free, gradient, local_step, mean, minimiser, norm, server
from fedconvex.statements.assumptions import AtFixedPoint, Everyone, Runs, Smooth, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import GRADIENT, LENGTH, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import CONVEXITY, SIGMA_STAR, SMOOTHNESS
from fedconvex.types import Real

PAPER = Paper(
    name="malinovskiy",
    short="Local fixed points",
    reference="Malinovskiy, Kovalev, Gasanov, Condat, Richtárik: From local SGD to local fixed-point methods "
    "(ICML 2020)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    letters=Letters(server="x^@", minimiser="x^*", answers="y_k^@", local_step="G_k", expectation=""),
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "local_steps": Parameter("e", "local steps in a round", least=1, integer=True, measured="local_steps"),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
        "apart": Parameter(
            r"(\mathbb{E}_k\|y_k-z_k\|^2)^{1/2}", "root mean square distance of two models of each client", LENGTH,
            least=0, means=norm(family("y") - family("z")),
        ),
        "distance": Parameter(r"\|x-z\|", "distance of two points of the server", LENGTH, least=0,
                              means=norm(server(0) - free("z"))),
        "sigma_star": SIGMA_STAR,
        "gradients": Parameter(
            r"(\mathbb{E}_k\|\nabla F_k(x)\|^2)^{1/2}", "root mean square of the clients' gradients at the fixed point",
            GRADIENT, least=0, means=norm(gradient(server(0))),
        ),
    },
)  # fmt: skip
STRONGLY = (
    Everyone(), Smooth(), StronglyConvex(), Condition("mu", "<=", "L"),
    Condition("stepsize", "<=", lambda mu, L: 2 / (mu + L)),
)  # fmt: skip
SECOND = mean(local_step(local_step(free("z"))))  # what a round of two local steps makes of z


@PAPER.statement(
    "Local step", ClaimType.TIGHT, symbol=r"(\mathbb{E}_k\|G_k(y_k)-G_k(z_k)\|^2)^{1/2}", units=LENGTH,
    assumes=(Runs("FedGD"), *STRONGLY), states=norm(local_step(family("y")) - local_step(family("z"))),
)  # fmt: skip
def step_contraction(*, stepsize: Real, mu: Real, L: Real, apart: Real) -> Any:
    """Local steps of size s ≤ 2/(μ + L) bring any two models of each client nearer by the factor 1 − sμ."""
    return (1 - stepsize * mu) * apart


@PAPER.statement(
    "Round of two local steps", ClaimType.TIGHT, symbol=r"\|T(x)-T(z)\|", units=LENGTH,
    assumes=(Runs("FedGD", local_steps=2), *STRONGLY), states=norm(server(1) - SECOND),
)  # fmt: skip
def round_contraction(*, stepsize: Real, mu: Real, L: Real, distance: Real) -> Any:
    """A round T of two local steps brings any two points nearer by (1 − sμ)²: so it has one fixed point."""
    return (1 - stepsize * mu) ** 2 * distance


@PAPER.statement(
    "Fixed point", ClaimType.UPPER, symbol=r"\|x-x^*\|", units=LENGTH,
    assumes=(Runs("FedGD"), *STRONGLY, Condition("stepsize", "<", lambda mu: 1 / mu), AtFixedPoint()),
    states=norm(server(0) - minimiser),
)  # fmt: skip
def fixed_point(*, stepsize: Real, mu: Real, L: Real, sigma_star: Real) -> Any:
    """The fixed point is at most σ*/μ from the minimiser, for every number of local steps and every stepsize."""
    return sigma_star / mu


@PAPER.statement(
    "Fixed point of two local steps", ClaimType.UPPER, symbol=r"\|\nabla f(x)\|", units=GRADIENT,
    assumes=(Runs("FedGD", local_steps=2), Everyone(), Smooth(), AtFixedPoint()),
    states=norm(mean(gradient(server(0)))),
)  # fmt: skip
def fixed_point_of_two_steps(*, stepsize: Real, L: Real, gradients: Real) -> Any:
    """∇f at a fixed point of two local steps is at most (sL/2)(mean‖∇F_k(x)‖²)^{1/2}, for any smooth clients.

    So the bias of local GD vanishes with the stepsize, and where all clients are stationary.
    """
    return stepsize * L / 2 * gradients


@PAPER.statement(
    "Fixed point of two local steps, distance", ClaimType.UPPER, symbol=r"\|x-x^*\|", units=LENGTH,
    assumes=(Runs("FedGD", local_steps=2), *STRONGLY, AtFixedPoint()), states=norm(server(0) - minimiser),
)  # fmt: skip
def distance_of_two_steps(*, stepsize: Real, mu: Real, L: Real, gradients: Real) -> Any:
    """The fixed point of two local steps is at most (sL/(2μ))(mean‖∇F_k(x)‖²)^{1/2} from the minimiser."""
    return stepsize * L / (2 * mu) * gradients


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
