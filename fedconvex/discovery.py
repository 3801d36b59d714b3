"""Finds what a folder offers by reading its modules' sources: a new file there needs no entry in any list.

Methods, local solvers, problems, data sets, models and papers all register by being in their folder. The sources are
parsed and not executed, because a module is expensive to import (numba, flint, torch) and may lack its library on this
machine; a module is imported when somebody uses what it defines.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import CodeType, ModuleType
from typing import Any, final

from fedconvex.names import unknown_attribute
from fedconvex.syntax_trees import syntax_tree


@final
class Members(Mapping[str, Any]):
    """Objects by name, each imported from its module on access; names and length need no import.

    Args:
        modules: for each name the module that defines it.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = dict(sorted(modules.items()))

    def __getitem__(self, name: str) -> Any:
        return getattr(import_module(self.modules[name]), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    def __contains__(self, name: object) -> bool:  # Mapping's own would import the module
        return name in self.modules

    def attribute(self, package: str, name: str) -> Any:
        """The member, for a package's `__getattr__`; AttributeError names the nearest."""
        if name not in self.modules:
            raise unknown_attribute(package, name, self.modules)
        return self[name]


@final
class _AsItIsNow(SourceFileLoader):
    """Python's own loader takes compiled code for a file of the same size that was changed within the same second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def run_file(path: Path, name: str) -> ModuleType:
    """Run a user's file, as it is now, as a module of that name. Raises whatever the file raises."""
    spec = spec_from_file_location(name, path, loader=_AsItIsNow(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules[name] = module_from_spec(spec)  # dataclasses and pickle look their module up there
    try:
        spec.loader.exec_module(made)
    except BaseException:
        del sys.modules[name]
        raise
    return made


def module_names(package: str) -> list[str]:
    """The short names of a package's modules and subpackages, sorted, without those that begin with `_`."""
    return sorted(name for name, _ in _modules(package))


def final_classes(package: str, base: str) -> Members:
    """The `@final` classes of a package's modules that inherit, directly or not, from the class named `base`.

    Bases are followed by name within the package, so an abstract class in a module of its own may stand in between.
    """
    bases: dict[str, list[str]] = {}
    modules: dict[str, str] = {}
    for name, tree in _sources(package):
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [_last_name(expression) for expression in node.bases]
                if any(_last_name(decorator) == "final" for decorator in node.decorator_list):
                    _add(modules, node.name, f"{package}.{name}")

    def inherits(name: str) -> bool:
        return any(parent == base or inherits(parent) for parent in bases.get(name, ()))

    return Members({name: module for name, module in modules.items() if inherits(name)})


def public_functions(package: str) -> Members:
    """The functions of a package's modules whose names do not begin with `_`."""
    modules: dict[str, str] = {}
    for name, tree in _sources(package):
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                _add(modules, node.name, f"{package}.{name}")
    return Members(modules)


def modules_that_bind(package: str, name: str) -> list[str]:
    """The short names of the modules that assign or import `name` at their top level, sorted."""
    return sorted(module for module, tree in _sources(package) if any(name in _bound(node) for node in tree.body))


def _add(modules: dict[str, str], name: str, module: str) -> None:
    """Raises ImportError where another module has the name: one of the two would disappear without a word."""
    if modules.setdefault(name, module) != module:
        raise ImportError(f"{name} is defined in {modules[name]} and in {module}: rename one of them", name=module)


def _modules(package: str) -> Iterator[tuple[str, Any]]:
    """Short name and loader of every public module. The package itself must be imported, or be being imported."""
    spec = find_spec(package)
    assert spec is not None, package
    for finder, name, _ in iter_modules(spec.submodule_search_locations):
        if not name.startswith("_"):
            found = finder.find_spec(f"{package}.{name}", None)
            assert found is not None, name
            yield name, found.loader


def _sources(package: str) -> Iterator[tuple[str, ast.Module]]:
    for name, loader in _modules(package):
        # The loader and not the file: it also reads a package that is installed as a zip archive.
        yield name, syntax_tree(loader.get_source(f"{package}.{name}"))


def _last_name(expression: ast.expr) -> str:
    """`Method` for Method, base.Method, Method[T]; `final` for @final, @typing.final."""
    if isinstance(expression, ast.Subscript | ast.Call):
        expression = expression.value if isinstance(expression, ast.Subscript) else expression.func
    return ast.unparse(expression).rpartition(".")[2]


def _bound(node: ast.stmt) -> list[str]:
    """The names that a top-level statement binds by assignment or by `from … import`."""
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets]
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.target)]
    return [alias.asname or alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
