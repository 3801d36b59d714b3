"""What the papers promise: one module (or folder) per paper, holding its statements and their calculators.

    from fedconvex.theory import fedprox
    fedprox.rho(mu=50, L=1, L_minus=0, B=1.2, gamma=0, K=10)
    fedprox.theorem4  # in a notebook: the statement, its assumptions, its letters

`papers()` lists them, `statement("fedprox.theorem4")` finds one, `bounds_for(problem, method)` evaluates what applies.
Whether the promises hold is the matter of `fedconvex.proofs_checks`.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedconvex.statements.statement import Paper, Statement

NO_PAPERS = ("bounds", "catalogue")  # modules of this folder that hold no statements


def papers() -> "dict[str, Paper]":
    """Every paper by the name of its module; found by searching the folder."""
    names = sorted(module.name for module in iter_modules(__path__) if module.name not in NO_PAPERS)
    return {name: import_module(f"{__name__}.{name}").PAPER for name in names}


def statement(identifier: str) -> "Statement":
    """The statement of that identifier, as in "fedprox.theorem4". Raises InvalidInput with what comes near."""
    from fedconvex.errors import InvalidInput

    known, name = _by_identifier(), identifier.strip().lower()
    if name in known:
        return known[name]
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3, cutoff=0.5) or sorted(papers())
    raise InvalidInput("statement", identifier, "is unknown", f"did you mean {', '.join(near)}?")


@cache
def _by_identifier() -> "dict[str, Statement]":
    return {s.identifier: s for paper in papers().values() for s in paper.everything}


def __getattr__(name: str) -> Any:
    if name in ("Bounds", "bounds_for"):
        return getattr(import_module(f"{__name__}.bounds"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
