"""FedSplit: Theorem 1, Corollary 1, Theorem 2, equations (16) to (22), and numbers of rounds that suffice."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from fedconvex.names import checked_keywords
from fedconvex.statements.assumptions import (
    Convex,
    Everyone,
    ExactSolutions,
    GradientSteps,
    GradientStepsFromCenter,
    MatchedStepsize,
    ProxError,
    Runs,
    Smooth,
    StepsizeIs,
)
from fedconvex.statements.certified import enclosed, require_sign, smallest_integer
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import count, exp, log, power, sqrt, total_of
from fedconvex.statements.notation import CURVATURE, LENGTH, NUMBER, STEPSIZE, VALUE, Parameter
from fedconvex.statements.signs import Sign
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedsplit.notation import AT_U, AT_Z, OF_DISTANCE, PAPER, RELATIVE, about
from fedconvex.theory.fedsplit.vectors import (
    STEP,
    error_of_each,
    first_distance,
    matched_stepsize,
    reaches,
    start_distance,
    strongly_convex,
    within,
    within_relative,
)
from fedconvex.types import Exact, Real, Reals

PER_SQUARED_LENGTH = (0, -2)  # values of the logistic functions are numbers
ORDERED = Condition("mu", "<=", "L")
FEDSPLIT = (Runs("FedSplit"), Everyone(), MatchedStepsize())


@PAPER.calculator(of="Theorem 1", units=STEPSIZE, assumes=(ORDERED,))
def optimal_stepsize(*, mu: Real, L: Real) -> Any:
    """s = 1/√(ℓ_* L^*): the stepsize with the smallest contraction factor of the reflected proximal steps.

    Use it for `FedSplit(stepsize=…)` if ℓ_* and L^* are known.
    """
    return 1 / sqrt(mu * L)


@PAPER.calculator(of="Theorem 1")
def contraction(*, kappa: Real) -> Any:
    """1 − 2/(√κ + 1): a round with the best stepsize contracts the distance to the fixed point by this factor."""
    return 1 - 2 / (sqrt(kappa) + 1)


@PAPER.statement(
    "Theorem 1", ClaimType.UPPER, symbol=r"\|x^{(t+1)}-x^*\|", units=LENGTH, assumes=(*FEDSPLIT, ProxError()),
    states=reaches, redefines=about(initial_distance=first_distance(matched_stepsize)),
)  # fmt: skip
def distance_bound(*, t: Real, kappa: Real, initial_distance: Real, num_clients: Real, b: Real = 0) -> Any:
    """The distance of the server's point to the minimiser after t rounds with proximal steps whose error is at most b:
    ‖x^(t+1) − x*‖ ≤ (1 − 2/(√κ+1))^t ‖z^(1) − z*‖/√m + (√κ+1)b.

    For s = 1/√(ℓ_* L^*). With any other stepsize s it holds for κ = max(1/(sℓ_*), sL^*)², since every f_j is also
    ℓ-strongly convex with ℓ = 1/(s²L^*), or L-smooth with L = 1/(s²ℓ_*). `rounds` inverts the bound; for b > 0
    `distance_bound_any_stepsize` is sharper.
    """
    shrunk = power(contraction.formula(kappa=kappa), t)
    return shrunk * initial_distance / sqrt(num_clients) + (sqrt(kappa) + 1) * b


PAPER.alias("Equation (16)", distance_bound)


@PAPER.calculator(
    of="after Theorem 1", units=NUMBER, assumes=(Condition("initial_distance", ">", 0),), redefines=OF_DISTANCE,
)  # fmt: skip
def approximate_iterations(*, kappa: Real, initial_distance: Real, num_clients: Real, epsilon: Real) -> Any:
    """Rounds to ‖x − x*‖ ≤ ε, up to a constant: √κ log(‖z^(1) − z*‖/(ε√m)). `rounds` is exact."""
    return sqrt(kappa) * log(initial_distance / (epsilon * sqrt(num_clients)))


OF_GRADIENT_DESCENT = (Runs("FedSplit"), GradientSteps())


@PAPER.statement(
    "Equation (17)", ClaimType.DEFINITION, symbol="u^{(t+1)}", relation="=", units=LENGTH, redefines=AT_U,
    assumes=OF_GRADIENT_DESCENT, states=STEP,
)  # fmt: skip
def prox_gradient_step(*, u: Real, x: Real, stepsize: Real, local_stepsize: Real, gradient: Real) -> Any:
    """A gradient step on sf_j + ½‖· − x‖², as printed: u − αs∇f_j(u) + (u − x).

    Misprinted: the gradient step is u − αs∇f_j(u) − α(u − x), which is what `FedSplit` computes.
    """
    return u - local_stepsize * stepsize * gradient + (u - x)


@PAPER.calculator(of="Corollary 1", assumes=(ORDERED,))
def local_stepsize(*, mu: Real, L: Real) -> Any:
    """α = (1 + s(ℓ_* + L^*)/2)⁻¹ with s = 1/√(ℓ_* L^*), a number: the paper's subproblem is sf_j + ½‖· − x‖².

    The package's is f_j + ‖· − x‖²/(2s), which is 1/s times that: pass `GradientDescent(steps=e, stepsize=α·s)` with
    `FedSplit(stepsize=s)`, α·s = `local_stepsize(…) * optimal_stepsize(…)`. Passing α itself is another method.
    """
    return 1 / (1 + optimal_stepsize.formula(mu=mu, L=L) * (mu + L) / 2)


def _contraction_of_a_step(kappa: Real) -> Any:
    return 1 - 1 / (sqrt(kappa) + 1)


@PAPER.statement(
    "Corollary 1", ClaimType.UPPER, symbol="b", units=LENGTH,
    assumes=(*FEDSPLIT, GradientStepsFromCenter(_contraction_of_a_step)),
    states=error_of_each, redefines=about(start_distance=start_distance),
)  # fmt: skip
def prox_error_bound(*, kappa: Real, local_steps: Real, start_distance: Real) -> Any:
    """The error of e gradient steps from the centre: b ≤ (1 − 1/(√κ+1))^e ‖x_j − prox_{s f_j}(x_j)‖.

    With the corollary's α every step contracts by 1 − 2/(√κ+1), which is less. The b is that of one round and one
    client. Theorem 1 needs one b for all rounds, which this is not: where the iterates move away, so does the start of
    the local steps. With e = 1 they do: on clients of curvature L^* and κ > (1 + √2)² every run diverges
    (`fedconvex.theory.fedsplit.one_run`).
    """
    return power(_contraction_of_a_step(kappa), local_steps) * start_distance


PAPER.alias("Equation (18)", prox_error_bound)


@PAPER.calculator(of="Theorem 2", units=CURVATURE)
def largest_regularizer(*, epsilon: Real, num_clients: Real, squared_distance: Real) -> Any:
    """The upper limit of Theorem 2's interval for λ: ε/(m‖x^(1) − x*‖²)."""
    return epsilon / (num_clients * squared_distance)


