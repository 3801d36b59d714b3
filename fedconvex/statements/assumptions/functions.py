"""Assumptions about the clients' functions F_k and the objective, decided by balls, or exactly where balls cannot."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from fedconvex.statements.assumptions.base import (
    PROVED,
    Assumption,
    AssumptionFinding,
    decided,
    is_at_most,
    refuted,
    short,
    unknown,
)
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.statements.setting import MeasuredSetting


def _bounded_below(setting: "MeasuredSetting", low: Any) -> AssumptionFinding:
    """Whether no client's Hessian has an eigenvalue below `low`."""
    assumed, known = setting.number(low), setting.curvatures
    if known.strong_convexity >= assumed:
        return PROVED
    reason = f"a client's curvature goes down to about {short(known.strong_convexity)}"
    if known.attained_convexity < assumed:
        return refuted(reason)
    inside = known.lie_between(low, None)
    return decided(inside, inside is False, reason)


def _differ_linearly(problem: Any, constants_too: bool = False) -> bool:
    """Whether the clients' gradients are proved to differ by constant vectors only (not at all, if constants_too).

    Their variance is then the same at all points (B = 1 if constants_too). Quadratics have this property if and only
    if their Hessians (and linear terms) agree, which exact arithmetic decides.
    """
    if problem.num_clients == 1:
        return True
    from fedconvex.arithmetic import get
    from fedconvex.problems.quadratics import QuadraticProblem

    if not isinstance(problem, QuadraticProblem):
        return False
    exact = get("exact")
    with exact.context():
        terms = (problem.client_terms(k, exact) for k in range(problem.num_clients))
        H, c = next(terms)
        return all(bool(other == H) and (not constants_too or bool((linear == c).all())) for other, linear in terms)


@final
@dataclass(frozen=True)
class Smooth(Assumption):
    """Every F_k is L-smooth: ‖∇F_k(x) − ∇F_k(y)‖ <= L‖x − y‖."""

    L: str = "L"
    words = "every client's function is {L}-smooth"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed, known = setting.number(values[self.L]), setting.curvatures
        reason = f"a client's gradient changes {short(known.attained_smoothness)} times as fast as its argument"
        if known.smoothness <= assumed or known.attained_smoothness > assumed:  # else the enclosures do not decide
            return decided(known.smoothness <= assumed, True, reason)
        inside = known.lie_between(-values[self.L], values[self.L])
        return decided(inside, inside is False, reason)


@final
@dataclass(frozen=True)
class BoundedNegativeCurvature(Assumption):
    """∇²F_k ≽ −L_minus·I for every k."""

    L_minus: str = "L_minus"
    words = "no client's Hessian has an eigenvalue below -{L_minus}"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        return _bounded_below(setting, -values[self.L_minus])


@final
@dataclass(frozen=True)
class Convex(Assumption):
    """Every F_k is convex."""

    words = "every client's function is convex"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        proved = setting.curvatures.strong_convexity >= 0 or setting.problem.is_convex
        # some papers scale f_k by its weight: then a non-convex f_k of weight 0 does no harm
        undecided = any(weight == 0 for weight in setting.problem.exact_weights)
        return decided(proved, not undecided, "a client's function is not convex")


@final
@dataclass(frozen=True)
class StronglyConvex(Assumption):
    """Every F_k is mu-strongly convex: F_k − (mu/2)‖·‖² is convex, mu > 0."""

    mu: str = "mu"
    words = "every client's function is {mu}-strongly convex, {mu} > 0"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        if setting.number(values[self.mu]) <= 0:
            return unknown("no positive lower bound of the clients' curvatures was found")
        return _bounded_below(setting, values[self.mu])


@final
@dataclass(frozen=True)
class NotStationary(Assumption):
    """∇f(w) is not 0 at the point."""

    words = "the point is not stationary"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        return decided(setting.square > 0, setting.square == 0, "the objective's gradient at the point is 0")


@final
@dataclass(frozen=True)
class Dissimilarity(Assumption):
    """B(w) <= B at the point (FedProx paper, Definition 3)."""

    B: str = "B"
    words = "the clients' functions are {B}-dissimilar at the point"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        here, assumed = setting.dissimilarity, values[self.B]
        fails = here > setting.number(assumed)
        return decided(is_at_most(here, assumed, setting), fails, f"B(w) = {short(here)} at the point")


@final
@dataclass(frozen=True)
class DissimilarityAlongTheRun(Assumption):
    """B(w^t) <= B at every w^t that the run reaches (FedProx paper, Theorem 6: "at each iteration").

    Assumption 1 alone, a bound wherever ‖∇f(w)‖² > epsilon, does not give it.
    """

    B: str = "B"
    words = "the clients' functions are {B}-dissimilar at every w^t that the run reaches"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed = values[self.B]
        if not _differ_linearly(setting.problem, constants_too=True):
            return unknown("B(w) is not bounded over all points of the run")
        if setting.number(assumed) >= 1 or assumed is setting.dissimilarity:
            return PROVED  # B(w) = 1
        return unknown("B is not proved to be at least 1")


@final
@dataclass(frozen=True)
class BoundedVariance(Assumption):
    """E_k‖∇F_k(w) − ∇f(w)‖² <= sigma2 at the point."""

    sigma2: str = "sigma2"
    words = "the variance of the clients' gradients at the point is at most {sigma2}"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        here, assumed = setting.gradient_variance, values[self.sigma2]
        fails = here > setting.number(assumed)
        return decided(is_at_most(here, assumed, setting), fails, f"the variance at the point is {short(here)}")


@final
@dataclass(frozen=True)
class BoundedVarianceEverywhere(Assumption):
    """E_k‖∇F_k(w) − ∇f(w)‖² <= sigma2 at all points w."""

    sigma2: str = "sigma2"
    words = "the variance of the clients' gradients is at most {sigma2} at all points"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        here = BoundedVariance(self.sigma2).check(setting, values)
        if here.verdict is Verdict.REFUTED or _differ_linearly(setting.problem):  # the variance is then constant
            return here
        return unknown("the variance is not bounded over all points")


@final
@dataclass(frozen=True)
class LargeGradient(Assumption):
    """‖∇f(w)‖² >= epsilon at the point."""

    epsilon: str = "epsilon"
    words = "the squared norm of the objective's gradient at the point is at least {epsilon}"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed = setting.number(values[self.epsilon])
        reason = f"it is {short(setting.square)}"
        return decided(setting.square >= assumed, setting.square < assumed, reason)


@final
@dataclass(frozen=True)
class SmoothObjective(Assumption):
    """The objective is L-smooth."""

    L: str = "L"
    words = "the objective is {L}-smooth"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed, known = setting.number(values[self.L]), setting.objective_curvatures
        reason = f"{short(known.smoothness)}-smoothness is proved"
        return decided(known.smoothness <= assumed, known.attained_smoothness > assumed, reason)


@final
@dataclass(frozen=True)
class StronglyConvexObjective(Assumption):
    """The objective is mu-strongly convex."""

    mu: str = "mu"
    words = "the objective is {mu}-strongly convex"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed, known = setting.number(values[self.mu]), setting.objective_curvatures
        reason = f"{short(known.strong_convexity)}-strong convexity is proved"
        return decided(known.strong_convexity >= assumed, known.attained_convexity < assumed, reason)
