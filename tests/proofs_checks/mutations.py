"""Statements with a formula that is slightly wrong: a proof that still passes does not look at the formula.

Changed are the formula and the left side's formula: every rational number c becomes c + 1 (an exponent, a numerator
and a denominator as well; of a negative number, its size), every added term changes its sign, every factor is left
out. Mutants that are equal to the formula, or to a mutant before, on all admissible arguments tried, are left out.
A formula of numbers is changed as a SymPy expression, a formula of sequences or matrices in its source
(`source_mutations`); there, a mutant forgets the first client too.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any

import flint
import numpy as np
import sympy
from altered import altered
from source_mutations import mutated_sources
from statement_makers import arguments

from fedconvex.claims.terms import Number
from fedconvex.claims.terms import number as constant
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.functions import ceil, exp, home, log, maximum, minimum, power, sqrt
from fedconvex.statements.notation import Shape
from fedconvex.statements.rendering import expression
from fedconvex.statements.results import like, parts
from fedconvex.statements.statement import Statement

Formula = Callable[..., Any]
SEVERAL = (Shape.SEQUENCE, Shape.VECTORS, Shape.MATRICES)
POINTS = 8  # at which formulas are compared
DIGITS = 30


def mutants(statement: Statement) -> Iterator[tuple[str, Statement]]:
    """Every wrong version of the statement, with what is wrong with it."""
    for description, calculator in changed(statement.calculator):
        yield description, altered(statement, calculator=calculator)
    if statement.left is not None:
        for description, calculator in changed(statement.left):
            yield f"left side: {description}", altered(statement, left=calculator)


def changed(calculator: Calculator) -> Iterator[tuple[str, Calculator]]:
    """The calculator with another formula, without those that compute the same."""
    compare = comparing(calculator)
    seen = {compare(calculator.formula)}
    for description, formula in changed_formulas(calculator):
        values = compare(formula)
        if values not in seen:
            seen.add(values)
            yield description, replace(calculator, formula=formula)


def changed_formulas(calculator: Calculator) -> Iterator[tuple[str, Formula]]:
    if any(p.shape in (*SEVERAL, Shape.COLUMN) for p in calculator.parameters.values()):
        yield from mutated_sources(calculator.formula)
        several = [name for name, p in calculator.parameters.items() if p.shape in SEVERAL]
        yield "the first client is forgotten", without_first(calculator.formula, several)
        return
    value = expression(calculator)
    tree = list(parts(value))
    for number, part in enumerate(tree):
        for description, other in changed_expressions(part, alone=True):
            new = [*tree[:number], other, *tree[number + 1 :]]
            yield description, running(calculator.formula, like(type(value), new) if len(tree) > 1 else other)


def without_first(formula: Formula, several: list[str]) -> Formula:
    @wraps(formula)
    def mutant(**values: Any) -> Any:
        return formula(**{n: v[1:] if n in several else v for n, v in values.items()})

    return mutant


def changed_expressions(part: Any, alone: bool = False) -> Iterator[tuple[str, Any]]:
    """The expression with one place changed, not simplified any more than SymPy cannot help."""
    if part.is_Symbol and alone:
        yield from ((f"{part} -> {other}", other) for other in (2 * part, -part))
    if part.is_Rational:
        yield from ((f"{part} -> {number}", number) for number in changed_numbers(part))
    if part.is_Add:
        for n, term in enumerate(part.args):
            yield f"the sign of {term}", part.func(*part.args[:n], -term, *part.args[n + 1 :])
    if part.is_Mul:
        for n, factor in enumerate(part.args):
            yield f"without the factor {factor}", part.func(*part.args[:n], *part.args[n + 1 :])
    for n, inside in enumerate(part.args):
        for description, other in changed_expressions(inside):
            within = description if " in " in description else f"{description} in {part}"
            yield within, part.func(*part.args[:n], other, *part.args[n + 1 :])


def changed_numbers(number: Any) -> list[Any]:
    sign = -1 if number < 0 else 1
    larger = [sympy.Rational(number.p + sign, number.q)]
    return larger if number.q == 1 else [*larger, sympy.Rational(number.p, number.q + 1)]


def running(formula: Formula, tree: Any) -> Formula:
    """The expression as a formula with the arguments of another: for numbers of every kind, and for vectors."""

    @wraps(formula)
    def mutant(**values: Any) -> Any:
        defaults = {n: a for n, a in (formula.__kwdefaults__ or {}).items() if n not in values}
        values = {n: Fraction(v) if type(v) is int else v for n, v in (values | defaults).items()}
        constant = numbers_for(list(values.values()))
        separate = any(isinstance(v, Number) for v in values.values()) and squares_a_power(formula(**values))
        results = [evaluated(part, values, constant, separate) for part in parts(tree)]
        return like(type(tree), results) if isinstance(tree, tuple) else results[0]

    return mutant


def numbers_for(values: list[Any]) -> Callable[[Any], Any]:
    """How a rational number is written in the arithmetic of the values."""
    homes = {home(value) for value in values}
    if "sympy" in homes:
        return lambda number: number
    if any(isinstance(value, Number) for value in values):
        return lambda number: constant(Fraction(int(number.p), int(number.q)))
    if any(type(value).__name__ == "arb" for value in values):
        return lambda number: flint.arb(flint.fmpq(int(number.p), int(number.q)))
    if any(type(value).__name__ == "fmpq" for value in values):
        return lambda number: flint.fmpq(int(number.p), int(number.q))
    if homes & {"numpy", "torch"} or any(isinstance(value, float) for value in values):
        return float
    return lambda number: Fraction(int(number.p), int(number.q))


def squares_a_power(term: Any) -> bool:
    """Whether (b^e)² is in a term. SymPy joins it to b^(2e), of which a kernel reads the other form, (b²)^e."""
    if not isinstance(term, Number):
        return False
    if term.head == "^" and term.args[0].head == "^" and term.args[0].args[1].head != "constant":
        return True
    return any(map(squares_a_power, term.args))


def evaluated(tree: Any, values: dict[str, Any], constant: Callable[[Any], Any], separate: bool = False) -> Any:
    """The expression, computed with Python's operators; `separate`: b^(2e) as (b^e)²."""
    if tree.is_Rational:
        return constant(tree)
    if tree.is_Symbol:
        return values[tree.name]
    number = tree.exp.as_coeff_Mul()[0] if separate and tree.is_Pow and not tree.exp.is_Rational else 1
    if number > 1 and number.is_Integer:
        return evaluated(tree.base ** (tree.exp / number), values, constant) ** int(number)
    inside = [evaluated(part, values, constant, separate) for part in tree.args]
    first, *others = inside
    if tree.is_Add:
        for other in others:
            first = first + other
        return first
    if tree.is_Mul:
        for other in others:
            first = first * other
        return first
    if tree.is_Pow:
        return raised(first, tree.exp, others[0], constant)
    functions = {
        "Max": maximum, "Min": minimum, "Abs": abs, "exp": exp, "log": log, "ceiling": ceil,
    }  # fmt: skip
    return functions[tree.func.__name__](*inside)


