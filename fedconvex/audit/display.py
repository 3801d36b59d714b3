"""What audits, recommendations and diagnoses look like: tables and sentences for a terminal and a notebook."""

from math import isfinite, log10
from textwrap import wrap
from typing import TYPE_CHECKING

from fedconvex.arithmetic.decimals import at_least, at_most
from fedconvex.audit.figure import draw_audit, draw_rounds, draw_run
from fedconvex.audit.intervals import magnitude
from fedconvex.audit.measure import Audit, MethodAudit
from fedconvex.audit.methods import shorthand
from fedconvex.audit.objectives import objective
from fedconvex.audit.recommendation_result import Recommendation, RecommendedMethod
from fedconvex.audit.run_diagnosis import RunDiagnosis, StuckCause
from fedconvex.certainty import Certainty
from fedconvex.display.documents import TableBlock
from fedconvex.display.text import print_table
from fedconvex.safe_text import one_line
from fedconvex.shown import Summary, decided, drawn, summary_of, text_of

if TYPE_CHECKING:
    from rich.console import Console

HEADINGS = (
    "method", "bias\n‖x − x*‖", "error floor\nf(x) − f*", "\nknown", "\nattracts", "contraction\npredicted",
    "\nmeasured",
)  # fmt: skip
WIDE = 112  # columns of a terminal that fits every column
UNITS = ("kB", "MB", "GB", "TB", "PB")
WIDTH, LONGEST_NAME = 100, 34

drawn.register(Audit)(draw_audit)
drawn.register(Recommendation)(draw_rounds)
drawn.register(RunDiagnosis)(draw_run)


def print_audit(audit: Audit, console: "Console") -> None:
    """Print the problem's constants and a table with one row for each method; narrow terminals get two rows each."""
    from rich.text import Text

    constants, truth = audit.constants, audit.truth
    console.print(Text.assemble((one_line(audit.source), "bold"), f": {audit.problem!r}"))
    console.print(objective(audit.problem), highlight=False, markup=False)
    facts = (
        ("constants", *_bounds(audit)),
        (
            "heterogeneity",
            f"B(0) = {constants.dissimilarity_at_zero:.4g}",
            f"B near x* = {constants.dissimilarity_near_optimum:.4g}",
            f"σ²(x*) = {constants.gradient_variance_at_optimum:.4g}",
        ),
        ("minimiser x*", f"f* = {truth.value:.8g}", f"‖error‖ {at_most(truth.distance_bound, 2)}", _certified(audit)),
    )
    print_table(TableBlock([""] * 4, facts), console)
    if audit.scaling is not None:
        console.print(Text(one_line(str(audit.scaling)), "bold"))
    rows = [(*HEADINGS, f"rounds to relative\nsuboptimality {audit.tolerance:g}"), *map(_row, audit.methods)]
    if console.width < WIDE:
        rows = [(name, *("\n".join(pair) for pair in zip(cells[0:6:2], cells[1:6:2], strict=True)), cells[6])
                for name, *cells in rows]  # fmt: skip
        rows[0] = ("method", "bias\nerror floor", "known\nattracts", "predicted\nmeasured", "rounds")
    console.print()
    print_table(TableBlock(rows[0], rows[1:], len(rows[0]) - 1), console)
    for note in audit.notes:
        console.print(note, highlight=False)
    for method in audit.methods:
        if method.predicted_at == "last round":
            console.print(
                f"{shorthand(method.method)}: contraction predicted at the last round, as the clients' memory at the "
                "fixed point is not known",
                highlight=False,
            )
    console.print()
    recommended = audit.recommendation and text(audit.recommendation, with_objective=False)
    recommended = recommended or "none, since the clients' Hessians do not fit into memory"
    console.print(Text.assemble(("recommendation", "bold"), f": {recommended}"), highlight=False)


def _bounds(audit: Audit) -> tuple[str, str, str]:
    constants = audit.constants
    return f"L {at_most(constants.L, 6)}", f"mu {at_least(constants.mu, 6)}", f"κ {at_most(constants.kappa, 4)}"


def _certified(audit: Audit) -> str:
    return "proved" if audit.truth.certainty is Certainty.ENCLOSED else "no strong convexity"


@summary_of.register(Audit)
def summary(audit: Audit) -> Summary:
    """The problem's constants and one row for each method, with the columns of `print_audit`."""
    truth = audit.truth
    minimiser = f"f* = {truth.value:.8g}, ‖error‖ {at_most(truth.distance_bound, 2)}, {_certified(audit)}"
    headings = ("method", "bias", "floor", "known", "attracts", "contraction", "rounds")
    rows = tuple((*cells[:6], cells[7]) for cells in map(_row, audit.methods))
    notes = (f"rounds to relative suboptimality {audit.tolerance:g}", *audit.notes)
    facts = (("constants", ", ".join(_bounds(audit))), ("minimiser x*", minimiser))
    return Summary(f"{audit.source}: {audit.problem!r}", facts, headings, rows, notes)


def _row(method: MethodAudit) -> tuple[str, ...]:
    converges = decided(method.attracting)
    if method.bias is None or method.floor is None:
        none = "no" if method.is_one_map else "–"
        return shorthand(method.method), "–", "–", "–", none, "–", _rate(method.measured_contraction), method.outcome
    if method.unique is False:
        converges = "no: many"
    return (
        shorthand(method.method),
        magnitude(method.bias),
        magnitude(method.floor),
        method.bias.certainty.value,
        converges,
        _rate(method.predicted_contraction),
        _rate(method.measured_contraction),
        method.outcome,
    )


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.5f}"


