"""FedProx: equations (3) to (8) and (13), Theorems 4 and 11, Corollary 10, by root mean squares over the clients.

With d_k = w_k − w, g_k = ∇F_k(w) and the residual e_k of an answer, ‖e‖ ≤ γ‖g‖, and the subproblem's strong convexity
gives ‖d‖ ≤ ((1 + γ)/μ̄)‖g‖: for one client, and for the root mean squares over all clients. The bounded dissimilarity
is ‖g‖ ≤ B‖∇f(w)‖.

One descent step from w proves more than the paper's ρ: its two terms with K are given away.
"""

from dataclasses import dataclass
from typing import final

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    gradient,
    mean,
    norm,
    parameter,
    residuals,
    server,
    solutions,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Assumed, Combine, Earlier, Line, Lower, Proof, Upper
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
sigma2, epsilon = map(parameter, ("sigma2", "epsilon"))
mu_bar = mu - L_minus
here, gradients, slope, moves, drift = server(0), vectors.clients_gradients, vectors.slope, vectors.moves, vectors.drift
steepness = norm(slope)  # ‖∇f(w)‖
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


@final
@dataclass(frozen=True)
class Alike:
    """mean‖g_k‖² ≤ bound²·‖∇f(w)‖², shown by parts."""

    bound: Number
    shown: Parts

    @property
    def moved(self) -> Parts:
        """mean‖w_k − w‖² ≤ ((1 + γ)/μ̄)²·bound²·‖∇f(w)‖², given `MOVES`."""
        return by(Earlier("moves, squared")) + move**2 * self.shown

    @property
    def drift(self) -> tuple[Line, ...]:
        """(7): the drift M is the mean of the ∇F_k(w_k) − ∇F_k(w) − e_k."""
        parts = (
            squared(apart - mean(apart)) + triangle(changes, -residuals) + by(Earlier("changes, squared"))
            + by(Earlier("residuals, squared")) + 2 * norm(residuals) * by(Earlier("changes"))
            + 2 * L * move * norm(gradients) * by(Earlier("residuals")) + (L * move + gamma) ** 2 * self.shown
        )  # fmt: skip
        long = (L * (1 + gamma) / mu_bar + gamma) * self.bound * steepness
        return (*MOVES, *CHANGES, *rooted(norm(drift), long, parts, "drift"))


changes = gradient(answers) - gradients
apart = changes - residuals
CHANGES = rooted(
    norm(changes), L * move * norm(gradients), lipschitz(answers, here, L) + L**2 * by(Earlier("moves, squared")),
    "changes",
)  # fmt: skip
BOUNDED = Alike(B, by(Assumed("dissimilarity")))
# mean‖g_k‖² ≤ σ² + ‖∇f(w)‖² ≤ (1 + σ²/ε)‖∇f(w)‖²
OF_VARIANCE = Alike(
    (1 + sigma2 / epsilon).sqrt(), by(Assumed("variance")) + sigma2 / epsilon * by(Assumed("large gradient"))
)
# −⟨∇f(w), w̄ − w⟩ ≥ (1/μ)(1 − (L(1 + γ)/μ̄ + γ)B)‖∇f(w)‖²
ALONG_SLOPE = 1 / mu * (cauchy_schwarz(slope, drift, -1) + steepness * by(Earlier("drift")))


@proof_of(fedprox.equation7)
def mean_step_is_nearly_a_gradient_step(claim: Claim) -> Proof:
    return Proof(BOUNDED.drift)


@proof_of(fedprox.equation8)
def mean_answer_decreases(claim: Claim) -> Proof:
    """The objective's smoothness between w and w̄."""
    bent = L / 2 * (BOUNDED.moved + squared(moves - mean(moves)))
    parts = by(Upper(vectors.average, here, L)) + ALONG_SLOPE + bent
    return Proof((*BOUNDED.drift, concluding(claim, parts)))


@proof_of(fedprox.equation13)
def drawn_average_deviates_little(claim: Claim) -> Proof:
    """The variance of an average over K draws is 1/K of the clients'; the paper has twice that."""
    rest = (move * B) ** 2 * squared(slope)
    return Proof((*MOVES, concluding(claim, 1 / K * (BOUNDED.moved + squared(mean(moves)) + rest))))


def decrease(claim: Claim, alike: Alike, slack: Parts) -> Proof:
    """The objective's smoothness between w and w⁺, in expectation, and what the claim gives away.

    The server's step has the mean w̄ − w, and E‖w⁺ − w‖² = mean‖w_k − w‖² − (1 − 1/K) mean‖w_k − w̄‖².
    """
    bent = L / 2 * (alike.moved + (1 - 1 / K) * squared(moves - mean(moves)))
    return Proof((*alike.drift, concluding(claim, by(Upper(server(1), here, L)) + ALONG_SLOPE + bent + slack)))


def not_needed(alike: Alike) -> Parts:
    """The two terms of the paper's ρ with K."""
    far = alike.bound * move
    return (far * (2 / K).sqrt() + L * far**2 / K * (2 * (2 * K).sqrt() + 2)) * squared(slope)


@proof_of(fedprox.theorem4)
def round_decreases(claim: Claim) -> Proof:
    return decrease(claim, BOUNDED, not_needed(BOUNDED))


@proof_of(fedprox.PAPER.find("theorem4sharper"))
def round_decreases_for_few_devices(claim: Claim) -> Proof:
    return decrease(claim, BOUNDED, Parts())


@proof_of(fedprox.corollary10)
def variance_bounds_dissimilarity(claim: Claim) -> Proof:
    return Proof(rooted(claim.left, claim.right, OF_VARIANCE.shown, "dissimilarity"))


@proof_of(fedprox.theorem11)
def round_decreases_by_variance(claim: Claim) -> Proof:
    return decrease(claim, OF_VARIANCE, not_needed(OF_VARIANCE))


@proof_of(fedprox.PAPER.find("theorem11sharper"))
def round_decreases_by_variance_for_few_devices(claim: Claim) -> Proof:
    return decrease(claim, OF_VARIANCE, Parts())
