"""FedDyn, FedDynOneGD, FedPD and FedSplit: curvatures between the clients' answers (or the server's point) and w*."""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    answers,
    gradient,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.exact_rates.draws import P, m
from fedconvex.proofs_checks.kernel.proofs import (
    Between,
    Cases,
    Derivation,
    Nonnegative,
    Upper,
)
from fedconvex.proofs_checks.library import Parts, added_up, by, concluding, interpolation, squared
from fedconvex.theory import exact_rates
from fedconvex.theory.exact_rates.primal_dual import from_rest, state_error

alpha, eta, s, mu, L, T = map(parameter, ("alpha", "eta", "stepsize", "mu", "L", "T"))
MEAN_OF_GRADIENTS = (("shared h", mean(memory("gradient", 0))),)
x, h = answers - minimiser, gradient(answers) - gradient(minimiser)
ROOTED = by(Nonnegative(0 * mu.sqrt() * L.sqrt()))  # names the roots: q > 1 follows from s√μ√L ≤ 1 or ≥ 1, and μ < L


def larger(first: Any, second: Any, proof: Any, of: Any, than: Any) -> Derivation:
    """The proof with q the larger of two numbers: the first where of ≥ than."""
    return Derivation(cases=Cases(of, than, above=proof(first), below=proof(second)))


# ---- FedDyn and FedPD, with α = 1/η


def splitting_round(q: Number, weight: Any) -> Parts:
    """V⁺ ≤ (q/(1 + q))²V for curvatures between weight/q and weight·q, q > 1."""
    g = h / weight
    between = by(Between(answers, minimiser, weight / q, weight * q))
    deviation = g - q * x
    squares = squared(mean(x - q * g)) + squared(deviation - mean(deviation))
    parts: Parts = 2 * q**2 / ((q + 1) ** 2 * (q - 1) * weight**2) * between + 1 / (q**2 - 1) * squares
    return parts


@proof_of(exact_rates.fedpd_round)
def fedpd_round(claim: Claim) -> Derivation:
    """The points are FedDyn's, with η = 1/α and λ_k = −g_k."""

    def proof(q: Any) -> Derivation:
        return Derivation((concluding(claim, splitting_round(q, 1 / eta) + ROOTED),))

    return larger(1 / (eta * mu), eta * L, proof, 1 / eta**2, mu * L)


def splitting_gap(claim: Claim, potential: Number, end: Parts, weight: Any, invariants: Any) -> Derivation:
    """f(mean w_k) − f(w*) is at most what V·weight/2 loses in the round, for weight ≥ 2L."""
    g, deviation = h / weight, x - mean(x)
    parts = by(Upper(mean(answers), answers)) + interpolation(minimiser, answers, 0, L)
    parts += weight / 2 * squared(mean(g)) + weight**2 / (2 * L) * squared(mean(g))
    parts += weight**2 / (2 * L) * squared(g - mean(g) + L / weight * deviation)
    parts += (weight / 2 - L) * squared(deviation)
    gap = value(mean(answers)) - value(minimiser)
    return added_up(claim, parts, weight / 2 * potential, gap, 1 / T, end=weight / 2 * end, invariants=invariants)


@proof_of(exact_rates.feddyn_convex)
def feddyn_convex(claim: Claim) -> Derivation:
    """The potential is that of the linear rate."""
    rest = server(0) - minimiser + (memory("gradient", 0) - gradient(minimiser)) / alpha
    return splitting_gap(claim, square(rest), squared(rest), alpha, MEAN_OF_GRADIENTS)


@proof_of(exact_rates.fedpd_convex)
def fedpd_convex(claim: Claim) -> Derivation:
    """The same with η = 1/α."""
    return splitting_gap(claim, square(from_rest(0)), squared(from_rest(0)), 1 / eta, ())


# ---- FedDynOneGD

w, H = server(0), shared("h", 0) / alpha
u, G = (gradient(w) - gradient(minimiser)) / alpha, mean(gradient(w)) / alpha


@proof_of(exact_rates.feddynonegd_convex)
def feddynonegd_convex(claim: Claim) -> Derivation:
    """V = ‖w + h/α − w*‖² + ‖h‖²/α² falls by 2(f(w) − f(w*))/α."""
    parts = 2 / alpha * interpolation(minimiser, w, 0, L) + (alpha / L - 3) * squared(G) + squared(G + H)
    parts += alpha / L * squared(u - G)
    gap = value(w) - value(minimiser)
    end = squared(w + H - minimiser) + squared(H)
    return added_up(
        claim, parts, state_error(0), 2 / alpha * gap, alpha / (2 * T), end=end, invariants=MEAN_OF_GRADIENTS
    )


@proof_of(exact_rates.feddynonegd_round)
def feddynonegd_round(claim: Claim) -> Derivation:
    """What the inequality between w and w* leaves is a form in w − w*, G and H: three squares."""
    d, B = w - minimiser, 2 * mu * L / (alpha * (mu + L))
    A, k = 2 * alpha / (mu + L) - 2, B / 2
    parts = 2 / (alpha * (mu + L)) * by(Between(w, minimiser)) + (A + 2) * squared(u - G)
    parts += 2 * squared(G + H / 2) + (A - 2) * squared(G)
    parts += (B - k) * squared(d - k / (B - k) * H) + (number(1) / 2 - 2 * k - k**2 / (B - k)) * squared(H)
    return Derivation((concluding(claim, parts),), MEAN_OF_GRADIENTS)


# ---- FedSplit


@proof_of(exact_rates.fedsplit_drawn_round)
def fedsplit_drawn_round(claim: Claim) -> Derivation:
    """Those who are drawn reflect, which contracts by δ; the others keep their z_k."""

    def proof(q: Any) -> Derivation:
        factor = (q - 1) / (q + 1)
        parts = P / m * (1 - factor**2) * s**2 * by(Between(answers, minimiser, 1 / (s * q), q / s))
        return Derivation((concluding(claim, parts + ROOTED),), (("server", mean(memory("z", 0))),))

    return larger(1 / (s * mu), s * L, proof, 1 / s**2, mu * L)
