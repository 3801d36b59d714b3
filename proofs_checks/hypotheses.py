"""Which hypotheses a proof uses: each must be one of the statement's, and those that no step uses are reported."""

from collections.abc import Iterable

from fedconvex.statements.assumptions import Given, Runs
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.statement import Statement

IMPLIED = {
    "Smooth": ("SmoothObjective",),
    "StronglyConvex": ("Convex", "StronglyConvexObjective"),
    "Convex": ("WeaklyConvex",),
    "ExactSolutions": ("Inexactness", "InexactnessOfEach"),
    "Inexactness": ("InexactnessOfEach",),
    "DissimilarityEverywhere": ("Dissimilarity",),
    "MatchedStepsize": ("Smooth", "StronglyConvex"),
}
"""What follows from an assumption, by the names of their classes."""

def names(assumptions: Iterable[Assumption]) -> frozenset[str]:
    """The assumptions and all that they imply; conditions on parameters are the domain's matter."""
    found: set[str] = set()
    waiting = [_name(a) for a in assumptions if not isinstance(a, Given)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += IMPLIED.get(name, ())
    return frozenset(found)


def missing(needed: Iterable[str], of: Statement) -> str:
    """The first of the alternatives that are needed when the statement assumes none of them, else nothing."""
    alternatives = tuple(needed)
    return alternatives[0] if alternatives and not names(of.assumptions) & set(alternatives) else ""


def beyond(other: Statement, of: Statement) -> str:
    """What another statement assumes and this one does not."""
    here = names(of.assumptions)
    return next((_name(a) for a in other.assumptions if not isinstance(a, Given) and _name(a) not in here), "")


def _name(assumption: Assumption) -> str:
    """By class; of a method, with which it is."""
    kind = type(assumption).__name__
    return f"{kind}({assumption.method})" if isinstance(assumption, Runs) else kind
