"""The report's section on reproduced experiments: numbers, claims, choices, and thumbnails of the figures."""

import base64
import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedconvex.display.documents import DocumentBlock, Heading, ItemList, Paragraph
from fedconvex.display.html import Html, html, tag
from fedconvex.errors import InvalidInput
from fedconvex.reproduce.specification import experiments
from fedconvex.reproduce.summary import choices, claims, last_results, number_table, read_summary

PICTURE = "figure.png"
LARGEST_FILE = 20_000_000  # bytes; our figures are far smaller
MOST_PIXELS = 50_000_000  # of a figure
PIXELS, COLOURS = 720, 32  # of a thumbnail: its width and number of colours
ALL_PICTURES = 1_500_000  # bytes of all thumbnails together
NOTHING = (
    "Nothing was run. `fedconvex reproduce all --quick` runs them, `fedconvex report --results reproduced` shows them."
)


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
    return [html([Paragraph(_counts(results) if parts else NOTHING)]), *parts]


def _counts(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The number of claims by verdict, over full runs only: reduced ones decide nothing."""
    full = [result for result in results.values() if not result["quick"]]
    verdicts = Counter(claim["verdict"] for result in full for claim in result["claims"])
    counted = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    said = f"{len(results)} figures and tables, {len(full)} of them run in full. "
    said += f"The claims of these: {counted}. " if counted else ""
    return said + "A reduced run decides nothing." * (len(full) < len(results))


def _experiment(key: str, result: Mapping[str, Any], picture: str | None) -> Html:
    kind = "A reduced run" if result["quick"] else "A full run"
    blocks: list[DocumentBlock] = [Heading(f"`{key}` {result['title']}")]
    blocks.append(Paragraph("", remark=f"{result['source']}. {kind} of {result['date'][:10]}."))
    blocks += [Paragraph(result["note"])] if result["note"] else []
    blocks += [number_table(result)] if result["numbers"] else []
    blocks += [ItemList(claims(result), lead="")] if result["claims"] else []
    parts = [html(blocks)]
    if result["choices"]:
        summary = tag("summary", "What the paper leaves open, and what was chosen")
        parts.append(tag("details", summary, html([ItemList(choices(result))])))
    if picture is not None:
        about = f"The figure of our runs: {result['title']}"
        parts.append(tag("p", tag("img", src=picture, alt=about, loading="lazy")))
    return tag("div", *parts, class_="experiment")


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
