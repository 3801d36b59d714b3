"""The shape of an experiment's TOML file: the type of every key, which `json_files.fault_in` compares."""

from typing import Any

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
