"""FedProx: equations (3) to (8), (13), (15), (16), Theorems 4 and 11, Corollaries 7 and 10, by root mean squares.

With d_k = w_k − w, g_k = ∇F_k(w) and the residual e_k of an answer, ‖e‖ ≤ γ‖g‖, and the subproblem's strong convexity
gives ‖d‖ ≤ ((1 + γ)/μ̄)‖g‖: for one client, and for the root mean squares over all clients. The clients are alike in
that ‖g‖ ≤ B‖∇f(w)‖.

One descent step from w proves more than the paper's ρ: its two terms with K are given away.
"""

from dataclasses import dataclass, replace
from typing import Any, final

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    gradient,
    mean,
    norm,
    number,
    parameter,
    residuals,
    server,
    solutions,
)
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Derivation, Earlier, Hypothesis, Line, Lower, Upper
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
here, gradients, slope, moves = server(0), vectors.clients_gradients, vectors.slope, vectors.moves
steepness = norm(slope)  # ‖∇f(w)‖
changes = gradient(answers) - gradients
apart = changes - residuals
INEXACT, ALIKE = by(Hypothesis("inexactness")), by(Hypothesis("dissimilarity"))


@final
@dataclass(frozen=True)
class OneRound:
    """What holds of a round, for one client or in the mean.

    Attributes:
        mu, L_minus, gamma: the proximal weight, the bound of negative curvature, and the inexactness.
        short: the parts of ‖e‖² ≤ γ²‖g‖².
        B: the dissimilarity.
        alike: the parts of ‖g‖² ≤ B²‖∇f(w)‖².
    """

    mu: Number = mu
    L_minus: Number = L_minus
    gamma: Number = gamma
    short: Parts = INEXACT
    B: Number = B
    alike: Parts = ALIKE

    @property
    def mu_bar(self) -> Number:
        """The subproblem's strong convexity."""
        return self.mu - self.L_minus

    @property
    def move(self) -> Number:
        """A client moves at most this times ‖∇F_k(w)‖, by (6)."""
        return (1 + self.gamma) / self.mu_bar

    def monotone(self, b: Vector, a: Vector) -> Parts:
        """⟨∇F(b) − ∇F(a), b − a⟩ ≥ −L₋‖b − a‖²."""
        return by(Lower(a, b, -self.L_minus)) + by(Lower(b, a, -self.L_minus))

    @property
    def residuals(self) -> tuple[Line, ...]:
        """(3)."""
        return rooted(norm(residuals), self.gamma * norm(gradients), self.short, "residuals")

    @property
    def tilted(self) -> Parts:
        """‖e − g‖² ≤ (1 + γ)²‖g‖², after `residuals`."""
        return self.short + triangle(residuals, -gradients) + by(Earlier("residuals")) * (2 * norm(gradients))

    @property
    def moves(self) -> tuple[Line, ...]:
        """(3) and (6). The subproblem's gradients are g at w and e at w_k."""
        strong = squared(residuals - gradients - self.mu_bar * moves) + 2 * self.mu_bar * self.monotone(answers, here)
        parts = 1 / self.mu_bar**2 * (self.tilted + strong)
        return (*self.residuals, *rooted(norm(moves), self.move * norm(gradients), parts, "moves"))

    @property
    def moved(self) -> Parts:
        """mean‖w_k − w‖² ≤ ((1 + γ)/μ̄)²B²‖∇f(w)‖², after `moves`."""
        return by(Earlier("moves, squared")) + self.alike * self.move**2

    @property
    def off(self) -> Vector:
        """M, which is the mean of the ∇F_k(w_k) − ∇F_k(w) − e_k."""
        return vectors.drift(self.mu)

    @property
    def drift(self) -> tuple[Line, ...]:
        """(3), (6) and (7)."""
        near = lipschitz(answers, here, L) + L**2 * by(Earlier("moves, squared"))
        parts = (
            squared(apart - mean(apart)) + triangle(changes, -residuals) + by(Earlier("changes, squared"))
            + by(Earlier("residuals, squared")) + 2 * norm(residuals) * by(Earlier("changes"))
            + 2 * L * self.move * norm(gradients) * by(Earlier("residuals"))
            + (L * self.move + self.gamma) ** 2 * self.alike
        )  # fmt: skip
        long = (L * (1 + self.gamma) / self.mu_bar + self.gamma) * self.B * steepness
        return (
            *self.moves,
            *rooted(norm(changes), L * self.move * norm(gradients), near, "changes"),
            *rooted(norm(self.off), long, parts, "drift"),
        )

    @property
    def along_slope(self) -> Parts:
        """−⟨∇f(w), w̄ − w⟩ ≥ (1/μ)(1 − (L(1 + γ)/μ̄ + γ)B)‖∇f(w)‖², after `drift`."""
        return (cauchy_schwarz(slope, self.off, -1) + by(Earlier("drift")) * steepness) * (1 / self.mu)

    def decrease(self, claim: Claim, slack: Any = 0) -> Derivation:
        """The objective's smoothness between w and w⁺, in expectation; the claim gives slack·‖∇f(w)‖² away.

        The server's step has the mean w̄ − w, and E‖w⁺ − w‖² = mean‖w_k − w‖² − (1 − 1/K) mean‖w_k − w̄‖².
        """
        bent = L / 2 * (self.moved + (1 - 1 / K) * squared(moves - mean(moves)))
        parts = by(Upper(server(1), here, L)) + self.along_slope + bent + slack * squared(slope)
        return Derivation((*self.drift, concluding(claim, parts)))

    @property
    def given_away(self) -> Number:
        """The two terms with K in the paper's ρ, which are not needed."""
        far = self.B * self.move
        found: Number = far * (2 / K).sqrt() + L * far**2 / K * (2 * (2 * K).sqrt() + 2)
        return found


