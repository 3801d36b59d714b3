"""FedSplit: the problem, three methods, and the equations of their fixed points: (1) to (7), (11) to (15).

Points and gradients are numbers or vectors (entry by entry). The objective is the plain sum F = Σ_j f_j.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from fedconvex.claims.terms import (
    answers,
    family,
    free,
    gradient,
    local_gradients,
    local_step,
    mean,
    memory,
    minimiser,
    named,
    server,
)
from fedconvex.statements.assumptions import AtFixedPoint, Convex, ExactSolutions, ProximalStepsize, Runs
from fedconvex.statements.functions import average, maximum, minimum, total
from fedconvex.statements.notation import CURVATURE, GRADIENT, LENGTH, NUMBER, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedsplit.notation import OF_GRADIENT_STEPS, PAPER, about
from fedconvex.theory.fedsplit.vectors import orthogonal_to_consensus, vanishes
from fedconvex.types import Real, Reals, Vectors

# In (5) the clients' gradients are those of all their local steps.
ON_THE_WAY = replace(PAPER.notation["gradients"], latex=r"\nabla f_@(G_@^{i-1}(x^*))", domain=r"i\le e,\,j\le m")
ANYWHERE = free("x")
FEDPROX = (Runs("FedProx"), ProximalStepsize(), ExactSolutions())


@PAPER.statement("Equation (1)", ClaimType.DEFINITION, symbol="F(x)", relation="=", units=VALUE)
def objective(*, values: Reals) -> Any:
    """The objective: the plain sum of the f_j(x)."""
    return sum(values)


@PAPER.statement(
    "Equation (2)", ClaimType.DEFINITION, symbol="F(x_1, \\dots, x_m)", relation="=", units=VALUE,
    redefines=PAPER.relettered(values="f_@(x_@)"),
)  # fmt: skip
def consensus_objective(*, values: Reals) -> Any:
    """The consensus form: the sum of the f_j(x_j), to be minimised over x_1 = … = x_m."""
    return sum(values)


@PAPER.statement(
    "Equation (3)", ClaimType.DEFINITION, symbol="G_j(x)", relation="=", units=LENGTH, assumes=(Runs("FedGD"),),
    states=local_step(ANYWHERE), redefines=about(OF_GRADIENT_STEPS, x=ANYWHERE, gradient=gradient(ANYWHERE)),
)  # fmt: skip
def gradient_map(*, x: Real, stepsize: Real, gradient: Real) -> Any:
    """One gradient step of client j: x − s∇f_j(x)."""
    return x - stepsize * gradient


@PAPER.statement(
    "Equation (4)", ClaimType.DEFINITION, symbol="x^{(t+1)}", relation="=", units=LENGTH, assumes=(Runs("FedGD"),),
    states=server(1), redefines=about(points=named("x_#^{(@-1/2)}", answers)),
)  # fmt: skip
def fedgd_round(*, points: Reals | Vectors) -> Any:
    """One round of FedGD(s, e): the plain mean of the clients' points G_j^e(x)."""
    return average(points)


@PAPER.statement(
    "Equation (5)", ClaimType.IDENTITY, symbol="0", relation="=", units=GRADIENT, states=vanishes,
    assumes=(Runs("FedGD"), AtFixedPoint()), redefines=about({"gradients": ON_THE_WAY}, gradients=local_gradients),
)  # fmt: skip
def fedgd_residual(*, gradients: Reals | Vectors) -> Any:
    """Limits of FedGD(s, e) make this vanish: the sum of all ∇f_j(G_j^{i−1}(x)), i = 1, …, e, j = 1, …, m."""
    return total(gradients)


@PAPER.statement(
    "Equation (6)", ClaimType.DEFINITION, symbol="x^{(t+1)}", relation="=", units=LENGTH,
    assumes=FEDPROX, states=server(1), redefines=about(points=named("x_#^{(@-1/2)}", answers)),
)  # fmt: skip
def fedprox_round(*, points: Reals | Vectors) -> Any:
    """One round of FedProx, exact: the plain mean of the proximal points prox_{s f_j}(x); μ = 1/s."""
    return average(points)


