"""Rounds in which something fixed disturbs the error: noise of gradients, or gradients that differ at the minimiser.

    E V(next state) <= rate·V(state) + Σ_j price_j · (size of disturbance j)

A price may also be what a round earns: with the size −(f(w) − f*) and rate 1, V decreases by price·(f(w) − f*).

Of noise two things are known (`noisy_gradients`): its size, and equations, which a proof may use with multipliers of
any sign: as two inequalities each.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, Part, coordinates
from fedconvex.proofs_checks.search.lyapunov.posed_round import (
    VALUE,
    Pair,
    Place,
    all_inequalities,
    expected_squares,
    pairs_of,
)
from fedconvex.proofs_checks.search.lyapunov.state_vectors import vectors_of
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Key,
    combination,
    inner,
    square,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.noisy_gradients import NoisyBoard
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, outcomes

WEIGHT: Pair = ((VALUE, 0), (VALUE, 0))  # of a function value in V


@final
@dataclass(frozen=True, eq=False)
class PricedRound:
    """The round: V before and after, the sizes of what disturbs it, inequalities, and what vanishes in expectation."""

    coordinates: Coordinates
    names: dict[Place, str]
    measured: tuple[Any, ...]  # the error of the server's point, in the coordinates of means
    squares: dict[Pair, tuple[Form, Form]]  # before and after
    sizes: tuple[Form, ...]
    inequalities: tuple[tuple[str, Form], ...]
    equations: tuple[tuple[str, Form], ...] = ()
    budget: dict[Pair, Any] = field(default_factory=dict)  # Σ budget · V's entries <= 1, where there is one
    paid: tuple[Any, ...] = ()  # and what prices take of it
    zeros: tuple[dict[Key, Any], ...] = ()  # vectors on which every proof's form vanishes
    worth: Any = None  # where V has a function value: per unit of its weight that is at least worth·‖measured‖²

    @property
    def parts(self) -> dict[str, int]:
        """The blocks of V and their sizes."""
        return {part: sum(place[0] == part for place in self.names) for part in dict.fromkeys(p for p, _ in self.names)}

    @property
    def relations(self) -> tuple[tuple[str, Form], ...]:
        """All inequalities: equations are two."""
        reversed_ones = ((f"{name}, reversed", -form) for name, form in self.equations)
        return (*self.inequalities, *self.equations, *reversed_ones)

    def program(self, entries: dict[Pair, Any], prices: tuple[Any, ...]) -> Program:
        """The program whose proofs of t show E V(next state) <= t·V(state) + prices · sizes."""
        both = [
            combination(*((c if a == b else 2 * c, self.squares[a, b][after]) for (a, b), c in entries.items() if c))
            for after in (0, 1)
        ]
        paid = combination(*zip(prices, self.sizes, strict=True))
        return Program(both[0], paid - both[1], self.relations)


def pose_noise(spec: Specification, independent: bool) -> PricedRound:
    """The round with noise, whose sizes are, for each evaluation, those of the means and of the deviations.

    Where it is not `independent`, only the mean over the clients of its squares is known.
    """
    clients = min(spec.num_clients, 2)
    found = coordinates(spec.method, spec.solver, spec.clients, clients, draws=spec.draws)
    board = Board(clients, spec.clients, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))
    noisy = NoisyBoard(board)
    known = [(MEAN,), (DEVIATION,)][:clients] if independent else [(MEAN, DEVIATION)]

    def sizes() -> Iterator[Form]:
        for u in noisy.noises:
            yield from (square(u.only(*parts)) for parts in known)

    return _posed(spec, found, board, noisy, sizes)


def pose_pulls(spec: Specification) -> PricedRound:
    """The round of clients whose gradients at the minimiser differ: the size is their mean square."""
    first = Part(MEAN, ("server",), [[ONE]], [[ONE]], [ONE])
    found = Coordinates(spec.method, first, Part(DEVIATION, (), [], [], []))
    board = Board(2, spec.clients)
    return _posed(spec, found, board, None, lambda: [square(board.evaluations[0].gradient)])


def _posed(
    spec: Specification, found: Coordinates, board: Board, noisy: NoisyBoard | None,
    sizes: Callable[[], Iterable[Form]],
) -> PricedRound:  # fmt: skip
    names, before = found.names, found.unknown
    first, state = len(board.evaluations), found.state(before)
    if spec.draws.everyone:
        ways = outcomes(spec.method, spec.solver, board if noisy is None else noisy, state)
    else:
        ways = [(ONE, answered(spec.method, spec.solver, board, state, spec.draws, noisy=noisy)[0])]
    after = expected_squares(found.parts, [(chance, vectors_of(one, found.groups)) for chance, one in ways])
    squares = {(a, b): (inner(before[a], before[b]), after[a, b]) for a, b in pairs_of(before)}
    board.minimiser = True
    # A server's point that waits for a communication is no function of the coordinates: then the clients' mean is
    # measured, where their first gradients are.
    point = {(MEAN, "server"): ONE} if "server" in found.mean.names else board.evaluations[first].point.parts
    measured = tuple(point.get((MEAN, name), ZERO) for name in found.mean.names)
    equations = () if noisy is None else tuple(noisy.equations)
    return PricedRound(found, names, measured, squares, tuple(sizes()), all_inequalities(board), equations)
