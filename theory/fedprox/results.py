"""FedProx: definitions, theorems, corollaries and remarks, and what holds in the place of a refuted one.

The formulas are the paper's, as printed. Theorem 4's ρ can be positive only where γB + √2·B(1 + γ)/√K < 1
(`design.can_decrease`), a stronger condition than that of Remark 5.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import parameter
from fedconvex.statements.assumptions import (
    BoundedNegativeCurvature,
    BoundedVariance,
    BoundedVarianceEverywhere,
    Convex,
    Dissimilarity,
    DissimilarityAlongTheRun,
    ExactSolutions,
    Inexactness,
    InexactnessOfEach,
    LargeGradient,
    NotStationary,
    ProximalWeight,
    Runs,
    SampledIID,
    Smooth,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import ceil, maximum, minimum, named, sqrt
from fedconvex.statements.notation import CURVATURE, NUMBER, STEPSIZE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedprox import vectors
from fedconvex.theory.fedprox.notation import PAPER
from fedconvex.types import Real, Reals

PROXIMAL = Condition("mu", ">", "L_minus")
SETTING = (Runs("FedProx"), Smooth(), BoundedNegativeCurvature(), PROXIMAL, NotStationary())
DECREASE = r"\mathbb{E}_{S_t}[f(w^{t+1})] \le f(w^t) - \rho\,\|\nabla f(w^t)\|^2 \text{ where } \rho > 0"


@PAPER.statement(
    "Definition 1",
    ClaimType.DEFINITION,
    symbol=r"\gamma",
    relation="=",
    assumes=(Condition("client_gradient", ">", 0),),
    redefines=PAPER.relettered(residual=r"\|\nabla h(w^*;w_0)\|", client_gradient=r"\|\nabla h(w_0;w_0)\|"),
)
def inexactness(*, residual: Real, client_gradient: Real) -> Any:
    """The least γ for which an answer is a γ-inexact solution: ‖∇h(w*; w₀)‖ = γ‖∇h(w₀; w₀)‖, h = F + (μ/2)‖· − w₀‖².

    A value above 1 is no inexactness in the paper's sense: the subproblem's gradient is larger than at the start.
    """
    return residual / client_gradient


@PAPER.statement(
    "Definition 2",
    ClaimType.DEFINITION,
    symbol=r"\gamma_k^t",
    relation="=",
    assumes=(Condition("client_gradient", ">", 0),),
    redefines=PAPER.relettered(residual=r"\|\nabla h_k(w^*;w_t)\|", client_gradient=r"\|\nabla h_k(w_t;w_t)\|"),
)
def client_inexactness(*, residual: Real, client_gradient: Real) -> Any:
    """The least γ_k^t for which device k's answer in round t is γ_k^t-inexact (Definition 1 per device and round)."""
    return inexactness.calculator.formula(residual=residual, client_gradient=client_gradient)


@PAPER.statement(
    "Definition 3", ClaimType.DEFINITION, symbol="B(w)", relation="=",
    assumes=(Condition("square", ">", 0), Condition("mean_square", ">=", "square")),
)  # fmt: skip
def dissimilarity(*, mean_square: Real, square: Real) -> Any:
    """The clients' dissimilarity at a point, B(w) = √(E_k‖∇F_k(w)‖² / ‖∇f(w)‖²); at least 1 by Jensen's inequality.

    Where all gradients vanish the paper sets B(w) = 1; `fedconvex.dissimilarity` measures it on a problem.
    """
    return sqrt(mean_square / square)


@PAPER.statement("Assumption 1", ClaimType.DEFINITION, symbol=r"B_\epsilon", relation=r"\ge")
def bounded_dissimilarity(*, dissimilarities: Reals) -> Any:
    """B(w) ≤ B_ε wherever ‖∇f(w)‖² > ε: the least B_ε that fits the given B(w) of such points."""
    return maximum(*dissimilarities)


def _terms(mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real) -> tuple[Any, ...]:
    mu_bar = named(r"\bar\mu", mu - L_minus)
    inexact = B * (1 + gamma)
    return (
        1 / mu,
        -gamma * B / mu,
        -inexact * sqrt(2 / K) / mu_bar,
        -L * inexact / (mu_bar * mu),
        -L * inexact**2 / (2 * mu_bar**2),
        -L * inexact**2 / (mu_bar**2 * K) * (2 * sqrt(2 * K) + 2),
    )


@PAPER.statement(
    "Theorem 4", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    states=vectors.decrease, positive=True,
    assumes=(*SETTING, Dissimilarity(), Inexactness(), SampledIID()),
)  # fmt: skip
def rho(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real) -> Any:
    r"""One round decreases f in expectation by at least ρ‖∇f(w^t)‖², provided that ρ > 0.

    ρ = 1/μ − γB/μ − B(1+γ)√2/(μ̄√K) − LB(1+γ)/(μ̄μ) − L(1+γ)²B²/(2μ̄²) − LB²(1+γ)²(2√(2K)+2)/(μ̄²K),  μ̄ = μ − L_minus.

    Use it to compare parameters, and as the input of `iterations`; a run usually decreases f far more. `rho_sharp` is
    larger for every K, and `can_decrease` tells whether any μ makes ρ positive. The expectation is over the draw of the
    devices. The proof's last steps are equations (8) and (14). At Corollary 7's μ = 6LB² and K = 4B² it is less than
    the 1/(24LB²) there, and negative for B ≤ 2.
    """
    return sum(_terms(mu, L, L_minus, B, gamma, K))


