"""What is asked of a method, as a semidefinite program: `asked` checks the question and plays the method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.questions.board import Board, answered, first_state, in_rationals, played
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import Written, drawn_round, histories
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups, FunctionClass, NotSmooth
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import (
    Family,
    Form,
    expected,
    mean,
    noise,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.sampling import EVERYONE, Draws, draws_of

AVERAGES = ("average_gap", "mean_gap", "mean_gradient_norm")  # of all rounds
METRICS = ("distance", "lifted_distance", "gap", "gradient_norm", "descent", *AVERAGES)
LEAST = "least"  # the name of the objective's infimum, where there may be no minimiser
LONG = 12  # rounds beyond which one round is asked about, where the others are like it
MANY = 16  # points beyond which only neighbours are compared
MOST = 64  # histories of draws, and points of all clients, that are written out; MOST²/4 pairs of these


@final
@dataclass(frozen=True, eq=False)
class Question:
    """What is asked; `board` has the points at which functions were looked at, `start` and `last` are the server's.

    `weights` are those of the rounds, with sum 1, in the metrics that are averages; `spread` is how much the distance
    of the clients' own stationary points counts, where it does.
    `exact` says whether the program asks just that: its value is then the truth for a class that is interpolable. If
    not, it only bounds it. `composable` says that what holds in one round holds in every round; the program may then be
    of the first `played` rounds only.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    rounds: int
    metric: str
    board: Any  # a Board, or Written
    start: Any  # Vectors
    last: Any
    program: Program
    dissimilarity: Fraction | None = None
    heterogeneity: Fraction = Fraction(0)
    draws: Draws = EVERYONE
    weights: tuple[Fraction, ...] = ()
    spread: Fraction | None = None
    exact: bool = True
    composable: bool = False
    played: int = 1


def asked(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str,
    rounds: int,
    metric: str,
    dissimilarity: Any,
    heterogeneity: Any,
    local_solver: LocalSolver | None,
    participation: Any = None,
    weights: Any = None,
    spread: Any = None,
) -> Question:
    """The question, after checking it. Raises InvalidInput; see `worst_case`."""
    count = _checked(method, clients, num_clients, rounds, metric, dissimilarity, heterogeneity)
    draws = EVERYONE if metric in AVERAGES and rounds == 1 else draws_of(participation, num_clients)
    solver = in_rationals(method.local_solver if local_solver is None else local_solver)
    if method.needs_path_lengths and not solver.has_path_lengths:
        raise InvalidInput("local_solver", solver, f"takes no steps of known size, by which {type(method).__name__} "
                           "divides", "give GradientDescent(…)")  # fmt: skip
    method = in_rationals(method)
    if isinstance(clients, ClientGroups) and not draws.everyone:
        raise InvalidInput("participation", participation, "is not analysed for several kinds", "leave it out")
    shares = _weights(metric, rounds, weights)
    if spread is not None and not (metric == "mean_gradient_norm" and to_fraction(spread, "spread") >= 0):
        raise InvalidInput("spread", spread, f"has no part in {metric}, or is negative", "leave it out, or give a "
                           "number >= 0 with mean_gradient_norm")  # fmt: skip
    if metric == "lifted_distance":
        return _lifted(method, solver, clients, rounds, Board(min(count, 2), clients), draws)
    known = {
        "method": method, "solver": solver, "clients": clients, "rounds": rounds, "metric": metric, "draws": draws,
        "dissimilarity": None if dissimilarity is None else to_fraction(dissimilarity),
        "heterogeneity": to_fraction(heterogeneity), "weights": shares,
        "spread": None if spread is None else to_fraction(spread),
    }  # fmt: skip
    minimiser = metric != "descent" and clients.lowest >= 0
    w = shared("w")
    state = first_state(method, w)
    memoryless = not (state.shared or state.memory)
    composable = metric == "distance" and dissimilarity is None and memoryless
    by_moments = metric == "distance" and (rounds == 1 or composable) and method.gradients_from != "sample"
    if not draws.everyone and not by_moments:
        written = _written_out(known, state, minimiser)
        if written is not None:
            return written
        if rounds > 1 or metric in AVERAGES or metric == "gradient_norm":
            problem = f"leaves too many ways to draw in {rounds} rounds for {metric}"
            cure = "give fewer clients or fewer rounds, or let everyone take part"
            raise InvalidInput("participation", participation, problem, cure)
    board = Board(min(count, 2), clients, minimiser)
    _begin(known, board, w)
    if metric in AVERAGES:
        averages = []
        for _ in range(rounds - 1):
            state, answers = answered(method, solver, board, state)
            averages.append(mean(answers))
        return _about(known, board, [w, *averages][-1], _reached(known, board, [w, *averages]))
    others = 0 if composable and (rounds > LONG or not draws.everyone) else rounds - 1
    for _ in range(1 + others):
        state = played(method, solver, board, state, draws)
    randomly = square(noise(state.server)) * draws.scale
    reached = _reached(known, board, [w, expected(state.server)])
    reached = reached + randomly * (1 if metric == "distance" else clients.highest / 2)  # by the descent lemma
    found = _about(known, board, state.server, reached, exact=draws.everyone or metric == "distance")
    return replace(found, composable=composable, played=1 + others)


