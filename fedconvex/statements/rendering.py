"""Statements as LaTeX, as Markdown for notebooks, and as plain text for terminals.

No formula is typed twice: what is displayed is the claim or the formula that runs, called with terms (`claims`).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedconvex.claims import terms
from fedconvex.claims.display.formulas import symbols_of
from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.display.statements import displayed, printed_beside
from fedconvex.statements.assumptions.base import Assumption, OnParameters
from fedconvex.statements.conditions import RELATIONS, Condition
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.notation import Parameter, Shape

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement

ORDINALS = ("first", "second", "third")
SIGNS = {">": ">", ">=": r"\ge", "<=": r"\le", "<": "<", "=": "="}
assert SIGNS.keys() == RELATIONS.keys()


def markdown(statement: "Statement") -> str:
    """The whole statement as Markdown, which notebooks show."""
    lines = [f"**{statement.source}** ({statement.claim_type.value}; `{statement.identifier}`). {statement.words}"]
    lines += ["", *formulas_in_markdown(statement), str(statement.phrases), ""]
    lines += ["| parameter | meaning | range |", "|---|---|---|"]
    for name, p in parameters_of(statement).items():
        lines.append(f"| `{name}` ${p.latex_symbol()}$ | {p.meaning} | {p.range} |")
    return "\n".join(lines)


def formulas_in_markdown(statement: "Statement") -> list[str]:
    """The lines with the formula, what its symbols mean, the conclusion and the assumptions."""
    shown = displayed(statement)
    lines = [f"$$ {shown.formula} $$", ""]
    if shown.where:
        lines += ["where " + ", ".join(f"$\\displaystyle {meaning}$" for meaning in shown.where) + ".", ""]
    if shown.conclusion:
        lines += [f"Then $\\displaystyle {shown.conclusion}$.", ""]
    if (both := printed_beside(statement)) is not None:
        of = "The paper prints" if statement.corrects is None else f"The paper's {statement.corrects.number}:"
        lines += [f"{of} $\\displaystyle {both[0]}$; here $\\displaystyle {both[1]}$.", ""]
    if statement.assumptions:
        lines += [f"Assumes: {'; '.join(assumptions_of(statement))}.", ""]
    return lines


def text(statement: "Statement") -> str:
    """The whole statement as plain text; parameters are named as on the command line, with the paper's letters."""
    shown = displayed(statement, plain=True)
    lines = [f"{statement.identifier}  ({statement.source}; {statement.claim_type.value})", f"  {statement.words}"]
    lines.append(f"  {statement.phrases}")
    lines += [f"  {formula}" for formula in shown.formulas]
    lines += [f"  where {meaning}" for meaning in shown.where]
    lines += [f"  then {shown.conclusion}"] if shown.conclusion else []
    lines += [f"  assumes {assumption}" for assumption in assumptions_of(statement, as_latex=False)]
    defaults = statement.calculator.defaults
    for name, p in parameters_of(statement).items():
        default = f"; default {defaults[name]}" if name in defaults else ""
        lines.append(f"  {labelled_option(name, p)}: {p.meaning} ({p.range}{default})")
    return "\n".join(lines)


def labelled_option(name: str, parameter: Parameter) -> str:
    """A parameter as an option of the command line, with the paper's letter where that is another one."""
    letter = from_latex(parameter.latex_symbol())
    return f"--{name.replace('_', '-')}" + (f" {letter}" if letter != name else "")


def parameters_of(statement: "Statement") -> dict[str, Parameter]:
    """The parameters of both sides, by name."""
    left = statement.left.parameters if statement.left is not None else {}
    return {**statement.calculator.parameters, **left}


def assumptions_of(statement: "Statement", as_latex: bool = True) -> list[str]:
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


def _phrase(statement: "Statement", assumption: Assumption, as_latex: bool) -> str:
    notation = statement.notation
    if isinstance(assumption, OnParameters):
        condition = assumption.required()
        return _condition(statement, condition) if as_latex else condition.text(notation)
    symbol_of = {name: f"${parameter.latex_symbol()}$" for name, parameter in notation.items()}
    return assumption.in_words(lambda name: symbol_of.get(name, name) if as_latex else name)


def _condition(statement: "Statement", condition: Condition) -> str:
    notation = {**statement.notation, **parameters_of(statement)}
    bound = terms.number(condition.bound_at({name: terms.parameter(name) for name in condition.names}))
    display = Display.of(statement.paper.letters, symbols_of(notation))
    return f"${notation[condition.argument].latex_symbol()} {SIGNS[condition.relation]} {display.latex(bound)}$"


ENTRIES = 2  # entries of a sequence that a formula of symbols has


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


def _matrix(symbol: str, parameter: Parameter) -> Any:
    """A SymPy matrix symbol. The papers' convention: capitals are n × d matrices, small letters columns.

    A column has n entries (responses) where every client has one, else d entries (unknowns).
    """
    import sympy

    d, n = (sympy.Symbol(size, integer=True, positive=True) for size in "dn")
    if parameter.shape is Shape.COLUMN:
        return sympy.MatrixSymbol(symbol, d, 1)
    return sympy.MatrixSymbol(symbol, n, d if symbol[0].isupper() else 1)
