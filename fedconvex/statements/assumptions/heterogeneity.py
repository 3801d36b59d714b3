"""How the clients differ, as constants: similar Hessians δ, bounded gradients G, the gap Γ to the clients' own minima.

Second-order similarity δ is for methods such as DANE, bounded gradients are the assumption of the first analyses of
FedAvg, and Γ is the heterogeneity of Li et al. (2020).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.definiteness import is_positive_semidefinite, largest_eigenvalue_bound
from fedconvex.arithmetic.rationals import Array, float_array, to_fmpq
from fedconvex.problems.base import Problem, Subproblem
from fedconvex.problems.logistic import LinearModel
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.sparse import is_sparse
from fedconvex.statements.assumptions.base import (
    PROVED,
    Assumption,
    AssumptionFinding,
    Implication,
    decided,
    is_at_most,
    refuted,
    short,
    unknown,
)
from fedconvex.statements.assumptions.functions import (
    BoundedNegativeCurvature,
    BoundedVarianceEverywhere,
    Smooth,
    SmoothObjective,
    StronglyConvex,
)
from fedconvex.statements.setting import Unmeasured

if TYPE_CHECKING:
    from fedconvex.statements.setting import MeasuredSetting


@final
@dataclass(frozen=True)
class SimilarHessians(Assumption):
    """‖∇²F_k(x) − ∇²f(x)‖ <= delta for every client at all points x.

    δ <= L for convex L-smooth clients, and small beside L where the clients' data have one distribution. It says
    nothing about linear terms, hence nothing about σ*². Its worst cases: `worst_case(…, SimilarClients(mu, L, delta))`.
    """

    delta: str = "delta"
    words = "every client's Hessian is within {delta} of the objective's"

    @property
    def implies(self) -> tuple[Implication, ...]:
        """From a property of the objective, those of the clients."""
        smooth = (SmoothObjective("L_f"),)
        return (
            Implication(Smooth("L"), "L", lambda delta, L_f: L_f + delta, needs=smooth),
            Implication(BoundedNegativeCurvature("L_minus"), "L_minus", lambda delta, L_f: L_f + delta, needs=smooth),
        )

    @property
    def implied_by(self) -> tuple[Implication, ...]:
        """L-smooth clients differ from their mean by at most 2L; a bound that knows convexity is measured."""
        return (Implication(self, "delta", lambda L: 2 * L, needs=(Smooth("L"),)),)

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        bound, assumed = setting.measure("similarity"), values[self.delta]
        if is_at_most(bound, assumed, setting):
            return PROVED
        similar = are_similar(setting.problem, setting.method.scale(setting.problem), assumed)
        if similar is None:
            return unknown(f"only {short(bound)} is proved to bound the differences")
        return PROVED if similar else refuted(f"the largest difference is {short(bound)}")


def are_similar(problem: Problem, scale: Sequence[Fraction] | None, delta: Any) -> bool | None:
    """Whether −δI ≼ scale_k·H_k − H ≼ δI for every k, decided exactly; None where that is not known."""
    if not isinstance(problem, QuadraticProblem) or type(delta).__name__ == "arb":
        return None
    room = to_fmpq(delta)
    if room < 0:
        return False

    def inside(build: Any, sign: int) -> bool:
        def rest(numbers: Arithmetic) -> Matrix:
            matrix = build(numbers)
            return numbers.identity(numbers.size(matrix)) * numbers.scalar(room) + matrix * numbers.scalar(sign)

        return is_positive_semidefinite(rest)

    return all(inside(build, sign) for build in _differences(problem, scale) for sign in (1, -1))


def similarity(problem: Problem, scale: Sequence[Fraction] | None, clients: Any, objective: Any) -> Any:
    """An upper bound of every ‖∇²F_k(x) − ∇²f(x)‖: near the largest one for quadratics, else from the curvatures."""
    if not isinstance(problem, QuadraticProblem):
        up, down = clients.smoothness - objective.strong_convexity, objective.smoothness - clients.strong_convexity
        return up.max(down).max(0).upper()
    found = []
    for build in _differences(problem, scale):
        floats = np.asarray(build(_floats()))
        values = np.linalg.eigvalsh(floats)
        found.append(largest_eigenvalue_bound(build, float(values[-1])))
        found.append(largest_eigenvalue_bound(_negated(build), -float(values[0])))
    return max(found, key=lambda ball: ball.upper()).upper().max(0)


def _differences(problem: QuadraticProblem, scale: Sequence[Fraction] | None) -> Iterator[Any]:
    """scale_k·H_k − H as functions of the arithmetic."""
    for k in range(problem.num_clients):
        factor = Fraction(1) if scale is None else scale[k]

        def build(numbers: Arithmetic, k: int = k, factor: Fraction = factor) -> Matrix:
            own = problem.client_terms(k, numbers)[0] * numbers.scalar(factor)
            return own - problem.weighted_hessian(numbers)

        yield build


def _negated(build: Any) -> Any:
    return lambda numbers: build(numbers) * numbers.scalar(-1)


def _floats() -> Arithmetic:
    from fedconvex import arithmetic as arithmetics

    return arithmetics.get("float")


class UnboundedGradients(Unmeasured):
    """A client's gradient is longer than any number at some points."""


