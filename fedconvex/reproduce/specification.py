"""The specification of an experiment: its TOML file, checked completely before anything runs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, final

from fedconvex.errors import InvalidInput
from fedconvex.reproduce.toml_files import Section, content_of, merged, require_known, wrong

# Published tables in the experiments' files: a row for each accuracy of each data set, a column for each method.
#
# [published]
# methods = ["FedDyn", "SCAFFOLD"]
# source = "Table 2"
#
# [published.rows]
# IID = { "98.2" = [100, 142], "97.2" = [31, 52] }  # accuracy in per cent = models sent until it is reached

PUBLISHED = ("methods", "rows", "ours", "source", "within", "why")
OURS = "models(which, data, method)"


class PublishedRow(NamedTuple):
    """One row of a published table."""

    data: str
    which: int  # the position of the row's accuracy among those of its data
    label: str  # "98.2"; empty if the data have one accuracy, which the table does not name
    values: Sequence[Any]


def rows_of(published: Section) -> list[PublishedRow]:
    """All rows, in the file's order."""
    return [
        PublishedRow(data, i, label, values)
        for data, by_level in published["rows"].items()
        for i, (label, values) in enumerate((by_level if isinstance(by_level, Mapping) else {"": by_level}).items())
    ]


def require_table(file: Path, published: Section, data: Section) -> None:
    """Raises InvalidInput unless every row has a value for each method, a known data label and a valid accuracy."""
    require_known(file, "published", published, PUBLISHED)
    for key in ("methods", "rows", "source"):
        if key not in published:
            raise wrong(file, f"published.{key}", None, "is missing", "add it")
    if not isinstance(published["rows"], Mapping):
        raise wrong(file, "published.rows", published["rows"], "is no table", "write [published.rows]")
    for row in rows_of(published):
        place = f"published.rows.{row.data}" + (f".{row.label}" if row.label else "")
        if row.data not in data:
            raise wrong(file, place, row.data, "is no data of this file", "correct the label")
        if not isinstance(row.values, list) or len(row.values) != len(published["methods"]):
            columns = ", ".join(published["methods"])
            raise wrong(file, place, row.values, "is not one value per method", f"give those of {columns}")
        if row.label and not re.fullmatch(r"\d+(\.\d+)?", row.label):
            raise wrong(file, place, row.label, "is no level in per cent", 'write such as "98.2"')


def levels_of(published: Section) -> dict[str, list[float]]:
    """The accuracies of the rows, by data label, as fractions of 1."""
    found: dict[str, list[float]] = {}
    for row in rows_of(published):
        if row.label:
            found.setdefault(row.data, []).append(float(f"{row.label}e-2"))  # 98.2 / 100 may round to another float
    return found


def numbers_of(published: Section, levels: Mapping[str, Sequence[float]]) -> list[Section]:
    """An entry of `numbers` for every cell of the table, to compare it with our runs."""
    rest = {"ours": OURS} | {key: value for key, value in published.items() if key not in ("methods", "rows")}
    return [
        {
            "what": f"{row.data}{f', {100 * levels[row.data][row.which]:.4g} %' if row.label else ''}: {method}",
            "published": value,
            "given": {"data": row.data, "which": row.which, "method": method},
            **rest,
        }
        for row in rows_of(published)
        for method, value in zip(published["methods"], row.values, strict=True)
    ]


FOLDER = Path(__file__).parent / "experiments"
REQUIRED = ("id", "title", "source", "about", "runner", "seconds", "quick_seconds")
PAPERS = ("fedsplit", "fedprox", "feddyn")
LARGEST_COUNT = 10**9  # of rounds and of seeds
EVALUATIONS = ("all", "test")
RUNNERS = ("sweep", "deep", "partition", "none")
FIGURES = ("curves", "rounds", "bars", "histogram", "none")
KEYS = {
    "run": (
        "rounds", "seeds", "test", "ridge", "weights", "participation", "local_solver", "stragglers", "model",
        "measure", "every", "evaluate", "until", "loss", "dtype", "device", "zero",
    ),
    "figure": ("kind", "y", "log", "official", "floors", "level", "x", "panels", "levels"),
    "numbers": ("what", "ours", "published", "released", "source", "theory", "within", "why", "given"),
    "claims": ("claim", "source", "holds", "each", "most", "note", "not_testable"),
    "choices": ("open", "choice", "alternatives", "effect", "each"),
    "quick": ("run", "data", "digits", "methods", "figure", "needs", "note"),
}  # fmt: skip
REQUIRED_IN = {"numbers": ("what", "ours"), "claims": ("claim", "source"), "choices": ("open", "choice")}
OF_METHODS = (
    "name",
    "grid",
    "family",
    "line",
    "panel",
    "only",
    "rounds",
    "local_solver",
    "stragglers",
    "participation",
)


