"""A certificate as a proof of the catalogue: a combination of facts and squares that is checked on its own.

An interpolation inequality is the sum of two facts: convexity at the first point and the descent lemma at the second,
both about a third point, whose value cancels. So every multiplier occurs twice.
"""

from collections.abc import Sequence
from typing import Any

import sympy

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.engines.algebra import factored
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import Fact, convex, dissimilar, inexact, minimal, smooth
from fedconvex.proofs_checks.engines.hilbert import Atom, HilbertVector, Subspace, inner
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Proof, Relation, Step
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, ZERO, Family, Form, Key, mean
from fedconvex.proofs_checks.worst_cases.questions.board import Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.proofs_checks.worst_cases.questions.terms import LEAST
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parametric


def proof(question: Question, t: Any, multipliers: Sequence[Any], domain: Domain | None = None) -> Proof:
    """The proof that the metric is at most t times its divisor, for all functions and vectors of the question.

    t and the multipliers may be rational functions of parameters in a domain (`rational_functions`).

    Raises:
        ValueError: client groups or enumerated draws, function values that do not cancel, no sum of squares.
    """
    if isinstance(question.spec.clients, ClientGroups) or question.enumerated:
        raise ValueError("proofs about client groups, or about all possible draws, are not written out")
    program, domain = question.program, domain or Domain()
    facts: list[tuple[Any, Fact]] = []
    for (name, _), multiplier in zip(program.inequalities, multipliers, strict=True):
        if multiplier:
            facts += [(_number(multiplier), fact) for fact in _facts(name, question)]
    rest = program.rest(t, multipliers)
    if rest.values:
        raise ValueError(f"the function values {', '.join(rest.values)} do not cancel")
    squares = [(_number(weight), _vector(u)) for weight, u in _squares(rest)]
    name = f"{question.spec.metric} <= t·N"
    claim = Relation(-_expression(program.constant), "<=", _number(t) * _expression(program.divisor), domain, name)
    what = f"a worst case of {type(question.spec.method).__name__}: {len(facts)} facts and {len(squares)} squares"
    by = Combination(facts=tuple(facts), squares=tuple(squares))
    return Proof((Step(_shown(question.spec.metric, _number(t)), what, claim, by),))


def _shown(metric: str, t: Any) -> str:
    if metric == "descent":
        return rf"f(w)-f(w^+) \ge {sympy.latex(factored(-t))}\,\|\nabla f(w)\|^2"
    return rf"\text{{{metric.replace('_', ' ')}}} \le {sympy.latex(t)}\cdot N"


def _facts(name: str, question: Question) -> list[Fact]:
    """The facts whose sum is the inequality of that name."""
    evaluations, functions = question.board.evaluations, question.spec.clients
    if name == "dissimilarity":
        first = next(e for e in evaluations if e.point.key == question.start.key)
        assert question.spec.dissimilarity is not None
        return [dissimilar(_vector(first.gradient), _number(to_fmpq(question.spec.dissimilarity)))]
    low, high = to_fmpq(functions.lowest), to_fmpq(functions.highest)
    if name.startswith("inexactness "):
        residual = question.board.residuals[int(name.removeprefix("inexactness ")) - 1]
        return [inexact(_vector(residual.left), _vector(residual.first), _number(residual.gamma))]
    if name.startswith(LEAST):
        at = evaluations[int(name.removeprefix(f"{LEAST} from "))]
        # From x a gradient step leads to some z: F(z) >= inf F, and the descent lemma bounds F(z) from above.
        lower, down = sympy.Symbol(f"F(z) {name}", real=True), _vector(mean(at.gradient)) / -_number(high)
        return [
            minimal(lower, _symbol(LEAST)),
            smooth(lower, _value(at), _vector(mean(at.gradient)), down, _number(high)),
        ]
    after, before = (evaluations[int(place)] for place in name.split(" from "))
    step = after.point - before.point
    if low == high:  # the square of the interpolation inequality is 0, and strong convexity remains
        return [convex(_value(after), _value(before), _vector(before.gradient), _vector(step), _number(low))]
    further = (before.gradient - after.gradient + step * low) / (high - low)  # from `after` to the third point
    third = sympy.Symbol(f"F(z) {name}", real=True)
    return [
        convex(third, _value(before), _vector(before.gradient), _vector(step + further), _number(low)),
        smooth(third, _value(after), _vector(after.gradient), _vector(further), _number(high)),
    ]


def _squares(form: Form) -> list[tuple[Any, Family]]:
    """A positive semidefinite form without values as Σ weight · ‖vector‖², by elimination. Raises ValueError else."""
    keys = sorted({key for pair in form.products for key in pair})
    rest = [[form.products.get((min(a, b), max(a, b)), ZERO) / (1 if a == b else 2) for b in keys] for a in keys]
    found = []
    for i, key in enumerate(keys):
        pivot = rest[i][i]
        if pivot:
            row = [entry / pivot for entry in rest[i]]
            found.append((pivot, Family({other: c for other, c in zip(keys, row, strict=True) if c})))
            rest = [[entry - pivot * row[a] * row[b] for b, entry in enumerate(line)] for a, line in enumerate(rest)]
        elif any(rest[i]):  # a zero pivot beside an entry that is not 0: the form takes both signs
            raise ValueError(f"the rest is no sum of squares: {key} has no square")
    return found


def _expression(form: Form) -> Any:
    """The form as an expression in the symbols of `engines.hilbert`."""
    products = sum(
        _number(c) * inner(HilbertVector({_atom(a): sympy.Integer(1)}), HilbertVector({_atom(b): sympy.Integer(1)}))
        for (a, b), c in form.products.items()
    )
    return products + sum(_number(c) * _symbol(name) for name, c in form.values.items())


def _vector(u: Family) -> HilbertVector:
    return HilbertVector({_atom(key): _number(c) for key, c in u.parts.items()})


def _atom(key: Key) -> Atom:
    part, name = key
    # SymPy would print * as a product.
    return Atom(name.replace("*", "_star"), Subspace.DEVIATION if part == DEVIATION else Subspace.SAME)


def _value(evaluation: Evaluation) -> Any:
    return _symbol(evaluation.value)


def _symbol(name: str) -> Any:
    return sympy.Symbol(name, real=True) if name else sympy.Integer(0)


def _number(x: Any) -> Any:
    if isinstance(x, Parametric):
        return x.expression
    exact = to_fmpq(x)
    return sympy.Rational(int(exact.p), int(exact.q))
