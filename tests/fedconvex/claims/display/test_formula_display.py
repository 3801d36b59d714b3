"""Every displayed formula is the formula that runs: trees and LaTeX are evaluated and compared with the calculators."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from reader import Reader
from worlds import Place, World, evaluated

from fedconvex.claims import Claim
from fedconvex.claims.display import typesetting
from fedconvex.claims.display.formulas import MANY, SEVERAL, Formula, formula
from fedconvex.claims.terms import Number, number
from fedconvex.statements import Calculator, Statement
from fedconvex.statements.notation import Parameter
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core

OF_MATRICES = {"fedsplit.equation8", "fedsplit.equation9", "fedsplit.equation10"}  # see `test_matrices`


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


class Given(World):
    """A world in which the numbers are known."""

    values: Mapping[str, Any]

    def number(self, name: str) -> float:
        return float(self.values[name])


def read(made: Formula, values: Mapping[str, Any], slashes: bool = False) -> list[float]:
    """What the displayed formula and the meanings of its symbols say at these values of the parameters."""
    display = replace(made.display, slashes=slashes)
    known = at_names(values) | {n: evaluated(t, at_names(values)) for n, t in made.meanings.items()}
    world = Given(0)
    object.__setattr__(world, "values", known)
    symbols = {name: display.symbols[name] for name in known if name in display.symbols}
    found = []
    for term in made.values:
        reader = Reader(world, display.letters, symbols, Claim(number(0), "<=", number(0)), plain=False)
        for line in display.where(*made.values):
            reader.define(line)
        reader.rest = reader._tokens(display.latex(term))
        found.append(reader.whole()(Place()))
    return found


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
        expected = results(calculator, values)
        assert all(isinstance(term, Number) for term in made.values)
        for found in ([evaluated(term, known) for term in made.values], read(made, values), read(made, values, True)):
            assert len(found) == len(expected)
            assert all(map(close, found, expected)), made.latex


def differs(name: str) -> bool:
    """Whether the displayed formula has another value than the calculator."""
    calculator, made = formulas()[name][0], tree(name)
    try:
        values = drawn(calculator, 0)
        shown = read(made, values)
    except (ValueError, ArithmeticError, IndexError):
        return True
    return not all(map(close, shown, results(calculator, values)))


def test_a_dropped_bracket_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a display has brackets, it is another formula without them."""
    bracketed = []
    for name in sorted(set(formulas()) - OF_MATRICES):
        made = tree(name)
        assert not differs(name)
        shown = [*made.latex, *made.display.where(*made.values)]
        if any("+" in x and r"\max" not in x for latex in shown for x in latex.split("(")[1:] if latex.count("(")):
            bracketed.append(name)
    monkeypatch.setattr(typesetting, "brackets", lambda text: text)
    found = [name for name in bracketed if differs(name)]
    assert len(found) >= 30
    assert {"feddyn.lemma5", "fedprox.theorem4", "fedsplit.theorem1"} <= set(found)
