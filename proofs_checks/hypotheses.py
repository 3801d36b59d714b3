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


def with_a_meaning(letters: Iterable[Any], steps: Iterable[Step]) -> str:
    """The first of the letters that is given a meaning in these steps, or in what they rest on; nothing if none is."""
    known = {_letter(key) for key, _ in _definitions(steps, set())}
    return next((str(letter) for letter in letters if letter in known), "")


def ambiguous(proof: Proof) -> str:
    """A letter that has two meanings, or its own in its meaning, here or in a proof whose conclusion is used; or "".

    Cases are told apart: in each a letter has one meaning.
    """
    cases = list(dict.fromkeys(step.case for step in proof.steps)) or [()]
    return next(filter(None, (_ambiguous_in(proof, case) for case in cases)), "")


def _ambiguous_in(proof: Proof, case: tuple[Assumption, ...]) -> str:
    found: dict[Any, list[tuple[Any, Any]]] = {}
    for key, meaning in _definitions([step for step in proof.steps if step.case in ((), case)], set()):
        found.setdefault(_letter(key), []).append((key, sympy.sympify(meaning)))
    if circle := _circle({letter: {s for _, m in some for s in m.free_symbols} for letter, some in found.items()}):
        return f"{circle} is given a meaning that contains it"
    meanings = dict(pair for some in found.values() for pair in some)
    for letter, ((key, meaning), *others) in found.items():
        for other_key, other in others:
            if not _same((key, meaning), (other_key, other), meanings):
                return f"{letter} is given two meanings: {key} = {meaning} and {other_key} = {other}"
    return ""


def _definitions(steps: Iterable[Step], seen: set[str]) -> Iterable[tuple[Any, Any]]:
    for step in steps:
        yield from step.by.defines()
        for claim in step.by.rests_on():
            if claim.source and claim.source not in seen:
                seen.add(claim.source)
                proof = built(statement(claim.source))
                if proof is not None:
                    letters = sympy.sympify(claim.right - claim.left).free_symbols
                    yield from _about(letters, list(_definitions(proof.steps, seen)))


def _about(letters: set[Any], pairs: list[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    """Those that say what the letters mean, and what the letters in their meanings do."""
    while more := [pair for pair in pairs if _letter(pair[0]) in letters]:
        yield from more
        pairs = [pair for pair in pairs if pair not in more]
        letters = letters.union(*(sympy.sympify(meaning).free_symbols for _, meaning in more))


def _letter(key: Any) -> Any:
    """Of the letter or its square, whose meaning is given, the letter."""
    return key.base if key.is_Pow else key


def _circle(within: dict[Any, set[Any]]) -> str:
    """A letter in whose meaning, with the letters in it spelt out, it occurs itself; nothing if there is none."""
    for letter in within:
        reached, waiting = set(), [letter]
        while waiting:
            new = within.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        if letter in reached:
            return str(letter)
    return ""


def _same(first: tuple[Any, Any], second: tuple[Any, Any], meanings: dict[Any, Any]) -> bool:
    """Whether two meanings of a letter, or of its square, are one, with the letters in them spelt out."""
    (key, meaning), (other_key, other) = first, second
    if key != other_key:
        meaning, other = (m if k.is_Pow else m**2 for k, m in (first, second))
    try:
        return is_zero(_spelt_out(meaning, meanings) - _spelt_out(other, meanings))
    except NotRational:
        return bool(meaning == other)


def _spelt_out(meaning: Any, meanings: dict[Any, Any]) -> Any:
    while (new := meaning.subs(meanings)) != meaning:
        meaning = new
    return meaning


def _name(assumption: Assumption) -> str:
    """By class; of a method, with which it is."""
    kind = type(assumption).__name__
    return f"{kind}({assumption.method})" if isinstance(assumption, Runs) else kind
