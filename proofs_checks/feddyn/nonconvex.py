"""FedDyn, smooth devices that need not be convex: Lemmas 10 to 12 and equation (14), as printed and sharper."""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, gradient, last_answers, mean, memory, parameter
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Derivation, Idle, Proved, Upper
from fedconvex.proofs_checks.library import Parts, by, concluding, jensen, lipschitz, split, squared, sum_of
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.nonconvex import nonconvex_constants
from fedconvex.theory.feddyn.sharper_nonconvex import sharper_nonconvex_constants
from fedconvex.theory.feddyn.vectors import average

alpha, L, m, P = map(parameter, ("alpha", "L", "num_clients", "num_active"))
MODELS = last_answers(0)
# The stored gradients are those at the devices' models, and h is their mean.
INVARIANTS = (("memory gradient", gradient(MODELS)), ("shared h", mean(memory("gradient", 0))))
HERE, AFTER = average(0), average(1)
new, here = gradient(answers), gradient(HERE)
slope, moved = mean(here), AFTER - HERE
old_change, new_change = gradient(MODELS) - here, new - here
WEIGHT = P / (2 * m - P)  # of Young's inequality in Lemma 12: its factors are 2m/(2m − P) and 2m/P
CONSTANTS = nonconvex_constants.formula(alpha=alpha, L=L, num_clients=m, num_active=P)


def one_line(claim: Claim, parts: Parts) -> Derivation:
    """A proof of one line, with FedDyn's invariants."""
    return Derivation((concluding(claim, parts),), INVARIANTS)


@proof_of(feddyn.lemma11)
def devices_move_little(claim: Claim) -> Derivation:
    """Four vectors add up to α times the move; the last is minus the mean of the first."""
    four = sum_of(old_change, -new_change, -slope, -mean(old_change))
    away = 2 * lipschitz(MODELS, HERE, L) + lipschitz(answers, HERE, L)
    return one_line(claim, 1 / alpha**2 * (four + 4 * (jensen(old_change) + away)))


# The devices' functions do not enter.
proved_by_sum(feddyn.lemma12, split(last_answers(1) - HERE, -moved, WEIGHT))


@proof_of(feddyn.equation14)
def objective_decreases(claim: Claim) -> Derivation:
    """2⟨∇ℓ, E move⟩ = −(2/α)⟨∇ℓ, mean new⟩ = (‖mean new − ∇ℓ‖² − ‖∇ℓ‖² − ‖mean new‖²)/α."""
    completed = squared(mean(new)) + jensen(new_change) + lipschitz(answers, HERE, L)
    return Derivation((concluding(claim, by(Upper(AFTER, HERE)) + 1 / (2 * alpha) * completed),), INVARIANTS[1:])


def _added() -> Parts:
    """(14), and Lemmas 12, 3 and 11 with the paper's multipliers."""
    lemmas = ((CONSTANTS.z0, "feddyn.lemma12"), (CONSTANTS.z1, "feddyn.lemma3"), (CONSTANTS.z2, "feddyn.lemma11"))
    return sum((scale * by(Proved(lemma)) for scale, lemma in lemmas), start=by(Proved("feddyn.equation14")))


proved_by_sum(feddyn.lemma10assummed, _added(), INVARIANTS)

# The printed κ₀ has −16L²Pm in its numerator, where the sum has +16L²Pm.
proved_by_sum(feddyn.lemma10, _added() + 16 * L**2 * P * m / (alpha * CONSTANTS.z) * squared(slope), INVARIANTS)


@proof_of(feddyn.lemma11sharper)
def devices_move_less(claim: Claim) -> Derivation:
    """α times the move is the errors of the stored gradients beyond their mean, less ∇ℓ, less a change of gradients.

    The first two are orthogonal; the last is at most L times the move.
    """
    errors = old_change - mean(old_change) - slope
    parts = (alpha - L) / alpha * split(errors, -new_change, L / (alpha - L)) + squared(mean(old_change))
    return one_line(claim, parts + lipschitz(MODELS, HERE, L) + (alpha - L) / L * lipschitz(answers, HERE, L))


# γ^t is the mean of the devices that take part; only for the others Young's inequality is needed.
proved_by_sum(feddyn.lemma12sharper, WEIGHT * by(Idle(MODELS - HERE + moved / WEIGHT)))


@proof_of(feddyn.lemma10sharper)
def potential_decreases_sharper(claim: Claim) -> Derivation:
    """Lemma 3 takes what the others leave of the average's move, Lemma 11 what remains of ε_t."""
    kappa = sharper_nonconvex_constants.formula(alpha=alpha, L=L, num_clients=m, num_active=P).kappa
    moves = L / 2 + kappa * (2 * (m - P) / P - P / m)
    excess = (L / 2 + L**2 / (2 * alpha) + kappa * 2 * (m - P) / P) / (alpha - L) ** 2
    eleven = excess * by(Proved("feddyn.lemma11sharper"))
    twelve = kappa * by(Proved("feddyn.lemma12sharper"))
    three = moves * by(Proved("feddyn.lemma3"))
    return one_line(claim, by(Proved("feddyn.equation14")) + twelve + three + eleven)
