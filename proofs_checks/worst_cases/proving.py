"""A certificate as a proof for the catalogue: one combination of facts and squares, which stands on its own.

Every multiplier is used twice: an inequality between two points of smooth functions is convexity at the first point and
the descent lemma at the second, both looking at a third point, whose value drops out.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import Fact, convex, dissimilar, inexact, minimal, smooth
from fedconvex.proofs_checks.engines.hilbert import Atom, Part, Vector, inner
from fedconvex.proofs_checks.proof import Claim, Proof, Step
from fedconvex.proofs_checks.worst_cases.certifying import Certified
from fedconvex.proofs_checks.worst_cases.classes import Kinds
from fedconvex.proofs_checks.worst_cases.forms import DEVIATION, Family, Form, Key, mean
from fedconvex.proofs_checks.worst_cases.playing import Evaluation
from fedconvex.proofs_checks.worst_cases.programs import Matrix
from fedconvex.proofs_checks.worst_cases.questions import LEAST, Question
from fedconvex.rationals import to_fmpq


def proof(question: Question, certificate: Certified) -> Proof:
    """That the metric is at most t times what it is measured in, for the functions and vectors of the question."""
    if isinstance(question.clients, Kinds):
        raise ValueError("proofs about several kinds of clients are not written out")
    program = certificate.program
    multipliers = list(map(to_fmpq, certificate.multipliers))
    facts: list[tuple[Any, Fact]] = []
    for (name, _), multiplier in zip(program.inequalities, multipliers, strict=True):
        if multiplier:
            facts += [(_number(multiplier), fact) for fact in _facts(name, question)]
    squares = []
    blocks, _ = program.remainder(to_fmpq(certificate.t), multipliers)
    for matrix, rows, block in zip(blocks, program.reduced, program.blocks, strict=True):
        seen = [Vector({_atom(block[j]): _number(c) for j, c in row.items()}) for row in rows]
        squares += [(_number(weight), _combined(row, seen)) for weight, row in _squares(matrix)]
    t = _number(to_fmpq(certificate.t))
    name = f"{question.metric} <= t·N"
    claim = Claim(-_expression(program.constant), "<=", t * _expression(program.measure), name=name)
    what = f"a worst case of {type(question.method).__name__}: {len(facts)} facts with rational multipliers"
    by = Combination(facts=tuple(facts), squares=tuple(squares))
    return Proof((Step(rf"\text{{{question.metric}}} \le {sympy.latex(t)}\cdot N", what, claim, by),))


def _facts(name: str, question: Question) -> list[Fact]:
    evaluations, functions = question.board.evaluations, question.clients
    if name == "dissimilarity":
        first = next(e for e in evaluations if e.point.key == question.start.key)
        assert question.dissimilarity is not None
        return [dissimilar(_vector(first.gradient), _number(to_fmpq(question.dissimilarity)))]
    low, high = to_fmpq(functions.lowest), to_fmpq(functions.highest)
    if name.startswith("inexactness "):
        residual = question.board.residuals[int(name.removeprefix("inexactness ")) - 1]
        return [inexact(_vector(residual.left), _vector(residual.first), _number(residual.gamma))]
    if name.startswith(LEAST):
        at = evaluations[int(name.removeprefix(f"{LEAST} from "))]
        lower, down = sympy.Symbol(f"F(z) {name}", real=True), _vector(mean(at.gradient)) / -_number(high)
        return [
            minimal(lower, _symbol(LEAST)),
            smooth(lower, _value(at), _vector(mean(at.gradient)), down, _number(high)),
        ]
    after, before = (evaluations[int(place)] for place in name.split(" from "))
    step = after.point - before.point
    if low == high:
        return [convex(_value(after), _value(before), _vector(before.gradient), _vector(step), _number(low))]
    further = (before.gradient - after.gradient + step * low) / (high - low)  # from `after` to the third point
    third = sympy.Symbol(f"F(z) {name}", real=True)
    return [
        convex(third, _value(before), _vector(before.gradient), _vector(step + further), _number(low)),
        smooth(third, _value(after), _vector(after.gradient), _vector(further), _number(high)),
    ]


def _squares(matrix: Matrix) -> list[tuple[Any, list[Any]]]:
    """A form that is not negative as Σ weight · (row · x)²."""
    rest, found = [list(row) for row in matrix], []
    for i in range(len(rest)):
        pivot = rest[i][i]
        if pivot:
            row = [entry / pivot for entry in rest[i]]
            found.append((pivot, row))
            rest = [[entry - pivot * row[a] * row[b] for b, entry in enumerate(line)] for a, line in enumerate(rest)]
    return found


def _combined(row: list[Any], seen: list[Vector]) -> Vector:
    return sum((_number(c) * vector for c, vector in zip(row, seen, strict=True) if c), start=Vector())


def _expression(form: Form) -> Any:
    """In the symbols of `engines.hilbert`."""
    products = sum(
        _number(c) * inner(Vector({_atom(a): sympy.Integer(1)}), Vector({_atom(b): sympy.Integer(1)}))
        for (a, b), c in form.products.items()
    )
    return products + sum(_number(c) * _symbol(name) for name, c in form.values.items())


def _vector(u: Family) -> Vector:
    return Vector({_atom(key): _number(c) for key, c in u.parts.items()})


def _atom(key: Key) -> Atom:
    part, name = key
    return Atom(name.replace("*", "_star"), Part.DEVIATION if part == DEVIATION else Part.SAME)


def _value(evaluation: Evaluation) -> Any:
    return _symbol(evaluation.value)


def _symbol(name: str) -> Any:
    return sympy.Symbol(name, real=True) if name else sympy.Integer(0)


def _number(x: Any) -> Any:
    return sympy.Rational(int(x.p), int(x.q))
