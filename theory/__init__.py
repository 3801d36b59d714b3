"""What the papers promise: a module or folder for each paper, with its statements and their calculators.

    from fedconvex.theory import fedprox
    fedprox.rho(mu=50, L=1, L_minus=0, B=1.2, gamma=0, K=10)
    fedprox.theorem4  # in a notebook: the statement, its assumptions, the meaning of its symbols

`papers()` returns them all, `statement("fedprox.theorem4")` one statement, and `bounds_for(method, problem)` evaluates
every statement that applies. A new paper is a new module here that defines `PAPER`, or one of an installed package
(`fedconvex.theory.others`). `fedconvex.proofs_checks` decides
which statements hold.
"""

from functools import cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fedconvex.discovery import modules_that_bind
from fedconvex.errors import InvalidInput
from fedconvex.names import unknown_attribute
from fedconvex.theory import others

if TYPE_CHECKING:
    from fedconvex.statements.statement import Paper, Statement
    from fedconvex.theory.bounds import Bounds as Bounds
    from fedconvex.theory.bounds import bounds_for as bounds_for


def papers() -> "dict[str, Paper]":
    """Every paper, by the name of its module: use it to go through all statements there are."""
    return {name: module_of(name).PAPER for name in paper_names()}


def paper(name: str) -> "Paper | None":
    """The paper of that module's name, or None: use it instead of `papers` to import this one and no other."""
    if not isinstance(name, str):
        raise InvalidInput("name", name, "is not the name of a paper", f"give one of {', '.join(paper_names())}")
    found: Paper | None = module_of(name).PAPER if name in paper_names() else None
    return found


def statement(identifier: str) -> "Statement":
    """The statement of that identifier, such as "fedprox.theorem4": use it where the name comes from a user.

    Upper and lower case are the same. Raises InvalidInput for an unknown one, with the nearest known ones.
    """
    if not isinstance(identifier, str):
        raise InvalidInput("statement", identifier, "is not text", "give such as 'fedprox.theorem4'")
    name = identifier.strip().lower()
    if name in (own := _by_identifier(name.partition(".")[0])):  # no other paper is imported
        return own[name]
    known = [one for other in paper_names() for one in _by_identifier(other)]
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3, cutoff=0.5) or sorted(papers())
    raise InvalidInput("statement", identifier, "is unknown", f"did you mean {', '.join(near)}?")


def paper_names() -> tuple[str, ...]:
    """The papers of this folder, of installed packages and of files that were run; none is imported here."""
    return (*own_names(), *others.names(own_names()))


@cache
def own_names() -> tuple[str, ...]:
    """The modules of this folder that define a `PAPER`, not imported here; the others are tools for all papers."""
    return tuple(modules_that_bind(__name__, "PAPER"))


def module_of(name: str) -> ModuleType:
    """The module of one of `paper_names()`. Raises InvalidInput for another name."""
    given: Any = name  # checked as it comes, whatever its type says
    if not isinstance(given, str) or given not in paper_names():
        raise InvalidInput("name", name, "is not the name of a paper", f"give one of {', '.join(paper_names())}")
    return import_module(f"{__name__}.{name}") if name in own_names() else others.module(name, own_names())


def paper_in(path: "str | PathLike[str]") -> "Paper":
    """The paper that a user's file defines; from then on it is one of `papers()`. The file is run.

    Raises InvalidInput for a file that cannot be run, has no `PAPER`, or one with the name of another paper.
    """
    given: Any = path  # checked as it comes, whatever its type says
    if not isinstance(given, str | PathLike) or "\0" in str(given):
        raise InvalidInput("path", path, "is not the path of a file", "give such as 'mypaper.py'")
    found: Paper | None = getattr(others.from_file(Path(path), own_names()), "PAPER", None)
    if found is None:
        raise InvalidInput("file", path, "defines no PAPER", "assign fedconvex's Paper(…) to the name PAPER")
    return found


def _by_identifier(name: str) -> "dict[str, Statement]":
    found = paper(name)
    return {} if found is None else {s.identifier: s for s in found.everything}


def __getattr__(name: str) -> Any:
    if name in ("Bounds", "bounds_for"):
        return getattr(import_module(f"{__name__}.bounds"), name)
    if name.startswith("_"):  # Python asks for such names by itself
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in paper_names():
        return module_of(name)
    raise unknown_attribute(__name__, name, (*paper_names(), "Bounds", "bounds_for"))
