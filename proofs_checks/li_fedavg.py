"""Proofs of the statements on FedAvg: the clients' drift, the noise of the draw, and the heterogeneity Γ."""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    answers,
    family,
    gradient,
    local_gradients,
    mean,
    minimiser,
    parameter,
    square,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Derivation, Hypothesis, Lower, Upper
from fedconvex.proofs_checks.library import Parts, by, concluding, squared
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.statements.statement import Statement
from fedconvex.theory import li_fedavg

s, K, m, P, mu, L = map(parameter, ("stepsize", "K", "num_clients", "num_active", "mu", "L"))
x, u = minimiser, family("v")


@proof_of(li_fedavg.drift)
def drift(claim: Claim) -> Derivation:
    """The answers are w less s times the sums of the gradients, of which the squared mean is left."""
    return Derivation((concluding(claim, s**2 * squared(mean(local_gradients))),))


@proof_of(li_fedavg.unbiased)
def unbiased(claim: Claim) -> Derivation:
    """The draw's probabilities are those of the mean."""
    return Derivation((concluding(claim, Parts()),))


@proof_of(li_fedavg.noise_iid)
def noise_iid(claim: Claim) -> Derivation:
    """Independent draws' variances add up."""
    return Derivation((concluding(claim, Parts()),))


@proof_of(li_fedavg.noise_uniform)
def noise_uniform(claim: Claim) -> Derivation:
    """The factor that the kernel has of a draw without replacement solves an equation."""
    scale = -square(answers - mean(answers)) / (P * (m - 1)) * by(Hypothesis("scale"))
    return Derivation((concluding(claim, scale),))


@proof_of(li_fedavg.noise_of_drift)
def noise_of_drift(claim: Claim) -> Derivation:
    """1/K times the drift."""
    return Derivation((concluding(claim, s**2 / K * squared(mean(local_gradients))),))


@proof_of(li_fedavg.noise_of_one_step)
def noise_of_one_step(claim: Claim) -> Derivation:
    """The variance of the gradients, which their bound is one of."""
    return Derivation((concluding(claim, s**2 / K * by(Hypothesis("variance"))),))


@proof_of(li_fedavg.gamma_at_most)
def gamma_at_most(claim: Claim) -> Derivation:
    """F_k is above its tangent at x* plus (μ/2)‖· − x*‖², of which x* − ∇F_k(x*)/μ is the minimiser."""
    parts = by(Lower(u, x)) + mu / 2 * squared(u - x + gradient(x) / mu)
    return Derivation((concluding(claim, parts),))


@proof_of(li_fedavg.gamma_at_least)
def gamma_at_least(claim: Claim) -> Derivation:
    """The descent lemma at x*."""
    return Derivation((concluding(claim, by(Upper(x - gradient(x) / L, x))),))


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "drift": ((1, 1), (1, -1), 0, (3, F(1, 10)), ()),
    "noiseanddrift": ((0, 0), (2, -2), 2, (2, 2, F(1, 4)), ()),
    "noiseofonestep": ((0, 0), (2, -2), 2, (2, 2, F(1, 4)), ()),
    "heterogeneityupperbound": ((2, 2), (2, 0), 0, (2,), ((1, 0),)),
    "heterogeneitylowerbound": ((F(2, 3), F(2, 3)), (2, -2), 2, (F(2, 3),), ()),
}  # fmt: skip
ATTAINED = frozenset({"drift", "noiseanddrift", "noiseofonestep", "heterogeneityupperbound", "heterogeneitylowerbound"})


@remarks_on(*(li_fedavg.PAPER.find(key) for key in INSTANCES))
def remarks(statement: Statement) -> Remarks:
    """The worst instances that are known."""
    return remarks_of_instances(statement, INSTANCES, ATTAINED)
