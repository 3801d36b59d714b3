"""A known fault: a change in one or two steps of a method, with its name, its cure and the property that it breaks."""

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


def _correct_subproblem(method: Method, state: State, cohort: Cohort) -> Subproblem:
    return method.subproblem(state, cohort)


def _correct_update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    return method.update(state, cohort, answers)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Fault:
    """One fault; every field that is left out defaults to the correct step.

    `subproblem` and `update` take the original method, then the arguments of that method's own step; their `state` also
    holds the entries of `history`. `draw` changes who takes part and how much work each client does, given the full
    work and m; `scale` is a factor of a client's function, given its number of samples; `parameters` and `solver`
    change the method's parameters and the local solver.
    """

    name: str  # a sentence: what the implementation does
    cure: str
    breaks: str  # the property that it violates, from `properties`
    applies: Callable[["Setup"], bool]
    subproblem: Callable[[Method, State, Cohort], Subproblem] = _correct_subproblem
    update: Callable[[Method, State, Cohort, Answers], State] = _correct_update
    initial_point: Callable[[Array], Array] = lambda point: point
    draw: Callable[[Draw, int | None, int], Draw] = lambda draw, effort, num_clients: draw
    scale: Callable[[int], Fraction] = lambda samples: Fraction(1)
    parameters: Callable[["Setup"], "Setup"] = lambda setup: setup
    solver: Callable[[LocalSolver], LocalSolver] = lambda solver: solver

    # A parameter or function defined otherwise than in the paper. The diagnosis names conventions last: a wrong step
    # that fits the numbers as well is the more helpful explanation.
    convention: bool = False

    def __str__(self) -> str:
        return self.name
