"""Planted faults: one changed place in a formula, a method or a reader at a time, and which layer of the tests fails.

python benchmarks/mutants.py --sample 60 --seed 0    # a sample, the same for the same seed
python benchmarks/mutants.py                         # all of them: days; Ctrl-C records those that were tried

Each fault is written into a copy of the checkout. The tests that mention its module run by default first, the nearest
files alone before the others are even imported, and then the slow and exhaustive ones, up to the first that fails. Some
changes change nothing that can be observed; those survive, and are listed to be read.
"""

import argparse
import ast
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from importlib.util import cache_from_source
from pathlib import Path

from run import record

ROOT = Path(__file__).resolve().parent.parent
SUBJECTS = ("theory", "fedconvex/methods", "fedconvex/data")
LAYERS = {"default": "not slow and not exhaustive", "slow": "slow or exhaustive"}
EVERY_STATEMENT = re.compile(r"\bpapers\(\)|\bREFERENCES\b|\bCATALOGUE\b")  # tests of all need not name any
MOST_FILES = 40  # of tests; more mention the common names, and what fails there only is counted as not noticed
NEAREST = 4  # files of tests that run before the others: most faults fail there, and importing all takes longest
TIMEOUT = 900  # seconds for the tests of one layer
COUNTERPART: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NOT_CODE = (ast.JoinedStr, ast.Raise, ast.arguments, ast.AnnAssign)  # messages, signatures, annotations


@dataclass(frozen=True)
class Fault:
    """The text between two offsets of a file, in UTF-8, and what replaces it."""

    file: str
    line: int
    begin: int
    end: int
    before: str
    after: str
    noticed_by: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} -> {self.after}"


def changed(node: ast.AST) -> Iterator[ast.expr]:
    """What may stand in an expression's place: another constant, operator or order, or no sign."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield ast.Constant(value + 1 if isinstance(value, int) else 2 * value or 1.0)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.Compare(left=left, ops=[op], comparators=comparators) if type(op) in COUNTERPART:
            yield ast.Compare(left, [COUNTERPART[type(op)]()], comparators)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(COUNTERPART[type(op)](), values)
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in COUNTERPART:
                yield ast.BinOp(left, COUNTERPART[type(op)](), right)
            if isinstance(op, ast.Sub | ast.Div | ast.Pow | ast.MatMult):
                yield ast.BinOp(right, op, left)


def code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below that compute something."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, NOT_CODE):
            yield child
            yield from code(child)


def faults(file: Path, root: Path = ROOT) -> list[Fault]:
    """Every fault that can be planted in the bodies of a file's functions."""
    text = file.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    bodies = [
        part
        for f in ast.walk(ast.parse(text))
        if isinstance(f, ast.FunctionDef)
        for part in f.body
        if f.name[:2] != "__"
    ]
    found = {}
    for body in bodies:
        for node in code(ast.Expression(body)):  # type: ignore[arg-type]  # a root whose child is looked at, too
            if isinstance(node, ast.expr):
                begin, end = (
                    starts[node.lineno - 1] + node.col_offset,
                    starts[node.end_lineno - 1] + node.end_col_offset,
                )
                for other in changed(node):
                    before, after = text[begin:end].decode(), f"({ast.unparse(other)})"
                    fault = Fault(str(file.relative_to(root)), node.lineno, begin, end, before, after)
                    found[begin, end, after] = fault  # an inner function's body is met twice
    return list(found.values())


def touching(file: str, root: Path) -> list[str]:
    """The files of tests that mention what a module defines, lie in its folder, or go through all statements.

    The nearest come first.
    """
    path = Path(file)
    formula = path.parts[0] == "theory"
    own = path.parent.name if formula and len(path.parts) > 2 else path.stem  # a paper is a folder, or one file
    defined = ast.parse((root / file).read_text("utf-8")).body
    names = {n.name for n in defined if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name[0] != "_"} | {own}
    word = re.compile(rf"\b({'|'.join(sorted(names))})\b")
    found = {}
    for test in (root / "tests").rglob("test_*.py"):
        text = test.read_text("utf-8")
        distinct, every = len(set(word.findall(text))), formula and EVERY_STATEMENT.search(text) is not None
        beside = path.parent.name == test.parent.name  # may reach the module by what imports it
        if distinct or every or beside:
            place = f"{test.parent.name} {test.stem}"
            near = own in place or beside
            found[str(test.relative_to(root))] = (path.stem in place, near, distinct, every)
    return sorted(found, key=lambda name: found[name], reverse=True)[:MOST_FILES]


def outcome(tests: list[str], layer: str, root: Path) -> str:
    """The layer if one of its tests fails, "timeout" if they do not end, and nothing if they pass."""
    command = [sys.executable, "-m", "pytest", "-n0", "-xq", "-p", "no:cacheprovider", "-m", LAYERS[layer], *tests]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # all but the changed module are compiled once for all faults
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "timeout"
    return "" if done.returncode in (0, 5) else layer  # 5: none is selected


def noticed(fault: Fault, root: Path) -> Fault:
    """The fault with the layer that notices it, planted in the copy at `root` meanwhile."""
    file = root / fault.file
    right = file.read_bytes()
    tests = touching(fault.file, root)
    parts = [part for part in (tests[:NEAREST], tests[NEAREST:]) if part]
    write(file, right[: fault.begin] + fault.after.encode() + right[fault.end :])
    try:
        outcomes = (outcome(part, layer, root) for layer in LAYERS for part in parts)
        return replace(fault, noticed_by=next(filter(None, outcomes), "none"))
    finally:
        write(file, right)


def write(file: Path, content: bytes) -> None:
    """Replaces a module, and forgets its compiled form, which Python takes for the same within a second."""
    file.write_bytes(content)
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def copied(folder: Path) -> Path:
    """The files of the project that git knows, in a folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(os.path.lexists, (n for n in listed if n)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def main() -> None:
    """Plant, count and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="how many faults, drawn evenly from all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.chdir(ROOT)
    every = [fault for name in SUBJECTS for file in sorted((ROOT / name).rglob("*.py")) for fault in faults(file)]
    chosen = random.Random(options.seed).sample(every, min(options.sample or len(every), len(every)))
    found: list[Fault] = []
    with tempfile.TemporaryDirectory() as name, contextlib.suppress(KeyboardInterrupt):  # what was tried is recorded
        root = copied(Path(name))
        for fault in chosen:
            found.append(noticed(fault, root))
            print(f"{len(found)}/{len(chosen)} {found[-1].noticed_by}: {fault}", flush=True)
    counts = Counter(fault.noticed_by for fault in found)
    by_any = counts["default"] + counts["slow"]
    rows = [
        {
            "what": "planted faults that the tests by default notice, of those that any test notices",
            "value": counts["default"] / max(by_any, 1), "target": 0.98, "unit": "", "at_least": True,
            "reached": counts["default"] >= 0.98 * by_any, "peer": "all planted faults that any test notices",
            "peer_value": by_any / len(found), "ratio": counts["default"] / max(by_any, 1),
            "planted": len(found), "of": len(every), "seed": options.seed, "counts": dict(counts),
        }
    ]  # fmt: skip
    notes = [f"{fault.noticed_by}: {fault}" for fault in found if fault.noticed_by != "default"]
    record("mutants", rows, notes=notes, faults=[asdict(fault) for fault in found])


if __name__ == "__main__":
    main()
