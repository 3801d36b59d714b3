"""One gradient step of P of m clients. d = w − w*, h = ∇F_k(w) − ∇F_k(w*), g = ∇F_k(w*); the server gets a drawn mean
of d − s(h + g).

Its mean is d − s·mean h, and the draw adds σs² times the mean square of u + g, u = h − mean h.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import gradient, mean, minimiser, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.exact_rates.draws import SPREAD, WRITTEN, as_written, by_number_of_clients, in_one_line
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Iterate
from fedconvex.proofs_checks.library import Parts, added_up, by, cited, concluding, interpolation, squared
from fedconvex.theory import exact_rates

s, mu, L, T = map(parameter, ("stepsize", "mu", "L", "T"))
d, h, g = server(0) - minimiser, gradient(server(0)) - gradient(minimiser), gradient(minimiser)
DISTANCE, HETEROGENEITY = square(d), square(g)
u, SLOW = h - mean(h), 1 - s * mu


def two(c: Any, spread: Any) -> Parts:
    """c‖u‖² + b‖g‖² − σs²‖u + g‖² ≥ 0, b = σs²c/(c − σs²): one square."""
    noise = spread * s**2
    parts: Parts = (c - noise) * squared(u - noise / (c - noise) * g)
    return parts


def one_round(spread: Any) -> Parts:
    """E‖w⁺ − w*‖² ≤ (1 − sμ)²‖w − w*‖² + bζ_*²."""
    c = 2 * s * SLOW / (L - mu)
    return c * by(Between(server(0), minimiser)) + (c - s**2) * squared(mean(h) - mu * d) + two(c, spread)


def written_round() -> Parts:
    """The same with σ as it is written."""
    apart = s * (L - mu)
    slope = 4 * s**2 * SLOW**2 / ((2 * SLOW - SPREAD * apart) * (2 * SLOW - WRITTEN * apart))
    return one_round(SPREAD) + as_written(slope, HETEROGENEITY)


@proof_of(exact_rates.fedsgd_round)
def drawn(claim: Claim) -> Derivation:
    """One inequality between w and w*, one square of the means and one of the deviations."""
    return in_one_line(claim, written_round())


@proof_of(exact_rates.fedsgd_run)
def run(claim: Claim) -> Derivation:
    """‖w − w*‖² less the floor contracts."""
    price = 2 * WRITTEN * s**2 * SLOW / (2 * SLOW - WRITTEN * s * (L - mu))
    error, rounds = DISTANCE - price / (s * mu * (2 - s * mu)) * HETEROGENEITY, written_round()
    shrinks = Iterate(error, SLOW**2, facts=rounds.facts, squares=rounds.squares, name="all rounds")
    return by_number_of_clients((shrinks, concluding(claim, cited("all rounds"))))


@proof_of(exact_rates.fedsgd_convex)
def convex(claim: Claim) -> Derivation:
    """2s(f(w) − f(w*)) is at most the decrease of E‖w − w*‖² and the noise."""
    parts = 2 * s * interpolation(minimiser, server(0), 0, L) + (s / L - s**2) * squared(mean(h)) + two(s / L, SPREAD)
    slope = s**2 / ((1 - SPREAD * s * L) * (1 - WRITTEN * s * L))
    parts = 1 / (2 * s) * (parts + as_written(slope, HETEROGENEITY))
    gain = value(server(0)) - value(minimiser) - WRITTEN * s / (2 * (1 - WRITTEN * s * L)) * HETEROGENEITY
    return by_number_of_clients(
        added_up(claim, parts, DISTANCE / (2 * s), gain, 1 / T, end=1 / (2 * s) * squared(d)).lines
    )
