"""Federated Optimization in Heterogeneous Networks (FedProx): its formulas, transcribed from the text for mpmath.

The transcription shares nothing with the calculators it is compared with. Every function is the right-hand side as
printed, also where the printed formula is loose or unclear; the comments say where. Functions have the names of the
statements or calculators. Norms are not squared unless the argument's name says so, and mubar = mu - L_minus.
"""

from collections.abc import Sequence
from functools import reduce
from math import ceil
from operator import add
from typing import Any

from mpmath import mpf, sqrt
from problem_makers import fraction


def total(terms: Sequence[Any]) -> Any:
    return reduce(add, terms)


def definition1(residual: Any, client_gradient: Any) -> Any:
    return mpf(0) if residual == 0 else residual / client_gradient


def definition2(residual: Any, client_gradient: Any) -> Any:
    # Printed "gamma in [0, 1]" without the indices of gamma_k^t.
    return definition1(residual, client_gradient)


def definition3(mean_square: Any, square: Any) -> Any:
    # A bracket is missing below the printed root. Footnote 2: B(w) = 1 where the two are equal, also where both vanish.
    return mpf(1) if mean_square == square else sqrt(mean_square / square)


def assumption1(dissimilarities: Sequence[Any]) -> Any:
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


def theorem4(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any) -> Any:
    return total(rho_terms(mu, L, L_minus, B, gamma, K))


def remark5(B: Any, gamma: Any, K: Any) -> tuple[Any, Any]:
    # Announced as "sufficient (but not necessary)", stated as "we need": necessary for rho > 0, and not sufficient.
    return 1 - gamma * B, 1 - B / sqrt(K)


def theorem6(delta: Any, rho: Any, epsilon: Any) -> int:
    # Printed T = O(delta / (rho epsilon)); summing Theorem 4 gives (1/T) sum E|grad f(w^t)|^2 <= delta / (rho T).
    return max(1, ceil(fraction(delta) / (fraction(rho) * fraction(epsilon))))


def corollary7(L: Any, B: Any, K: Any) -> tuple[Any, Any]:
    # K only enters the hypothesis.
    return 6 * L * B**2, 1 / (24 * L * B**2)


def remark8(L: Any, delta: Any, sigma2: Any, epsilon: Any) -> Any:
    # Remark 8 is garbled in the text ("L_alpha"); the sentence before it has L Delta, the same expression.
    return L * delta / epsilon + L * delta * sigma2 / epsilon**2


def corollary9(mu: Any, L: Any, L_minus: Any, B: Any, gammas: Sequence[Any], K: Any) -> Any:
    # Printed gamma^t in the formula and gamma_t in the definition: the same maximum over the devices of S_t.
    return theorem4(mu, L, L_minus, B, max(gammas), K)


def corollary10(sigma2: Any, epsilon: Any) -> Any:
    return sqrt(1 + sigma2 / epsilon)


def theorem11(mu: Any, L: Any, L_minus: Any, sigma2: Any, epsilon: Any, gamma: Any, K: Any) -> Any:
    mubar = mu - L_minus
    return (
        mpf(1) / mu
        - (gamma / mu + (1 + gamma) * sqrt(2) / (mubar * sqrt(K)) + L * (1 + gamma) / (mubar * mu))
        * sqrt(1 + sigma2 / epsilon)
        - (L * (1 + gamma) ** 2 / (2 * mubar**2) + L * (1 + gamma) ** 2 / (mubar**2 * K) * (2 * sqrt(2 * K) + 2))
        * (1 + sigma2 / epsilon)
    )


def equation1(weights: Sequence[Any], values: Sequence[Any]) -> Any:
    return total([p * value for p, value in zip(weights, values, strict=True)])


def equation2(value: Any, mu: Any, distance: Any) -> Any:
    return value + mu / mpf(2) * distance**2


def equation3(gamma: Any, client_gradient: Any) -> Any:
    return gamma * client_gradient


def equation4(mu: Any, mean_new_gradient: Any, mean_residual: Any) -> Any:
    return mean_new_gradient * (-1 / mpf(mu)) + mean_residual * (1 / mpf(mu))


def equation5(mu: Any, L_minus: Any, gamma: Any, client_gradient: Any) -> Any:
    return gamma / (mu - L_minus) * client_gradient


def equation6(mu: Any, L_minus: Any, gamma: Any, client_gradient: Any) -> Any:
    return (1 + gamma) / (mu - L_minus) * client_gradient


def mean_step_bound(mu: Any, L_minus: Any, B: Any, gamma: Any, gradient: Any) -> Any:
    # The last of the chain between (6) and (7). The proof later cites it as "from (7)".
    return B * (1 + gamma) / (mu - L_minus) * gradient


def equation7(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, gradient: Any) -> Any:
    # Printed |w_k^{t+1} - w_k^t| in the first step, for |w_k^{t+1} - w^t|.
    return (L * (1 + gamma) / (mu - L_minus) + gamma) * B * gradient


def equation8(value: Any, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, gradient: Any) -> Any:
    mubar = mu - L_minus
    return (
        value
        - ((1 - gamma * B) / mu - L * B * (1 + gamma) / (mubar * mu) - L * (1 + gamma) ** 2 * B**2 / (2 * mubar**2))
        * gradient**2
    )


def equation9(mean_value: Any, lipschitz: Any, deviation: Any) -> Any:
    return mean_value + lipschitz * deviation


def local_lipschitz(L: Any, gradient: Any, mean_step: Any, step: Any) -> Any:
    return gradient + L * (mean_step + step)


def equation10(mean_value: Any, Q: Any) -> Any:
    return mean_value + Q


def equation11(L: Any, gradient: Any, mean_step: Any, deviation: Any, mean_square_deviation: Any) -> Any:
    return (gradient + 2 * L * mean_step) * deviation + L * mean_square_deviation


def equation12(mean_square_deviation: Any) -> Any:
    return sqrt(mean_square_deviation)


def equation13(mu: Any, L_minus: Any, B: Any, gamma: Any, K: Any, gradient: Any) -> Any:
    # The factor 2 enters in the second step, where 1 would do: a variance is at most the mean square about any point.
    return 2 * B**2 / mpf(K) * (1 + gamma) ** 2 / (mu - L_minus) ** 2 * gradient**2


def equation14(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any, gradient: Any) -> Any:
    mubar = mu - L_minus
    return (
        B * (1 + gamma) * sqrt(2) / (mubar * sqrt(K))
        + L * B**2 * (1 + gamma) ** 2 / (mubar**2 * K) * (2 * sqrt(2 * K) + 2)
    ) * gradient**2


def equation15(value: Any, mu: Any, L: Any, B: Any, gradient: Any) -> Any:
    # Stands with an approximate inequality. With the sqrt 2 of Theorem 4, B <= 0.5 sqrt K guarantees
    # only (1 - 1/sqrt 2)/mu = 0.29/mu; the printed 1/(2 mu) needs B <= sqrt K/(2 sqrt 2).
    return value - 1 / mpf(2 * mu) * gradient**2 + 3 * L * B**2 / mpf(2 * mu**2) * gradient**2


def equation16(value: Any, L: Any, B: Any, gradient: Any) -> Any:
    # Approximate inequality; exactly (15) at mu = 6 L B^2.
    return value - 1 / (24 * L * B**2) * gradient**2
