"""What type checkers read of packages that search their folders; `python docs/making/type_stubs.py` writes it.

Python finds a new method, local solver, problem, data set or model when its name is used; a type checker runs nothing,
so each of these packages has a stub, `__init__.pyi`, that imports every public name from the module that defines it.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
# package -> its folder, and not the link to it inside fedconvex/, which some checkouts lack
PACKAGES = {
    "fedconvex": "fedconvex",
    "fedconvex.data": "fedconvex/data",
    "fedconvex.local_solvers": "fedconvex/local_solvers",
    "fedconvex.methods": "fedconvex/methods",
    "fedconvex.problems": "fedconvex/problems",
    "fedconvex.proofs_checks": "proofs_checks",
    "fedconvex.strategies": "fedconvex/strategies",
    "fedconvex.deep.datasets": "deep/datasets",
    "fedconvex.deep.models": "deep/models",
}
HEAD = '''"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""
'''


def stub_path(package: str) -> Path:
    """Where the package's stub lies."""
    return ROOT / PACKAGES[package] / "__init__.pyi"


def as_stub(package: str) -> str:
    """The text of the package's stub: an import or a declaration for every public name."""
    loaded = import_module(package)
    tree = ast.parse(stub_path(package).with_suffix(".py").read_text("utf-8"))
    declared = dict(declarations(tree))
    lines = {import_of(loaded, tree, name) for name in loaded.__all__ if name not in declared}
    lines |= {line for text in declared.values() for line in imports_for(text, tree)}
    if package == "fedconvex":
        declared["__version__"] = "__version__: str"
    blocks = ["\n".join(sorted(block)) for block in grouped(lines) if block]
    names = "".join(f'    "{name}",\n' for name in sorted(loaded.__all__, key=as_ruff_sorts))
    return "\n".join([HEAD, "\n\n".join(blocks), "", *declared.values(), f"__all__ = [\n{names}]", ""])


def grouped(lines: Iterable[str]) -> list[list[str]]:
    """The imports of the standard library, of other libraries, and of this one: the blocks that ruff wants."""
    blocks: list[list[str]] = [[], [], []]
    for line in lines:
        library = line.split()[1].partition(".")[0]
        blocks[2 if library == "fedconvex" else 0 if library in sys.stdlib_module_names else 1].append(line)
    return blocks


def as_ruff_sorts(name: str) -> tuple[int, str]:
    """The key by which ruff sorts `__all__`: constants, classes, all others."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def import_of(package: ModuleType, tree: ast.Module, name: str) -> str:
    """The import of a public name; `as` the same name makes it an export of the stub."""
    value = getattr(package, name)
    if isinstance(value, ModuleType):
        value = getattr(value, "__wrapped__", value)  # a package that is called like a function, once it is imported
    if isinstance(value, ModuleType):
        parent, _, module = value.__name__.rpartition(".")
        return f"from {parent} import {module} as {name}"
    written = imported(tree).get(name)  # constants do not know their module
    home = written or value.__module__
    if getattr(import_module(home), name) is not value:
        raise ValueError(f"{package.__name__}.{name} is not {home}.{name}: public names keep the name of their module")
    return f"from {home} import {name} as {name}"


def declarations(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The package's own annotated public names without their values, such as `METHODS: Mapping[str, type[Method]]`."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            yield ast.unparse(node.target), f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"


def imports_for(declaration: str, tree: ast.Module) -> Iterator[str]:
    """What a declaration needs to import: the package imports it, too."""
    words = {node.id for node in ast.walk(ast.parse(declaration)) if isinstance(node, ast.Name)}
    for name, module in imported(tree).items():
        if name in words and not module.startswith("fedconvex"):  # those of the package are public, and there already
            yield f"from {module} import {name}"


def imported(tree: ast.Module) -> dict[str, str]:
    """Name -> module, of every `from module import name` at the top level."""
    return {
        alias.asname or alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # this checkout, whatever other one is installed
    for name in PACKAGES:
        stub_path(name).write_text(as_stub(name), "utf-8")