@PAPER.calculator(of="Theorem 4", units=(STEPSIZE,) * 6, assumes=(PROXIMAL,))
def rho_terms(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real) -> tuple[Any, ...]:
    """The six terms of Theorem 4's ρ in the paper's order, with their signs: their sum is ρ."""
    return _terms(mu, L, L_minus, B, gamma, K)


# Theorem 4's ρ as a function, for Theorem 6's condition: `iterations` has a parameter that is called rho.
def _rho(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real) -> Any:
    return sum(_terms(mu, L, L_minus, B, gamma, K))


class Margins(NamedTuple):
    """The two numbers that must be positive for ρ > 0, by Remark 5."""

    inexactness: Any  # 1 − γB
    sampling: Any  # 1 − B/√K


@PAPER.statement(
    "Remark 5", ClaimType.CONDITION, symbol=(r"1-\gamma B", r"1-B/\sqrt K"), relation="=", units=(NUMBER, NUMBER),
    conclusion=r"\rho > 0 \Rightarrow \text{both are positive}",
    states=vectors.for_every_weight(lambda both: at_most(parameter("mu") * vectors.theorem4(_rho), minimum(*both))),
)  # fmt: skip
def necessary_margins(*, B: Real, gamma: Real, K: Real) -> Margins:
    """For ρ of Theorem 4 to be positive, both 1 − γB and 1 − B/√K must be.

    Necessary, not sufficient, although the paper's text announces the conditions as sufficient. What is claimed is more
    than the implication: μρ is at most either of them, for every μ > L₋.
    """
    return Margins(1 - gamma * B, 1 - B / sqrt(K))


@PAPER.statement(
    "Theorem 6", ClaimType.UPPER, symbol="T", relation=r"\ge", integer=True,
    conclusion=r"\frac1T\sum_{t<T}\mathbb{E}\|\nabla f(w^t)\|^2 \le \epsilon",
    assumes=(
        Runs("FedProx"), Smooth(), BoundedNegativeCurvature(), PROXIMAL, DissimilarityAlongTheRun(), Inexactness(),
        SampledIID(),
        Condition("rho", "<=", _rho),
    ),
    states=vectors.accurate_after,
)  # fmt: skip
def iterations(*, delta: Real, rho: Real, epsilon: Real) -> Any:
    """The rounds after which the mean of ‖∇f(w^t)‖² is at most ε: the least integer T ≥ 1 with T ≥ Δ/(ρε).

    The paper says O(Δ/(ρε)); summing Theorem 4's decrease gives the mean ≤ Δ/(ρT), without a constant. Exact: floats
    are taken as the rational numbers that they are. Theorem 4 must hold, with the same ρ, in all these rounds.
    """
    return maximum(1, ceil(delta / (rho * epsilon)))


class ConvexChoice(NamedTuple):
    """Corollary 7's μ and its ρ."""

    mu: Any
    rho: Any


@PAPER.statement(
    "Corollary 7", ClaimType.ASYMPTOTIC, symbol=(r"\mu", r"\rho"), relation=r"\approx", units=(CURVATURE, STEPSIZE),
    assumes=(
        Runs("FedProx"), Convex(), Smooth(), NotStationary(), ExactSolutions(), Dissimilarity(), SampledIID(),
        Condition("L", ">", 0), Condition("K", ">=", lambda B: 4 * B * B),
    ), states=vectors.chosen_decrease,
)  # fmt: skip
def convex_choice(*, L: Real, B: Real, K: Real) -> ConvexChoice:
    """For convex clients solved exactly and 1 ≪ B ≤ √K/2: the choice μ ≈ 6LB², with which ρ ≈ 1/(24LB²).

    Up to constants, so no guarantee: at that μ and K = 4B² `rho` itself is smaller, 0.84 of it for large B, half of
    it for B = 5, and negative for B ≤ 2. `convex_choice_sharp` is a guarantee.
    """
    return ConvexChoice(6 * L * B**2, 1 / (24 * L * B**2))


