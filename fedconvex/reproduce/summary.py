"""The summary of an experiment, as JSON and as tables: published numbers beside ours, and verdicts on the claims."""

import datetime
import json
import math
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from fedconvex.arithmetic.processor import processor
from fedconvex.atomic_files import write_atomically
from fedconvex.display.documents import Paragraph, TableBlock
from fedconvex.errors import InvalidInput
from fedconvex.expressions import Truth, evaluate, parsed
from fedconvex.json_files import fault_in, read_json
from fedconvex.reproduce.execution import seeds
from fedconvex.reproduce.metrics import ExperimentMetrics
from fedconvex.reproduce.specification import Experiment
from fedconvex.safe_text import markdown_table

PACKAGED = Path(__file__).parent / "results"  # summaries of the last full runs, shipped with the package
NAME = "summary.json"
FILES = (NAME, "figure.png", "figure.svg")  # of an experiment's folder
COLUMNS = ("published", "released", "ours", "theory")  # released: the authors' code on their data
REPRODUCED, CONTRADICTED, NOT_TESTABLE = "reproduced", "contradicted", "not testable here"
LARGEST_FILE = 5_000_000  # bytes of a summary
NUMBER = (None, float, str)
SHAPE = {
    "title": str, "source": str, "quick": bool, "note": str, "date": str,
    "numbers": [{
        "what": str, "why": str, "agrees": (None, bool), "within?": (None, float), "range?": [NUMBER],
        **dict.fromkeys(COLUMNS, NUMBER),
    }],
    "claims": [{
        "claim": str, "source": str, "note": str, "number": str,
        "verdict": frozenset({REPRODUCED, CONTRADICTED, NOT_TESTABLE}),
    }],
    "choices": [{"open": str, "choice": str, "alternatives": str, "effect": {str: NUMBER}}],
}  # fmt: skip


def summarise(measured: ExperimentMetrics | None, experiment: Experiment) -> dict[str, Any]:
    """The content of summary.json: numbers, claims and choices, with date, processor and versions."""
    return {
        "id": experiment.id, "title": experiment.title, "source": experiment.source, "quick": experiment.quick,
        "note": experiment.note, "seeds": len(seeds(experiment)),
        "numbers": [] if measured is None else [_number(row, measured) for row in experiment.numbers],
        "claims": [_claim(i, claim, measured, experiment) for i, claim in enumerate(experiment.claims)],
        "choices": [_choice(i, choice, measured, experiment) for i, choice in enumerate(experiment.choices)],
        **_machine(),
    }  # fmt: skip


def check(experiment: Experiment, measured: ExperimentMetrics) -> None:
    """Raises InvalidInput for a formula that cannot be read; call it before the runs, which take long."""
    names = measured.names()
    formulas = [
        (f"{section}[{i}].{key}", entry[key], entry.get("each", entry.get("given", {})))
        for section, keys in (("numbers", ("ours", "theory", "released")), ("claims", ("holds",)))
        for i, entry in enumerate(getattr(experiment, section)) for key in keys if key in entry
    ]  # fmt: skip
    formulas += [
        (f"choices[{i}].effect", text, entry.get("each", {}))
        for i, entry in enumerate(experiment.choices) for text in entry.get("effect", {}).values()
    ]  # fmt: skip
    for place, text, each in formulas:
        parsed(text, names | dict.fromkeys(each), f"{experiment.id}: {place}")


def _number(row: Mapping[str, Any], measured: ExperimentMetrics) -> dict[str, Any]:
    found: dict[str, Any] = {
        "what": row["what"],
        "source": row.get("source", ""),
        "published": None if measured.experiment.note else row.get("published"),
    }
    for key in ("ours", "released", "theory"):
        found[key] = _finite(measured.number(row, key)) if key in row else None
    if len(seeds(measured.experiment)) > 1:
        of_seeds = [measured.of_seed(seed).number(row, "ours") for seed in seeds(measured.experiment)]
        if min(of_seeds) < max(of_seeds):
            found["range"] = [_finite(min(of_seeds)), _finite(max(of_seeds))]
    ours, published = found["ours"], found["published"]  # ours is a text if the level was not reached
    found["why"] = row.get("why", "")
    found["agrees"] = None
    # quick runs have other data or fewer rounds: their numbers are not compared
    if isinstance(published, int | float) and "within" in row and not measured.experiment.quick:
        ratio = ours / published if isinstance(ours, float) else math.inf
        found["agrees"] = 1 / row["within"] <= ratio <= row["within"]
        found["within"] = row["within"]
    return found


