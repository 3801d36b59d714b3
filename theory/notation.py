"""Parameters that mean the same in many papers: a paper's notation takes those that it has, by its own names."""

from fedconvex.claims.terms import gradient, minimiser, norm, square
from fedconvex.statements.notation import CURVATURE, GRADIENT, SQUARED_GRADIENT, VALUE, Parameter

CONVEXITY = Parameter(r"\mu", "every F_k is mu-strongly convex", CURVATURE, above=0, measured="mu")
SMOOTHNESS = Parameter("L", "smoothness of every F_k", CURVATURE, above=0, measured="smoothness")
ROUNDS = Parameter("T", "rounds", least=1, integer=True, measured="num_rounds")
GRADIENT_BOUND = Parameter("G", "no client's gradient is longer", GRADIENT, least=0, measured="gradient_bound")
OBJECTIVE_GAP = Parameter(
    r"\Gamma", "f(x*) less the mean of the clients' own minima", VALUE, least=0, measured="objective_gap"
)
SIMILARITY = Parameter(
    r"\delta", "no client's Hessian differs more from the objective's", CURVATURE, least=0, measured="similarity"
)
SIGMA_STAR = Parameter(
    r"\sigma_*", "root mean square of the clients' gradients at the minimiser", GRADIENT, least=0,
    measured="sigma_star", means=norm(gradient(minimiser)),
)  # fmt: skip
SIGMA_STAR2 = Parameter(
    r"\sigma_*^2", "mean squared gradient of the clients at the minimiser", SQUARED_GRADIENT, least=0,
    measured="sigma_star2", means=square(gradient(minimiser)),
)  # fmt: skip
