"""Run an implementation on a scenario: record what it returns round by round, and how it breaks its contract."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.batches import Work, drawn
from fedconvex.conformance.buffers import buffers_of
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.guard import Guard, TimeIsUp, last_line
from fedconvex.conformance.scenarios import Scenario
from fedconvex.conformance.vectors import WHOLE, Unusable, vector
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.sgd import SGD

COARSE = ("float16", "bfloat16", "float8")  # beginnings of names of number types
RETURN_FLOATS = "return floating-point numbers: integers cut off what is behind the point"
BITS = {"float64": 53, "float32": 24}
# optional arguments of the functions, with an entry for each active client
WORK = "local_steps"  # its number of local steps or epochs
BATCHES = "batches"  # a list of its batches in the order of its steps, each a list of sample numbers


@dataclass(frozen=True)
class Turn:
    """What a round of an implementation is given: the active clients, and for each what it asks for by name."""

    active: tuple[int, ...]
    extra: Mapping[str, Any]  # the values of optional arguments, as `WORK`, by name


class Implementation(ABC):
    """An implementation of any shape, as `observe` runs it."""

    found: list[ConformanceFinding]  # findings about the calls that it makes itself
    client_models: Callable[..., Any] | None  # (state) -> the local models of the last round
    keeps_states: ClassVar[bool] = True  # whether a state should stay as it is while the run goes on

    @abstractmethod
    def takes(self, name: str) -> bool:
        """Whether the functions have an optional argument of that name."""

    @abstractmethod
    def begin(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Any:
        """The state before the first of these rounds."""

    @abstractmethod
    def advance(self, problem: Any, state: Any, turn: Turn) -> Any:
        """The state after one round."""

    @abstractmethod
    def server_model(self, state: Any) -> Any:
        """The server's model."""


@final
@dataclass(frozen=True, eq=False)
class RoundFunctions(Implementation):
    """The functions `init`, `round` and `server_model`, as the user passes them to `check`."""

    init: Callable[..., Any]
    round: Callable[..., Any]
    read: Callable[..., Any]
    client_models: Callable[..., Any] | None = None
    found: list[ConformanceFinding] = field(default_factory=list)

    def takes(self, name: str) -> bool:
        return takes(self.round, name)

    def begin(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Any:
        return self.init(problem, x0)

    def advance(self, problem: Any, state: Any, turn: Turn) -> Any:
        return self.round(problem, state, list(turn.active), **turn.extra)

    def server_model(self, state: Any) -> Any:
        return self.read(state)


@dataclass(eq=False)
class ObservedRun:
    """One run of one scenario: the server's points and the clients' models, up to where the run broke off."""

    scenario: Scenario
    points: list[np.ndarray] = field(default_factory=list)  # at most T + 1
    clients: list[dict[int, np.ndarray]] = field(default_factory=list)  # at most T
    dtypes: set[str] = field(default_factory=set)  # names of the number types that came back
    findings: list[ConformanceFinding] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)  # what it does not claim to do: it raised NotImplementedError
    server_buffers: list[np.ndarray | None] = field(default_factory=list)  # one for each of `points`
    client_buffers: list[dict[int, np.ndarray | None]] = field(default_factory=list)  # one for each of `clients`

    def differs_from(self, other: "ObservedRun", tolerances: np.ndarray) -> int | None:
        """The first round after which two runs of the same scenario differ; None if they agree."""
        for t, (mine, its) in enumerate(zip(self.points, other.points, strict=False)):
            if not np.abs(mine - its).max() <= tolerances[t]:
                return t
        return None


def observe(implementation: Implementation, scenario: Scenario, guard: Guard, backwards: bool = False) -> ObservedRun:
    """Run the implementation on the scenario and turn its errors into findings.

    `backwards`: pass the active clients in reverse order.
    """
    seen = ObservedRun(scenario)
    if guard.expired:
        return seen
    x0 = scenario.first_point
    data = _data(scenario)
    turns = [_turn(implementation, scenario, t, backwards) for t in range(len(scenario.rounds))]
    try:
        with guard.watching():
            _play(seen, implementation, x0, turns)
    except Unusable as broken:
        seen.findings.append(broken.finding)
    except KeyboardInterrupt:
        raise
    except TimeIsUp:
        where = _where(seen)
        cure = f"a run may take {guard.seconds:g} s; give check a larger time_limit if it only takes long"
        seen.findings.append(ConformanceFinding(findings.HANGS, cure, where))
    except NotImplementedError as error:
        reason = _refused(seen)
        (seen.refused.add(reason) if reason else seen.findings.append(_raised(error, seen)))
    except BaseException as error:  # whatever somebody else's code raises, SystemExit of a script's main among it
        seen.findings.append(_raised(error, seen))
    if not np.array_equal(x0, scenario.first_point):
        _once(seen, findings.CHANGES_START, "copy x0 before you work on it")
    if _data(scenario) != data:
        _once(seen, findings.CHANGES_DATA, "copy A_k and b_k before you work on them")
    return seen


