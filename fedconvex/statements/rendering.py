"""Statements as LaTeX, as Markdown for notebooks, and as plain text for terminals.

No formula is typed twice: what is displayed is the formula that runs, evaluated at SymPy symbols.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Protocol

from fedconvex.statements.assumptions.base import Assumption, OnParameters
from fedconvex.statements.conditions import RELATIONS, Condition
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.notation import Parameter, Shape
from fedconvex.statements.recorded import Phrases
from fedconvex.statements.results import named_parts

ORDINALS = ("first", "second", "third")
ENTRIES = 2  # entries of a sequence that a displayed formula writes out
SIGNS = {">": ">", ">=": r"\ge", "<=": r"\le", "<": "<", "=": "="}
assert SIGNS.keys() == RELATIONS.keys()


class DisplayedStatement(Protocol):
    """What a statement must offer to be displayed; `statement.Statement` says what each attribute means."""

    @property
    def identifier(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def claim_type(self) -> Enum: ...
    @property
    def words(self) -> str: ...
    @property
    def phrases(self) -> Phrases: ...
    @property
    def calculator(self) -> CheckedFormula: ...
    @property
    def left(self) -> CheckedFormula | None: ...
    @property
    def symbol(self) -> tuple[str, ...]: ...
    @property
    def relation(self) -> str: ...
    @property
    def conclusion(self) -> str: ...
    @property
    def expression(self) -> Any: ...
    @property
    def assumptions(self) -> tuple[Assumption, ...]: ...
    @property
    def cases(self) -> tuple[tuple[Assumption, ...], ...]: ...
    @property
    def notation(self) -> Mapping[str, Parameter]: ...


def symbols(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """A SymPy symbol for each parameter; for a sequence, a tuple of symbols for its first entries."""
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
                # a count of terms becomes a number, so that sums over it are written out
                made[name] = parameter.symbol(name) if parameter.written is None else sympy.Integer(parameter.written)
    return made


def expression(calculator: CheckedFormula) -> Any:
    """The formula as a SymPy expression, or as a named tuple of expressions.

    It calls the bare formula: the calculator itself would refuse symbols that do not satisfy its conditions.
    """
    return calculator.formula(**symbols(calculator.parameters))


def latex_of(value: Any, parameters: Mapping[str, Parameter]) -> str:
    """The LaTeX of a SymPy expression, with the paper's symbols for the parameters."""
    import sympy

    names: dict[Any, str] = {}
    for name, symbol in symbols(parameters).items():
        entries = symbol if isinstance(symbol, tuple) else (symbol,)
        names |= {entry: parameters[name].latex_symbol(str(i + 1)) for i, entry in enumerate(entries)}
    return str(sympy.latex(value, symbol_names=names))


def latex(statement: DisplayedStatement) -> str:
    """The LaTeX of `symbol relation formula`, for each part of the formula."""
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
    """`relation formula`; in a relation such as "= O(·)" the formula replaces the dot."""
    before, dot, after = relation.partition(r"(\cdot)")
    return f"{before}\\left({formula}\\right){after}" if dot else f"{relation} {formula}"


def markdown(statement: DisplayedStatement) -> str:
    """The whole statement as Markdown, which notebooks show."""
    lines = [f"**{statement.source}** ({statement.claim_type.value}; `{statement.identifier}`). {statement.words}"]
    lines += ["", f"$$ {latex(statement)} $$", ""]
    if statement.conclusion:
        lines += [f"Then $\\displaystyle {statement.conclusion}$.", ""]
    if statement.assumptions:
        lines += [f"Assumes: {'; '.join(assumptions_of(statement))}.", ""]
    lines += [str(statement.phrases), ""]
    lines += ["| parameter | meaning | range |", "|---|---|---|"]
    for name, p in parameters_of(statement).items():
        lines.append(f"| `{name}` ${p.latex_symbol()}$ | {p.meaning} | {p.range} |")
    return "\n".join(lines)


def text(statement: DisplayedStatement) -> str:
    """The whole statement as plain text, with parameters named as on the command line."""
    values = named_parts(statement.calculator.name, statement.expression)
    lines = [f"{statement.identifier}  ({statement.source}; {statement.claim_type.value})", f"  {statement.words}"]
    lines.append(f"  {statement.phrases}")
    if statement.left is not None:
        lines.append(f"  left side = {expression(statement.left)}")
    lines += [f"  {name} = {part}" for name, part in values.items()]
    lines += [f"  assumes {assumption}" for assumption in assumptions_of(statement, as_latex=False)]
    defaults = statement.calculator.defaults
    for name, p in parameters_of(statement).items():
        default = f"; default {defaults[name]}" if name in defaults else ""
        lines.append(f"  --{name.replace('_', '-')}: {p.meaning} ({p.range}{default})")
    return "\n".join(lines)


def parameters_of(statement: DisplayedStatement) -> dict[str, Parameter]:
    """The parameters of both sides, by name."""
    left = statement.left.parameters if statement.left is not None else {}
    return {**statement.calculator.parameters, **left}


def assumptions_of(statement: DisplayedStatement, as_latex: bool = True) -> list[str]:
    """The assumptions as phrases, and conditions on parameters as formulas.

    Of a formula with several parts, the additional assumptions of each part make one phrase.

    Args:
        as_latex: use the paper's symbols; otherwise the parameters' names.
    """
    lines = [_phrase(statement, assumption, as_latex) for assumption in statement.assumptions]
    for which, case in zip(ORDINALS, statement.cases, strict=False):
        phrases = (_phrase(statement, assumption, as_latex) for assumption in case)
        lines.append(f"for the {which} formula also {' and '.join(phrases)}")
    return lines


def _phrase(statement: DisplayedStatement, assumption: Assumption, as_latex: bool) -> str:
    notation = statement.notation
    if isinstance(assumption, OnParameters):
        condition = assumption.required()
        return _condition(statement, condition) if as_latex else condition.text(notation)
    symbol_of = {name: f"${parameter.latex_symbol()}$" for name, parameter in notation.items()}
    return assumption.in_words(lambda name: symbol_of.get(name, name) if as_latex else name)


def _condition(statement: DisplayedStatement, condition: Condition) -> str:
    notation = statement.notation
    involved = {name: notation[name] for name in condition.names}
    bound = latex_of(condition.expression(notation), involved)
    return f"${notation[condition.argument].latex_symbol()} {SIGNS[condition.relation]} {bound}$"


def _matrix(symbol: str, parameter: Parameter) -> Any:
    """A SymPy matrix symbol. The papers' convention: capitals are n × d matrices, small letters columns.

    A column has n entries (responses) where every client has one, else d entries (unknowns).
    """
    import sympy

    d, n = (sympy.Symbol(size, integer=True, positive=True) for size in "dn")
    if parameter.shape is Shape.COLUMN:
        return sympy.MatrixSymbol(symbol, d, 1)
    return sympy.MatrixSymbol(symbol, n, d if symbol[0].isupper() else 1)
