"""Proofs of the rates of stochastic gradient descent: the inequalities of one step, added up.

With one client drawn, or the average of several, the variance of a step is at most σ²/K.
"""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import gradient, infimum, mean, minimiser, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import (
    Derivation,
    During,
    Hypothesis,
    Infimum,
    Lower,
    Nonnegative,
    Upper,
)
from fedconvex.proofs_checks.library import added_up, by, squared
from fedconvex.theory import ghadimi_lan

w, after, x = server(0), server(1), minimiser
slope = mean(gradient(w))
s, L, D, N, K, sigma2, delta = map(parameter, ("stepsize", "L", "D", "N", "K", "sigma2", "delta"))
noise = (sigma2 * N).sqrt()
VARIANCE = by(Hypothesis("variance"))
LONG = L + noise / D - 1 / s  # ≥ 0: the steps are long enough
SHORT = by(Nonnegative(D - s * noise))
DRAWN = by(Nonnegative(sigma2 - sigma2 / K))


@proof_of(ghadimi_lan.corollary2_2nonconvex)
def mean_squared_gradient(claim: Claim) -> Derivation:
    """E f(x⁺) ≤ f(x) − s(1 − sL/2)‖∇f(x)‖² + s²Lσ²/(2K), and 1/(1 − sL/2) ≤ 2."""
    decrease, error = s * (1 - s * L / 2), s**2 * L * sigma2 / (2 * K)
    step = by(Upper(after, w)) + s**2 * L / (2 * K) * VARIANCE
    share = 1 / (N * decrease)
    given_away = (delta + N * error) * share * by(Nonnegative(1 - s * L))  # 2/(Ns) less the share
    given_away += 2 * delta / N * by(Nonnegative(LONG)) + L * noise / N * SHORT + L * s * DRAWN
    return added_up(
        claim, step, value(w) - infimum, decrease * square(slope), share, error=error, rest=given_away,
        start=by(Hypothesis("initial gap")), end=by(Infimum(w)), name="all steps",
    )  # fmt: skip


@proof_of(ghadimi_lan.corollary2_2convex)
def mean_gap(claim: Claim) -> Derivation:
    """E‖x⁺ − x_*‖² ≤ ‖x − x_*‖² − 2s(f(x) − f_*) + s²σ²/K, as f is cocoercive and s ≤ 1/L."""
    closest = x + slope / L
    cocoercive = by(Upper(closest, x)) + by(Lower(closest, w))
    step = 2 * s * cocoercive + s * (1 / L - s) * squared(slope) + s**2 / K * VARIANCE
    gain, start = 2 * s * (value(w) - value(x)), by(During("start", (), squared(w - x).squares))
    share = 1 / (2 * s * N)
    given_away = (LONG + 1 / (2 * s)) / N * start + noise / N * (SHORT + by(Nonnegative(s * noise / 2)))
    given_away += s / 2 * DRAWN
    return added_up(
        claim, step, square(w - x), gain, share, end=squared(w - x), rest=given_away, error=s**2 * sigma2 / K,
        name="all steps",
    )  # fmt: skip
