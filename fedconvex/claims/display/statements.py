r"""How a statement is displayed: its claim where it has one, else its formula beside its symbol.

A statement about a factor, such as FedProx's ρ, or about a number of rounds shows the formula and then what is claimed
with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.display.differences import marked, marked_plainly, parsed
from fedconvex.claims.display.formulas import Formula, formula, symbols_of
from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.matrices import MatrixTerm, matrix_latex
from fedconvex.claims.display.phrases import phrases
from fedconvex.claims.display.plain_text import from_latex
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

    @property
    def plain(self) -> "Displayed":
        """The same as plain text, where it was made with fractions as a/b."""
        lines, meanings = (tuple(map(from_latex, texts)) for texts in (self.formulas, self.where))
        return Displayed(lines, from_latex(self.conclusion), meanings)


def displayed(statement: "Statement", *, plain: bool = False) -> Displayed:
    """The statement in its paper's letters, as LaTeX or as plain text."""
    made = _displayed(statement, plain)
    return made.plain if plain else made


def _displayed(statement: "Statement", slashes: bool) -> Displayed:
    letters, claim = statement.paper.letters, statement.claim
    left_parameters = statement.left.parameters if statement.left is not None else {}
    notation = {**statement.paper.notation, **left_parameters, **statement.calculator.parameters}
    factors = ("UPPER", "TIGHT", "LOWER", "DEFINITION")
    # A claim about a factor or a number of rounds, or a reading of what is printed with ≲ or ≈, is shown beside it.
    apart = statement.claim_type.name in factors if statement.relation == "=" else statement.relation != r"\le"
    if claim is not None and not (callable(statement.states) and apart and type(statement.stated.value) is not Vector):
        display = replace(Display.of(letters, symbols_of(notation)), slashes=slashes)
        return _noted(display, [claim])
    right = _formula(statement.calculator, letters, notation, slashes)
    if claim is not None and claim.of_run:  # vectors are those at the start
        right = replace(right, display=right.display.about(claim))
    left = statement.left and _formula(statement.left, letters, notation, slashes)
    beside = statement.symbol if left is None else left.latex
    formulas = tuple(
        f"{symbol} {_related(statement.relation, part)}" for symbol, part in zip(beside, right.latex, strict=True)
    )
    terms: list[Any] = [*(left.values if left else ()), *right.values]
    if claim is None:
        return Displayed(formulas, statement.conclusion, _noted(right.display, terms, formulas).where)
    # The formula stands beside its symbol already, which needs no definition in the claim.
    of, symbol = statement.stated, Number("variable", ("the formula",))
    about = of.shown
    assert about is not None
    beside_it = named(statement.symbol[0], of.value) if about != of.claim else symbol
    about = replace(about, left=about.left.put(beside_it, symbol), right=about.right.put(beside_it, symbol))
    display = replace(right.display, symbols={**right.display.symbols, "the formula": statement.symbol[0]})
    shown = _noted(display, [*terms, about], formulas)
    return Displayed(formulas, shown.formulas[-1], shown.where)


def formulas_of(calculator: CheckedFormula, letters: Letters, plain: bool = False) -> Displayed:
    """A formula that belongs to no statement."""
    made = _formula(calculator, letters, {}, plain, by_symbol=True)
    # what the formula computes, not the symbol that it has elsewhere
    made = replace(made, values=tuple(v.args[1] if v.head == "named" else v for v in made.values))
    shown = _noted(made.display, made.values)
    return shown.plain if plain else shown


def _formula(
    calculator: CheckedFormula,
    letters: Letters,
    notation: Mapping[str, Parameter],
    slashes: bool,
    by_symbol: bool = False,
) -> Formula:
    made = formula(calculator, letters, notation, by_symbol)
    return replace(made, display=replace(made.display, slashes=slashes))


def _noted(display: Display, terms: Iterable[Any], formulas: tuple[str, ...] = ()) -> Displayed:
    """The terms, and what their symbols mean where the formulas do not say it."""
    at = display.with_legend
    texts = tuple(matrix_latex(term, at) if isinstance(term, MatrixTerm) else at.noted(term) for term in terms)
    return Displayed(texts, "", tuple(text for text in at.legend.where() if text not in formulas))


def _related(relation: str, formula: str) -> str:
    """`relation formula`; in a relation such as "= O(·)" the formula replaces the dot."""
    before, dot, after = relation.partition(r"(\cdot)")
    return f"{before}\\left({formula}\\right){after}" if dot else f"{relation} {formula}"


def setting_phrases(statement: "Statement", setting: ClaimSetting) -> list[str]:
    """What a setting assumes, in the letters of the statement's paper."""
    parameters = {**statement.paper.notation, **statement.calculator.parameters}
    return phrases(setting, Display.of(statement.paper.letters, symbols_of(parameters)))


def printed_beside(statement: "Statement", *, plain: bool = False) -> tuple[str, str] | None:
    """What the paper prints and what stands here in its place, with marks; None where they do not differ.

    A statement that corrects or sharpens one of the paper stands beside that one. As LaTeX the differing parts are
    underlined; as plain text they are between [- -] in what is printed, between {+ +} in what stands here.
    """
    both = printed_and_here(statement)
    if both is None or parsed(both[0]) == parsed(both[1]):
        return None
    return marked_plainly(*both) if plain else marked(*both)


def printed_and_here(statement: "Statement") -> tuple[str, str] | None:
    """Both formulas as LaTeX without marks; None where nothing else is printed."""
    if statement.printed is not None:
        return statement.printed.formula, statement.printed.here or displayed(statement).formula
    of = statement.corrects
    if of is None:
        return None
    other = "" if of.printed is None or of.printed.here else of.printed.formula
    return other or displayed(of).complete, displayed(statement).complete
