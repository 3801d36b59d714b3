"""Shamir, Srebro and Zhang: *Communication-efficient distributed optimization using an approximate Newton-type method*.

Main statements
---------------
* `decrease` (not in the paper): one round on any smooth clients, however heterogeneous.

The paper (ICML 2014) has rates for quadratic clients and for similar clients. The statement here is in none of the
papers: `fedconvex.proofs_checks.discover` found it together with its proof for all parameters.

Notation: `mu` weight μ of the proximal term; `eta` weight η of the gradient; `L`, `L_minus` curvatures of every client.
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import gradient, mean, server, square, value
from fedconvex.statements.assumptions import BoundedNegativeCurvature, Everyone, ExactSolutions, Runs, Smooth
from fedconvex.statements.conditions import Condition
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import CURVATURE, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import SMOOTHNESS
from fedconvex.types import Real

PAPER = Paper(
    name="dane",
    short="DANE",
    reference="Shamir, Srebro, Zhang: Communication-efficient distributed optimization using an approximate "
    "Newton-type method (ICML 2014)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    letters=Letters(server="w^@", answers="w_k^@", solutions="w_k^@", last_answers="w_k^@", minimiser="w^*"),
    notation={
        "mu": Parameter(r"\mu", "weight of the proximal term", CURVATURE, above=0, measured="proximal_weight"),
        "eta": Parameter(r"\eta", "weight of the objective's gradient", above=0, measured="gradient_weight"),
        "L": SMOOTHNESS,
        "L_minus": Parameter("L_{-}", "no Hessian is below -L_minus", CURVATURE, least=0, measured="weak_convexity"),
    },
)


@PAPER.statement(
    "One round", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, ours=True,
    conclusion=r"f(w^{t+1}) \le f(w^t) - \rho\,\|\nabla f(w^t)\|^2",
    assumes=(
        Runs("DANE"), Everyone(), ExactSolutions(), Smooth(), BoundedNegativeCurvature(), Condition("eta", "<=", 1),
        Condition("L_minus", "<=", "L"), Condition("mu", ">=", lambda L, L_minus: L + 2 * L_minus),
    ), states=lambda rho: at_most(value(server(1)), value(server(0)) - rho * square(mean(gradient(server(0))))),
)  # fmt: skip
def decrease(*, mu: Real, eta: Real, L: Real, L_minus: Real) -> Any:
    """One round decreases f by at least ρ‖∇f(w^t)‖², ρ = η/(μ + L) − Lη²/(2(μ + L)²), whatever the dissimilarity.

    Use it to choose μ and η without knowing the heterogeneity. It is the decrease that the descent lemma gives for a
    gradient step of size η/(μ + L); quadratics of curvature L attain it. FedProx's decrease depends on B, because its
    clients do not receive the objective's gradient. (`L_minus` occurs in the condition only.)
    """
    stepsize = eta / (mu + L)
    return stepsize - L * stepsize**2 / 2


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
