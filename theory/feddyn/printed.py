"""What the FedDyn paper prints where a statement here has another formula, left side or relation.

By the statement's key. The order of factors and the arrangement of fractions are no differences.
"""

from fedconvex.statements.printed import Printed

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
