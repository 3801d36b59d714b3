"""What a round of a run shows of the papers' constants: the `Setting` in which statements are evaluated.

B and the variance are measured at the server's model before the round, curvature at some points of the round: the
largest counts. All are floats, which bound nothing between these points.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Any, final

from fedconvex.claims.on_runs.findings import ROUNDING
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Participation
from fedconvex.problems.base import Problem
from fedconvex.runs.simulator import Simulator
from fedconvex.statements.instance import Unmeasured

# Constants of `fedconvex.statements.instance.Instance` that a run measures: (column, value of `measure`).
MEASURED = {
    "smoothness": ("smoothness_of_round", "curvature"),
    "dissimilarity": ("dissimilarity", "heterogeneity"),
    "gradient_variance": ("gradient_variance", "heterogeneity"),
    "gradient": ("gradient_norm", "heterogeneity"),
    "inexactness": ("inexactness", "decrease"),  # the largest of all clients, participating or not
    "value": ("value", "heterogeneity"),
}
OF_THE_METHOD = {"stepsize": "stepsize", "alpha": "alpha", "regularization": "regularization", "proximal_weight": "mu"}


@final
@dataclass(frozen=True, eq=False)
class MeasuredCurvatures:
    """Curvatures as Lanczos' method estimates them: one number serves as upper and as lower bound."""

    smoothness: float
    strong_convexity: float

    @property
    def attained_smoothness(self) -> float:
        """The same number: a measured curvature is attained."""
        return self.smoothness

    @property
    def attained_convexity(self) -> float:
        """The same number: a measured curvature is attained."""
        return self.strong_convexity

    def lie_between(self, low: Any, high: Any) -> bool | None:
        """None: measured at one point, not known elsewhere."""
        return None


@final
@dataclass(frozen=True)
class LateOnesDropped:
    """A participation scheme whose late clients are dropped; no statement of the papers covers it."""

    scheme: Participation

    def takes_everyone(self, problem: Problem) -> bool:
        """False: late clients are missing."""
        return False


def before_and_in(now: dict[str, Any], after: dict[str, Any], num_clients: int) -> dict[str, Any]:
    """The row before a round, with the round's inexactness of all clients, and the curvature at the model after it.

    The inexactness is NaN if only some clients took part and `decrease` was not measured, for the statements need every
    γ_k. The curvature in `now` is that of a round with all clients; the model that the drawn ones led to counts, too.
    """
    whole = after.get("inexactness", nan) if after["participants"] == num_clients else nan
    row = now | {"inexactness": now.get("inexactness_of_all", whole)}
    if "smoothness_of_round" not in now:
        return row
    largest = after["smoothness"] + after["smoothness_error"]
    least = after["least_curvature"] - after["weak_convexity_error"]
    return row | {
        "smoothness_of_round": _extreme(max, now["smoothness_of_round"], largest),
        "least_curvature_of_round": _extreme(min, now["least_curvature_of_round"], least),
    }


def _extreme(choose: Callable[[float, float], float], here: float, there: float) -> float:
    return here if isnan(there) else choose(here, there)  # NaN: nobody measured the model after the round


def participation_of(simulator: Simulator) -> "Participation | LateOnesDropped":
    """The scheme by which clients' answers reach the server, late clients considered."""
    late = simulator.stragglers
    return simulator.participation if late is None or late.policy == "use" else LateOnesDropped(simulator.participation)


@final
@dataclass(frozen=True, eq=False)
class RoundSetting:
    """One round of a run as `fedconvex.statements.setting.Setting`."""

    problem: Problem
    method: Method
    participation: Any  # a Participation or LateOnesDropped
    local_solver: LocalSolver
    rounds: int
    row: dict[str, Any]  # from `before_and_in`
    rounding: float = ROUNDING  # of values of the objective, relative

    @property
    def everyone(self) -> bool:
        """Whether all clients take part in every round."""
        return bool(self.participation.takes_everyone(self.problem))

    @property
    def curvatures(self) -> MeasuredCurvatures:
        """Extreme curvatures of the clients' functions at the points of the round."""
        return MeasuredCurvatures(self.measure("smoothness"), self._least_curvature)

    @property
    def _least_curvature(self) -> float:
        return float(self._column("least_curvature_of_round", "curvature"))

    @property
    def objective_curvatures(self) -> MeasuredCurvatures:
        """Extreme curvatures of the objective, bounded by those of the clients, which were measured."""
        return self.curvatures

    @property
    def square(self) -> float:
        """‖∇f(w)‖²."""
        return float(self.measure("gradient") ** 2)

    @property
    def dissimilarity(self) -> Any:
        """B(w)."""
        return self.measure("dissimilarity")

    @property
    def gradient_variance(self) -> Any:
        """E_k‖∇F_k(w) − ∇f(w)‖²."""
        return self.measure("gradient_variance")

    @property
    def inexactness(self) -> Any:
        """The largest γ_k of all clients in the round, also of those that were not drawn."""
        return self.measure("inexactness")

    @property
    def prox_error(self) -> Any:
        raise Unmeasured("not measured in runs: the proximal points' errors")

    @property
    def step_contraction(self) -> Any:
        raise Unmeasured("not measured in runs: what a local step contracts by")

    @property
    def condition_number(self) -> Any:
        raise Unmeasured("not measured in runs: the condition number")

    @property
    def least_condition_number(self) -> Any:
        raise Unmeasured("not measured in runs: the condition number")

    @property
    def spread(self) -> Any:
        raise Unmeasured("not measured in runs: the devices' own minimisers")

    def measure(self, quantity: str) -> Any:
        """The constant of that name; raises Unmeasured, which says how to measure it."""
        if quantity in MEASURED:
            return self._column(*MEASURED[quantity])
        if quantity in OF_THE_METHOD:
            name = OF_THE_METHOD[quantity]
            if not hasattr(self.method, name):
                raise Unmeasured(f"{type(self.method).__name__} has no {name}")
            return getattr(self.method, name)
        match quantity:
            case "num_clients":
                return self.problem.num_clients
            case "num_drawn" | "num_active" if self.everyone:
                return self.problem.num_clients
            # Only schemes that draw a fixed number of clients have K; the statements need a fixed number.
            case "num_drawn" | "num_active" if hasattr(self.participation, "K"):
                return self.participation.K
            case "num_rounds":
                return self.rounds
            case "weak_convexity":
                return max(0.0, -self._least_curvature)
            case "mu":
                least = self._least_curvature
                if least > 0:
                    return least
                raise Unmeasured(f"no strong convexity: a client's curvature goes down to {least:.3g}")
            case "square":
                return self.square
            case "mean_square":
                return self.gradient_variance + self.square
        raise Unmeasured(f"not measured in runs: {quantity}")

    def possible(self, quantity: str) -> Any:
        """The same as `measure`: a measured number has no interval of possible values."""
        return self.measure(quantity)

    def number(self, value: Any) -> Any:
        """The value as a float."""
        return float(value)

    def context(self) -> AbstractContextManager[Any]:
        """No context: floating point needs no precision to be set."""
        return nullcontext()

    def _column(self, name: str, measurement: str) -> Any:
        value = self.row.get(name, nan)
        if isnan(value):  # also in rounds without measurements
            raise Unmeasured(f"not measured: run with measure={measurement!r}")
        if not isfinite(value):
            raise Unmeasured(f"{name} is infinite here")
        return value
