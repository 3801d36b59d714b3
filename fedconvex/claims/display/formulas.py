r"""Formulas as terms: a calculator's formula, called with its parameters, so that it is displayed as it was written.

A formula of several numbers, one for each client, is called with `MANY` of them; in the tree that it makes, a sum or
maximum over all of them is found again and becomes one symbol, as in \sum_{j=1}^m f_j, and `MANY` becomes m.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.matrices import MatrixTerm, matrix_latex, of_client, unknown
from fedconvex.claims.display.typesetting import brackets
from fedconvex.claims.terms import IllFormed, Number, Term, Vector, number, parameter, parts
from fedconvex.errors import InvalidInput
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import Parameter, Shape

MANY = 89  # a prime that no formula has, so that its multiples come from the number of clients
SEVERAL = (Shape.SEQUENCE, Shape.VECTORS)


@dataclass(frozen=True)
class Formula:
    """A formula's value as terms, one for each of its parts, and how to display it.

    `meanings` has the sums and maxima over clients that became symbols, for `MANY` clients.
    """

    values: tuple[Term | MatrixTerm, ...]
    display: Display
    meanings: Mapping[str, Number]

    @property
    def latex(self) -> tuple[str, ...]:
        """Each part of the formula."""
        return tuple(
            matrix_latex(value, self.display) if isinstance(value, MatrixTerm) else self.display.latex(value)
            for value in self.values
        )


def formula(
    calculator: CheckedFormula, letters: Letters, notation: Mapping[str, Parameter], by_symbol: bool = False
) -> Formula:
    """The calculator's formula in terms, or in its parameters' symbols. Raises InvalidInput where neither works."""
    known = {**notation, **calculator.parameters}
    # the meanings are about one round, where parameters of a run are about its start
    of_run = by_symbol or any(p.measured == "num_rounds" for p in calculator.parameters.values())
    # by symbols alone where some parameters are vectors as terms, and others are not
    for alone in dict.fromkeys((of_run, True)):
        try:
            value = calculator.formula(**{n: given(n, p, alone) for n, p in calculator.parameters.items()})
            break
        except IllFormed:
            continue
        except (AttributeError, TypeError) as error:
            raise _without_display(calculator, error) from None
    else:
        raise _without_display(calculator, "its operands are of different sorts")
    whole = value if isinstance(value, tuple) else (value,)
    symbols = symbols_of(known)
    several = {name: p for name, p in calculator.parameters.items() if p.shape in SEVERAL}
    symbols |= {f"{name}[{p.index}]": p.latex_symbol(p.index) for name, p in several.items()}
    collector = _Collector(several, Display.of(letters, symbols), {}, {})
    values = tuple(v if isinstance(v, MatrixTerm) else collector.collected(term_of(v)) for v in whole)
    return Formula(values, Display.of(letters, {**symbols, **collector.symbols}), collector.meanings)


def _without_display(calculator: CheckedFormula, why: Any) -> InvalidInput:
    cure = "use arithmetic and the functions of fedconvex.statements.functions and fedconvex.statements.matrices"
    return InvalidInput("formula", calculator.owner, f"cannot be called with terms ({why})", cure)


def term_of(value: Any) -> Term:
    """A vector as it is, a number as a term."""
    return value if isinstance(value, Vector) else number(value)


def symbols_of(notation: Mapping[str, Parameter]) -> dict[str, str]:
    """The LaTeX symbols of parameters, by name."""
    return {name: p.latex_symbol() for name, p in notation.items()}


def given(name: str, of: Parameter, by_symbol: bool = False) -> Any:
    """The term that a formula gets for a parameter: what it means in claims, or the parameter itself."""
    if of.shape is Shape.MATRICES:
        return (of_client(of.latex_symbol(), of.latex),)
    if of.shape is Shape.COLUMN:
        return unknown(of.latex_symbol())
    if of.shape in SEVERAL:
        return tuple(_variable(f"{name}[{i}]") for i in range(MANY))
    return parameter(name) if of.means is None or by_symbol else of.means


@dataclass(frozen=True)
class _Collector:
    """Finds sums and maxima over all clients in a tree."""

    several: Mapping[str, Parameter]
    display: Display
    symbols: dict[str, str]
    meanings: dict[str, Number]

    def collected(self, term: Any) -> Any:
        """The term with a symbol for each sum and maximum over all clients."""
        if not self.several:
            return term
        if (first := self._first(term)) is not None:
            return self._symbol(term, r"\max" if term.head == "max" else r"\sum", first)
        if term.head == "neg" and (first := self._first(term.args[0])) is not None and first.head == "neg":
            return self._symbol(term, r"\min", first.args[0])
        if term.head == "constant" and term.args[0] % MANY == 0 and term.args[0] != 0:
            self.symbols["how many"] = next(iter(self.several.values())).count
            self.meanings["how many"] = number(MANY)
            many = _variable("how many")
            return many if term.args[0] == MANY else number(term.args[0] / MANY) * many
        return type(term)(term.head, tuple(self.collected(x) if type(x) is Number else x for x in term.args))

    def _first(self, term: Any) -> Any:
        """f₁ of f₁ + … + f_m or max(f₁, …, f_m), where each is the first one with another index; else None."""
        if term.head not in ("+", "max"):
            return None
        here, behind = term, list[Any]()
        while here.head == term.head and len(behind) < MANY - 1:
            here, last = here.args
            behind.append(last)
        same = len(behind) == MANY - 1 and all(x == _at(here, str(i + 1)) for i, x in enumerate(reversed(behind)))
        return here if same and _entries(here) else None

    def _of(self, body: Any) -> Parameter:
        return self.several[_entries(body)[0]]

    def _symbol(self, term: Any, operator: str, first: Any) -> Number:
        of = self._of(first)
        body = self.collected(_at(first, of.index))
        shown = replace(self.display, symbols={**self.display.symbols, **self.symbols}).show(body)
        name = next((n for n, known in self.meanings.items() if known == term), f"over clients {len(self.symbols)}")
        self.symbols[name] = f"{of.over(operator)} {shown.text if shown.level else brackets(shown.text)}"
        self.meanings[name] = term
        return _variable(name)


def _variable(name: str) -> Number:
    """A number of the formula that is no parameter: one client's, or a sum over all."""
    return Number("variable", (name,))


def _entries(term: Any) -> list[str]:
    """The parameters of which the term has the first client's."""
    names = (p.args[0] for p in parts(term) if p.head == "variable")
    return sorted({name.removesuffix("[0]") for name in names if name.endswith("[0]")})


def _at(term: Any, index: str) -> Any:
    """The entry of the first client, for the client with that index."""
    if term.head == "variable":
        name, bracket, at = term.args[0].partition("[")
        return _variable(f"{name}[{index}]") if bracket and at == "0]" else term
    return type(term)(term.head, tuple(_at(x, index) if type(x) is type(term) else x for x in term.args))
