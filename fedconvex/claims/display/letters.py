r"""Terms and claims as LaTeX in a paper's letters, and as one line of plain text.

What is displayed is the tree that runs and that proofs are about, in the order in which it was written; terms with a
symbol of the paper are shown by it, and `where` says what each symbol means. A symbol has one meaning in a display.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from fedconvex.claims.display.legend import Legend
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.display.typesetting import (
    ATOM,
    POWER,
    PRODUCT,
    Shown,
    Typesetting,
    brackets,
    has_superscript,
    is_sum_over,
    is_tall,
    square_brackets,
)
from fedconvex.claims.terms import (
    IN_A_ROUND,
    Number,
    Term,
    Vector,
    free,
    gradient,
    inner,
    number,
    parts,
    times_of,
)
from fedconvex.statements.letters import Letters
from fedconvex.symbols import GREEK, NAME, IllFormed, Moment, at_moment, script

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim

RELATIONS = {"<=": r"\le", ">=": r"\ge", "=": "=", "<": "<", ">": ">"}
OF_CLIENTS = ("memory", "last answers", "answers", "solutions", "residuals", "local gradients", "local step",
              "before last step", "gradient", "family", "selected")  # fmt: skip
SHARED = ("mean", "drawn")
WORDS = {
    "memory": "client {k}'s memory {name}", "shared": "the server's vector {name}", "free": "any vector",
    "family": "any vector of client {k}", "answers": "client {k}'s answer",
    "last answers": "client {k}'s latest answer",
    "solutions": "the exact solution of client {k}'s subproblem",
    "residuals": "the gradient of client {k}'s subproblem at its answer",
    "local gradients": "the sum of client {k}'s gradients over its local steps",
    "before last step": "client {k}'s point before its last local step",
    "local step": "client {k}'s gradient step on its subproblem", "drawn": "the average over the drawn clients",
}  # fmt: skip


@dataclass(frozen=True)
class Display(Typesetting):
    """A paper's way to write terms.

    Attributes:
        letters: the paper's words for vectors and functions.
        symbols: the LaTeX of parameters, by name.
        moment: that of what is before the round.
        rounds: the parameter that is the number of rounds; "" in a display of one round.
        each: whether it is about each client alone, so that means of numbers over the clients are not written.
        legend: where the display notes its symbols.
    """

    letters: Letters = field(default_factory=Letters)
    symbols: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    moment: Moment = field(default_factory=lambda: Moment("t"))
    rounds: str = ""
    each: bool = False
    legend: Legend = field(default_factory=Legend, compare=False)

    @classmethod
    def of(cls, letters: Letters, symbols: Mapping[str, str]) -> "Display":
        """The display in these letters, of what is about one round."""
        return cls(letters=letters, symbols=symbols).in_a_round

    @classmethod
    def standard(cls, parameters: Iterable[str]) -> "Display":
        """The display in standard notation, with parameters by their names."""
        names = frozenset(parameters)
        return cls.of(Letters.standard(names), {name: symbol_of(name) for name in names})

    def about(self, claim: "Claim") -> "Display":
        """The display of this claim's sides: in one about a run, time 0 is its start."""
        at = replace(self, each=claim.of_client, rounds=claim.rounds)
        return replace(at, moment=Moment("", self.letters.start)) if claim.rounds else at

    @property
    def in_a_round(self) -> "Display":
        """The display of what is about any one round, or about the rounds of a run, one after another."""
        return replace(self, moment=Moment(self.letters.time, self.letters.before))

    # terms and claims

    def latex(self, term: Any) -> str:
        """A term, or a claim, as LaTeX. Raises IllFormed where a symbol of it would mean two things."""
        at = self.with_legend
        text = at.noted(term)
        at.legend.where()
        return text

    def noted(self, term: Any) -> str:
        """The same, with the symbols noted in the display's legend beside those that are there."""
        if not is_claim(term):
            return self.show(term).text
        at = self.about(term)
        claimed = f"{at.show(term.left).text} {RELATIONS[term.relation]} {at.show(term.right).text}"
        return claimed + (rf"\quad\text{{for every }} {self.letters.client}" if term.of_client else "")

    def text(self, term: Any) -> str:
        """A term, or a claim, as one line of plain text."""
        return from_latex(replace(self, slashes=True).latex(term))

    def stated(self, claim: "Claim") -> list[str]:
        """The claim and what its symbols mean, a line of plain text each."""
        at = replace(self, slashes=True)
        return [at.text(claim), *(f"where {from_latex(meaning)}" for meaning in at.where(claim))]

    def where(self, *terms: Any) -> list[str]:
        """What the symbols of these terms mean, as LaTeX, such as `C_t = …`, each before those that its meaning needs.

        Raises IllFormed where one means two things.
        """
        at = self.with_legend
        for term in terms:
            at.noted(term)
        return at.legend.where()

    # arithmetic with averages and lengths

    def whole(self, term: Term) -> Shown | None:
        """The mean over m clients times m, which is a sum where the paper writes the mean as one; and 0 as a vector."""
        match term.head, term.args:
            case "*", (Number("constant", (factor,)), Vector()) if factor == 0:
                return Shown("0")
            case "*", (Number("parameter", (name,)), mean):
                return self._sum_of(name, mean)
            case "*", (Number("root", (Number("parameter", (name,)),)), Number("norm", (u,))):
                squares = self._sum_of(name, inner(u, u))
                return squares and Shown(rf"\sqrt{{{squares.text}}}", POWER)
            case "^", (Number("*", (Number("root", (Number("parameter", (name,)),)), Number("norm", (u,)))), two):
                return self._sum_of(name, inner(u, u)) if two == number(2) else None
        return None

    def _sum_of(self, count: str, mean: Term) -> Shown | None:
        """So many times the mean."""
        divisor, closing, sign = self.letters.mean.removeprefix(r"\frac{1}{").partition("}")
        if not closing or self.symbols.get(count) != divisor or mean.head not in ("mean", "inner", "value", "expected"):
            return None
        shown = self.show(mean)
        for before, instead in ((self.letters.mean, sign), (self.letters.share, "")):
            if before and shown.text.startswith(before):
                self._parameter(count)
                return Shown((instead + shown.text.removeprefix(before)).strip(), PRODUCT, shown.opens)
        return None

    # what is no arithmetic

    def _power(self, base: Term, exponent: Term) -> Shown:
        """The square of a length without its root."""
        if base.head == "norm" and exponent.head == "constant" and exponent.args[0] == 2:
            return self.leaf(inner(base.args[0], base.args[0]))
        shown = super()._power(base, exponent)
        self.legend.formula(shown.text, ("^", self._meaning(base), self._meaning(exponent)))
        return shown

    def leaf(self, term: Term) -> Shown:
        """Parameters, vectors, lengths, values, averages, and what has a symbol."""
        letters = self.letters
        match term.head, term.args:
            case (("parameter" | "variable"), (name,)):
                return self._parameter(name)
            case "named", (symbol, inside):
                return self._named(symbol, inside)
            case "server", _:
                return self._vector(term, letters.server)
            case "shared", (name, _):
                return self._vector(term, letters.shared.get(name, f"{_letter(name)}^@"))
            case "memory", (name, _):
                return self._vector(term, letters.memory.get(name, f"{_letter(name)}_{letters.client}^@"))
            case "free", (name,):
                return self._vector(term, letters.free.get(name, symbol_of(name)))
            case "family", (name,):
                return self._vector(term, f"{_letter(name)}_{letters.client}")
            case (("last answers" | "answers" | "solutions" | "residuals" | "local gradients" | "before last step"), _):
                return self._vector(term, getattr(letters, term.head.replace(" ", "_")))
            case "local step", (at,):
                return self._of(term, self._sign("local step", letters.local_step), at)
            case "minimiser", _:
                return self._vector(term, letters.minimiser)
            case "proximal", (weight, at):
                return self._proximal(weight, at)
            case "gradient", (at,):
                return self._of(term, rf"\nabla {self._sign('client', letters.function)}", at)
            case "objective gradient", (at,):
                return self._of_objective(term, r"\nabla ", at)
            case "mean", (inside,):
                return self._mean(inside)
            case "next round", (inside,):
                return replace(self, moment=self.moment.plus(1)).show(inside)
            case "drawn", (inside,):
                return self._averaged(self._sign("drawn", letters.drawn), inside, self.show(inside))
            case "inner", (u, v) if u == v:
                return self._average(u, self._length(u, squared=True))
            case "inner", (u, v):
                product = Shown(rf"\langle {self.show(u).text}, {self.show(v).text}\rangle")
                return self._average(u + v, product)
            case "norm", (u,) if self.each or shared_by_all(u):
                return self._length(u)
            case "norm", (u,):
                return Shown(rf"\sqrt{{{self._average(u, self._length(u, squared=True)).text}}}", POWER)
            case "value", (at,) if shared_by_all(at) and not self.each:
                return self._of_objective(term, "", at)
            case "value", (at,):
                return self._average(gradient(at), self._of(term, self._sign("client", letters.function), at))
            case "infimum", _:
                script_of = "_*" if letters.minimiser.endswith("_*") else "^*"
                return self._noted(f"{letters.objective}{script_of}", term, "the infimum of the objective")
            case "expected", (inside,):
                return self._expected(inside)
            case "sum of rounds", (ratio, inside):
                return self._over_rounds(ratio, inside)
            case "mean of rounds", (ratio, inside):
                return self._mean_of_rounds(ratio, inside)
            case "after", (inside,):
                return replace(self, moment=self._end, rounds=self.rounds or "T")._expected(inside)
        raise IllFormed("term", term.head, "is in no claim", "give a term of the claim language")

    # symbols, and what they mean

    def _parameter(self, name: str) -> Shown:
        if name not in self.symbols:
            raise IllFormed("parameter", name, "has no symbol in this display", "give it an entry in the notation")
        symbol = self.symbols[name]
        self.legend.symbol(symbol, ("parameter", None, name), f"the parameter {name}")
        return Shown(symbol, PRODUCT, opens=True) if is_sum_over(symbol) else Shown(symbol)

    def _named(self, symbol: str, inside: Term) -> Shown:
        """A symbol at the last of the times in its meaning, which is defined at any time where it is about one."""
        times, symbol = times_of(inside) or {0}, symbol.replace("#", self.letters.client)
        shown = at_moment(symbol, self.moment.plus(max(times)))
        said = partial(_name_of, self, inside)
        self.legend.symbol(shown, self._meaning(inside), said)
        at, general = self, shown
        if len(times) == 1 and self._is_general(symbol) and all(map(self._moves, parts(inside))):
            at = replace(self, moment=Moment(self.letters.time, -max(times)))
            general = at_moment(symbol, Moment(self.letters.time))
            self.legend.symbol(general, at._meaning(inside), said)
        if inside.head in ("memory", "shared") and _has_own_time(symbol):
            self._describe(general, inside)
        else:
            self.legend.definitions.setdefault(general, lambda legend: at._with(legend).show(inside).text)
        return Shown(shown)

    def _vector(self, term: Term, template: str) -> Shown:
        """A vector by its letter, at its time, which its words are about at any time."""
        time = term.args[-1] if term.args and type(term.args[-1]) is int else int(term.head in IN_A_ROUND)
        shown = at_moment(template, self.moment.plus(time))
        said = WORDS.get(term.head, term.head).format(**self._names(term))
        if term.head not in ("minimiser", "free", "family", "shared", "memory"):
            self._require_time(template, time - int(term.head in IN_A_ROUND))
        if term.head in WORDS:
            at = replace(self, moment=Moment(self.letters.time, -time)) if self._is_general(template) else self
            general = at_moment(template, at.moment.plus(time))
            self.legend.symbol(general, at._meaning(term), said)
            self._describe(general, term)
        self._note_letters(template)
        return self._noted(shown, term, said)

    def _noted(self, shown: str, term: Term, said: str) -> Shown:
        self.legend.symbol(shown, self._meaning(term), said)
        return Shown(shown)

    def _describe(self, symbol: str, term: Term) -> None:
        self.legend.words.setdefault(symbol, WORDS[term.head].format(**self._names(term)))

    def _names(self, term: Term) -> dict[str, str]:
        return {
            "k": self.letters.client,
            "name": next((a.replace("_", r"\_") for a in term.args if type(a) is str), ""),
        }

    def _note_letters(self, template: str) -> None:
        """The letters for any time and any client, where they are written."""
        letters = self.letters
        if "@" in template and self._is_in_a_round:
            self.legend.symbol(letters.time, "time", "the time")
        elif "@" in template and self.moment.letter and self.rounds in self.symbols:
            self._parameter(self.rounds)
        if f"_{letters.client}" in template or f"{{{letters.client}" in template:
            self.legend.symbol(letters.client, "client", "any client")

    def _require_time(self, template: str, time: int) -> None:
        """A letter without a place for the time is that of the moment or round that the whole claim is about."""
        base = Moment("", self.letters.start) if self.rounds else self.in_a_round.moment
        if "@" not in template and self.moment.plus(time) != base:
            cure = "give it a place for the time, as x^@"
            raise IllFormed("letter", template, "would stand for what it means at several times", cure)

    def _sign(self, kind: str, template: str) -> str:
        """A function, or a sign such as that of an average."""
        kind = "objective" if template == self.letters.objective else kind  # of a single client
        shown = at_moment(template, self.moment.plus(1))
        if kind in WORDS:
            self._require_time(template, 0)
            self.legend.words.setdefault(shown, WORDS[kind].format(k=self.letters.client))
        self._note_letters(template)
        round_of = self.moment if kind in IN_A_ROUND else None
        self.legend.symbol(
            shown, ("sign", kind, round_of), {"client": "a client's function"}.get(kind, f"the sign of {kind}")
        )
        return shown

    def _meaning(self, term: Term) -> Hashable:
        """The term without names and with its moments, the same for all terms of one meaning that are built alike."""
        match term.head, term.args:
            case "named", (_, inside):
                return self._meaning(inside)
            case "next round", (inside,):
                return replace(self, moment=self.moment.plus(1))._meaning(inside)
            case "after", (inside,):
                return "expected", replace(self, moment=self._end)._meaning(inside)
            case ("sum of rounds" | "mean of rounds") as head, (ratio, inside):
                return head, self._meaning(ratio), self.in_a_round._meaning(inside)
            case ("shared" | "memory") as head, (name, _) if "@" not in getattr(self.letters, head).get(name, "@"):
                return head, name  # which the paper's letter says is the same at all times
            case head, args:
                own = self.moment.plus(1) if head in IN_A_ROUND else None
                return head, own, *(self.moment.plus(a) if type(a) is int else
                                    self._meaning(a) if type(a) in (Vector, Number) else a for a in args)  # fmt: skip
        raise AssertionError(term)

    @property
    def _is_in_a_round(self) -> bool:
        return self.moment.letter == self.letters.time != self._total

    def _is_general(self, symbol: str) -> bool:
        """Whether what is said of the symbol is said of any time, since it has the time of what it means."""
        return self.letters.time != self._total and _has_own_time(symbol)

    @property
    def with_legend(self) -> "Display":
        """The display with a legend of its own, in which functions have their letters whether they occur or not."""
        at = self._with(Legend(slashes=self.slashes))
        for name in ("max", "min", "log", "exp", "arg"):
            at.legend.symbol(rf"\{name}", ("sign", name), f"the function {name}")
        for kind, letter in (("client", self.letters.function), ("objective", self.letters.objective)):
            at._sign(kind, letter)
        _ = at._expectation
        return at

    def _moves(self, part: Term) -> bool:
        """Whether what is shown of this part shows its time."""
        if part.head == "named":
            return "@" in part.args[0] or not times_of(part.args[1])
        if part.head in (*IN_A_ROUND, "server", "last answers"):
            return "@" in getattr(self.letters, part.head.replace(" ", "_"))
        return True

    def _with(self, legend: Legend) -> "Display":
        return replace(self, legend=legend, slashes=legend.slashes)

    @property
    def _total(self) -> str:
        return self.symbols.get(self.rounds, "T")

    @property
    def _end(self) -> Moment:
        return Moment(self._total, self.letters.start)

    # functions, lengths, averages

    def _of(self, term: Term, function: str, at: Vector) -> Shown:
        shown = function + brackets(self.show(at).text)
        self.legend.formula(shown, self._meaning(term))
        return Shown(shown)

    def _of_objective(self, term: Term, operator: str, at: Vector) -> Shown:
        """The mean of the clients' functions at a point of all, or of their gradients."""
        shown = self._of(term, operator + self._sign("objective", self.letters.objective), at)
        return Shown(f"{self.letters.share} {shown.text}", PRODUCT) if self.letters.share else shown

    def _proximal(self, weight: Number, at: Vector) -> Shown:
        x = next(free(name) for name in "xyzuvw" if free(name) not in parts(at))
        inside = replace(self, legend=Legend())  # in which x is bound
        objective = inside._of_objective(Number("value", (x,)), "", x).text
        half = self._juxtaposed([self.show(weight / 2), inside._length(x - at, squared=True)]).text
        self.show(at), self._sign("objective", self.letters.objective)
        return Shown(rf"\arg\min_{x.args[0]}\left\{{{objective} + {half}\right\}}")

    def _length(self, u: Vector, squared: bool = False) -> Shown:
        text = self.show(u).text
        text = brackets(text) if r"\|" in text else text
        length = rf"\left\|{text}\right\|" if is_tall(text) else rf"\|{text}\|"
        return Shown(length + ("^2" if squared else ""), POWER if squared else ATOM)

    def _mean(self, inside: Vector) -> Shown:
        if inside.head == "gradient" and shared_by_all(inside.args[0]):
            return self._of_objective(Vector("mean", (inside,)), r"\nabla ", inside.args[0])
        if shared_by_all(inside):
            return self.show(inside)
        return self._averaged(self._sign("mean", self.letters.mean), inside, self.show(inside))

    def _average(self, over: Vector, shown: Shown) -> Shown:
        if self.each or shared_by_all(over):
            return shown
        return self._averaged(self._sign("mean", self.letters.mean), over, shown)

    def _averaged(self, sign: str, over: Vector, shown: Shown) -> Shown:
        """Under a sign such as E or Σ: sums in brackets."""
        text = shown.text if shown.level > 0 else square_brackets(shown.text)
        return Shown(f"{sign} {text}", PRODUCT if r"\sum" in sign else POWER, opens=True)

    @property
    def _expectation(self) -> str:
        """The sign, which has the index of one draw where only that is random."""
        sign = self.letters.expectation
        sign = sign.partition("_")[0] if self.rounds else sign
        return self._sign("expectation", sign) if sign else ""

    def _expected(self, inside: Term) -> Shown:
        if inside.head == "expected":  # of what is an expectation already
            return self._expected(inside.args[0])
        sign = self._expectation
        if inside.head == "inner" and inside.args[0] == inside.args[1]:
            return self._average(inside.args[0], Shown(sign + self._length(inside.args[0], squared=True).text, POWER))
        shown = self.show(inside)
        if not sign:  # nothing is drawn in the paper
            return shown
        if inside.head == "value" and shown.level == ATOM and len(sign) == 1:
            return Shown(f"{sign} {shown.text}")
        return Shown(sign + square_brackets(shown.text))

    # rounds

    def _over_rounds(self, ratio: Number, inside: Term) -> Shown:
        """Σ_t r^t E x_t; the rounds are counted from 0 in the exponent."""
        at = replace(self.in_a_round, rounds=self.rounds or "T")
        weight = "" if _is_one(ratio) else self._weight(ratio) + " "
        shown = at._expected(inside) if type(inside) is Number else at.show(inside)
        text = shown.text if shown.level > 0 else brackets(shown.text)
        return Shown(f"{self._sum_of_rounds} {weight}{text}", PRODUCT, opens=True)

    @property
    def _sum_of_rounds(self) -> str:
        """Σ over the times t of the rounds, before each of which it is t, or t − 1."""
        letters, first = self.letters, self.letters.start - self.letters.before
        self.legend.symbol(letters.time, "time", "the time")
        if self.rounds in self.symbols:
            self._parameter(self.rounds)
        return rf"\sum_{{{letters.time}={first}}}^{script(str(Moment(self._total, first - 1)))}"

    def _symbol_of_weight(self, ratio: Number) -> str:
        """The paper's symbol for Σ_t r^t, which is defined."""
        symbol = self.letters.sums_of_powers.get(ratio.args[0], "") if ratio.head == "named" else ""
        if symbol:
            self.legend.symbol(symbol, ("weights", self._meaning(ratio)), "the sum of the weights")
            self.legend.definitions.setdefault(symbol, lambda legend: self._with(legend)._weight_of_rounds(ratio))
        return symbol

    def _weight_of_rounds(self, ratio: Number) -> str:
        return f"{self._sum_of_rounds} {self._weight(ratio)}"

    def _weight(self, ratio: Number) -> str:
        base = self.show(ratio)
        closed = base.level == ATOM and not has_superscript(base.text)
        exponent = str(Moment(self.letters.time, self.letters.before - self.letters.start))
        return f"{base.text if closed else brackets(base.text)}^{script(exponent)}"

    def _mean_of_rounds(self, ratio: Number, inside: Term) -> Shown:
        total = self._total if _is_one(ratio) else self._symbol_of_weight(ratio) or self._weight_of_rounds(ratio)
        over = self._over_rounds(ratio, inside).text
        return Shown(rf"\frac{{1}}{{{total}}} {over}", PRODUCT, opens=True)


