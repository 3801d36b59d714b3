"""FedSplit: the corrected forms of (17), (19) and Theorem 2, each proved in `fedconvex.proofs_checks`."""

from typing import Any

from fedconvex.statements.assumptions import Convex, Everyone, ExactSolutions, Runs, Smooth
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import log, maximum, total_of
from fedconvex.statements.notation import LENGTH, NUMBER, VALUE, Parameter
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedsplit.convergence import OF_GRADIENT_DESCENT, SMALL_REGULARIZER
from fedconvex.theory.fedsplit.notation import AT_U, AT_Z, PAPER, about
from fedconvex.theory.fedsplit.vectors import (
    STEP,
    first_regularized_distance,
    first_squared_distance,
    strongly_convex,
    within_both,
)
from fedconvex.types import Real, Reals

FROM_REGULARIZED = about(
    {
        "initial_distance": Parameter(
            r"\|z^{(1)}-z_\lambda^*\|",
            "distance of the first z from the regularised problem's fixed point, over all clients",
            LENGTH,
            least=0,
        )
    },
    initial_distance=first_regularized_distance,
    squared_distance=first_squared_distance,
)
REGULARIZED = (Runs("RegularizedFedSplit"), Everyone(), Convex(), Smooth(), ExactSolutions())


@PAPER.statement(
    "Equation (17), corrected",
    ClaimType.DEFINITION,
    symbol="u^{(t+1)}",
    relation="=",
    units=LENGTH,
    redefines=AT_U,
    assumes=OF_GRADIENT_DESCENT,
    states=STEP,
    ours=True,
)
def corrected_prox_gradient_step(*, u: Real, x: Real, stepsize: Real, local_stepsize: Real, gradient: Real) -> Any:
    """A gradient step of size α on sf_j + ½‖· − x‖²: u − αs∇f_j(u) − α(u − x), where (17) prints + (u − x)."""
    return u - local_stepsize * stepsize * gradient - local_stepsize * (u - x)


@PAPER.statement(
    "Equation (19), corrected",
    ClaimType.DEFINITION,
    symbol=r"F_\lambda(z)",
    relation="=",
    units=VALUE,
    assumes=(Convex(), Smooth()),
    redefines=AT_Z,
    states=strongly_convex,
    ours=True,
)
def corrected_regularized_objective(*, values: Reals, squared_distances: Reals, regularizer: Real) -> Any:
    """Σ_j {f_j(z_j) + (λ/2)‖z_j − x^(1)‖²}: λ-strongly convex and (L^* + λ)-smooth, as the text says of (19).

    With the printed λ/(2m) the modulus of strong convexity is λ/m.
    """
    return total_of(lambda value, distance: value + regularizer / 2 * distance, values, squared_distances)


@PAPER.statement(
    "Theorem 2, corrected", ClaimType.UPPER, symbol="T", relation="=", units=NUMBER,
    conclusion=r"F(x^{(t+1)}) - F^* \le \varepsilon\text{ for all } t \ge T",
    assumes=(*REGULARIZED, SMALL_REGULARIZER, Condition("initial_distance", ">", 0)), redefines=FROM_REGULARIZED,
    states=within_both,
    ours=True,
)  # fmt: skip
def regularized_rounds(
    *,
    stepsize: Real,
    L: Real,
    regularizer: Real,
    epsilon: Real,
    initial_distance: Real,
    num_clients: Real,
    squared_distance: Real,
) -> Any:
    """Rounds of FedSplit on the regularised objective, with λ/2 in (19), to F − F* ≤ ε, for every λ of Theorem 2:
    ¼(q + 1) log(L_λ‖z^(1) − z_λ*‖²/ε) with L_λ = L^* + λ and q = max(1/(sλ), sL_λ), for every stepsize s > 0.

    Theorem 2's s = 1/√(λL_λ) has the smallest q, √κ_λ = √(L_λ/λ); z_λ* is the regularised problem's fixed point. The
    count grows like 1/√λ without limit as λ → 0. With λ = ε/(2m‖x^(1) − x*‖²) it has
    √κ_λ = √(1 + 2mL^*‖x^(1) − x*‖²/ε): the factor √m is missing in Theorem 2. (`num_clients` and `squared_distance`
    are in the condition only.) The claim is that after t rounds the gap is at most ½mλ‖x^(1) − x*‖² + ½ε for the ε of
    which t is the count: less than ε for Theorem 2's λ.
    """
    smoothness = L + regularizer
    q = maximum(1 / (stepsize * regularizer), stepsize * smoothness)
    return (q + 1) / 4 * log(smoothness * initial_distance**2 / epsilon)
