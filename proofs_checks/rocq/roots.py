"""Roots of parameters in a proof: a name for every root in the kernel's field, and what others are in these."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.claims.terms import Number, number, parts
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.rocq.terms import Writer, factored, number_of


@final
@dataclass
class Roots:
    """The roots in a proof's terms. `lines` introduce them; `rewrite` writes them by their names, `identity` proves."""

    board: RoundBoard
    writer: Writer
    lines: list[str] = field(default_factory=list)
    names: dict[Number, str] = field(default_factory=dict)
    equations: list[str] = field(default_factory=list)  # of the roots as they stand in terms
    parameters: list[str] = field(default_factory=list)  # of the parameters as squares
    squares: list[str] = field(default_factory=list)  # of the names, and of what is chosen: monomial = polynomial
    conditions: list[str] = field(default_factory=list)  # that choose a parameter
    quotients: list[str] = field(default_factory=list)  # of divisors with quotients: what they are once it is put in

    @staticmethod
    def of(numbers: Iterable[Number], board: RoundBoard, writer: Writer) -> "Roots":
        """The roots in these numbers."""
        found = Roots(board, writer)
        values = [(term, number_of(board.parameters.value(term))) for term in _roots_in(numbers)]
        for name in _roots_in(value for _, value in values):
            found._introduce(name)
        for place, (term, value) in enumerate(values, 1):
            text = writer.number(term)
            found.lines.append(f"assert (root_{place}_is : {text} = {found.text(value)}).")
            found.lines.append(f"{{ apply root_is; [sign | {found.identity}]. }}")
            found.equations.append(f"root_{place}_is")
        found._choose()
        return found

    def _choose(self) -> None:
        """What equals a parameter that a condition chooses, for identities in which the kernel has put it in."""
        for place, (left, relation, right) in enumerate(self.board.parameters.setting.conditions, 1):
            if relation != "=" or left.head != "parameter" or left.args[0] not in self.board.field.chosen:
                continue
            equals = number_of(self.board.parameters.value(right))
            above, below = equals.args if equals.head == "/" else (equals, number(1))
            text = self.writer.number(left)
            said = f"{text} * {self._factor(below)} = {self.text(above)}"
            value = self.board.parameters.value(right)
            if len(value.below) > 1:  # `ring` replaces monomials
                first, rest = (number_of(part) for part in _first_term(value))
                said = f"{text} * {self._factor(first)} = {self.text(above)} - {text} * {self._factor(rest)}"
            self.lines.append(f"assert (chosen_{place} : {said}).")
            self.lines.append(f"{{ rewrite <- condition_{place}. {self.identity}. }}")
            self.squares.append(f"chosen_{place}")
            self.conditions.append(f"condition_{place}")

    def put_chosen_in(self, name: str, below: Number) -> list[str]:
        """Tactics that say what a divisor with quotients is once the chosen parameters are put in: one with factors."""
        if not self.conditions or self.names:
            return []
        plain = factored(self.board.parameters.value(below))
        self.quotients.append(name)
        return [
            f"assert ({name} : {self.writer.number(below)} = {self.writer.number(plain)}).",
            f"{{ {self._put_in}field; nonzero. }}",
        ]

    @property
    def _put_in(self) -> str:
        return "".join(f"rewrite <- ?{condition}; " for condition in self.conditions)

    def _factor(self, of: Number) -> str:
        return Writer({}, self.writer.of_parameter, self.writer.draws, self._name).factor(of)

    @property
    def of_formulas(self) -> bool:
        """Whether there are roots of formulas, beside those of parameters and of numbers."""
        return any(str(root.args[0].args[0]).startswith("√[") for root in self.names)

    @property
    def identity(self) -> str:
        """The tactic that proves an equation of formulas."""
        return self._identity("ring", "field") if self.names or self.squares else "identity"

    @property
    def identity_of_quotients(self) -> str:
        """The tactic for an equation that has divisors, where `ring` would be tried in vain: for as long as `field`."""
        return self._identity("field", "ring")

    def _identity(self, *ways: str) -> str:
        first = self.rewrite + "".join(f"rewrite ?{equation}; " for equation in self.parameters)
        given = f" [{' '.join(self.squares)}]" if self.squares else ""
        if self.quotients:
            written = "".join(f"rewrite ?{name}; " for name in self.quotients)
            return f"({written}{self._put_in}field; nonzero)"
        tactics = [f"{way}{given}{'; nonzero' if way == 'field' else ''}" for way in ways]
        return f"({first}first [{' | '.join(tactics)}])"

    @property
    def rewrite(self) -> str:
        """The tactic that writes the roots in a goal by their names."""
        return "".join(f"rewrite ?{equation}; " for equation in self.equations)

    def text(self, of: Number) -> str:
        """A formula of the kernel's field, whose roots are the named ones."""
        return Writer({}, self.writer.of_parameter, self.writer.draws, self._name).number(of)

    def _name(self, root: Number) -> str:
        return self.names[root]

    def _introduce(self, root: Number) -> None:
        """A positive number whose square is the radicand."""
        name = self.names[root] = f"root{len(self.names) + 1}"
        (of,) = root.args
        symbol = str(of.args[0])
        if symbol.startswith("√["):
            radicand = number_of(self.board.field.squares[symbol])
        else:
            radicand = of
        text = self.writer.number(radicand)
        positive = self.board.field.is_positive(self.board.parameters.value(radicand))
        lemma, sign = ("positive_root_of", "positive") if positive else ("root_of", "sign")
        self.lines.append(f"destruct ({lemma} ({text})) as ({name} & {name}_{sign} & {name}_square & _); [sign |].")
        if radicand.head == "parameter":
            self.parameters.append(f"{name}_square")
            return
        above, below = radicand.args if radicand.head == "/" else (radicand, number(1))
        divisor = self.writer.factor(below)
        self.lines.append(f"assert ({name}_cleared : {name} * {name} * {divisor} = {self.writer.number(above)})")
        self.lines.append(f"  by (rewrite <- {name}_square; field; nonzero).")
        self.squares.append(f"{name}_cleared")


def _first_term(of: Any) -> tuple[Any, Any]:
    """The first term of the divisor, and the others."""
    field, terms = of.field, of.below.to_dict()
    powers, coefficient = next(iter(terms.items()))
    first = of.below.context().from_dict({powers: coefficient})
    return field.made(first, field.one), field.made(of.below - first, field.one)


def _roots_in(numbers: Iterable[Number]) -> dict[Number, None]:
    """The roots in these numbers, each once."""
    return dict.fromkeys(p for x in numbers for p in parts(x) if type(p) is Number and p.head == "root")