@PAPER.statement(
    "Equation (7)", ClaimType.IDENTITY, symbol="0", relation="=", units=GRADIENT, states=vanishes,
    assumes=(*FEDPROX, Convex(), AtFixedPoint()),
    redefines=about(PAPER.relettered(x="x^*", points=r"\mathrm{prox}_{sf_@}(x^*)"), x=server(0), points=answers),
)  # fmt: skip
def fedprox_residual(*, x: Real, points: Reals | Vectors, stepsize: Real) -> Any:
    """Limits of FedProx make this vanish: Σ_j ∇M_{s f_j}(x) = Σ_j (x − prox_{s f_j}(x))/s; `points` the proxes."""
    return total(points, lambda point: x - point) / stepsize


@PAPER.statement(
    "Equation (11)", ClaimType.DEFINITION, symbol="0", relation="=", units=GRADIENT,
    states=orthogonal_to_consensus, redefines=about(blocks=family("v")),
)  # fmt: skip
def normal_cone_residual(*, blocks: Reals | Vectors) -> Any:
    """v is in E^⊥, the normal cone at a consensus point, exactly if the sum of its blocks vanishes."""
    return total(blocks)


@PAPER.statement(
    "Equation (12)", ClaimType.IDENTITY, symbol="0", relation="=", units=GRADIENT, states=vanishes,
    redefines=about(gradients=gradient(minimiser)),
)  # fmt: skip
def inclusion_residual(*, gradients: Reals | Vectors) -> Any:
    """At a consensus point, 0 ∈ ∇F(x) + N_E(x) exactly if this vanishes: Σ_j ∇f_j(x)."""
    return total(gradients)


@PAPER.statement(
    "Equation (13)", ClaimType.IDENTITY, symbol="0", relation="=", units=LENGTH, states=vanishes,
    assumes=(Runs("FedSplit"), ExactSolutions(), AtFixedPoint()), redefines=about(x=server(0), point=answers),
)  # fmt: skip
def fedsplit_residual(*, x: Real, point: Real) -> Any:
    """A fixed point of FedSplit makes this vanish for every j: 2(prox_{s f_j}(2x − z_j) − x), x the mean of the z_j."""
    return 2 * (point - x)


PAPER.alias("Proposition 1", fedgd_residual)
PAPER.alias("Proposition 2", fedprox_residual)


@PAPER.statement(
    "Proposition 3", ClaimType.IDENTITY, symbol="0", relation="=", units=GRADIENT, states=vanishes,
    assumes=(Runs("FedSplit"), ExactSolutions(), Convex(), AtFixedPoint()),
    redefines=about(PAPER.relettered(gradients=r"\nabla f_@(x^*)"), gradients=gradient(mean(memory("z", 0)))),
)  # fmt: skip
def optimality_residual(*, gradients: Reals | Vectors) -> Any:
    """At a fixed point z* of FedSplit the mean of the z_j* is a minimiser: Σ_j ∇f_j(x*) = 0."""
    return total(gradients)


class Conditioning(NamedTuple):
    """Equation (14)."""

    mu: Any
    L: Any
    kappa: Any


@PAPER.statement(
    "Equation (14)", ClaimType.DEFINITION, symbol=(r"\ell_*", "L^*", r"\kappa"), relation="=",
    units=(CURVATURE, CURVATURE, NUMBER),
)  # fmt: skip
def condition_number(*, mus: Reals, Ls: Reals) -> Conditioning:
    """ℓ_* = min ℓ_j, L^* = max L_j and κ = L^*/ℓ_*; at least the condition number of every f_j, and of F."""
    mu, L = minimum(*mus), maximum(*Ls)
    return Conditioning(mu, L, L / mu)


@PAPER.statement(
    "Equation (15)", ClaimType.DEFINITION, symbol="b", relation=r"\ge", units=LENGTH, assumes=(Runs("FedSplit"),)
)
def prox_error(*, update: Real, prox: Real) -> Any:
    """The error of a proximal update in one dimension, |prox_update_j(z) − prox_{s f_j}(z)|: at most b for all j, z."""
    return abs(update - prox)
