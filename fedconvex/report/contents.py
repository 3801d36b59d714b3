"""The data that the page shows of each statement: verdict and origin, exact runs near the worst one, looseness."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, final

from fedconvex.json_files import fault_in
from fedconvex.progress import track
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.reporting import cache
from fedconvex.proofs_checks.reporting.records import Record
from fedconvex.proofs_checks.reporting.results import Origin
from fedconvex.proofs_checks.tightness import neighbours
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.worst_cases.looseness.factor import Looseness, looseness
from fedconvex.proofs_checks.worst_cases.looseness.table import LoosenessRow, lemmas, row, theorems
from fedconvex.statements.statement import Statement
from fedconvex.theory.others import is_own

NEIGHBOURS = 40  # instances near the worst one of a statement on which it is run
POINTS = [{"larger": float, "smaller": float}]  # the shapes of what is cached
LOOSE = [{
    "row": {**dict.fromkeys(("statement", "at", "bound", "worst", "looseness"), str), "is_lemma": bool},
    "numbers": {str: str}, "bound": (None, float), "lower": float, "upper": float, "decreases": bool,
}]  # fmt: skip
Verdicts = Iterable[tuple[Statement, Record, Origin]]


@final
@dataclass(frozen=True)
class Loose:
    """How loose a bound is at given parameters. `bound` is None where a statement compares two quantities of a run."""

    row: LoosenessRow
    numbers: dict[str, str]
    bound: float | None
    lower: float  # lower and upper bound of the looseness
    upper: float
    decreases: bool  # the statement bounds a decrease from below: the exact worst case is above the bound

    @property
    def worst(self) -> tuple[float, float] | None:
        """Lower and upper bound of the exact worst case, in the bound's unit."""
        if self.bound is None:
            return None
        if self.decreases:
            return self.bound * self.lower, self.bound * self.upper
        return self.bound / self.upper, self.bound / self.lower


@final
@dataclass(frozen=True)
class StatementEntry:
    """Everything that the page shows of one statement."""

    record: Record
    paper: str
    origin: Origin
    points: tuple[tuple[float, float], ...] = ()  # (larger, smaller side) on exact runs near the worst one
    looseness: tuple[Loose, ...] = ()


def entries(verdicts: Verdicts, use_cache: bool = True) -> Iterator[StatementEntry]:
    """One entry for each statement. `use_cache`: reuse cached exact runs and looseness, and cache new ones."""
    parameters: dict[str, list[dict[str, Any]]] = {}
    for identifier, numbers in (*theorems(), *lemmas()):
        parameters.setdefault(identifier, []).append(numbers)
    for of, found, origin in track(verdicts, "bounds against exact runs and worst cases"):
        own = is_own(of)
        points = () if found.tightness is None else _points(of, use_cache and own)
        at = parameters.get(of.identifier, []) if own else []
        yield StatementEntry(found, of.paper.short, origin, points, _looseness(of, at, use_cache))


def _points(of: Statement, use_cache: bool) -> tuple[tuple[float, float], ...]:
    def measured() -> list[dict[str, float]]:
        load(of.paper.name)
        tightness = remarks_of(of).tightness
        found = [] if tightness is None else neighbours(tightness, NEIGHBOURS)
        return [{"larger": larger, "smaller": smaller} for larger, smaller in found]

    found = _computed(f"runs-{of.identifier}", POINTS, use_cache, measured)
    return tuple((one["larger"], one["smaller"]) for one in found if one["larger"] > 0)


def _looseness(of: Statement, parameters: list[dict[str, Any]], use_cache: bool) -> tuple[Loose, ...]:
    if not parameters:
        return ()
    name = f"looseness-{of.identifier}"
    found = _computed(
        name, LOOSE, use_cache, lambda: [asdict(_loose(looseness(of, **numbers))) for numbers in parameters]
    )
    return tuple(Loose(**{**one, "row": LoosenessRow(**one["row"])}) for one in found)


def _loose(found: Looseness) -> Loose:
    lower, upper = map(float, found.factor)
    numbers = {name: str(value) for name, value in found.numbers.items()}
    bound = None if found.bound is None else float(found.bound)
    return Loose(row(found), numbers, bound, lower, upper, found.metric == "descent")


def _computed(name: str, shape: Any, use_cache: bool, compute: Callable[[], Any]) -> Any:
    """The cached content of this name and shape, or the computed one; with `use_cache` False the cache is not used."""
    found = cache.load_content(name) if use_cache else None
    if found is None or fault_in(found, shape) is not None:
        found = compute()
        if use_cache:
            cache.store_content(name, found)
    return found
