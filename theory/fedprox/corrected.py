"""FedProx: the corrected form of the statement that is false as printed, Corollary 9."""

from dataclasses import replace
from typing import Any

from fedconvex.claims.terms import parameter
from fedconvex.statements.assumptions import Dissimilarity, InexactnessOfEach, SampledIID
from fedconvex.statements.notation import STEPSIZE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedprox import vectors
from fedconvex.theory.fedprox.notation import PAPER
from fedconvex.theory.fedprox.results import DECREASE, SETTING, rho_variable
from fedconvex.types import Real, Reals

LARGEST = (parameter("gamma"),)  # claims are about the largest of them
ALL = replace(PAPER.notation["gammas"], meaning="inexactness of every device, drawn or not", domain="", means=LARGEST)


@PAPER.statement(
    "Corollary 9, corrected", ClaimType.UPPER, symbol=r"\rho^t", relation="=", units=STEPSIZE, conclusion=DECREASE,
    positive=True, assumes=(*SETTING, Dissimilarity(), InexactnessOfEach(), SampledIID()), redefines={"gammas": ALL},
    ours=True, states=vectors.decrease,
)  # fmt: skip
def rho_variable_of_all(*, mu: Real, L: Real, L_minus: Real, B: Real, gammas: Reals, K: Real) -> Any:
    """Theorem 4 where every device has its own inexactness: ρ with γ^t = max over all devices of γ_k^t.

    The paper takes the maximum over the drawn devices. That number depends on the draw over which the conclusion takes
    the expectation, and can be smaller than the inexactness of other devices.
    """
    return rho_variable.calculator.formula(mu=mu, L=L, L_minus=L_minus, B=B, gammas=gammas, K=K)
