"""Imports point one way, and heavy libraries load late."""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from processes import LACKING, python, require

ROOT = Path(__file__).resolve().parent.parent
FOLDERS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"][
    "package-dir"
]

MAY_IMPORT = {
    "core": {"core"},
    "theory": {"core", "theory"},
    "proofs_checks": {"core", "theory", "proofs_checks"},
    "deep": {"core", "theory", "deep"},
    "applications": {"core", "theory", "proofs_checks", "deep", "applications"},
    "commands": {"core", "theory", "proofs_checks", "deep", "applications", "commands"},
}
TOP_FOLDERS = set(FOLDERS.values()) - {"fedconvex"}
APPLICATIONS = {"audit", "conformance", "report", "reproduce", "testing"}  # above theory and proofs
COMMANDS = {"commands", "__main__"}  # the roof: nothing imports them

HEAVY = {
    "clarabel", "cvxpy", "dask", "distributed", "flint", "hypothesis", "joblib", "matplotlib", "numba", "pandas",
    "pyarrow", "rich", "scipy", "sklearn", "sympy", "torch", "typer",
}  # fmt: skip
# What a machine for deep networks may lack.
DISPENSABLE = HEAVY - {"scipy", "sympy", "torch"}


def layer(module: str) -> str | None:
    """The layer that a module belongs to, None outside the project."""
    top, below, *_ = [*module.split("."), ""]
    if top != "fedconvex":
        return None
    if below in COMMANDS or module.endswith(".__main__"):
        return "commands"
    if below in TOP_FOLDERS:
        return below
    return "applications" if below in APPLICATIONS else "core"


def imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything imported, at whatever depth; of `from a import b` both a and a.b."""
    parts = module.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) - node.level + is_package] if node.level else []
            base = ".".join(above + ([node.module] if node.module else []))
            yield node.lineno, base
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            constants = [a.value for a in node.args if isinstance(a, ast.Constant)]
            yield from ((node.lineno, value) for value in constants if isinstance(value, str))


def called(node: ast.Call) -> str:
    """The last part of the called name: import_module for importlib.import_module."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


parsed = cache(ast.parse)  # several tests read every module


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """One line for each import in `source` that its place does not allow."""
    here = layer(module)
    assert here is not None
    found = []
    for line, name in sorted(set(imports(parsed(source), module, is_package))):
        target = layer(name)
        if name.split(".")[0] in TOP_FOLDERS:
            found.append(f"{module}:{line}: {name} by its bare name")
        elif target is not None and target not in MAY_IMPORT[here]:
            found.append(f"{module}:{line}: {here} imports {name}")
    return found


def sources() -> dict[str, Path]:
    """Module name -> file, for every module, each through its real folder and not through a link."""
    modules = {}
    for name, folder in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            if file.resolve() == file:
                inside = file.relative_to(ROOT / folder).with_suffix("")
                modules[".".join([name, *inside.parts]).removesuffix(".__init__")] = file
    return modules


def test_imports_point_one_way() -> None:
    modules = sources()
    assert FOLDERS.keys() <= modules.keys()
    found = []
    for name, file in modules.items():
        found += violations(file.read_text("utf-8"), name, is_package=file.name == "__init__.py")
    assert found == []


