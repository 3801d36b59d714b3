"""Statements for notebooks (Markdown with LaTeX) and terminals. Every formula is the running one, on symbols."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedconvex.statements.assumptions.base import Assumption, OnParameters
from fedconvex.statements.conditions import RELATIONS, Condition
from fedconvex.statements.notation import Parameter, Shape
from fedconvex.statements.results import named_parts

if TYPE_CHECKING:
    from fedconvex.statements.calculator import Calculator
    from fedconvex.statements.statement import Statement

ORDINALS = ("first", "second", "third")
ENTRIES = 2  # how many entries of a sequence are written out
SIGNS = {">": ">", ">=": r"\ge", "<=": r"\le", "<": "<", "=": "="}
assert SIGNS.keys() == RELATIONS.keys()


def symbols(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The SymPy symbol of every parameter; of a sequence, symbols of its first entries."""
    import sympy

    made: dict[str, Any] = {}
    for name, parameter in parameters.items():
        match parameter.shape:
            case Shape.MATRICES:
                made[name] = tuple(_matrix(f"{parameter.latex}_{i + 1}", parameter) for i in range(ENTRIES))
            case Shape.COLUMN:
                made[name] = _matrix(parameter.latex, parameter)
            case Shape.SEQUENCE | Shape.VECTORS:
                made[name] = tuple(parameter.symbol(f"{name}_{i + 1}") for i in range(ENTRIES))
            case _:
                made[name] = parameter.symbol(name) if parameter.written is None else sympy.Integer(parameter.written)
    return made


def expression(calculator: "Calculator") -> Any:
    """What the formula gives for symbols: a SymPy expression, or a named tuple of them."""
    return calculator.formula(**symbols(calculator.parameters))


def latex_of(value: Any, parameters: Mapping[str, Parameter]) -> str:
    """A SymPy expression with the paper's letters."""
    import sympy

    names: dict[Any, str] = {}
    for name, symbol in symbols(parameters).items():
        entries = symbol if isinstance(symbol, tuple) else (symbol,)
        names |= {entry: parameters[name].letter(str(i + 1)) for i, entry in enumerate(entries)}
    return str(sympy.latex(value, symbol_names=names))


def latex(statement: "Statement") -> str:
    """`symbol relation formula`, one line for every part."""
    value = statement.expression
    values = value if isinstance(value, tuple) else (value,)
    left = statement.symbol
    if statement.left is not None:
        left = (latex_of(expression(statement.left), statement.left.parameters),)
    lines = [
        f"{symbol} {_related(statement.relation, latex_of(part, statement.calculator.parameters))}"
        for symbol, part in zip(left, values, strict=True)
    ]
    return r",\qquad ".join(lines)


def _related(relation: str, formula: str) -> str:
    """`relation formula`; in a relation such as "= O(·)" the formula takes the dot's place."""
    before, dot, after = relation.partition(r"(\cdot)")
    return f"{before}\\left({formula}\\right){after}" if dot else f"{relation} {formula}"


def markdown(statement: "Statement") -> str:
    """The whole statement."""
    lines = [f"**{statement.source}** ({statement.claim.value}; `{statement.identifier}`). {statement.words}"]
    lines += ["", f"$$ {latex(statement)} $$", ""]
    if statement.conclusion:
        lines += [f"Then $\\displaystyle {statement.conclusion}$.", ""]
    if statement.assumptions:
        lines += [f"Assumes: {'; '.join(assumptions_of(statement))}.", ""]
    lines += ["| letter | | range |", "|---|---|---|"]
    for name, p in parameters_of(statement).items():
        lines.append(f"| `{name}` ${p.letter()}$ | {p.meaning} | {p.range} |")
    return "\n".join(lines)


def text(statement: "Statement") -> str:
    """The whole statement for a terminal."""
    values = named_parts(statement.calculator.name, statement.expression)
    lines = [f"{statement.identifier}  ({statement.source}; {statement.claim.value})", f"  {statement.words}"]
    if statement.left is not None:
        lines.append(f"  left side = {expression(statement.left)}")
    lines += [f"  {name} = {part}" for name, part in values.items()]
    lines += [f"  assumes {assumption}" for assumption in assumptions_of(statement, as_latex=False)]
    defaults = statement.calculator.defaults
    for name, p in parameters_of(statement).items():
        default = f"; default {defaults[name]}" if name in defaults else ""
        lines.append(f"  --{name.replace('_', '-')}: {p.meaning} ({p.range}{default})")
    return "\n".join(lines)


def parameters_of(statement: "Statement") -> dict[str, Parameter]:
    """The parameters of both sides."""
    left = statement.left.parameters if statement.left is not None else {}
    return {**statement.calculator.parameters, **left}


def assumptions_of(statement: "Statement", as_latex: bool = True) -> list[str]:
    """The assumptions as phrases, with the paper's letters or the parameters' names; conditions as formulas.

    What a part of the formula assumes beyond what all do is one phrase.
    """
    lines = [_phrase(statement, assumption, as_latex) for assumption in statement.assumptions]
    for which, case in zip(ORDINALS, statement.cases, strict=False):
        phrases = (_phrase(statement, assumption, as_latex) for assumption in case)
        lines.append(f"for the {which} formula also {' and '.join(phrases)}")
    return lines


def _phrase(statement: "Statement", assumption: Assumption, as_latex: bool) -> str:
    notation = statement.paper.notation
    if isinstance(assumption, OnParameters):
        condition = assumption.asked()
        return _condition(statement, condition) if as_latex else condition.text(notation)
    letters = {name: f"${parameter.letter()}$" for name, parameter in notation.items()}
    return assumption.in_words(lambda name: letters.get(name, name) if as_latex else name)


def _condition(statement: "Statement", condition: Condition) -> str:
    notation = statement.paper.notation
    involved = {name: notation[name] for name in condition.names}
    bound = latex_of(condition.expression(notation), involved)
    return f"${notation[condition.argument].letter()} {SIGNS[condition.relation]} {bound}$"


def _matrix(letter: str, parameter: Parameter) -> Any:
    """A SymPy matrix: n × d where the letter is a capital; else a column, of n responses or of d unknowns."""
    import sympy

    d, n = (sympy.Symbol(size, integer=True, positive=True) for size in "dn")
    if parameter.shape is Shape.COLUMN:
        return sympy.MatrixSymbol(letter, d, 1)
    return sympy.MatrixSymbol(letter, n, d if letter[0].isupper() else 1)
