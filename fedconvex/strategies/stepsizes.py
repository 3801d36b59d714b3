"""Parameters with which a method is proved to converge on a problem, each with the source of the proof."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from hypothesis import strategies as st

from fedconvex.arithmetic.balls import lower_float, upper_float
from fedconvex.errors import InvalidInput
from fedconvex.ground_truths import require_minimizer
from fedconvex.methods import Method
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.strategies.numbers import between


@final
@dataclass(frozen=True)
class Admissible:
    """The values of a method's parameter from which convergence follows: above < value < below, or a half-line."""

    parameter: str
    above: Fraction
    below: Fraction | None
    source: str

    def __contains__(self, value: Any) -> bool:
        return bool(self.above < value and (self.below is None or value < self.below))


Rule = Callable[[Problem, Fraction, Fraction, Any], Admissible]


def stepsizes_for(problem: Problem, method: "type[Method] | Method", *, exact: bool = True) -> st.SearchStrategy[Any]:
    """Values of the method's one number (`stepsize`, mu, alpha, eta) with which it is proved to converge here.

    To its fixed point, which need not be the minimiser, with everyone taking part. `admissible` says which values they
    are and who proved it.

    Args:
        problem: convex clients whose objective has a minimiser.
        method: a class, or an instance whose other parameters (local steps) are kept in mind.
        exact: ints and Fractions; False: floats.

    Raises:
        InvalidInput: for problems and methods for which no theory is known here.
        NoMinimizer: where there is nothing to converge to.
    """
    found = admissible(problem, method)
    values: st.SearchStrategy[Any] = between(found.above, found.below, open_low=True, open_high=True, integer=False)
    return values if exact else values.map(float).map(lambda value: _inside(found, value))


def admissible(problem: Problem, method: "type[Method] | Method") -> Admissible:
    """The parameters from which convergence follows, with the source; L and mu are certified bounds over all clients.

    Raises:
        InvalidInput: for problems and methods for which no theory is known here.
        NoMinimizer: where there is nothing to converge to.
    """
    kind = method if isinstance(method, type) else type(method)
    if kind.__name__ not in RULES:
        cure = f"give one of {', '.join(sorted(RULES))}"
        raise InvalidInput("method", method, "has no parameters that are known to converge to a point", cure)
    if not problem.is_convex:
        raise InvalidInput("problem", problem, "has a client that is not convex", "give convex clients")
    require_minimizer(problem)
    m = problem.num_clients
    scale = [m * weight if kind.plain else Fraction(1) for weight in problem.exact_weights]
    L = max(scale[k] * Fraction(upper_float(problem.smoothness_bound(k))) for k in range(m))
    mu = min(scale[k] * Fraction(max(0.0, lower_float(problem.strong_convexity_bound(k)))) for k in range(m))
    if mu == 0 and not isinstance(problem, QuadraticProblem):
        raise InvalidInput("problem", problem, "is not proved strongly convex", "give quadratics, or a ridge > 0")
    return RULES[kind.__name__](problem, L, mu, method)


def _descent(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    """Every local step is an averaged map; so are their compositions and mean."""
    below = 2 / L if L > 0 else None
    return Admissible(
        "stepsize", Fraction(0), below, "stepsize < 2/L: Baillon and Haddad (1977); Krasnoselskii and Mann"
    )


def _anything(parameter: str, source: str, unique: bool = False) -> Rule:
    def rule(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
        if unique and not (mu > 0 or (isinstance(problem, QuadraticProblem) and not problem.kernel)):
            cure = "give strongly convex clients, or quadratic ones with one minimiser"
            raise InvalidInput("problem", problem, f"is outside of what is proved of {parameter} > 0", cure)
        return Admissible(parameter, Fraction(0), None, source)

    return rule


def _corrected(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    """With P = mean (H_k + μI)⁻¹ ≼ I/(μ + mu) and H ≼ LI, the eigenvalues of I − PH lie in (−1, 1) if L < 2(μ + mu)."""
    if not isinstance(problem, QuadraticProblem) or problem.kernel:
        raise InvalidInput("problem", problem, "is outside of what is proved", "give quadratics with one minimiser")
    eta = getattr(method, "eta", 1) if not isinstance(method, type) else 1
    above = max(Fraction(0), Fraction(eta) * L / 2 - mu)
    return Admissible("mu", above, None, "mu > eta L/2 − least curvature: spectrum of one round on quadratics")


def _one_gradient(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    if not isinstance(problem, QuadraticProblem) or problem.kernel:
        raise InvalidInput("problem", problem, "is outside of what is proved", "give quadratics with one minimiser")
    return Admissible("alpha", 50 * L, None, "alpha > 50 L: FedDyn, equation (20): mean squared gradients go to 0")


def _scaffold(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    if not mu > 0:
        raise InvalidInput("problem", problem, "is not proved strongly convex", "give strongly convex clients")
    steps, eta = (1, 1) if isinstance(method, type) else (method.local_steps, Fraction(method.server_stepsize))
    if eta < 1:
        raise InvalidInput("server_stepsize", eta, "is outside of what is proved", "give server_stepsize >= 1")
    source = "stepsize < 1/(81 K eta L): Karimireddy et al. (2020), SCAFFOLD on strongly convex clients"
    return Admissible("stepsize", Fraction(0), 1 / (81 * steps * eta * L), source)


SPLITTING = "Giselsson and Boyd (2017), every stepsize > 0; on quadratics by the kernel of the reflection"
ADMM = "ADMM, every penalty > 0: Boyd et al. (2011), section 3.2"
RULES: dict[str, Rule] = {
    "FedGD": _descent,
    "FedSGD": _descent,
    "FedNova": _descent,
    "FedProx": _anything("mu", "proximal maps are firmly nonexpansive: Moreau (1965); Krasnoselskii and Mann"),
    "FedSplit": _anything("stepsize", SPLITTING, unique=True),
    "FedDyn": _anything("alpha", ADMM, unique=True),
    "FedPD": _anything("eta", ADMM, unique=True),
    "FedDynOneGD": _one_gradient,
    "DANE": _corrected,
    "FedDANE": _corrected,
    "Scaffold": _scaffold,
}


def _inside(found: Admissible, value: float) -> float:
    """The float itself, or one that rounding has not put outside."""
    return value if value in found else float((found.above + (found.below or 2 * found.above + 2)) / 2)
