"""No proof passes with a formula that is wrong: a constant, sign or factor changed anywhere in it.

A wrong formula that is still true (weaker than the right one) may be caught by the second transcription instead.
"""

import ast
import inspect
import textwrap
from collections import Counter
from dataclasses import replace
from random import Random

import mpmath
import pytest
from mutations import SEVERAL, Formula, mutants, running, verified
from source_mutations import compiled
from statement_makers import arguments
from test_references import COMPARED, DIGITS, REFERENCES, agree, call, evaluate, in_mpmath

from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.engines import signs
from fedconvex.proofs_checks.verification import proof_of
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.notation import Shape
from fedconvex.statements.rendering import expression
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # tries every proof on many wrong formulas

PROVED = {s.identifier: s for paper in papers().values() for s in (*paper, *paper.ours.values()) if proof_of(s)}
SAMPLE = 2
TIME_LIMIT = 2.0  # for z3, which mostly has nothing to find


def caught_by_the_proof(mutant: Statement) -> bool:
    """A refutation says nothing of the formula's other places: it is not counted."""
    found = verified(mutant)
    return found is None or (found.verdict is not Verdict.PROVED and found.witness is None)


def caught_by_the_transcription(mutant: Statement, description: str) -> bool:
    left = description.startswith("left side")
    name = f"{mutant.identifier}.left" if left else mutant.identifier
    return name in COMPARED and differs(mutant.left if left else mutant.calculator, name)


def differs(calculator: Calculator, name: str) -> bool:
    for seed in range(20):  # a maximum is another entry in some of them
        values = arguments(calculator, seed)
        with mpmath.workdps(DIGITS):
            expected = call(REFERENCES[name], {n: in_mpmath(v) for n, v in values.items()})
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
        if caught_by_the_proof(mutant):
            caught["the proof"] += 1
        elif caught_by_the_transcription(mutant, description):
            caught["the transcription"] += 1
        else:
            alive.append(description)
    by = ", ".join(f"{number} by {name}" for name, number in caught.items()) or "none"
    print(f"{statement.identifier}: {len(chosen)} wrong formulas; caught: {by}; not: {alive}")  # noqa: T201
    return alive


@pytest.fixture
def little_time(monkeypatch) -> None:
    monkeypatch.setattr(signs, "TIME_LIMIT", TIME_LIMIT)


@pytest.mark.parametrize("identifier", PROVED)
@pytest.mark.usefixtures("little_time")
def test_some_wrong_formulas_are_noticed(identifier) -> None:
    every = list(mutants(PROVED[identifier]))
    chosen = Random(identifier).sample(every, min(SAMPLE, len(every)))
    assert not unnoticed(PROVED[identifier], chosen)


@pytest.mark.exhaustive
@pytest.mark.parametrize("identifier", PROVED)
@pytest.mark.usefixtures("little_time")
def test_every_wrong_formula_is_noticed(identifier) -> None:
    assert not unnoticed(PROVED[identifier], list(mutants(PROVED[identifier])))


@pytest.mark.parametrize("identifier", ["fedprox.theorem4", "fedprox.equation4", "feddyn.lemma1", "fedsplit.equation7",
                                        "fedsplit.equation10", "fedprox.corollary9"])  # fmt: skip
def test_there_are_wrong_formulas_and_each_is_another(identifier) -> None:
    """Of sequences, vectors and matrices too."""
    statement = PROVED[identifier]
    descriptions = [description for description, _ in mutants(statement)]
    assert len(descriptions) >= 3
    assert {m.calculator.names for _, m in mutants(statement)} == {statement.calculator.names}


@pytest.mark.exhaustive
@pytest.mark.parametrize("identifier", PROVED)
@pytest.mark.usefixtures("little_time")
def test_the_right_formula_is_not_caught(identifier) -> None:
    """Written anew in the same way as the wrong ones: it is not the rewriting that a proof stumbles upon."""
    statement = PROVED[identifier]
    if any(p.shape in (*SEVERAL, Shape.COLUMN) for p in statement.calculator.parameters.values()):
        formula = rewritten_source(statement.calculator.formula)
    else:
        formula = running(statement.calculator.formula, expression(statement.calculator))
    same = replace(statement, calculator=replace(statement.calculator, formula=formula))
    assert verify(same).verdict is verify(statement).verdict
    if identifier in COMPARED:
        assert not caught_by_the_transcription(same, "")


def rewritten_source(formula: Formula) -> Formula:
    tree = ast.parse(textwrap.dedent(inspect.getsource(formula))).body[0]
    tree.decorator_list = []
    return compiled(tree, formula)