def _written_out(known: Mapping[str, Any], state: State, minimiser: bool) -> Question | None:
    """With every client and every way to draw; None where these are too many."""
    draws, rounds = known["draws"], known["rounds"] - (known["metric"] in AVERAGES)
    if not 0 < draws.clients <= MOST or draws.number**rounds > MOST:
        return None
    board = Written.of(draws.clients, known["clients"], minimiser)
    _begin(known, board, state.server)
    play = partial(drawn_round, known["method"], known["solver"], board)
    reached, last = Form(), state
    for chance, averages, last in histories(play, list(draws.every()), rounds, state):
        points = [state.server, *averages] if known["metric"] in AVERAGES else [state.server, last.server]
        reached = reached + _reached(known, board, points) * chance
        if board.points > MOST or board.pairs > MOST**2 / 4:
            return None
    return _about(known, board, last.server, reached)


def _begin(known: Mapping[str, Any], board: Any, w: Family) -> None:
    """Looks at the first point where it has a part in what is asked, before everything else."""
    if known["metric"] == "descent" or (known["dissimilarity"] is not None and known["metric"] not in AVERAGES):
        board.at(w)


def _reached(known: Mapping[str, Any], board: Any, points: Sequence[Family]) -> Form:
    """The metric, of w_0, γ^1, … where it is of averages, else of the last point."""
    metric, weights = known["metric"], known["weights"]
    if metric in ("mean_gap", "mean_gradient_norm"):
        looked = [board.at(point) for point in points]
        sizes = [board.height(e) if metric == "mean_gap" else square(mean(e.gradient)) for e in looked]
        return sum((size * share for size, share in zip(sizes, weights, strict=True)), start=Form())
    last = points[-1]
    if metric == "distance":
        return square(last)
    if metric == "average_gap":
        last = sum((point * share for point, share in zip(points, weights, strict=True)), start=Family())
    found = board.at(last)
    return square(mean(found.gradient)) if metric == "gradient_norm" else board.height(found)


def _about(known: Mapping[str, Any], board: Any, last: Family, reached: Form, exact: bool = True) -> Question:
    """The question, with what the metric is divided by and all inequalities."""
    metric, B, G, w = known["metric"], known["dissimilarity"], known["heterogeneity"], shared("w")
    more: list[tuple[str, Form]] = []
    if metric == "descent":
        first = board.at(w)
        measure, reached = square(mean(first.gradient)), reached - board.height(first)
    elif metric == "mean_gradient_norm":
        first, least = board.at(w), Form() if board.minimiser else value(LEAST)
        measure = board.height(first) - least + square(first.gradient) * G
        if known["spread"] is not None:
            own = board.found(board.vectors("x0"), Family())
            measure = measure + square(own.point - w) * known["spread"]
        more = [] if board.minimiser else _bounded_below(board)
    else:
        measure = square(w) + square(board.pulls) * G
    if B is not None:
        gradient = board.at(w).gradient
        more.append(("dissimilarity", square(mean(gradient)) * B**2 - square(gradient)))
    among = "all" if isinstance(board, Written) or len(board.evaluations) <= MANY else "neighbours"
    program = Program(measure, reached * -1, (*board.inequalities(among), *more))
    exact = exact and among == "all" and (board.minimiser or metric == "descent")
    return Question(**known, board=board, start=w, last=last, program=program, exact=exact)


def _weights(metric: str, rounds: int, weights: Any) -> tuple[Fraction, ...]:
    """Of the rounds, with sum 1; none for metrics of the last round. Raises InvalidInput."""
    if metric not in AVERAGES:
        if weights is not None:
            raise InvalidInput("weights", weights, f"have no part in {metric}", f"give one of {', '.join(AVERAGES)}")
        return ()
    given = [to_fraction(x, "weights") for x in ([1] * rounds if weights is None else weights)]
    if len(given) != rounds or min(given) < 0 or not any(given):
        raise InvalidInput("weights", weights, f"are not {rounds} numbers >= 0 that are not all 0", "give one a round")
    return tuple(x / sum(given) for x in given)


