"""Notation of the FedSplit paper: its parameters with symbols, meanings, units and ranges."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from fedconvex.claims.terms import Number, Vector, gradient, square, value
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    CURVATURE,
    GRADIENT,
    LENGTH,
    NUMBER,
    SQUARED_LENGTH,
    STEPSIZE,
    VALUE,
    Parameter,
    Printed,
    Shape,
)
from fedconvex.statements.statement import Paper
from fedconvex.theory.fedsplit.vectors import BLOCKS, ON_THE_WAY, START, SUBPROBLEM_CENTER

LIMIT_OF_GRADIENT_STEPS = Printed(r"\sum_{i=1}^e \sum_{j=1}^m \nabla f_j(G_j^{i-1}(x^*)) = 0")
LIMIT_OF_PROXIMAL_STEPS = Printed(r"\sum_{j=1}^m \nabla M_{sf_j}(x^*) = 0")

# What the paper prints where a statement here has another formula, left side or relation, by the statement's key.
# The order of factors and the arrangement of fractions are no differences.
PRINTED = {
    "equation5": LIMIT_OF_GRADIENT_STEPS,
    "proposition1": LIMIT_OF_GRADIENT_STEPS,
    "equation7": LIMIT_OF_PROXIMAL_STEPS,
    "proposition2": LIMIT_OF_PROXIMAL_STEPS,
    "equation11": Printed(r"\mathcal{N}_E(x) = E^\perp\text{ where }x_1 = x_2 = \dots = x_m"),
    "equation12": Printed(r"0 \in \nabla F(x) + \mathcal{N}_E(x)"),
    # one vector cannot be subtracted from a tuple of them
    "equation13": Printed(
        r"z_j^* = z_j^* + 2 (\mathrm{prox}_{sf_j}(2 z^* - z_j^*) - z^*)",
        here=r"z_j^* = z_j^* + 2 (\mathrm{prox}_{sf_j}(2 x^* - z_j^*) - x^*)",
    ),
    "proposition3": Printed(r"\sum_{j=1}^m f_j(x^*) = \inf_x \sum_{j=1}^m f_j(x)"),
    "equation15": Printed(r"\|\mathrm{prox\_update}_j(z) - \mathrm{prox}_{sf_j}(z)\| \le b"),
    "equation21": Printed(
        r"F(x) = \sum_{j=1}^m \left\{\sum_{i=1}^{n_j} \sum_{k=1}^K \log(1 + e^{-b_{ijk} a_{ij}^\top x_k}) + "
        r"\frac{\lambda}{2} \sum_{k=1}^K \|x_k\|^2\right\}"
    ),
}


# Other accuracies than of the objective, for `redefines`.
OF_DISTANCE = {"epsilon": Parameter(r"\varepsilon", "accuracy, of the distance to the minimiser", LENGTH, above=0)}
RELATIVE = {"epsilon": Parameter(r"\varepsilon", "accuracy, relative", above=0, most=1)}

PAPER = Paper(
    name="fedsplit",
    short="FedSplit",
    reference="Pathak, Wainwright: FedSplit: an algorithmic framework for fast federated optimization (NeurIPS 2020)",
    convention="F = sum_j f_j, a plain sum; with weights, f_j is num_clients * weights[j] times the client's function",
    letters=Letters(
        start=1, server="x^{(@)}", memory={"z": "z_j^{(@)}"}, shared={"anchor": "a"},
        answers="z_j^{(@-1/2)}", last_answers="z_j^{(@-1/2)}",
        solutions=r"\mathrm{prox}_{sf_j}(2x^{(@-1)}-z_j^{(@-1)})", residuals="e_j",
        local_gradients=r"\sum_{i=1}^e\nabla f_j(G_j^{i-1}(x^{(@-1)}))", minimiser="x^*", function="f_j",
        local_step="G_j",
        objective="F", share=r"\frac{1}{m}", mean=r"\frac{1}{m}\sum_{j=1}^m",
        drawn=r"\mathbb{E}_{j\in S_{@-1}}", client="j", expectation="", free={"anchor": "x^{(1)}"},
    ),
    printed=PRINTED,
    notation={
        "mu": Parameter(r"\ell_*", "strong convexity of every f_j", CURVATURE, above=0, measured="mu"),
        "L": Parameter("L^*", "smoothness of every f_j", CURVATURE, above=0, measured="smoothness"),
        "kappa": Parameter(r"\kappa", "condition number L^*/ell_*", least=1, measured="condition_number"),
        "stepsize": Parameter("s", "stepsize of the proximal steps", STEPSIZE, above=0, measured="stepsize"),
        "local_steps": Parameter("e", "local steps in a round", least=1, integer=True),
        "local_stepsize": Parameter(r"\alpha", "stepsize of the local gradient steps", above=0),
        "num_clients": Parameter("m", "clients", least=1, integer=True, measured="num_clients"),
        "t": Parameter("t", "rounds", least=1, integer=True, measured="num_rounds"),
        "b": Parameter("b", "error of the proximal steps", LENGTH, least=0, measured="prox_error"),
        "epsilon": Parameter(r"\varepsilon", "accuracy, of the objective", VALUE, above=0),
        "regularizer": Parameter(r"\lambda", "regularisation", CURVATURE, above=0, measured="regularization"),
        "initial_distance": Parameter(
            r"\|z^{(1)}-z^*\|", "distance of the first z from its fixed point, over all clients", LENGTH, least=0,
            measured="stacked_distance",
        ),
        "start_distance": Parameter(
            r"\|x_j^{(t)}-\mathrm{prox}_{sf_j}(x_j^{(t)})\|",
            "‖x_j − prox_{sf_j}(x_j)‖, the length of the proximal step", LENGTH,
            least=0,
        ),
        "squared_distance": Parameter(
            r"\|x^{(1)}-x^*\|^2", "‖x^(1) − x*‖², of the start to a minimiser", SQUARED_LENGTH, above=0,
            measured="squared_distance",
        ),
        "mus": Parameter(r"\ell", "strong convexity of each f_j", CURVATURE, above=0, shape=Shape.SEQUENCE),
        "Ls": Parameter("L", "smoothness of each f_j", CURVATURE, above=0, shape=Shape.SEQUENCE),
        "values": Parameter("f_@(x)", "values of the f_j", VALUE, shape=Shape.SEQUENCE),
        "squared_distances": Parameter(
            r"\|z_@-x^{(1)}\|^2", "squared distances from the start", SQUARED_LENGTH, least=0, shape=Shape.SEQUENCE
        ),
        "squared_norm": Parameter(
            r"\sum_{k=1}^K\|x_k\|^2", "Σ‖x_k‖², the squared norm of all unknowns", SQUARED_LENGTH, least=0),
        "margins": Parameter(
            r"b_@ a_@^\top x", "margins b a^T x of all samples", NUMBER, shape=Shape.SEQUENCE,
            index="{ij}", domain=r"i\le n_j,\,j\le m",
        ),
        "x": Parameter("x", "a point", LENGTH, shape=Shape.VECTOR),
        "u": Parameter("u", "a point", LENGTH, shape=Shape.VECTOR),
        "update": Parameter(r"\mathrm{prox\_update}_j(z)", "the computed proximal point", LENGTH, shape=Shape.VECTOR),
        "prox": Parameter(r"\mathrm{prox}_{sf_j}(z)", "the proximal point", LENGTH, shape=Shape.VECTOR),
        "point": Parameter(r"\mathrm{prox}_{sf_j}(2x-z_j)", "a client's proximal point", LENGTH, shape=Shape.VECTOR),
        "points": Parameter(r"x_@^{(t+1/2)}", "the clients' points", LENGTH, shape=Shape.VECTORS),
        "gradient": Parameter(r"\nabla f_j(x)", "a client's gradient", GRADIENT, shape=Shape.VECTOR),
        "gradients": Parameter(r"\nabla f_@(x)", "the clients' gradients", GRADIENT, shape=Shape.VECTORS),
        "blocks": Parameter("v", "a vector of the product space, block by block", GRADIENT, shape=Shape.VECTORS),
        "A": Parameter("A", "the clients' design matrices", shape=Shape.MATRICES),
    },
)  # fmt: skip


def about(letters: Mapping[str, Parameter] = MappingProxyType({}), **terms: Vector | Number) -> dict[str, Parameter]:
    """The parameters that stand for terms of the claim language, among `letters`, which some are written with."""
    known = {**PAPER.notation, **letters}
    return {**letters, **{name: replace(known[name], means=term) for name, term in terms.items()}}


# In (3) and (10) s is the stepsize of FedGD's gradient steps, not of proximal steps.
OF_GRADIENT_STEPS = {
    "stepsize": Parameter("s", "stepsize of the local gradient steps", STEPSIZE, above=0, measured="stepsize")
}
# in (17), where t counts the gradient steps of a round
AT_U = about(
    PAPER.relettered(u="u^{(t)}", x="x_j^{(t)}", gradient=r"\nabla f_j(u^{(t)})"),
    u=ON_THE_WAY, x=SUBPROBLEM_CENTER, gradient=gradient(ON_THE_WAY),
)  # fmt: skip
AT_Z = about(  # in (19)
    PAPER.relettered(values="f_@(z_@)"), values=value(BLOCKS), squared_distances=square(BLOCKS - START)
)
