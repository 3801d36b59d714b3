"""Nesterov: *Introductory Lectures on Convex Optimization* (2004): gradient descent x ← x − s∇f(x).

Main statements
---------------
* `distance_after`: t steps of any size on a smooth strongly convex function; `rounds` inverts it.
* `distance_bound`, `gap_bound` (Theorem 2.1.15), `convex_gap_bound` (Corollary 2.1.2): the book's rates.
* `decrease`, `gradient_bound`: one step on a smooth function, and the mean squared gradient over T steps.

Use it as the baseline of the federated methods. `FedGD(stepsize, local_steps=1)` with full participation is gradient
descent on the objective, because the server averages the clients' gradients; the FedSplit paper compares with it in
(22).

Notation: `mu`, `L` strong convexity and smoothness of the *objective* (a mean with weights; the FedSplit paper's sum
has m times both, and 1/m times the stepsize); `kappa` = L/mu; `stepsize` s.
"""

from typing import Any

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import (
    after,
    gradient,
    mean,
    mean_of_rounds,
    minimiser,
    norm,
    server,
    square,
    value,
)
from fedconvex.names import checked_keywords
from fedconvex.statements.assumptions import (
    Convex,
    Everyone,
    Runs,
    SmoothObjective,
    StepsizeAtMost,
    StronglyConvexObjective,
)
from fedconvex.statements.certified import enclosed, exactly, require_sign, smallest_integer
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum, power
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import (
    CURVATURE,
    LENGTH,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    STEPSIZE,
    VALUE,
    Parameter,
)
from fedconvex.statements.signs import Sign
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.types import Exact, Real

START = server(0) - minimiser

PAPER = Paper(
    name="nesterov",
    short="Nesterov",
    reference="Nesterov: Introductory Lectures on Convex Optimization (2004)",
    convention="one function f; for clients, the mean with their weights",
    letters=Letters(server="x_@", minimiser="x_*", expectation=""),
    notation={
        "stepsize": Parameter("s", "stepsize", STEPSIZE, above=0, measured="stepsize"),
        "mu": Parameter(r"\mu", "its strong convexity", CURVATURE, above=0, measured="objective_convexity"),
        "L": Parameter("L", "its smoothness", CURVATURE, above=0, measured="objective_smoothness"),
        "kappa": Parameter(r"\kappa", "condition number L/mu", least=1, measured="objective_condition"),
        "t": Parameter("t", "steps", least=1, integer=True, measured="num_rounds"),
        "T": Parameter("T", "steps", least=1, integer=True, measured="num_rounds"),
        "initial_distance": Parameter(
            r"\|x_0-x_*\|", "distance of the start", LENGTH, least=0, measured="distance", means=norm(START)
        ),
        "D0": Parameter(
            r"\|x_0-x_*\|^2", "‖x₀ − x_*‖²", SQUARED_LENGTH, least=0, measured="squared_distance", means=square(START)
        ),
        "delta": Parameter(r"\Delta", "initial suboptimality f(x₀) − f_*", VALUE, least=0, measured="initial_gap"),
        "epsilon": Parameter(r"\varepsilon", "accuracy, of the distance", LENGTH, above=0),
    },
)  # fmt: skip

GRADIENT_DESCENT = (Runs("FedGD", local_steps=1), Everyone(), SmoothObjective())
STRONGLY_CONVEX = (*GRADIENT_DESCENT, StronglyConvexObjective(), Condition("mu", "<=", "L"))
COVERED = Condition("kappa", ">=", lambda mu, L: L / mu)
BEST = Condition("stepsize", "=", lambda mu, L: 2 / (mu + L))
ONE_OVER_L = Condition("stepsize", "=", lambda L: 1 / L)


@PAPER.calculator(of="a gradient step", assumes=(Condition("mu", "<=", "L"),))
def contraction(*, stepsize: Real, mu: Real, L: Real) -> Any:
    """max(|1 − sμ|, |1 − sL|): a gradient step contracts distances by this factor; below 1 exactly for 0 < s < 2/L."""
    return maximum(abs(1 - stepsize * mu), abs(1 - stepsize * L))


@PAPER.calculator(of="Theorem 2.1.15", units=STEPSIZE, assumes=(Condition("mu", "<=", "L"),))
def best_stepsize(*, mu: Real, L: Real) -> Any:
    """2/(μ + L): the stepsize with the smallest `contraction`."""
    return 2 / (mu + L)


@PAPER.calculator(of="Theorem 2.1.15")
def best_contraction(*, kappa: Real) -> Any:
    """(κ − 1)/(κ + 1): the contraction with the best stepsize."""
    return (kappa - 1) / (kappa + 1)


def _reaches(bound: Any) -> Any:
    """‖x_t − x_*‖ ≤ bound."""
    return at_most(after(norm(START)), bound, rounds="t")


@PAPER.statement(
    "Gradient step", ClaimType.TIGHT, symbol=r"\|x_t-x_*\|", units=LENGTH, assumes=STRONGLY_CONVEX, states=_reaches
)
def distance_after(*, t: Real, stepsize: Real, mu: Real, L: Real, initial_distance: Real) -> Any:
    """t gradient steps of any size: max(|1 − sμ|, |1 − sL|)^t ‖x₀ − x_*‖; attained on quadratics."""
    return power(contraction.formula(stepsize=stepsize, mu=mu, L=L), t) * initial_distance