@pytest.mark.parametrize(
    ("module", "source", "reported"),
    [
        ("fedconvex.methods.fedpd", "import fedconvex.theory.fedavg", "fedconvex.theory.fedavg"),
        ("fedconvex.methods.fedpd", "from fedconvex import deep", "fedconvex.deep"),
        ("fedconvex.methods.fedpd", "from ..theory import fedavg", "fedconvex.theory"),
        ("fedconvex.errors", "from .proofs_checks import verify", "fedconvex.proofs_checks"),
        ("fedconvex.errors", "def late():\n    from fedconvex.theory import x", "fedconvex.theory"),
        ("fedconvex.errors", "import_module('fedconvex.theory')", "fedconvex.theory"),
        ("fedconvex.errors", "import fedconvex.commands.main", "fedconvex.commands.main"),
        ("fedconvex.clients", "import fedconvex.theory", "fedconvex.theory"),
        ("fedconvex.theory.fedprox", "from fedconvex import proofs_checks", "fedconvex.proofs_checks"),
        ("fedconvex.theory.fedprox", "import fedconvex.deep", "fedconvex.deep"),
        ("fedconvex.theory.fedprox", "import fedconvex.audit", "fedconvex.audit"),
        ("fedconvex.proofs_checks.fedprox", "import fedconvex.deep.runner", "fedconvex.deep.runner"),
        ("fedconvex.deep.runner", "from fedconvex.proofs_checks import verify", "fedconvex.proofs_checks"),
        ("fedconvex.deep.runner", "import theory", "theory by its bare name"),
        ("fedconvex.commands.main", "from deep import run", "deep by its bare name"),
    ],
)
def test_an_import_the_wrong_way_is_reported(module: str, source: str, reported: str) -> None:
    assert any(reported in line for line in violations(source, module))


def test_a_package_resolves_relative_imports_from_itself() -> None:
    assert violations("from .theory import fedavg", "fedconvex", is_package=True) != []
    assert violations("from .theory import fedavg", "fedconvex.methods", is_package=True) == []
    assert violations("from ..theory import fedavg", "fedconvex.methods", is_package=True) != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("fedconvex.methods.fedpd", "from fedconvex.errors import InvalidInput\nimport torch, theory_of_everything"),
        ("fedconvex.theory.fedprox", "from fedconvex.theory import fedavg\nfrom fedconvex import certainty"),
        ("fedconvex.proofs_checks.fedprox", "from fedconvex.theory.fedprox import rho"),
        ("fedconvex.deep.runner", "from fedconvex.theory import fedprox\nfrom . import models"),
        ("fedconvex.commands.main", "import fedconvex.deep, fedconvex.proofs_checks, fedconvex.audit"),
        ("fedconvex.audit.figure", "from fedconvex.theory import fedprox"),
    ],
)
def test_an_import_the_right_way_is_not_reported(module: str, source: str) -> None:
    assert violations(source, module) == []