@final
@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper: its file's content with every default filled in.

    data, methods: label -> section, with grids expanded into one entry for each combination. needs: names of data
    files, in `inputs.FILES`. also: ids of other figures that this experiment contains.
    """

    id: str
    title: str
    source: str
    about: str
    runner: str
    seconds: float
    quick_seconds: float
    also: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    run: Section = field(default_factory=dict)
    data: Mapping[str, Section] = field(default_factory=dict)
    methods: Mapping[str, Section] = field(default_factory=dict)
    figure: Section = field(default_factory=dict)
    numbers: tuple[Section, ...] = ()
    claims: tuple[Section, ...] = ()
    choices: tuple[Section, ...] = ()
    quick: bool = False
    note: str = ""

    @property
    def paper(self) -> str:
        """The paper: the first part of the id."""
        return self.id.partition(".")[0]

    @property
    def names(self) -> set[str]:
        """The names that select it: id, figure without part (`fedprox.figure1` for figure1a), paper, and `all`."""
        whole = re.sub(r"(?<=\d)([a-z]|_.*)$", "", self.id)
        return {self.id, whole, *self.also, self.paper, "all"}


def experiments(folder: Path = FOLDER, quick: bool = False) -> dict[str, Experiment]:
    """All experiments by id, in the order of the papers and of the files' names. Raises InvalidInput."""
    found: dict[str, Experiment] = {}
    for file in sorted(folder.glob("*/*.toml"), key=_place):
        experiment = read(file, quick)
        if experiment.id in found:
            raise InvalidInput(str(file), experiment.id, "is the id of another file, too", "give it an id of its own")
        found[experiment.id] = experiment
    return found


