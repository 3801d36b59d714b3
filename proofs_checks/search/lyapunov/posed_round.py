"""One round of a method from any state: the errors before and after it, and the inequalities that relate them.

The clients' functions are shifted: F_k − ⟨∇F_k(x*), ·⟩ has gradient 0 at x* = 0 and the curvature of F_k. A method's
formulas are linear, so that its round on these functions maps errors to errors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, final

from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, coordinates
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, Family, Form, combination, inner
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered

Place = tuple[str, int]  # a part, and the number of a coordinate in it
Pair = tuple[Place, Place]  # an entry of a Lyapunov function's matrices


@final
@dataclass(frozen=True, eq=False)
class PosedRound:
    """The coordinates of the state before and after a round, and the inequalities between its evaluations."""

    coordinates: Coordinates
    board: Board
    before: Mapping[Place, Family]
    after: Mapping[Place, Family]
    inequalities: tuple[tuple[str, Form], ...]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The entries of a Lyapunov function's matrices: one for the means, one for the deviations."""
        return tuple((a, b) for a, b in combinations_with_replacement(self.before, 2) if a[0] == b[0])

    def form(self, entries: Mapping[Pair, Any], after: bool = False) -> Form:
        """The Lyapunov function with these entries, of the state before or after the round."""
        vectors = self.after if after else self.before
        return combination(
            *((c if a == b else 2 * c, inner(vectors[a], vectors[b])) for (a, b), c in entries.items() if c)
        )

    def program(self, entries: Mapping[Pair, Any]) -> Program:
        """The program whose proofs of t show V(next state) <= t·V(state)."""
        return Program(self.form(entries), -self.form(entries, after=True), self.inequalities)

    @cached_property
    def parts(self) -> Program:
        """All forms that a proof is made of, for their matrices: inequalities, then squares before and after."""
        one = [{pair: ONE} for pair in self.pairs]
        squares = [("before", self.form(x)) for x in one] + [("after", self.form(x, after=True)) for x in one]
        return Program(Form(), Form(), (*self.inequalities, *squares))


def pose_round(
    method: Method, solver: LocalSolver, functions: FunctionClass, clients: int, among: str = "all"
) -> PosedRound:
    """The round of everyone from any reachable state. Raises InvalidInput; see `coordinates`."""
    found = coordinates(method, solver, functions, clients)
    board = Board(clients, functions, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))  # the minimiser, where values are 0
    before = {
        (part.part, i): Family({(part.part, name): ONE}) for part in found.parts for i, name in enumerate(part.names)
    }
    state, _ = answered(method, solver, board, found.state(before))
    board.minimiser = True  # the first evaluation is compared with all others
    return PosedRound(found, board, before, found.of(state), tuple(board.inequalities(among)))
