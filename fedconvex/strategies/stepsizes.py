"""The parameters with which a method provably converges on a problem, each with the source of the proof."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from hypothesis import strategies as st

from fedconvex.argument_order import method_then_problem
from fedconvex.arithmetic.balls import lower_float, upper_float
from fedconvex.errors import InvalidInput
from fedconvex.ground_truths import require_minimizer
from fedconvex.methods import Method
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.step_numbers import common_steps
from fedconvex.strategies.numbers import numbers_in_interval
from fedconvex.validation import truth_value


@final
@dataclass(frozen=True)
class Admissible:
    """The open interval of a method's parameter for which convergence is proved; without `below` it is unbounded."""

    parameter: str
    above: Fraction
    below: Fraction | None
    source: str

    def __contains__(self, value: Any) -> bool:
        return bool(self.above < value and (self.below is None or value < self.below))


Rule = Callable[[Problem, Fraction, Fraction, Any], Admissible]


@method_then_problem
def stepsizes_for(method: "type[Method] | Method", problem: Problem, *, exact: bool = True) -> st.SearchStrategy[Any]:
    """A strategy for values of the method's parameter (stepsize, mu, alpha or eta) with which it provably converges.

    Use it to test convergence without tuning. The method converges, with full participation, to its fixed point, which
    need not be the minimiser. `admissible` returns the interval and its source.

    Args:
        method: a class, or an instance, whose other parameters (such as local_steps) then count.
        problem: convex clients whose objective has a minimiser.
        exact: ints and Fractions; False: floats.

    Raises:
        InvalidInput: no theory is known here for this problem or method.
        NoMinimizer: the objective has no minimiser.
    """
    found = admissible(method, problem)
    values: st.SearchStrategy[Any] = numbers_in_interval(
        found.above, found.below, open_low=True, open_high=True, integer=False
    )
    return values if truth_value(exact, "exact") else values.map(float).map(lambda value: _inside(found, value))


@method_then_problem
def admissible(method: "type[Method] | Method", problem: Problem) -> Admissible:
    """The interval of the method's parameter in which convergence is proved, with the source of the proof.

    It uses certified bounds of L and mu over all clients. Arguments as for `stepsizes_for`, which draws from it.

    Raises:
        InvalidInput: no theory is known here for this problem or method.
        NoMinimizer: the objective has no minimiser.
    """
    kind = method if isinstance(method, type) else type(method)
    if kind.__name__ not in RULES:
        cure = f"give one of {', '.join(sorted(RULES))}"
        raise InvalidInput("method", method, "has no parameters that are known to converge to a point", cure)
    require_problem(problem)
    if not problem.is_convex:
        raise InvalidInput("problem", problem, "has a client that is not convex", "give convex clients")
    require_minimizer(problem)
    m = problem.num_clients
    # constants of F_k = scale_k · f_k, the functions that the method uses
    scale = [m * weight if kind.plain else Fraction(1) for weight in problem.exact_weights]
    # rounded outwards: the interval must be safe, not as large as possible
    L = max(scale[k] * Fraction(upper_float(problem.smoothness_bound(k))) for k in range(m))
    mu = min(scale[k] * Fraction(max(0.0, lower_float(problem.strong_convexity_bound(k)))) for k in range(m))
    # the theory for mu = 0 needs a fixed point to exist, which is known for quadratics with a minimiser
    if mu == 0 and not isinstance(problem, QuadraticProblem):
        raise InvalidInput("problem", problem, "is not proved strongly convex", "give quadratics, or a ridge > 0")
    return RULES[kind.__name__](problem, L, mu, method)


def _outside(problem: Problem, how: str, cure: str) -> InvalidInput:
    return InvalidInput("problem", problem, f"is outside the class for which convergence{how} is proved", cure)


