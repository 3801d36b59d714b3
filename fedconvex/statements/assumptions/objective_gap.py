"""Γ, the objective's gap to the clients' own minima: the heterogeneity of Li et al. (2020)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array
from fedconvex.problems.base import Problem, Subproblem
from fedconvex.statements.assumptions.base import PROVED, Assumption, AssumptionFinding, Implication, Written, short
from fedconvex.statements.assumptions.functions import Smooth, StronglyConvex
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.statements.setting import MeasuredSetting


@final
@dataclass(frozen=True)
class ObjectiveGap(Assumption):
    """Γ = f(x*) − Σ_k p_k min F_k <= Gamma.

    0 iff all clients share a minimiser. It lies between σ*²/(2L) and σ*²/(2μ) (`li_fedavg.gamma_at_least`,
    `gamma_at_most`): on L-smooth clients it bounds σ*² by 2LΓ, and on strongly convex ones every bound of σ*² is one
    of Γ, so that the two are equivalent up to κ = L/μ.
    """

    Gamma: str = "Gamma"

    def in_words(self, written: Written) -> str:
        return f"f(x*) exceeds the mean of the clients' own minima by at most {written(self.Gamma)}"

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
        if assumed is here or here <= setting.number(assumed):
            return PROVED
        reason = f"it is {short(here)}"
        return AssumptionFinding(Verdict.REFUTED if here > setting.number(assumed) else Verdict.UNKNOWN, reason)


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
