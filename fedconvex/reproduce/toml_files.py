"""Reading the experiments' TOML files: inheritance between files, and errors that name file and key.

`like = "table2_mnist_10"` inherits from that file of the same folder what this file does not define. Tables are merged
key by key; `data`, `methods`, `quick` and the rows of a published table are replaced as a whole.
"""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.json_files import fault_in

SCALAR = (str, bool, float)
PARTS = {str: ([SCALAR], SCALAR)}  # a table such as {name = "SGD", epochs = 1}, or a grid's lists
SECTION = {str: ([SCALAR], PARTS, SCALAR)}
ENTRIES = ([str], {str: SECTION})  # in place of a table a list selects among inherited entries
EACH = {str: ([str], str)}
LEVELS = ([float], {str: [float]})
FIGURE = {
    "kind?": str, "y?": [str], "log?": bool, "floors?": bool, "level?": float, "x?": str, "panels?": [str],
    "levels?": LEVELS, "official?": {str: {str: str}},
}  # fmt: skip
RUN = {
    "rounds?": int, "seeds?": int, "every?": int, "test?": float, "ridge?": float, "zero?": bool,
    "measure?": ([str], str),
    **dict.fromkeys(("weights?", "evaluate?", "until?", "loss?", "dtype?", "device?"), str),
    **dict.fromkeys(("participation?", "local_solver?", "stragglers?", "model?"), PARTS),
}  # fmt: skip
METHODS = ([str], {str: {
    "name?": str, "grid?": {str: [SCALAR]}, "only?": [str], "rounds?": int, "line?": str, "panel?": str,
    **dict.fromkeys(("participation?", "local_solver?", "stragglers?"), PARTS),
}})  # fmt: skip
DATA = ([str], {str: {"name?": str, "grid?": {str: [SCALAR]}, "options?": {str: SCALAR}, "folder?": str}})
PUBLISHED_ROW = [(str, float)]
SHAPE: Any = {
    **dict.fromkeys(("id?", "title?", "source?", "about?", "runner?", "like?"), str),
    "seconds?": float, "quick_seconds?": float, "also?": [str], "needs?": [str],
    "run?": RUN, "data?": DATA, "methods?": METHODS, "figure?": FIGURE,
    "quick?": {
        "run?": RUN, "data?": DATA, "methods?": METHODS, "figure?": FIGURE, "digits?": int, "needs?": [str],
        "note?": str,
    },
    "numbers?": [{
        **dict.fromkeys(("what?", "ours?", "theory?", "released?", "source?", "why?"), str),
        "published?": (str, float), "within?": float, "given?": {str: SCALAR},
    }],
    "claims?": [{
        **dict.fromkeys(("claim?", "source?", "holds?", "note?", "not_testable?"), str), "most?": bool, "each?": EACH,
    }],
    "choices?": [{**dict.fromkeys(("open?", "choice?", "alternatives?"), str), "effect?": {str: str}, "each?": EACH}],
    "published?": {
        "methods?": [str], "rows?": {str: (PUBLISHED_ROW, {str: PUBLISHED_ROW})}, "within?": float,
        **dict.fromkeys(("ours?", "source?", "why?"), str),
    },
}  # fmt: skip
# What the keys above do not name, such as a method's parameters: no list in a list, no date.
GENERAL: Any = {"run?": SECTION, "data?": ENTRIES, "methods?": ENTRIES}
GENERAL |= {"quick?": dict(GENERAL)}


OWN = ("id", "title", "source", "seconds", "quick_seconds")  # never inherited: every file defines them
WHOLE = ("data", "methods", "rows", "quick")

Section = Mapping[str, Any]


def content_of(file: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The file's content, with what it inherits. Raises InvalidInput.

    seen: the files that inherit from this one, to find cycles.
    """
    content = _parsed(file)
    if "like" not in content:
        return content
    for key in OWN:
        if key not in content:
            raise wrong(file, key, None, "is missing: a file does not inherit it", "add it")
    name = content.pop("like")
    model = file.with_name(f"{name}.toml")
    if not model.is_file():
        raise wrong(file, "like", name, "is no file of this folder", "give a file's name without .toml")
    if model in (file, *seen):
        raise wrong(file, "like", name, "leads back to this file", "let one of them stand by itself")
    base = content_of(model, (file, *seen))
    base.pop("also", None)
    return merged(base, content, WHOLE)


def _parsed(file: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except RecursionError:
        raise InvalidInput(str(file), "", "is nested too deeply", "use fewer nested tables and lists") from None
    except ValueError as error:  # also that of text that is not UTF-8, and of integers of thousands of digits
        raise InvalidInput(str(file), "", f"is not TOML: {error}", "correct the TOML there") from None
    for shape in (SHAPE, GENERAL):
        if (fault := fault_in(content, shape)) is not None:
            raise InvalidInput("experiment", file, fault, "see the package's own experiments for what a key may be")
    return content


def merged(whole: Section, changes: Section, replaced: tuple[str, ...] = ()) -> dict[str, Any]:
    """The tables merged key by key: `changes` take precedence.

    A list of labels in place of `data` or `methods` selects among the entries of `whole`. An entry with a `name` is
    another object than the one it overrides, and replaces it: their keys do not belong together.

    replaced: keys of tables that `changes` replaces as a whole.
    """
    result = deepcopy(dict(whole))
    for key, value in changes.items():
        before = result.get(key)
        if key in ("data", "methods") and isinstance(value, list):
            result[key] = {label: entry for label, entry in result[key].items() if label in value}
        elif isinstance(value, Mapping) and isinstance(before, Mapping) and "name" not in value:
            result[key] = value if key in replaced else merged(before, value, replaced)
        else:
            result[key] = value
    return result


def require_known(file: Path, place: str, entry: Any, known: Any) -> None:
    """Raises InvalidInput unless `entry` is a table with known keys; the error suggests the nearest known key."""
    if not isinstance(entry, Mapping):
        raise wrong(file, place, entry, "is no table", f"write [{place}] and its keys below it")
    for key in entry:
        if key not in known:
            near = get_close_matches(key, list(known), n=1)
            guess = f"did you mean {near[0]}? " if near else ""
            raise wrong(
                file, f"{place}.{key}".lstrip("."), entry[key], "is unknown", guess + f"known: {', '.join(known)}"
            )


def wrong(file: Path, key: str, value: Any, problem: str, cure: str) -> InvalidInput:
    """The error that names the file and the key."""
    return InvalidInput(f"{file.parent.name}/{file.name}: {key}", value, problem, cure)
