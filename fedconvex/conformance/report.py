"""The result of a conformance check, as an object, a text for a terminal, a table and a figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.coverage import Coverage
from fedconvex.conformance.diagnosis import Suspects
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.identification.edits import PROPERTIES
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Reference
from fedconvex.shown import ShownResult

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

VERDICTS = {
    "conforms": "the implementation conforms",
    "differs": "the implementation differs from the method",
    "undecided": "undecided whether the implementation conforms",
}
INCOMPARABLE = (findings.COARSE, findings.MISSING_PACKAGE)  # they say nothing against the implementation
UNEVEN = (PROPERTIES["LATE"], PROPERTIES["NORMALISED"])
# the others are the clients' properties
OF_SERVER = [PROPERTIES[name] for name in ("AVERAGE", "PARTICIPANTS", "SERVER_STEP", "SERVER_MEMORY", "NORMALISED")]
OTHER_PART = {"clients": "server", "server": "clients"}
MARKS = {"broken": "BROKEN", "undecided": "?", "holds in part": "part", "holds": "ok", "not visible": "–"}


@final
@dataclass(frozen=True)
class Deviation:
    """Where a run first leaves the exact trajectory; round 0 is the initial model."""

    scenario: str
    round: int
    client: int | None  # None: the server deviates, or the clients' models are not known
    expected: tuple[float, ...]
    found: tuple[float, ...]
    size: float  # the largest error of an entry
    tolerance: float

    def __str__(self) -> str:
        where = f"round {self.round} of '{self.scenario}'"
        who = "the server" if self.client is None else f"client {self.client}"
        return f"{where}: {who} has {_row(self.found)}, exact is {_row(self.expected)} (off by {self.size:.2g})"


@final
@dataclass(frozen=True)
class Property:
    """A defining property of the method: "holds", "holds in part", "broken", "undecided", or "not visible" here."""

    name: str
    status: str
    unseen: tuple[str, ...] = ()  # faults that violate it, but change nothing with these parameters


@final
@dataclass(frozen=True, eq=False)
class Report(ShownResult):
    """The result of `check`.

    `verdict`: "conforms" where every number agrees, there is no other finding, and all that the method prescribes was
    seen; "undecided" where something was not seen (`covered.missing`) or could not be compared; else "differs".
    `passed`: whether it conforms. `covered`: what was compared, a `Coverage`. `diagnosis`: what is wrong,
    each a `ConformanceFinding` with `.name`, `.cure` and `.detail`; the known faults in it together reproduce every
    number, and `.same` has the names of faults that compute the same numbers in every run. `alternatives`: other known
    faults that reproduce them as well; `explanations` has the names of each set of
    faults that does so, that of the diagnosis first. `deviations`: for each scenario that deviates from the exact
    trajectory, the first place.

    That it conforms is evidence, not a proof: `report()` lists the faults that these parameters would not show.
    """

    method: str
    covered: Coverage
    diagnosis: tuple[ConformanceFinding, ...]
    alternatives: tuple[ConformanceFinding, ...]
    deviations: tuple[Deviation, ...]
    notes: tuple[str, ...]  # observations that are not faults
    precision: str
    runs: Sequence[ObservedRun]
    references: Sequence[Reference]
    suspects: Suspects
    broken: frozenset[str]  # the properties that the faults of the diagnosis violate
    explained: bool  # whether all numbers are correct, or reproduced by known faults
    doubtful: frozenset[str] = frozenset()  # the properties that faults with the same numbers violate
    explanations: tuple[tuple[str, ...], ...] = ()  # which nothing but a look into the code can tell apart

    @property
    def verdict(self) -> Literal["conforms", "differs", "undecided"]:
        """The verdict by its name."""
        if any(finding.name not in INCOMPARABLE for finding in self.diagnosis):
            return "differs"
        return "undecided" if self.diagnosis or self.covered.missing else "conforms"

    @property
    def passed(self) -> bool:
        """Whether the implementation conforms; False where that is undecided, too."""
        return self.verdict == "conforms"

    @cached_property
    def properties(self) -> tuple[Property, ...]:
        """The method's defining properties, violated ones first."""
        off = {deviation.scenario for deviation in self.deviations}
        complete = {r.scenario.name for r in self.runs if len(r.points) > len(r.scenario.rounds)}
        fine = frozenset(complete - off)
        seen_in = self.suspects.seen_in
        right = (False, False) if self.explained else self.suspects.right_halves(self.runs)
        by_property: dict[str, list[str]] = {}
        for edit in self.suspects.plain:
            by_property.setdefault(edit.breaks, []).append(edit.name)
        found = []
        for name, edits in by_property.items():
            visible = [edit for edit in edits if seen_in[edit]]
            unseen = tuple(edit for edit in edits if not seen_in[edit])
            # An edit that a scenario shows is excluded by that scenario's numbers: if they are explained without it, or
            # else only if they are right, or all halves of rounds to which it belongs are.
            decisive = complete if self.explained else fine
            if name in self.broken:
                status = "broken"
            elif name in self.doubtful:
                status = "undecided"
            elif not visible:
                status = "not visible"
            elif all(seen_in[edit] & decisive for edit in visible) or right[name in OF_SERVER]:
                # where no client does less work than another, faults of uneven work stay unseen
                status = "holds in part" if unseen and name in UNEVEN else "holds"
            else:
                status = "undecided"
            found.append(Property(name, status, unseen))
        return tuple(sorted(found, key=lambda p: list(MARKS).index(p.status)))

    def report(self) -> str:
        """The report for people: verdict, findings with their cures, first deviations, and the properties."""
        lines = [f"{self.method}: {VERDICTS[self.verdict]} ({self.covered.scope}, {self.precision})"]
        lines += [f"  not covered: {missing}" for missing in self.covered.missing]
        for finding in self.diagnosis:
            lines.append(f"  * {finding.title}")
            lines.append(f"    cure: {finding.cure}")
        others = [names for names in self.explanations[1:] if not covered(self.diagnosis, names)]
        if others:
            lines.append("  these numbers would come just as well from:")
            lines += [f"    - {'; and '.join(names)}" for names in others]
        if self.deviations:
            lines.append("  where runs deviate, the grossest first:")
            lines += [f"    {deviation}" for deviation in self.deviations[:3]]
            if len(self.deviations) > 3:
                lines.append(f"    and on {len(self.deviations) - 3} more problems")
        lines += [f"  [{MARKS[p.status]:^6}] {p.name}" for p in self.properties]
        lines.append(f"  covered: {self.covered}")
        lines += [f"  note: {note}" for note in self.notes]
        if self.suspects.part != "both":
            lines.append(f"  note: the kit simulated the {OTHER_PART[self.suspects.part]}: only the rest was checked")
        elsewhere = self.suspects.beyond_this_part
        unseen = [fault for p in self.properties for fault in p.unseen if fault not in elsewhere]
        if unseen:
            lines.append("  this check would not notice that:")
            lines += [f"    - {fault}" for fault in unseen]
        return "\n".join(lines)

    def issue(self) -> str:
        """A script of at most 25 lines, in NumPy alone, that shows the first deviation: to paste into an issue.

        Raises:
            InvalidInput: no deviation, or a method, loss or local solver that has no short script.
        """
        from fedconvex.conformance.issue import issue_of  # late: few reports need it

        return issue_of(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain lists, strings and numbers, for JSON."""
        return {
            "method": self.method,
            "verdict": self.verdict,
            "passed": self.passed,
            "covered": vars(self.covered),
            "precision": self.precision,
            "diagnosis": [vars(finding) for finding in self.diagnosis],
            "alternatives": [vars(finding) for finding in self.alternatives],
            "explanations": [list(names) for names in self.explanations],
            "deviations": [vars(deviation) for deviation in self.deviations],
            "notes": list(self.notes),
            "properties": [vars(p) for p in self.properties],
        }

    def to_frame(self) -> "pandas.DataFrame":
        """One row per problem and round: problem, round, deviation, tolerance."""
        import pandas

        rows = [
            {"problem": run.scenario.name, "round": t, "deviation": gap, "tolerance": tolerance}
            for run, reference in zip(self.runs, self.references, strict=True)
            for t, (gap, tolerance) in enumerate(zip(gaps(run, reference), self.tolerances(reference), strict=False))
        ]
        return pandas.DataFrame(rows, columns=["problem", "round", "deviation", "tolerance"])

    def figure(self, ax: "Axes | None" = None) -> "Axes":
        """The same as `plot`."""
        return self.plot(ax)

    def tolerances(self, reference: Reference) -> np.ndarray:
        """What rounding explains in the arithmetic of the implementation, after every round."""
        return reference.tolerances(self.suspects.bits)


def covered(findings: Sequence[ConformanceFinding], names: Sequence[str]) -> bool:
    """Whether each finding names one of these faults, itself or as one with the same numbers."""
    counts = [sum(name in (finding.name, *finding.same) for name in names) for finding in findings]
    return len(names) == len(findings) and all(count == 1 for count in counts)


def gaps(run: ObservedRun, reference: Reference) -> np.ndarray:
    """The largest error of an entry of the server's point after every round that was run."""
    points = zip(run.points, reference.points, strict=False)
    return np.array([float(np.abs(found - exact).max()) for found, exact in points])


def _row(values: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.6g}' for value in values)})"


GROSS = 1e-4  # the part of a run's largest deviation that counts as where it begins


def first_deviations(runs: Sequence[ObservedRun], references: Sequence[Reference], bits: int) -> tuple[Deviation, ...]:
    """Where each run leaves the exact trajectory, the largest deviation relative to its tolerance first."""
    found = (first_deviation(run, reference, bits) for run, reference in zip(runs, references, strict=True))
    return grossest_first(deviation for deviation in found if deviation is not None)


def grossest_first(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """The deviations by their sizes relative to their tolerances."""
    return tuple(sorted(deviations, key=lambda deviation: -deviation.size / deviation.tolerance))


def first_deviation(run: ObservedRun, reference: Reference, bits: int) -> Deviation | None:
    """The first gross deviation of a run; within a round clients come before the server."""
    tolerances, found = reference.tolerances(bits), list[Deviation]()
    for t, point in enumerate(run.points):
        pairs: list[tuple[int | None, np.ndarray, np.ndarray]] = []
        if 0 < t <= len(run.clients):
            exact = reference.moments[t - 1].clients
            pairs = [(k, run.clients[t - 1][k], exact[k]) for k in sorted(run.clients[t - 1]) if k in exact]
        for client, seen, expected in [*pairs, (None, point, reference.points[t])]:
            size = float(np.abs(seen - expected).max())
            if not size <= tolerances[t]:  # NaN is a deviation, too
                row, exactly, tolerance = tuple(seen.tolist()), tuple(expected.tolist()), float(tolerances[t])
                found.append(Deviation(reference.scenario.name, t, client, exactly, row, size, tolerance))
    # rounding in single precision may come before a fault that is grosser by far: it is not where to look first
    gross = GROSS * max((deviation.size / deviation.tolerance for deviation in found), default=0.0)
    return next((deviation for deviation in found if not deviation.size / deviation.tolerance < gross), None)
