"""A recommendation in words: at most 25 lines of at most 100 columns."""

from math import isfinite, log10
from textwrap import wrap
from typing import TYPE_CHECKING

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.audit.designs.linearised_runs import PLAYED
from fedconvex.audit.designs.round_maps import SEEDS
from fedconvex.audit.intervals import magnitude
from fedconvex.audit.methods import shorthand
from fedconvex.audit.objectives import objective
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.shown import Summary

if TYPE_CHECKING:
    from fedconvex.audit.recommendation_result import Recommendation, RecommendedMethod

UNITS = ("kB", "MB", "GB", "TB", "PB")
WIDTH, LONGEST_NAME = 100, 34


def text(found: "Recommendation", with_objective: bool = True) -> str:
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


def summary_of(found: "Recommendation") -> Summary:
    """The same for a notebook."""
    headings = ("method", "local work", "predicted", "measured", "bytes", "error floor")
    rows = tuple(_cells(entry) for entry in found.ranked)
    limits = (
        f"limited to {limit}: {shorthand(entry.method)}, {_outcome(entry)}" for limit, entry in found.under_limits
    )
    title = f"run {shorthand(found.best.method)} with {found.best.local_work} per round"
    facts = tuple(line.strip().partition(": ")[::2] for line in _numbers(found))
    return Summary(title, facts, headings, rows, (objective(found.problem), found.why, *limits))


def reasons(found: "Recommendation") -> str:
    """Why this method, and what the numbers rest on."""
    best, words = found.best, []
    if found.problem.num_clients == 1:
        words.append("There is one client: solve its problem locally, no federated method is needed.")
    elif found.shared_minimizer:
        words.append("All clients share one minimiser: local work causes no bias, so more of it saves rounds.")
    quadratic = isinstance(found.problem, QuadraticProblem)
    if not best.is_confirmed:
        words.append("The tolerance is predicted, but no run reached it: do not rely on these parameters.")
    elif best.predicted_rounds is None and best.measured_rounds is None:
        limit = "" if found.limits.rounds is None else f" within {found.limits.rounds:,} rounds"
        words.append(f"No method is predicted to reach the tolerance{limit}; this one comes nearest.")
    else:
        words.append(_fewest(found))
    if found.limits.participation is None and not all(entry.is_as_predicted for entry in found.ranked):
        words.append("Runs need other numbers of rounds than predicted: the ranking is by the runs.")
    if found.smallest_mu is not None and not found.shared_minimizer:
        mu = significant(found.smallest_mu, 3, Rounding.NEAREST)
        words.append(f"FedProx needs μ of {mu:f} or more for an error floor below the tolerance.")
    if quadratic:
        words.append("The predictions come from the exact map of one round.")
    else:
        words.append(f"The predictions come from linearised rounds; most begin with {PLAYED} rounds on the problem.")
    return " ".join(words)


def _fewest(found: "Recommendation") -> str:
    """What the first row has the fewest of."""
    best, rows = found.best, found.alternatives
    if found.limits.participation is None:
        return "It sends the fewest bytes until the tolerance is reached."
    predicted = [entry.predicted_rounds for entry in rows if entry.predicted_rounds is not None and entry.is_confirmed]
    seeds = f"the means over the seeds {SEEDS[0]} to {SEEDS[-1]}"
    if best.predicted_rounds is not None and best.predicted_rounds <= min(predicted, default=best.predicted_rounds):
        return f"Its predicted rounds, {seeds}, are the fewest; the measured ones are those of seed 0."
    return f"In its predicted rounds, {seeds}, it sends the fewest vectors; the measured ones are those of seed 0."


def size(number: int | None) -> str:
    """A number of bytes: 1.2 MB."""
    if number is None:
        return "–"
    if number < 1000:
        return f"{number} B"
    power = min(int(log10(number) / 3), len(UNITS))
    return f"{number / 1000**power:.3g} {UNITS[power - 1]}"


def _numbers(found: "Recommendation") -> list[str]:
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


def _line(entry: "RecommendedMethod") -> str:
    name, _, predicted, measured, sent, floor = _cells(entry)
    return f"{name:<{LONGEST_NAME}} {predicted:>11} {measured:>9} {sent:>10}  {floor}"


def _cells(entry: "RecommendedMethod") -> tuple[str, ...]:
    predicted = "not reached" if entry.predicted_rounds is None else f"{entry.predicted_rounds:,}"
    measured = f"{entry.measured_rounds:,}" if entry.measured_rounds is not None else "never" if entry.checked else "–"
    floor = "–" if entry.floor is None else f"{magnitude(entry.floor)} {entry.floor.certainty.value}"
    return shorthand(entry.method), entry.local_work, predicted, measured, size(entry.bytes), floor


def _outcome(entry: "RecommendedMethod") -> str:
    if entry.measured_rounds is not None:
        return f"{entry.measured_rounds:,} rounds measured, {entry.local_work} each (numeric)"
    if entry.predicted_rounds is not None:
        missed = ", which a run did not confirm" if entry.checked else ""
        return f"{entry.predicted_rounds:,} rounds predicted{missed}, {entry.local_work} each (numeric)"
    if not isfinite(entry.relative_gap):
        return "which is not predicted to converge"
    verb = "reaches" if entry.checked else "is predicted to reach"
    return f"which {verb} {entry.relative_gap:.2g} of f(0) − f* (numeric)"