@final
@dataclass(frozen=True)
class BoundedGradients(Assumption):
    """‖∇F_k(x)‖ <= G for every client at all points x.

    It contradicts strong convexity, whose gradients grow with the distance to the minimiser; logistic losses without
    ridge satisfy it. It is stronger than bounded variance (σ² <= G²), and than σ*² = mean‖∇F_k(x*)‖² <= G².
    """

    G: str = "G"
    words = "no client's gradient is longer than {G} at any point"

    @property
    def implies(self) -> tuple[Implication, ...]:
        return (
            Implication(BoundedVarianceEverywhere("sigma2"), "sigma2", lambda G: G**2),
            Implication(None, "sigma_star2", lambda G: G**2),
        )

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed = values[self.G]
        try:
            bound = setting.measure("gradient_bound")
        except UnboundedGradients as error:
            return refuted(str(error))
        except Unmeasured as error:
            return unknown(str(error))
        if is_at_most(bound, assumed, setting):
            return PROVED
        here = setting.measure("client_gradient")
        reason = f"a client's gradient at the point has the length {short(here)}"
        if here > setting.number(assumed):
            return refuted(reason)
        return unknown(f"only {short(bound)} is proved to bound the gradients")


def gradient_bound(problem: Problem, scale: Sequence[Fraction], balls: Arithmetic) -> Any:
    """An upper bound of every scale_k·‖∇f_k‖ at all points. Raises Unmeasured where there is none, or none is known.

    Linear models: ∇f_k is a mean of multiples of the samples a_i, at most 1 long for two classes, √2 for softmax.
    """
    if isinstance(problem, QuadraticProblem):
        exact = [problem.client_terms(k, balls) for k in range(problem.num_clients)]
        if any(
            factor and any(entry != 0 for entry in H.entries()) for factor, (H, _) in zip(scale, exact, strict=True)
        ):
            raise UnboundedGradients("the gradient of a quadratic with curvature is unbounded")
        from fedconvex.arithmetic.balls import norm

        return _largest(balls, scale, [norm(c) for _, c in exact])
    if not isinstance(problem, LinearModel):
        raise Unmeasured("no bound of the gradients is known for this class of functions")
    if problem.ridge:
        raise UnboundedGradients("the gradient of a strongly convex function is unbounded")
    factor = 1 if problem.outputs == 1 else balls.scalar(2).sqrt()
    return _largest(balls, scale, [factor * balls.scalar(_mean_length(A)) for A in problem.A])


def _largest(balls: Arithmetic, scale: Sequence[Fraction], lengths: Sequence[Any]) -> Any:
    scaled = [length * balls.scalar(factor) for factor, length in zip(scale, lengths, strict=True)]
    return max(scaled, key=lambda ball: ball.upper()).upper()


def _mean_length(A: Any) -> float:
    """A float that is at least the mean length of the rows: rounded sums and roots are at most this much too small."""
    squares = A.multiply(A).sum(1) if is_sparse(A) else (float_array(A) ** 2).sum(1)
    rows, columns = A.shape
    return float(np.sqrt(np.asarray(squares, dtype=float)).mean() * (1 + (rows + columns + 16) * 2.0**-51))


@final
@dataclass(frozen=True)
class ObjectiveGap(Assumption):
    """Γ = f(x*) − Σ_k p_k min F_k <= Gamma.

    0 iff all clients share a minimiser. It lies between σ*²/(2L) and σ*²/(2μ) (`li_fedavg.gamma_at_least`,
    `gamma_at_most`): on L-smooth clients it bounds σ*² by 2LΓ, and on strongly convex ones every bound of σ*² is one
    of Γ, so that the two are equivalent up to κ = L/μ.
    """

    Gamma: str = "Gamma"
    words = "f(x*) exceeds the mean of the clients' own minima by at most {Gamma}"

    @property
    def implies(self) -> tuple[Implication, ...]:
        return (Implication(None, "sigma_star2", lambda Gamma, L: 2 * L * Gamma, needs=(Smooth("L"),)),)

    @property
    def implied_by(self) -> tuple[Implication, ...]:
        """The inequality in the other direction: from σ*² and strong convexity."""
        strongly_convex = (StronglyConvex("mu"),)
        return (Implication(self, "Gamma", lambda sigma_star2, mu: sigma_star2 / (2 * mu), needs=strongly_convex),)

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        here, assumed = setting.measure("objective_gap"), values[self.Gamma]
        fails = here > setting.number(assumed)
        return decided(is_at_most(here, assumed, setting), fails, f"it is {short(here)}")


def objective_gap(
    problem: Problem,
    scale: Sequence[Fraction] | None,
    convexity: Any,
    weights: Array,
    minimizer: Array,
    balls: Arithmetic,
) -> Any:
    """A ball that contains Γ, given balls around the minimiser; the clients are `convexity`-strongly convex.

    With θ_k near the minimiser of F_k, in floats: F_k(θ_k) − ‖∇F_k(θ_k)‖²/(2μ) <= min F_k <= F_k(θ_k).
    """
    near = problem.clients("float", scale)
    with near.arithmetic.context():
        own = balls.array(near.minimise(Subproblem(start=near.rows(balls.to_float(minimizer)))))
    functions = problem.clients(balls, scale)
    gradients = functions.gradients(own)
    above = (gradients * gradients).sum(-1) / (2 * convexity)
    excess = functions.differences(functions.rows(minimizer), own)
    low, high = balls.average(weights, excess), balls.average(weights, excess + above)
    return low.union(high).nonnegative_part()
