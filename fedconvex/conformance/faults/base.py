"""A known fault: a change in one or two steps of a method, with its name, its cure and the property that it breaks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, final

from fedconvex.arithmetic.rationals import Array
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.participation import Draw
from fedconvex.problems.base import Subproblem

if TYPE_CHECKING:
    from fedconvex.conformance.setup import Setup

# The methods' defining properties, as the report names them: each fault violates one.
FIRST_POINT = "the run starts at x0"
START = "clients start at the server's current model"
LOCAL_WORK = "clients take the prescribed number of local steps, of the prescribed size"
LOCAL_FUNCTION = "clients minimise their own function, at its full size"
PULL = "the proximal term pulls to the server's model, with the prescribed weight"
AVERAGE = "the average is over those who take part, with the right weights"
PARTICIPANTS = "only those who take part count"
PARAMETERS = "parameters mean what they mean in the paper"
LATE = "the partial work of stragglers is used"
SERVER_STEP = "the server goes to what the method's rule gives, once"
CORRECTION = "the local gradient is corrected, with the right sign"
MEMORY = "clients keep their memory, also through rounds that they skip"
MEMORY_RULE = "clients update their memory by the method's rule, after its use"
SERVER_MEMORY = "the server's memory is kept, as a mean over all m clients"
REFLECTION = "clients work around 2x − z_k, their reflected state"
NORMALISED = "progress is counted per unit of local work"
PERSONAL = "personal models are trained by the method's rule, and kept by their clients"


Applies = Callable[["Setup"], bool]


def _correct_subproblem(method: Method, state: State, cohort: Cohort) -> Subproblem:
    return method.subproblem(state, cohort)


def _correct_update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    return method.update(state, cohort, answers)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Fault:
    """One fault; every field that is left out defaults to the correct step.

    `subproblem` and `update` take the original method, then the arguments of that method's own step; their `state` also
    holds the entries of `history`. `draw` changes who takes part and how much work each does, given the full
    work and m; `scale` is a factor of a client's function, given its number of samples; `targets` changes a client's
    targets b_k; `parameters` and `solver` change the method's parameters and the local solver.
    """

    name: str  # a sentence: what the implementation does
    cure: str
    breaks: str  # the property that it violates
    applies: Applies
    subproblem: Callable[[Method, State, Cohort], Subproblem] = _correct_subproblem
    update: Callable[[Method, State, Cohort, Answers], State] = _correct_update
    initial_point: Callable[[Array], Array] = lambda point: point
    draw: Callable[[Draw, int | None, int], Draw] = lambda draw, effort, num_clients: draw
    scale: Callable[[int], Fraction] = lambda samples: Fraction(1)
    targets: Callable[[Array], Array] | None = None
    parameters: Callable[["Setup"], "Setup"] = lambda setup: setup
    solver: Callable[[LocalSolver], LocalSolver] = lambda solver: solver

    # A parameter or function defined otherwise than in the paper. The diagnosis names conventions last: a wrong step
    # that fits the numbers as well is the more helpful explanation.
    convention: bool = False
    rational: bool = True  # False: it takes square roots, and its runs are in float64
    harmless: bool = False  # a matter of rounding alone, which the report notes and does not count as a fault
    family: "FaultFamily | None" = None  # where the fault has a fitted number …
    value: float = 0.0  # … that number …
    detail: str = ""  # … and how well it fits

    def __str__(self) -> str:
        return self.name

    @property
    def loses_memory(self) -> bool:
        """Whether clients read another memory than the stored one."""
        return self.breaks == MEMORY and self.subproblem is not _correct_subproblem


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FaultFamily:
    """Faults that differ in one unknown number, which the diagnosis fits to the runs.

    `changes(number)` gives the fields of the fault with that number (a Fraction, exactly the float that was fitted);
    `neutral` is the number that changes nothing, `starts` those from which the search for it starts.
    """

    name: str  # with {} in the number's place
    cure: str
    breaks: str
    applies: Applies
    changes: Callable[[Fraction], dict[str, Any]]
    starts: tuple[float, ...]
    neutral: float
    low: float = 0.0  # the numbers allowed are strictly between these two
    high: float = float("inf")
    convention: bool = False
    first_round: int = 0  # the only round in which the fault can show first; 0: any
    given: Callable[["Setup"], Any] = lambda setup: None  # a second {} in the name: the number as it should be

    def fault(self, value: float, setup: "Setup", shown: str = "", detail: str = "") -> Fault:
        """The fault with this number; `shown`: the number as its name has it."""
        one = Fault(
            name=self.name.format(shown or f"{value:.6g}", self.given(setup)),
            cure=self.cure,
            breaks=self.breaks,
            applies=self.applies,
            convention=self.convention,
            family=self,
            value=value,
            detail=detail,
        )
        return replace(one, **self.changes(Fraction(value)))

    @property
    def scanned(self) -> tuple[float, ...]:
        """Numbers from small to large, between which those that people choose lie."""
        neutral = (self.neutral,) if isfinite(self.neutral) else ()
        return tuple(sorted({*self.starts, *neutral}))

    @property
    def unknown(self) -> str:
        """The name without a number."""
        return self.name.format("some number", "the one given")


@final
@dataclass(frozen=True)
class Rule:
    """What a method prescribes: its faults violate one property, and often have one cure."""

    breaks: str
    applies: Applies
    cure: str = ""

    def broken(self, name: str, cure: str = "", *, where: Applies | None = None, **changes: Any) -> Fault:
        """The fault that `changes`, the fields of a `Fault`, make of it; `where`: only in setups that it is true of."""
        return Fault(name=name, cure=cure or self.cure, breaks=self.breaks, applies=self._where(where), **changes)

    def broken_by(self, name: str, cure: str = "", *, where: Applies | None = None, **fields: Any) -> FaultFamily:
        """The same for a family of faults with an unknown number."""
        return FaultFamily(name=name, cure=cure or self.cure, breaks=self.breaks, applies=self._where(where), **fields)

    def each(self, step: str, change: Callable[[Any], Any], faults: Mapping[str, Any], **rest: Any) -> list[Fault]:
        """A fault for every name, whose `step`, such as "update", is `change` of what stands beside the name."""
        return [self.broken(name, **{step: change(what)}, **rest) for name, what in faults.items()]

    def _where(self, where: Applies | None) -> Applies:
        return self.applies if where is None else lambda setup: self.applies(setup) and where(setup)
