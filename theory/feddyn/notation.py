"""Notation of the FedDyn paper: its parameters with symbols, meanings, units and ranges.

E‖·‖² is the expectation of a squared norm over the draws of devices. γ is an average of models here; in the FedProx
paper it is an inexactness.
"""

from dataclasses import replace
from typing import Any

from fedconvex.claims.terms import answers, value
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    CURVATURE,
    GRADIENT,
    LENGTH,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    VALUE,
    Parameter,
    Printed,
    Shape,
    Units,
)
from fedconvex.statements.statement import Paper
from fedconvex.theory.feddyn import vectors

# What the paper prints where a statement here has another formula, left side or relation, by the statement's key.
# The order of factors and the arrangement of fractions are no differences.
PRINTED = {
    # the printed r has the α of the method, which is β in the strongly convex case
    "theorem1": Printed(r"r = 1 + \frac{\mu}{\alpha}", here=r"r = 1 + \frac{\mu}{\beta}"),
    "theorem5": Printed(r"r = 1 + \frac{\mu}{3 \alpha}", here=r"r = 1 + \frac{\mu}{3 \beta}"),
    "equation3": Printed(
        r"\nabla \ell(\theta^t) = \frac{1}{m}\sum_{k\in[m]} \nabla L_k(\theta_*) = "
        r"\sum_{k\in[m]} E_{(x,y)\sim D_k}\nabla \ell_k(\theta_*; (x,y)) = 0",
        here=r"\nabla \ell(\theta_*) = \frac{1}{m}\sum_{k\in[m]} \nabla L_k(\theta_*) = "
        r"\frac{1}{m}\sum_{k\in[m]} E_{(x,y)\sim D_k}\nabla \ell_k(\theta_*; (x,y)) = 0",
    ),
    "equation15": Printed(
        r"\tilde h_k^t = h_k^{t-1} - \alpha (\theta_k^t - \theta^{t-1})",
        here=r"\tilde h_k^t = h_k^{t-1} - \alpha (\tilde\theta_k^t - \theta^{t-1})",
    ),
    "equation18": Printed(
        r"\frac{1}{T} \sum_{t=1}^T \left(1 + \frac{\mu}{3 \alpha}\right)^{t-1} E[\ell(\gamma^{t-1}) - \ell(\theta_*)] "
        r"\le \frac{1}{T} \left(\alpha E\|\gamma^0 - \theta_*\|^2 + \frac{10 m}{P \alpha} A_0\right)"
    ),
}


PER_CURVATURE: Units = (-1, 2)
KAPPA: Units = (-2, 4)  # of the factor of C_t, a squared gradient, in a squared length

