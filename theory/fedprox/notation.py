"""Notation of the FedProx paper: its parameters with symbols, meanings, units and ranges."""

from fedconvex.claims.terms import answers, gradient, mean, norm, residuals, value
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    CURVATURE,
    GRADIENT,
    LENGTH,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    STEPSIZE,
    VALUE,
    Parameter,
    Printed,
    Shape,
)
from fedconvex.statements.statement import Paper
from fedconvex.theory.fedprox import vectors

# What the paper prints where a statement here has another formula, left side or relation, by the statement's key.
# The order of factors and the arrangement of fractions are no differences.
PRINTED = {
    # γ-inexactness is a bound; the calculators compute the least γ
    "definition1": Printed(r"\|\nabla h(w^*;w_0)\| \le \gamma \|\nabla h(w_0;w_0)\|"),
    "definition2": Printed(r"\|\nabla h_k(w^*;w_t)\| \le \gamma_k^t \|\nabla h_k(w_t;w_t)\|"),
    "assumption1": Printed(r"B(w) \le B_\epsilon\text{ for all }w\in S_\epsilon^c"),
    "remark5": Printed(r"\gamma B < 1,\qquad \frac{B}{\sqrt{K}} < 1"),
    "theorem6": Printed(r"T = O\left(\frac{\Delta}{\rho \epsilon}\right)"),
    "remark8": Printed(r"T = O\left(\frac{L_\alpha}{\epsilon} + \frac{L_\alpha \sigma^2}{\epsilon^2}\right)"),
    "corollary10": Printed(r"B_\epsilon \le \sqrt{1 + \frac{\sigma^2}{\epsilon}}"),
    # a line between ‖M‖ and the bound
    "equation7": Printed(
        r"\|M_{t+1}\| \le \mathbb{E}_k[L \|w_k^{t+1} - w_k^t\| + \|e_k^{t+1}\|]",
        here=r"\|M_{t+1}\| \le \mathbb{E}_k[L \|w_k^{t+1} - w^t\| + \|e_k^{t+1}\|]",
    ),
}


