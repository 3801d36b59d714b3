"""FedProx: equations (1) to (16): the problem, the subproblem, and the displayed steps of the proofs.

Each calculator returns the right-hand side as printed. Use them to see which step of Theorem 4 loses how much. Norms
are not squared unless the name says so; μ̄ = μ − L_minus.
"""

from dataclasses import replace
from typing import Any

from fedconvex.claims.terms import expected, norm, parameter, residuals, server
from fedconvex.claims.terms import value as value_at
from fedconvex.statements.assumptions import (
    BoundedNegativeCurvature,
    Convex,
    Dissimilarity,
    ExactSolutions,
    Inexactness,
    ProximalWeight,
    Runs,
    SampledIID,
    Smooth,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import named, sqrt
from fedconvex.statements.notation import GRADIENT, LENGTH, SQUARED_LENGTH, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedprox import vectors
from fedconvex.theory.fedprox.notation import PAPER
from fedconvex.theory.fedprox.results import PROXIMAL
from fedconvex.types import Real, Reals

SMOOTH = (Runs("FedProx"), Smooth(), Inexactness())
MEAN_DEVIATION = replace(
    PAPER.notation["deviation"], latex=r"\mathbb{E}_{S_t}\|w^{t+1}-\bar w^{t+1}\|",
    means=expected(norm(server(1) - vectors.average)),
)  # fmt: skip
LOCAL = (Runs("FedProx"), BoundedNegativeCurvature(), PROXIMAL, Inexactness())
ENOUGH = Condition("K", ">=", lambda B: 4 * B * B)
CONVEX = (Runs("FedProx"), Convex(), Smooth(), ExactSolutions(), Dissimilarity(), SampledIID(), ENOUGH)


def _mu_bar(mu: Real, L_minus: Real) -> Any:
    return named(r"\bar\mu", mu - L_minus)


@PAPER.statement("Equation (1)", ClaimType.DEFINITION, symbol="f(w)", relation="=", units=VALUE)
def objective(*, weights: Reals, values: Reals) -> Any:
    """The objective: the mean of the clients' functions with weights p_k that sum to 1."""
    return sum(p * value for p, value in zip(weights, values, strict=True))


@PAPER.statement(
    "Equation (2)", ClaimType.DEFINITION, symbol="h_k(w; w^t)", relation="=", units=VALUE,
    redefines=PAPER.relettered(value="F_k(w)"),
)  # fmt: skip
def local_objective(*, value: Real, mu: Real, distance: Real) -> Any:
    """The objective of device k's subproblem: F_k(w) + (μ/2)‖w − w^t‖², here from the value F_k(w)."""
    return value + mu / 2 * distance**2


@PAPER.statement(
    "Equation (3)",
    ClaimType.UPPER,
    symbol=r"\|e_k^{t+1}\|",
    units=GRADIENT,
    assumes=(Runs("FedProx"), Inexactness()),
    states=vectors.of_each(norm(residuals)),
)
def residual_bound(*, gamma: Real, client_gradient: Real) -> Any:
    """The residual e_k = ∇F_k(w_k^{t+1}) + μ(w_k^{t+1} − w^t) of a γ-inexact answer is at most γ‖∇F_k(w^t)‖ long."""
    return gamma * client_gradient


@PAPER.statement(
    "Equation (4)", ClaimType.IDENTITY, symbol=r"\bar w^{t+1}-w^t", relation="=", units=LENGTH,
    assumes=(Runs("FedProx"), Inexactness()), states=vectors.mean_step,
)  # fmt: skip
def mean_step(*, mu: Real, mean_new_gradient: Real, mean_residual: Real) -> Any:
    """The step of the mean answer: −(1/μ)E_k∇F_k(w_k^{t+1}) + (1/μ)E_k e_k^{t+1}; numbers or vectors."""
    return -mean_new_gradient / mu + mean_residual / mu


@PAPER.statement(
    "Equation (5)", ClaimType.UPPER, symbol=r"\|\hat w_k^{t+1}-w_k^{t+1}\|", units=LENGTH, assumes=LOCAL,
    states=vectors.of_each(norm(vectors.errors)),
)  # fmt: skip
def solution_distance(*, mu: Real, L_minus: Real, gamma: Real, client_gradient: Real) -> Any:
    """A γ-inexact answer is at most (γ/μ̄)‖∇F_k(w^t)‖ from the subproblem's solution, by its strong convexity."""
    return gamma / _mu_bar(mu, L_minus) * client_gradient


@PAPER.statement(
    "Equation (6)", ClaimType.UPPER, symbol=r"\|w_k^{t+1}-w^t\|", units=LENGTH, assumes=LOCAL,
    states=vectors.of_each(norm(vectors.moves)),
)  # fmt: skip
def client_step(*, mu: Real, L_minus: Real, gamma: Real, client_gradient: Real) -> Any:
    """A device moves by at most ((1 + γ)/μ̄)‖∇F_k(w^t)‖."""
    return (1 + gamma) / _mu_bar(mu, L_minus) * client_gradient


@PAPER.calculator(of="after Equation (6)", units=LENGTH, assumes=(PROXIMAL,))
def mean_step_bound(*, mu: Real, L_minus: Real, B: Real, gamma: Real, gradient: Real) -> Any:
    """The mean answer moves by at most (B(1 + γ)/μ̄)‖∇f(w^t)‖."""
    return B * (1 + gamma) / _mu_bar(mu, L_minus) * gradient


@PAPER.statement(
    "Equation (7)",
    ClaimType.UPPER,
    symbol=r"\|M_{t+1}\|",
    units=GRADIENT,
    assumes=(Smooth(), *LOCAL, Dissimilarity()),
    states=norm(vectors.drift(parameter("mu"))),
)
def drift(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, gradient: Real) -> Any:
    """The distance of −μ(w̄^{t+1} − w^t) from ∇f(w^t): at most (L(1 + γ)/μ̄ + γ)B‖∇f(w^t)‖."""
    return (L * (1 + gamma) / _mu_bar(mu, L_minus) + gamma) * B * gradient


@PAPER.statement(
    "Equation (8)",
    ClaimType.UPPER,
    symbol=r"f(\bar w^{t+1})",
    units=VALUE,
    assumes=(Smooth(), *LOCAL, Dissimilarity()),
    states=value_at(vectors.average),
)
def mean_decrease(*, value: Real, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, gradient: Real) -> Any:
    """The value at the mean answer: f(w^t) − ((1 − γB)/μ − LB(1+γ)/(μ̄μ) − L(1+γ)²B²/(2μ̄²))‖∇f(w^t)‖²."""
    mu_bar = _mu_bar(mu, L_minus)
    inexact = B * (1 + gamma)
    decrease = (1 - gamma * B) / mu - L * inexact / (mu_bar * mu) - L * inexact**2 / (2 * mu_bar**2)
    return value - decrease * gradient**2


@PAPER.statement(
    "Equation (9)", ClaimType.UPPER, symbol="f(w^{t+1})", units=VALUE, assumes=SMOOTH,
    states=value_at(vectors.any_next),
)  # fmt: skip
def value_bound(*, mean_value: Real, lipschitz: Real, deviation: Real) -> Any:
    """The value at the server's point: f(w̄^{t+1}) + L₀‖w^{t+1} − w̄^{t+1}‖, L₀ the local Lipschitz constant of f.

    Claimed, as (10), (11) and (14), with the bound on L₀ that the paper prints after it, and of any point w^{t+1}.
    """
    return mean_value + lipschitz * deviation


@PAPER.calculator(of="after Equation (9)", units=GRADIENT)
def local_lipschitz(*, L: Real, gradient: Real, mean_step: Real, step: Real) -> Any:
    """L₀ ≤ ‖∇f(w^t)‖ + L(‖w̄^{t+1} − w^t‖ + ‖w^{t+1} − w^t‖)."""
    return gradient + L * (mean_step + step)


@PAPER.statement(
    "Equation (10)", ClaimType.UPPER, symbol=r"\mathbb{E}_{S_t}[f(w^{t+1})]", units=VALUE,
    assumes=(*SMOOTH, SampledIID()), states=expected(value_at(server(1))),
)  # fmt: skip
def expected_value_bound(*, mean_value: Real, Q: Real) -> Any:
    """The expected value at the server's point: f(w̄^{t+1}) + Q_t."""
    return mean_value + Q


@PAPER.statement(
    "Equation (11)", ClaimType.UPPER, symbol="Q_t", units=VALUE, assumes=(*SMOOTH, SampledIID()),
    redefines={"deviation": MEAN_DEVIATION}, states=vectors.sampling_error,
)  # fmt: skip
def Q_bound(*, L: Real, gradient: Real, mean_step: Real, deviation: Real, mean_square_deviation: Real) -> Any:
    """Q_t ≤ (‖∇f(w^t)‖ + 2L‖w̄^{t+1} − w^t‖) E‖w^{t+1} − w̄^{t+1}‖ + L E‖w^{t+1} − w̄^{t+1}‖²."""
    return (gradient + 2 * L * mean_step) * deviation + L * mean_square_deviation


@PAPER.statement(
    "Equation (12)", ClaimType.UPPER, symbol=MEAN_DEVIATION.latex, units=LENGTH,
    assumes=(Runs("FedProx"), Inexactness(), SampledIID()), states=MEAN_DEVIATION.means,
)  # fmt: skip
def deviation_bound(*, mean_square_deviation: Real) -> Any:
    """The mean deviation is at most the root of the mean squared one."""
    return sqrt(mean_square_deviation)


@PAPER.statement(
    "Equation (13)", ClaimType.UPPER, symbol=r"\mathbb{E}\|w^{t+1}-\bar w^{t+1}\|^2", units=SQUARED_LENGTH,
    assumes=(*LOCAL, Dissimilarity(), SampledIID()), states=vectors.deviation,
)  # fmt: skip
def mean_square_deviation_bound(*, mu: Real, L_minus: Real, B: Real, gamma: Real, K: Real, gradient: Real) -> Any:
    """Averaging K of the devices deviates by (2B²/K)((1 + γ)²/μ̄²)‖∇f(w^t)‖² in mean square; the 2 is not needed."""
    return 2 * B**2 / K * (1 + gamma) ** 2 / _mu_bar(mu, L_minus) ** 2 * gradient**2


@PAPER.statement(
    "Equation (14)",
    ClaimType.UPPER,
    symbol="Q_t",
    units=VALUE,
    assumes=(Smooth(), *LOCAL, Dissimilarity(), SampledIID()),
    states=vectors.sampling_error,
)
def sampling_error(*, mu: Real, L: Real, L_minus: Real, B: Real, gamma: Real, K: Real, gradient: Real) -> Any:
    """The increase of f by sampling devices: Q_t ≤ (B(1+γ)√2/(μ̄√K) + LB²(1+γ)²(2√(2K)+2)/(μ̄²K))‖∇f(w^t)‖²."""
    mu_bar = _mu_bar(mu, L_minus)
    inexact = B * (1 + gamma)
    return (inexact * sqrt(2 / K) / mu_bar + L * inexact**2 / (mu_bar**2 * K) * (2 * sqrt(2 * K) + 2)) * gradient**2


@PAPER.statement(
    "Equation (15)", ClaimType.ASYMPTOTIC, symbol=r"\mathbb{E}_{S_t}[f(w^{t+1})]", relation=r"\lesssim", units=VALUE,
    assumes=CONVEX, states=vectors.read_as_at_most,
)  # fmt: skip
def convex_decrease(*, value: Real, mu: Real, L: Real, B: Real, gradient: Real) -> Any:
    """For convex clients solved exactly, 1 ≪ B ≤ √K/2: about f(w^t) − (1/(2μ) − 3LB²/(2μ²))‖∇f(w^t)‖².

    Not an upper bound: at B = √K/2 Theorem 4 leaves (1 − 1/√2)/μ, which is less than the 1/(2μ) here.
    """
    return value - gradient**2 / (2 * mu) + 3 * L * B**2 / (2 * mu**2) * gradient**2


@PAPER.statement(
    "Equation (16)", ClaimType.ASYMPTOTIC, symbol=r"\mathbb{E}_{S_t}[f(w^{t+1})]", relation=r"\lesssim", units=VALUE,
    assumes=(*CONVEX, Condition("L", ">", 0), ProximalWeight(lambda L, B: 6 * L * B**2)),
    states=vectors.read_as_at_most,
)  # fmt: skip
def convex_decrease_chosen(*, value: Real, L: Real, B: Real, gradient: Real) -> Any:
    """Equation (15) at μ = 6LB²: about f(w^t) − ‖∇f(w^t)‖²/(24LB²)."""
    return value - gradient**2 / (24 * L * B**2)
