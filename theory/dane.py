"""Shamir, Srebro and Zhang: *Communication-efficient distributed optimization using an approximate Newton-type method*.

Main statements
---------------
* `decrease`: one round on any smooth clients, however heterogeneous.
* `contraction`: one round on clients with δ-similar Hessians, which need not be convex themselves.
* `gradients_of_similar_clients`: how far apart their gradients are.

The paper (ICML 2014) has rates for quadratic clients and for similar clients. The statements here are in none of the
papers; `fedconvex.proofs_checks.discover` found the first one together with its proof for all parameters.

Notation: `mu` weight μ of the proximal term; `eta` weight η of the gradient; `L`, `L_minus` curvatures of every client;
`convexity` λ, `L_f` curvatures of the objective; `delta` δ.
"""

from dataclasses import replace
from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import gradient, mean, minimiser, norm, server, square, value
from fedconvex.statements.assumptions import (
    BoundedNegativeCurvature,
    Everyone,
    ExactSolutions,
    Runs,
    SimilarHessians,
    Smooth,
    SmoothObjective,
    StronglyConvexObjective,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import CURVATURE, GRADIENT, LENGTH, SQUARED_LENGTH, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import SIGMA_STAR, SIMILARITY, SMOOTHNESS
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
        "convexity": Parameter(
            r"\lambda", "strong convexity of the objective", CURVATURE, above=0, measured="objective_convexity"
        ),
        "L_f": Parameter("L_f", "smoothness of the objective", CURVATURE, above=0, measured="objective_smoothness"),
        "delta": replace(SIMILARITY, least=None, above=0),
        "distance": Parameter(
            r"\|w^t-w^*\|^2",
            "squared distance before the round",
            SQUARED_LENGTH,
            least=0,
            means=square(server(0) - minimiser),
        ),
        "away": Parameter(
            r"\|w^t-w^*\|", "distance before the round", LENGTH, least=0, means=norm(server(0) - minimiser)
        ),
        "sigma_star": SIGMA_STAR,
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


@PAPER.statement(
    "Similar clients", ClaimType.UPPER, symbol=r"\|w^{t+1}-w^*\|^2", units=SQUARED_LENGTH, ours=True,
    assumes=(
        Runs("DANE", fixed=(("eta", 1),)), Everyone(), ExactSolutions(), SimilarHessians(),
        SmoothObjective("L_f"), StronglyConvexObjective("convexity"),
        Condition("convexity", "<", "L_f"),
        Condition("mu", ">=", lambda convexity, delta: delta**2 / (2 * convexity)),
    ), states=square(server(1) - minimiser),
)  # fmt: skip
def contraction(*, mu: Real, convexity: Real, L_f: Real, delta: Real, distance: Real) -> Any:
    """One round on δ-similar clients: ‖w − w*‖²/(1 + 2λ/μ − δ²/μ²), f λ-strongly convex.

    Use it where clients' data have one distribution, so that δ is small beside the smoothness, which has no part in the
    factor. It is least for μ = δ²/λ, 1/(1 + λ²/δ²). The clients themselves need not be convex, if their subproblems are
    solved. (`L_f` occurs in the condition only.)
    """
    return distance / (1 + 2 * convexity / mu - delta**2 / mu**2)


@PAPER.statement(
    "Gradients of similar clients", ClaimType.TIGHT,
    symbol=r"(\mathbb{E}_k\|\nabla F_k(w^t)-\nabla f(w^t)\|^2)^{1/2}", units=GRADIENT, ours=True,
    assumes=(SimilarHessians(),), states=norm(gradient(server(0)) - mean(gradient(server(0)))),
)  # fmt: skip
def gradients_of_similar_clients(*, delta: Real, away: Real, sigma_star: Real) -> Any:
    """At any point the clients' gradients are within σ* + δ‖w − w*‖ of the objective's, in root mean square.

    Similar Hessians bound the heterogeneity's growth away from the minimiser, and σ* what it is there.
    """
    return sigma_star + delta * away


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
