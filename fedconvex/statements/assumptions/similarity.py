"""Similar Hessians, ‖∇²F_k(x) − ∇²f(x)‖ <= δ: second-order similarity, for methods such as DANE."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.definiteness import is_positive_semidefinite, largest_eigenvalue_bound
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.statements.assumptions.base import PROVED, Assumption, AssumptionFinding, Implication, Written, short
from fedconvex.statements.assumptions.functions import BoundedNegativeCurvature, Smooth, SmoothObjective
from fedconvex.verdicts import Verdict

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

    def in_words(self, written: Written) -> str:
        return f"every client's Hessian is within {written(self.delta)} of the objective's"

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
        if assumed is bound or bound <= setting.number(assumed):
            return PROVED
        decided = are_similar(setting.problem, setting.method.scale(setting.problem), assumed)
        if decided is None:
            return AssumptionFinding(Verdict.UNKNOWN, f"only {short(bound)} is proved to bound the differences")
        return PROVED if decided else AssumptionFinding(Verdict.REFUTED, f"the largest difference is {short(bound)}")


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