@PAPER.statement(
    "Theorem 2.1.15", ClaimType.TIGHT, symbol=r"\|x_t-x_*\|", units=LENGTH,
    assumes=(*STRONGLY_CONVEX, BEST, COVERED), states=_reaches,
)  # fmt: skip
def distance_bound(*, t: Real, kappa: Real, initial_distance: Real) -> Any:
    """t steps of size 2/(μ + L): ((κ−1)/(κ+1))^t ‖x₀ − x_*‖."""
    return power(best_contraction.formula(kappa=kappa), t) * initial_distance


@PAPER.calculator(of="Theorem 2.1.15", units=VALUE, assumes=(*STRONGLY_CONVEX, BEST, COVERED))
def gap_bound(*, t: Real, kappa: Real, L: Real, D0: Real) -> Any:
    """t steps of size 2/(μ + L): f(x_t) − f_* ≤ (L/2)((κ−1)/(κ+1))^{2t}‖x₀ − x_*‖²."""
    return L / 2 * power(best_contraction.formula(kappa=kappa), 2 * t) * D0


@PAPER.statement(
    "Corollary 2.1.2",
    ClaimType.UPPER,
    symbol="f(x_t)-f_*",
    units=VALUE,
    assumes=(*GRADIENT_DESCENT, Convex(), ONE_OVER_L),
    states=lambda bound: at_most(after(value(server(0))) - value(minimiser), bound, rounds="t"),
)
def convex_gap_bound(*, t: Real, L: Real, D0: Real) -> Any:
    """t steps of size 1/L on a convex function: 2L‖x₀ − x_*‖²/(t + 4)."""
    return 2 * L * D0 / (t + 4)


@PAPER.calculator(of="a gradient step", units=STEPSIZE, assumes=(StepsizeAtMost(lambda L: 2 / L),))
def decrease(*, stepsize: Real, L: Real) -> Any:
    """s(1 − sL/2): a step on a smooth function decreases it by at least this times ‖∇f(x)‖²; compare FedProx's ρ."""
    return stepsize * (1 - stepsize * L / 2)


@PAPER.statement(
    "Smooth functions", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t<T}\|\nabla f(x_t)\|^2",
    units=SQUARED_GRADIENT,
    assumes=(*GRADIENT_DESCENT, Condition("stepsize", "<", lambda L: 2 / L)),
    states=lambda bound: at_most(mean_of_rounds(square(mean(gradient(server(0))))), bound, rounds="T"),
)  # fmt: skip
def gradient_bound(*, T: Real, stepsize: Real, L: Real, delta: Real) -> Any:
    """The mean squared gradient over T steps on a smooth function: (f(x₀) − f_*)/(T s(1 − sL/2)); 2LΔ/T for s = 1/L."""
    return delta / (T * decrease.formula(stepsize=stepsize, L=L))


@PAPER.calculator(of="a gradient step", units=LENGTH, assumes=(Condition("mu", "<=", "L"),))
def margin(*, t: Real, stepsize: Real, mu: Real, L: Real, initial_distance: Real, epsilon: Real) -> Any:
    """The accuracy epsilon minus the bound `distance_after`: nonnegative if the bound guarantees the accuracy."""
    given = {"t": t, "stepsize": stepsize, "mu": mu, "L": L, "initial_distance": initial_distance}
    return epsilon - distance_after.calculator.formula(**given)


@PAPER.calculator(of="a gradient step")
def shrinks(*, stepsize: Real, mu: Real, L: Real) -> Any:
    """1 − `contraction`: positive exactly for 0 < s < 2/L."""
    return 1 - contraction.formula(stepsize=stepsize, mu=mu, L=L)


@checked_keywords
def rounds(
    *, mu: Exact, L: Exact, initial_distance: Exact, epsilon: Exact, stepsize: Exact | None = None
) -> int | None:
    """The least t ≥ 1 for which `distance_after` guarantees ‖x_t − x_*‖ ≤ epsilon, exactly; None if no t does.

    None where the stepsize is not below 2/L and the first step is not enough. `stepsize` defaults to the best one,
    2/(μ + L). Every comparison is certified.
    """
    enclosed(best_stepsize, {"mu": mu, "L": L})  # raises InvalidInput for arguments outside their range
    if stepsize is None:
        stepsize = best_stepsize(**{name: exactly(value) for name, value in {"mu": mu, "L": L}.items()})
    given: dict[str, Any] = {"stepsize": stepsize, "mu": mu, "L": L}
    distances: dict[str, Any] = {"initial_distance": initial_distance, "epsilon": epsilon}
    enclosed(margin, {"t": 1, **given, **distances})  # the same for the other arguments

    def enough(t: int) -> bool:
        return require_sign(margin.sign(t=t, **given, **distances), given) is not Sign.NEGATIVE

    # Without contraction the first step decides: the bound does not decrease with t.
    if not enough(1) and require_sign(shrinks.sign(**given), given) is not Sign.POSITIVE:
        return None
    return smallest_integer(enough)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
