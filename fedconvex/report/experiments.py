"""The report's section on reproduced experiments: numbers, claims, choices, and thumbnails of the figures."""

import base64
import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.reporting.markup import Html, mixed, table, tag
from fedconvex.reproduce.specification import experiments
from fedconvex.reproduce.summary import agreement, columns, last_results, read_summary, shown

PICTURE = "figure.png"
LARGEST_FILE = 20_000_000  # bytes; our figures are far smaller
MOST_PIXELS = 50_000_000  # of a figure
PIXELS, COLOURS = 720, 32  # of a thumbnail: its width and number of colours
ALL_PICTURES = 1_500_000  # bytes of all thumbnails together
NOTHING = ("Nothing was run. ", tag("code", "fedconvex reproduce all --quick"), " runs them, ",
           tag("code", "fedconvex report --results reproduced"), " shows them.")  # fmt: skip
HEADINGS = ("published", "released code", "ours", "theory", "")
CLASSES = {"reproduced": "proved", "contradicted": "refuted"}


def load(folder: Path | None) -> dict[str, dict[str, Any]]:
    """The last result of each experiment: the folder's, full runs first, else the one that the package ships.

    Raises InvalidInput for a folder that does not exist or has no results, and for a file that is not a result.
    """
    if folder is not None and not folder.is_dir():
        raise InvalidInput("--results", folder, "is no folder", "name the folder that fedconvex reproduce wrote")
    if folder is not None and not any(folder.glob("**/summary.json")):
        cure = f"run fedconvex reproduce all --quick --out {folder}"
        raise InvalidInput("--results", folder, "holds no results", cure)
    return last_results(experiments(), Path() / ".none" if folder is None else folder, "--results", own_first=True)


def section(results: Mapping[str, Mapping[str, Any]], folder: Path | None) -> list[Html]:
    """One part for each result; without any, the command that runs them."""
    left = ALL_PICTURES
    parts = []
    for key, result in results.items():
        picture = None if folder is None else _picture(folder, key, result)
        left -= 0 if picture is None else len(picture)  # beyond the limit results are shown without their figure
        parts.append(_experiment(key, result, picture if left >= 0 else None))
    return [_counts(results), *parts] if parts else [tag("p", *NOTHING)]


def _counts(results: Mapping[str, Mapping[str, Any]]) -> Html:
    """The number of claims by verdict, over full runs only: reduced ones decide nothing."""
    full = [result for result in results.values() if not result["quick"]]
    verdicts = Counter(claim["verdict"] for result in full for claim in result["claims"])
    counted = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    said = f"{len(results)} figures and tables, {len(full)} of them run in full. "
    said += f"The claims of these: {counted}. " if counted else ""
    return tag("p", said + "A reduced run decides nothing." * (len(full) < len(results)))


def _experiment(key: str, result: Mapping[str, Any], picture: str | None) -> Html:
    kind = "a reduced run" if result["quick"] else "a full run"
    parts = [
        tag("h3", tag("code", key), f" {result['title']}", id=f"reproduced-{key}"),
        tag("p", f"{result['source']}. {kind.capitalize()} of {result['date'][:10]}.", class_="small"),
    ]
    if result["note"]:
        parts.append(tag("p", mixed(result["note"])))
    if result["numbers"]:
        parts.append(table([""], map(_number, result["numbers"]), HEADINGS))
    if result["claims"]:
        parts.append(tag("ul", *map(_claim, result["claims"]), class_="claims"))
    if result["choices"]:
        parts.append(_choices(result["choices"]))
    if picture is not None:
        parts.append(
            tag("p", tag("img", src=picture, alt=f"The figure of our runs: {result['title']}", loading="lazy"))
        )
    return tag("div", *parts, class_="experiment")


def _number(row: Mapping[str, Any]) -> Html:
    numbers = (tag("td", text, class_="number") for text in columns(row))
    return tag("tr", tag("td", row["what"]), *numbers, tag("td", agreement(row), class_="small"))


def _claim(claim: Mapping[str, Any]) -> Html:
    verdict = tag("span", claim["verdict"], class_=f"verdict {CLASSES.get(claim['verdict'], 'unknown')}")
    parts = [verdict, f" {claim['claim']} ", tag("span", f"({claim['source']})", class_="small")]
    parts += [tag("br"), tag("span", str(claim["number"]), class_="small")]
    parts += [tag("br"), tag("span", claim["note"], class_="small")] if claim["note"] else []
    return tag("li", *parts)


def _choices(choices: list[Mapping[str, Any]]) -> Html:
    items = []
    for one in choices:
        said = f"{one['open']}: {one['choice']}."
        said += f" Others: {one['alternatives']}." if one["alternatives"] else ""
        said += "".join(f" {label}: {shown(value)}." for label, value in one["effect"].items())
        items.append(tag("li", said))
    return tag("details", tag("summary", "What the paper leaves open, and what was chosen"), tag("ul", *items))


def _picture(folder: Path, key: str, result: Mapping[str, Any]) -> str | None:
    """The figure as a data URI, if it was drawn from this very result; a later run may have replaced either."""
    for place in (folder / key, folder / "quick" / key):
        file, summary = place / PICTURE, place / "summary.json"
        if file.is_file() and summary.is_file() and read_summary(summary, "--results") == result:
            return _thumbnail(file)
    return None


def _thumbnail(file: Path) -> str:
    """The figure reduced in size and colours, as a data URI. Raises InvalidInput for a file that is not a PNG."""
    from PIL import Image

    try:
        if file.stat().st_size > LARGEST_FILE:
            raise ValueError("it is too large")
        # only PNG: Pillow's other decoders would widen what a crafted file can reach
        with Image.open(file, formats=["PNG"]) as picture:
            if picture.width * picture.height > MOST_PIXELS:  # before they take memory: the header says how many
                raise ValueError(f"it has {picture.width} × {picture.height} pixels")
            picture.load()
            made = picture.convert("RGB")
    except Exception as error:  # on damaged bytes the decoder raises nearly any exception
        raise InvalidInput(
            "--results", file, f"is no picture: {error}", "delete it and run fedconvex reproduce again"
        ) from None
    made.thumbnail((PIXELS, 2 * PIXELS))
    file_in_memory = io.BytesIO()
    made.quantize(COLOURS).save(file_in_memory, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file_in_memory.getvalue()).decode()