def _gradient_steps(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    """Every local step is an averaged operator, and so are compositions and means of them.

    FedNova's update with unequal numbers of steps is no mean. With them, FedGD's fixed points need not exist where
    there is a minimiser: in a direction in which all clients are linear, their slopes no longer cancel.
    """
    if not isinstance(method, type) and common_steps(getattr(method, "local_steps", 1)) is None:
        if method.needs_path_lengths:
            outside = "is outside the range for which FedNova's convergence is proved"
            raise InvalidInput("local_steps", method.local_steps, outside, "give one number for all clients")
        if mu == 0 and problem.kernel:  # type: ignore[attr-defined]  # quadratics, as `admissible` ensures
            cure = "give quadratics with one minimiser, or one number of local steps for all clients"
            raise _outside(problem, " with unequal local steps", cure)
    below = 2 / L if L > 0 else None  # L = 0: the clients are affine
    return Admissible(
        "stepsize", Fraction(0), below, "stepsize < 2/L: Baillon and Haddad (1977); Krasnoselskii and Mann"
    )


def _every_positive(parameter: str, source: str, unique: bool = False) -> Rule:
    """The rule of methods that converge for every positive value; `unique`: only if the minimiser is unique."""

    def rule(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
        if unique and not (mu > 0 or (isinstance(problem, QuadraticProblem) and not problem.kernel)):
            cure = "give strongly convex clients, or quadratic ones with one minimiser"
            raise _outside(problem, f" with {parameter} > 0", cure)
        return Admissible(parameter, Fraction(0), None, source)

    return rule


def _dane(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    """With P = mean (H_k + μI)⁻¹ ≼ I/(μ + mu) and H ≼ LI, the eigenvalues of I − PH lie in (−1, 1) if L < 2(μ + mu)."""
    if not isinstance(problem, QuadraticProblem) or problem.kernel:
        raise _outside(problem, "", "give quadratics with one minimiser")
    eta = getattr(method, "eta", 1) if not isinstance(method, type) else 1
    above = max(Fraction(0), Fraction(eta) * L / 2 - mu)
    return Admissible("mu", above, None, "mu > eta L/2 − least curvature: spectrum of one round on quadratics")


def _feddyn_one_gradient(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    if not isinstance(problem, QuadraticProblem) or problem.kernel:
        raise _outside(problem, "", "give quadratics with one minimiser")
    return Admissible("alpha", 50 * L, None, "alpha > 50 L: FedDyn, equation (20): mean squared gradients go to 0")


def _scaffold(problem: Problem, L: Fraction, mu: Fraction, method: Any) -> Admissible:
    if not mu > 0:
        raise InvalidInput("problem", problem, "is not proved strongly convex", "give strongly convex clients")
    steps, eta = (1, 1) if isinstance(method, type) else (method.local_steps, Fraction(method.server_stepsize))
    outside = "is outside the range for which convergence is proved"
    if (steps := common_steps(steps)) is None:
        raise InvalidInput("local_steps", method.local_steps, outside, "give one number for all clients")
    if eta < 1:
        raise InvalidInput("server_stepsize", eta, outside, "give server_stepsize >= 1")
    source = "stepsize < 1/(81 K eta L): Karimireddy et al. (2020), SCAFFOLD on strongly convex clients"
    return Admissible("stepsize", Fraction(0), 1 / (81 * steps * eta * L), source)


SPLITTING = "Giselsson and Boyd (2017), every stepsize > 0; on quadratics by the kernel of the reflection"
ADMM = "ADMM, every penalty > 0: Boyd et al. (2011), section 3.2"
RULES: dict[str, Rule] = {
    "FedGD": _gradient_steps,
    "FedSGD": _gradient_steps,
    "FedNova": _gradient_steps,
    "FedProx": _every_positive("mu", "proximal maps are firmly nonexpansive: Moreau (1965); Krasnoselskii and Mann"),
    "FedSplit": _every_positive("stepsize", SPLITTING, unique=True),
    "FedDyn": _every_positive("alpha", ADMM, unique=True),
    "FedPD": _every_positive("eta", ADMM, unique=True),
    "FedDynOneGD": _feddyn_one_gradient,
    "DANE": _dane,
    "FedDANE": _dane,
    "Scaffold": _scaffold,
}


def _inside(found: Admissible, value: float) -> float:
    """The value, or a point inside the interval if rounding to a float has moved the value outside."""
    return value if value in found else float((found.above + (found.below or 2 * found.above + 2)) / 2)
