"""FedProx: what holds and is not in the paper, each proved in `fedconvex.proofs_checks`."""

from typing import Any

from fedconvex.statements.assumptions import Dissimilarity, Inexactness, SampledIID
from fedconvex.statements.notation import STEPSIZE
from fedconvex.statements.statement import Claim
from fedconvex.theory.fedprox.design import rho_of_everyone
from fedconvex.theory.fedprox.notation import PAPER
from fedconvex.theory.fedprox.results import DECREASE, SETTING


@PAPER.statement(
    "Theorem 4, sharper", Claim.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    positive=True, assumes=(*SETTING, Dissimilarity(), Inexactness(), SampledIID()), ours=True,
)  # fmt: skip
def rho_sharp(*, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any) -> Any:
    """One round decreases f in expectation by at least ρ‖∇f(w^t)‖², however few devices are drawn.

    ρ = (1 − γB)/μ − LB(1+γ)/(μ̄μ) − LB²(1+γ)²/(2μ̄²), μ̄ = μ − L_minus: Theorem 4 without its two terms with K. The
    descent lemma is used at w^t, where E[w^{t+1}] = w̄^{t+1}, in place of a Lipschitz bound between w̄^{t+1} and w^{t+1}.
    """
    return rho_of_everyone.formula(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma)