def _bounded_below(board: Any) -> list[tuple[str, Form]]:
    """f(x) − inf f − ‖∇f(x)‖²/(2L) >= 0 at every point that all clients share: a gradient step stays above inf f."""
    step = 1 / (2 * board.functions.highest)
    return [
        (f"{LEAST} from {place}", board.height(e) - value(LEAST) - square(mean(e.gradient)) * step)
        for place, e in board.common
    ]


def _checked(
    method: Method, clients: FunctionClass, num_clients: Any, rounds: Any, metric: str, dissimilarity: Any,
    heterogeneity: Any,
) -> int:  # fmt: skip
    """How many clients. Raises InvalidInput."""
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.FedSplit(stepsize=1)")
    if not isinstance(clients, FunctionClass):
        raise InvalidInput("clients", clients, "is no class of functions", "give SmoothStronglyConvex(mu, L), "
                           "SmoothConvex(L), WeaklyConvex(L_minus, L) or Quadratics(mu, L)")  # fmt: skip
    if isinstance(clients, NotSmooth):
        raise InvalidInput("clients", clients, "need not be smooth, which is not analysed", "give a class with an L")
    if not method.linear:
        raise InvalidInput("method", method, "changes from round to round", "give one with fixed parameters, skip=0")
    if metric not in METRICS:
        raise InvalidInput("metric", metric, "is unknown", f"give one of {', '.join(METRICS)}")
    if metric not in ("descent", "mean_gradient_norm") and clients.lowest < 0:
        raise InvalidInput("clients", clients, f"may have no minimiser, from which {metric} is measured",
                           'give metric="descent" or "mean_gradient_norm", or convex clients')  # fmt: skip
    count = 2 if num_clients == "any" else num_clients
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InvalidInput("num_clients", num_clients, "is no number of clients", 'give 1, 2, …, or "any"')
    if not isinstance(rounds, int) or isinstance(rounds, bool) or rounds < 1:
        raise InvalidInput("rounds", rounds, "is no number of rounds", "give 1, 2, …")
    if rounds > 1 and metric == "descent":
        raise InvalidInput("rounds", rounds, "is not possible for descent, which is of one round", "give 1")
    if dissimilarity is not None and not to_fraction(dissimilarity, "dissimilarity") >= 1:
        raise InvalidInput("dissimilarity", dissimilarity, "is less than 1", "give B >= 1")
    if dissimilarity is not None and metric == "lifted_distance":
        raise InvalidInput("dissimilarity", dissimilarity, "has no part in lifted_distance", "leave it out")
    if not to_fraction(heterogeneity, "heterogeneity") >= 0:
        raise InvalidInput("heterogeneity", heterogeneity, "is negative", "give a number >= 0")
    if heterogeneity and metric in ("lifted_distance", "descent"):
        raise InvalidInput("heterogeneity", heterogeneity, f"has no part in {metric}", "leave it out")
    return count


def _lifted(
    method: Method, solver: LocalSolver, clients: FunctionClass, rounds: int, board: Board, draws: Draws
) -> Question:
    """One round of FedSplit from any z, against the fixed point z_k* = −s∇F_k(x*)."""
    if not isinstance(method, FedSplit):
        raise InvalidInput("metric", "lifted_distance", f"is for FedSplit, not for {method}", 'give "distance"')
    if not draws.everyone:
        raise InvalidInput("participation", draws, "is not analysed for lifted_distance", 'give metric="distance"')
    z = board.vectors("z")
    fixed = board.pulls * -to_fraction(method.stepsize)
    following = played(method, solver, board, State(mean(z), memory={"z": z}))
    after: Any = following.memory["z"]
    program = Program(square(z - fixed), square(after - fixed) * -1, tuple(board.inequalities()))
    return Question(method, solver, clients, rounds, "lifted_distance", board, z, after, program, composable=True)


def of_one_round(question: Question) -> Question:
    """The same question about one round only."""
    if question.played == 1:
        return replace(question, rounds=1)
    assert question.composable
    clients: int | str = 1 if question.board.clients == 1 else "any"
    return asked(
        question.method, question.clients, clients, 1, question.metric, None, question.heterogeneity, question.solver
    )
