r"""Wang, Liu, Liang, Joshi, Poor: *Tackling the objective inconsistency problem* (NeurIPS 2020), the method FedNova.

Main statements
---------------
* `fedavg_fixed_point`: with τ_k local steps of client k, FedAvg minimises another objective, exactly.
* `fednova_fixed_point`: FedNova's normalised average removes the weights τ_k, to first order in the stepsize.
* `inconsistent_minimiser`: FedAvg's fixed point for small stepsizes, the minimiser of Σ p_k τ_k F_k.

The statements here are in the paper's setting, in one dimension and without noise: the clients are ½a_k(x − c_k)².

Notation: `stepsize` s; `steps` τ_k local steps, `curvatures` a_k, `minimisers` c_k, `weights` p_k of the clients.
"""

from typing import Any

from fedconvex.statements.functions import power
from fedconvex.statements.notation import CURVATURE, LENGTH, STEPSIZE, Parameter, Shape
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.types import Real, Reals

PAPER = Paper(
    name="fednova",
    short="FedNova",
    reference="Wang, Liu, Liang, Joshi, Poor: Tackling the objective inconsistency problem (NeurIPS 2020)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    restated=True,
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "steps": Parameter(
            r"\tau", "local steps of the clients", least=1, integer=True, shape=Shape.SEQUENCE, index="k"
        ),
        "weights": Parameter("p", "weights of the clients", above=0, shape=Shape.SEQUENCE, index="k"),
        "curvatures": Parameter("a", "curvatures of the clients", CURVATURE, above=0, shape=Shape.SEQUENCE, index="k"),
        "minimisers": Parameter("c", "minimisers of the clients", LENGTH, shape=Shape.SEQUENCE, index="k"),
    },
)


def _mean(parts: Any) -> Any:
    """Σ w_k c_k/Σ w_k of pairs (w_k, c_k)."""
    above, below = 0, 0
    for weight, center in parts:
        above, below = above + weight * center, below + weight
    return above / below


@PAPER.statement("Fixed point of FedAvg", ClaimType.IDENTITY, symbol="x", relation="=", units=LENGTH)
def fedavg_fixed_point(*, stepsize: Real, steps: Reals, weights: Reals, curvatures: Reals, minimisers: Reals) -> Any:
    """With τ_k local steps FedAvg rests at Σ w_k c_k/Σ w_k, w_k = p_k(1 − (1 − sa_k)^{τ_k}): more steps count more."""
    every = zip(weights, curvatures, steps, minimisers, strict=True)
    return _mean((p * (1 - power(1 - stepsize * a, tau)), c) for p, a, tau, c in every)


@PAPER.statement("Fixed point of FedNova", ClaimType.IDENTITY, symbol="x", relation="=", units=LENGTH)
def fednova_fixed_point(*, stepsize: Real, steps: Reals, weights: Reals, curvatures: Reals, minimisers: Reals) -> Any:
    """FedNova rests at Σ w_k c_k/Σ w_k, w_k = p_k(1 − (1 − sa_k)^{τ_k})/τ_k: p_k a_k for small s, as it should be."""
    every = zip(weights, curvatures, steps, minimisers, strict=True)
    return _mean((p * (1 - power(1 - stepsize * a, tau)) / tau, c) for p, a, tau, c in every)


@PAPER.statement("Inconsistent objective", ClaimType.IDENTITY, symbol="x", relation="=", units=LENGTH)
def inconsistent_minimiser(*, steps: Reals, weights: Reals, curvatures: Reals, minimisers: Reals) -> Any:
    """The minimiser of Σ p_k τ_k F_k, where FedAvg rests for s → 0: Σ w_k c_k/Σ w_k, w_k = p_k τ_k a_k."""
    every = zip(weights, curvatures, steps, minimisers, strict=True)
    return _mean((p * tau * a, c) for p, a, tau, c in every)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
