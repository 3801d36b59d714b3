"""Claims that differ from a claim in one place, and proofs that differ in one multiplier: a kernel must refuse them."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector
from fedconvex.proofs_checks.claims import LIBRARY
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.proofs import (
    AlongSteps,
    Combine,
    Derivation,
    Iterate,
    LocalSteps,
    Nonnegative,
    Telescope,
)


def refused(setting: ClaimSetting, claim: Claim, proof: Derivation) -> bool:
    """Whether the kernel refuses the proof of the claim, which may cite statements of the catalogue."""
    try:
        LIBRARY.theorem("", setting, claim, proof)
    except Refused:
        return True
    return False


BY = (Fraction(6, 7), Fraction(8, 7))


def mutants(claim: Claim) -> Iterator[Claim]:
    """The claim with one constant or parameter a seventh larger or smaller, one summand dropped, one sign flipped, or
    one vector before the round in the place of the one after it.
    """
    for side in ("left", "right"):
        for changed in _changed(getattr(claim, side)):
            yield replace(claim, **{side: changed})


def _changed(term: Any) -> Iterator[Any]:
    if type(term) not in (Vector, Number):
        return
    if term.head == "constant":
        yield from (Number("constant", (term.args[0] * factor,)) for factor in BY if term.args[0])
    if term.head == "parameter":
        yield term * BY[1]
    if term.head in ("server", "shared", "memory", "last answers"):
        yield Vector(term.head, (*term.args[:-1], 1 - term.args[-1]))
    if term.head in ("+", "-"):
        yield term.args[0]
        yield term.args[1] if term.head == "+" else -term.args[1]
        yield type(term)("-" if term.head == "+" else "+", term.args)
    for place, part in enumerate(term.args):
        for changed in _changed(part):
            yield type(term)(term.head, (*term.args[:place], changed, *term.args[place + 1 :]))


def mutated_proofs(proof: Derivation) -> Iterator[Derivation]:
    """The proof with one multiplier of a fact, or one weight of a square, an eighth larger."""
    if (cases := proof.cases) is not None:
        for which in ("above", "below"):
            for changed in mutated_proofs(getattr(cases, which)):
                yield replace(proof, cases=replace(cases, **{which: changed}))
    for lines in ("of_round", "lines"):
        before = getattr(proof, lines)
        for place, line in enumerate(before):
            for changed_line in _changed_lines(line):
                yield replace(proof, **{lines: (*before[:place], changed_line, *before[place + 1 :])})


def _changed_lines(line: Any) -> Iterator[Any]:
    for name in ("facts", "squares") if type(line) in (Combine, Telescope, Iterate, LocalSteps, AlongSteps) else ():
        pairs = getattr(line, name)
        for k, (multiplier, what) in enumerate(pairs):
            if isinstance(what, Nonnegative) and _is_zero(what.of):  # 0 ≥ 0 only names roots: no multiplier counts
                continue
            yield replace(line, **{name: (*pairs[:k], (multiplier * Fraction(9, 8), what), *pairs[k + 1 :])})


def _is_zero(number: Number) -> bool:
    if number.head == "*":
        return any(_is_zero(factor) for factor in number.args)
    return number.head == "constant" and number.args[0] == 0