class WithoutTyping(ast.NodeTransformer):
    """Removes what only type checkers import: it never runs, so it closes no circle."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else self.generic_visit(node)


def import_circles(modules: dict[str, tuple[str, bool]]) -> list[str]:
    """The first circle of modules that import each other, at whatever depth; empty where there is none.

    `modules` gives each module's source, and whether it is a package. A package's own `__init__` may import what lies
    in it and be imported from there, so these imports do not count.
    """
    graph: dict[str, set[str]] = {}
    for module, (source, is_package) in modules.items():
        tree = WithoutTyping().visit(ast.parse(source))
        named = {name for _, name in imports(tree, module, is_package)} & modules.keys()
        graph[module] = {name for name in named if not _one_contains_the_other(name, module)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _one_contains_the_other(one: str, other: str) -> bool:
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


CLOCKS = {
    "fedconvex.proofs_checks.falsification": "the limit of seconds that a person may set",
    "fedconvex.proofs_checks.verification": "how long a proof took",
    "fedconvex.proofs_checks.rocq.compiling": "how long Rocq took",
}


def test_verdicts_look_at_no_clock() -> None:
    """A search that counts its work finds the same on every machine."""
    modules = {name: parsed(file.read_text("utf-8")) for name, file in sources().items() if "proofs_checks" in name}
    used = {name: {of.partition(".")[0] for _, of in imports(tree, name, False)} for name, tree in modules.items()}
    assert {name for name, of in used.items() if of & {"time", "datetime"}} == set(CLOCKS)


@pytest.mark.beyond_core  # takes seconds
def test_modules_do_not_import_each_other_in_circles() -> None:
    modules = {name: (file.read_text("utf-8"), file.name == "__init__.py") for name, file in sources().items()}
    assert import_circles(modules) == []


def test_an_import_circle_is_noticed() -> None:
    circle = {"p.a": ("import p.b", False), "p.b": ("def late():\n    from p import c", False)}
    assert set(import_circles({**circle, "p.c": ("from p.a import x", False)})) == {"p.a", "p.b", "p.c"}
    typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import x"
    assert import_circles({**circle, "p.c": (typing, False), "p": ("import p.a", True)}) == []


def classes_of_one_name(files: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The class names that several modules define, each with these modules; `files` are names and sources."""
    homes: dict[str, list[str]] = {}
    for module, source in files:
        for node in ast.walk(parsed(source)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_a_class_name_has_one_meaning() -> None:
    assert classes_of_one_name((name, file.read_text("utf-8")) for name, file in sources().items()) == {}


def test_a_class_name_with_two_meanings_is_noticed() -> None:
    files = [("a", "class Run: ..."), ("b", "def f():\n    class Run: ..."), ("c", "class Runs: ...")]
    assert classes_of_one_name(files) == {"Run": ["a", "b"]}


LOADED = """
import sys
before = set(sys.modules)
exec(sys.argv[1])
print(*sorted({name.split(".")[0] for name in sys.modules.keys() - before}))
"""


def heavy_libraries_loaded_by(statement: str) -> set[str]:
    return set(require(python("-c", LOADED, statement)).split()) & HEAVY


@pytest.mark.beyond_core  # starts a process
def test_a_plain_import_loads_no_heavy_library() -> None:
    assert heavy_libraries_loaded_by("import fedconvex") == set()


@pytest.mark.beyond_core  # starts a process
def test_numbers_need_no_symbols() -> None:
    """A first worst case, Lyapunov function, floor, design, proof or fixed point comes without waiting for SymPy."""
    asked = """
import fedconvex as fc
from fedconvex import proofs_checks as pc
clients, split = pc.SmoothStronglyConvex(1, 10), fc.FedSplit(stepsize=0.25)
pc.worst_case(split, clients, "any", metric="lifted_distance")
"""
    assert heavy_libraries_loaded_by(asked) == {"flint"}
    more = """
pc.lyapunov(split, clients), pc.design(split, clients), pc.verify("fedsplit.theorem1")
pc.error_floor(fc.Scaffold(stepsize=0.025, local_steps=2), clients)
fc.fixed_point(split, fc.LeastSquares(A=[[[1, 2]], [[2, 1]]], b=[[1], [3]]), arithmetic="exact")
"""
    assert heavy_libraries_loaded_by(asked + more) <= {"flint", "clarabel", "scipy"}


@pytest.mark.beyond_core  # starts a process
def test_a_heavy_library_that_is_loaded_is_noticed() -> None:
    assert "sympy" in heavy_libraries_loaded_by("import fedconvex, sympy")
    assert "scipy" in heavy_libraries_loaded_by("import scipy.linalg")


WITHOUT = f"""{LACKING}
import importlib
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


@pytest.mark.beyond_core  # starts a process
def test_theory_and_deep_import_without_the_dispensable_libraries() -> None:
    modules = [name for name in sources() if layer(name) in ("theory", "deep")]
    modules.remove("fedconvex.deep.compiled")  # done without where there is no numba
    require(python("-c", WITHOUT, " ".join(DISPENSABLE), *modules))


A_RUN = """
import torch, fedconvex as fc
from fedconvex.deep import models, run
clients = [(torch.randn(9, 4), torch.arange(9) % 3)] * 2
print(run(fc.FedAvg(epochs=1, batch_size=4, stepsize=0.1), models.fully_connected([4, 3, 3]), clients).stopped)
"""


@pytest.mark.beyond_core  # starts a process
def test_a_deep_run_without_machine_code() -> None:
    assert require(python("-c", WITHOUT + A_RUN, "numba")) == "None\n"


@pytest.mark.beyond_core  # starts a process
def test_the_library_that_is_lacking_is_really_lacking() -> None:
    assert "No module named 'cvxpy'" in python("-c", WITHOUT, "cvxpy", "cvxpy").stderr
