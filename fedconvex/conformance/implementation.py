"""Running somebody else's code: what it returns, round by round, and what it does that it should not."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.findings import Finding
from fedconvex.conformance.scenarios import Scenario
from fedconvex.errors import InvalidInput, short_text

BITS = {"float64": 53, "float32": 24}
WORK = "local_steps"  # the argument that tells how much work each client does


@dataclass(frozen=True, eq=False)
class Implementation:
    """The user's three functions, and what they take."""

    init: Callable[..., Any]
    round: Callable[..., Any]
    server_model: Callable[..., Any]
    client_models: Callable[..., Any] | None = None
    found: list[Finding] = field(default_factory=list)  # what wrappers around it have noticed

    @property
    def takes_work(self) -> bool:
        """Whether `round` has an argument `local_steps`."""
        return takes(self.round, WORK)


@dataclass(eq=False)
class Observed:
    """One run of one scenario: the server's points up to where the run broke off, and the clients' after each round."""

    scenario: Scenario
    points: list[np.ndarray] = field(default_factory=list)  # at most T + 1
    clients: list[dict[int, np.ndarray]] = field(default_factory=list)  # at most T
    kinds: set[str] = field(default_factory=set)  # names of the number types that came back
    findings: list[Finding] = field(default_factory=list)

    def differs_from(self, other: "Observed", tolerances: np.ndarray) -> int | None:
        """The first round after which two runs of the same scenario differ; None where they do not."""
        for t, (mine, its) in enumerate(zip(self.points, other.points, strict=False)):
            if not np.abs(mine - its).max() <= tolerances[t]:
                return t
        return None


def observe(implementation: Implementation, scenario: Scenario, backwards: bool = False) -> Observed:
    """Run the scenario, whatever the implementation does on the way; `backwards`: with the clients in turned order."""
    seen, x0 = Observed(scenario), scenario.first_point
    data = _data(scenario)
    try:
        state = implementation.init(scenario.problem, x0)
        _take_point(seen, implementation.server_model(state), 0)
        for t, active in enumerate(scenario.rounds):
            order = tuple(reversed(active)) if backwards else active
            extra = {}
            if implementation.takes_work:
                extra[WORK] = _work(scenario, t, backwards)
            returned = implementation.round(scenario.problem, state, list(order), **extra)
            if returned is None:
                _once(seen, findings.NO_STATE, "return the next state")
            else:
                state = returned
            _take_point(seen, implementation.server_model(state), t + 1)
            if implementation.client_models is not None:
                seen.clients.append(_client_points(implementation.client_models(state), order, scenario.problem.dim))
    except _Unusable as broken:
        seen.findings.append(broken.finding)
    except Exception as error:  # whatever somebody else's code raises
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
    """The (dim,) float64 vector, and the name of its number type; raises `_Unusable`."""
    try:
        if hasattr(value, "detach"):
            kind = str(value.dtype).removeprefix("torch.")
            array = value.detach().cpu().double().numpy()
        else:
            array = np.asarray(value)
            kind = array.dtype.name
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _Unusable(Finding(findings.NOT_NUMBERS, f"return a ({dim},) array", short_text(error))) from None
    if array.shape != (dim,):
        detail = f"{array.shape} instead of ({dim},)"
        raise _Unusable(Finding(findings.SHAPE, "return one flat vector, also from a model of many parameters", detail))
    return array.copy(), kind


class _Unusable(Exception):
    """A return value that ends the run."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def _take_point(seen: Observed, value: Any, t: int) -> None:
    point, kind = vector(value, seen.scenario.problem.dim)
    if not np.isfinite(point).all():
        detail = f"{short_text(point.tolist())} after round {t} of '{seen.scenario.name}'"
        raise _Unusable(Finding(findings.NOT_FINITE, "look for 0/0, overflow, or the norm's gradient at 0", detail))
    seen.kinds.add(kind)
    seen.points.append(point)


def _client_points(value: Any, order: Sequence[int], dim: int) -> dict[int, np.ndarray]:
    pairs = value.items() if isinstance(value, Mapping) else zip(order, value, strict=True)
    return {int(k): vector(point, dim)[0] for k, point in pairs if int(k) in order}


def _work(scenario: Scenario, t: int, backwards: bool) -> list[int] | None:
    if scenario.effort is None:
        return None
    active = scenario.rounds[t]
    efforts = [scenario.effort] * len(active) if scenario.efforts is None else list(scenario.efforts[t])
    return efforts[::-1] if backwards else efforts


def _data(scenario: Scenario) -> list[bytes]:
    problem: Any = scenario.problem
    return [np.asarray(part).tobytes() for part in (*problem.A, *problem.b)]


def _raised(error: Exception, t: int, scenario: Scenario) -> Finding:
    where = "init or server_model" if t == 0 else f"round {t}"
    text = f"{type(error).__name__}: {short_text(str(error), 160)}"
    if isinstance(error, ValueError) and "read-only" in str(error):
        return Finding(findings.CHANGES_DATA, "copy A_k and b_k before you work on them", f"{where}: {text}")
    return Finding(findings.RAISES, "see the error's text", f"{where} of '{scenario.name}': {text}")


def _once(seen: Observed, name: str, cure: str) -> None:
    if all(finding.name != name for finding in seen.findings):
        seen.findings.append(Finding(name, cure))