def _has_own_time(symbol: str) -> bool:
    return "@" in symbol and "@-" not in symbol and "@+" not in symbol


def _name_of(display: Display, term: Term) -> str:
    return f"the name of {from_latex(display._with(Legend()).show(term).text)}"


def is_claim(term: Any) -> "TypeGuard[Claim]":
    """Whether it is a claim, and not one of its terms."""
    return type(term) not in (Vector, Number) and hasattr(term, "relation")


def symbol_of(name: str) -> str:
    r"""A parameter's LaTeX: that of a letter for its name, as \alpha_{0} for alpha_0; else the name as it is."""
    if not NAME.fullmatch(name):
        raise IllFormed("name", name, "is no name of a claim", "give ASCII letters and digits, such as alpha_0")
    letter, _, index = name.partition("_")
    if "_" in index or not (letter in _GREEK or (len(letter) == 1 and len(index) < 2)):
        return _word(name)
    return (rf"\{letter}" if letter in _GREEK else letter) + (f"_{script(index)}" if index else "")


_GREEK = GREEK.keys() - {"varepsilon"}  # which looks like epsilon


def _letter(name: str) -> str:
    """The LaTeX of a name that gets an index and a superscript."""
    return rf"\{name}" if name in _GREEK else name if len(name) == 1 else _word(name)


def _word(name: str) -> str:
    return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


def shared_by_all(vector: Vector) -> bool:
    """Whether it is one vector, not one for each client."""
    if vector.head in SHARED:
        return True
    return vector.head not in OF_CLIENTS and all(shared_by_all(x) for x in vector.args if type(x) is Vector)


def _is_one(term: Number) -> bool:
    return term.head == "constant" and term.args[0] == 1
