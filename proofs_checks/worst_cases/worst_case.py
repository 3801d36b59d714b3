"""`worst_case`: what a method does at worst on a class of clients, as an interval that is proved on both sides."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.proofs_checks.worst_cases.attaining import Instance, largest, quadratics, simple
from fedconvex.proofs_checks.worst_cases.certifying import Certified, certify
from fedconvex.proofs_checks.worst_cases.classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.feasible import Feasible, feasible
from fedconvex.proofs_checks.worst_cases.forms import Family, Form, family, mean, shared, square, value
from fedconvex.proofs_checks.worst_cases.playing import Board, first_state, played
from fedconvex.proofs_checks.worst_cases.programs import Program, Proposal, propose
from fedconvex.rationals import to_fraction

METRICS = ("distance", "lifted_distance", "gap", "gradient_norm", "descent")
INFINITE = float("inf")


@final
@dataclass(frozen=True, eq=False)
class Question:
    """What is asked, as a program: `board` has the points at which functions were looked at, `start` is unknown."""

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    rounds: int
    metric: str
    board: Board
    start: Family
    program: Program
    dissimilarity: Fraction | None = None
    heterogeneity: Fraction = Fraction(0)


@final
@dataclass(frozen=True, eq=False)
class WorstCase:
    """lower <= truth <= upper, both proved: one end by an instance, the other by a certificate.

    For "descent" the truth is the least decrease: its lower end is proved, its upper end attained. The instance is a
    federation of quadratics that was played, or inner products and values that satisfy the class's inequalities.
    """

    question: Question
    proposal: Proposal
    certificate: Certified | None
    played: Fraction | None  # what the method does on `instance`
    instance: Instance | None
    interpolated: Feasible | None

    @property
    def upper(self) -> Any:
        """The upper end; infinite where nothing was proved."""
        return self._largest if self.question.metric != "descent" else self._negative(self.attained, INFINITE)

    @property
    def lower(self) -> Any:
        """The lower end."""
        if self.question.metric == "descent":
            return self._negative(self.certificate.t if self.certificate else None, -INFINITE)
        return Fraction(0) if self.attained is None else self.attained

    @property
    def attained(self) -> Fraction | None:
        """The largest that some instance has, exactly."""
        interpolated = None if self.interpolated is None else self.interpolated.metric
        return max((x for x in (self.played, interpolated) if x is not None), default=None)

    def federation(self) -> Any:
        """The quadratic federation on which the method does `played`. Raises ValueError where none was found."""
        if self.instance is None:
            raise ValueError("no federation of quadratics was found")
        return self.instance.problem

    @property
    def _largest(self) -> Any:
        return INFINITE if self.certificate is None else self.certificate.t

    @staticmethod
    def _negative(number: Fraction | None, otherwise: float) -> Any:
        return otherwise if number is None else -number

    def __repr__(self) -> str:
        asked = self.question
        return f"<{asked.metric} of {asked.method}, {asked.rounds} rounds: [{float(self.lower)}, {float(self.upper)}]>"


def worst_case(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str = 2,
    rounds: int = 1,
    metric: str = "distance",
    dissimilarity: Any = None,
    heterogeneity: Any = 0,
    local_solver: LocalSolver | None = None,
) -> WorstCase:
    """The worst that a method does on clients of a class, everyone taking part, with equal weights.

    With two clients or more the answer does not depend on their number: mean and deviation of the clients' vectors are
    orthogonal, and every pair of Gram matrices belongs to some two clients. "any" stands for all numbers.

    Args:
        method: with rational parameters.
        clients: `SmoothStronglyConvex(mu, L)`, `SmoothConvex(L)` or `WeaklyConvex(L_minus, L)`.
        num_clients: 1, more, or "any".
        rounds: T >= 1; 1 for "descent" and "lifted_distance" (for more, take the power: see Theorem 1 of FedSplit).
        metric: "distance" ‖w_T − x*‖², "gap" f(w_T) − f*, "gradient_norm" ‖∇f(w_T)‖², each divided by
            ‖w_0 − x*‖² + heterogeneity · (1/m)Σ‖∇F_k(x*)‖²; "lifted_distance" Σ‖z_k − z_k*‖² after and before a round
            (FedSplit); "descent" the least (f(w) − f(w⁺))/‖∇f(w)‖² of a round.
        dissimilarity: B of FedProx's Definition 3 at the first point, where it is bounded.
        heterogeneity: how much the clients' gradients at the minimiser count; 0: they are unbounded.
        local_solver: `Exact()` or `GradientDescent(…)`; by default the method's own.

    Raises:
        InvalidInput: a metric or solver that is not analysed, rounds < 1, B < 1, a negative heterogeneity.
    """
    question = _asked(method, clients, num_clients, rounds, metric, dissimilarity, heterogeneity, local_solver)
    proposal = propose(question.program)
    certificate = certify(question.program, proposal)
    played_, instance = largest(_instances(question, proposal), lambda found: _measured(question, found))
    interpolated = feasible(question.program, proposal)
    return WorstCase(question, proposal, certificate, played_, instance, interpolated)


def _asked(
    method: Method, clients: FunctionClass, num_clients: Any, rounds: int, metric: str, dissimilarity: Any,
    heterogeneity: Any, local_solver: LocalSolver | None,
) -> Question:  # fmt: skip
    if metric not in METRICS:
        raise InvalidInput("metric", metric, "is unknown", f"give one of {', '.join(METRICS)}")
    count = 2 if num_clients == "any" else num_clients
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InvalidInput("num_clients", num_clients, "is no number of clients", 'give 1, 2, …, or "any"')
    if rounds < 1 or (rounds > 1 and metric in ("descent", "lifted_distance")):
        raise InvalidInput("rounds", rounds, f"is not possible for {metric}", "give 1")
    if dissimilarity is not None and not to_fraction(dissimilarity) >= 1:
        raise InvalidInput("dissimilarity", dissimilarity, "is less than 1", "give B >= 1")
    if not to_fraction(heterogeneity) >= 0:
        raise InvalidInput("heterogeneity", heterogeneity, "is negative", "give a number >= 0")
    solver = method.local_solver if local_solver is None else local_solver
    board = Board(min(count, 2), minimiser=metric != "descent")
    if metric == "lifted_distance":
        start, program = _lifted(method, solver, clients, board)
        return Question(method, solver, clients, rounds, metric, board, start, program)
    w = shared("w")
    first = board.at(w) if metric == "descent" or dissimilarity is not None else None
    state = first_state(method, w)
    for _ in range(rounds):
        state = played(method, solver, board, state)
    measure = square(w) + square(board.pulls) * to_fraction(heterogeneity)
    constant = _metric(metric, board, state.server) * -1
    if metric == "descent":
        assert first is not None
        measure, constant = square(mean(first.gradient)), constant + value(first.value)
    inequalities = board.inequalities(clients)
    if dissimilarity is not None:
        assert first is not None
        bound = square(mean(first.gradient)) * to_fraction(dissimilarity) ** 2 - square(first.gradient)
        inequalities.append(("dissimilarity", bound))
    program = Program(measure, constant, tuple(inequalities))
    B = None if dissimilarity is None else to_fraction(dissimilarity)
    return Question(method, solver, clients, rounds, metric, board, w, program, B, to_fraction(heterogeneity))


def _metric(metric: str, board: Board, server: Family) -> Form:
    if metric == "distance":
        return square(server)
    last = board.at(server)
    return square(mean(last.gradient)) if metric == "gradient_norm" else value(last.value)


def _lifted(method: Method, solver: LocalSolver, clients: FunctionClass, board: Board) -> tuple[Family, Program]:
    """One round of FedSplit from any z, against the fixed point z_k* = −s∇F_k(x*)."""
    if not isinstance(method, FedSplit):
        raise InvalidInput("metric", "lifted_distance", f"is for FedSplit, not for {method}", 'give "distance"')
    z = family("z", board.clients)
    fixed = board.pulls * -to_fraction(method.stepsize)
    following = played(method, solver, board, State(mean(z), memory={"z": z}))
    after: Any = following.memory["z"]
    return z, Program(square(z - fixed), square(after - fixed) * -1, tuple(board.inequalities(clients)))


def _instances(question: Question, proposal: Proposal) -> Any:
    fitted = quadratics(question.program, proposal, question.board, question.clients, question.start)
    if fitted is not None:
        yield fitted
    yield from simple(question.clients, question.board.clients)


def _measured(question: Question, instance: Instance) -> Fraction | None:
    """What happens on the instance, exactly, played by the core; for "descent" minus the decrease."""
    from fedconvex.proofs_checks.worst_cases.replaying import measured

    return measured(question, instance)
