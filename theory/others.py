"""Papers from elsewhere: those of installed packages, and those that a user's file defines.

A package offers papers by the entry point group `fedconvex.papers`; its module defines `PAPER`, and its proofs with
`@proof_of`, as a module here does. In `pyproject.toml`:

    [project.entry-points."fedconvex.papers"]
    mypaper = "mypackage.mypaper"

A file is run as Python runs any module that is imported: give only files that you trust.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fedconvex.discovery import run_file
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from fedconvex.statements.statement import Statement

GROUP = "fedconvex.papers"
_FROM_FILES: dict[str, ModuleType] = {}  # as Python's own modules are: a paper is known once its file was run


def names(ours: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the papers from elsewhere, given those of the package."""
    return tuple(sorted({*_installed(ours), *_FROM_FILES} - set(ours)))


def module(name: str, ours: tuple[str, ...]) -> ModuleType:
    """The module of a paper from elsewhere. Raises InvalidInput where it cannot be imported or has no such paper."""
    if name in _FROM_FILES:
        return _FROM_FILES[name]
    return _imported(_installed(ours)[name])


def from_file(path: Path, ours: tuple[str, ...]) -> ModuleType:
    """Runs a file, and makes its paper known if it defines one.

    Raises:
        InvalidInput: no such file, one that Python cannot run, a PAPER that is none or has the name of another.
    """
    if not path.is_file():
        raise InvalidInput("file", path, "does not exist", "give a Python file with lemmas or a PAPER")
    known = next((m for m in _FROM_FILES.values() if Path(str(m.__file__)).resolve() == path.resolve()), None)
    if known is not None:  # its proofs are registered already
        return known
    made: ModuleType = _run(lambda: run_file(path, f"fedconvex_own_{path.stem}"), "file", path)
    if hasattr(made, "PAPER"):
        name = _name_of(made, "file", path)
        if name in ours or name in _installed(ours) or name in _FROM_FILES:
            cure = "give the paper in the file a name of its own"
            raise InvalidInput("PAPER.name", name, "is the name of another paper", cure)
        _FROM_FILES[name] = made
    return made


def is_from_elsewhere(name: str) -> bool:
    """Whether a paper of that name comes from a file or an installed package."""
    from fedconvex.theory import own_names

    return name in names(own_names())


def is_own(of: "Statement") -> bool:
    """Whether it is a statement of this package, and not another one of the same name."""
    from fedconvex.theory import module_of, own_names

    return of.paper.name in own_names() and of in module_of(of.paper.name).PAPER.everything


def _run(action: Callable[[], Any], argument: str, value: Any) -> Any:
    try:
        return action()
    except (Exception, SystemExit) as error:  # whatever a stranger's module raises is wrong input
        where = f"{type(error).__name__}: {error}"
        raise InvalidInput(argument, value, f"cannot be run: {where}", "run it with Python alone first") from error


def _name_of(made: ModuleType, argument: str, value: Any) -> str:
    from fedconvex.statements.statement import Paper

    paper = getattr(made, "PAPER", None)
    if not isinstance(paper, Paper):
        raise InvalidInput(argument, value, "defines no PAPER", "assign fedconvex's Paper(…) to the name PAPER")
    if not paper.name.isidentifier() or not paper.name.islower():
        raise InvalidInput("PAPER.name", paper.name, "is no name of a module", "give lower-case letters, digits and _")
    return paper.name


@cache
def _installed(ours: tuple[str, ...]) -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points  # late: many who use a calculator list no papers

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in ours or entry.name in found:
            whose = "fedconvex" if entry.name in ours else found[entry.name].value
            cure = "rename it, or uninstall its package"
            raise InvalidInput(GROUP, f"{entry.name} = {entry.value}", f"is the name of a paper of {whose}", cure)
        found[entry.name] = entry
    return found


@cache
def _imported(entry: "EntryPoint") -> ModuleType:
    shown = f"{entry.name} = {entry.value}"
    made: ModuleType = _run(lambda: import_module(entry.value), GROUP, shown)
    if _name_of(made, GROUP, shown) != entry.name:
        cure = "let PAPER.name and the entry point agree"
        raise InvalidInput(GROUP, shown, f"has a paper of another name, {made.PAPER.name}", cure)
    return made
