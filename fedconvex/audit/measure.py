"""The measurements of an audit: the problem's constants, each method's bias, error floor and speed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.balls import lower_float, upper_float
from fedconvex.arithmetic.dense import in_one_thread
from fedconvex.arithmetic.rationals import float_array, float_at_least, to_fraction
from fedconvex.audit.continued_solutions import with_continued_solutions
from fedconvex.audit.designs.trials import FederationLimits
from fedconvex.audit.intervals import Interval, arithmetic_for, gap, gaps_to, interval
from fedconvex.audit.methods import default_methods, describe, explanation, has_fixed_rounds, parse_method, read_method
from fedconvex.audit.recommendation import recommend_at, require_tolerance
from fedconvex.audit.recommendation_result import Recommendation
from fedconvex.audit.scaling import Scaling, scaling_of
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput, NoFixedPoint, NotConverged, TooLarge
from fedconvex.fixed_points import FixedPoint, fixed_point
from fedconvex.fixed_points.convergence_rates import slowest
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.fixed_points.result import SameFixedPoints
from fedconvex.fixed_points.smooth_clients import SmoothFixedPoints
from fedconvex.ground_truths import GroundTruth, ground_truth
from fedconvex.methods.base import Method, State
from fedconvex.names import checked_keywords
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem, without_term
from fedconvex.problems.heterogeneity import dissimilarity, gradient_variance
from fedconvex.runs.rounds import rounds_of
from fedconvex.runs.simulator import SimulatedRound, Simulator, Stop, run_rounds
from fedconvex.shown import ShownResult
from fedconvex.validation import instance_of, integer_at_least, members_of

if TYPE_CHECKING:
    import pandas


Place = Literal["fixed point", "last round"]


def predicted_contraction(stop: FixedPoint, last: State, settled: bool) -> tuple[float | None, Place | None]:
    """The spectral radius of one round's derivative (NUMERIC), and the state at which it was computed.

    That is the fixed point, the clients' memory included, if it is known, else the last state of the run. Directions in
    which no round moves (if there are many minimisers) do not count: they do not slow a run down. None for methods that
    are not linear in their state.

    Args:
        last: the last state of a run.
        settled: whether that run has converged to the fixed point.
    """
    place: Place = "fixed point"
    if isinstance(stop.analysis, SameFixedPoints) or stop.method.skip != 0:
        return None, None  # the rounds' rate depends on the path that led there
    space = stop.analysis.row_space if isinstance(stop.analysis, QuadraticFixedPoints) else None
    if space is not None:  # outside the span of the samples no round moves anything
        rounds = rounds_of(stop.method, space.problem)
        with rounds.arithmetic.context():
            state = rounds.start(space.coordinates(float_array(stop.point)))
        return slowest(rounds, state).value, place
    rounds = rounds_of(stop.method, without_term(stop.problem))
    if stop.method.is_stateless or not isinstance(stop.analysis, SmoothFixedPoints):
        with rounds.arithmetic.context():
            state = rounds.start(float_array(stop.point))  # on quadratics the derivative is the same everywhere
    elif settled:
        state = last
    else:
        known = stop.analysis.state
        state, place = (last, "last round") if known is None else (known, "fixed point")
    if not np.isfinite(state.flat()).all():
        return None, None
    return slowest(rounds, state).value, place


def measured_contraction(distances: np.ndarray) -> float | None:
    """The factor per round: exp of the slope of log distance, fitted to the later half of the rounds above rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        usable = np.flatnonzero(np.isfinite(distances) & (distances > 1e-9 * distances[0]))
    last = int(usable[-1]) if len(usable) else 0
    rounds = np.arange(last // 2, last + 1)
    if len(rounds) < 4 or not np.isfinite(distances[rounds]).all() or (distances[rounds] <= 0).any():
        return None
    return float(np.exp(np.polyfit(rounds, np.log(distances[rounds]), 1)[0]))


STATES = 64  # of methods with memory, that the search for fixed points and rates holds at once, at least
NEAR = 0.1  # dissimilarity "near the optimum" is at (1 − NEAR)·x*: at x* itself it is infinite or undefined
DIVERGED = 1e6  # a run stops when its suboptimality is this multiple of the initial one …
SETTLED = 1e-10  # … or its distance to the fixed point this part of the initial one
LEAST_ROUNDS = 30  # enough rounds to measure the contraction
HARDLY = 1e-9  # no forecast for a predicted contraction this close to 1: it may be 1 itself
REPORTED = 50  # rounds between two lines of progress

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Constants:
    """The problem's constants. L and mu are proved bounds: every client is L-smooth and mu-strongly convex."""

    L: float
    mu: float
    kappa: float  # an upper bound of L/mu, inf where mu = 0
    dissimilarity_at_zero: float
    dissimilarity_near_optimum: float
    gradient_variance_at_optimum: float


@dataclass(frozen=True, eq=False)
class MethodAudit:
    """The measurements of one method. `rounds_to_tolerance` refers to the initial suboptimality f(0) − f(x*)."""

    name: str
    method: Method
    bias: Interval | None  # ‖fixed point − minimiser‖; None if there is no fixed point or none was found
    floor: Interval | None  # the error floor f(fixed point) − f(minimiser)
    unique: bool | None
    attracting: bool | None
    predicted_contraction: float | None  # spectral radius of a round's derivative (NUMERIC)
    predicted_at: Place | None  # the last round if the clients' memory at the fixed point is not known
    measured_contraction: float | None  # of the distance to the fixed point, per round, late in the run
    rounds_to_tolerance: int | None  # first round with gap <= tolerance · first gap
    outcome: str  # rounds to the tolerance in words: a number, a forecast, never (error floor), diverges, …
    gaps: np.ndarray  # (T + 1,) f(x_t) − f(x*)
    distances: np.ndarray  # (T + 1,) ‖x_t − fixed point‖, NaN where there is none
    is_one_map: bool = True  # whether all its rounds are the same affine map of state and answers


@dataclass(frozen=True, eq=False)
class Audit(ShownResult):
    """The result of an audit: the problem's minimiser and constants, and the measurements of every method."""

    source: str
    problem: Problem
    truth: GroundTruth
    constants: Constants
    methods: tuple[MethodAudit, ...]
    tolerance: float
    scaling: Scaling | None = None  # None where the features' scales do not determine κ
    notes: tuple[str, ...] = ()  # what a method's name stands for, where it is not the class of that name
    coefficient_names: tuple[str, ...] = ()  # of the d unknowns, where the data have names

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each method: see `fedconvex.audit.report.table`."""
        from fedconvex.audit.report import table

        return table(self)

    @property
    def first_gap(self) -> float:
        """The initial suboptimality f(0) − f(x*)."""
        return gap(self.problem, np.zeros(self.problem.dim), self.truth.point)

    @cached_property
    def recommendation(self) -> Recommendation | None:
        """Which method to run, with parameters designed for the data; computed at the first access.

        None where the clients' Hessians, which it needs, do not fit into memory.
        """
        try:
            return recommend_at(self.problem, self.truth, self.tolerance, FederationLimits(), others=False)
        except TooLarge:
            return None


@checked_keywords
@in_one_thread
def audit(
    problem: Problem,
    methods: Sequence[Method | str] | None = None,
    *,
    rounds: int = 300,
    tolerance: float = 1e-6,
    source: str = "problem",
    coefficient_names: Sequence[str] = (),
    say: Say = lambda line: None,
    feature_names: Sequence[str] | None = None,
) -> Audit:
    """Compare methods on a problem: fixed point, bias, error floor and speed of each, with proofs where possible.

    Use it to see which methods converge to another point than the minimiser on given data, how far away, and how fast.
    For one fixed point alone call `fedconvex.fixed_point`.

    Args:
        methods: method objects, or texts such as "fedgd:local_steps=10"; default: `default_methods`.
        rounds: the largest number of rounds to run for each method; a run stops when it has converged or diverged.
        tolerance: in [1e-18, 1), of the suboptimality relative to the initial one, f(0) − f(x*).
        source: a name for the data, in titles.
        coefficient_names: a name for each of the d unknowns, such as `FederatedData.coefficient_names`; default none.
        say: gets one line of progress at a time.
        feature_names: for what is said about single features.

    Raises:
        NoMinimizer: the objective has none.
        InvalidInput: unknown methods or parameters out of range; a minimiser at 0, where every run starts.
    """
    rounds = integer_at_least(rounds, 1, "rounds")
    require_tolerance(tolerance)
    tolerance = float_at_least(to_fraction(tolerance))
    require_problem(problem)
    instance_of(say, Callable, "say", "a function", "give one of a line of text, such as print")
    instance_of(source, str, "source", "text", "give the name of the data")
    names = tuple(members_of(coefficient_names, "coefficient_names", "give one name for each unknown"))
    if names and (len(names) != problem.dim or not all(isinstance(name, str) for name in names)):
        cure = f"give {problem.dim} texts, one for each unknown"
        raise InvalidInput("coefficient_names", names, f"are not the names of {problem.dim} unknowns", cure)
    methods = None if methods is None else members_of(methods, "methods", "give a list, such as ['fedgd']")
    if feature_names is not None:
        instance_of(feature_names, Sequence, "feature_names", "a list of names", "give one name per feature")
    for method in methods or ():  # wrong input is refused before any work
        if isinstance(method, str):
            read_method(method)
        else:
            rounds_of(method, problem)
    needed = STATES * (problem.num_clients + 1) * problem.dim * memory.NUMBER
    memory.require(
        needed, "data", problem, f"{STATES} states of {problem.dim} unknowns", "give fewer features or clients"
    )
    say("minimiser: solving and certifying")
    truth = ground_truth(problem)
    if truth.certainty is Certainty.NUMERIC:
        say(f"minimiser: {truth.solver}")
    chosen = (
        default_methods(problem, truth)
        if methods is None
        else [parse_method(method, problem, truth) if isinstance(method, str) else method for method in methods]
    )
    for method in chosen:
        rounds_of(method, problem)  # raises for a method that cannot run on this problem, before work on the others
    if gap(problem, np.zeros(problem.dim), truth.point) <= 0:
        raise InvalidInput("data", problem, "has its minimiser at 0, where every run starts", "shift the targets")
    say("constants of the clients")
    constants = measure_constants(problem, truth)
    return Audit(
        source=source,
        problem=problem,
        truth=truth,
        constants=constants,
        methods=tuple(measure_method(method, problem, truth, rounds, tolerance, say) for method in chosen),
        tolerance=tolerance,
        scaling=scaling_of(problem, feature_names),
        coefficient_names=names,
        notes=tuple(dict.fromkeys(filter(None, (explanation(m) for m in methods or () if isinstance(m, str))))),
    )


def measure_constants(problem: Problem, truth: GroundTruth) -> Constants:
    """L, mu, κ, and two measures of heterogeneity."""
    L = max(upper_float(problem.smoothness_bound(k)) for k in range(problem.num_clients))
    mu = min(lower_float(problem.strong_convexity_bound(k)) for k in range(problem.num_clients))
    mu = 0.0 if 0 <= mu < 1e-300 else mu  # also −0.0; a negative lower bound stays, however small
    return Constants(
        L=L,
        mu=mu,
        kappa=float_at_least(to_fraction(L) / to_fraction(mu)) if mu > 0 and isfinite(L) else inf,
        dissimilarity_at_zero=float(dissimilarity(problem, np.zeros(problem.dim))),
        dissimilarity_near_optimum=float(dissimilarity(problem, (1 - NEAR) * truth.point)),
        gradient_variance_at_optimum=float(gradient_variance(problem, truth.point)),
    )


def measure_method(
    method: Method, problem: Problem, truth: GroundTruth, rounds: int, tolerance: float, say: Say
) -> MethodAudit:
    """One method's fixed point, bias, error floor and speed."""
    name = describe(method)
    say(f"{name}: fixed point")
    stop: FixedPoint | None = None
    missing, is_one_map = "", has_fixed_rounds(method, problem)
    try:
        if not is_one_map:
            raise NoFixedPoint("the rounds are random, or change")
        try:
            stop = fixed_point(method, problem, arithmetic=arithmetic_for(method, problem))
        except TooLarge as error:
            say(f"{name}: in floats ({error.problem})")
            stop = fixed_point(method, problem)
    except NoFixedPoint:
        missing = "no fixed point"
    except NotConverged:
        missing = "fixed point not found"
    say(f"{name}: up to {rounds} rounds")

    def report(t: int, gap_now: float) -> None:
        if t % REPORTED == 0 and t > 0:
            say(f"{name}: round {t}, gap {gap_now:.2e}")

    target = None if stop is None else float_array(stop.point)
    gaps, distances, state = run(method, problem, truth.point, target, rounds, report)
    predicted, place = None, None
    if stop is not None:
        try:
            predicted, place = predicted_contraction(stop, state, settled=distances[-1] <= SETTLED * distances[0])
        except TooLarge as error:
            say(f"{name}: no predicted contraction ({error.problem})")
    bias = floor = None
    if stop is not None:
        bias, floor = interval(stop.bias_norm, stop.certainty), interval(stop.gap, stop.certainty)
        if not np.isfinite(bias.upper):  # no enclosure was proved: compute in floats, which are labelled NUMERIC
            try:
                stop = fixed_point(method, problem)
                bias, floor = interval(stop.bias_norm, stop.certainty), interval(stop.gap, stop.certainty)
            except NotConverged:
                bias, floor, missing = None, None, "fixed point not found"
    reached = np.flatnonzero(gaps <= tolerance * gaps[0])
    return MethodAudit(
        name=name,
        method=method,
        bias=bias,
        floor=floor,
        unique=None if stop is None else stop.unique,
        attracting=None if stop is None else stop.attracting,
        predicted_contraction=predicted,
        predicted_at=place,
        measured_contraction=measured_contraction(distances),
        rounds_to_tolerance=int(reached[0]) if len(reached) else None,
        outcome=missing if missing and is_one_map else _outcome(gaps, floor, predicted, tolerance, reached),
        gaps=gaps,
        distances=distances,
        is_one_map=is_one_map,
    )


def run(
    method: Method,
    problem: Problem,
    minimizer: np.ndarray,
    target: np.ndarray | None,
    rounds: int,
    report: Callable[[int, float], None],
) -> tuple[np.ndarray, np.ndarray, State]:
    """Gaps and distances to the target, round by round, until converged, diverged or out of rounds; the last state."""
    simulator = Simulator.of(with_continued_solutions(rounds_of(method, problem)))
    gap_at = gaps_to(problem, minimizer)
    gaps: list[float] = []
    distances: list[float] = []

    def look(t: int, point: np.ndarray) -> Stop | None:
        gaps.append(gap_at(point))
        distances.append(np.nan if target is None else float(np.linalg.norm(point - target)))
        report(t, gaps[-1])
        if not np.isfinite(gaps[-1]) or gaps[-1] > DIVERGED * gaps[0]:
            return Stop("diverged")
        # not before LEAST_ROUNDS: the contraction is measured on the last rounds
        return Stop("settled") if t >= LEAST_ROUNDS and distances[-1] <= SETTLED * distances[0] else None

    def record(t: int, simulated: SimulatedRound) -> Stop | None:
        return look(t + 1, simulated.state.server)

    with simulator.rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
        start = simulator.rounds.start(np.zeros(problem.dim))
        left = range(rounds) if look(0, start.server) is None else range(0)
        state, _ = run_rounds(simulator.next_round, start, left, record)
    return np.array(gaps), np.array(distances), state


def _outcome(
    gaps: np.ndarray,
    floor: Interval | None,
    predicted: float | None,
    tolerance: float,
    reached: np.ndarray,
) -> str:
    """The rounds to the tolerance in words; without a floor, of a method whose rounds change or are random."""
    if not np.isfinite(gaps[-1]) or gaps[-1] > DIVERGED * gaps[0]:
        return "diverges"
    if len(reached):
        return f"{int(reached[0]):,}"
    if floor is None:
        return "no fixed point"
    if floor.lower > tolerance * gaps[0]:
        return "never (error floor)"
    if predicted is None or not 0 < predicted < 1 - HARDLY:
        return f"over {len(gaps) - 1:,}"
    # near a minimiser the suboptimality falls like the squared distance
    more = (np.log(tolerance) + np.log(gaps[0]) - np.log(gaps[-1])) / (2 * np.log(predicted))  # a product may be 0
    return f"{len(gaps) - 1 + int(np.ceil(more)):,} (forecast)"
