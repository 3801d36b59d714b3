"""FedProx: equations (3) to (8) and (13), by root mean squares over the clients.

With d_k = w_k − w, g_k = ∇F_k(w) and the residual e_k of an answer, ‖e‖ ≤ γ‖g‖, and the subproblem's strong convexity
gives ‖d‖ ≤ ((1 + γ)/μ̄)‖g‖: for one client, and for the root mean squares over all clients. The bounded dissimilarity
is ‖g‖ ≤ B‖∇f(w)‖.
"""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Vector, answers, gradient, mean, norm, parameter, residuals, server, solutions
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Assumed, Combine, Earlier, Lower, Proof, Upper
from fedconvex.proofs_checks.library import (
    Parts,
    by,
    cauchy_schwarz,
    concluding,
    lipschitz,
    rooted,
    squared,
    triangle,
)
from fedconvex.theory import fedprox
from fedconvex.theory.fedprox import vectors

mu, L, L_minus, B, gamma, K = map(parameter, ("mu", "L", "L_minus", "B", "gamma", "K"))
mu_bar = mu - L_minus
here, gradients, slope, moves, drift = server(0), vectors.clients_gradients, vectors.slope, vectors.moves, vectors.drift
steepness = norm(slope)  # ‖∇f(w)‖
ALIKE = by(Assumed("dissimilarity"))
move = (1 + gamma) / mu_bar  # a client moves at most this times ‖∇F_k(w)‖


def monotone(b: Vector, a: Vector) -> Parts:
    """⟨∇F(b) − ∇F(a), b − a⟩ ≥ −L₋‖b − a‖²."""
    return by(Lower(a, b, -L_minus)) + by(Lower(b, a, -L_minus))


RESIDUALS = rooted(norm(residuals), gamma * norm(gradients), by(Assumed("inexactness")), "residuals")
# ‖e − g‖ ≤ ‖e‖ + ‖g‖ ≤ (1 + γ)‖g‖
TILTED = by(Assumed("inexactness")) + triangle(residuals, -gradients) + 2 * norm(gradients) * by(Earlier("residuals"))
MOVES = (
    *RESIDUALS,
    *rooted(norm(moves), move * norm(gradients), 1 / mu_bar**2 * (
        TILTED + squared(residuals - gradients - mu_bar * moves) + 2 * mu_bar * monotone(answers, here)
    ), "moves"),
)  # fmt: skip


@proof_of(fedprox.equation3)
def residuals_are_small(claim: Claim) -> Proof:
    return Proof(RESIDUALS)


@proof_of(fedprox.equation4)
def mean_of_answers(claim: Claim) -> Proof:
    return Proof((Combine(claim.left, claim.right, relation="="),))


@proof_of(fedprox.equation5)
def solutions_are_near(claim: Claim) -> Proof:
    """The subproblem's gradients are e at w_k and 0 at ŵ_k."""
    beyond = solutions - answers
    near = by(Assumed("inexactness")) + squared(residuals + mu_bar * beyond) + 2 * mu_bar * monotone(solutions, answers)
    return Proof(rooted(claim.left, claim.right, 1 / mu_bar**2 * near, "near"))


@proof_of(fedprox.equation6)
def clients_move_little(claim: Claim) -> Proof:
    """The subproblem's gradients are g at w and e at w_k."""
    return Proof(MOVES)


# The drift M is the mean of ∇F_k(w_k) − ∇F_k(w) − e_k.
changes = gradient(answers) - gradients
apart = changes - residuals
DRIFT = (
    *MOVES,
    *rooted(norm(changes), L * move * norm(gradients),
            lipschitz(answers, here, L) + L**2 * by(Earlier("moves, squared")), "changes"),
    *rooted(norm(drift), (L * (1 + gamma) / mu_bar + gamma) * B * steepness, (
        squared(apart - mean(apart)) + triangle(changes, -residuals) + by(Earlier("changes, squared"))
        + by(Earlier("residuals, squared")) + 2 * norm(residuals) * by(Earlier("changes"))
        + 2 * L * move * norm(gradients) * by(Earlier("residuals")) + (L * move + gamma) ** 2 * ALIKE
    ), "drift"),
)  # fmt: skip
MEAN_SQUARE = by(Earlier("moves, squared")) + move**2 * ALIKE  # ‖d‖² ≤ ((1 + γ)/μ̄)²B²‖∇f(w)‖²
# −⟨∇f(w), w̄ − w⟩ ≥ (1/μ)(1 − (L(1 + γ)/μ̄ + γ)B)‖∇f(w)‖²
ALONG_SLOPE = 1 / mu * (cauchy_schwarz(slope, drift, -1) + steepness * by(Earlier("drift")))


@proof_of(fedprox.equation7)
def mean_step_is_nearly_a_gradient_step(claim: Claim) -> Proof:
    return Proof(DRIFT)


@proof_of(fedprox.equation8)
def mean_answer_decreases(claim: Claim) -> Proof:
    """The objective's smoothness between w and w̄."""
    bent = L / 2 * (MEAN_SQUARE + squared(moves - mean(moves)))
    parts = by(Upper(vectors.average, here, L)) + ALONG_SLOPE + bent
    return Proof((*DRIFT, concluding(claim, parts)))


@proof_of(fedprox.equation13)
def drawn_average_deviates_little(claim: Claim) -> Proof:
    """The variance of an average over K draws is 1/K of the clients'; the paper has twice that."""
    rest = (move * B) ** 2 * squared(slope)
    return Proof((*MOVES, concluding(claim, 1 / K * (MEAN_SQUARE + squared(mean(moves)) + rest))))


def decrease(claim: Claim, slack: Parts) -> Proof:
    """The objective's smoothness between w and w⁺, in expectation, and what the claim gives away.

    The server's step has the mean w̄ − w, and E‖w⁺ − w‖² = mean‖w_k − w‖² − (1 − 1/K) mean‖w_k − w̄‖².
    """
    bent = L / 2 * (MEAN_SQUARE + (1 - 1 / K) * squared(moves - mean(moves)))
    return Proof((*DRIFT, concluding(claim, by(Upper(server(1), here, L)) + ALONG_SLOPE + bent + slack)))


@proof_of(fedprox.theorem4)
def round_decreases(claim: Claim) -> Proof:
    """More is proved: the terms with K are not needed."""
    far = B * move
    return decrease(claim, (far * (2 / K).sqrt() + L * far**2 / K * (2 * (2 * K).sqrt() + 2)) * squared(slope))


@proof_of(fedprox.PAPER.find("theorem4sharper"))
def round_decreases_for_few_devices(claim: Claim) -> Proof:
    return decrease(claim, Parts())
