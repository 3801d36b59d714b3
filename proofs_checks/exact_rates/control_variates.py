"""SCAFFOLD with one local step. d = w − w*, h = ∇F_k(w) − ∇F_k(w*), a = c_k − ∇F_k(w*): the drawn mean is d − s(h − a)
less the mean of sa. Deviations of h and a from their means are u and b.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import gradient, mean, memory, minimiser, norm, number, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.exact_rates.draws import SPREAD, P, m
from fedconvex.proofs_checks.kernel.proofs import Between, Cases, Derivation, Lower, Upper
from fedconvex.proofs_checks.library import added_up, by, cited, concluding, interpolation, rooted, squared
from fedconvex.theory import exact_rates

s, eta, mu, L, T = map(parameter, ("stepsize", "server_stepsize", "mu", "L", "T"))
INVARIANTS = (("shared c", mean(memory("c", 0))),)
w = server(0)
d, h, a = w - minimiser, gradient(w) - gradient(minimiser), memory("c", 0) - gradient(minimiser)
u, b = h - mean(h), a - mean(a)


def _step(claim: Claim, q: Any, short: bool) -> Derivation:
    """‖d − ηs·mean h‖² ≤ q²‖d‖², for q at least 1 − ηsμ (`short` steps) or ηsL − 1, as for gradient descent."""
    t = eta * s
    steps, bounds = (2 - t * (mu + L), Lower) if short else (t * (mu + L) - 2, Upper)
    curved = by(Between(w, minimiser)) + squared(u)
    parts = t**2 * curved + t * steps * (by(bounds(w, minimiser)) + by(bounds(minimiser, w)))
    lines = rooted(claim.left, q * norm(d), parts, "a round")
    return Derivation((*lines, concluding(claim, cited("a round"))), INVARIANTS)


@proof_of(exact_rates.scaffold_step)
def step(claim: Claim) -> Derivation:
    """The larger of both is 1 − ηsμ for ηs ≤ 2/(μ + L), and ηsL − 1 else."""
    above, below = _step(claim, 1 - eta * s * mu, True), _step(claim, eta * s * L - 1, False)
    return Derivation(cases=Cases(number(2), eta * s * (mu + L), above, below))


@proof_of(exact_rates.scaffold_drawn_round)
def drawn(claim: Claim) -> Derivation:
    """2s/(μ + L) times the inequality between w and w*; of the draw's noise s²‖u − b‖² nothing is left."""
    c, A = 2 * s / (mu + L), 3 * s**2 * m / P
    parts = c * by(Between(w, minimiser)) + (c - 4 * s**2) * squared(mean(h)) + (c - 6 * s**2) * squared(u)
    kept = A * (P / m - c * mu * L)
    parts += kept * squared(mean(a)) + (kept - A * P / m / 2) * squared(b)
    parts += 2 * s**2 * squared(u + b / 2) + (1 - SPREAD) * s**2 * squared(u - b)
    return Derivation((concluding(claim, parts),), INVARIANTS)


@proof_of(exact_rates.scaffold_convex)
def convex(claim: Claim) -> Derivation:
    """‖w − w*‖² + 2(m/P)s² mean‖c_k − ∇F_k(w*)‖² falls by 2s(f(w) − f(w*)), in expectation."""
    spare = s / L - 4 * s**2
    parts = 2 * s * interpolation(minimiser, w, 0, L) + (spare + s**2) * squared(mean(h)) + spare * squared(u)
    parts += 2 * s**2 * squared(mean(a)) + s**2 * squared(u + b) + (1 - SPREAD) * s**2 * squared(u - b)
    energy = square(d) + 2 * m / P * s**2 * square(a)
    gain = 2 * s * (value(w) - value(minimiser))
    end = squared(d) + 2 * m / P * s**2 * squared(a)
    return added_up(claim, parts, energy, gain, 1 / (2 * s * T), end=end, invariants=INVARIANTS)