def raised(base: Any, exponent: Any, computed: Any, constant: Callable[[Any], Any]) -> Any:
    if not exponent.is_Rational:
        return power(base, computed)
    size = abs(exponent)
    found = base ** int(size) if size.q == 1 else sqrt(base) ** int(size * 2) if size.q == 2 else base**computed
    return constant(sympy.Integer(1)) / found if exponent < 0 and size.q < 3 else found


def comparing(calculator: Calculator) -> Callable[[Formula], tuple[str, ...]]:
    """A function that says what a formula gives at some admissible arguments, to many digits."""
    if any(p.shape in (Shape.MATRICES, Shape.COLUMN) for p in calculator.parameters.values()):
        return lambda formula: of_matrices(formula, calculator)
    with flint.ctx.workprec(10 * DIGITS):
        points = [{n: in_balls(v) for n, v in arguments(calculator, seed).items()} for seed in range(POINTS)]

    def at_points(formula: Formula) -> tuple[str, ...]:
        found: list[str] = []
        with flint.ctx.workprec(10 * DIGITS):
            for values in points:
                try:
                    found += [flint.arb(part).str(DIGITS, radius=False) for part in parts(formula(**values))]
                except (ArithmeticError, ValueError, TypeError) as error:
                    found.append(type(error).__name__)
        return tuple(found)

    return at_points


def in_balls(value: Any) -> Any:
    if isinstance(value, list):
        return [in_balls(entry) for entry in value]
    return flint.arb(flint.fmpq(Fraction(value).numerator, Fraction(value).denominator))


def of_matrices(formula: Formula, calculator: Calculator) -> tuple[str, ...]:
    """The same for lists of two clients' matrices."""
    random = np.random.default_rng(0)
    data = {"A": list(random.normal(size=(2, 4, 2))), "b": list(random.normal(size=(2, 4))), "x": random.normal(size=2)}
    numbers = {"stepsize": 0.1, "local_steps": 3}
    try:
        result = formula(**{name: (data | numbers)[name] for name in calculator.parameters})
    except (ArithmeticError, ValueError, TypeError) as error:
        return (type(error).__name__,)
    return tuple(f"{entry:.9g}" for entry in np.atleast_1d(result))
