"""What a claim's setting means for a worst case: method, class of the clients, draws, and answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.methods import made
from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.terms import Number
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.methods import METHODS
from fedconvex.methods.base import Method
from fedconvex.participation import Participation, Uniform, Weighted
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    Differentiable,
    FunctionClass,
    NotSmooth,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
)
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed, written


def can_be_assumed(setting: ClaimSetting) -> bool:
    """Whether worst cases know what all parts of the setting mean."""
    at_one_moment = setting.rests or setting.first_round
    heterogeneity = (setting.initial_gap, setting.objective_gap, setting.similarity)
    return not at_one_moment and setting.objective == (None, None) and heterogeneity == (None,) * 3


@final
@dataclass(frozen=True, eq=False)
class SettingAtNumbers:
    """A setting at values of its parameters."""

    setting: ClaimSetting
    numbers: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        setting = self.setting
        at_one_moment = setting.rests or setting.first_round
        if at_one_moment or setting.objective != (None, None):
            what = "a state that rests, or a first one" if at_one_moment else "curvature of the objective alone"
            raise NotPosed("setting", what, "is not what worst cases can assume", "give a claim about any round of "
                           "clients of a class")  # fmt: skip
        if setting.initial_gap is not None:
            raise NotPosed("setting", setting.initial_gap, "bounds the gap at the start, so that no ratio is "
                           "invariant under scaling", "put the gap at the start into the claim")  # fmt: skip
        for what, bound in (("Γ", setting.objective_gap), ("δ", setting.similarity)):
            if bound is not None:
                raise NotPosed("setting", bound, f"is a bound {what} of the clients' heterogeneity, which is not posed",
                               "give a claim without it")  # fmt: skip
        if setting.method and Method.named(setting.method) is None:
            raise NotPosed("setting", setting.method, "is no method", f"give one of {', '.join(sorted(METHODS))}")

    def at(self, term: Number) -> Fraction:
        """The formula's value. Raises NotPosed where it is irrational."""
        value = number_at(term, self.numbers)
        if type(value).__name__ == "arb":
            raise irrational(term, self.numbers)
        return to_fraction(value)

    @property
    def method(self) -> Method:
        """The method; one that only states vectors where the setting names none."""
        if not self.setting.method:
            return METHODS["FedGD"](stepsize=Fraction(1))
        return made(self.setting.method, self.setting.method_at(self.at))

    @property
    def clients(self) -> FunctionClass:
        """The class of the clients' functions."""
        low, high = (None if bound is None else self.at(bound) for bound in self.setting.curvature)
        if high is low is None and self.numbers.get("L") is not None:  # a smaller class than the claim's, if wanted
            low, high = -self.numbers["L"], self.numbers["L"]
        if high is None:
            return Differentiable() if low is None else NotSmooth(low)
        if low is None or low < 0:
            return WeaklyConvex(high if low is None else -low, high)
        return SmoothStronglyConvex(low, high) if low > 0 else SmoothConvex(high)

    @property
    def solver(self) -> LocalSolver | None:
        """How clients solve their subproblems; None for the method's own way."""
        setting = self.setting
        if setting.gradient_steps:
            steps, size = (self.at(setting.gradient_steps[name]) for name in ("steps", "stepsize"))
            return GradientDescent(steps=int(steps), stepsize=size)
        if setting.answers == "own" or setting.inexactness is None:
            return None
        size = self.at(setting.inexactness)
        if setting.answers == "inexact":
            return ToInexactness(size)
        if size:
            raise InvalidInput(written(setting.inexactness), size, "is an error of the answers, which is not analysed",
                               "leave it out: the answers are then exact")  # fmt: skip
        return Exact()

    @property
    def participation(self) -> Participation | None:
        """Who takes part; None for everyone."""
        draws = self.setting.draws
        if draws.active is None:
            return None
        active = int(self.at(draws.active))
        return Uniform(active) if draws.scheme == "uniform" else Weighted(active)

    @property
    def num_clients(self) -> int | None:
        """How many clients there are; None for any number."""
        if self.setting.single_client:
            return 1
        formula = self.setting.draws.clients
        count = self.numbers.get("num_clients") if formula is None else self.at(formula)
        return None if count is None else int(count)

    @property
    def dissimilarity(self) -> Fraction | None:
        """B: gradients with ‖∇f‖² >= ε and variance σ² are B-dissimilar for B² = 1 + σ²/ε, with ‖∇f‖² = ε no less."""
        setting = self.setting
        if setting.dissimilarity is not None:
            return self.at(setting.dissimilarity)
        if setting.variance is None:
            return None
        if setting.large_gradient is None:
            raise NotPosed("setting", setting.variance, "is a variance without a lower bound of the gradient: "
                           "no ratio is invariant under scaling", "assume that the gradient is large")  # fmt: skip
        return self.at((1 + setting.variance / setting.large_gradient).sqrt())


def irrational(term: Number, numbers: Mapping[str, Any]) -> NotPosed:
    """The refusal of an irrational number: certificates have rational numbers only."""
    at = ", ".join(f"{name} = {value}" for name, value in numbers.items())
    return NotPosed("numbers", at, f"make {written(term)} irrational", "give numbers for which it is rational")
