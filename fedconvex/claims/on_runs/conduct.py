"""What is the same in all rounds of a run, beside what a setting says of it: the method, who takes part, local work."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from math import isclose
from typing import TYPE_CHECKING, Any, final

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.claims.on_runs.evaluation import NotOnThisRun, number_at
from fedconvex.claims.terms import Number, parts
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method
from fedconvex.parameters import is_scheduled
from fedconvex.participation import Full, Participation, Uniform, Weighted
from fedconvex.problems.base import Problem

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim, ClaimSetting

SCHEMES: Mapping[str, type[Participation]] = {"everyone": Full, "uniform": Uniform, "independent": Weighted}
SHOWN = 5  # weights in a message
CLOSE = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Conduct:
    """How a run is conducted; `stragglers`: who decides which clients do a part of their work."""

    problem: Problem
    method: Method
    participation: Any
    local_solver: LocalSolver
    stragglers: Any = None

    @property
    def drawn(self) -> int:
        """How many clients a draw has."""
        return int(getattr(self.participation, "K", self.problem.num_clients))


def known_parameters(claim: "Claim", run: Conduct, rounds: int) -> dict[str, Any]:
    """The parameters of claims that a run has itself: the method's, and the counts."""
    known = {f.name: getattr(run.method, f.name) for f in fields(run.method) if f.metadata.get("number")}  # type: ignore[arg-type]
    counts = {"num_clients": run.problem.num_clients, "num_active": run.drawn, "K": run.drawn}
    return {**known, **counts, claim.rounds or "T": rounds}


def require_within(offences: Iterable[str]) -> None:
    """Raises NotOnThisRun for the first of these: a claim says nothing of runs outside of its setting."""
    for offence in offences:
        field, _, problem = offence.partition(": ")
        raise NotOnThisRun(field, "a run", f"is outside of the claim's setting: {problem}",
                           "give a run of the setting, or the claim alone, replace(claim, within=None)")  # fmt: skip


def require_conduct(claim: "Claim", run: Conduct, known: Mapping[str, Any]) -> None:
    """The same for what a run in floats shows, where its parameters are known."""
    if claim.within is None:
        return

    def value_of(formula: Number) -> Any:
        names = {p.args[0] for p in parts(formula) if p.head == "parameter"}
        return number_at(formula, known) if names <= known.keys() else None

    def same(assumed: Any, number: Any) -> bool:
        return assumed == number or isclose(nearest_float(assumed), nearest_float(number), rel_tol=CLOSE)

    require_within(conduct_offences(claim.within, run, value_of, same))


def conduct_offences(
    setting: "ClaimSetting", run: Conduct, value_of: Callable[[Number], Any], same: Callable[[Any, Any], bool]
) -> Iterator[str]:
    """What the run does otherwise than the setting says; `value_of` gives None for formulas of unknown numbers."""

    def differs(formula: Number | None, number: Any) -> bool:
        value = None if formula is None else value_of(formula)
        return value is not None and not same(value, number)

    method, solver, m, draws = run.method, run.local_solver, run.problem.num_clients, setting.draws
    if setting.method and type(method) is not Method.named(setting.method):
        yield f"method: the method is {type(method).__name__}, not {setting.method}"
        return
    if is_scheduled(method) or is_scheduled(solver):
        yield "method_parameters: a stepsize changes from round to round"
        return
    if isinstance(getattr(method, "local_steps", 1), tuple):
        yield "method_parameters: the clients take different numbers of local steps"
        return
    for name, assumed in setting.method_parameters.items():
        own = getattr(method, name)
        if type(assumed) is not Number:
            if own != assumed:
                yield f"method_parameters: the method's {name} is {own!r}, not the setting's {assumed!r}"
        elif differs(assumed, own):
            yield f"method_parameters: the method's {name} is {own}, not the setting's {value_of(assumed)}"
    given = setting.gradient_steps
    if given and not isinstance(solver, GradientDescent):
        yield f"gradient_steps: the local solver is {solver}, not gradient descent"
    elif given and any(differs(x, getattr(solver, name)) for name, x in given.items()):
        yield f"gradient_steps: {solver} is not the setting's"
    elif not given and setting.answers == "own" and solver != method.local_solver:
        yield f"gradient_steps: the local solver is {solver}, not the method's own"
    # All of m clients are everyone, who are averaged with their weights: nothing depends on a draw.
    everyone = type(run.participation) is Full and draws.scheme == "uniform" and not differs(draws.active, m)
    if type(run.participation) is not SCHEMES[draws.scheme] and not everyone:
        yield f"draws: {run.participation} is not {draws.scheme}"
    elif differs(draws.active, run.drawn):
        yield f"draws: the number of drawn clients, {run.drawn}, is not the setting's"
    if differs(draws.clients, m):
        yield f"draws: the number of clients, {m}, is not the setting's"
    if run.stragglers is not None:
        yield "draws: some clients are late"
    if setting.equal_weights and not everyone and not run.problem.is_equally_weighted:
        weights = ", ".join(map(str, run.problem.exact_weights[:SHOWN]))
        yield f"equal_weights: the clients' weights differ, {weights}{', …' if m > SHOWN else ''}"
    if setting.single_client and m != 1:
        yield f"single_client: there is more than one client, {m}"