@PAPER.statement(
    "Remark 8", ClaimType.ASYMPTOTIC, symbol="T", relation=r"= O(\cdot)", units=NUMBER,
    assumes=(
        Runs("FedProx"), Convex(), Smooth(), ExactSolutions(), BoundedVarianceEverywhere(), SampledIID(),
        Condition("L", ">", 0),
        Condition("K", ">=", lambda sigma2, epsilon: 4 * (1 + sigma2 / epsilon)),
        ProximalWeight(lambda L, sigma2, epsilon: 6 * L * (1 + sigma2 / epsilon)),
    ),
    states=lambda rounds: vectors.accurate_after(24 * rounds),
)  # fmt: skip
def sgd_like_iterations(*, L: Real, delta: Real, sigma2: Real, epsilon: Real) -> Any:
    """Rounds to accuracy ε for convex clients solved exactly, up to a constant: LΔ/ε + LΔσ²/ε², as for SGD.

    With Corollary 7's μ ≈ 6LB² and K ≥ 4B², B = √(1 + σ²/ε). Accuracy is that of Theorem 6: after 24 times as many
    rounds the mean of the E‖∇f(w^t)‖² is at most ε.
    The paper prints L_α here; the same expression with LΔ stands in the text before it.
    """
    return L * delta / epsilon + L * delta * sigma2 / epsilon**2


OF_DRAWN = replace(PAPER.notation["gammas"], means=(parameter("gamma_drawn"),))


@PAPER.statement(
    "Corollary 9", ClaimType.UPPER, symbol=r"\rho^t", relation="=", units=STEPSIZE, conclusion=DECREASE, positive=True,
    assumes=(*SETTING, Dissimilarity(), InexactnessOfEach(), SampledIID()), redefines={"gammas": OF_DRAWN},
    states=vectors.decrease,
)  # fmt: skip
def rho_variable(*, mu: Real, L: Real, L_minus: Real, B: Real, gammas: Reals, K: Real) -> Any:
    """Theorem 4 where every device has its own inexactness: ρ with γ^t = max over the drawn devices of γ_k^t.

    With the maximum over the drawn devices, ρ^t depends on the draw over which the conclusion takes the expectation;
    the maximum over all devices does not. What is claimed of a given draw: `gamma_drawn` is its γ^t.
    """
    return sum(_terms(mu, L, L_minus, B, named(r"\gamma^t", maximum(*gammas)), K))


@PAPER.statement(
    "Corollary 10",
    ClaimType.UPPER,
    symbol="B(w)",
    assumes=(BoundedVariance(), LargeGradient()),
    states=vectors.dissimilar,
)
def dissimilarity_from_variance(*, sigma2: Real, epsilon: Real) -> Any:
    """Bounded variance bounds the dissimilarity: B(w) ≤ √(1 + σ²/ε) where E_k‖∇F_k(w) − ∇f(w)‖² ≤ σ², ‖∇f(w)‖² ≥ ε.

    At the point w. With a σ² for all points it bounds the paper's B_ε, the largest B(w) of all w with ‖∇f(w)‖² > ε.
    """
    return sqrt(1 + sigma2 / epsilon)


@PAPER.statement(
    "Theorem 11", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    states=vectors.decrease, positive=True,
    assumes=(*SETTING, BoundedVariance(), LargeGradient(), Inexactness(), SampledIID()),
)  # fmt: skip
def rho_bounded_variance(*, mu: Real, L: Real, L_minus: Real, sigma2: Real, epsilon: Real, gamma: Real, K: Real) -> Any:
    """Theorem 4 under bounded variance: one round decreases f in expectation by ρ‖∇f(w^t)‖², provided that ρ > 0.

    ρ = 1/μ − (γ/μ + (1+γ)√2/(μ̄√K) + L(1+γ)/(μ̄μ))√(1+σ²/ε) − (L(1+γ)²/(2μ̄²) + L(1+γ)²(2√(2K)+2)/(μ̄²K))(1+σ²/ε).
    """
    mu_bar = named(r"\bar\mu", mu - L_minus)
    square = 1 + sigma2 / epsilon
    linear = gamma / mu + (1 + gamma) * sqrt(2 / K) / mu_bar + L * (1 + gamma) / (mu_bar * mu)
    quadratic = L * (1 + gamma) ** 2 / (2 * mu_bar**2)
    sampling = L * (1 + gamma) ** 2 / (mu_bar**2 * K) * (2 * sqrt(2 * K) + 2)
    return 1 / mu - linear * sqrt(square) - (quadratic + sampling) * square


LARGEST = (parameter("gamma"),)  # claims are about the largest of them
ALL = replace(PAPER.notation["gammas"], meaning="inexactness of every device, drawn or not", domain="", means=LARGEST)


@PAPER.statement(
    "Corollary 9, corrected", ClaimType.UPPER, symbol=r"\rho^t", relation="=", units=STEPSIZE, conclusion=DECREASE,
    positive=True, assumes=(*SETTING, Dissimilarity(), InexactnessOfEach(), SampledIID()), redefines={"gammas": ALL},
    ours=True, states=vectors.decrease,
)  # fmt: skip
def rho_variable_of_all(*, mu: Real, L: Real, L_minus: Real, B: Real, gammas: Reals, K: Real) -> Any:
    """Theorem 4 where every device has its own inexactness: ρ with γ^t = max over all devices of γ_k^t.

    The paper takes the maximum over the drawn devices. That number depends on the draw over which the conclusion takes
    the expectation, and can be smaller than the inexactness of other devices.
    """
    return rho_variable.calculator.formula(mu=mu, L=L, L_minus=L_minus, B=B, gammas=gammas, K=K)
