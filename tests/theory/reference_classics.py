"""Classical rates that the federated ones are compared with, transcribed from their sources for mpmath.

The transcription shares nothing with the calculators it is compared with; the names begin with the papers'.
D0 = |x_0 - x^*|^2 and delta = f(x_0) - f^* throughout.
"""

from typing import Any

from mpmath import mpf, sqrt

# Nesterov, Introductory Lectures on Convex Optimization (2004): gradient descent.


def nesterov_contraction(stepsize: Any, mu: Any, L: Any) -> Any:
    # Not in the book in this form: Theorem 2.1.15 has (1 - 2 s mu L/(mu + L))^(1/2) for s <= 2/(mu + L), which agrees
    # with it at s = 2/(mu + L) and is larger for every smaller s.
    return max(abs(1 - stepsize * mu), abs(1 - stepsize * L))


def nesterov_best_stepsize(mu: Any, L: Any) -> Any:
    return 2 / mpf(mu + L)


def nesterov_best_contraction(kappa: Any) -> Any:
    return (kappa - 1) / mpf(kappa + 1)


def nesterov_distance_bound(t: int, kappa: Any, initial_distance: Any) -> Any:
    return ((kappa - 1) / mpf(kappa + 1)) ** t * initial_distance


def nesterov_gap_bound(t: int, kappa: Any, L: Any, D0: Any) -> Any:
    return L / mpf(2) * ((kappa - 1) / mpf(kappa + 1)) ** (2 * t) * D0


def nesterov_convex_gap_bound(t: int, L: Any, D0: Any) -> Any:
    return 2 * L * D0 / mpf(t + 4)


def nesterov_nonconvex_gradient_bound(T: int, L: Any, delta: Any) -> Any:
    return 2 * L * delta / mpf(T)


# Rockafellar, Monotone operators and the proximal point algorithm (1976).


def rockafellar_contraction(stepsize: Any, mu: Any) -> Any:
    return 1 / mpf(1 + stepsize * mu)


def rockafellar_convex_gap_bound(t: int, stepsize: Any, D0: Any) -> Any:
    # The constant is Güler's (1991), for fixed stepsizes.
    return D0 / mpf(2 * stepsize * t)


# Giselsson and Boyd, Linear convergence and metric selection for Douglas-Rachford splitting and ADMM (2017).


def giselsson_boyd_reflection_contraction(stepsize: Any, mu: Any, L: Any) -> Any:
    return max((stepsize * L - 1) / mpf(stepsize * L + 1), (1 - stepsize * mu) / mpf(1 + stepsize * mu))


def giselsson_boyd_optimal_stepsize(mu: Any, L: Any) -> Any:
    return 1 / sqrt(mu * L)


def giselsson_boyd_optimal_contraction(kappa: Any) -> Any:
    return (sqrt(kappa) - 1) / (sqrt(kappa) + 1)


def giselsson_boyd_averaged_contraction(relaxation: Any, stepsize: Any, mu: Any, L: Any) -> Any:
    reflection = max((stepsize * L - 1) / mpf(stepsize * L + 1), (1 - stepsize * mu) / mpf(1 + stepsize * mu))
    return abs(1 - relaxation) + relaxation * reflection


# Ghadimi and Lan, Stochastic first- and zeroth-order methods for nonconvex stochastic programming (2013): RSG.


def ghadimi_lan_nonconvex_bound(N: int, L: Any, delta: Any, sigma2: Any, D: Any) -> Any:
    # The source bounds E|grad f(x_R)|^2 / L; here it is multiplied by L.
    square = 2 * delta / mpf(L)
    return L * (L * square / mpf(N) + (D + square / D) * sqrt(sigma2) / sqrt(N))


def ghadimi_lan_convex_bound(N: int, L: Any, D0: Any, sigma2: Any, D: Any) -> Any:
    return L * D0 / mpf(N) + (D + D0 / mpf(D)) * sqrt(sigma2) / sqrt(N)


# DANE, one round: no source has it. This is the decrease, exactly, on the function that attains it: L x^2/2 from x = 1.


def dane_oneround(mu: Any, eta: Any, L: Any) -> Any:
    after = 1 - eta * L / mpf(L + mu)
    return L / mpf(2) * (1 - after**2) / mpf(L) ** 2
