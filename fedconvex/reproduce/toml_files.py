"""TOML files as they are written: read, completed by the file that they are like, and what is wrong with them.

`like = "table2_mnist_10"`: all is as in that file of the same folder, but for what is said here. Tables are merged key
by key; `data`, `methods`, `quick` and the rows of a published table are replaced as a whole.
"""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fedconvex.errors import InvalidInput

OWN = ("id", "title", "source", "seconds", "quick_seconds")  # what a file that is like another one says itself
WHOLE = ("data", "methods", "rows", "quick")

Section = Mapping[str, Any]


def content_of(file: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The file's content, completed by that of the file that it is like. Raises InvalidInput.

    seen: the files that are like this one.
    """
    content = _parsed(file)
    if "like" not in content:
        return content
    for key in OWN:
        if key not in content:
            raise wrong(file, key, None, "is missing: it is not taken from the file that this one is like", "add it")
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
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(str(file), "", f"is no TOML: {error}", "repair it") from None


def merged(whole: Section, changes: Section, replaced: tuple[str, ...] = ()) -> dict[str, Any]:
    """`changes` take precedence; a list of labels chooses among entries; an entry with a name takes another's place.

    replaced: the keys of tables that are not merged.
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
    """Raises InvalidInput for what is no table and for keys that are not known, with the nearest one that is."""
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
