"""FedProx: sharper statements that are not in the paper, each proved in `fedconvex.proofs_checks`."""

from typing import Any

from fedconvex.claims.claim import Claim, equal
from fedconvex.claims.terms import parameter
from fedconvex.statements.assumptions import (
    BoundedNegativeCurvature,
    BoundedVariance,
    BoundedVarianceEverywhere,
    Convex,
    Dissimilarity,
    Everyone,
    ExactSolutions,
    Inexactness,
    LargeGradient,
    ProximalWeight,
    Runs,
    SampledIID,
    Smooth,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import named, sqrt
from fedconvex.statements.notation import CURVATURE, NUMBER, STEPSIZE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedprox import vectors
from fedconvex.theory.fedprox.design import coefficients, rho_of_everyone
from fedconvex.theory.fedprox.design import slack as slack_of_rho
from fedconvex.theory.fedprox.notation import PAPER
from fedconvex.theory.fedprox.results import DECREASE, PROXIMAL, ConvexChoice, dissimilarity_from_variance, rho
from fedconvex.types import Real

ANYWHERE = (Runs("FedProx"), Smooth(), BoundedNegativeCurvature(), PROXIMAL)
EXACT = (Runs("FedProx"), Convex(), Smooth(), ExactSolutions())
CURVED = (Condition("L", ">", 0), Condition("mu", ">=", lambda L: sqrt(L * L / 2)))
FOUR_B = Condition("K", ">=", lambda B: 4 * B)
_dissimilarity = dissimilarity_from_variance.calculator.formula


@PAPER.statement(
    "Theorem 4, sharper", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    states=vectors.decrease,
    positive=True, assumes=(*ANYWHERE, Dissimilarity(), Inexactness(), SampledIID()), ours=True,
)  # fmt: skip
def rho_sharp(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real) -> Any:
    """One round decreases f in expectation by at least ρ‖∇f(w^t)‖², however few devices are drawn.

    ρ = (1 − γB)/μ − LB(1+γ)/(μ̄μ) − LB²(1+γ)²/(2μ̄²), μ̄ = μ − L_minus: Theorem 4 without its two terms with K. The
    descent lemma is used at w^t, where E[w^{t+1}] = w̄^{t+1}, in place of a Lipschitz bound between w̄^{t+1} and w^{t+1}.
    """
    return rho_of_everyone.formula(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma)


@PAPER.statement(
    "Theorem 4, by variance", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    states=vectors.decrease,
    positive=True, ours=True,
    assumes=(*ANYWHERE, Condition("mu", ">=", "L"), Dissimilarity(), Inexactness(), SampledIID()),
)  # fmt: skip
def rho_by_variance(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real) -> Any:
    """One round decreases f in expectation by at least ρ‖∇f(w^t)‖²; with many devices ρ is of the order 1/(LB).

    ρ = (1−δ)/μ − L(1−1/K)(1−δ)²/(2μ²) − LB²(1+γ)²/(2Kμ̄²), δ = (L(1+γ)/μ̄ + γ)B as in (7): at least `rho_sharp` where
    δ <= 1. Use it for many devices per round: the mean step is nearly a gradient step, whose length does not grow with
    B, and the variance, which does, is divided by K.
    """
    mu_bar = named(r"\bar\mu", mu - L_minus)
    kept = 1 - named(r"\delta", (L * (1 + gamma) / mu_bar + gamma) * B)
    variance = L * B**2 * (1 + gamma) ** 2 / (2 * K * mu_bar**2)
    return kept / mu - L * (1 - 1 / K) * kept**2 / (2 * mu**2) - variance


@PAPER.statement(
    "Theorem 4, by curvature", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    states=vectors.decrease,
    positive=True, ours=True,
    assumes=(
        *ANYWHERE, Condition("L", ">", 0), Condition("mu", ">=", lambda L, L_minus: L + L_minus), Dissimilarity(),
        Inexactness(), SampledIID(),
    ),
)  # fmt: skip
def rho_by_curvature(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real) -> Any:
    """`rho_by_variance` with the curvatures between −L_minus and L used from both sides: `rho_convex` for any clients.

    ρ = q/μ − L(1−1/K)q²/(2μ²) − LB²(1+γ)²/(2Kμ̄²), q = c − (cγ + r(1+γ))B, where c ± r are μ/μ̄ and μ/(μ + L): the step
    of an answer without residual lies in the ball between these multiples of the gradient.
    """
    mu_bar = named(r"\bar\mu", mu - L_minus)
    middle, radius = (mu / mu_bar + mu / (mu + L)) / 2, (mu / mu_bar - mu / (mu + L)) / 2
    middle, radius = named("c", middle), named("r", radius)
    kept = named("q", middle - (middle * gamma + radius * (1 + gamma)) * B)
    variance = L * B**2 * (1 + gamma) ** 2 / (2 * K * mu_bar**2)
    return kept / mu - L * (1 - 1 / K) * kept**2 / (2 * mu**2) - variance


@PAPER.statement(
    "Theorem 4, convex", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    states=vectors.decrease,
    positive=True, assumes=(*EXACT, *CURVED, Dissimilarity(), SampledIID()), ours=True,
)  # fmt: skip
def rho_convex(*, mu: Real, L: Real, B: Real, K: Real) -> Any:
    """Convex clients solved exactly: one round decreases f in expectation by at least ρ‖∇f(w^t)‖².

    ρ = q/μ − L(1−1/K)q²/(2μ²) − LB²/(2Kμ²), q = (2μ + L − LB)/(2(μ + L)), for μ >= L/√2: more than `rho_sharp`. The
    answers' gradients are half-way between all and μ/(μ + L) of the gradient at w^t, up to LB/(2(μ + L)).
    """
    kept = _kept(mu, L, B)
    return kept / mu - L * (1 - 1 / K) * kept**2 / (2 * mu**2) - L * B**2 / (2 * K * mu**2)


@PAPER.statement(
    "Theorem 4, convex, everyone", ClaimType.TIGHT, symbol=r"\rho", relation="=", units=STEPSIZE, positive=True,
    states=vectors.certain_decrease,
    conclusion=r"f(w^{t+1}) \le f(w^t) - \rho\,\|\nabla f(w^t)\|^2 \text{ where } \rho > 0",
    assumes=(*EXACT, *CURVED, Dissimilarity(), Everyone()), ours=True,
)  # fmt: skip
def rho_convex_everyone(*, mu: Real, L: Real, B: Real) -> Any:
    """`rho_convex` where every device takes part: ρ = q/μ − Lq²/(2μ²), q = (2μ + L − LB)/(2(μ + L)), for μ >= L/√2.

    Attained, by two clients in the plane with gradients of the same length; for B = 1 by ½Lx².
    """
    kept = _kept(mu, L, B)
    return kept / mu - L * kept**2 / (2 * mu**2)


def _kept(mu: Real, L: Real, B: Real) -> Any:
    return named("q", (2 * mu + L - L * B) / (2 * (mu + L)))


def _scaled_rho(slack: Any) -> Claim:
    """μρ = slack − (c₁L₋ + c₂ + c₃)/μ̄ − c₃L₋/μ̄²."""
    mu, L_minus, K = map(parameter, ("mu", "L_minus", "K"))
    c = coefficients.formula(L=parameter("L"), L_minus=L_minus, B=parameter("B"), gamma=parameter("gamma"), K=K)
    mu_bar, b, c3 = named(r"\bar\mu", mu - L_minus), named("b", c.c1 * L_minus + c.c2 + c.c3), named("c_3", c.c3)
    return equal(mu * vectors.theorem4(rho.calculator.formula), slack - b / mu_bar - c3 * L_minus / mu_bar**2)


@PAPER.statement(
    "Remark 5, sharper", ClaimType.CONDITION, symbol=r"1-\gamma B-B(1+\gamma)\sqrt{2/K}", relation="=", units=NUMBER,
    conclusion=r"\rho > 0 \text{ for some } \mu \Leftrightarrow \text{this is positive}", ours=True,
    states=vectors.for_every_weight(_scaled_rho),
)  # fmt: skip
def sharp_margin(*, B: Real, gamma: Real, K: Real) -> Any:
    """Some μ makes Theorem 4's ρ positive if and only if 1 − γB − B(1 + γ)√(2/K) is positive, whatever L and L₋ are.

    What is claimed is more: for every μ > L₋, μρ is this number less b/μ̄ and c₃L₋/μ̄², μ̄ = μ − L₋, where b and c₃ are
    not negative and do not depend on μ. So μρ is never larger, and as close as one likes for large μ.
    """
    return slack_of_rho.formula(B=B, gamma=gamma, K=K)


@PAPER.statement(
    "Corollary 7, sharper", ClaimType.UPPER, symbol=(r"\mu", r"\rho"), relation="=", units=(CURVATURE, STEPSIZE),
    assumes=(*EXACT, Dissimilarity(), SampledIID(), Condition("L", ">", 0), FOUR_B), ours=True,
    states=vectors.chosen_decrease,
)  # fmt: skip
def convex_choice_sharp(*, L: Real, B: Real, K: Real) -> ConvexChoice:
    """For convex clients solved exactly and K >= 4B devices: with μ = LB one round decreases f by ‖∇f(w^t)‖²/(4LB).

    Corollary 7 has 1/(24LB²), for K >= 4B².
    """
    return ConvexChoice(L * B, 1 / (4 * L * B))


def _rounds(*, L: Real, delta: Real, sigma2: Real, epsilon: Real) -> Any:
    return 4 * L * delta / epsilon * _dissimilarity(sigma2=sigma2, epsilon=epsilon)


@PAPER.statement(
    "Remark 8, sharper", ClaimType.UPPER, symbol="T", relation=r"\ge", units=NUMBER, ours=True,
    states=vectors.accurate_after,
    assumes=(
        *EXACT, BoundedVarianceEverywhere(), SampledIID(), Condition("L", ">", 0),
        ProximalWeight(lambda L, sigma2, epsilon: L * _dissimilarity(sigma2=sigma2, epsilon=epsilon)),
        Condition("K", ">=", lambda sigma2, epsilon: 4 * _dissimilarity(sigma2=sigma2, epsilon=epsilon)),
    ),
)  # fmt: skip
def rounds_above_accuracy(*, L: Real, delta: Real, sigma2: Real, epsilon: Real) -> Any:
    """The rounds after which the mean of the E‖∇f(w^t)‖² is at most ε, for convex clients solved exactly, μ = LB and
    K >= 4B devices, with B = √(1 + σ²/ε): any number T >= 4(LΔ/ε)√(1 + σ²/ε).

    Remark 8 has no root.
    """
    return _rounds(L=L, delta=delta, sigma2=sigma2, epsilon=epsilon)


@PAPER.statement(
    "Theorem 11, sharper", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE, conclusion=DECREASE,
    states=vectors.decrease,
    positive=True, assumes=(*ANYWHERE, BoundedVariance(), LargeGradient(), Inexactness(), SampledIID()), ours=True,
)  # fmt: skip
def rho_bounded_variance_sharp(*, mu: Real, L: Real, L_minus: Real, sigma2: Real, epsilon: Real, gamma: Real) -> Any:
    """Theorem 11 without its two terms with K: `rho_sharp` at B = √(1 + σ²/ε)."""
    B = named("B", _dissimilarity(sigma2=sigma2, epsilon=epsilon))
    return rho_sharp.calculator.formula(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma)
