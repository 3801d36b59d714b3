"""A reader of exported theorems: their hypotheses and conclusion as terms of claims, read without the export's code.

What a vector of a theorem is follows from its letter and from the hypotheses about it; where a letter could be several
vectors, each is tried. Equations between vectors are compared with the round that the kernel plays.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from fedconvex.claims.terms import (
    Number,
    Vector,
    after,
    answers,
    expected,
    family,
    free,
    gradient,
    infimum,
    inner,
    last_answers,
    local_gradients,
    local_step,
    mean,
    mean_of_rounds,
    memory,
    minimiser,
    norm,
    number,
    objective_gradient,
    parameter,
    parts,
    server,
    shared,
    solutions,
    sum_of_rounds,
    value,
)

TOKEN = re.compile(r"\s*([A-Za-z_][\w']*|\d+|<=|->|=>|%V|%nat|[-+*/^()=<:,])")
SUCCESSOR = ("app", ("name", "S"), ("name", "j"))
PATH = family("path")  # the points of any number of local steps
ZERO = Vector("*", (number(0), minimiser))
Tree = tuple[
    Any, ...
]  # ("name", n), ("app", f, x, …), ("fun" | "forall", names, body), or an operator and its operands


class Unreadable(ValueError):
    """Text that is no theorem of the export."""


# ---- trees


class Parser:
    """Formulas of Rocq as trees."""

    def __init__(self, text: str):
        self.tokens, place = list[str](), 0
        while place < len(text.rstrip()):
            if (found := TOKEN.match(text, place)) is None:
                raise Unreadable(text[place : place + 20])
            self.tokens.append(found[1])
            place = found.end()
        self.tokens.append("")

    def take(self, *wanted: str) -> str:
        """The next token, where it is one of these; else nothing."""
        return self.tokens.pop(0) if self.tokens[0] in wanted else ""

    def need(self, wanted: str) -> None:
        if self.tokens[0] != wanted:
            raise Unreadable(f"{wanted} is missing before {' '.join(self.tokens[:5])}")
        self.tokens.pop(0)

    def whole(self) -> Tree:
        tree = self.formula()
        self.need("")
        return tree

    def formula(self) -> Tree:
        if kind := self.take("forall", "fun"):
            names = []
            while not self.take(",", "=>"):
                names.append(self.tokens.pop(0))
            return (kind, tuple(names), self.formula())
        left = self.relation()
        return ("->", left, self.formula()) if self.take("->") else left

    def relation(self) -> Tree:
        left = self.sum()
        return (sign, left, self.sum()) if (sign := self.take("<=", "<", "=")) else left

    def sum(self) -> Tree:
        left = self.product()
        while sign := self.take("+", "-"):
            left = (sign, left, self.product())
        return left

    def product(self) -> Tree:
        left = self.signed()
        while sign := self.take("*", "/"):
            left = (sign, left, self.signed())
        return left

    def signed(self) -> Tree:
        if self.take("-"):
            return ("neg", self.signed())
        return ("/", ("name", "1"), self.signed()) if self.take("/") else self.power()

    def power(self) -> Tree:
        base = self.applied()
        return ("^", base, self.power()) if self.take("^") else base

    def applied(self) -> Tree:
        parts = [self.atom()]
        while re.match(r"[\w(]", self.tokens[0]):
            parts.append(self.atom())
        return parts[0] if len(parts) == 1 else ("app", *parts)

    def atom(self) -> Tree:
        if not self.take("("):
            if not re.match(r"\w", self.tokens[0]):
                raise Unreadable(f"an operand before {' '.join(self.tokens[:5])}")
            return ("name", self.tokens.pop(0))
        inside = self.formula()
        self.need(")")
        self.take("%V", "%nat")
        return inside


def spine(tree: Tree) -> list[Tree]:
    """A function and its operands."""
    if tree[0] != "app":
        return [tree]
    return [*spine(tree[1]), *tree[2:]]


def name_of(tree: Tree) -> str:
    return str(tree[1]) if tree[0] == "name" else ""


# ---- theorems


@dataclass(frozen=True)
class Theorem:
    """A theorem's parts as text and trees."""

    parameters: tuple[str, ...]
    vectors: tuple[str, ...]
    hypotheses: tuple[Tree, ...]
    conclusion: Tree
    one_client: bool
    drawn: bool
    of_run: bool
    of_steps: bool

    def has_at_other_moments(self, letter: str) -> bool:
        """Whether the vector of a run occurs after the start."""
        after_it = rf"'{letter}'\), \('(app', \('name', 'S'|name', '(j|past|rounds)')"
        return re.search(after_it, str((self.hypotheses, self.conclusion))) is not None


