"""An edit: a change of one step of a method, as a function of what that step has computed, perhaps with a number.

`EVERY_EDIT` is read from `edits.toml`, which says how to write one.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from fedconvex.conformance.identification.formulas import function_of
from fedconvex.conformance.identification.vocabulary import (
    FUNCTIONS,
    UPDATES,
    fact,
    of_memory,
    of_personal,
    of_update,
    shown,
    with_parameters,
)

if TYPE_CHECKING:
    from fedconvex.conformance.setup import Setup

TABLE = tomllib.loads(Path(__file__).with_name("edits.toml").read_text("utf-8"))
PROPERTIES: Mapping[str, str] = TABLE["properties"]  # the methods' defining ones, as the report names them

Applies = Callable[["Setup"], bool]
Hook = Callable[[Any, Any], Any]  # (what the step sees, what it has computed) -> what the edited step computes


@final
@dataclass(frozen=True)
class UnknownNumber:
    """An unknown number of an edit: strictly between `low` and `high`; `neutral` changes nothing.

    `starts`: numbers from small to large, near which those that people choose lie. `first_round`: the only round in
    which the edit can show first; 0: any.
    """

    starts: Sequence[float]
    neutral: float = float("nan")
    low: float = float("-inf")
    high: float = float("inf")
    first_round: int = 0


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Edit:
    """One change of a method's round. `hooks` has a function for each site that differs; see `play` for the sites.

    `draw` changes who takes part and how much each does: (active, efforts, full effort, m) -> (active, efforts).
    `setup` changes the method's parameters; it takes the number, too, where there is one.
    """

    name: str  # a sentence: what the implementation does; {} in the number's place
    cure: str
    breaks: str  # the property that it violates
    applies: Applies
    hooks: Mapping[str, Hook] = field(default_factory=dict)
    draw: Callable[..., Any] | None = None
    setup: Callable[..., "Setup"] | None = None
    number: UnknownNumber | None = None
    value: float | None = None  # of the number, once it is known …
    detail: str = ""  # … and how well it fits
    # A parameter or function defined otherwise than in the paper. The diagnosis names conventions last: a wrong step
    # that fits the numbers as well is the more helpful explanation.
    convention: bool = False
    harmless: bool = False  # a matter of rounding alone, which the report notes and does not count
    late: bool = False  # tried after the others: what one of them does as well, it does not explain
    given: Callable[["Setup"], Any] = lambda setup: None  # a second {} in the name: the number as it should be
    origin: "Edit | None" = None  # the edit of which this is one with a value

    @property
    def base(self) -> "Edit":
        """The edit without its value."""
        return self if self.origin is None else self.origin

    def with_value(self, value: float, setup: "Setup", detail: str = "", digits: int = 6) -> "Edit":
        """The edit with this number."""
        name = self.base.name.format(f"{value:.{digits}g}", self.given(setup))
        return replace(self.base, name=name, value=value, detail=detail, origin=self.base)

    def __str__(self) -> str:
        return self.name


# --- the table of all edits ---

WORDS = {"breaks", "where", "applies", "cure", "number", "draw", "parameters", "solver", "given"}
MARKS = {"convention", "harmless", "late"}


def replaced(part: Any, words: Mapping[str, Any]) -> Any:
    """The part of the table with these entries in place of their words."""
    if isinstance(part, dict):
        return {replaced(key, words): replaced(value, words) for key, value in part.items()}
    if isinstance(part, str):
        for word, entry in words.items():
            part = entry if part == f"<{word}>" else part.replace(f"<{word}>", str(entry))
    return part


def repeated(group: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a group, each with its name, for all entries of its lists."""
    rows = []
    lists = [[dict(zip(one, row, strict=True)) for row in zip(*one.values(), strict=True)] for one in group["for"]]
    of_group = {"breaks", "where", "cure", "for"}
    for chosen in product(*lists):
        for name, given in [one for one in group.items() if one[0] not in of_group]:
            for row in given if isinstance(given, list) else [given]:
                made = {"where": "True", **{key: group[key] for key in ("breaks", "cure") if key in group}, **row}
                made |= {"name": name, "applies": row.get("applies", group["where"])}
                for words in reversed(chosen):  # entries of the last lists have words of the first ones
                    made = replaced(made, words)
                rows.append(made)
    return rows


def edit_of(row: Mapping[str, Any], numbers: Mapping[str, Any]) -> Edit:
    """The edit of a row of the table."""

    def formula(text: str) -> Hook:
        return function_of(text, FUNCTIONS)

    def setup_formula(text: str) -> Callable[["Setup"], Any]:
        of_setup = function_of(text, {}, fact)
        return lambda setup: of_setup(setup, None)

    def shown_as(text: str) -> Callable[["Setup"], str]:
        of_setup = setup_formula(text)
        return lambda setup: shown(of_setup(setup))

    sites = {key: formula(text) for key, text in row.items() if key not in WORDS | MARKS | {"name"}}
    hooks: dict[str, Hook] = {name: of_memory(sites.pop(name)) for name in ("read", "updates") if name in sites}
    changed = {key: sites.pop(key) for key in UPDATES if key in sites}
    if changed:
        hooks["update"] = of_update(changed)
    if personal := {key: sites.pop(key) for key in [*sites] if key.startswith("own_")}:
        hooks["own"] = of_personal(personal)
    number = row.get("number")
    where, applies = setup_formula(row["where"]), setup_formula(row["applies"])
    return Edit(
        name=row["name"],
        cure=row["cure"],
        breaks=PROPERTIES[row["breaks"]],
        applies=lambda setup: bool(applies(setup) and where(setup)),
        hooks={**hooks, **sites},
        draw=FUNCTIONS[row["draw"]] if "draw" in row else None,
        setup=with_parameters(row.get("parameters", {}), row.get("solver", {}))
        if "parameters" in row or "solver" in row
        else None,
        number=None if number is None else UnknownNumber(**(numbers[number] if isinstance(number, str) else number)),
        given=shown_as(row.get("given", "1")),
        **{mark: row[mark] for mark in MARKS if mark in row},
    )


GROUPS = [{"for": (), "where": "True", **group} for group in TABLE["groups"]]
EVERY_EDIT = tuple(edit_of(row, TABLE["numbers"]) for group in GROUPS for row in repeated(group))
