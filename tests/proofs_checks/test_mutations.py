"""No statement with a wrong formula is proved or agrees with the code: a constant, sign or factor changed anywhere.

A wrong formula that is still true (weaker than the right one) may be caught by the second transcription instead. The
proofs' own tests change claims in one place each (`claim_mutants`), and so many of the same formulas: here some are
tried of every statement, with -m exhaustive more.
"""

import ast
import inspect
import textwrap
from collections import Counter
from random import Random

import mpmath
import pytest
from altered import with_formula
from mutations import SEVERAL, Formula, mutants, running
from problem_makers import real
from slow_layer import some_of
from source_mutations import compiled
from statement_makers import arguments, each
from test_references import COMPARED, DIGITS, REFERENCES, agree, call, evaluate

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import papers_with_proofs, verify
from fedconvex.proofs_checks.claims import builder_of
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.verification import _replayed, load
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.notation import Shape
from fedconvex.statements.rendering import expression
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # tries every proof on wrong formulas

for paper in papers_with_proofs():
    load(paper)
EVERY = [s for name in papers_with_proofs() for s in papers()[name].everything]
CHECKED = {s.identifier: s for s in EVERY if (builder_of(s) or remarks_of(s).compared) and not remarks_of(s).refutation}
FEW, SOME = 2, 6  # wrong formulas of each statement, by default and in all


def is_accepted(mutant: Statement) -> bool:
    """Whether it is proved of another claim than the right statement's, or agrees with the code."""
    try:
        accepted = verify(mutant).verdict in (Verdict.PROVED, Verdict.COMPARED)
    except Exception:  # a comparison or a printed line for which the formula does not even fit: a number for a vector
        try:
            accepted = _replayed(mutant)[0] is not None and not remarks_of(CHECKED[mutant.identifier]).compared
        except InvalidInput:  # it cannot be called with terms
            return False
    return accepted and (mutant.claim is None or mutant.claim != CHECKED[mutant.identifier].claim)


def caught_by_the_transcription(mutant: Statement, description: str) -> bool:
    left = description.startswith("left side")
    name = f"{mutant.identifier}.left" if left else mutant.identifier
    return name in COMPARED and differs(mutant.left if left else mutant.calculator, name)


def differs(calculator: Calculator, name: str) -> bool:
    for seed in range(20):  # a maximum is another entry in some of them
        values = arguments(calculator, seed)
        with mpmath.workdps(DIGITS):
            expected = call(REFERENCES[name], each(values, real))
            expected = list(expected) if isinstance(expected, tuple | list) else [expected]
            try:
                computed = evaluate(calculator, values)
            except (ArithmeticError, ValueError, TypeError):
                return True
            if not all(agree(ball, number) for ball, number in zip(computed, expected, strict=True)):
                return True
    return False


def unnoticed(statement: Statement, chosen: list[tuple[str, Statement]]) -> list[str]:
    caught: Counter[str] = Counter()
    alive = []
    for description, mutant in chosen:
        if not is_accepted(mutant):
            caught["the proof"] += 1
        elif caught_by_the_transcription(mutant, description):
            caught["the transcription"] += 1
        else:
            alive.append(description)
    by = ", ".join(f"{number} by {name}" for name, number in caught.items()) or "none"
    print(f"{statement.identifier}: {len(chosen)} wrong formulas; caught: {by}; not: {alive}")  # noqa: T201
    return alive


def tried(identifier: str) -> list[tuple[str, Statement]]:
    every = list(mutants(CHECKED[identifier]))
    return Random(identifier).sample(every, min(SOME, len(every)))


@pytest.mark.parametrize("identifier", some_of(list(CHECKED), 10))
def test_some_wrong_formulas_are_noticed(identifier) -> None:
    assert not unnoticed(CHECKED[identifier], tried(identifier)[:FEW])


@pytest.mark.exhaustive
@pytest.mark.parametrize("identifier", CHECKED)
def test_more_wrong_formulas_are_noticed(identifier) -> None:
    """Those of the default layer among them."""
    assert not unnoticed(CHECKED[identifier], tried(identifier))


@pytest.mark.parametrize("identifier", ["fedprox.theorem4", "fedprox.equation4", "feddyn.lemma1", "fedsplit.equation7",
                                        "fedsplit.equation10", "fedprox.corollary9corrected"])  # fmt: skip
def test_there_are_wrong_formulas_and_each_is_another(identifier) -> None:
    """Of sequences, vectors and matrices too."""
    statement = CHECKED[identifier]
    descriptions = [description for description, _ in mutants(statement)]
    assert len(descriptions) >= 3
    assert {m.calculator.names for _, m in mutants(statement)} == {statement.calculator.names}


@pytest.mark.exhaustive
@pytest.mark.parametrize("identifier", CHECKED)
def test_the_right_formula_is_not_caught(identifier) -> None:
    """Written anew in the same way as the wrong ones: it is not the rewriting that a proof stumbles upon."""
    statement = CHECKED[identifier]
    if any(p.shape in (*SEVERAL, Shape.COLUMN) for p in statement.calculator.parameters.values()):
        formula = rewritten_source(statement.calculator.formula)
    else:
        formula = running(statement.calculator.formula, expression(statement.calculator))
    same = with_formula(statement, formula)
    assert verify(same).verdict is verify(statement).verdict in (Verdict.PROVED, Verdict.COMPARED)
    if identifier in COMPARED:
        assert not caught_by_the_transcription(same, "")


def rewritten_source(formula: Formula) -> Formula:
    tree = ast.parse(textwrap.dedent(inspect.getsource(formula))).body[0]
    tree.decorator_list = []
    return compiled(tree, formula)
