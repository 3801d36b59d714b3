"""Notation of the exact rates: one set of symbols for all methods."""

from typing import Any

from fedconvex.claims.terms import gradient, minimiser, norm, server, square
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum, named
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    CURVATURE,
    GRADIENT,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    STEPSIZE,
    Parameter,
)
from fedconvex.statements.statement import Paper

PAPER = Paper(
    name="exact_rates",
    short="Exact rates",
    reference="Rates of federated methods with exact or sharp constants, stated and proved in this project",
    convention="f is the mean of the F_k, with the clients' weights where all take part, else a plain one",
    letters=Letters(
        server="w^@", answers="w_k^@", minimiser="w^*", shared={"c": "c^@", "h": "h^@"},
        memory={"c": "c_k^@", "gradient": "g_k^@", "z": "z_k^@", "dual": r"\lambda_k^@"}, mean=r"\frac{1}{m}\sum_k",
        expectation=r"\mathbb{E}",
    ),
    notation={
        "stepsize": Parameter("s", "stepsize", STEPSIZE, above=0, measured="stepsize"),
        "server_stepsize": Parameter(r"\eta", "stepsize of the server", above=0, measured="server_stepsize"),
        "local_steps": Parameter("e", "local steps in a round", least=1, integer=True, measured="local_steps"),
        "alpha": Parameter(r"\alpha", "weight of the dynamic regulariser", CURVATURE, above=0, measured="alpha"),
        "eta": Parameter(r"\eta", "stepsize of FedPD's proximal terms", STEPSIZE, above=0, measured="gradient_weight"),
        "mu": Parameter(r"\mu", "every F_k is mu-strongly convex", CURVATURE, above=0, measured="mu"),
        "L": Parameter("L", "smoothness of every F_k", CURVATURE, above=0, measured="smoothness"),
        "num_clients": Parameter("m", "clients", least=1, integer=True, measured="num_clients"),
        "num_active": Parameter("P", "clients that take part in a round", least=1, integer=True,
                                measured="num_active"),
        "T": Parameter("T", "rounds", least=1, integer=True, measured="num_rounds"),
        "D": Parameter(
            r"\|w^t-w^*\|^2", "‖w − w*‖², squared distance before the round", SQUARED_LENGTH, least=0,
            measured="squared_distance", means=square(server(0) - minimiser),
        ),
        "D0": Parameter(
            r"\|w^0-w^*\|^2", "‖w⁰ − w*‖², squared distance of the start to the minimiser", SQUARED_LENGTH, least=0,
            measured="squared_distance", means=square(server(0) - minimiser),
        ),
        "zeta": Parameter(
            r"\zeta_*", "the root mean square of the clients' gradients ‖∇F_k(w*)‖ at the minimiser", GRADIENT, least=0,
            means=norm(gradient(minimiser)),
        ),
        "zeta2": Parameter(
            r"\zeta_*^2", "mean‖∇F_k(w*)‖², the clients' heterogeneity", SQUARED_GRADIENT, least=0,
            measured="sigma_star2", means=square(gradient(minimiser)),
        ),
    },
)  # fmt: skip
ACTIVE = Condition("num_active", "<=", "num_clients")
ORDERED = Condition("mu", "<", "L")


def spread_of_the_draw(*, num_clients: Any, num_active: Any) -> Any:
    """σ = (m − P)/(P(m − 1)): the variance of the mean of P drawn clients, relative to the clients' variance.

    With one client, which is drawn, the formula is 0/0 and σ is 0.
    """
    return named(r"\sigma", (num_clients - num_active) / (num_active * maximum(num_clients - 1, 1)))