SMALL_REGULARIZER = Condition("regularizer", "<", largest_regularizer.formula)


@PAPER.statement(
    "Equation (19)", ClaimType.DEFINITION, symbol=r"F_\lambda(z)", relation="=", units=VALUE,
    redefines=AT_Z, assumes=(Convex(), Smooth()), states=strongly_convex,
)  # fmt: skip
def regularized_objective(*, values: Reals, squared_distances: Reals, regularizer: Real) -> Any:
    """The regularised objective as printed: Σ_j {f_j(z_j) + (λ/(2m))‖z_j − x^(1)‖²}.

    Misprinted: the text calls it λ-strongly convex and (L^* + λ)-smooth, which it is with λ/2 in place of λ/(2m).
    """
    # With the printed 1/(2m); `corrected_regularized_objective` has 1/2.
    weight = regularizer / (2 * count(values))
    return total_of(lambda value, distance: value + weight * distance, values, squared_distances)


@PAPER.calculator(of="Theorem 2", units=STEPSIZE)
def regularized_stepsize(*, L: Real, regularizer: Real) -> Any:
    """Theorem 2's s = 1/√(λ(L^* + λ))."""
    return 1 / sqrt(regularizer * (L + regularizer))


# Õ hides a constant: the claim has this one, and no other one makes it true.
TIMES = 100


@PAPER.statement(
    "Theorem 2", ClaimType.ASYMPTOTIC, symbol="T", relation=r"= \tilde O(\cdot)", units=NUMBER,
    conclusion=r"F(\hat x) - F^* \le \varepsilon",
    assumes=(
        Runs("RegularizedFedSplit"), Everyone(), Convex(), Smooth(), ExactSolutions(), SMALL_REGULARIZER,
        StepsizeIs(regularized_stepsize.formula),
    ),
    states=lambda count: within(TIMES, count),
)  # fmt: skip
def regularized_iterations(*, L: Real, squared_distance: Real, epsilon: Real) -> Any:
    """For convex clients, rounds on the regularised objective to F − F* ≤ ε, up to constants and logarithms:
    √(L^*‖x^(1) − x*‖²/ε).

    With λ < ε/(m‖x^(1) − x*‖²) (`largest_regularizer`; the count needs a λ near that) and
    s = 1/√(λ(L^* + λ)) (`regularized_stepsize`).
    """
    return sqrt(L * squared_distance / epsilon)


