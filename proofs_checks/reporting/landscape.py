"""The field on one page: what is known of each method, under which assumptions, proved or not, and how tight.

A result is a statement of the catalogue that bounds where a round, a run or a fixed point leads; steps of proofs are
left out. What the page says of a result is read off the statement's assumptions, its claim and its recorded verdict.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, parts
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.reporting.recorded import recorded
from fedconvex.proofs_checks.verification import load
from fedconvex.statements import assumptions as known
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.recorded import is_of
from fedconvex.statements.statement import ClaimType, Statement, key_of
from fedconvex.theory import papers

CLASSES = ("strongly convex", "convex", "nonconvex")
EVERYONE, SOME, ALONE = "everyone", "some clients", "one client alone"
ABOUT = ("T rounds", "one round", "fixed point")
BOUNDS = (ClaimType.UPPER, ClaimType.LOWER, ClaimType.TIGHT)
STRONGLY = (known.StronglyConvex, known.StronglyConvexObjective, known.MatchedStepsize)
HETEROGENEITY: dict[type[Assumption], str] = {
    known.Dissimilarity: "bounded dissimilarity B",
    known.DissimilarityAlongTheRun: "bounded dissimilarity B along the run",
    known.BoundedVariance: "bounded variance σ²",
    known.BoundedVarianceEverywhere: "bounded variance σ²",
}
WORK: dict[type[Assumption], str] = {
    known.ExactSolutions: "exact solutions", known.Inexactness: "γ-inexact solutions",
    known.InexactnessOfEach: "γ-inexact solutions", known.ProxError: "solutions with an error of b",
    known.GradientStepsFromCenter: "gradient steps", known.GradientSteps: "gradient steps",
}  # fmt: skip


@final
@dataclass(frozen=True)
class KnownResult:
    """A result on a method, in words."""

    identifier: str
    method: str
    about: str  # one of ABOUT
    clients: str  # one of CLASSES, or "any"
    participation: str
    work: str
    heterogeneity: str  # what is assumed of it; "" for nothing
    source: str
    says: str
    verdict: str
    used: str

    @property
    def needs(self) -> str:
        """What else it assumes, in words."""
        return "; ".join(part for part in (self.work, self.heterogeneity) if part) or "–"


def landscape(keep: Callable[[KnownResult], bool] = lambda result: True) -> list[KnownResult]:
    """All results that are kept, by method, the longest runs and the strongest assumptions first.

    How much of a bound is used is computed for those alone.
    """
    known = recorded()
    found = []
    for paper in papers().values():
        for statement in paper.everything:
            if is_result(statement):
                entry = known.get(statement.identifier, {})
                result = described(statement, entry.get("verdict", "") if is_of(entry, statement) else "not checked")
                found += [(result, statement)] if keep(result) else []
    found.sort(key=lambda pair: _place(pair[0]))
    return [KnownResult(**{**asdict(result), "used": used(statement)}) for result, statement in found]


def _place(result: KnownResult) -> tuple[Any, ...]:
    of_class = CLASSES.index(result.clients) if result.clients in CLASSES else len(CLASSES)
    return result.method.lower(), ABOUT.index(result.about), of_class, result.participation, result.identifier


def is_result(of: Statement) -> bool:
    """Whether it bounds where a round, a run or a fixed point leads, and is a theorem rather than a step of a proof."""
    if of.claim_type not in BOUNDS or of.parts or of.claim is None:
        return False
    is_step = of.number.lower().startswith(("lemma", "equation")) and not of.claim.of_run
    return not is_step and _method(of) != "" and _about(of) != ""


def _about(of: Statement) -> str:
    """What the result is about; "" for quantities inside a round."""
    claim = of.claim
    assert claim is not None
    if claim.of_run:
        return "T rounds"
    if known.AtFixedPoint() in of.every_assumption:
        return "fixed point"
    written_out = any(isinstance(a, known.StepOf) for a in of.every_assumption)
    is_after = written_out or any(_is_after(part) for part in parts(claim.left))
    return "one round" if is_after and not claim.of_client else ""


def _is_after(part: Any) -> bool:
    """Whether the term is a part of the method's state after the round."""
    return type(part) is Vector and part.head in ("server", "memory", "shared") and part.args[-1] == 1


def _method(of: Statement) -> str:
    """The method; "" for a statement about functions alone."""
    return next((a.method for a in of.every_assumption if isinstance(a, known.Runs | known.StepOf)), "")


def described(of: Statement, verdict: str) -> KnownResult:
    """The result, without how much of the bound is used."""
    kinds = {type(a) for a in of.every_assumption}
    clients = (
        "strongly convex" if kinds.intersection(STRONGLY) else "convex" if known.Convex in kinds
        else "nonconvex" if kinds & {known.Smooth, known.SmoothObjective, known.BoundedNegativeCurvature} else "any"
    )  # fmt: skip
    drawn = SOME if kinds & {known.SampledIID, known.SampledUniformly} else EVERYONE
    taking_part = ALONE if known.SingleClient in kinds else drawn
    marks = {"restated": of.restated, "not in the paper": key_of(of.number) in of.paper.ours}
    mark = next((f", {words}" for words, holds in marks.items() if holds), "")
    return KnownResult(
        of.identifier, _method(of), _about(of), clients, taking_part, _first(WORK, kinds) or _steps(of),
        _first(HETEROGENEITY, kinds), of.paper.short, of.words, f"{verdict}{mark}", "",
    )  # fmt: skip


def _first(words: dict[type[Assumption], str], kinds: set[type]) -> str:
    return next((text for kind, text in words.items() if kind in kinds), "")


def _steps(of: Statement) -> str:
    """The number of local steps, for methods that have such."""
    steps = of.setting.method_parameters.get("local_steps")
    if type(steps) is not Number:
        return ""
    if steps.head != "constant":
        return "any number of local steps"
    count = int(steps.args[0])
    return "one local step" if count == 1 else f"{count} local steps"


def used(of: Statement) -> str:
    """The largest part of the bound that is known to be used, in three digits; "" where none is known."""
    load(of.paper.name)
    tightness = remarks_of(of).tightness
    return "" if tightness is None else f"{float(tightness.quotient):.3g}"


def as_text(results: list[KnownResult]) -> str:
    """The results for a terminal, three lines each."""
    lines = []
    for method, some in groupby(results, key=lambda r: r.method):
        lines.append(method)
        for r in some:
            tight = f"; used: {r.used}" if r.used else ""
            lines += [f"  {r.identifier}: {r.about}, {r.clients}, {r.participation}: {r.verdict}{tight}"]
            lines += [f"    {r.says}", *([f"    needs: {r.needs}"] if r.needs != "–" else [])]
        lines.append("")
    return "\n".join(lines).rstrip("\n")
