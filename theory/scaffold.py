r"""Karimireddy et al.: *SCAFFOLD: stochastic controlled averaging for federated learning* (ICML 2020).

Main statements
---------------
* `accelerated` (not in the paper): the tight linear rate of any number e of local steps up to √(3κ/4).

The paper's bounds for strongly convex clients and exact gradients are of the order of κ ln(1/ε) rounds with any number
of local steps. The statement here is in none of the papers: with √(3κ/4) local steps, √(κ/3) ln(1/ε) rounds suffice.

Notation: `stepsize` s and `local_steps` e of the local gradient steps (the paper's η_l and K); `mu`, `L` curvatures of
every client. The server's stepsize (the paper's η_g) is 1, and control variates are those of option II.
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Number, gradient, memory, minimiser, parameter, server, shared, square
from fedconvex.statements.assumptions import Everyone, Runs, Smooth, StronglyConvex
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import power
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import NUMBER, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.theory.notation import CONVEXITY, SMOOTHNESS
from fedconvex.types import Real

PAPER = Paper(
    name="scaffold",
    short="SCAFFOLD",
    reference="Karimireddy, Kale, Mohri, Reddi, Stich, Suresh: SCAFFOLD: Stochastic controlled averaging for federated "
    "learning (ICML 2020)",
    convention="f = (1/m) sum_k F_k, a plain mean",
    letters=Letters(
        server="w^@", answers="y_k^@", minimiser="w^*", shared={"c": "c^@"}, memory={"c": "c_k^@"}, local_step="G_k",
        before_last_step="y_{k,e-1}", mean=r"\frac{1}{m}\sum_k",
    ),
    notation={
        "stepsize": Parameter("s", "stepsize of the local steps", STEPSIZE, above=0, measured="stepsize"),
        "local_steps": Parameter("e", "local steps in a round", least=1, integer=True, measured="local_steps"),
        "mu": CONVEXITY,
        "L": SMOOTHNESS,
    },
)  # fmt: skip
s, e = parameter("stepsize"), parameter("local_steps")


def energy(time: int) -> Number:
    """V = ‖w − w*‖² + (es)² mean‖c_k − c − ∇F_k(w*)‖², which vanishes at the fixed point alone."""
    controls = e * s * (memory("c", time) - shared("c", time) - gradient(minimiser))
    return square(server(time) - minimiser) + square(controls)


def contracts(rate: Number) -> Claim:
    """V is at most the rate times what it was a round before."""
    return at_most(energy(1), rate * energy(0))


@PAPER.statement(
    "Acceleration", ClaimType.UPPER, symbol=r"\rho", relation="=", units=NUMBER, ours=True,
    states=contracts, assumes=(
        Runs("Scaffold", fixed=(("server_stepsize", 1), ("option", 2))), Everyone(), Smooth(), StronglyConvex(),
        Condition("stepsize", "<=", lambda L: 1 / L),
        Condition("mu", "<=", lambda stepsize, local_steps: 3 / (4 * stepsize * local_steps**2)),
    ),
)  # fmt: skip
def accelerated(*, stepsize: Real, local_steps: Real, mu: Real, L: Real) -> Any:
    """One round contracts V = ‖w − w*‖² + (es)² mean‖c_k − c − ∇F_k(w*)‖² by ρ = (1 − sμ)^{2e} if 4e²sμ ≤ 3.

    Use it to choose e: with s = 1/L and e = ⌊√(3κ/4)⌋, V falls to ε times its first value in about √(κ/3) ln(1/ε)
    rounds; one local step a round takes (κ/2) ln(1/ε). Both evaluate about as many gradients: communication is saved.
    Clients that are one quadratic of curvature μ attain ρ, as e steps of gradient descent do.
    """
    return power(1 - stepsize * mu, local_steps) ** 2


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
