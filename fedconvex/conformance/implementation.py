"""Run an implementation on a scenario: record what it returns round by round, and how it breaks its contract."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.scenarios import Scenario
from fedconvex.errors import InvalidInput, short_text

BITS = {"float64": 53, "float32": 24}
WORK = "local_steps"  # the optional argument of `round`: each active client's number of local steps


@dataclass(frozen=True, eq=False)
class Implementation:
    """The implementation's functions, as the user passes them to `check`."""

    init: Callable[..., Any]
    round: Callable[..., Any]
    server_model: Callable[..., Any]
    client_models: Callable[..., Any] | None = None
    found: list[ConformanceFinding] = field(
        default_factory=list
    )  # findings of wrappers around the functions, such as `trainer`

    @property
    def takes_work(self) -> bool:
        """Whether `round` has an argument `local_steps`."""
        return takes(self.round, WORK)


@dataclass(eq=False)
class ObservedRun:
    """One run of one scenario: the server's points and the clients' models, up to where the run broke off."""

    scenario: Scenario
    points: list[np.ndarray] = field(default_factory=list)  # at most T + 1
    clients: list[dict[int, np.ndarray]] = field(default_factory=list)  # at most T
    dtypes: set[str] = field(default_factory=set)  # names of the number types that came back
    findings: list[ConformanceFinding] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)

    def differs_from(self, other: "ObservedRun", tolerances: np.ndarray) -> int | None:
        """The first round after which two runs of the same scenario differ; None if they agree."""
        for t, (mine, its) in enumerate(zip(self.points, other.points, strict=False)):
            if not np.abs(mine - its).max() <= tolerances[t]:
                return t
        return None


def observe(implementation: Implementation, scenario: Scenario, backwards: bool = False) -> ObservedRun:
    """Run the implementation on the scenario and turn its errors into findings.

    `backwards`: pass the active clients in reverse order.
    """
    seen, x0 = ObservedRun(scenario), scenario.first_point
    data = _data(scenario)
    try:
        state = implementation.init(scenario.problem, x0)
        _take_point(seen, implementation.server_model(state), 0)
        for t, active in enumerate(scenario.rounds):
            order = tuple(reversed(active)) if backwards else active
            extra = {}
            if implementation.takes_work:
                extra[WORK] = _work(scenario, t, backwards)
            before, state = state, implementation.round(scenario.problem, state, list(order), **extra)
            if state is None:
                _once(seen, findings.NO_STATE, "return the next state")
                state = before
            _take_point(seen, implementation.server_model(state), t + 1)
            # a state that changes although another one is returned cannot be replayed: worth a note, but no fault
            if state is not before and _changed(implementation.server_model(before), seen.points[-2]):
                seen.notes.add(findings.OLD_STATE)
            # False once client_models has failed: from then on only the server is compared
            if implementation.client_models is not None and len(seen.clients) == t:
                _take_clients(seen, implementation.client_models, state, order)
    except _Unusable as broken:
        seen.findings.append(broken.finding)
    except (Exception, SystemExit) as error:  # whatever somebody else's code raises; exit(0) must not look like success
        seen.findings.append(_raised(error, len(seen.points), scenario))
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


def vector(value: Any, dim: int) -> tuple[np.ndarray, str]:
    """The value as a (dim,) float64 vector, and the name of its number type. Raises `_Unusable`."""
    try:
        if hasattr(value, "detach"):
            dtype = str(value.dtype).removeprefix("torch.")
            array = value.detach().cpu().double().numpy()
        else:
            array = np.asarray(value)
            dtype = array.dtype.name
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _Unusable(
            ConformanceFinding(findings.NOT_NUMBERS, f"return a ({dim},) array", short_text(error))
        ) from None
    if array.shape != (dim,):
        detail = f"{array.shape} instead of ({dim},)"
        raise _Unusable(
            ConformanceFinding(findings.SHAPE, "return one flat vector, also from a model of many parameters", detail)
        )
    return array.copy(), dtype


class _Unusable(Exception):
    """A return value that ends the run."""

    def __init__(self, finding: ConformanceFinding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def _take_point(seen: ObservedRun, value: Any, t: int) -> None:
    point, dtype = vector(value, seen.scenario.problem.dim)
    if not np.isfinite(point).all():
        detail = f"{short_text(point.tolist())} after round {t} of '{seen.scenario.name}'"
        raise _Unusable(
            ConformanceFinding(findings.NOT_FINITE, "look for 0/0, overflow, or the norm's gradient at 0", detail)
        )
    seen.dtypes.add(dtype)
    seen.points.append(point)


def _take_clients(seen: ObservedRun, client_models: Callable[..., Any], state: Any, order: Sequence[int]) -> None:
    """Record what `client_models` returns; if it cannot be used, record a finding and compare no clients any more."""
    problem = seen.scenario.problem
    try:
        models = client_models(state)
        if not isinstance(models, Mapping):
            rows = list(models)
            models = dict(
                zip(range(problem.num_clients) if len(rows) == problem.num_clients else order, rows, strict=True)
            )
        seen.clients.append({k: vector(models[k], problem.dim)[0] for k in order if k in models})
    except Exception as error:  # whatever somebody else's code raises
        detail = (
            str(error.finding) if isinstance(error, _Unusable) else f"{type(error).__name__}: {short_text(str(error))}"
        )
        cure = "return a dict from the client's number to its (d,) model, or (m, d) rows"
        seen.findings.append(ConformanceFinding(findings.CLIENT_MODELS, cure, detail))


def _changed(value: Any, before: np.ndarray) -> bool:
    return not np.array_equal(vector(value, len(before))[0], before)


def _work(scenario: Scenario, t: int, backwards: bool) -> list[int] | None:
    if scenario.effort is None:
        return None
    active = scenario.rounds[t]
    # reversed like the clients: efforts[i] belongs to active[i]
    efforts = [scenario.effort] * len(active) if scenario.efforts is None else list(scenario.efforts[t])
    return efforts[::-1] if backwards else efforts


def _data(scenario: Scenario) -> list[bytes]:
    """A copy of the data, for comparing them with what the implementation leaves."""
    problem: Any = scenario.problem
    return [np.asarray(part).tobytes() for part in (*problem.A, *problem.b)]


def _raised(error: BaseException, t: int, scenario: Scenario) -> ConformanceFinding:
    where = "init or server_model" if t == 0 else f"round {t}"
    text = f"{type(error).__name__}: {short_text(str(error), 160)}"
    if isinstance(error, ValueError) and "read-only" in str(error):
        return ConformanceFinding(findings.CHANGES_DATA, "copy A_k and b_k before you work on them", f"{where}: {text}")
    return ConformanceFinding(findings.RAISES, "see the error's text", f"{where} of '{scenario.name}': {text}")


def _once(seen: ObservedRun, name: str, cure: str) -> None:
    if all(finding.name != name for finding in seen.findings):
        seen.findings.append(ConformanceFinding(name, cure))
