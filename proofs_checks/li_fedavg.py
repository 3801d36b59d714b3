"""Proofs of the statements on FedAvg: the clients' drift, the noise of the draw, and the heterogeneity Γ."""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    family,
    gradient,
    local_gradients,
    mean,
    minimiser,
    number,
    parameter,
    server,
    square,
)
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import (
    ClientInfima,
    Derivation,
    Hypothesis,
    Iterate,
    Lower,
    Proved,
    Upper,
    facts,
)
from fedconvex.proofs_checks.library import Parts, by, cited, concluding, jensen, squared, suboptimal
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import li_fedavg

s, K, m, P, mu, L = map(parameter, ("stepsize", "K", "num_clients", "num_active", "mu", "L"))
x, u, w = minimiser, family("v"), server(0)
DRAWN = "li_fedavg.drawnclients"


@proof_of(li_fedavg.drift)
def drift(claim: Claim) -> Derivation:
    """The answers are w less s times the sums of the gradients, of which the squared mean is left."""
    return Derivation((concluding(claim, s**2 * squared(mean(local_gradients))),))


# The draw's probabilities are those of the mean.
proved_by_sum(li_fedavg.unbiased)

# Independent draws' variances add up.
proved_by_sum(li_fedavg.noise_iid)


@proof_of(li_fedavg.noise_uniform)
def noise_uniform(claim: Claim) -> Derivation:
    """The factor that the kernel has of a draw without replacement solves an equation."""
    scale = -square(answers - mean(answers)) / (P * (m - 1)) * by(Hypothesis("scale"))
    return Derivation((concluding(claim, scale),))


# 1/K times the drift.
proved_by_sum(li_fedavg.noise_of_drift, s**2 / K * squared(mean(local_gradients)))

# The variance of the gradients, which their bound is one of.
proved_by_sum(li_fedavg.noise_of_one_step, s**2 / K * by(Hypothesis("variance")))


@proof_of(li_fedavg.gamma_at_most)
def gamma_at_most(claim: Claim) -> Derivation:
    """F_k is above its tangent at x* plus (μ/2)‖· − x*‖², of which x* − ∇F_k(x*)/μ is the minimiser."""
    parts = by(Lower(u, x)) + mu / 2 * squared(u - x + gradient(x) / mu)
    return Derivation((concluding(claim, parts),))


# The descent lemma at x*.
proved_by_sum(li_fedavg.gamma_at_least, by(Upper(x - gradient(x) / L, x)))


def below(at: Vector) -> Parts:
    """mean‖∇F_k(at)‖² ≤ 2L(mean F_k(at) − f(x*) + Γ): no client's gradient step leads below its minimum."""
    down = at - gradient(at) / L
    return 2 * L * (by(Upper(down, at)) + by(ClientInfima(down)))


def drawn(variance: Number) -> Parts:
    """E‖w⁺ − x*‖² ≤ (1 − sμ)‖w − x*‖² + 2Ls²Γ·variance, the factor of the variance of a drawn average."""
    slope = mean(gradient(w))
    down = w - slope / L  # ‖∇f(w)‖² ≤ 2L(f(w) − f(x*))
    of_mean = 2 * L * (by(Upper(down, w)) + suboptimal(down))
    parts = 2 * s * by(Lower(x, w)) + 2 * s * (1 - s * L) * suboptimal(w)
    return parts + s**2 * (variance * below(w) + (1 - variance) * of_mean)


# A gradient step of each client from x*.
proved_by_sum(li_fedavg.variance_at_minimiser, below(x))


@proof_of(li_fedavg.one_step_gamma)
def one_step_gamma(claim: Claim) -> Derivation:
    """Each client's function between x*, v_k and v̄, and below by its minimum."""
    centre = mean(u)
    apart, g, at_centre = u - centre, gradient(u), gradient(centre)
    toward = 2 * s * by(Lower(x, u)) + s * mu * jensen(u - x)
    shorter = s**2 * jensen(g) + squared(apart - s * g) + 2 * s**2 * below(u)
    # what is left of −2s(F_k(v_k) − f(x*)) after the gradients' share, from the value at v̄
    rest = 2 * s * (1 - 2 * s * L)
    level = by(Lower(u, centre, number(0))) + s / 2 * (squared(apart / s + at_centre) + below(centre))
    spare = (1 - rest / (2 * s)) * squared(apart)
    gap = by(ClientInfima(x))  # Γ ≥ 0
    parts = toward + shorter + rest * (level + (1 - s * L) * suboptimal(centre)) + spare
    parts += (2 * s**2 * L - rest * s * L) * gap
    return Derivation((concluding(claim, parts),))


# The clients' gradients at w, in the mean and each.
proved_by_sum(li_fedavg.drawn_iid, drawn(1 / K))


@proof_of(li_fedavg.drawn_iid_rate)
def drawn_iid_rate(claim: Claim) -> Derivation:
    """Round by round."""
    step = Iterate(
        square(w - x), 1 - s * mu, 2 * L * s**2 * parameter("Gamma") / K, facts((1, Proved(DRAWN))), name="all"
    )
    return Derivation((step, concluding(claim, cited("all"))))


@proof_of(li_fedavg.drawn_uniform)
def drawn_uniform(claim: Claim) -> Derivation:
    """The same; the factor that the kernel has of a draw without replacement solves an equation."""
    scale = -square(gradient(w) - mean(gradient(w))) * s**2 / (P * (m - 1)) * by(Hypothesis("scale"))
    return Derivation((concluding(claim, drawn((m - P) / (P * (m - 1))) + scale),))


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "drift": ((1, 1), (1, -1), 0, (3, F(1, 10)), ()),
    "noiseanddrift": ((0, 0), (2, -2), 2, (2, 2, F(1, 4)), ()),
    "noiseofonestep": ((0, 0), (2, -2), 2, (2, 2, F(1, 4)), ()),
    "heterogeneityupperbound": ((2, 2), (2, 0), 0, (2,), ((1, 0),)),
    "heterogeneitylowerbound": ((F(2, 3), F(2, 3)), (2, -2), 2, (F(2, 3),), ()),
    "varianceattheminimiser": ((F(2, 3), F(2, 3)), (2, -2), 2, (3, F(2, 3)), ()),
    "onestepfromanypoints": ((1, 1), (2, -2), 2, (2, 1, 1, F(1, 4)), ((1, 2),)),
    "drawnclients": ((1, 1), (1, -1), 2, (F(1, 2), 2, 1, 1, 1), ()),
    "drawnclientstrounds": ((1, 1), (1, -1), 2, (F(1, 2), 2, 1, 2, 1, 1), ()),
    "drawnclientspofm": ((1, 1), (1, -1), 2, (F(1, 2), 1, 1, 1, 2, 1), ()),
}  # fmt: skip
remarks_of_instances(li_fedavg.PAPER, INSTANCES, frozenset(INSTANCES) - {"onestepfromanypoints"})