def _place(file: Path) -> tuple[int, list[tuple[int, str]]]:
    """Sorting key: by paper, then by name with numbers by value, so that figure12 follows figure2."""
    paper = PAPERS.index(file.parent.name) if file.parent.name in PAPERS else len(PAPERS)
    return paper, [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", file.stem)]


def choose(names: list[str], known: Mapping[str, Experiment]) -> list[Experiment]:
    """The experiments with one of these names: ids, figures, papers, or `all`. Errors suggest the nearest name."""
    chosen: dict[str, Experiment] = {}
    answers = {name for experiment in known.values() for name in experiment.names}
    for name in names:
        if name not in answers:
            near = get_close_matches(name, sorted(answers), n=1, cutoff=0.4)
            guess = f"did you mean {near[0]}? " if near else ""
            raise InvalidInput("id", name, "is not known", f"{guess}fedconvex reproduce list shows all")
        chosen |= {key: experiment for key, experiment in known.items() if name in experiment.names}
    return list(chosen.values())


def read(file: Path, quick: bool = False) -> Experiment:
    """The experiment that a file specifies; `quick`: its reduced version.

    Raises InvalidInput that names the file, the key, what is wrong and the cure.
    """
    content = content_of(file)
    require_known(file, "", content, [f.name for f in fields(Experiment) if f.name != "note"] + ["published"])
    for key in REQUIRED:
        if key not in content:
            raise wrong(file, key, None, "is missing", "add it")
    reduced = content.pop("quick", {})
    require_known(file, "quick", reduced, KEYS["quick"])
    if quick:  # before the sections are checked: the reduced version must satisfy the same rules
        content = merged(content, {key: value for key, value in reduced.items() if key not in ("note", "digits")})
        if "digits" in reduced:
            content |= {"needs": [], "data": _digits(content["data"], reduced["digits"])}
    published = content.pop("published", None)
    if published is not None:
        require_table(file, published, content.get("data", {}))
        _add_table(file, published, content)
    _require_fit(file, content)
    for key in ("data", "methods"):
        content[key] = _expanded(file, key, content.get(key, {}))
    for section in ("claims", "choices"):
        for i, entry in enumerate(content.get(section, ())):
            for name, values in entry.get("each", {}).items():
                entry["each"][name] = _labels(file, f"{section}[{i}].each.{name}", values, content)
    for key in ("also", "needs", "numbers", "claims", "choices"):
        content[key] = tuple(content.get(key, ()))
    return Experiment(**content, quick=quick, note=reduced.get("note", "") if quick else "")


def _digits(data: Section, clients: int) -> dict[str, Section]:
    """Every data entry replaced by the bundled digits, with the same partition over this number of clients."""
    return {
        label: {"name": "digits", "clients": clients, "partition": entry.get("partition", "iid")}
        for label, entry in data.items()
    }


def _add_table(file: Path, published: Section, content: dict[str, Any]) -> None:
    """Add a published table's cells to the numbers, and its levels to the figure unless that has its own."""
    figure = content["figure"] = dict(content.get("figure", {}))
    given = figure.get("levels", {})
    if isinstance(given, list):  # one list for all data
        given = dict.fromkeys(content["data"], given)
    of_table = levels_of(published)
    # Quick runs on easier data give levels of their own; cells then refer to a level by its position in the table.
    figure["levels"] = levels = of_table | given
    for label, rows in of_table.items():
        if len(levels[label]) != len(rows):
            cure = f"give {len(rows)}, in the table's order"
            raise wrong(file, f"figure.levels.{label}", levels[label], "are not as many as the table's rows", cure)
    content["numbers"] = [*numbers_of(published, levels), *content.get("numbers", [])]


def _labels(file: Path, place: str, values: Any, content: Section) -> list[str]:
    """The labels in a list; the strings `data` and `methods` stand for all labels of that section."""
    if isinstance(values, str) and values not in ("data", "methods"):
        raise wrong(file, place, values, "is no list of labels", "give a list, or one of data, methods")
    return list(content[values] if isinstance(values, str) else values)


def _require_fit(file: Path, content: Section) -> None:
    """Raises InvalidInput for an unknown key, and for a missing one that the runner or an entry needs."""
    if content["runner"] not in RUNNERS:
        raise wrong(file, "runner", content["runner"], "is unknown", f"give one of {', '.join(RUNNERS)}")
    for section in ("run", "figure"):
        require_known(file, section, content.get(section, {}), KEYS[section])
    kind = content.get("figure", {}).get("kind", "none")
    if kind not in FIGURES:
        raise wrong(file, "figure.kind", kind, "is unknown", f"give one of {', '.join(FIGURES)}")
    for section, required in REQUIRED_IN.items():
        for i, entry in enumerate(content.get(section, [])):
            require_known(file, f"{section}[{i}]", entry, KEYS[section])
            for key in required:
                if key not in entry:
                    raise wrong(file, f"{section}[{i}].{key}", None, "is missing", "add it")
    for i, claim in enumerate(content.get("claims", [])):
        if ("holds" in claim) == ("not_testable" in claim):
            raise wrong(file, f"claims[{i}]", claim["claim"], "has not exactly one of holds, not_testable", "give one")
    if content["runner"] in ("sweep", "deep"):
        for key in ("data", "methods", "run"):
            if not content.get(key):
                raise wrong(file, key, None, "is missing", f"add [{key}]")
        if "rounds" not in content["run"]:
            raise wrong(file, "run.rounds", None, "is missing", "say how many rounds to run")
    run = content.get("run", {})
    for key, value in _counts(content):
        least = 0 if key.endswith("rounds") else 1
        if not least <= value <= LARGEST_COUNT:
            raise wrong(file, key, value, "is no number of runs or rounds", f"give {least} to {LARGEST_COUNT}")
    if run.get("evaluate", "all") not in EVALUATIONS:
        raise wrong(file, "run.evaluate", run["evaluate"], "is unknown", f"give one of {', '.join(EVALUATIONS)}")
    if "until" in run:
        _require_goal(file, content)


def _counts(content: Section) -> Iterator[tuple[str, int]]:
    """The numbers of seeds and rounds, with their keys."""
    run, methods = content.get("run", {}), content.get("methods", {})
    yield from ((f"run.{key}", run[key]) for key in ("rounds", "seeds", "every") if key in run)
    for label, entry in methods.items() if isinstance(methods, Mapping) else ():
        if "rounds" in entry:
            yield f"methods.{label}.rounds", entry["rounds"]


def _require_goal(file: Path, content: Section) -> None:
    """Raises InvalidInput if runs with `until` lack a level at which to end, or the accuracy that reaches it."""
    until, levels = content["run"]["until"], content.get("figure", {}).get("levels", {})
    if content["runner"] != "deep" or until not in ("accuracy", "test_accuracy"):
        cure = 'give accuracy or test_accuracy, with runner = "deep"'
        raise wrong(file, "run.until", until, f"cannot end runs of runner {content['runner']}", cure)
    if until == "test_accuracy" and "test" not in content["run"]:
        raise wrong(file, "run.test", None, "is missing: run.until asks for the test set", "add it")
    for label in content["data"]:
        if not levels.get(label):
            raise wrong(file, f"figure.levels.{label}", None, "is missing: run.until ends runs there", "add it")


def _expanded(file: Path, key: str, entries: Section) -> dict[str, Section]:
    """The entries with every `grid` replaced by one entry for each of its combinations, labelled by its values."""
    found: dict[str, Section] = {}
    if not isinstance(entries, Mapping):
        raise wrong(file, key, entries, "is no table", f"write [{key}.LABEL] and its keys below it")
    for label, entry in entries.items():
        if not isinstance(entry, Mapping) or "name" not in entry:
            raise wrong(file, f"{key}.{label}", entry, "has no name", "say what it is: name = …")
        grid = entry.get("grid", {})
        plain = {name: value for name, value in entry.items() if name != "grid"}
        for values in product(*grid.values()):
            point = dict(zip(grid, values, strict=True))
            shown = ", ".join(f"{name.rpartition('.')[2]}={value}" for name, value in point.items())
            full = f"{label} ({shown})" if grid else label
            found[full] = _with({"family": label} | plain, point)
    return found


def _with(entry: Section, point: Section) -> Section:
    """The entry with the grid's values; `local_solver.epochs` is the key epochs of its section local_solver."""
    result = deepcopy(dict(entry))
    for name, value in point.items():
        section, _, key = name.rpartition(".")
        if section:
            result[section] = dict(result.get(section, {})) | {key: value}
        else:
            result[key] = value
    return result
