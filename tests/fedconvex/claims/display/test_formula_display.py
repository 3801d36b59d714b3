"""Every displayed formula is the formula that runs: trees and LaTeX are evaluated and compared with the calculators."""

import math
import operator
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from latex_evaluator import evaluated as read

from fedconvex.claims.display import typesetting
from fedconvex.claims.display.formulas import MANY, SEVERAL, Formula, formula
from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.statements import displayed
from fedconvex.claims.terms import Number, parameter, parts
from fedconvex.statements import Calculator, Statement
from fedconvex.statements.notation import Parameter
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core

OF_MATRICES = {"fedsplit.equation8", "fedsplit.equation9", "fedsplit.equation10"}  # see `test_matrices`
ARITHMETIC = {"+", "-", "*", "/", "^", "neg", "root", "max", "exp", "log", "constant", "parameter", "named"}
FUNCTIONS = {"root": math.sqrt, "exp": math.exp, "log": math.log, "ceil": math.ceil, "neg": operator.neg}
OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow, "max": max,
}  # fmt: skip


def evaluated(term: Any, values: Mapping[str, Any]) -> float:
    """A tree in floats."""
    match term.head, term.args:
        case "constant", (c,):
            return float(c)
        case "parameter", (name,):
            return float(values[name])
        case "named", (_, inside):
            return evaluated(inside, values)
        case head, (x,):
            return FUNCTIONS[head](evaluated(x, values))
    x, y = (evaluated(part, values) for part in term.args)
    return float(OPERATORS[term.head](x, y))


def catalogue() -> dict[str, Statement]:
    return {s.identifier: s for paper in papers().values() for s in paper.everything}


def formulas() -> dict[str, tuple[Calculator, Statement]]:
    """The formulas of all statements, both sides."""
    found = {}
    for name, s in catalogue().items():
        found[name] = (s.calculator, s)
        if s.left is not None:
            found[f"{name}.left"] = (s.left, s)
    return found


def plain(calculator: Calculator) -> Calculator:
    """The formula in its parameters alone, whatever they mean in claims."""
    return replace(calculator, parameters={n: replace(p, means=None) for n, p in calculator.parameters.items()})


def tree(name: str) -> Formula:
    calculator, s = formulas()[name]
    return formula(plain(calculator), s.paper.letters, {n: replace(p, means=None) for n, p in s.paper.notation.items()})


def drawn(calculator: Calculator, seed: int) -> dict[str, Any]:
    """Values of the parameters at which the formula is a real number; the conditions of the statement may fail."""
    random = Random(seed)
    for _ in range(100):
        values = {name: value(p, random) for name, p in calculator.parameters.items()}
        try:
            result = calculator.formula(**{n: floats(v) for n, v in values.items()})
        except (ArithmeticError, ValueError):
            continue
        if all(isinstance(r, float | int) for r in (result if isinstance(result, tuple) else (result,))):
            return values
    raise AssertionError(calculator.owner)


def value(of: Parameter, random: Random) -> Any:
    def one() -> Fraction:
        return Fraction(random.randint(2, 6)) if of.integer else Fraction(random.randint(11, 80), random.randint(7, 30))

    return tuple(one() for _ in range(MANY)) if of.shape in SEVERAL else one()


def floats(given: Any) -> Any:
    return tuple(map(float, given)) if isinstance(given, tuple) else float(given)


def at_names(values: Mapping[str, Any]) -> dict[str, Fraction]:
    """The values by the names of the tree's parameters, those of single clients among them."""
    found = {n: v for n, v in values.items() if not isinstance(v, tuple)}
    return found | {f"{n}[{i}]": x for n, v in values.items() if isinstance(v, tuple) for i, x in enumerate(v)}


def close(a: Any, b: Any) -> bool:
    return math.isclose(float(a), float(b), rel_tol=1e-8, abs_tol=1e-8)


