"""Makes the reference while the guide is built: every public name, in groups; a new name needs no entry here."""

import ast
import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File, Files

STATEMENTS = ("fedconvex.statements", "fedconvex.statements.assumptions")
# page -> its title, and the modules whose public names it shows
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "methods": ("Methods", ("fedconvex.methods", "fedconvex.stepsizes", "fedconvex.step_numbers")),
    "problems": (
        "Problems and data",
        ("fedconvex.problems", "fedconvex.problems.composite", "fedconvex.regularizers", "fedconvex.data"),
    ),
    "local-solvers": ("Local solvers", ("fedconvex.local_solvers",)),
    "compressors": ("Compressors", ("fedconvex.compressors",)),
    "participation": ("Participation and stragglers", ("fedconvex.participation",)),
    "running": (
        "Running and answers",
        (
            "fedconvex.runs.simulation", "fedconvex.fixed_points", "fedconvex.ground_truths",
            "fedconvex.problems.heterogeneity", "fedconvex.certainty", "fedconvex.sweeps", "fedconvex.audit",
        ),
    ),
    "theory": ("Theory", ("fedconvex.theory", "fedconvex.theory.bounds", *STATEMENTS)),
    "proofs": ("Proofs and worst cases", ("fedconvex.proofs_checks", "fedconvex.verdicts")),
    "deep": ("Deep networks", ("fedconvex.deep", "fedconvex.deep.datasets", "fedconvex.deep.models")),
    "conformance": ("Conformance", ("fedconvex.conformance",)),
    "testing": ("Strategies and assertions", ("fedconvex.strategies", "fedconvex.testing")),
    "errors": ("Errors", ("fedconvex.errors",)),
}  # fmt: skip
NEEDS_TORCH = ("fedconvex.deep", "fedconvex.deep.models")  # read, not loaded
INDEX = """# Reference

Made from the docstrings when this guide is built. The papers' calculators are listed by statement in
[Every statement](../statements.md); here are the names that scripts call.

"""


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Adds the pages."""
    for page, (title, modules) in PAGES.items():
        files.append(File.generated(config, f"api/{page}.md", content=as_markdown(title, modules)))
    lines = [
        f"* [{title}]({page}.md): {', '.join(f'`{m}`' for m in modules)}" for page, (title, modules) in PAGES.items()
    ]
    files.append(File.generated(config, "api/index.md", content=INDEX + "\n".join(lines) + "\n"))
    return files


def as_markdown(title: str, modules: tuple[str, ...]) -> str:
    """A page of the reference: a heading for each module, and an entry for each name, which mkdocstrings fills in."""
    lines = [f"# {title}", ""]
    for module in modules:
        lines += [f"## `{module}`", ""]
        for name, home in sorted(public(module).items()):
            lines += [f"::: {home}.{name}", "    options:", "      heading_level: 3", ""]
    return "\n".join(lines)


def public(module: str) -> dict[str, str]:
    """The public names of a module, each with the module that defines it."""
    if module in NEEDS_TORCH:
        return in_source(module)
    loaded = import_module(module)
    names = getattr(loaded, "__all__", None)
    if names is None:
        return in_source(module)
    values = {name: getattr(loaded, name) for name in names}
    return {name: home(value) for name, value in values.items() if is_documented(value)}


def is_documented(value: Any) -> bool:
    """Whether the value is a class or a function: modules have pages of their own, and constants no docstrings."""
    return not isinstance(value, ModuleType) and (inspect.isclass(value) or inspect.isfunction(value))


def home(value: Any) -> str:
    """The module that defines a class or a function."""
    return str(value.__module__)


def in_source(module: str) -> dict[str, str]:
    """The classes and functions that a module defines or re-exports (`import a as a`), read without importing it."""
    spec = find_spec(module)
    assert spec is not None
    source = Path(str(spec.origin))
    stub = source.with_suffix(".pyi")  # a package that searches its folder names its members only there
    tree = ast.parse((stub if stub.is_file() else source).read_text("utf-8"))
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fedconvex"):
            found.update({a.name: node.module for a in node.names if a.asname == a.name})
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found[node.name] = module
    return found
