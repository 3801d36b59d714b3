"""Published statements, with source, assumptions, formula and conclusion; and the papers that they belong to."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from inspect import Parameter as Argument
from inspect import cleandoc, signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, final

from fedconvex.errors import InvalidInput
from fedconvex.names import suggestion
from fedconvex.shown import on_screen
from fedconvex.statements.assumptions.base import Assumption, Given
from fedconvex.statements.calculator import Calculator, P
from fedconvex.statements.conditions import Condition
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import NUMBER, Parameter, Printed, Units
from fedconvex.statements.recorded import Phrases, phrases

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim, ClaimSetting
    from fedconvex.claims.statements import Stated

Q = ParamSpec("Q")


class ClaimType(Enum):
    """What a statement claims about its formula."""

    TIGHT = "tight"  # an upper bound that some instance attains
    UPPER = "upper bound"
    LOWER = "lower bound"
    IDENTITY = "identity"
    DEFINITION = "definition"
    CONDITION = "necessary condition"
    ASYMPTOTIC = "up to constants"  # O(·), ≲ or ≈ in the paper: the number is no bound


@final
@dataclass(frozen=True, eq=False, repr=False)
class Statement(Generic[P]):
    """A numbered statement of a paper; calling it with numbers evaluates its formula, as a `Calculator` does.

    The formula is the right-hand side of "symbol relation formula", as printed in the paper; where the left-hand side
    is a formula, too, `left` computes it. For a formula with several parts (a named tuple), `symbol` names each part.
    `Paper.statement` makes statements; do not construct them otherwise.
    """

    paper: "Paper"
    number: str  # "Theorem 4"
    claim_type: ClaimType
    calculator: Calculator[P]
    symbol: tuple[str, ...]  # LaTeX
    relation: str  # LaTeX
    assumptions: tuple[Assumption, ...] = ()
    page: int | None = None
    conclusion: str = ""  # LaTeX: what the statement concludes, where that is not the formula itself
    left: Calculator | None = None
    positive: bool = False  # the statement promises something only where its formula is positive
    cases: tuple[tuple[Assumption, ...], ...] = ()  # additional assumptions of each part of a formula with several
    parts: tuple[str, ...] = ()  # the numbers of the statements that together say this one, with its constants
    states: Any = (
        None  # the left side as a term of `fedconvex.claims`, or a function from the formula's value to a claim
    )

    def __post_init__(self) -> None:
        assert len(self.cases) in (0, len(self.symbol)), self.number
        # notebooks and documentation tools then show the formula's arguments, and its docstring by `_Documentation`
        object.__setattr__(self, "__wrapped__", self.calculator.formula)
        object.__setattr__(self, "__signature__", signature(self.calculator.formula))

    def __call__(self, *unnamed: P.args, **arguments: P.kwargs) -> Any:
        return self.calculator(*unnamed, **arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the statement by its place in the code, as Python does with functions."""
        return restored, (self.calculator.formula.__module__, key_of(self.number))

    def sign(self, *, precision: int = 64, limit: int = 1 << 12, **arguments: Any) -> Any:
        """The certified sign of the formula at exact arguments (a float is the rational number that it is).

        Use it instead of comparing a float with 0, which rounding may decide. See `signs.sign`.
        """
        return self.calculator.sign(precision=precision, limit=limit, **arguments)

    @property
    def identifier(self) -> str:
        """Paper and number, as in `fedprox.theorem4`."""
        return f"{self.paper.name}.{key_of(self.number)}"

    @property
    def source(self) -> str:
        """Where the paper states it, as in `FedProx, Theorem 4, page 5`, or `Local GD, One round, restated`."""
        place = f", page {self.page}" if self.page else ", restated" if self.restated else ""
        return f"{self.paper.short}, {self.number}{place}"

    @property
    def phrases(self) -> Phrases:
        """What the recorded verdict says of the printed words, and what holds: `as_printed` and `holds`."""
        return phrases(self)

    @cached_property
    def content(self) -> str:
        """The fingerprint of what the statement says, whatever its name; "" where its formula takes no terms."""
        from fedconvex.claims.content import content_of

        return content_of(self)

    @property
    def printed(self) -> Printed | None:
        """What the paper prints, where that is another formula; `printed_beside` marks the difference."""
        return self.paper.printed.get(key_of(self.number))

    @property
    def restated(self) -> bool:
        """Whether it is stated here in the paper's setting, and not claimed to be in the paper's words."""
        return self.paper.restated and key_of(self.number) not in self.paper.ours

    @property
    def corrects(self) -> "Statement | None":
        """The paper's statement that this one corrects or sharpens: Lemma 1, of "Lemma 1, sharper"."""
        if self.paper.ours.get(key_of(self.number)) is not self:
            return None
        return self.paper.statements.get(key_of(self.number.partition(",")[0]))

    @property
    def words(self) -> str:
        """The statement in words: the first paragraph of the formula's docstring."""
        return " ".join(cleandoc(self.calculator.__doc__ or "").partition("\n\n")[0].split())

    @property
    def notation(self) -> Mapping[str, Parameter]:
        """The paper's table of parameters."""
        return self.paper.notation

    @property
    def stated_by(self) -> "tuple[Statement, ...]":
        """The statements whose claims together are this one's: itself, or its parts, such as the cases of a theorem."""
        return tuple(self.paper.find(key_of(number)) for number in self.parts) or (self,)

    @property
    def every_assumption(self) -> tuple[Assumption, ...]:
        """The common assumptions, then the additional ones of each part of the formula."""
        return (*self.assumptions, *(assumption for case in self.cases for assumption in case))

    @cached_property
    def stated(self) -> "Stated":
        """What the statement says, in the claim language, from one call of its formula and of `states`."""
        from fedconvex.claims.statements import stated_by

        return stated_by(self)

    @cached_property
    def claim(self) -> "Claim | None":
        """What the statement says, in the claim language; None for those that are not claims of that kind.

        On a run outside of the statement's setting it has no value: see `Claim.on`.
        """
        from fedconvex.claims.settings import NotASetting

        bare = self.stated.claim
        try:
            return bare and replace(bare, within=self.setting)
        except NotASetting:
            return bare

    @cached_property
    def setting(self) -> "ClaimSetting":
        """All that the claim assumes. Raises NotASetting where an assumption has no meaning in a setting."""
        from fedconvex.claims.statements import setting_of_statement

        return setting_of_statement(self)

    @property
    def expression(self) -> Any:
        """The formula as a SymPy expression, or a named tuple of expressions."""
        from fedconvex.statements.rendering import expression

        return expression(self.calculator)

    @property
    def latex(self) -> str:
        """The LaTeX of the claim, or of the inequality that the formula is a side of; `where` defines its symbols."""
        from fedconvex.claims.display.statements import displayed

        return displayed(self).formula

    @property
    def where(self) -> tuple[str, ...]:
        """The LaTeX of what the symbols in `latex` mean that are no parameters, as `C_t = …`."""
        from fedconvex.claims.display.statements import displayed

        return displayed(self).where

    def _repr_markdown_(self) -> str:
        from fedconvex.statements.rendering import markdown

        return markdown(self)

    def __str__(self) -> str:
        from fedconvex.statements.rendering import text

        return on_screen(text(self), f"fedconvex bounds {self.identifier}")

    def __repr__(self) -> str:
        return f"<{self.identifier}: {self.claim_type.value}>"


