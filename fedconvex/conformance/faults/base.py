"""What a known fault is: a change of one or two moves of a method, with its name, its cure, and what it breaks."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from fedconvex.arithmetic.rationals import Array
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.participation import Draw
from fedconvex.problems.base import Subproblem

if TYPE_CHECKING:
    from fedconvex.conformance.setup import Setup


def _ask(method: Method, state: State, cohort: Cohort) -> Subproblem:
    return method.subproblem(state, cohort)


def _update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    return method.update(state, cohort, answers)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Fault:
    """One fault; each move defaults to the right one.

    `ask` and `update` take the method that they change and what that method's own move takes; `state` also has the
    entries of `bookkeeping`. `draw` changes who takes part and with how much work, given the full work and m; `scale`
    is a factor of a client's function, by its number of samples; `parameters` and `solver` change what is run.
    """

    name: str  # a sentence: what the implementation does
    cure: str
    breaks: str  # the property that does not hold with it: one of `properties`
    applies: Callable[["Setup"], bool]
    ask: Callable[[Method, State, Cohort], Subproblem] = _ask
    update: Callable[[Method, State, Cohort, Answers], State] = _update
    begin_at: Callable[[Array], Array] = lambda point: point
    draw: Callable[[Draw, int | None, int], Draw] = lambda draw, effort, num_clients: draw
    scale: Callable[[int], Fraction] = lambda samples: Fraction(1)
    parameters: Callable[["Setup"], "Setup"] = lambda setup: setup
    solver: Callable[[LocalSolver], LocalSolver] = lambda solver: solver

    convention: bool = False  # a parameter or function taken otherwise than in the paper: the last thing to suspect

    def __str__(self) -> str:
        return self.name