@text_of.register(Recommendation)
def text(found: Recommendation, with_objective: bool = True) -> str:
    """The recommendation with its numbers, the alternatives, the reasons, and what to do under limits."""
    best = found.best
    lines = [
        *(wrap(objective(found.problem), WIDTH) if with_objective else ()),
        f"run {shorthand(best.method)} with {best.local_work} per round",
        *_numbers(found),
        "",
        f"{'alternatives':<{LONGEST_NAME}} {'predicted':>11} {'measured':>9} {'bytes':>10}  error floor",
        *map(_line, found.alternatives),
        "",
        *wrap(found.why, WIDTH),
    ]
    for limit, entry in found.under_limits:
        lines += wrap(f"limited to {limit}: {shorthand(entry.method)}, {_outcome(entry)}", WIDTH)
    return "\n".join(line[:WIDTH] for line in lines)


def size(number: int | None) -> str:
    """A number of bytes: 1.2 MB."""
    if number is None:
        return "–"
    if number < 1000:
        return f"{number} B"
    power = min(int(log10(number) / 3), len(UNITS))
    return f"{number / 1000**power:.3g} {UNITS[power - 1]}"


def _numbers(found: Recommendation) -> list[str]:
    best = found.best
    rounds = "not predicted" if best.predicted_rounds is None else f"{best.predicted_rounds:,} predicted"
    if best.checked:
        measured = "not reached in the run" if best.measured_rounds is None else f"{best.measured_rounds:,} measured"
        rounds = f"{rounds}, {measured}"
    lines = [f"  rounds to relative suboptimality {found.tolerance:g}: {rounds} (numeric)"]
    if best.bytes is not None:
        which = "predicted" if best.measured_rounds is None else "measured"
        lines.append(f"  bytes to and from all clients: {size(best.bytes)} (exact, for the {which} rounds)")
    if best.bias is not None and best.floor is not None:
        lines.append(f"  bias: {magnitude(best.bias)} of ‖x*‖ ({best.bias.certainty.value})")
        lines.append(f"  error floor: {magnitude(best.floor)} of f(0) − f* ({best.floor.certainty.value})")
    return lines


def _line(entry: RecommendedMethod) -> str:
    name, _, predicted, measured, sent, floor = _cells(entry)
    return f"{name:<{LONGEST_NAME}} {predicted:>11} {measured:>9} {sent:>10}  {floor}"


def _cells(entry: RecommendedMethod) -> tuple[str, ...]:
    predicted = "not reached" if entry.predicted_rounds is None else f"{entry.predicted_rounds:,}"
    measured = f"{entry.measured_rounds:,}" if entry.measured_rounds is not None else "never" if entry.checked else "–"
    floor = "–" if entry.floor is None else f"{magnitude(entry.floor)} {entry.floor.certainty.value}"
    return shorthand(entry.method), entry.local_work, predicted, measured, size(entry.bytes), floor


def _outcome(entry: RecommendedMethod) -> str:
    if entry.measured_rounds is not None:
        return f"{entry.measured_rounds:,} rounds measured, {entry.local_work} each (numeric)"
    if entry.predicted_rounds is not None:
        missed = ", which a run did not confirm" if entry.checked else ""
        return f"{entry.predicted_rounds:,} rounds predicted{missed}, {entry.local_work} each (numeric)"
    if not isfinite(entry.relative_gap):
        return "which is not predicted to converge"
    verb = "reaches" if entry.checked else "is predicted to reach"
    return f"which {verb} {entry.relative_gap:.2g} of f(0) − f* (numeric)"


@summary_of.register(Recommendation)
def summary_of_recommendation(found: Recommendation) -> Summary:
    """The recommended method, its alternatives, the reasons, and what to do under limits."""
    headings = ("method", "local work", "predicted", "measured", "bytes", "error floor")
    rows = tuple(_cells(entry) for entry in found.ranked)
    limits = (
        f"limited to {limit}: {shorthand(entry.method)}, {_outcome(entry)}" for limit, entry in found.under_limits
    )
    title = f"run {shorthand(found.best.method)} with {found.best.local_work} per round"
    facts = tuple(line.strip().partition(": ")[::2] for line in _numbers(found))
    return Summary(title, facts, headings, rows, (objective(found.problem), found.why, *limits))


@summary_of.register(RunDiagnosis)
def summary_of_diagnosis(found: RunDiagnosis) -> Summary:
    """The causes with their numbers, evidence and cures."""
    rows = tuple((one.cause, one.quantity.rstrip(":"), f"{one.number:.4g}") for one in found.causes)
    words = (f"{one.cause}: {kind}: {words}" for one in found.causes for kind, words in _words(one))
    headings = ("cause", "quantity", "number (numeric)")
    return Summary(_title(found.causes[0]), (), headings, rows, (*words, objective(found.problem)))


@text_of.register(RunDiagnosis)
def text_of_diagnosis(found: RunDiagnosis) -> str:
    """The causes, each with its evidence and cure, and the objective."""
    lines = []
    for one in found.causes:
        lines += [_title(one)]
        for kind, words in _words(one):
            lines += wrap(f"{kind}: {words}", WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
    return "\n".join([*lines, *wrap(objective(found.problem), WIDTH - 2)])


def _title(found: StuckCause) -> str:
    return f"{found.cause}: {found.quantity} {found.number:.4g} (numeric)"


def _words(found: StuckCause) -> tuple[tuple[str, str], ...]:
    return ("evidence", found.evidence), ("cure", found.cure)