def _claim(
    i: int, claim: Mapping[str, Any], measured: ExperimentMetrics | None, experiment: Experiment
) -> dict[str, Any]:
    found = {"claim": claim["claim"], "source": claim["source"], "note": claim.get("note", "")}
    if "not_testable" in claim or measured is None:
        why = claim.get("not_testable", "was not run")
        return found | {"verdict": NOT_TESTABLE, "cases": [], "number": why}
    where = f"{experiment.id}: claims[{i}].holds"
    cases: list[dict[str, Any]] = []
    for label, names in _each(claim.get("each", {})):
        truth = evaluate(claim["holds"], measured.names() | names, where)
        if not isinstance(truth, Truth):
            raise InvalidInput(where, claim["holds"], "compares nothing", "write a comparison, such as a < b")
        # Compared within each draw: medians over draws that differ more than the methods do would hide an order.
        single = [evaluate(claim["holds"], measured.of_seed(s).names() | names, where) for s in seeds(experiment)]
        known, agree = sum(one.known for one in single), sum(map(bool, single))
        shown, half = truth.shown, len(single) / 2
        holds = True if agree > half else False if known - agree >= half else None
        if any(one.shown != shown for one in single):
            shown += f" (in {agree} of {len(single)} draws)"
        cases.append({"case": label, "holds": holds, "number": shown})
    decided = [case["holds"] for case in cases if case["holds"] is not None]
    verdict = _verdict(decided, len(cases) if claim.get("most") else None)
    word = {True: "", False: ", no", None: ", not known: not reached, or files are not given"}
    texts = [f"{case['case']}: {case['number']}{word[case['holds']]}".removeprefix(": ") for case in cases]
    number = texts[0] if len(texts) == 1 else f"{sum(decided)} of {len(cases)} cases: {'; '.join(texts)}"
    return found | {"verdict": verdict, "cases": cases, "number": number}


def _verdict(known: Sequence[bool], most_of: int | None) -> str:
    """The verdict on a claim: all known cases must hold; with `most_of`, more than half of that number of cases."""
    if most_of is None:
        return NOT_TESTABLE if not known else REPRODUCED if all(known) else CONTRADICTED
    if sum(known) > most_of / 2:
        return REPRODUCED
    return CONTRADICTED if known.count(False) >= most_of / 2 else NOT_TESTABLE


def _each(entries: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Every combination of the entries' values: its label, and the value of each name."""
    for values in product(*entries.values()):
        yield ", ".join(map(str, values)), dict(zip(entries, values, strict=True))


def _choice(
    i: int, choice: Mapping[str, Any], measured: ExperimentMetrics | None, experiment: Experiment
) -> dict[str, Any]:
    effect = {} if measured is None else {
        ", ".join(filter(None, (case, label))): _finite(
            float(evaluate(text, measured.names() | names, f"{experiment.id}: choices[{i}].effect"))
        )
        for label, text in choice.get("effect", {}).items() for case, names in _each(choice.get("each", {}))
    }  # fmt: skip
    return {"open": choice["open"], "choice": choice["choice"], "alternatives": choice.get("alternatives", ""),
            "effect": effect}  # fmt: skip


def _finite(value: float) -> float | str | None:
    """The number for JSON, which has neither infinity nor NaN."""
    return value if math.isfinite(value) else None if math.isnan(value) else "not reached"


def _machine() -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "versions": {"fedconvex": version("fedconvex"), "numpy": version("numpy"), "python": platform.python_version()},
    }