PAPER = Paper(
    name="feddyn",
    short="FedDyn",
    reference="Acar et al.: Federated Learning Based on Dynamic Regularization (ICLR 2021)",
    convention="l = (1/m) sum_k L_k, a plain mean; with weights, L_k is num_clients * weights[k] times the client's",
    letters=Letters(
        before=-1, sums_of_powers={"r": "R"}, server=r"\theta^@",
        shared={"h": "h^@"}, memory={"gradient": r"\nabla L_k(\theta_k^@)", "h": "h_k^@"}, last_answers=r"\theta_k^@",
        answers=r"\tilde\theta_k^@", solutions=r"\tilde\theta_k^@", residuals="e_k^@", minimiser=r"\theta_*",
        function="L_k", objective=r"\ell", mean=r"\frac{1}{m}\sum_k", drawn=r"\frac{1}{P}\sum_{k\in P_@}",
        expectation="E",
    ),
    printed=PRINTED,
    notation={
        "alpha": Parameter(r"\alpha", "weight of the dynamic regulariser", CURVATURE, above=0, measured="alpha"),
        "L": Parameter("L", "smoothness of every L_k", CURVATURE, above=0, measured="smoothness"),
        "mu": Parameter(r"\mu", "strong convexity of every L_k", CURVATURE, above=0, measured="mu"),
        "num_clients": Parameter("m", "devices", least=1, integer=True, measured="num_clients"),
        "num_active": Parameter("P", "devices that take part in a round", least=1, integer=True, measured="num_active"),
        "T": Parameter("T", "rounds", least=1, integer=True, measured="num_rounds"),
        "D0": Parameter(
            r"\|\theta^0-\theta_*\|^2", "‖θ⁰ − θ_*‖², squared distance of the start to the minimiser", SQUARED_LENGTH,
            least=0, measured="squared_distance", means=vectors.first_distance,
        ),
        "G": Parameter(
            r"\frac{1}{m}\sum_k\|\nabla L_k(\theta_*)\|^2",
            "(1/m)Σ‖∇L_k(θ_*)‖², mean squared gradient of the devices at the minimiser",
            SQUARED_GRADIENT, least=0, measured="sigma_star2",
            means=vectors.first_error,
        ),
        "delta": Parameter(
            r"(\ell(\theta^0)-\ell_*)", "initial suboptimality ℓ(θ⁰) − ℓ_*", VALUE, least=0, measured="initial_gap",
            means=vectors.initial_gap,
        ),
        "spread": Parameter(
            r"\frac{1}{m}\sum_k\|\theta_k^0-\theta^0\|^2",
            "(1/m)Σ‖θ_k⁰ − θ⁰‖², mean squared distance of the devices' first models to θ⁰",
            SQUARED_LENGTH, least=0, measured="spread",
            means=vectors.spread,
        ),
        # quantities that the lemmas are about, in round t
        "distance": Parameter(
            r"E\|\gamma^{t-1}-\theta_*\|^2", "squared distance before", SQUARED_LENGTH, least=0, means=vectors.distance,
        ),
        "distance_next": Parameter(
            r"E\|\gamma^t-\theta_*\|^2", "squared distance after", SQUARED_LENGTH, least=0,
            means=vectors.distance_after,
        ),
        "C": Parameter(
            "C_{t-1}", "squared error of the devices' gradients before", SQUARED_GRADIENT, least=0,
            means=vectors.C_before,
        ),
        "C_next": Parameter(
            "C_t", "squared error of the devices' gradients after", SQUARED_GRADIENT, least=0, means=vectors.C_after,
        ),
        "epsilon": Parameter(
            r"\epsilon_t", "mean squared move of the devices", SQUARED_LENGTH, least=0, means=vectors.epsilon,
        ),
        "move": Parameter(
            r"E\|\gamma^t-\gamma^{t-1}\|^2", "squared move of the average", SQUARED_LENGTH, least=0, means=vectors.move,
        ),
        "gap": Parameter(
            r"E[\ell(\gamma^{t-1})-\ell(\theta_*)]", "gap before the round", VALUE, least=0, means=vectors.gap,
        ),
        "loss": Parameter(r"E\ell(\gamma^{t-1})", "value before the round", VALUE, means=vectors.loss),
        "loss_next": Parameter(r"E\ell(\gamma^t)", "value after the round", VALUE, means=vectors.loss_after),
        "gradient_square": Parameter(
            r"E\|\nabla\ell(\gamma^{t-1})\|^2", "squared gradient before the round", SQUARED_GRADIENT, least=0,
            means=vectors.slope_before,
        ),
        "gradient_square_next": Parameter(
            r"E\|\nabla\ell(\gamma^t)\|^2", "squared gradient after the round", SQUARED_GRADIENT, least=0,
            means=vectors.slope_after,
        ),
        "A": Parameter(
            "A_{t-1}", "squared error of the memories before, to the minimiser", SQUARED_GRADIENT, least=0,
            means=vectors.A_before,
        ),
        "A_next": Parameter(
            "A_t", "squared error of the memories after", SQUARED_GRADIENT, least=0, means=vectors.A_after,
        ),
        "B": Parameter(
            "B_{t-1}", "squared error of the memories before, to the average", SQUARED_GRADIENT, least=0,
            means=vectors.B_before,
        ),
        "B_next": Parameter(
            "B_t", "squared error of the memories after", SQUARED_GRADIENT, least=0, means=vectors.B_after,
        ),
        "B0": Parameter("B_0", "squared error at the start", SQUARED_GRADIENT, least=0, measured="mean_square",
            means=vectors.first_memory_error,
        ),
        "count": Parameter("m", "how many vectors, one for each device", least=1, integer=True),
        "total": Parameter(
            r"\sum_j\|v_j\|^2", "Σ‖v_j‖², the sum of their squared norms", least=0, means=vectors.sum_of_squares,
        ),
        # quantities of the displayed equations
        "value": Parameter("L_k(x)", "value of a device's function", VALUE),
        "value_z": Parameter("L_k(z)", "value at z", VALUE, means=value(vectors.z)),
        "value_y": Parameter("L_k(y)", "value at y", VALUE, means=value(vectors.y)),
        "inner": Parameter(r"\langle\nabla L_k(x),y-x\rangle", "first-order change", VALUE, means=vectors.first_order),
        "linear": Parameter(r"\langle\nabla L_k(\theta_k^{t-1}),\theta\rangle", "the linear term", VALUE),
        "square": Parameter(r"\|\cdot\|^2", "a squared distance", SQUARED_LENGTH, least=0),
        "separation": Parameter(
            r"\|x-y\|^2", "squared distance of x and y", SQUARED_LENGTH, least=0, means=vectors.separation,
        ),
        "mean_square": Parameter(
            r"\frac{1}{m}\sum_k\|\nabla L_k(x)-\nabla L_k(x_*)\|^2", "(1/m)Σ‖∇L_k(x) − ∇L_k(x_*)‖²",
            SQUARED_GRADIENT, least=0, means=vectors.gradients_from_best,
        ),
        "mean_gradient": Parameter(
            r"\frac{1}{m}\sum_k E\nabla L_k(\tilde\theta_k^t)", "(1/m)Σ E∇L_k, the mean of the devices' gradients",
            GRADIENT, shape=Shape.VECTOR,
            means=vectors.mean_gradient,
        ),
        "new_gradient": Parameter(
            r"\nabla L_k(\theta_k^t)", "gradient at the answer", GRADIENT, shape=Shape.VECTOR,
            means=vectors.new_gradient,
        ),
        "old_gradient": Parameter(
            r"\nabla L_k(\theta_k^{t-1})", "stored gradient", GRADIENT, shape=Shape.VECTOR, means=vectors.stored(0),
        ),
        "gradient": Parameter(
            r"\nabla L_k(\theta^{t-1})", "gradient at θ^{t−1}", GRADIENT, shape=Shape.VECTOR,
            means=vectors.server_gradient,
        ),
        "gradients": Parameter(
            r"\nabla L_@(\theta_*)", "gradients of the devices", GRADIENT, shape=Shape.VECTORS,
            means=vectors.at_minimiser, index="k",
        ),
        "memory": Parameter(
            "h_k^{t-1}", "a device's memory", GRADIENT, shape=Shape.VECTOR, means=vectors.memories(0),
        ),
        "memories": Parameter(
            "h_@^t", "memories of the devices", GRADIENT, shape=Shape.VECTORS, means=vectors.memories(1), index="k",
        ),
        "h": Parameter("h^t", "the server's state", GRADIENT, shape=Shape.VECTOR, means=vectors.server_state),
        "theta": Parameter(
            r"\theta_k^t", "a device's answer", LENGTH, shape=Shape.VECTOR, means=answers,
        ),
        "server": Parameter(
            r"\theta^{t-1}", "the server's point", LENGTH, shape=Shape.VECTOR, means=vectors.server_point,
        ),
    },
)  # fmt: skip


def meaning(**terms: tuple[str, Any]) -> dict[str, Parameter]:
    """Parameters with the symbols and terms that they stand for in one statement, for `redefines`."""
    return {name: replace(PAPER.notation[name], latex=latex, means=term) for name, (latex, term) in terms.items()}
