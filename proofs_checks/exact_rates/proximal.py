"""FedProx with exact solutions: one inequality between each client's answer and w*, in its mean and in its deviations.

x = w_k − w* are the answers, h = ∇F_k(w_k) − ∇F_k(w*), g = ∇F_k(w*), so that x = w − w* − s(h + g). The inequality
⟨h − μx, Lx − h⟩ ≥ 0 splits into one of the means, in which g does not occur, and one of the deviations, in which w does
not. Each leaves one square.
"""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, gradient, mean, minimiser, number, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.exact_rates.draws import SPREAD, WRITTEN, as_written, in_one_line
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Upper
from fedconvex.proofs_checks.library import Parts, added_up, by, interpolation, rooted, squared
from fedconvex.theory import exact_rates

s, mu, L, T = map(parameter, ("stepsize", "mu", "L", "T"))
START, x = server(0) - minimiser, answers - minimiser
h, g = gradient(answers) - gradient(minimiser), gradient(minimiser)
DISTANCE, HETEROGENEITY = square(START), square(g)
v, u = x - mean(x), h - mean(h)
LEAST, MOST = 1 + s * mu, 1 + s * L


@proof_of(exact_rates.fedprox_floor)
def floor(claim: Claim) -> Derivation:
    """At rest mean x = w − w* and mean h = 0, and sζ_* is the length of v + su."""
    share = s**2 * (L - mu) ** 2 / (4 * LEAST * MOST)
    along = (share / s - (mu + L) / 2) / (share + 1)
    parts = 1 / (mu * L) * (by(Between(answers, minimiser)) + (share + 1) * squared(u + along * v))
    return Derivation(rooted(claim.left, claim.right, parts, "at rest"))


def one_round(spread: Any) -> Parts:
    """‖w⁺ − w*‖² ≤ (‖w − w*‖² + s²bζ_*²)/(1 + sμ)², with what the draw adds."""
    apart = s * (L - mu)
    c, b = 2 * s**2 / (apart * LEAST), price(spread)
    along = (b / s - c * (mu + L) / 2) / (b + c)
    means = (2 * MOST / apart - 1) * squared(START / LEAST - mean(x))
    parts: Parts = c * by(Between(answers, minimiser)) + means + (b + c) * squared(u + along * v)
    return parts


def price(spread: Any) -> Any:
    """What ζ_*² is multiplied by."""
    apart = s * (L - mu)
    return s**2 * (apart + 2 * spread * LEAST) / (2 * MOST - spread * apart) / LEAST**2


# Without a draw, σ = 0.
proved_by_sum(exact_rates.fedprox_round, one_round(number(0)))


@proof_of(exact_rates.fedprox_drawn_round)
def drawn(claim: Claim) -> Derivation:
    """`slope` is that of the price between `SPREAD` and `WRITTEN`."""
    apart = s * (L - mu)
    slope = s**2 / LEAST**2 * (4 * LEAST * MOST + apart**2)
    slope = slope / ((2 * MOST - SPREAD * apart) * (2 * MOST - WRITTEN * apart))
    return in_one_line(claim, one_round(SPREAD) + as_written(slope, HETEROGENEITY))


@proof_of(exact_rates.fedprox_run)
def run(claim: Claim) -> Derivation:
    """‖w − w*‖² less the floor contracts."""
    growth, floor = LEAST**2, s**2 * (L - mu) / (2 * mu * (2 + s * mu) * MOST)
    once, error = growth * one_round(number(0)), DISTANCE - floor * HETEROGENEITY
    return added_up(claim, once, error, number(0), 1 / growth**T, ratio=growth)


@proof_of(exact_rates.fedprox_convex)
def convex(claim: Claim) -> Derivation:
    """f(w⁺) − f(w*) is at most the decrease of ‖w − w*‖²/(2s) and the floor."""
    room = 1 - s**2 * L**2
    gap, floor = value(mean(answers)) - value(minimiser), s**2 * L / (2 * room)
    parts = by(Upper(mean(answers), answers)) + interpolation(minimiser, answers, 0, L)
    parts += (1 / (2 * s) + 1 / (2 * s**2 * L)) * squared(START - mean(x))
    parts += room / (2 * s**2 * L) * squared(v + s / room * g)
    gained, end = gap - floor * HETEROGENEITY, 1 / (2 * s) * squared(START)
    return added_up(claim, parts, DISTANCE / (2 * s), gained, 1 / T, end=end)
