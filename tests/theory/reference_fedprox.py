"""Federated Optimization in Heterogeneous Networks (FedProx): its formulas, transcribed from the text for mpmath.

The transcription shares nothing with the calculators it is compared with. Every function is the right-hand side as
printed, also where the printed formula is loose or unclear; the comments say where. Norms are not squared unless the
argument's name says so, and mubar = mu - L_minus.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil
from operator import add
from typing import Any

from mpmath import libmp, mpf, sqrt


def total(terms: Sequence[Any]) -> Any:
    return reduce(add, terms)


def exact(x: Any) -> Fraction:
    return Fraction(*libmp.to_rational(x._mpf_)) if isinstance(x, mpf) else Fraction(x)


def inexactness(residual: Any, client_gradient: Any) -> Any:
    return mpf(0) if residual == 0 else residual / client_gradient


def client_inexactness(residual: Any, client_gradient: Any) -> Any:
    # Printed "gamma in [0, 1]" without the indices of gamma_k^t.
    return inexactness(residual, client_gradient)


def dissimilarity(mean_square: Any, square: Any) -> Any:
    # A bracket is missing below the printed root. Footnote 2: B(w) = 1 where the two are equal, also where both vanish.
    return mpf(1) if mean_square == square else sqrt(mean_square / square)


def bounded_dissimilarity(dissimilarities: Sequence[Any]) -> Any:
    return max(dissimilarities)


def rho_terms(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any) -> tuple[Any, ...]:
    mubar = mu - L_minus
    return (
        1 / mpf(mu),
        -(gamma * B) / mu,
        -(B * (1 + gamma) * sqrt(2)) / (mubar * sqrt(K)),
        -(L * B * (1 + gamma)) / (mubar * mu),
        -(L * (1 + gamma) ** 2 * B**2) / (2 * mubar**2),
        -(L * B**2 * (1 + gamma) ** 2) / (mubar**2 * K) * (2 * sqrt(2 * K) + 2),
    )


def rho(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any) -> Any:
    return total(rho_terms(mu, L, L_minus, B, gamma, K))


def necessary_margins(B: Any, gamma: Any, K: Any) -> tuple[Any, Any]:
    # Announced as "sufficient (but not necessary)", stated as "we need": necessary for rho > 0, and not sufficient.
    return 1 - gamma * B, 1 - B / sqrt(K)


def iterations(delta: Any, rho: Any, epsilon: Any) -> int:
    # Printed T = O(delta / (rho epsilon)); summing Theorem 4 gives (1/T) sum E|grad f(w^t)|^2 <= delta / (rho T).
    return max(1, ceil(exact(delta) / (exact(rho) * exact(epsilon))))


def convex_choice(L: Any, B: Any, K: Any) -> tuple[Any, Any]:
    # K only enters the hypothesis.
    return 6 * L * B**2, 1 / (24 * L * B**2)


def sgd_like_iterations(L: Any, delta: Any, sigma2: Any, epsilon: Any) -> Any:
    # Remark 8 is garbled in the text ("L_alpha"); the sentence before it has L Delta, the same expression.
    return L * delta / epsilon + L * delta * sigma2 / epsilon**2


def rho_variable(mu: Any, L: Any, L_minus: Any, B: Any, gammas: Sequence[Any], K: Any) -> Any:
    # Printed gamma^t in the formula and gamma_t in the definition: the same maximum over the devices of S_t.
    return rho(mu, L, L_minus, B, max(gammas), K)


def dissimilarity_from_variance(sigma2: Any, epsilon: Any) -> Any:
    return sqrt(1 + sigma2 / epsilon)


def rho_bounded_variance(mu: Any, L: Any, L_minus: Any, sigma2: Any, epsilon: Any, gamma: Any, K: Any) -> Any:
    mubar = mu - L_minus
    return (
        mpf(1) / mu
        - (gamma / mu + (1 + gamma) * sqrt(2) / (mubar * sqrt(K)) + L * (1 + gamma) / (mubar * mu))
        * sqrt(1 + sigma2 / epsilon)
        - (L * (1 + gamma) ** 2 / (2 * mubar**2) + L * (1 + gamma) ** 2 / (mubar**2 * K) * (2 * sqrt(2 * K) + 2))
        * (1 + sigma2 / epsilon)
    )


def objective(weights: Sequence[Any], values: Sequence[Any]) -> Any:
    return total([p * value for p, value in zip(weights, values, strict=True)])


def local_objective(value: Any, mu: Any, distance: Any) -> Any:
    return value + mu / mpf(2) * distance**2


def residual_bound(gamma: Any, client_gradient: Any) -> Any:
    return gamma * client_gradient


def mean_step(mu: Any, mean_new_gradient: Any, mean_residual: Any) -> Any:
    return mean_new_gradient * (-1 / mpf(mu)) + mean_residual * (1 / mpf(mu))


def solution_distance(mu: Any, L_minus: Any, gamma: Any, client_gradient: Any) -> Any:
    return gamma / (mu - L_minus) * client_gradient


def client_step(mu: Any, L_minus: Any, gamma: Any, client_gradient: Any) -> Any:
    return (1 + gamma) / (mu - L_minus) * client_gradient


def mean_step_bound(mu: Any, L_minus: Any, B: Any, gamma: Any, gradient: Any) -> Any:
    # The last of the chain between (6) and (7). The proof later cites it as "from (7)".
    return B * (1 + gamma) / (mu - L_minus) * gradient


def drift(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, gradient: Any) -> Any:
    # Printed |w_k^{t+1} - w_k^t| in the first step, for |w_k^{t+1} - w^t|.
    return (L * (1 + gamma) / (mu - L_minus) + gamma) * B * gradient


def mean_decrease(value: Any, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, gradient: Any) -> Any:
    mubar = mu - L_minus
    return (
        value
        - ((1 - gamma * B) / mu - L * B * (1 + gamma) / (mubar * mu) - L * (1 + gamma) ** 2 * B**2 / (2 * mubar**2))
        * gradient**2
    )


def value_bound(mean_value: Any, lipschitz: Any, deviation: Any) -> Any:
    return mean_value + lipschitz * deviation


def local_lipschitz(L: Any, gradient: Any, mean_step: Any, step: Any) -> Any:
    return gradient + L * (mean_step + step)


def expected_value_bound(mean_value: Any, Q: Any) -> Any:
    return mean_value + Q


def Q_bound(L: Any, gradient: Any, mean_step: Any, deviation: Any, mean_square_deviation: Any) -> Any:
    return (gradient + 2 * L * mean_step) * deviation + L * mean_square_deviation


def deviation_bound(mean_square_deviation: Any) -> Any:
    return sqrt(mean_square_deviation)


def mean_square_deviation_bound(mu: Any, L_minus: Any, B: Any, gamma: Any, K: Any, gradient: Any) -> Any:
    # The factor 2 enters in the second step, where 1 would do: a variance is at most the mean square about any point.
    return 2 * B**2 / mpf(K) * (1 + gamma) ** 2 / (mu - L_minus) ** 2 * gradient**2


def sampling_error(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any, gradient: Any) -> Any:
    mubar = mu - L_minus
    return (
        B * (1 + gamma) * sqrt(2) / (mubar * sqrt(K))
        + L * B**2 * (1 + gamma) ** 2 / (mubar**2 * K) * (2 * sqrt(2 * K) + 2)
    ) * gradient**2


def convex_decrease(value: Any, mu: Any, L: Any, B: Any, gradient: Any) -> Any:
    # Stands with an approximate inequality. With the sqrt 2 of Theorem 4, B <= 0.5 sqrt K guarantees
    # only (1 - 1/sqrt 2)/mu = 0.29/mu; the printed 1/(2 mu) needs B <= sqrt K/(2 sqrt 2).
    return value - 1 / mpf(2 * mu) * gradient**2 + 3 * L * B**2 / mpf(2 * mu**2) * gradient**2


def convex_decrease_chosen(value: Any, L: Any, B: Any, gradient: Any) -> Any:
    # Approximate inequality; exactly (15) at mu = 6 L B^2.
    return value - 1 / (24 * L * B**2) * gradient**2


RIGHT: dict[str, Callable[..., Any]] = {
    "fedprox.definition1": inexactness,
    "fedprox.definition2": client_inexactness,
    "fedprox.definition3": dissimilarity,
    "fedprox.assumption1": bounded_dissimilarity,
    "fedprox.theorem4": rho,
    "fedprox.remark5": necessary_margins,
    "fedprox.theorem6": iterations,
    "fedprox.corollary7": convex_choice,
    "fedprox.remark8": sgd_like_iterations,
    "fedprox.corollary9": rho_variable,
    "fedprox.corollary10": dissimilarity_from_variance,
    "fedprox.theorem11": rho_bounded_variance,
    "fedprox.equation1": objective,
    "fedprox.equation2": local_objective,
    "fedprox.equation3": residual_bound,
    "fedprox.equation4": mean_step,
    "fedprox.equation5": solution_distance,
    "fedprox.equation6": client_step,
    "fedprox.equation7": drift,
    "fedprox.equation8": mean_decrease,
    "fedprox.equation9": value_bound,
    "fedprox.equation10": expected_value_bound,
    "fedprox.equation11": Q_bound,
    "fedprox.equation12": deviation_bound,
    "fedprox.equation13": mean_square_deviation_bound,
    "fedprox.equation14": sampling_error,
    "fedprox.equation15": convex_decrease,
    "fedprox.equation16": convex_decrease_chosen,
}

CONSTANTS: dict[str, Callable[..., Any]] = {
    "rho_terms": rho_terms,
    "mean_step_bound": mean_step_bound,
    "local_lipschitz": local_lipschitz,
}

PAGE: dict[str, int] = {}  # the text does not show where pages begin

CLIENTS = (
    "F_k L-smooth, Hessians >= -L_minus I with L_minus > 0 (possibly non-convex), mubar = mu - L_minus > 0; "
    "B(w^t) <= B; every F_k solved gamma-inexactly"
)
SAMPLED = CLIENTS + "; K devices drawn with probabilities p_k, plain average of their answers"

ASSUMES: dict[str, str] = {
    "fedprox.definition1": "gamma in [0, 1]; h = F + mu/2 |w - w0|^2, F differentiable",
    "fedprox.definition2": "gamma_k^t in [0, 1]; h_k = F_k + mu/2 |w - w_t|^2, F_k differentiable",
    "fedprox.definition3": "grad f(w) != 0, or E_k|grad F_k(w)|^2 = |grad f(w)|^2 (then B(w) = 1, footnote 2); "
    "E_k with weights p_k = n_k/n",
    "fedprox.assumption1": "some epsilon > 0; all points with |grad f(w)|^2 > epsilon",
    "fedprox.theorem4": "Assumption 1; " + SAMPLED + "; w^t not stationary; rho > 0",
    "fedprox.remark5": "Theorem 4; necessary for rho > 0, not sufficient",
    "fedprox.theorem6": "B >= B_epsilon and Theorem 4 holds in each round with the same rho > 0; f(w^0) - f^* = delta, "
    "f bounded below; the bound is on the mean of E|grad f(w^t)|^2 over the first T rounds",
    "fedprox.corollary7": "Theorem 4 with convex F_k, exact local solutions (gamma = 0), 1 << B <= 0.5 sqrt K; "
    "approximate (the proof takes L_minus = 0)",
    "fedprox.remark8": "bounded variance, convex F_k, exact local solutions, small epsilon, mu large enough "
    "(Corollary 7 with B_epsilon of Corollary 10); up to a constant",
    "fedprox.corollary9": CLIENTS.replace("gamma-inexactly", "gamma_k^t-inexactly")
    + "; w^t not stationary; gamma^t = max over S_t of gamma_k^t; rho^t > 0",
    "fedprox.corollary10": "E_k|grad F_k(w) - grad f(w)|^2 <= sigma^2; epsilon > 0; points with "
    "|grad f(w)|^2 > epsilon (Assumption 1)",
    "fedprox.theorem11": "Theorem 4 with E_k|grad F_k(w) - grad f(w)|^2 <= sigma^2 instead of the dissimilarity; "
    "|grad f(w^t)|^2 >= epsilon; rho > 0",
    "fedprox.equation1": "p_k >= 0, sum p_k = 1",
    "fedprox.equation2": "none but mu >= 0",
    "fedprox.equation3": "gamma-inexact local solutions (Definition 1)",
    "fedprox.equation4": "mu > 0; wbar^{t+1} the mean of the w_k^{t+1} with weights p_k",
    "fedprox.equation5": "mubar = mu - L_minus > 0, so that h_k is mubar-strongly convex; gamma-inexact solution",
    "fedprox.equation6": "as equation 5",
    "fedprox.equation7": CLIENTS,
    "fedprox.equation8": CLIENTS + "; f L-smooth",
    "fedprox.equation9": "L_0 a Lipschitz constant of f between w^{t+1} and wbar^{t+1}",
    "fedprox.equation10": "Q_t = E_{S_t}[L_0 |w^{t+1} - wbar^{t+1}|]",
    "fedprox.equation11": "f L-smooth, L_0 as bounded below (9); expectations over S_t",
    "fedprox.equation12": "none (Jensen)",
    "fedprox.equation13": SAMPLED,
    "fedprox.equation14": SAMPLED,
    "fedprox.equation15": "L_minus = 0, mubar = mu, gamma = 0, 1 << B <= 0.5 sqrt K; approximate",
    "fedprox.equation16": "as equation 15, mu = 6 L B^2; approximate; conditional on the previous iterate",
}