def takes(function: Callable[..., Any], name: str) -> bool:
    """Whether the function has an argument of that name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some callables have no signature
        return False


def require_callable(value: Any, name: str, contract: str) -> None:
    """Raises InvalidInput where the value cannot be called."""
    if not callable(value):
        raise InvalidInput(name, value, "is not a function", f"give {contract}")


def _play(seen: ObservedRun, implementation: Implementation, x0: np.ndarray, turns: Sequence[Turn]) -> None:
    problem = seen.scenario.problem
    state = implementation.begin(problem, x0, turns)
    _take_point(seen, implementation.server_model(state), 0)
    for t, turn in enumerate(turns):
        before, state = state, implementation.advance(problem, state, turn)
        if state is None:
            _once(seen, findings.NO_STATE, "return the next state")
            state = before
        _take_point(seen, implementation.server_model(state), t + 1)
        # a state that changes although another one is returned cannot be replayed: worth a note, but no fault
        is_kept = implementation.keeps_states and state is not before
        if is_kept and _changed(implementation.server_model(before), seen.points[-2]):
            seen.notes.add(findings.OLD_STATE)
        # False once client_models has failed: from then on only the server is compared
        if implementation.client_models is not None and len(seen.clients) == t:
            _take_clients(seen, implementation.client_models, state, turn.active)


def _take_point(seen: ObservedRun, value: Any, t: int) -> None:
    point, dtypes = vector(value, seen.scenario.dim)
    if not np.isfinite(point).all():
        detail = f"{point.tolist()} after round {t} of '{seen.scenario.name}'"
        raise Unusable(
            ConformanceFinding(findings.NOT_FINITE, "look for 0/0, overflow, or the norm's gradient at 0", detail)
        )
    whole = sorted(name for name in dtypes if name.startswith(WHOLE))
    if whole:
        _once(seen, findings.INTEGERS, RETURN_FLOATS, ", ".join(whole))
    seen.dtypes |= dtypes
    seen.points.append(point)
    seen.server_buffers.append(buffers_of(value))


def _take_clients(seen: ObservedRun, client_models: Callable[..., Any], state: Any, order: Sequence[int]) -> None:
    """Record what `client_models` returns; if it cannot be used, record a finding and compare no clients any more."""
    num_clients, dim = seen.scenario.problem.num_clients, seen.scenario.dim
    try:
        models = client_models(state)
        if not isinstance(models, Mapping):
            rows = list(models)
            models = dict(zip(range(num_clients) if len(rows) == num_clients else order, rows, strict=True))
        seen.clients.append({k: vector(models[k], dim)[0] for k in order if k in models})
        seen.client_buffers.append({k: buffers_of(models[k]) for k in order if k in models})
    except Exception as error:  # whatever somebody else's code raises
        detail = str(error.finding) if isinstance(error, Unusable) else last_line(error)
        cure = "return a dict from the client's number to its (d,) model, or (m, d) rows"
        seen.findings.append(ConformanceFinding(findings.CLIENT_MODELS, cure, detail))


def _changed(value: Any, before: np.ndarray) -> bool:
    return not np.array_equal(vector(value, len(before))[0], before)


def _turn(implementation: Implementation, scenario: Scenario, t: int, backwards: bool) -> Turn:
    active = scenario.rounds[t]
    work = _work(scenario, t)
    optional: dict[str, Sequence[Any] | None] = {WORK: work}
    if isinstance(scenario.solver, SGD):
        amounts = [scenario.solver.effort or 0] * len(active) if work is None else work
        works = [Work(k, t, scenario.sizes[k], amount) for k, amount in zip(active, amounts, strict=True)]
        optional[BATCHES] = [drawn(scenario.solver, work) for work in works]
    extra = {name: values for name, values in optional.items() if implementation.takes(name)}
    if backwards:  # the values belong to the clients one by one
        extra = {name: None if values is None else values[::-1] for name, values in extra.items()}
    return Turn(tuple(reversed(active)) if backwards else active, extra)


def _work(scenario: Scenario, t: int) -> list[int] | None:
    if scenario.solver.effort is None:
        return None
    active = scenario.rounds[t]
    return [scenario.solver.effort] * len(active) if scenario.efforts is None else list(scenario.efforts[t])


def _data(scenario: Scenario) -> list[bytes]:
    """A copy of the data, for comparing them with what the implementation leaves."""
    problem: Any = scenario.problem
    return [np.asarray(part).tobytes() for part in (*problem.A, *problem.b)]


def _where(seen: ObservedRun) -> str:
    t = len(seen.points)
    return f"{'before the first round' if t == 0 else f'round {t}'} of '{seen.scenario.name}'"


def _refused(seen: ObservedRun) -> str | None:
    """What makes this round more than one of all clients with full local work; None where nothing does."""
    t, scenario = max(len(seen.points) - 1, 0), seen.scenario
    if any(len(active) < len(scenario.sizes) for active in scenario.rounds[: t + 1]):
        return findings.REFUSES_PARTIAL
    return findings.REFUSES_WORK if scenario.efforts is not None else None


def _raised(error: BaseException, seen: ObservedRun) -> ConformanceFinding:
    text = f"{_where(seen)}: {last_line(error)}"
    if isinstance(error, ValueError) and "read-only" in text:
        return ConformanceFinding(findings.CHANGES_DATA, "copy A_k and b_k before you work on them", text)
    if isinstance(error, ModuleNotFoundError):
        return ConformanceFinding(findings.MISSING_PACKAGE, "install it where the check runs", text)
    return ConformanceFinding(findings.RAISES, "see the error's text", text)


def _once(seen: ObservedRun, name: str, cure: str, detail: str = "") -> None:
    if all(finding.name != name for finding in seen.findings):
        seen.findings.append(ConformanceFinding(name, cure, detail))
