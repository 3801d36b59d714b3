r"""Charles, Konečný: *Convergence and accuracy trade-offs in federated learning and meta-learning* (AISTATS 2021).

Main statements
---------------
* `surrogate_curvature`: e local steps see a client ½a(x − c)² as one of another curvature, (1 − (1 − sa)^e)/s.
* `fixed_point`: what local GD's fixed point minimises: these surrogates, so that flat clients count for more.
* `surrogate_condition`: how much better conditioned the surrogate is.

The paper shows that on quadratic clients local methods minimise a surrogate of the objective: more steps make it better
conditioned, and its minimiser less accurate. The statements here are in that setting, in one dimension, where the
clients are ½a_k(x − c_k)².

Notation: `stepsize` s, `local_steps` e of the local gradient steps; `curvatures` a_k, `minimisers` c_k, `weights` p_k.
"""

from typing import Any

from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import power
from fedconvex.statements.notation import CURVATURE, LENGTH, STEPSIZE, Parameter, Shape
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.types import Real, Reals

PAPER = Paper(
    name="charles_konecny",
    short="Local surrogates",
    reference="Charles, Konečný: Convergence and accuracy trade-offs in federated learning and meta-learning "
    "(AISTATS 2021)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "local_steps": Parameter("e", "local steps in a round", least=1, integer=True, measured="local_steps"),
        "curvature": Parameter("a", "curvature of a client", CURVATURE, above=0),
        "mu": Parameter(r"\mu", "the least curvature of a client", CURVATURE, above=0),
        "L": Parameter("L", "the largest curvature of a client", CURVATURE, above=0),
        "weights": Parameter("p", "weights of the clients", above=0, shape=Shape.SEQUENCE, index="k"),
        "curvatures": Parameter("a", "curvatures of the clients", CURVATURE, above=0, shape=Shape.SEQUENCE, index="k"),
        "minimisers": Parameter("c", "minimisers of the clients", LENGTH, shape=Shape.SEQUENCE, index="k"),
    },
)


@PAPER.statement(
    "Surrogate curvature", ClaimType.DEFINITION, symbol="q(a)", relation="=", units=CURVATURE,
    assumes=(Condition("stepsize", "<=", lambda curvature: 2 / curvature),),
)  # fmt: skip
def surrogate_curvature(*, stepsize: Real, local_steps: Real, curvature: Real) -> Any:
    """A client ½a(x − c)² moves x by s·q(a)(c − x) in e local steps: q(a) = (1 − (1 − sa)^e)/s.

    It is ea for small s, and 1/s for many steps with s < 2/a: then all clients count alike, however curved they are.
    """
    return (1 - power(1 - stepsize * curvature, local_steps)) / stepsize


@PAPER.statement(
    "Fixed point", ClaimType.IDENTITY, symbol="x", relation="=", units=LENGTH,
)  # fmt: skip
def fixed_point(*, stepsize: Real, local_steps: Real, weights: Reals, curvatures: Reals, minimisers: Reals) -> Any:
    """Local GD rests at the minimiser of the surrogates: Σ p_k q(a_k)c_k/Σ p_k q(a_k)."""
    above, below = 0, 0
    for p, a, c in zip(weights, curvatures, minimisers, strict=True):
        q = p * surrogate_curvature.calculator.formula(stepsize=stepsize, local_steps=local_steps, curvature=a)
        above, below = above + q * c, below + q
    return above / below


@PAPER.statement(
    "Condition number", ClaimType.DEFINITION, symbol=r"\kappa_e", relation="=",
    assumes=(Condition("mu", "<=", "L"), Condition("stepsize", "<=", lambda L: 1 / L)),
)  # fmt: skip
def surrogate_condition(*, stepsize: Real, local_steps: Real, mu: Real, L: Real) -> Any:
    """The condition number of the surrogate: (1 − (1 − sL)^e)/(1 − (1 − sμ)^e), between 1 and L/μ for s ≤ 1/L."""
    return (1 - power(1 - stepsize * L, local_steps)) / (1 - power(1 - stepsize * mu, local_steps))


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
