"""FedDynOneGD: Lemmas 13 to 21, equations (15), (16), (17) and (19), and the sharper Lemma 19."""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, gradient, mean, memory, minimiser, number, parameter, server, shared
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.feddyn.convex import INVARIANTS, SCALE, one_line
from fedconvex.proofs_checks.kernel.proofs import Derivation, Lower, Proved, Upper
from fedconvex.proofs_checks.library import (
    Parts,
    by,
    interpolation,
    jensen,
    lipschitz,
    split,
    squared,
    sum_of,
)
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.vectors import average

alpha, L, mu, m, P = map(parameter, ("alpha", "L", "mu", "num_clients", "num_active"))
HERE, AFTER, THETA = average(0), average(1), server(0)
best, here, fresh = gradient(minimiser), gradient(HERE), gradient(THETA)
memories, slope, change = memory("gradient", 0), mean(here), fresh - here
RATIO = L**2 / alpha**2

# ‖h^{t−1}‖² ≤ A_{t−1}, and Lemma 3: the average moves no more than the devices.
STATE = jensen(memories - best)
MOVE = (1 - SCALE) * jensen(answers)


proved_by_sum(feddyn.equation15, invariants=INVARIANTS)
proved_by_sum(feddyn.equation16, invariants=INVARIANTS)
proved_by_sum(feddyn.lemma13, invariants=INVARIANTS)

proved_by_sum(feddyn.lemma17, jensen(memory("gradient", 1) - best), INVARIANTS)

proved_by_sum(feddyn.lemma18, 1 / alpha**2 * jensen(memory("gradient", 1) - best), INVARIANTS)


@proof_of(feddyn.lemma14)
def devices_move_little(claim: Claim) -> Derivation:
    """Four vectors that add up to α times the move, then smoothness, cocoercivity and ‖h‖² ≤ A."""
    four = sum_of(memories - best, best - here, -change, -shared("h", 0))
    near = 2 * L * interpolation(HERE, minimiser, 0, L)
    return one_line(claim, 1 / alpha**2 * (four + 4 * (lipschitz(THETA, HERE, L) + near + (1 + RATIO) * STATE)))


@proof_of(feddyn.lemma15)
def errors_shrink(claim: Claim) -> Derivation:
    near = 2 * L * interpolation(HERE, minimiser, 0, L)
    return one_line(
        claim, P / m * (sum_of(change, here - best) + 2 * (lipschitz(THETA, HERE, L) + near + RATIO * STATE))
    )


@proof_of(feddyn.lemma16)
def server_is_no_closer(claim: Claim) -> Derivation:
    """γ^t − θ_* through γ^{t−1} and θ^{t−1}."""
    three = sum_of(AFTER - HERE, HERE - THETA, THETA - minimiser)
    return one_line(claim, 1 / number(3) * three + 1 / alpha**2 * STATE)


@proof_of(feddyn.equation17)
def gap_is_paid_for(claim: Claim) -> Derivation:
    """Convexity and smoothness of each device at θ^{t−1}; Lemma 16 brings in the distance after the round."""
    tangents = 2 / alpha * (by(Lower(minimiser, THETA)) + by(Upper(HERE, THETA)))
    sixteen = mu / alpha * by(Proved("feddyn.lemma16"))
    return one_line(claim, tangents + sixteen + L / alpha**3 * STATE + (1 + mu / alpha) * MOVE)


def changes(time: int) -> Parts:
    """Lemma 21: gradients at θ and γ differ by at most (2L²/α²)(B + ‖∇ℓ(γ)‖²) in mean square; γ − θ is h/α."""
    there = gradient(average(time))
    errors = memory("gradient", time) - there
    return lipschitz(server(time), average(time), L) + RATIO * (sum_of(mean(errors), mean(there)) + 2 * jensen(errors))


proved_by_sum(feddyn.lemma21, changes(1), INVARIANTS)


@proof_of(feddyn.lemma19)
def devices_move_little_without_convexity(claim: Claim) -> Derivation:
    """Three vectors in place of the paper's four, whose last line does not follow; 3 ≤ 4."""
    errors = memories - here
    three = sum_of(errors - mean(errors), -change, -slope)
    spare = (1 + 2 * RATIO) * (squared(errors) + squared(slope))
    return one_line(claim, 1 / alpha**2 * (three + 3 * (changes(0) + squared(mean(errors))) + spare))


@proof_of(feddyn.lemma19sharper)
def devices_move_less(claim: Claim) -> Derivation:
    """α times the move is the memories' errors beyond their mean, less ∇ℓ, less a change of gradients."""
    errors, q = memories - here, L / alpha
    factor, z = 1 + 2 * q + 2 * q**2, q * (1 + 2 * q) / (1 + q)
    two = split(errors - mean(errors) - slope, -change, z) + (1 + 1 / z) * lipschitz(THETA, HERE, L)
    spare = q / (1 + q) * jensen(errors) + (1 + q) / (1 + 2 * q) * squared(mean(errors) - q / (1 + q) * slope)
    return one_line(claim, 1 / alpha**2 * (two + factor * spare))


@proof_of(feddyn.lemma20)
def memories_follow(claim: Claim) -> Derivation:
    """Young's inequality between what the memories and what their targets change by."""
    z = P / (2 * m - P)
    two = split(memory("gradient", 1) - here, here - gradient(AFTER), z)
    moved = 2 * m / P * (lipschitz(AFTER, HERE, L) + L**2 * MOVE)
    return one_line(claim, two + moved + (1 + z) * P / m * changes(0))


@proof_of(feddyn.equation19)
def objective_decreases(claim: Claim) -> Derivation:
    completed = squared(mean(fresh)) + jensen(change) + changes(0)
    return one_line(claim, by(Upper(AFTER, HERE)) + 1 / (2 * alpha) * completed + L / 2 * MOVE)