def symbols_at(made: Formula, values: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each symbol in the displayed formula; sums over clients are computed from their terms."""
    known = at_names(values) | {n: evaluated(t, at_names(values)) for n, t in made.meanings.items()}
    symbols = {made.display.symbols[name]: x for name, x in known.items() if name in made.display.symbols}
    return with_meanings(symbols, made.display.where(*made.values))


def with_meanings(symbols: dict[str, Any], where: list[tuple[str, str]]) -> dict[str, Any]:
    """What the named symbols are, read off the displayed definitions: the last ones need no others."""
    for symbol, meaning in reversed(where):
        symbols[symbol] = read(meaning, symbols)
    return symbols


def results(calculator: Calculator, values: Mapping[str, Any]) -> tuple[Any, ...]:
    found = calculator.formula(**{n: floats(v) for n, v in values.items()})
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.sample(80)
@pytest.mark.parametrize("name", sorted(set(formulas()) - OF_MATRICES))
def test_tree_and_latex_have_the_value_of_the_formula(name: str) -> None:
    calculator, made = formulas()[name][0], tree(name)
    for seed in range(3):
        values = drawn(calculator, seed)
        known = at_names(values) | {n: evaluated(t, at_names(values)) for n, t in made.meanings.items()}
        symbols = symbols_at(made, values)
        for term, latex, expected in zip(made.values, made.latex, results(calculator, values), strict=True):
            assert isinstance(term, Number)
            assert close(evaluated(term, known), expected)
            assert close(read(latex, symbols), expected), latex
        inline = replace(made.display, slashes=True)
        for term, expected in zip(made.values, results(calculator, values), strict=True):
            assert close(read(inline.latex(term), with_meanings(symbols, inline.where(term))), expected)


def differs(name: str) -> bool:
    """Whether the displayed formula has another value than the calculator."""
    calculator, made = formulas()[name][0], tree(name)
    try:
        values = drawn(calculator, 0)
        symbols = symbols_at(made, values)
        shown = [read(latex, symbols) for latex in made.latex]
    except (ValueError, ArithmeticError):
        return True
    return not all(map(close, shown, results(calculator, values)))


def test_a_dropped_bracket_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a display has brackets, it is another formula without them."""
    bracketed = []
    for name in sorted(set(formulas()) - OF_MATRICES):
        made = tree(name)
        assert not differs(name)
        shown = [*made.latex, *(meaning for _, meaning in made.display.where(*made.values))]
        if any("+" in x and r"\max" not in x for latex in shown for x in latex.split("(")[1:] if latex.count("(")):
            bracketed.append(name)
    monkeypatch.setattr(typesetting, "brackets", lambda text: text)
    found = [name for name in bracketed if differs(name)]
    assert len(found) >= 30
    assert {"feddyn.lemma5", "fedprox.theorem4", "fedsplit.theorem1"} <= set(found)


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_a_symbol_means_one_thing_in_a_statement(name: str) -> None:
    where = [text.partition(" = ")[0] for text in displayed(catalogue()[name]).where]
    assert len(where) == len(set(where))


def opaque(term: Any, display: Display) -> Any:
    """A side of a claim with a parameter for each length, value and expectation, named by how it is displayed."""
    if term.head not in ARITHMETIC:
        return parameter(display.latex(term))
    return type(term)(term.head, tuple(opaque(x, display) if type(x) is Number else x for x in term.args))


def of_numbers(claim: Any) -> bool:
    """A claim about numbers: the reader of `latex_evaluator` knows no vectors."""
    return claim is not None and isinstance(claim.left, Number)


@pytest.mark.sample(60)
@pytest.mark.parametrize("name", sorted(n for n, s in catalogue().items() if of_numbers(s.claim)))
def test_the_latex_of_a_claim_is_the_claim(name: str) -> None:
    s, claim = catalogue()[name], catalogue()[name].claim
    assert claim is not None
    notation = {**s.paper.notation, **s.calculator.parameters}
    display = Display.of(s.paper.letters, {n: p.latex_symbol() for n, p in notation.items()}).about(claim)
    for side in (claim.left, claim.right):
        term = opaque(side, display)
        names = {p.args[0] for p in parts(term) if p.head == "parameter"}
        values = {n: value(notation.get(n, Parameter(n, "a length")), Random(n)) for n in names}
        symbols = {display.symbols.get(n, n): x for n, x in values.items()}
        for part in parts(term):
            if part.head == "named" and isinstance(part, Number):
                symbols[display.latex(part)] = evaluated(part, values)
        assert close(read(display.latex(side), symbols), evaluated(term, values))