@PAPER.statement("Equation (20)", ClaimType.DEFINITION, symbol="F(x)", relation="=")
def logistic_objective(*, margins: Reals) -> Any:
    """Binary logistic regression: Σ log(1 + exp(−b aᵀx)) over all samples of all clients."""
    return sum(log(1 + exp(-margin)) for margin in margins)


# of sample i of client j, and class k
OF_CLASSES = replace(
    PAPER.notation["margins"], latex=r"b_{ijk} a_{ij}^\top x_@", index="k", domain=r"i\le n_j,\,j\le m,\,k\le K"
)
RIDGE = Parameter(r"\lambda", "weight of the ridge of every client", PER_SQUARED_LENGTH, above=0)


@PAPER.statement(
    "Equation (21)", ClaimType.DEFINITION, symbol="F(x)", relation="=",
    redefines={"regularizer": RIDGE, "margins": OF_CLASSES},
)  # fmt: skip
def multiclass_objective(*, margins: Reals, squared_norm: Real, regularizer: Real, num_clients: Real) -> Any:
    """One-against-all logistic regression: Σ log(1 + exp(−b aᵀx_k)) over all samples and classes + (mλ/2)Σ_k‖x_k‖²."""
    losses = logistic_objective.calculator.formula(margins=margins)
    return losses + num_clients * regularizer / 2 * squared_norm


class Complexities(NamedTuple):
    """Rounds up to a constant."""

    fedsplit: Any
    fedgd: Any


@PAPER.statement(
    "Equation (22)", ClaimType.ASYMPTOTIC, symbol=(r"T_{\mathrm{FedSplit}}", r"T_{\mathrm{FedGrad}}"),
    relation=r"= O(\cdot)",
    units=(NUMBER, NUMBER), redefines=RELATIVE,
    assumes=(*FEDSPLIT, ExactSolutions()), states=lambda counts: within_relative(Fraction(1, 2), counts.fedsplit),
)  # fmt: skip
def complexities(*, kappa: Real, epsilon: Real) -> Complexities:
    """Rounds to F − F* ≤ ε up to a constant: √κ log(1/ε) of FedSplit, κ log(1/ε) of FedGD with one local step.

    For ε relative to the largest gap at the first distance both constants are ½. The claim, and what it assumes, is
    about FedSplit; `fedconvex.proofs_checks.fedsplit.claimed_theorems` proves the other one, too.
    """
    logarithm = -log(epsilon)
    return Complexities(sqrt(kappa) * logarithm, kappa * logarithm)


@PAPER.calculator(of="Theorem 1", units=LENGTH, redefines=OF_DISTANCE)
def margin(*, t: Real, kappa: Real, initial_distance: Real, num_clients: Real, b: Real, epsilon: Real) -> Any:
    """The accuracy ε minus Theorem 1's bound: nonnegative if the bound guarantees the accuracy."""
    given = {"t": t, "kappa": kappa, "initial_distance": initial_distance, "num_clients": num_clients, "b": b}
    return epsilon - distance_bound.calculator.formula(**given)


@PAPER.calculator(of="Theorem 1", units=LENGTH, redefines=OF_DISTANCE)
def floor_margin(*, kappa: Real, b: Real, epsilon: Real) -> Any:
    """The accuracy ε minus the error floor (√κ + 1)b of Theorem 1's bound."""
    return epsilon - (sqrt(kappa) + 1) * b


@checked_keywords
def rounds(*, kappa: Exact, initial_distance: Exact, num_clients: Exact, epsilon: Exact, b: Exact = 0) -> int | None:
    """The least t ≥ 1 for which Theorem 1 guarantees ‖x^(t+1) − x*‖ ≤ epsilon, exactly; None where no t is enough.

    None means that the error floor (√κ + 1)b of inexact proximal steps is not below epsilon. Every comparison is
    certified. The stepsize is `optimal_stepsize`, or any other with the κ that the docstring of `distance_bound` gives.
    """
    given: dict[str, Any] = {"kappa": kappa, "b": b, "epsilon": epsilon}
    start: dict[str, Any] = {"initial_distance": initial_distance, "num_clients": num_clients}
    enclosed(margin, {"t": 1, **given, **start})  # raises InvalidInput for arguments outside their range
    if kappa == 1 or initial_distance == 0:  # only the error floor remains; without √m its comparison can be exact
        start = {"initial_distance": 0, "num_clients": 1}

    def enough(t: int) -> bool:
        return require_sign(margin.sign(t=t, **given, **start), given) is not Sign.NEGATIVE

    if not enough(1) and require_sign(floor_margin.sign(**given), given) is not Sign.POSITIVE:
        return None
    return smallest_integer(enough)
