r"""How a statement is displayed: its claim where it has one, else its formula beside its symbol.

A statement about a factor, such as FedProx's ρ, or about a number of rounds shows the formula and then what is claimed
with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.display.formulas import Formula, formula, symbols_of
from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.phrases import phrases
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.statements import Conditional, at_terms
from fedconvex.claims.terms import Number, Vector, named
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import Parameter

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement


@final
@dataclass(frozen=True)
class Displayed:
    """A statement's formulas, what it concludes where that is not the formula, and what its symbols mean."""

    formulas: tuple[str, ...]
    conclusion: str = ""
    where: tuple[str, ...] = ()

    @property
    def formula(self) -> str:
        """The formulas beside each other, as LaTeX."""
        return r",\qquad ".join(self.formulas)

    @property
    def defined(self) -> str:
        """Formula and meanings in one line of LaTeX."""
        where = r"\quad\text{where }" + r",\quad ".join(self.where) if self.where else ""
        return self.formula + where

    @property
    def complete(self) -> str:
        """Formula, meanings and conclusion in one line of LaTeX."""
        return self.defined + (rf"\quad\text{{then }}{self.conclusion}" if self.conclusion else "")


def displayed(statement: "Statement", *, plain: bool = False) -> Displayed:
    """The statement in its paper's letters, as LaTeX or as plain text."""
    made = _displayed(statement, plain)
    if not plain:
        return made
    lines, meanings = (tuple(map(from_latex, texts)) for texts in (made.formulas, made.where))
    return Displayed(lines, from_latex(made.conclusion), meanings)


def _displayed(statement: "Statement", slashes: bool) -> Displayed:
    letters, claim = statement.paper.letters, statement.claim
    left_parameters = statement.left.parameters if statement.left is not None else {}
    notation = {**statement.paper.notation, **left_parameters, **statement.calculator.parameters}
    factors = ("UPPER", "TIGHT", "LOWER", "DEFINITION")
    # A claim about a factor, or a reading of what is printed with ≲ or ≈, is shown beside what is printed.
    apart = statement.claim_type.name in factors if statement.relation == "=" else statement.relation != r"\le"
    of_rounds = isinstance(statement.states, Conditional) and claim is statement.states.claim
    of_factor = of_rounds or (callable(statement.states) and apart)
    if claim is not None and not of_factor:
        display = replace(Display.of(letters, symbols_of(notation)), slashes=slashes)
        return Displayed((display.latex(claim),), "", _where(display, [claim], ()))
    right = _formula(statement.calculator, letters, notation, slashes)
    left = statement.left and _formula(statement.left, letters, notation, slashes)
    beside = statement.symbol if left is None else left.latex
    formulas = tuple(
        f"{symbol} {_related(statement.relation, part)}" for symbol, part in zip(beside, right.latex, strict=True)
    )
    terms: list[Any] = [*(left.values if left else ()), *right.values]
    # Of a vector, the formula itself says what is claimed: that it is 0.
    if claim is None or type(at_terms(statement.calculator)) is Vector:
        return Displayed(formulas, statement.conclusion, _where(right.display, terms, formulas))
    first, *others = right.values
    alone = statement.relation == "=" and not others and statement.claim_type.name != "DEFINITION"
    about = statement.states(named(statement.symbol[0], first)) if alone and isinstance(first, Number) else claim
    return Displayed(formulas, right.display.latex(about), _where(right.display, [*terms, about], formulas))


def formulas_of(calculator: CheckedFormula, letters: Letters, plain: bool = False) -> Displayed:
    """A formula that belongs to no statement."""
    made = _formula(calculator, letters, {}, plain, by_symbol=True)
    # what the formula computes, not the symbol that it has elsewhere
    made = replace(made, values=tuple(v.args[1] if v.head == "named" else v for v in made.values))
    shown = Displayed(made.latex, "", _where(made.display, made.values, ()))
    return (
        Displayed(tuple(map(from_latex, shown.formulas)), "", tuple(map(from_latex, shown.where))) if plain else shown
    )


def _formula(
    calculator: CheckedFormula,
    letters: Letters,
    notation: Mapping[str, Parameter],
    slashes: bool,
    by_symbol: bool = False,
) -> Formula:
    made = formula(calculator, letters, notation, by_symbol)
    return replace(made, display=replace(made.display, slashes=slashes))


def _where(display: Display, terms: Iterable[Any], formulas: tuple[str, ...]) -> tuple[str, ...]:
    meanings = (f"{symbol} = {meaning}" for symbol, meaning in display.where(*terms))
    return tuple(text for text in meanings if text not in formulas)


def _related(relation: str, formula: str) -> str:
    """`relation formula`; in a relation such as "= O(·)" the formula replaces the dot."""
    before, dot, after = relation.partition(r"(\cdot)")
    return f"{before}\\left({formula}\\right){after}" if dot else f"{relation} {formula}"


def setting_phrases(statement: "Statement", setting: ClaimSetting) -> list[str]:
    """What a setting assumes, in the letters of the statement's paper."""
    parameters = {**statement.paper.notation, **statement.calculator.parameters}
    return phrases(setting, Display.of(statement.paper.letters, symbols_of(parameters)))
