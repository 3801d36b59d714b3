"""Whether a proof ends with its statement's formula: if the formula is doubled, the proof's end must change.

A statement's left side is often words, so no program can compare the last claim with the whole statement. This test
only excludes a proof of something else, of 0 = 0 say, which would remain the same whatever the formula is.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

from fedconvex.proofs_checks.proof import Proof, Role, Step, builder_of
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.results import like, parts
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict


def untied(of: Statement, proof: Proof) -> str:
    """The part of the formula that the end of the proof does not depend on, as a sentence; "" if there is none.

    Also "" where the proof says why its last step does not contain the formula (`Proof.ends`).
    """
    if proof.ends:
        return ""
    number = len(of.symbol)
    for part, (name, other) in enumerate(_with_other_formulas(of, number)):
        here = _ends(of, proof, part, number)
        try:
            there = _ends(other, _rebuilt(other), part, number)
        except Exception:  # the builder fails with another formula, so the proof depends on it
            continue
        if not here or all(map(_is_the_same, here, there)):
            return f"its proof does not end with {name}: it is the same with another formula"
    return ""


def _with_other_formulas(of: Statement, number: int) -> Iterator[tuple[str, Statement]]:
    """The statement with one part of its formula doubled, for each part in turn, and with its left side doubled."""
    for part in range(number):
        yield f"part {part + 1} of the formula", replace(of, calculator=_doubled(of.calculator, part, number))
    if of.left is not None:
        yield "the formula on the left", replace(of, left=_doubled(of.left, 0, 1))


def _doubled(calculator: Calculator, part: int, number: int) -> Calculator:
    @wraps(calculator.formula)
    def formula(**values: Any) -> Any:
        found = calculator.formula(**values)
        if number == 1:
            return 2 * found
        return like(type(found), [2 * p if k == part else p for k, p in enumerate(parts(found))])

    return replace(calculator, formula=formula)


def _rebuilt(of: Statement) -> Proof:
    builder = builder_of(of)
    assert builder is not None
    return builder(of)


def _ends(of: Statement, proof: Proof, part: int, number: int) -> list[Step]:
    """The steps that should contain the part: the last step, or the last of the part's case.

    Where a formula has several parts but no cases, any step may be the end of one of them.
    """
    steps = [step for step in proof.steps if step.role is Role.PROOF]
    if of.cases:
        steps = [step for step in steps if step.case == of.cases[min(part, number - 1)]]
    # A named tuple with one proof (Corollary 7's μ and ρ, say) has no last step for each of its parts.
    return steps if number > 1 and not of.cases else steps[-1:]


def _is_the_same(step: Step, other: Step) -> bool:
    """Whether the other formula changes neither the claim nor the outcome of a comparison on instances."""
    if step.claim != other.claim:
        return False
    return step.by.shows_claim or other.by.run(other.claim).verdict is Verdict.PROVED