def unbound(tree: Tree, bound: frozenset[str] = frozenset()) -> set[str]:
    """The indices, moments and outcomes in a tree that no `forall` or `fun` binds."""
    if tree[0] in ("fun", "forall"):
        return unbound(tree[2], bound | {*tree[1]})
    if tree[0] == "name":
        return {tree[1]} & {"j", "past", "i", "o", "k"} - bound
    return set().union(*(unbound(part, bound) for part in tree[1:]))


def theorem_in(text: str) -> Theorem:
    """The last theorem of a text."""
    _, _, rest = text.rpartition("\nTheorem ")
    lines = rest.partition("\nProof.")[0].strip().splitlines()[1:]
    refuted = lines[0].strip() == "~ ("
    lines = [line.strip() for line in lines[refuted:]]
    if refuted:
        lines[-1] = re.sub(r"\)\.$", ".", lines[-1])
    begun = next(n for n, line in enumerate(lines) if not line.startswith(("forall ", "let ")))
    header, said = lines[:begun], lines[begun:]
    if not said[-1].endswith(".") or any(not line.endswith(" ->") for line in said[:-1]):
        raise Unreadable(rest)
    trees = [Parser(line.removesuffix(" ->").removesuffix(".")).whole() for line in said]
    if loose := set().union(*map(unbound, trees)):
        raise Unreadable(f"nothing binds {loose}")
    given = [(m[2], m[1].split()) for line in header if (m := re.fullmatch(r"forall ([\w' ]+) : (.+),", line))]
    parameters = [name for kind, names in given for name in names if kind == "R"]
    vectors = [name for kind, names in given for name in names if "families" in kind or "random" in kind or kind == "V"]
    return Theorem(
        tuple(parameters), tuple(vectors), tuple(trees[:-1]), trees[-1],
        one_client="(f : function V)" in header[0], drawn=" W : weighted_set" in header[0],
        of_run="forall rounds : nat," in header, of_steps=any("(steps : nat)" in line for line in header),
    )  # fmt: skip


# ---- terms


