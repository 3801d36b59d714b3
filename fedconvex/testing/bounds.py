"""Assertion that a run satisfies a published bound, whose assumptions are checked as by `theory.bounds_for`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import square_root_upper
from fedconvex.arithmetic.rationals import Array, to_fmpq
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.fixed_points.equations import solve_symmetric, stationarity
from fedconvex.ground_truths import ground_truth
from fedconvex.participation import Schedule, Weighted
from fedconvex.problems.composite import without_term
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.simulation import Trajectory, simulate
from fedconvex.statements.instance import Instance
from fedconvex.statements.statement import Statement
from fedconvex.testing.failures import refuted, undecided
from fedconvex.theory.bounds import Applies, apply
from fedconvex.theory.others import is_own
from fedconvex.validation import instance_of, non_negative
from fedconvex.verdicts import Verdict

PRECISION = 128  # bits
SLACK = Fraction(1, 10**9)
ABSOLUTE_SLACK = Fraction(1, 10**20)


@final
@dataclass(frozen=True, eq=False)
class ObservedQuantity:
    """The quantity that a statement bounds, enclosed in a ball, with its round and the instance of the statement."""

    quantity: str
    value: Any
    round: int
    instance: Instance
    promise: Callable[[Any], Any] = lambda bound: bound  # the statement's number ↦ the largest admissible value


def assert_bound_holds(
    statement: Statement,
    trajectory: Trajectory,
    *,
    participation: Any = None,
    local_solver: Any = None,
    slack: Any = SLACK,
    absolute_slack: Any = ABSOLUTE_SLACK,
    **numbers: Any,
) -> None:
    """Assert that a run satisfies a statement's bound, and that the run satisfies the statement's assumptions.

    Use it to test an implementation against theory: the run's points may come from anywhere, as in
    `Trajectory(points, problem, method, state=None, recorded={})`. Constants are enclosed as by `bounds_for`.
    `observable` says which quantity of the run is compared.

    Args:
        statement: one of those that `observable` lists.
        trajectory: a run of at least one round.
        participation, local_solver: those of the run; default: all clients, and the method's own solver.
        slack: relative tolerance. Balls cannot tell a bound that is attained exactly from one that is missed by less
            than their radius. Points of a run in floats carry rounding errors: pass exact or ball runs, or more slack.
        absolute_slack: absolute tolerance, for bounds that are 0, as for a run that starts at the minimiser.
        **numbers: constants that replace measured ones, and those that cannot be measured.

    Raises:
        AssertionError: the bound is violated, or an assumption is proved to fail.
        NotDecided: an assumption could not be proved, or the enclosures are too wide to compare.
        InvalidInput: the statement bounds nothing that a run shows, or the run has no rounds.
    """
    _require(statement, trajectory, numbers)
    non_negative(slack, "slack")
    non_negative(absolute_slack, "absolute_slack")
    _, observe = OBSERVABLES[statement.identifier]
    run = _Run(trajectory, participation, local_solver)
    for seen in observe(run):
        entry = apply(statement, seen.instance, dict(numbers))
        if not isinstance(entry, Applies):
            refuse = refuted if entry.verdict is Verdict.REFUTED else undecided
            state = "does not hold" if entry.verdict is Verdict.REFUTED else "is not proved to hold"
            refuse(
                f"{statement.identifier} cannot be laid over this run: {entry.assumption} {state}", reason=entry.reason
            )
        _compare(statement, seen, entry, run, (slack, absolute_slack))


def _require(statement: Any, trajectory: Any, numbers: dict[str, Any]) -> None:
    if not isinstance(statement, Statement):
        raise InvalidInput(
            "statement", statement, "is not a statement", "give such as fedconvex.theory.fedsplit.theorem1"
        )
    if observable(statement) is None:
        problem = "bounds no quantity that a trajectory's points determine"
        raise InvalidInput("statement", statement.identifier, problem, f"give one of {', '.join(OBSERVABLES)}")
    for name, value in numbers.items():
        if name not in statement.paper.notation:
            known = ", ".join(statement.paper.notation)
            raise InvalidInput(name, value, f"is no constant of {statement.paper.short}", f"give some of {known}")
    if not isinstance(trajectory, Trajectory) or len(trajectory.points) < 2:
        raise InvalidInput("trajectory", trajectory, "is no run of at least one round", "give simulate(…, rounds=5)")


def observable(statement: Statement | None = None) -> Any:
    """The quantity that `assert_bound_holds` compares with the statement's bound, in words.

    None for a statement that it cannot check; without a statement, a dict of all identifiers.
    """
    if statement is None:
        return {identifier: words for identifier, (words, _) in OBSERVABLES.items()}
    instance_of(statement, Statement, "statement", "a statement", "give one such as fedconvex.theory.fedprox.theorem4")
    return OBSERVABLES.get(statement.identifier, (None,))[0] if is_own(statement) else None


def _compare(
    statement: Statement, seen: ObservedQuantity, entry: Applies, run: "_Run", slacks: tuple[Any, Any]
) -> None:
    with run.balls.context():
        bound = seen.promise(run.balls.scalar(entry.value))
        slack, absolute = (run.balls.scalar(to_fmpq(value)) for value in slacks)
        room = abs(bound) * slack + absolute
        # Of balls, <= and > are both false if they overlap: then nothing is decided.
        if seen.value <= bound + room:
            return
        found = {seen.quantity: seen.value, "promised at most": bound, "round": seen.round, "slack": str(slacks[0])}
        constants = {name: run.balls.scalar(value) for name, value in entry.parameters.items() if not np.ndim(value)}
        if seen.value > bound + room:
            refuted(
                f"{statement.identifier} ({statement.source}) is violated in round {seen.round}", **found, **constants
            )
        undecided(f"not decided whether {statement.identifier} holds in round {seen.round}", **found, **constants)


class _Run:
    """A trajectory with its points as balls, and the quantities that the statements bound."""

    def __init__(self, trajectory: Trajectory, participation: Any, local_solver: Any) -> None:
        self.problem, self.method = without_term(trajectory.problem), trajectory.method
        self.participation, self.local_solver = participation, local_solver
        self.raw = trajectory.points
        self.balls: Any = arithmetics.get("ball", precision=PRECISION)
        with self.balls.context():
            self.points = [self.balls.array(point) for point in trajectory.points]

    def instance(self, start: int, rounds: int | None) -> Instance:
        """The instance of a run of this many rounds from point number `start`."""
        return Instance(self.problem, self.method, self.participation, self.local_solver, self.raw[start], rounds)

    def minimizer(self) -> Array:
        """The minimiser as balls: computed exactly on quadratics, else enclosed."""
        if isinstance(self.problem, QuadraticProblem):
            exact, problem = arithmetics.get("exact"), self.problem
            # an exact solution, rounded once; an enclosure of the iterates would be wider
            nearest = solve_symmetric(stationarity(problem), exact, kernel=lambda: problem.kernel)
            return self.balls.array(nearest)
        return ground_truth(self.problem).enclosure()

    def differences(self, one: Array, other: Array) -> Any:
        """f(one) − f(other)."""
        weights = self.balls.array(self.problem.exact_weights_array)
        return self.balls.average(weights, self.problem.clients(self.balls).differences(one, other))

    def squared_gradient(self, x: Array) -> Any:
        gradient = self.problem.gradient(x)
        return (gradient * gradient).sum()


def _distances(run: _Run) -> Iterator[ObservedQuantity]:
    for t in range(1, len(run.points)):
        with run.balls.context():
            away = run.points[t] - _minimizer_of(run)
            distance = square_root_upper((away * away).sum())
        yield ObservedQuantity("‖x_t − x*‖", distance, t, run.instance(0, t))


def _gaps(run: _Run) -> Iterator[ObservedQuantity]:
    for t in range(1, len(run.points)):
        with run.balls.context():
            gap = run.differences(run.points[t], _minimizer_of(run))
        yield ObservedQuantity("f(x_t) − f(x*)", gap, t, run.instance(0, t))


def _mean_squares(run: _Run) -> Iterator[ObservedQuantity]:
    for T in range(1, len(run.points)):
        with run.balls.context():
            mean = sum((run.squared_gradient(x) for x in run.points[:T]), run.balls.scalar(0)) / T
        yield ObservedQuantity("mean ‖∇f(x_t)‖²", mean, T, run.instance(0, T))


def _decreases(run: _Run) -> Iterator[ObservedQuantity]:
    """E f(w⁺) − f(w) over K independent draws of clients, for quadratic f.

    With θ̄ the mean answer, H the Hessian and Cov the covariance of a client's answer: E f(w⁺) = f(θ̄) + tr(H Cov)/(2K).
    """
    if not isinstance(run.problem, QuadraticProblem):
        undecided(
            "the expectation over the draws is only worked out for least squares and quadratics", problem=run.problem
        )
    if not isinstance(run.participation, Weighted):
        scheme = type(run.participation).__name__
        refuted(f"FedProx's expectations are over Weighted(K) draws, not {scheme}: give participation=Weighted(K)")
    for t, x in enumerate(run.points[:-1]):
        with run.balls.context():
            answers = [run.balls.array(_answer(run, k, t)) for k in range(run.problem.num_clients)]
            weights = run.balls.array(run.problem.exact_weights_array)
            mean = run.balls.average(weights, np.array(answers))
            H = run.problem.weighted_hessian(run.balls)
            spread = [((a - mean) * run.balls.apply(H, a - mean)).sum() for a in answers]
            change = run.differences(mean, x) + (weights * np.array(spread)).sum() / (2 * run.participation.K)
            square = run.squared_gradient(x)

        # the default binds this round's value: the function is called after the loop has moved on
        def promise(rho: Any, square: Any = square) -> Any:
            return -rho * square

        yield ObservedQuantity("E f(w⁺) − f(w)", change, t + 1, run.instance(t, 1), promise)


def _answer(run: _Run, k: int, t: int) -> Array:
    """Client k's answer in round t: the server's next point if that client alone takes part."""
    # a method that averages: with one client its answer is the server's next point
    alone, x = Schedule([[k]]), run.raw[t]
    options = {"local_solver": run.local_solver, "x0": x, "arithmetic": "ball", "progress": False}
    return simulate(run.method, run.problem, 1, alone, **options).points[1]


def _minimizer_of(run: _Run) -> Array:
    try:
        return run.minimizer()
    except FedconvexError as error:
        refuted("the bound is about the distance to a minimiser, and there is none", reason=str(error))


OBSERVABLES: dict[str, tuple[str, Callable[[_Run], Iterator[ObservedQuantity]]]] = {
    **dict.fromkeys(
        (
            "nesterov.gradientstep",
            "nesterov.theorem2_1_15",
            "fedsplit.theorem1",
            "fedsplit.equation16",
            "fedsplit.theorem1sharper",
        ),
        ("‖x_t − x*‖ after every number t of rounds", _distances),
    ),
    "nesterov.corollary2_1_2": ("f(x_t) − f(x*) after every number t of rounds", _gaps),
    "nesterov.smoothfunctions": ("the mean of ‖∇f(x_t)‖² over the first T points, for every T", _mean_squares),
    **dict.fromkeys(
        (
            "fedprox.theorem4",
            "fedprox.theorem4sharper",
            "fedprox.theorem4byvariance",
            "fedprox.theorem4bycurvature",
            "fedprox.theorem4convex",
            "fedprox.theorem11",
            "fedprox.theorem11sharper",
        ),
        ("f(w) − E f(w⁺) at every point w of the run, over all draws, against rho‖∇f(w)‖²", _decreases),
    ),
}