def save(summary: Mapping[str, Any], folder: Path) -> Path:
    """Writes summary.json."""
    file = folder / NAME
    write_atomically(file, (json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
    return file


def last_results(
    known: Mapping[str, Experiment], out: Path, argument: str = "--out", *, own_first: bool = False
) -> dict[str, dict[str, Any]]:
    """The last summary of each experiment: from full runs in `out`, else from the package, else from quick runs.

    Args:
        argument: the name of the argument `out` in errors.
        own_first: prefer quick runs in `out` to the package's, too.

    Raises:
        InvalidInput: a file is not JSON, or no summary.
    """
    found = {}
    for key in known:
        own, quick, packaged = out / key / NAME, out / "quick" / key / NAME, PACKAGED / f"{key}.json"
        places = (own, quick, packaged) if own_first else (own, packaged, quick)
        if (file := next((place for place in places if place.is_file()), None)) is not None:
            found[key] = read_summary(file, argument)
    return found


def read_summary(file: Path, argument: str) -> dict[str, Any]:
    """The content of a summary.json. Raises InvalidInput for a file that is none."""
    cure = "delete it and run fedconvex reproduce again"
    try:
        found: dict[str, Any] = read_json(file, LARGEST_FILE)
    except OSError as error:
        raise InvalidInput(argument, file, f"cannot be read ({error.strerror})", cure) from None
    except ValueError as error:
        raise InvalidInput(argument, file, f"is no JSON: {error}", cure) from None
    if (fault := fault_in(found, SHAPE)) is not None:
        raise InvalidInput(argument, file, f"is no result of an experiment: {fault}", cure)
    return found


def shown(value: Any) -> str:
    """A number for people: thousands separated, small ones with three digits, – for none."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def number_table(result: Mapping[str, Any]) -> TableBlock:
    """The numbers of a result; ours with the range over its seeds, and whether they agree with the published ones."""
    headings = ("what", "published", "released code", "ours", "theory", "agrees")
    return TableBlock(headings, [_row(row) for row in result["numbers"]], 5)


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    texts = {name: shown(row[name]) for name in COLUMNS}
    if "range" in row:
        texts["ours"] += f" ({' to '.join(map(shown, row['range']))})"
    return row["what"], *texts.values(), agreement(row)


def agreement(row: Mapping[str, Any]) -> str:
    """Whether our number agrees with the published one, and the tolerance with its reason.

    No cause of a disagreement is given: nothing in the summary says which runs would have shown it.
    """
    if row["agrees"] is None:
        return ""
    tolerance = f"× {row.get('within')}" + (f" ({row['why']})" if row["why"] else "")
    return f"within {tolerance}" if row["agrees"] else f"no, not explained; the tolerance is {tolerance}"


def claims(result: Mapping[str, Any]) -> list[list[Paragraph]]:
    """The papers' claims with verdicts, each with its number and a note."""
    return [
        [Paragraph(f"{one['claim']} ({one['source']})", verdict=one["verdict"]),
         *(Paragraph("", remark=text) for text in (str(one["number"]), one["note"]) if text)]
        for one in result["claims"]
    ]  # fmt: skip


def choices(result: Mapping[str, Any]) -> list[str]:
    """What the paper leaves open, what was chosen, and what it changes."""
    return [
        f"{one['open']}: {one['choice']}."
        + (f" Others: {one['alternatives']}." if one["alternatives"] else "")
        + "".join(f" {label}: {shown(value)}." for label, value in one["effect"].items())
        for one in result["choices"]
    ]


def markdown(results: Mapping[str, Mapping[str, Any]]) -> str:
    """All numbers, claims and choices as Markdown: three tables."""
    numbers, verdicts, chosen = list[Any](), list[Any](), list[Any]()
    for key, result in results.items():
        kind = f"`{key}`" + (" (quick)" if result["quick"] else "")
        table = number_table(result)
        numbers += [(kind, *row) for row in table.rows]
        for first, *others in claims(result):
            verdicts.append((kind, first.text, f"**{first.verdict}**", ". ".join(one.remark for one in others)))
        for one in result["choices"]:
            effect = "; ".join(f"{label}: {shown(value)}" for label, value in one["effect"].items())
            chosen.append((kind, one["open"], one["choice"], one["alternatives"], effect))
    heads = number_table({"numbers": []}).headings
    return "\n".join(
        (
            markdown_table(("", *heads), numbers),
            markdown_table(("", "claim", "verdict", "number"), verdicts),
            markdown_table(("", "left open", "chosen", "otherwise", "what it changes"), chosen),
        )
    )
