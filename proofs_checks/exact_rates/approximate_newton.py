"""DANE with η = 1: x = w_k − w are the clients' moves, b = ∇F_k(w_k), whose mean is −(mean x)/s.

The three points are w, the answers w_k and w⁺, their mean: F_k falls from w to w_k, and f at w⁺ exceeds the mean of the
F_k(w_k) by what the deviations of x cost. The gradients' differences between w and w_k pay for that.
"""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, gradient, mean, minimiser, number, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import ROUND, Derivation, Lower, Upper
from fedconvex.proofs_checks.library import added_up, by, concluding, interpolation, squared
from fedconvex.theory import exact_rates

s, mu, L, T = map(parameter, ("stepsize", "mu", "L", "T"))
w, centre = server(0), mean(answers)
x, slope, best = answers - w, mean(gradient(w)), minimiser - w
deviation = x - mean(x)
AVERAGED = by(Upper(centre, answers))  # f(w⁺) is at most the mean of the quadratics above the F_k at w_k


@proof_of(exact_rates.dane_round)
def one_round(claim: Claim) -> Derivation:
    """`discover` found which inequalities are used."""
    rate = 1 / (1 + s * mu) ** 2
    parts = AVERAGED + rate * interpolation(w, answers, mu, L) + (1 - rate) * by(Lower(minimiser, answers))
    parts += rate / (2 * (L - mu)) * squared(slope + (1 / s + mu) * mean(x))
    parts += (1 / (s**2 * (L - mu)) - (L - mu)) / 2 * squared(deviation)
    parts += (1 - rate) * mu / 2 * squared(best - (1 + 1 / (s * mu)) * mean(x))
    return Derivation((concluding(claim, parts),))


@proof_of(exact_rates.dane_convex)
def convex(claim: Claim) -> Derivation:
    """(τ + c)(f(w) − f(w*)) + ‖w − w*‖²/(2s) never grows."""
    before, gap = parameter(ROUND), value(w) - value(minimiser)
    c = s**2 * L**2 / (1 - s**2 * L**2)
    potential = (before + c) * gap + 1 / (2 * s) * square(w - minimiser)
    descent = AVERAGED + interpolation(w, answers, 0, L) + 1 / s * squared(mean(x))
    descent += 1 / (2 * L) * squared(slope + mean(x) / s)
    step = AVERAGED + by(Lower(minimiser, answers)) + (before + c) * descent + 1 / (2 * s) * squared(mean(x))
    step += before * (1 / s**2 - L**2) / (2 * L) * squared(deviation)
    start, end = c * by(Upper(w, minimiser)), 1 / (2 * s) * squared(w - minimiser)
    return added_up(claim, step, potential, number(0), 1 / (T + c), start=start, end=end)
