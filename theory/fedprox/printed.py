"""What the FedProx paper prints where a statement here has another formula, left side or relation.

By the statement's key. The order of factors and the arrangement of fractions are no differences.
"""

from fedconvex.statements.printed import Printed

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