class _Documentation(str):
    """The class's docstring; of a statement that of its formula, and the recorded phrases, when somebody reads it."""

    def __get__(self, statement: Statement | None, owner: type) -> str:
        return self if statement is None else f"{cleandoc(statement.calculator.__doc__ or '')}\n\n{statement.phrases}"


Statement.__doc__ = _Documentation(Statement.__doc__)


@final
@dataclass(frozen=True, eq=False)
class Paper:
    """A paper with its notation and statements; its module in `theory/` registers formulas here with decorators."""

    name: str  # of the module
    short: str  # "FedProx"
    reference: str  # authors, title, year
    convention: str  # of the objective: sum or mean of the clients' functions, with which weights
    notation: Mapping[str, Parameter]
    letters: Letters = field(default_factory=Letters)  # of vectors and functions; `notation` has the parameters'
    statements: dict[str, Statement] = field(default_factory=dict)  # by number: "theorem4"
    ours: dict[str, Statement] = field(default_factory=dict)  # corrected or sharper statements, not in the paper
    printed: Mapping[str, Printed] = field(default_factory=dict)  # formulas that differ from what is printed, by key
    # Statements in the paper's setting, named after it and not claimed to be its wording: its text was not read.
    restated: bool = False

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements.values())

    @property
    def everything(self) -> tuple[Statement, ...]:
        """The paper's statements, then ours that correct or sharpen them."""
        return (*self.statements.values(), *self.ours.values())

    def statement(
        self,
        number: str,
        claim: ClaimType,
        *,
        symbol: str | tuple[str, ...],
        relation: str = r"\le",
        assumes: tuple[Assumption | Condition, ...] = (),
        page: int | None = None,
        conclusion: str = "",
        left: Callable[..., Any] | None = None,
        positive: bool = False,
        units: Units | tuple[Units, ...] = NUMBER,
        integer: bool = False,
        redefines: Mapping[str, Parameter] = MappingProxyType({}),
        ours: bool = False,
        cases: tuple[tuple[Assumption | Condition, ...], ...] = (),
        parts: tuple[str, ...] = (),
        states: Any = None,
    ) -> Callable[[Callable[Q, Any]], Statement[Q]]:
        """Decorates a formula and registers the statement that it belongs to.

        The formula is a function with keyword-only arguments, named as in the paper's notation. `__doc__` begins with
        the statement in words.

        Args:
            number: as in the paper, "Theorem 4" or "Equation (17)".
            symbol, relation: LaTeX of the left-hand side and of ≤, = …; a symbol for each part of a named tuple.
            redefines: parameters that mean something else here than in the paper's notation.
            left: the formula of the left-hand side, where it has one.
            ours: the statement corrects or sharpens the paper and is not printed there.
            cases: additional assumptions of each part of the formula.
            parts: the numbers of the statements that say what this one says with the constants that its O(·) hides.
            states: what is claimed of the formula, in the claim language: the left side as a term, or a function from
                the formula's value to a claim. Parameters stand for the terms that the notation says they mean.
            conclusion, positive, integer: see `Statement` and `Calculator`.
        """
        sides: dict[str, Any] = {"assumes": assumes, "redefines": redefines, "integer": integer}

        def decorate(formula: Callable[Q, Any]) -> Statement[Q]:
            owner = f"{self.name}.{key_of(number)}"
            calculator = self._calculator(formula, owner, units, **sides)
            left_side = left and self._calculator(left, owner, units, **sides)
            symbols = (symbol,) if isinstance(symbol, str) else symbol
            made = Statement(
                self, number, claim, calculator, symbols, relation, _assumptions(assumes), page, conclusion, left_side,
                positive, tuple(map(_assumptions, cases)), parts, states,
            )  # fmt: skip
            self._require_new(number, formula)
            if states is not None or left is not None:
                from fedconvex.claims.agreement import require_agreement

                with suppress(NameError):  # of what the module defines below; `Statement.stated` looks again
                    require_agreement(made)
            (self.ours if ours else self.statements)[key_of(number)] = made
            return made

        return decorate

    def _require_new(self, number: str, formula: Callable[..., Any] | None = None) -> None:
        known = (self.statements | self.ours).get(key_of(number))
        if known is not None and not (formula and is_run_again(formula, known.calculator.formula)):
            cure = "give every statement a number or name of its own"
            raise InvalidInput("number", number, f"is the number of two statements of {self.name}", cure)

    def calculator(
        self,
        *,
        of: str,
        assumes: tuple[Assumption | Condition, ...] = (),
        units: Units | tuple[Units, ...] = NUMBER,
        integer: bool = False,
        upwards: bool = False,
        redefines: Mapping[str, Parameter] = MappingProxyType({}),
    ) -> Callable[[Callable[Q, Any]], Calculator[Q]]:
        """Decorates a formula that only helps with a statement (`of` its number): a term, a stepsize, a round count."""
        sides: dict[str, Any] = {"assumes": assumes, "redefines": redefines, "integer": integer, "upwards": upwards}
        return lambda formula: self._calculator(formula, f"{self.name}: {of}", units, **sides)

    def relettered(self, **latex: str) -> dict[str, Parameter]:
        """Parameters that one statement writes with other letters than the rest of the paper, for `redefines`."""
        return {name: replace(self.notation[name], latex=letter, means=None) for name, letter in latex.items()}

    def alias(self, number: str, of: Statement, **changes: Any) -> Statement:
        """Registers a statement under a second number: a theorem whose conclusion is a numbered equation."""
        made = replace(of, number=number, **changes)
        self._require_new(number)
        self.statements[key_of(number)] = made
        return made

    def find(self, name: str) -> Statement:
        """The statement with a key such as `theorem4`; AttributeError where there is none.

        A paper's module uses it as its `__getattr__`, so that `fedprox.theorem4` works.
        """
        if name in (known := self.statements | self.ours):
            return known[name]
        raise AttributeError(f"module 'fedconvex.theory.{self.name}' has no attribute {name!r}")

    def _calculator(
        self,
        formula: Callable[Q, Any],
        owner: str,
        units: Units | tuple[Units, ...],
        *,
        assumes: tuple[Assumption | Condition, ...],
        redefines: Mapping[str, Parameter],
        integer: bool,
        upwards: bool = False,
    ) -> Calculator[Q]:
        arguments = signature(formula).parameters
        where = f"{formula.__name__}({', '.join(arguments)})"
        if not all(a.kind is Argument.KEYWORD_ONLY for a in arguments.values()):
            raise InvalidInput("formula", where, "takes parameters by position", "write (*, …), for calls by name")
        if unknown := [name for name in arguments if name not in self.notation and name not in redefines]:
            problem = f"has the parameter {unknown[0]}, which is not in the paper's notation"
            raise InvalidInput("formula", where, problem, f"{suggestion(unknown[0], self.notation)}add it to notation")
        parameters = {name: redefines.get(name) or self.notation[name] for name in arguments}
        conditions = tuple(c for a in assumes for c in ((a,) if isinstance(a, Condition) else a.conditions))
        # a condition on parameters that this formula does not take cannot be checked in its calls
        used = tuple(c for c in conditions if {c.argument, *c.names} <= parameters.keys())
        return Calculator(formula.__name__, owner, formula, parameters, used, integer, upwards, units)


def _assumptions(assumes: tuple[Assumption | Condition, ...]) -> tuple[Assumption, ...]:
    return tuple(Given(a) if isinstance(a, Condition) else a for a in assumes)


def restored(module: str, key: str) -> Statement:
    """The statement of a pickle: the one with this key among those of the module's paper."""
    found: Statement = import_module(module).PAPER.find(key)
    return found


@cache
def key_of(number: str) -> str:
    """The key of a number: `theorem4` for "Theorem 4", `equation17` for "Equation (17)"."""
    return "".join(c for c in number.lower() if c.isalnum() or c == ".").replace(".", "_")


def is_run_again(new: Callable[..., Any], known: Callable[..., Any]) -> bool:
    """Whether a cell of a notebook, or a line of an interactive session, defines its function once more."""
    return new.__module__ == known.__module__ == "__main__" and new.__qualname__ == known.__qualname__