@dataclass
class Reading:
    """What the trees of a theorem mean, for one meaning of its letters."""

    theorem: Theorem
    letters: Mapping[str, Any]  # vectors; in a run before the round
    later: Mapping[str, Any]  # those of a run after the round
    parameters: Mapping[str, Number]
    rounds: str = ""
    steps: str = ""
    moments: tuple[str, ...] = ("O", "nil", "rounds")  # of which vectors are looked at here

    @property
    def in_round(self) -> "Reading":
        """The reading of what is about one round of a run."""
        return replace(self, moments=("j", "past"))

    def term(self, tree: Tree, inside: bool = False) -> Any:
        """The vector or number; `inside` of an outcome or an expectation that is already written."""
        match tree:
            case ("name", "zero"):
                return ZERO
            case ("name", str(name)) if name.isdigit():
                return number(int(name))
            case ("name", "infimum") if "infimum" not in self.parameters:
                return infimum
            case ("name", "rounds"):
                return parameter(self.rounds)
            case ("name", "steps"):
                return parameter(self.steps)
            case ("name", str(name)) if name in self.parameters:
                return self.parameters[name]
            case ("name", str(name)):
                return self._letter(name)
            case ("neg", x):
                return Number("neg", (self._number(x, inside),))
            case (("+" | "-") as sign, x, y):
                one, other = self.term(x, inside), self.term(y, inside)
                return type(one)(sign, (one, other))
            case (("*" | "/" | "^") as sign, x, y):
                factor, of = self._number(x, inside), self.term(y, inside)
                return (Vector if sign == "*" and type(of) is Vector else Number)(sign, (factor, of))
            case ("app", *_):
                return self._applied(spine(tree), inside)
        raise Unreadable(str(tree))

    def _number(self, tree: Tree, inside: bool = False) -> Number:
        found = self.term(tree, inside)
        if type(found) is not Number:
            raise Unreadable(f"no number: {tree}")
        return found

    def _vector(self, tree: Tree) -> Vector:
        found = self.term(tree)
        if type(found) is not Vector:
            raise Unreadable(f"no vector: {tree}")
        return found

    def _letter(self, name: str) -> Any:
        if name not in self.letters:
            raise Unreadable(f"no letter: {name}")
        return self.letters[name]

    def _applied(self, whole: list[Tree], inside: bool) -> Any:
        operands = whole[1:]
        match [name_of(whole[0]), *map(name_of, operands)]:
            case ["inner", _, _]:
                return self._averaged(inner(*map(self._vector, operands)), operands, inside)
            case ["norm", _] if inside:
                *of, _ = spine(operands[0])  # in the outcome
                return norm(self._vector(of[0] if len(of) == 1 else ("app", *of)))
            case ["norm", _]:
                u = self._vector(operands[0])
                square = inner(u, u)
                return self._averaged(square, operands, inside).sqrt() if self._draws else self._averaged(
                    norm(u), operands, inside)  # fmt: skip
            case ["value", "F" | "EF", _] if name_of(spine(operands[1])[0]) in ("mean_along", "mean_of_rounds"):
                _, ratio, of, *_ = spine(operands[1])
                return value(mean_of_rounds(self.in_round._vector(of[2]), self._number(ratio)))
            case ["value", "F" | "EF", _]:
                return self._averaged(value(self._vector(operands[1])), operands, inside)
            case ["gradient", "F" | "EF", _]:
                return gradient(self._vector(operands[1]))
            case ["gradient", "", _] if operands[0] == ("app", ("name", "everywhere"), ("name", "f")):
                return objective_gradient(self._vector(operands[1]))
            case ["mean" | "mean_of_all", _]:
                return mean(self._vector(operands[0]))
            case ["mean_of_drawn" | "mean_of_picks", "d", _]:
                return Vector("drawn", (self._vector(operands[1]),))
            case ["selected", "d", _]:
                return Vector("selected", (self._vector(operands[1]),))
            case ["expectation", _]:
                return expected(self._vector(operands[0]))
            case ["average", "W", _] if operands[1][:2] == ("fun", ("o",)):
                return expected(self._number(operands[1][2], True))
            case ["Rmax", _, _]:
                return Number("max", tuple(self._number(x) for x in operands))
            case [("sqrt" | "exp") as head, _]:
                return Number({"sqrt": "root"}.get(head, head), (self._number(operands[0]),))
            case ["sum_of_rounds", _, "rounds", _] if operands[2][:2] == ("fun", ("j",)):
                each = self._after(operands[2][2], "j") if self.theorem.drawn else operands[2][2]
                return sum_of_rounds(self.in_round._number(each), self._number(operands[0]))
            case ["weights", _, "rounds"]:
                return sum_of_rounds(number(1), self._number(operands[0]))
            case ["after", "rounds", _]:
                of = self.in_round._number(self._after(("app", *whole), "rounds"))
                return expected(of) if any(p.head == "mean of rounds" for p in parts(of)) else after(of)
            case ["always", _]:
                return self._letter(name_of(operands[0]))
            case ["y", "i"] | ["y", "j", "i"]:
                return PATH
            case ["y", ""] | ["y", "j", ""] if operands[-1] == ("app", ("name", "S"), ("name", "i")):
                return local_step(PATH)
            case ["now", name, moment] | [name, moment] if self.theorem.of_run and moment in self.moments:
                return self._letter(name)
            case ["next", name, "past"] if "past" in self.moments:
                return self.later[name]
            case [name, ""] if operands[0] == SUCCESSOR and "j" in self.moments:
                return self.later[name]
        raise Unreadable(str(whole))

    @property
    def _draws(self) -> bool:
        """Whether vectors are random, so that inner products are expectations: in a round with drawn clients."""
        return self.theorem.drawn and not self.theorem.of_run

    def _averaged(self, of: Number, operands: Any, inside: bool) -> Number:
        """The number itself, or its expectation; in a run after all rounds, where its vectors are those."""
        if self._draws:
            if inside:
                raise Unreadable(f"an expectation in an outcome: {of}")
            return expected(of)
        moments = set(re.findall(r"'(rounds|O|nil)'", str(operands))) if self.theorem.of_run else set()
        if "rounds" in moments and len(moments) > 1:
            raise Unreadable(f"two moments: {of}")
        return after(of) if "rounds" in moments else of

    def _after(self, tree: Tree, count: str) -> Tree:
        """What is inside an expectation after so many rounds."""
        match tree:
            case ("app", ("name", "after"), ("name", n), ("fun", ("past",), body)) if n == count:
                return body  # type: ignore[no-any-return]
        raise Unreadable(str(tree))


# ---- letters

LETTERS = {"xs": minimiser, "theta": answers, "exact": solutions, "passed": local_gradients,
           "prox": family("prox")}  # until its weight and centre are read # fmt: skip


def meanings(theorem: Theorem, state: set[str], given: set[str], left: Vector) -> Iterator[dict[str, Vector]]:
    """What the letters can be: `left` is what `e` is, `state` has the method's vectors, and `given` any ones' names."""
    choices: list[list[Vector]] = []
    for letter in theorem.vectors:
        found = re.fullmatch(r"(.+?)(_next)?_*", letter)
        assert found is not None
        stem, time = found[1], int(found[2] is not None)
        own = {"w": server(time), "last": last_answers(time), "e": left, **LETTERS}
        some = [free(stem), family(stem)] if stem in given else [own[stem]] if stem in own else []
        some += [f(stem, time) for f in (shared, memory) if f"{f.__name__} {stem}" in state]
        choices.append([*some, Vector("before last step")] if letter == "last" else some)
    for chosen in product(*choices):
        if len(set(chosen)) == len(chosen):
            yield dict(zip(theorem.vectors, chosen, strict=True))


def one_round_later(of: Vector) -> Vector:
    """A vector of the state after the round."""
    return Vector(of.head, (*of.args[:-1], 1)) if of.args[-1:] == (0,) else of
