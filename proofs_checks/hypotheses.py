"""What a proof takes for granted: each hypothesis must be one of the statement's, and each letter has one meaning."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.algebra import NotRational, is_zero
from fedconvex.proofs_checks.engines.signs import Domain, SignProof, prove_sign
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
from fedconvex.statements.rendering import symbols
from fedconvex.statements.statement import Statement
from fedconvex.theory import statement

Letters = Mapping[str, Any]


def _same_constant(constant: Any, letters: Letters) -> Any:
    return constant


def _zero(constant: Any, letters: Letters) -> Any:
    return sympy.Integer(0)


def _without(constant: Any, letters: Letters) -> None:
    return None


IMPLIED: dict[str, dict[str, Callable[[Any, Letters], Any]]] = {
    "Smooth": {"SmoothObjective": _same_constant},
    "StronglyConvex": {"Convex": _without, "StronglyConvexObjective": _same_constant},
    "Convex": {"BoundedNegativeCurvature": _zero},
    "ExactSolutions": {"Inexactness": _zero},
    "Inexactness": {"InexactnessOfEach": _same_constant},
    "DissimilarityAlongTheRun": {"Dissimilarity": _same_constant},
    "BoundedVarianceEverywhere": {"BoundedVariance": _same_constant},
    "MatchedStepsize": {
        "Smooth": lambda _, letters: sympy.sqrt(letters["kappa"]) / letters["stepsize"],
        "StronglyConvex": lambda _, letters: 1 / (letters["stepsize"] * sympy.sqrt(letters["kappa"])),
    },
}
"""What follows from an assumption, by the names of their classes, and with which constant."""

LARGER_IS_STRONGER = ("StronglyConvex", "StronglyConvexObjective", "LargeGradient")
SMALLER_IS_STRONGER = (
    "Smooth", "SmoothObjective", "BoundedNegativeCurvature", "Inexactness", "InexactnessOfEach", "Dissimilarity",
    "BoundedVariance",
)  # fmt: skip

AT_ONE_POINT = (Dissimilarity, BoundedVariance, LargeGradient, NotStationary)
"""What holds at one w: of a claim about many rounds it says nothing. Their neighbours hold at all points of a run."""


Granted = dict[str, list[Any]]
"""What may be used, by the names of the classes, with the constants: None where it has none."""


def granted(of: Statement, made: Iterable[Assumption]) -> Granted:
    """The assumptions and all that they imply; conditions on parameters are the domain's matter."""
    proof = built(of)
    written = dict(proof.written) if proof is not None else {}
    letters = symbols({**of.paper.notation, **of.calculator.parameters})
    letters = {name: s.subs(written) if isinstance(s, sympy.Expr) else s for name, s in letters.items()}
    found: Granted = {}
    waiting = [(_name(a), c) for a in made if not isinstance(a, Given) for c in _constants(a, letters)]
    while waiting:
        name, constant = waiting.pop()
        if constant not in found.setdefault(name, []):
            found[name].append(constant)
            waiting += [(other, change(constant, letters)) for other, change in IMPLIED.get(name, {}).items()]
    return found


def _constants(assumption: Assumption, letters: Letters) -> tuple[Any, ...]:
    """The constants that it is made with: several of a sequence, None where it has none."""
    named = [getattr(assumption, field.name) for field in fields(assumption)]  # type: ignore[arg-type]
    found = [letters[name] for name in named if isinstance(name, str) and name in letters]
    return (None,) if not found else found[0] if isinstance(found[0], tuple) else (found[0],)


def missing(needed: Iterable[str], constant: Any, here: Granted, domain: Domain) -> str:
    """The first of the alternatives that are needed when none of them is granted with this constant; else nothing."""
    alternatives = tuple(needed)
    if any(_is_enough(name, had, constant, domain) for name in alternatives for had in here.get(name, [])):
        return ""
    with_constant = f" with {constant}" if any(here.get(name) for name in alternatives) else ""
    return f"{alternatives[0]}{with_constant}"


def _is_enough(name: str, had: Any, needed: Any, domain: Domain) -> bool:
    if had is None or needed is None:
        return needed is None
    try:
        if is_zero(had - needed):
            return True
    except NotRational:
        return bool(had == needed)
    if name in SMALLER_IS_STRONGER:
        return isinstance(prove_sign(needed - had, domain), SignProof)
    return name in LARGER_IS_STRONGER and isinstance(prove_sign(had - needed, domain), SignProof)


def constant_of(here: Granted, chosen: Iterable[Any]) -> str:
    """The first of the letters that is in a constant of an assumption; nothing if none is."""
    used = {s for constants in here.values() for c in constants if c is not None for s in sympy.sympify(c).free_symbols}
    return next((str(letter) for letter in chosen if letter in used), "")


def at_one_point(made: Iterable[Assumption]) -> str:
    """The first assumption that is about one point, nothing if there is none."""
    return next((_name(a) for a in made if isinstance(a, AT_ONE_POINT)), "")


def beyond(
    other: Statement, chosen: Letters, here: Granted, domain: Domain, shown: Iterable[tuple[str, Any]] = ()
) -> str:
    """What another statement assumes that is neither granted nor shown: with what is put in for its letters."""
    here = {name: [*constants] for name, constants in here.items()}
    for name, constant in shown:
        here.setdefault(name, []).append(constant)
    for assumption in other.assumptions:
        if isinstance(assumption, Given):
            continue
        for constant in granted(other, (assumption,))[_name(assumption)]:
            put_in = None if constant is None else constant.subs(dict(chosen), simultaneous=True)
            if hypothesis := missing((_name(assumption),), put_in, here, domain):
                return hypothesis
    return ""


def with_a_meaning(letters: Iterable[Any], steps: Iterable[Step]) -> str:
    """The first of the letters that is given a meaning in these steps, or in what they rest on; nothing if none is."""
    put_in = list(letters)
    known = {_letter(key) for key, _ in _definitions(steps, set())} if put_in else set()
    return next((str(letter) for letter in put_in if letter in known), "")


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
        reached: set[Any] = set()
        waiting = [letter]
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
