"""What a proof needs to know of its parameters: roots by name, positive divisors, and signs of multipliers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, number, parts
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar
from fedconvex.proofs_checks.rocq.signs import rooted_sign_lemma, sign_lemma, unclear_factors
from fedconvex.proofs_checks.rocq.substitutions import substitutions
from fedconvex.proofs_checks.rocq.terms import Missing, Writer, factored, has_nested_divisions, number_of, symbol_of
from fedconvex.proofs_checks.rocq.theorems import TheoremText, divisors

LONG = 8  # summands of a divisor


@final
class ParameterSigns:
    """`lines` are tactics that add roots, divisors and signs to the context; `lemmas` stand before the theorem.

    `signs` has the name of the proof that a multiplier is >= 0, by its text.
    """

    def __init__(
        self, theorem: TheoremText, numbers: list[Number], vectors: list[Vector], multipliers: Iterable[Number]
    ):
        self.theorem, self.board, self.writer = theorem, theorem.board, theorem.writer
        conditions = [side for left, _, right in theorem.setting.conditions for side in (left, right)]
        self.roots = Roots.of([*numbers, *conditions], self.board, self.writer)
        self.lines = list(self.roots.lines)
        self.lemmas: list[str] = []
        self.divisor_texts: dict[str, str] = {}
        self.signs: dict[str, str] = {}
        self.quotients: dict[str, str] = {}  # that divide beside roots of formulas, by what says that they are not 0
        self._with_chosen: dict[str, Number] = {}  # what divides, and may have a chosen parameter in it
        self.asked: list[str] = []  # what lemmas about roots ask of the conditions, as it is shown here
        self._begun = True  # `lines` are still written
        terms: dict[Any, None] = dict.fromkeys([*numbers, *vectors])
        for place, below in enumerate(divisors(terms), 1):
            self.divisor(str(place), below)
        with_chosen = {name: of for name, of in self._with_chosen.items() if "-" in self.writer.number(of)}
        # Identities put chosen parameters in. Of shorter formulas `nonzero` finds what `field` then asks for.
        if self.roots.quotients and max(map(_summands, with_chosen.values()), default=0) >= LONG:
            for name, of in with_chosen.items():
                self._put_chosen_in(name, of)
        for multiplier in multipliers:
            text = self.writer.number(multiplier)
            if text not in self.signs and is_of_parameters(multiplier):
                self.signs[text] = f"sign_{len(self.signs) + 1}"
                shown = self.sign(multiplier)
                self.lines.append(f"assert ({self.signs[text]} : 0 <= {text}) by {shown}.")
        self._begun = False

    def divisor(self, place: str, below: Number, named: bool = False) -> None:
        """The tactic that adds the sign of a divisor; in the roots' names where it is none of the theorem's own."""
        text = (self.roots.text if named else self.writer.number)(below)
        if text in self.divisor_texts:
            return
        positive = self.board.field.is_positive(self.board.parameters.value(below))
        proof = self.sign(below, strictly=True) if positive else "sign"
        self.divisor_texts[text] = f"0 < {text}" if positive else f"{text} < 0"
        self.lines.append(f"assert (divisor_{place} : {self.divisor_texts[text]}) by {proof}.")
        if "sqrt" in text and "-" in text and self.roots.equations:
            copy = f"divisor_{place}_in_roots"  # as `field` asks for it: a search for its sign takes seconds
            rewritten = ", ".join(f"?{equation}" for equation in self.roots.equations)
            self.lines.append(f"pose proof divisor_{place} as {copy}. rewrite {rewritten} in {copy}.")
        if has_nested_divisions(1 / below):
            self._divisors_inside(place, below)
        else:
            self._with_chosen[f"divisor_{place}_is"] = below

    def _put_chosen_in(self, name: str, of: Number) -> None:
        """What divides, with the chosen parameter put in: cleared of its fractions it is another polynomial."""
        field = self.board.field
        if any(p.head == "parameter" and p.args[0] in field.chosen for p in parts(of)):
            for which, factor in enumerate(unclear_factors(self.board.parameters.value(of).above, field), 1):
                self.divisor(f"{name}_{which}", number_of(Scalar(factor, field.one, field)), True)
            self.lines += self.roots.put_chosen_in(name, of)

    def _divisors_inside(self, place: str, below: Number) -> None:
        """What a quotient that divides has above is not 0: a divisor as well, once the fractions are cleared."""
        for which, above in enumerate(_above(below), 1):
            text = self.writer.number(above)
            if "-" in text and f"{text} <> 0" not in self.divisor_texts:
                self.divisor_texts[f"{text} <> 0"] = ""
                if self.roots.of_formulas and any(p.head == "/" for p in parts(above)):
                    self.quotients[f"divisor_{place}_{which}"] = text
                self.lines.append(
                    f"assert (divisor_{place}_{which} : {text} <> 0) "
                    f"by (apply (factor_of divisor_{place}); intro zero; rewrite zero; unfold Rdiv; ring)."
                )
            if any(p.head == "/" for p in parts(above)):  # cleared of its fractions it is another polynomial
                field = self.board.field
                for factor in unclear_factors(self.board.parameters.value(above).above, field):
                    self.divisor(f"{place}_{which}_cleared", number_of(Scalar(factor, field.one, field)), True)
                if field.chosen:  # `field` leaves a chosen parameter as it is
                    own = self._unchosen(above)
                    for factor in unclear_factors(own.value(above).above, own.field):
                        self.divisor(f"{place}_{which}_unchosen", number_of(Scalar(factor, own.field.one, own.field)))
                self.lines += self.roots.put_chosen_in(f"divisor_{place}_{which}_is", above)
            else:
                self._with_chosen[f"divisor_{place}_{which}_is"] = above

    def sign(self, formula: Number, strictly: bool = False) -> str:
        """The tactic that shows a sign, with a lemma of its own where the formula has differences."""
        if "-" not in self.writer.number(formula):
            return f"({self.roots.rewrite}sign)"
        if not self.roots.names and self._seen(formula) in ("positive", "positive" if strictly else "nonnegative"):
            return "sign"
        if self.roots.of_formulas and self._is_inverse(formula):
            return "sign"
        name = f"{self.theorem.name}_sign_{len(self.lemmas) + 1}"
        given = [h.text for h in self.theorem.hypotheses if "INR" not in h.text]
        names = dict(self.theorem.parameters)
        if self.theorem.draws == "uniform":
            names["σ"] = "sg"
            given += ["0 <= sg", "sg <= 1"]
        given += [self.divisor_texts[self.writer.number(d)] for d in divisors([formula])]
        own = self._own(formula)
        by = "assumption"
        if own.setting is not self.theorem.setting:
            chosen = {self.writer.number(x) for x, relation, _ in self.theorem.setting.conditions if relation == "="}
            given = [re.sub(rf" = ({'|'.join(chosen)})$", r" <= \1", h) for h in given]
            by = "first [assumption | lra]"
        below = [own.value(d) for d in divisors([formula])]
        try:
            self.lemmas.append(sign_lemma(name, own.field, formula, own.value(formula), strictly, names, given, below))
        except Missing:
            try:
                return self._rooted(name, formula, strictly)
            except Missing:
                return f"({self.roots.rewrite}sign)"
        return f"(apply ({name} {' '.join(dict.fromkeys(names.values()))}); {by})"

    def _is_inverse(self, formula: Number) -> bool:
        """Whether it is 1/d for a divisor d with divisions in it that is known to be positive."""
        match formula.head, formula.args:
            case "/", (one, below) if one == number(1) and has_nested_divisions(formula):
                text = self.writer.number(below)
                return self.divisor_texts.get(text) == f"0 < {text}"
        return False

    def _seen(self, formula: Number) -> str:
        """The sign that the tactic `seen` sees, from those of the letters and of earlier divisors; "" for none."""
        if formula.head == "named":
            return self._seen(formula.args[1])
        if self.divisor_texts.get(text := self.writer.number(formula)) == f"0 < {text}":
            return "positive"
        match formula.head, formula.args:
            case "constant", (c,):
                return "positive" if c > 0 else "nonnegative" if c == 0 else ""
            case "parameter", (name,):
                sign = self.board.field.signs.get(name, self.theorem.setting.signs.get(name, ""))
                return {"positive": "positive", "nonnegative": "nonnegative"}.get(sign, "")
            case "^", (x, Number("constant", (n,))) if n >= 0:
                return self._seen(x)
            case "root", (x,):
                return self._seen(x)
            case ("+" | "*" | "/") as head, (x, y):
                signs = {self._seen(x), self._seen(y)}
                if "" in signs or (head == "/" and self._seen(y) != "positive"):
                    return ""
                enough = "positive" in signs if head == "+" else signs == {"positive"}
                return "positive" if enough else "nonnegative"
        return ""

    def _own(self, formula: Number) -> SettingParameters:
        """The parameters, with no roots but the formula's: a parameter under a root is the square of another symbol.

        What chooses a parameter bounds it from below as well: where that is enough, the parameter stays a symbol, and
        with it every divisor as it is written.
        """
        setting = self.theorem.setting
        own = SettingParameters(setting, [formula])
        if own.field.chosen:
            try:
                bounded = self._unchosen(formula)
                if substitutions(bounded.field, bounded.value(formula)) is not None:
                    return bounded
            except Refused:
                return own
        return own

    def _unchosen(self, formula: Number) -> SettingParameters:
        """The parameters, of which what chooses one only bounds it from below. Raises Refused."""
        setting = self.theorem.setting
        bounds = tuple((x, ">=" if relation == "=" else relation, y) for x, relation, y in setting.conditions)
        return SettingParameters(replace(setting, conditions=bounds), [formula])

    def _rooted(self, name: str, formula: Number, strictly: bool) -> str:
        """The tactic that shows a sign by a lemma about the roots in the formula."""
        if not self.roots.names:
            raise Missing("the sign of a formula without roots")
        field, names = self.board.field, {"σ": "sg"} if self.theorem.draws == "uniform" else {}
        seen = self._seen(formula)  # the roots of formulas are positive: no lemma is needed then
        for symbol in field.signs:
            if symbol.startswith("√"):
                inside = symbol.removeprefix("√")
                of_formula = inside.startswith("[") and not seen
                known = self.roots.names.get(Number("root", (symbol_of(symbol if of_formula else inside),)))
            else:
                known = self.theorem.parameters.get(symbol)
            if known is not None:
                names[symbol] = known
        names = {symbol: names[symbol] for symbol in field.signs if symbol in names}
        lemma, target, asked = rooted_sign_lemma(name, field, self.board.parameters.value(formula), strictly, names)
        self.lemmas.append(lemma)
        relation = "<" if strictly else "<="
        replaced = f"match goal with |- 0 {relation} ?e => replace e with ({target}) by {self.roots.identity} end"
        of_hypothesis = " | ".join(
            f"match goal with H : ?b {r} ?a |- 0 {r} ?c => replace c with (a - b) by {self.roots.identity}; lra end"
            for r in ("<=", "<")
        )
        by = f"first [assumption | lra | {of_hypothesis} | nra]"
        if self._begun:
            for text in asked:  # once in a proof: the search for it may take a second
                if text not in self.asked:
                    self.asked.append(text)
                    self.lines.append(f"assert (asked_{len(self.asked)} : {text}) by {by}.")
        return f"({self.roots.rewrite}{replaced}; apply ({name} {' '.join(dict.fromkeys(names.values()))}); {by})"


def _summands(of: Number) -> int:
    """The number of summands."""
    return sum(map(_summands, of.args)) if of.head in ("+", "-") else 1


def _above(of: Number) -> Iterator[Number]:
    """The factors of a product of quotients that stand above."""
    if of.head in ("*", "/"):
        for factor in of.args if of.head == "*" else of.args[:1]:
            yield from _above(factor)
    else:
        yield of


# Roots of parameters in a proof: a name for every root in the kernel's field, and what others are in these.


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
