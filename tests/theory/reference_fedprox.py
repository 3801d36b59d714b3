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
