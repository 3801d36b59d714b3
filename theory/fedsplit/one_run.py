r"""FedSplit: Corollary 1's bound of the error, put into Theorem 1: what the two would say of one run.

Theorem 1 needs a b that bounds the errors of all rounds; Corollary 1 bounds the error of one round by the length of its
proximal step. With the b of the first round for all of them the two together are false, whatever κ > (1 + √2)² is:
`diverges` has the factor by which one local step moves away from the minimiser on clients of curvature L^*.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.settings import setting_of
from fedconvex.claims.terms import norm, parameter, server, solutions
from fedconvex.statements.assumptions import GradientStepsFromCenter
from fedconvex.statements.functions import sqrt
from fedconvex.theory.fedsplit.convergence import FEDSPLIT, distance_bound, prox_error_bound
from fedconvex.theory.fedsplit.notation import PAPER
from fedconvex.theory.fedsplit.vectors import first_distance, matched_stepsize, reaches
from fedconvex.types import Real

_ASSUMES = (*FEDSPLIT, GradientStepsFromCenter(lambda kappa: 1 - 1 / (sqrt(kappa) + 1)))
_PARAMETERS = {name: PAPER.notation[name] for name in ("kappa", "num_clients", "t")}

SETTING = setting_of(_ASSUMES, (), PAPER.notation, _PARAMETERS, frozenset({"minimiser"}))
"""FedSplit with Corollary 1's s, e and α."""


def together() -> Claim:
    """‖x^(t+1) − x*‖ ≤ ρ^t‖z^(1) − z*‖/√m + (√κ + 1)b with Corollary 1's b of the first round, x_j^(1) = x^(1)."""
    kappa = parameter("kappa")
    b = prox_error_bound.calculator.formula(
        kappa=kappa, local_steps=parameter("local_steps"), start_distance=norm(server(0) - solutions)
    )
    given = {"t": parameter("t"), "kappa": kappa, "num_clients": parameter("num_clients"), "b": b}
    return reaches(distance_bound.calculator.formula(initial_distance=first_distance(matched_stepsize), **given))


def diverges(kappa: Real) -> Any:
    """‖x^(t+1) − x*‖/‖x^(t) − x*‖ for curvatures L^* and e = 1: 4κ/(√κ + 1)² − 1, above 1 if κ > (1 + √2)²."""
    return 4 * kappa / (sqrt(kappa) + 1) ** 2 - 1
