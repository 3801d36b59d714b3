"""What `recommend` returns: methods with designed parameters, in the order of preference."""

from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, final

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.audit.designs.linearised_runs import PLAYED
from fedconvex.audit.designs.round_maps import SEEDS
from fedconvex.audit.designs.trials import FederationLimits
from fedconvex.audit.intervals import Interval
from fedconvex.audit.methods import describe
from fedconvex.audit.objectives import objective
from fedconvex.json_files import plain_data
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.shown import ShownResult

if TYPE_CHECKING:
    import pandas

AS_PREDICTED = 0.2  # relative difference of rounds


@final
@dataclass(frozen=True, eq=False)
class RecommendedMethod:
    """A method with designed parameters: predicted and measured rounds, bytes, bias."""

    method: Method
    local_solver: LocalSolver  # the method's own, or as many gradient steps as the limit allows
    predicted_rounds: int | None  # to the tolerance, on the quadratic model (NUMERIC); None: not within the limits
    measured_rounds: int | None  # of a run on the problem; None: not reached, or not run
    checked: bool  # whether such a run was made
    relative_gap: float  # suboptimality relative to the first, after the last round that was predicted, or run
    bytes: int | None  # that all clients receive and send in the measured, else in the predicted rounds (EXACT)
    bias: Interval | None  # ‖fixed point − x*‖ / ‖x*‖; None: none found, or partial participation
    floor: Interval | None  # error floor / first gap

    @property
    def is_confirmed(self) -> bool:
        """Whether no run contradicts the prediction that the tolerance is reached."""
        return not self.checked or self.measured_rounds is not None or self.predicted_rounds is None

    @property
    def is_as_predicted(self) -> bool:
        """Whether a run, if one was made, took about as many rounds as predicted."""
        if not self.checked or self.measured_rounds is self.predicted_rounds is None:
            return True
        if self.measured_rounds is None or self.predicted_rounds is None:
            return False
        return abs(self.predicted_rounds - self.measured_rounds) <= max(1, AS_PREDICTED * self.measured_rounds)

    @property
    def local_work(self) -> str:
        """What a client does in a round: exact solution, or gradient steps."""
        solver = self.local_solver
        if not isinstance(solver, GradientDescent):
            return "exact local solution"
        plural = "s" if solver.steps > 1 else ""
        own = self.method.local_solver == solver  # then the method's own parameters say the size
        return f"{solver.steps} gradient step{plural}{'' if own else f' of size {float(solver.stepsize):.3g}'}"


@final
@dataclass(frozen=True, eq=False)
class Recommendation(ShownResult):
    """The result of `recommend`: the methods in the order of preference, with what to do under limits."""

    problem: Problem
    tolerance: float
    limits: FederationLimits
    ranked: tuple[RecommendedMethod, ...]
    under_limits: tuple[tuple[str, RecommendedMethod], ...]  # (a limit in words, the method then)
    smallest_mu: float | None  # FedProx's, with an error floor on the problem below the tolerance
    shared_minimizer: bool  # whether all clients have the same minimiser, up to rounding

    @property
    def best(self) -> RecommendedMethod:
        """The recommended method with its numbers."""
        return self.ranked[0]

    @property
    def method(self) -> Method:
        """The recommended method."""
        return self.best.method

    @property
    def alternatives(self) -> tuple[RecommendedMethod, ...]:
        """The other methods, in the order of preference."""
        return self.ranked[1:]

    @cached_property
    def why(self) -> str:
        """The reasons, in sentences."""
        return _reasons(self)

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each method, in the order of preference.

        Columns: method, local_work, predicted_rounds, measured_rounds (missing where not reached or not run),
        rounds_known, bytes, bytes_known, relative_gap, relative_bias and relative_floor with their bounds _lower and
        _upper, bias_known.
        """
        import pandas

        return pandas.DataFrame([_row(entry) for entry in self.ranked]).astype(
            {"predicted_rounds": "Int64", "measured_rounds": "Int64", "bytes": "Int64"}
        )

    def to_dictionary(self) -> dict[str, Any]:
        """For JSON: numbers that are missing or not finite become None."""

        return {
            "objective": objective(self.problem),
            "method": describe(self.method),
            "tolerance": self.tolerance,
            "why": self.why,
            "ranked": [plain_data(_row(entry)) for entry in self.ranked],
            "under_limits": [{"limit": words, **plain_data(_row(entry))} for words, entry in self.under_limits],
        }


def _row(entry: RecommendedMethod) -> dict[str, Any]:
    row: dict[str, Any] = {
        "method": describe(entry.method),
        "local_work": entry.local_work,
        "predicted_rounds": entry.predicted_rounds,
        "measured_rounds": entry.measured_rounds,
        "rounds_known": "numeric",
        "bytes": entry.bytes,
        "bytes_known": "exact",
        "relative_gap": entry.relative_gap,
    }
    for name, number in (("relative_bias", entry.bias), ("relative_floor", entry.floor)):
        row[name] = nan if number is None else number.value
        row[f"{name}_lower"] = nan if number is None else number.lower
        row[f"{name}_upper"] = nan if number is None else number.upper
    return {**row, "bias_known": None if entry.bias is None else entry.bias.certainty.value}


def _reasons(found: Recommendation) -> str:
    """Why this method, and what the numbers rest on."""
    best, words = found.best, []
    if found.problem.num_clients == 1:
        words.append("There is one client: solve its problem locally, no federated method is needed.")
    elif found.shared_minimizer:
        words.append("All clients share one minimiser: local work causes no bias, so more of it saves rounds.")
    quadratic = isinstance(found.problem, QuadraticProblem)
    if not best.is_confirmed:
        words.append("The tolerance is predicted, but no run reached it: do not rely on these parameters.")
    elif best.predicted_rounds is None and best.measured_rounds is None:
        limit = "" if found.limits.rounds is None else f" within {found.limits.rounds:,} rounds"
        words.append(f"No method is predicted to reach the tolerance{limit}; this one comes nearest.")
    else:
        words.append(_fewest(found))
    if found.limits.participation is None and not all(entry.is_as_predicted for entry in found.ranked):
        words.append("Runs need other numbers of rounds than predicted: the ranking is by the runs.")
    if found.smallest_mu is not None and not found.shared_minimizer:
        mu = significant(found.smallest_mu, 3, Rounding.NEAREST)
        words.append(f"FedProx needs μ of {mu:f} or more for an error floor below the tolerance.")
    if quadratic:
        words.append("The predictions come from the exact map of one round.")
    else:
        words.append(f"The predictions come from linearised rounds; most begin with {PLAYED} rounds on the problem.")
    return " ".join(words)


def _fewest(found: Recommendation) -> str:
    """What the first row has the fewest of."""
    best, rows = found.best, found.alternatives
    if found.limits.participation is None:
        return "It sends the fewest bytes until the tolerance is reached."
    predicted = [entry.predicted_rounds for entry in rows if entry.predicted_rounds is not None and entry.is_confirmed]
    seeds = f"the means over the seeds {SEEDS[0]} to {SEEDS[-1]}"
    if best.predicted_rounds is not None and best.predicted_rounds <= min(predicted, default=best.predicted_rounds):
        return f"Its predicted rounds, {seeds}, are the fewest; the measured ones are those of seed 0."
    return f"In its predicted rounds, {seeds}, it sends the fewest vectors; the measured ones are those of seed 0."
