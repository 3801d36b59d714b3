"""Two checks on a whole proof: it uses only its statement's hypotheses, and each of its symbols has one definition.

Hypotheses. A fact such as `lipschitz(…, L)` names the assumption that it needs, with its constant. `hypotheses_of`
lists what a statement's assumptions provide, with all that they imply; `missing_hypothesis` finds a needed hypothesis
that is not among these, and `missing_hypothesis_of` one of another statement whose conclusion the proof uses.
Assumptions at a single point must not enter a claim about many rounds (`assumption_at_one_point`).

Definitions. A fact such as `named(C, …)` defines a symbol. `ambiguity` finds a symbol with two different definitions,
or with itself in its own definition. A claim proved for every value of a symbol may be used for another value only if
the symbol is free: not defined (`defined_symbol`) and not the constant of a hypothesis (`symbol_in_constants`).

`verification` calls these functions for every step or proof. They return "" where nothing is wrong.
"""

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

Symbols = Mapping[str, Any]
"""The symbols of a paper's parameters, by name."""


def _same_constant(constant: Any, symbols: Symbols) -> Any:
    return constant


def _zero(constant: Any, symbols: Symbols) -> Any:
    return sympy.Integer(0)


def _without(constant: Any, symbols: Symbols) -> None:
    return None


IMPLIED: dict[str, dict[str, Callable[[Any, Symbols], Any]]] = {
    "Smooth": {"SmoothObjective": _same_constant},
    "StronglyConvex": {"Convex": _without, "StronglyConvexObjective": _same_constant},
    "Convex": {"BoundedNegativeCurvature": _zero},
    "ExactSolutions": {"Inexactness": _zero},
    "Inexactness": {"InexactnessOfEach": _same_constant},
    "DissimilarityAlongTheRun": {"Dissimilarity": _same_constant},
    "BoundedVarianceEverywhere": {"BoundedVariance": _same_constant},
    "MatchedStepsize": {
        "Smooth": lambda _, symbols: sympy.sqrt(symbols["kappa"]) / symbols["stepsize"],
        "StronglyConvex": lambda _, symbols: 1 / (symbols["stepsize"] * sympy.sqrt(symbols["kappa"])),
    },
}
"""The assumptions that follow from an assumption, by class names, each with its constant as a function of the first's.

Only one step: `hypotheses_of` follows the chains. ExactSolutions is inexactness with γ = 0, and so on.
"""

LARGER_IS_STRONGER = ("StronglyConvex", "StronglyConvexObjective", "LargeGradient")
SMALLER_IS_STRONGER = (
    "Smooth", "SmoothObjective", "BoundedNegativeCurvature", "Inexactness", "InexactnessOfEach", "Dissimilarity",
    "BoundedVariance",
)  # fmt: skip

AT_ONE_POINT = (Dissimilarity, BoundedVariance, LargeGradient, NotStationary)
"""Assumptions about a single point w, which say nothing about the points of later rounds.

The classes that hold along a whole run (DissimilarityAlongTheRun, BoundedVarianceEverywhere) are separate.
"""


Hypotheses = dict[str, list[Any]]
"""The hypotheses that a proof may use: class names with the constants for which they hold, None for no constant."""


def hypotheses_of(of: Statement, made: Iterable[Assumption]) -> Hypotheses:
    """The assumptions `made` and all that they imply.

    Without conditions on parameters (`Given`): those are part of the claims' domains (`signs.Domain`).
    """
    proof = built(of)
    written = dict(proof.written) if proof is not None else {}
    known = symbols({**of.paper.notation, **of.calculator.parameters})
    known = {name: s.subs(written) if isinstance(s, sympy.Expr) else s for name, s in known.items()}
    found: Hypotheses = {}
    waiting = [(_name(a), c) for a in made if not isinstance(a, Given) for c in _constants(a, known)]
    while waiting:
        name, constant = waiting.pop()
        if constant not in found.setdefault(name, []):
            found[name].append(constant)
            waiting += [(other, change(constant, known)) for other, change in IMPLIED.get(name, {}).items()]
    return found


def _constants(assumption: Assumption, symbols: Symbols) -> tuple[Any, ...]:
    """The constants of the assumption: one, or one per entry of a sequence; None where it has no constant."""
    named = [getattr(assumption, field.name) for field in fields(assumption)]  # type: ignore[arg-type]
    found = [symbols[name] for name in named if isinstance(name, str) and name in symbols]
    return (None,) if not found else found[0] if isinstance(found[0], tuple) else (found[0],)


def missing_hypothesis(needed: Iterable[str], constant: Any, here: Hypotheses, domain: Domain) -> str:
    """The first of the alternatives, if none of them is available with this constant or a stronger one; else ""."""
    alternatives = tuple(needed)
    if any(_is_enough(name, available, constant, domain) for name in alternatives for available in here.get(name, [])):
        return ""
    with_constant = f" with {constant}" if any(here.get(name) for name in alternatives) else ""
    return f"{alternatives[0]}{with_constant}"


def _is_enough(name: str, available: Any, needed: Any, domain: Domain) -> bool:
    """Whether an assumption with the constant `available` gives the one with `needed`, everywhere on the domain."""
    if available is None or needed is None:
        return needed is None
    try:
        if is_zero(available - needed):
            return True
    except NotRational:
        return bool(available == needed)
    if name in SMALLER_IS_STRONGER:
        return isinstance(prove_sign(needed - available, domain), SignProof)
    return name in LARGER_IS_STRONGER and isinstance(prove_sign(available - needed, domain), SignProof)


