"""What a proof takes for granted: each hypothesis must be one of the statement's, and each letter has one meaning."""

from collections.abc import Iterable
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.algebra import NotRational, is_zero
from fedconvex.proofs_checks.proof import Proof, Step, built
from fedconvex.statements.assumptions import (
    BoundedVariance,
    Dissimilarity,
    Given,
    LargeGradient,
    NotStationary,
    Runs,
)
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.statement import Statement
from fedconvex.theory import statement

IMPLIED = {
    "Smooth": ("SmoothObjective",),
    "StronglyConvex": ("Convex", "StronglyConvexObjective"),
    "Convex": ("WeaklyConvex",),
    "ExactSolutions": ("Inexactness", "InexactnessOfEach"),
    "Inexactness": ("InexactnessOfEach",),
    "DissimilarityAlongTheRun": ("Dissimilarity",),
    "BoundedVarianceEverywhere": ("BoundedVariance",),
    "MatchedStepsize": ("Smooth", "StronglyConvex"),
}
"""What follows from an assumption, by the names of their classes."""

AT_ONE_POINT = (Dissimilarity, BoundedVariance, LargeGradient, NotStationary)
"""What holds at one w: of a claim about many rounds it says nothing. Their neighbours hold at all points of a run."""


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


def missing(needed: Iterable[str], made: Iterable[Assumption]) -> str:
    """The first of the alternatives that are needed when none of them is among the assumptions, else nothing."""
    alternatives = tuple(needed)
    return alternatives[0] if alternatives and not names(made) & set(alternatives) else ""


def at_one_point(made: Iterable[Assumption]) -> str:
    """The first assumption that is about one point, nothing if there is none."""
    return next((_name(a) for a in made if isinstance(a, AT_ONE_POINT)), "")


def beyond(other: Statement, made: Iterable[Assumption], shown: Iterable[str] = ()) -> str:
    """What another statement assumes that is neither among the assumptions nor shown."""
    here = names(made) | {*shown}
    return next((_name(a) for a in other.assumptions if not isinstance(a, Given) and _name(a) not in here), "")


def ambiguous(proof: Proof) -> str:
    """A letter that is given two meanings, here or in a proof whose conclusion is used; nothing if there is none.

    Cases are told apart: in each a letter has one meaning.
    """
    cases = list(dict.fromkeys(step.case for step in proof.steps)) or [()]
    return next(filter(None, (_ambiguous_in(proof, case) for case in cases)), "")


def _ambiguous_in(proof: Proof, case: tuple[Assumption, ...]) -> str:
    meanings: dict[Any, Any] = {}
    for letter, meaning in _definitions([step for step in proof.steps if step.case in ((), case)], set()):
        if letter in meanings and not _same(meanings[letter], meaning):
            return f"{letter} is given two meanings: {meanings[letter]} and {meaning}"
        meanings[letter] = meaning
    return ""


def _definitions(steps: Iterable[Step], seen: set[str]) -> Iterable[tuple[Any, Any]]:
    for step in steps:
        yield from step.by.defines()
        for claim in step.by.rests_on():
            if claim.source and claim.source not in seen:
                seen.add(claim.source)
                other = statement(claim.source)
                proof = built(other)
                letters = (claim.right - claim.left).free_symbols
                if proof is not None:
                    yield from (pair for pair in _definitions(proof.steps, seen) if pair[0] in letters)


def _same(first: Any, second: Any) -> bool:
    """A letter may also be the squared length of a basic vector, where nothing else of the vector is used."""
    if any(isinstance(m, sympy.Pow) and m.base.is_Symbol and str(m.base).startswith("‖") for m in (first, second)):
        return True
    try:
        return is_zero(first - second)
    except NotRational:
        return bool(first == second)


def _name(assumption: Assumption) -> str:
    """By class; of a method, with which it is."""
    kind = type(assumption).__name__
    return f"{kind}({assumption.method})" if isinstance(assumption, Runs) else kind