PAPER = Paper(
    name="fedprox",
    short="FedProx",
    reference="Li et al.: Federated Optimization in Heterogeneous Networks (MLSys 2020)",
    convention="f = sum_k p_k F_k, a mean with weights p_k; E_k is the mean with these weights",
    letters=Letters(
        server="w^@", answers="w_k^@", last_answers="w_k^@", solutions=r"\hat w_k^@", residuals="e_k^@",
        minimiser="w^*", expectation=r"\mathbb{E}_{S_{@-1}}", drawn=r"\frac{1}{K}\sum_{k\in S_{@-1}}",
        free={"next": "w^{@+1}"},
    ),
    printed=PRINTED,
    notation={
        "mu": Parameter(r"\mu", "weight of the proximal term", CURVATURE, above=0, measured="proximal_weight"),
        "L": Parameter("L", "smoothness of every F_k", CURVATURE, least=0, measured="smoothness"),
        "L_minus": Parameter("L_{-}", "no Hessian is below -L_minus", CURVATURE, least=0, measured="weak_convexity"),
        "B": Parameter("B", "dissimilarity of the F_k (Definition 3)", least=1, measured="dissimilarity"),
        "gamma": Parameter(r"\gamma", "inexactness (Definition 1)", least=0, most=1, measured="inexactness"),
        "K": Parameter("K", "devices drawn in a round", least=1, integer=True, measured="num_drawn"),
        "sigma2": Parameter(
            r"\sigma^2", "bound of the variance of the clients' gradients", SQUARED_GRADIENT, least=0,
            measured="gradient_variance",
        ),
        "epsilon": Parameter(r"\epsilon", "accuracy, of the squared norm of the gradient", SQUARED_GRADIENT, above=0),
        "delta": Parameter(r"\Delta", "initial suboptimality f(w0) - f*", VALUE, least=0, measured="initial_gap"),
        "T": Parameter("T", "rounds", least=1, integer=True, measured="num_rounds"),
        "rho": Parameter(r"\rho", "guaranteed decrease of f per squared gradient norm", STEPSIZE, above=0),
        # quantities of the definitions and of the proofs
        "residual": Parameter(r"\|\nabla h\|", "norm of the subproblem's gradient at the answer", GRADIENT, least=0),
        "client_gradient": Parameter(
            r"\|\nabla F_k(w^t)\|", "norm of a client's gradient at w^t", GRADIENT, least=0,
            measured="client_gradient", means=norm(vectors.clients_gradients),
        ),
        "gradient": Parameter(
            r"\|\nabla f(w^t)\|", "norm of the objective's gradient", GRADIENT, least=0, measured="gradient",
            means=norm(vectors.slope),
        ),
        "mean_square": Parameter(
            r"\mathbb{E}_k\|\nabla F_k(w)\|^2", "mean of the clients' squared gradients", SQUARED_GRADIENT, least=0,
            measured="mean_square",
        ),
        "square": Parameter(
            r"\|\nabla f(w)\|^2", "its squared norm", SQUARED_GRADIENT, least=0, measured="square"
        ),
        "dissimilarities": Parameter(
            "B(@)", "B(w) at points outside S_epsilon", least=1, shape=Shape.SEQUENCE, index="w",
            domain=r"w\in S_\epsilon^c",
        ),
        "gammas": Parameter(
            r"\gamma_@^t", "inexactness of every drawn device", least=0, most=1, shape=Shape.SEQUENCE,
            index="k", domain=r"k\in S_t",
        ),
        "gamma_drawn": Parameter(
            r"\gamma^t", "the largest inexactness of the devices in a given draw", least=0, most=1
        ),
        "weights": Parameter(
            "p", "weights of the clients", least=0, most=1, shape=Shape.SEQUENCE, index="k", count="N"
        ),
        "values": Parameter(
            "F_@(w)", "the clients' function values", VALUE, shape=Shape.SEQUENCE, index="k", count="N"
        ),
        "value": Parameter("f(w^t)", "value at the server's point", VALUE, measured="value", means=value(vectors.here)),
        "mean_value": Parameter(
            r"f(\bar w^{t+1})", "value at the mean of all answers", VALUE, means=value(vectors.average)
        ),
        "distance": Parameter(r"\|w-w^t\|", "distance from the server's point", LENGTH, least=0),
        "mean_new_gradient": Parameter(
            r"\mathbb{E}_k\nabla F_k(w_k^{t+1})", "mean of the gradients at the answers", GRADIENT, shape=Shape.VECTOR,
            means=mean(gradient(answers)),
        ),
        "mean_residual": Parameter(
            r"\mathbb{E}_k e_k^{t+1}", "mean of the residuals", GRADIENT, shape=Shape.VECTOR, means=mean(residuals)
        ),
        "lipschitz": Parameter(
            "L_0", "local Lipschitz constant of f", GRADIENT, least=0, means=vectors.lipschitz(vectors.any_next)
        ),
        "mean_step": Parameter(
            r"\|\bar w^{t+1}-w^t\|", "length of the mean step", LENGTH, least=0, means=norm(vectors.mean_step)
        ),
        "step": Parameter(r"\|w^{t+1}-w^t\|", "length of the server's step", LENGTH, least=0),
        "deviation": Parameter(
            r"\|w^{t+1}-\bar w^{t+1}\|", "(mean) deviation of the server's step", LENGTH, least=0,
            means=norm(vectors.any_next - vectors.average),
        ),
        "mean_square_deviation": Parameter(
            r"\mathbb{E}_{S_t}\|w^{t+1}-\bar w^{t+1}\|^2", "mean square of that deviation", SQUARED_LENGTH, least=0,
            means=vectors.deviation,
        ),
        "Q": Parameter("Q_t", "increase of f by sampling devices", VALUE, least=0, means=vectors.sampling_error),
    },
)  # fmt: skip
