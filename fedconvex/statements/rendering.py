"""Statements for notebooks (Markdown with LaTeX) and terminals. Every formula is the running one, on symbols."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedconvex.statements.assumptions.base import Given, StepsizeAtMost
from fedconvex.statements.conditions import RELATIONS, Condition
from fedconvex.statements.notation import Parameter, Shape

if TYPE_CHECKING:
    from fedconvex.statements.calculator import Calculator
    from fedconvex.statements.statement import Statement

ENTRIES = 2  # how many entries of a sequence are written out
SIGNS = {">": ">", ">=": r"\ge", "<=": r"\le", "<": "<", "=": "="}
assert SIGNS.keys() == RELATIONS.keys()


def symbols(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The SymPy symbol of every parameter; of a sequence, symbols of its first entries."""
    made: dict[str, Any] = {}
    for name, parameter in parameters.items():
        match parameter.shape:
            case Shape.MATRICES:
                made[name] = _matrices(name, parameter)
            case Shape.SEQUENCE | Shape.VECTORS:
                made[name] = tuple(parameter.symbol(f"{name}_{i + 1}") for i in range(ENTRIES))
            case _:
                made[name] = parameter.symbol(name)
    return made


def expression(calculator: "Calculator") -> Any:
    """What the formula gives for symbols: a SymPy expression, or a named tuple of them."""
    return calculator.formula(**symbols(calculator.parameters))


def latex_of(value: Any, parameters: Mapping[str, Parameter]) -> str:
    """A SymPy expression with the paper's letters."""
    import sympy

    names = {}
    for name, symbol in symbols(parameters).items():
        letter = parameters[name].latex
        for i, entry in enumerate(symbol if isinstance(symbol, tuple) else ()):
            names[entry] = f"{letter}_{{{i + 1}}}"
        if not isinstance(symbol, tuple):
            names[symbol] = letter
    return str(sympy.latex(value, symbol_names=names))


def latex(statement: "Statement") -> str:
    """`symbol relation formula`, one line for every part."""
    value = statement.expression
    values = value if isinstance(value, tuple) else (value,)
    left = statement.symbol
    if statement.left is not None:
        left = (latex_of(expression(statement.left), statement.left.parameters),)
    lines = [
        f"{symbol} {statement.relation} {latex_of(part, statement.calculator.parameters)}"
        for symbol, part in zip(left, values, strict=True)
    ]
    return r",\qquad ".join(lines)


def markdown(statement: "Statement") -> str:
    """The whole statement."""
    lines = [f"**{statement.source}** ({statement.claim.value}; `{statement.identifier}`). {statement.words}"]
    lines += ["", f"$$ {latex(statement)} $$", ""]
    if statement.conclusion:
        lines += [f"Then $\\displaystyle {statement.conclusion}$.", ""]
    if statement.assumptions:
        lines += [f"Assumes: {'; '.join(_assumptions(statement, as_latex=True))}.", ""]
    lines += ["| letter | | range |", "|---|---|---|"]
    for name, p in parameters_of(statement).items():
        lines.append(f"| `{name}` ${p.latex}$ | {p.meaning} | {p.range} |")
    return "\n".join(lines)


def text(statement: "Statement") -> str:
    """The whole statement for a terminal."""
    value = statement.expression
    values = value._asdict() if isinstance(value, tuple) else {statement.calculator.name: value}  # type: ignore[attr-defined]
    lines = [f"{statement.identifier}  ({statement.source}; {statement.claim.value})", f"  {statement.words}"]
    if statement.left is not None:
        lines.append(f"  left side = {expression(statement.left)}")
    lines += [f"  {name} = {part}" for name, part in values.items()]
    lines += [f"  assumes {assumption}" for assumption in _assumptions(statement, as_latex=False)]
    for name, p in parameters_of(statement).items():
        lines.append(f"  --{name.replace('_', '-')}: {p.meaning} ({p.range})")
    return "\n".join(lines)


def parameters_of(statement: "Statement") -> dict[str, Parameter]:
    """The parameters of both sides."""
    left = statement.left.parameters if statement.left is not None else {}
    return {**statement.calculator.parameters, **left}


def _assumptions(statement: "Statement", as_latex: bool) -> list[str]:
    lines = []
    for assumption in statement.assumptions:
        if isinstance(assumption, Given | StepsizeAtMost):
            condition = assumption.conditions[0]
            lines.append(_condition(statement, condition) if as_latex else condition.text(statement.paper.notation))
        else:
            lines.append(str(assumption))
    return lines


def _condition(statement: "Statement", condition: Condition) -> str:
    notation = statement.paper.notation
    involved = {name: notation[name] for name in condition.names}
    bound = latex_of(condition.expression(notation), involved)
    return f"${notation[condition.argument].latex} {SIGNS[condition.relation]} {bound}$"


def _matrices(name: str, parameter: Parameter) -> Any:
    import sympy

    d, n = sympy.Symbol("d", integer=True, positive=True), sympy.Symbol("n", integer=True, positive=True)
    columns = d if parameter.latex.isupper() else 1
    return tuple(sympy.MatrixSymbol(f"{parameter.latex}_{i + 1}", n, columns) for i in range(ENTRIES))
