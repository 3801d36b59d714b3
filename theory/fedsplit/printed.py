"""What the FedSplit paper prints where a statement here has another formula, left side or relation.

By the statement's key. The order of factors and the arrangement of fractions are no differences.
"""

from fedconvex.statements.printed import Printed

LIMIT_OF_GRADIENT_STEPS = Printed(r"\sum_{i=1}^e \sum_{j=1}^m \nabla f_j(G_j^{i-1}(x^*)) = 0")
LIMIT_OF_PROXIMAL_STEPS = Printed(r"\sum_{j=1}^m \nabla M_{sf_j}(x^*) = 0")

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