def symbol_in_constants(here: Hypotheses, chosen: Iterable[Any]) -> str:
    """The first of the chosen symbols that occurs in the constant of an available hypothesis; "" if none does.

    Substituting for such a symbol would change the hypothesis: smoothness L is not smoothness 2L.
    """
    used = {s for constants in here.values() for c in constants if c is not None for s in sympy.sympify(c).free_symbols}
    return next((str(symbol) for symbol in chosen if symbol in used), "")


def assumption_at_one_point(made: Iterable[Assumption]) -> str:
    """The first assumption that is about a single point; "" if there is none."""
    return next((_name(a) for a in made if isinstance(a, AT_ONE_POINT)), "")


def missing_hypothesis_of(
    other: Statement, chosen: Symbols, here: Hypotheses, domain: Domain, shown: Iterable[tuple[str, Any]] = ()
) -> str:
    """The first hypothesis of another statement that is neither available here nor `shown` by a step; "" if none is.

    `chosen` are the values that the proof substitutes for symbols of that statement, also in its hypotheses.
    """
    here = {name: [*constants] for name, constants in here.items()}
    for name, constant in shown:
        here.setdefault(name, []).append(constant)
    for assumption in other.assumptions:
        if isinstance(assumption, Given):
            continue
        for constant in hypotheses_of(other, (assumption,))[_name(assumption)]:
            put_in = None if constant is None else constant.subs(dict(chosen), simultaneous=True)
            if hypothesis := missing_hypothesis((_name(assumption),), put_in, here, domain):
                return hypothesis
    return ""


def defined_symbol(chosen: Iterable[Any], steps: Iterable[Step]) -> str:
    """The first of the chosen symbols that these steps, or the proofs they use, define; "" if none is defined."""
    put_in = list(chosen)
    known = {_symbol(key) for key, _ in _definitions(steps, set())} if put_in else set()
    return next((str(symbol) for symbol in put_in if symbol in known), "")


def ambiguity(proof: Proof) -> str:
    """A symbol with two different definitions, or with itself in its definition; "" if there is none.

    Definitions in proofs whose conclusions this proof uses count as well, as far as they concern the conclusion. In a
    statement with cases each case is considered separately.
    """
    cases = list(dict.fromkeys(step.case for step in proof.steps)) or [()]
    return next(filter(None, (_ambiguous_in(proof, case) for case in cases)), "")


def _ambiguous_in(proof: Proof, case: tuple[Assumption, ...]) -> str:
    found: dict[Any, list[tuple[Any, Any]]] = {}
    for key, meaning in _definitions([step for step in proof.steps if step.case in ((), case)], set()):
        found.setdefault(_symbol(key), []).append((key, sympy.sympify(meaning)))
    if circle := _circle({symbol: {s for _, m in some for s in m.free_symbols} for symbol, some in found.items()}):
        return f"{circle} is given a meaning that contains it"
    meanings = dict(pair for some in found.values() for pair in some)
    for symbol, ((key, meaning), *others) in found.items():
        for other_key, other in others:
            if not _same((key, meaning), (other_key, other), meanings):
                return f"{symbol} is given two meanings: {key} = {meaning} and {other_key} = {other}"
    return ""


def _definitions(steps: Iterable[Step], seen: set[str]) -> Iterable[tuple[Any, Any]]:
    """The definitions in the steps, and in the proofs of statements that they use; `seen` are those visited before."""
    for step in steps:
        yield from step.by.defines()
        for claim in step.by.rests_on():
            if claim.source and claim.source not in seen:
                seen.add(claim.source)
                proof = built(statement(claim.source))
                if proof is not None:
                    concerned = sympy.sympify(claim.right - claim.left).free_symbols
                    yield from _about(concerned, list(_definitions(proof.steps, seen)))


def _about(concerned: set[Any], pairs: list[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    """The definitions of these symbols, and of the symbols in their definitions, and so on."""
    while more := [pair for pair in pairs if _symbol(pair[0]) in concerned]:
        yield from more
        pairs = [pair for pair in pairs if pair not in more]
        concerned = concerned.union(*(sympy.sympify(meaning).free_symbols for _, meaning in more))


def _symbol(key: Any) -> Any:
    """The symbol that is defined; a root is defined by its square."""
    return key.base if key.is_Pow else key


def _circle(within: dict[Any, set[Any]]) -> str:
    """A symbol that occurs in its own definition, directly or through the definitions of others; "" if none does."""
    for symbol in within:
        reached: set[Any] = set()
        waiting = [symbol]
        while waiting:
            new = within.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        if symbol in reached:
            return str(symbol)
    return ""


def _same(first: tuple[Any, Any], second: tuple[Any, Any], meanings: dict[Any, Any]) -> bool:
    """Whether two definitions of a symbol, or of its square, agree after all defined symbols are replaced."""
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
    """The name of the assumption's class, for `Runs` with the method."""
    kind = type(assumption).__name__
    return f"{kind}({assumption.method})" if isinstance(assumption, Runs) else kind
