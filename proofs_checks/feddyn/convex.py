"""FedDyn, convex and strongly convex devices: Lemmas 1, 3, 4, 5, 7, 8, 9, equations (10), (12), (13)."""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    answers,
    gradient,
    mean,
    memory,
    minimiser,
    parameter,
    shared,
)
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import (
    Derivation,
    Lower,
    Proved,
    Upper,
)
from fedconvex.proofs_checks.library import Parts, by, concluding, interpolation, lipschitz, squared
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.convex import convex_constants, strongly_convex_constants
from fedconvex.theory.feddyn.vectors import average

alpha, L, mu, m, P, T = map(parameter, ("alpha", "L", "mu", "num_clients", "num_active", "T"))
SCALE = parameter("σ")  # of the variance of an average over the drawn devices
INVARIANTS = (("shared h", mean(memory("gradient", 0))),)
HERE = average(0)
new, old, best, here = gradient(answers), memory("gradient", 0), gradient(minimiser), gradient(HERE)


def one_line(claim: Claim, parts: Parts) -> Derivation:
    """A proof of one line, with FedDyn's invariant: h is the mean of the stored gradients."""
    return Derivation((concluding(claim, parts),), INVARIANTS)


proved_by_sum(feddyn.lemma3, (1 - SCALE) * squared(answers - mean(answers)), INVARIANTS)

proved_by_sum(feddyn.lemma9, (1 - SCALE) * squared(answers - mean(answers)), INVARIANTS)


@proof_of(feddyn.lemma7)
def state_is_small(claim: Claim) -> Derivation:
    errors = memory("gradient", 1) - best
    return one_line(claim, squared(errors - mean(errors)))


@proof_of(feddyn.lemma4)
def devices_move_little(claim: Claim) -> Derivation:
    """Jensen for four vectors that add up to α times the move, then smoothness, cocoercivity and ‖h‖² ≤ C."""
    four = (old - best, best - here, here - new, -shared("h", 0))
    apart = sum((squared(u - v) for i, u in enumerate(four) for v in four[:i]), start=Parts())
    state = squared(old - best - mean(old - best))
    away = lipschitz(answers, HERE, L)
    near = 2 * L * interpolation(HERE, minimiser, 0, L)
    return one_line(claim, (1 / alpha**2) * (apart + 4 * (state + away + near)))


@proof_of(feddyn.lemma5)
def errors_shrink(claim: Claim) -> Derivation:
    part = P / m
    apart = squared((new - here) - (here - best))
    away = 2 * lipschitz(answers, HERE, L)
    near = 4 * L * interpolation(HERE, minimiser, 0, L)
    return one_line(claim, part * (apart + away + near))


def _one_round(claim: Claim, strong: bool) -> Derivation:
    """The distance's change is twice ⟨γ − θ*, E move⟩ plus the move's square; smoothness and convexity bound the first.

    The mean of the ∇L_k(θ̃_k) is −α times the expected move. For each device L_k(γ) ≤ L_k(θ̃_k) + ⟨∇L_k(θ̃_k), γ − θ̃_k⟩
    + (L/2)‖γ − θ̃_k‖², and L_k(θ*) ≥ L_k(θ̃_k) + ⟨∇L_k(θ̃_k), θ* − θ̃_k⟩ + (μ/2)‖θ* − θ̃_k‖².
    """
    parts = (2 / alpha) * (by(Upper(HERE, answers)) + by(Lower(minimiser, answers)))
    if strong:  # ‖γ^t − θ*‖² is at most the mean ‖θ̃_k − θ*‖², by Lemma 9
        parts += mu / alpha * (1 - SCALE) * squared(answers - mean(answers))
    return one_line(claim, parts)


@proof_of(feddyn.equation10)
def distance_shrinks(claim: Claim) -> Derivation:
    return _one_round(claim, strong=False)


@proof_of(feddyn.equation12)
def distance_shrinks_strongly(claim: Claim) -> Derivation:
    return _one_round(claim, strong=True)


@proof_of(feddyn.equation13)
def distance_shrinks_rearranged(claim: Claim) -> Derivation:
    return _one_round(claim, strong=True)


def _added(claim: Claim, one_round: str, constants: Any) -> Derivation:
    """The inequality of one round, Lemma 3, and multiples of Lemmas 4 and 5."""
    four = constants.scale4 * by(Proved("feddyn.lemma4"))
    five = constants.scale5 * by(Proved("feddyn.lemma5"))
    return one_line(claim, by(Proved(one_round)) + by(Proved("feddyn.lemma3")) + four + five)


@proof_of(feddyn.lemma1)
def potential_decreases(claim: Claim) -> Derivation:
    constants = convex_constants.formula(alpha=alpha, L=L, num_clients=m, num_active=P)
    return _added(claim, "feddyn.equation10", constants)


@proof_of(feddyn.lemma8)
def potential_shrinks(claim: Claim) -> Derivation:
    constants = strongly_convex_constants.formula(alpha=alpha, L=L, mu=mu, num_clients=m, num_active=P)
    return _added(claim, "feddyn.equation13", constants)