ROUND = OneRound()
EXACT = OneRound(L_minus=number(0), gamma=number(0), short=Parts())  # convex clients, solved exactly
# mean‖g_k‖² ≤ σ² + ‖∇f(w)‖² ≤ (1 + σ²/ε)‖∇f(w)‖²
OF_VARIANCE = OneRound(
    B=(1 + sigma2 / epsilon).sqrt(),
    alike=by(Hypothesis("variance")) + sigma2 / epsilon * by(Hypothesis("large gradient")),
)


@proof_of(fedprox.equation3)
def residuals_are_small(claim: Claim) -> Derivation:
    return Derivation(ROUND.residuals)


proved_by_sum(fedprox.equation4)


@proof_of(fedprox.equation5)
def solutions_are_near(claim: Claim) -> Derivation:
    """The subproblem's gradients are e at w_k and 0 at ŵ_k."""
    beyond, mu_bar = solutions - answers, ROUND.mu_bar
    strong = squared(residuals + mu_bar * beyond) + 2 * mu_bar * ROUND.monotone(solutions, answers)
    return Derivation(rooted(claim.left, claim.right, 1 / mu_bar**2 * (ROUND.short + strong), "near"))


@proof_of(fedprox.equation6)
def clients_move_little(claim: Claim) -> Derivation:
    return Derivation(ROUND.moves)


@proof_of(fedprox.equation7)
def mean_step_is_nearly_a_gradient_step(claim: Claim) -> Derivation:
    return Derivation(ROUND.drift)


@proof_of(fedprox.equation8)
def mean_answer_decreases(claim: Claim) -> Derivation:
    """The objective's smoothness between w and w̄."""
    bent = L / 2 * (ROUND.moved + squared(moves - mean(moves)))
    parts = by(Upper(vectors.average, here, L)) + ROUND.along_slope + bent
    return Derivation((*ROUND.drift, concluding(claim, parts)))


@proof_of(fedprox.equation13)
def drawn_average_deviates_little(claim: Claim) -> Derivation:
    """The variance of an average over K draws is 1/K of the clients'; the paper has twice that."""
    rest = (ROUND.move * B) ** 2 * squared(slope)
    return Derivation((*ROUND.moves, concluding(claim, 1 / K * (ROUND.moved + squared(mean(moves)) + rest))))


@proof_of(fedprox.theorem4)
@proof_of(fedprox.PAPER.find("corollary9corrected"))
def round_decreases(claim: Claim) -> Derivation:
    return ROUND.decrease(claim, ROUND.given_away)


@proof_of(fedprox.PAPER.find("theorem4sharper"))
def round_decreases_for_few_devices(claim: Claim) -> Derivation:
    return ROUND.decrease(claim)


@proof_of(fedprox.corollary10)
def variance_bounds_dissimilarity(claim: Claim) -> Derivation:
    return Derivation(rooted(claim.left, claim.right, OF_VARIANCE.alike, "dissimilarity"))


@proof_of(fedprox.theorem11)
def round_decreases_by_variance(claim: Claim) -> Derivation:
    return OF_VARIANCE.decrease(claim, OF_VARIANCE.given_away)


@proof_of(fedprox.PAPER.find("theorem11sharper"))
def round_decreases_by_variance_for_few_devices(claim: Claim) -> Derivation:
    return OF_VARIANCE.decrease(claim)


def of_convex_clients(claim: Claim, weight: Number) -> Derivation:
    """(15) holds with ≤, for B ≥ 1."""
    return replace(EXACT, mu=weight).decrease(claim, 1 / (2 * weight) + L * B * (B - 1) / weight**2)


@proof_of(fedprox.equation15)
def convex_clients_decrease(claim: Claim) -> Derivation:
    return of_convex_clients(claim, mu)


@proof_of(fedprox.equation16)
@proof_of(fedprox.corollary7)
def convex_clients_decrease_at_the_chosen_weight(claim: Claim) -> Derivation:
    return of_convex_clients(claim, 6 * L * B**2)
