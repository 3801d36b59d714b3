"""Classical rates that the federated ones are compared with, transcribed from their sources for mpmath.

The transcription shares nothing with the calculators it is compared with. D0 = |x_0 - x^*|^2 and
delta = f(x_0) - f^* throughout.
"""

from collections.abc import Callable
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


def dane_decrease(mu: Any, eta: Any, L: Any) -> Any:
    after = 1 - eta * L / mpf(L + mu)
    return L / mpf(2) * (1 - after**2) / mpf(L) ** 2


RIGHT: dict[str, Callable[..., Any]] = {
    "nesterov.contraction": nesterov_contraction,
    "nesterov.best_stepsize": nesterov_best_stepsize,
    "nesterov.best_contraction": nesterov_best_contraction,
    "nesterov.distance_bound": nesterov_distance_bound,
    "nesterov.gap_bound": nesterov_gap_bound,
    "nesterov.convex_gap_bound": nesterov_convex_gap_bound,
    "nesterov.nonconvex_gradient_bound": nesterov_nonconvex_gradient_bound,
    "rockafellar.contraction": rockafellar_contraction,
    "rockafellar.convex_gap_bound": rockafellar_convex_gap_bound,
    "giselsson_boyd.reflection_contraction": giselsson_boyd_reflection_contraction,
    "giselsson_boyd.optimal_stepsize": giselsson_boyd_optimal_stepsize,
    "giselsson_boyd.optimal_contraction": giselsson_boyd_optimal_contraction,
    "giselsson_boyd.averaged_contraction": giselsson_boyd_averaged_contraction,
    "ghadimi_lan.nonconvex_bound": ghadimi_lan_nonconvex_bound,
    "ghadimi_lan.convex_bound": ghadimi_lan_convex_bound,
    "dane.oneround": dane_decrease,
}

CONSTANTS: dict[str, Callable[..., Any]] = {}

PAGE: dict[str, int] = {}  # the sources themselves were not at hand

GRADIENT_DESCENT = "f mu-strongly convex and L-smooth"
BEST = GRADIENT_DESCENT + ", constant stepsize 2/(mu + L)"
SPLIT = "one function mu-strongly convex and L-smooth, the other closed, proper and convex, stepsize > 0"
RSG = (
    "f L-smooth and bounded below; unbiased stochastic gradients of variance at most sigma2; stepsizes "
    "min(1/L, D/(sigma sqrt N)) with D > 0; x_R drawn among x_1, ..., x_N with weights 2 s_k - L s_k^2"
)

ASSUMES: dict[str, str] = {
    "nesterov.contraction": GRADIENT_DESCENT + ", constant stepsize; two points contract by this factor",
    "nesterov.best_stepsize": GRADIENT_DESCENT,
    "nesterov.best_contraction": BEST,
    "nesterov.distance_bound": BEST + " (Theorem 2.1.15)",
    "nesterov.gap_bound": BEST + " (Theorem 2.1.15)",
    "nesterov.convex_gap_bound": "f convex and L-smooth with a minimizer, constant stepsize 1/L (Corollary 2.1.2)",
    "nesterov.nonconvex_gradient_bound": "f L-smooth and bounded below, constant stepsize 1/L; the mean over the T "
    "points x_0, ..., x_{T-1} (Section 1.2.3)",
    "rockafellar.contraction": "f mu-strongly convex (its subdifferential mu-strongly monotone), exact proximal points",
    "rockafellar.convex_gap_bound": "f closed, proper, convex, with a minimizer; exact proximal points, fixed stepsize",
    "giselsson_boyd.reflection_contraction": "f mu-strongly convex and L-smooth, stepsize > 0",
    "giselsson_boyd.optimal_stepsize": "f mu-strongly convex and L-smooth, 0 < mu <= L",
    "giselsson_boyd.optimal_contraction": "f mu-strongly convex and L-smooth, stepsize 1/sqrt(mu L)",
    "giselsson_boyd.averaged_contraction": SPLIT
    + ", 0 < relaxation < 2/(1 + the reflection's contraction) (Theorem 2)",
    "ghadimi_lan.nonconvex_bound": RSG + " (Corollary 2.2)",
    "ghadimi_lan.convex_bound": RSG + "; f convex with a minimizer (Corollary 2.2)",
    "dane.oneround": "every F_k L-smooth and L_minus-weakly convex, exact solutions, eta <= 1, mu >= L + 2 L_minus",
}
