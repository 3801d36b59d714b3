r"""Displays read back: a claim's LaTeX or plain text, with its `where` lines, as functions of a made-up world.

Written from the reader's side, without any code of the display: products by juxtaposition; means and sums take in the
rest of a product, E the next factor; symbols by the longest match; the phrases of `where` lines.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from worlds import HERE, IN_A_ROUND, ROUNDS, Place, World

from fedconvex.claims.claim import Claim
from fedconvex.statements.letters import Letters

Tokens = tuple[str, ...]
Value = Callable[[Place], Any]
GREEK = """alpha α beta β gamma γ delta δ Delta Δ epsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ rho ρ sigma σ
    tau τ xi ξ phi φ Gamma Γ ell ℓ nabla ∇ sum Σ le ≤ in ∈ langle ⟨ rangle ⟩ lceil ⌈ rceil ⌉ sqrt √ cdot ·"""
SIGNS = {sign: f"\\{name} " for name, sign in re.findall(r"(\w+) (\S)", GREEK)} | {"‖": r"\|", "−": "-"}
ACCENTS = {"\u0304": r"\bar ", "\u0303": r"\tilde ", "\u0302": r"\hat "}
SCRIPTS = {"^": "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "_": "₀₁₂₃₄₅₆₇₈₉₊₋"}
WORD = r"[A-Za-z][A-Za-z0-9]+(?:_[A-Za-z0-9]+)*|[A-Za-z]_[A-Za-z0-9]{2,}(?:_[A-Za-z0-9]+)*"
FUNCTIONS: dict[str, Callable[..., float]] = {"max": max, "min": min, "exp": math.exp, "log": math.log}
CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", "|": "|", r"\lceil": r"\rceil"}
ENDS = {"+", "-", ",", "=", r"\le", *CLOSING.values(), r"\rangle"} - {"|"}
MOMENT = "a moment"
PHRASES = {
    "memory": "client K's memory (.*)", "shared": "the server's vector (.*)", "free": "any vector()",
    "family": "any vector of client K()", "answers": "client K's answer()",
    "last answers": "client K's latest answer()",
    "solutions": "the exact solution of client K's subproblem()",
    "residuals": "the gradient of client K's subproblem at its answer()",
    "local gradients": "the sum of client K's gradients over its local steps()",
    "before last step": "client K's point before its last local step()",
    "local step": "client K's gradient step on its subproblem()", "drawn": "the average over the drawn clients()",
}  # fmt: skip


class Unreadable(ValueError):
    """A text that is no claim to a reader who knows these symbols."""


class Entry(NamedTuple):
    """A symbol that the reader knows: of a "number", a "vector" or a "map", at a place, and for a map of a vector."""

    kind: str
    value: Callable[..., Any]


def tokens_of(text: str, plain: bool) -> Tokens:
    """The tokens, the same for LaTeX and plain text, with braces around every script."""
    text = re.sub("(.)([\u0302-\u0304])", lambda m: ACCENTS[m[2]] + m[1], text)
    for sign, digits in SCRIPTS.items():
        for raised in re.findall(f"[{digits}]+", text):
            text = text.replace(raised, f"{sign}{{{raised.translate(str.maketrans(digits, '0123456789+-'))}}}", 1)
    text = "".join(SIGNS.get(c, c) for c in text).replace(r"\mathbb{E}", "E").replace("varepsilon", "epsilon")
    text = re.sub(r"\\(left|right|quad)(?![a-zA-Z])|\\,", " ", text)
    made: list[str] = []
    words = rf"|min(?=_[a-z]\{{)|{WORD}" if plain else ""
    for roman, token in re.findall(rf"\\mathrm\{{((?:[^{{}}])*)\}}|(\\[a-zA-Z]+|\\.|\d+{words}|\S)", text):
        token = roman.replace(r"\_", "_") or (token[1:] if token[1:] in (*FUNCTIONS, "arg") else token)
        made += ["{", token, "}"] if made and made[-1] in "^_" and token != "{" else [token]
    return tuple(made)


def _dot(u: Any, v: Any) -> float:
    return float(np.sum((np.zeros(2) + u) * v))


@dataclass
class Reader:
    """A reader of one display, in these letters and symbols of parameters, of a claim whose `rounds` it knows."""

    world: World
    letters: Letters
    symbols: Mapping[str, str]
    claim: Claim
    plain: bool
    known: dict[Tokens, Entry] = field(default_factory=dict)
    rest: Tokens = ()
    open: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        world, letters = self.world, self.letters
        for name, symbol in self.symbols.items():
            self._learn(symbol, "number", lambda at, name=name: world.number(name))
        for sign, name in ((letters.mean, "num_clients"), (letters.drawn, "num_active")):
            if (share := re.match(r"\\frac\{1\}\{(.*?)\}", sign)) is not None:
                self._learn(share[1], "number", lambda at, name=name: world.number(name))
        self._learn(letters.time, "number", lambda at: at.t)
        server = tuple(MOMENT if t == "@" else t for t in self._tokens(letters.server))
        self.known[server] = Entry("vector", partial(self._vector, "server", "", 0))
        self._learn(letters.minimiser, "vector", lambda at: world.vector("minimiser"))
        for gradient, kind in (("", "value"), (r"\nabla ", "gradient")):
            of = partial(world.function if kind == "value" else world.map, kind)
            self._learn(gradient + letters.function, "map", lambda at, x, of=of: of(at.client)(x(at)))
            self._learn(gradient + letters.objective, "map", partial(self._of_objective, of))
        for star in ("_*", "^*"):
            self._learn(letters.objective + star, "number", lambda at: world.number("the infimum"))

    def _tokens(self, text: str) -> Tokens:
        return tokens_of(text, self.plain)

    def _learn(self, symbol: str, kind: str, value: Callable[..., Any]) -> None:
        self.known.setdefault(self._tokens(symbol), Entry(kind, value))

    def _of_objective(self, of: Callable[..., Any], at: Place, x: Value) -> Any:
        point, share = x(at), self._read(self.letters.share)(at) if self.letters.share else 1
        return self.world.mean(lambda p: of(p.client)(point), at) / share

    def _read(self, text: str) -> Value:
        return replace(self, rest=self._tokens(text), open=()).whole()

    def _vector(self, head: str, name: str, earlier: float, at: Place) -> Any:
        """A vector of the state at the time of the place, or of the round that begins so much earlier."""
        return self.world.atom(head, name, replace(at, round=round(at.t - self.letters.start - earlier)), 0)

    # ---- `where` lines

    def define(self, line: str) -> None:
        """Learns from a line such as `C_t = …` or `h^t is …`."""
        said = re.fullmatch(r"(.*?)(?:\\text\{)? is ([^{}=]*)\}?", line)
        symbol, _, meaning = line.partition(" = ")
        if said is not None:
            self._describe(self._tokens(said[1]), said[2])
            return
        pattern, _ = self._general(self._tokens(symbol))
        found: list[Value] = []

        def value(at: Place) -> Any:
            if not found:  # a meaning may use symbols of later lines
                found.append(self._read(meaning))
            return found[0](at)

        self.known[pattern] = Entry("vector" if "^" in pattern else "number", value)

    def _describe(self, symbol: Tokens, said: str) -> None:
        heads = {h: re.fullmatch(phrase.replace("K", self.letters.client), said) for h, phrase in PHRASES.items()}
        head, found = next(((h, m) for h, m in heads.items() if m is not None), ("", None))
        if found is None:
            raise Unreadable(said)
        if head in ("free", "family"):
            name, own = self._name_of(symbol, head), head == "family"
            self.known[symbol] = Entry("vector", lambda at: self.world.vector(head, name, *[at.client] * own))
        elif head == "local step":
            pattern, moment = self._general(symbol)
            timed = MOMENT in pattern or moment
            begun = -self.letters.start if timed else self.letters.before - self.letters.start

            def step(at: Place, x: Value) -> Any:
                first = self._moved(at, moment) if moment else at
                return self.world.map("step", round(first.t + begun), at.outcome, at.client)(x(at))

            self.known[pattern] = Entry("map", step)
        elif head != "drawn":  # which the sign says itself
            template = getattr(self.letters, head.replace(" ", "_"), "") if head not in ("memory", "shared") else ""
            pattern, moment = self._general(symbol)
            back = 0.5 if "@-1/2" in template else 1 if "@-1" in template else 0
            if "@" not in template and not (MOMENT in pattern or moment):
                earlier: float = -self.letters.before
            else:
                earlier = 1 - back if head in IN_A_ROUND else -back
            of = partial(self._vector, head, found[1], earlier)
            self.known[pattern] = Entry("vector", lambda at: of(self._moved(at, moment) if moment else at))

    def _name_of(self, symbol: Tokens, head: str) -> str:
        own = {n: latex.replace("@+1", f"{self.letters.time}+1") for n, latex in self.letters.free.items()}
        letters = symbol[:-4] if head == "family" else symbol
        plain = "".join(letters).translate({ord(c): None for c in "\\{}"})
        return next((name for name, latex in own.items() if self._tokens(latex) == symbol), plain)

    def _general(self, symbol: Tokens) -> tuple[Tokens, Tokens]:
        """The symbol with any moment in the place of the time, if that is in a script; and else the moment that is."""
        for i, token in enumerate(symbol):
            for j in range(i + 1, len(symbol)) if token in ("{", "(") else ():
                inside = symbol[i + 1 : j]
                if symbol[j] == CLOSING[token] and self._moment(inside) is not None:
                    if inside == (self.letters.time,) != self._total:
                        return (*symbol[: i + 1], MOMENT, *symbol[j:]), ()
                    return symbol, inside
        return symbol, ()

    # ---- moments

    @property
    def _total(self) -> Tokens:
        return self._tokens(self.symbols[self.claim.rounds]) if self.claim.rounds else ()

    def _moment(self, inside: Tokens) -> tuple[str, float] | None:
        """The time, "T" for the last or "" for the first, and the rounds after it; None where it is no moment."""
        text, total = " ".join(inside), " ".join(self._total)
        times = "|".join(map(re.escape, (total, self.letters.time)))
        found = re.fullmatch(rf"({times})?(?: ?([+-]) )?(?:(\d+)( / 2)?)?", text)
        base, sign, digits, half = (None,) * 4 if found is None else found.groups()
        if found is None or not text or (not base and not total) or (base and (sign is None) != (digits is None)):
            return None
        rounds = int(digits or 0) / (2 if half else 1) * (-1 if sign == "-" else 1)
        return ("T" if base and base == total else base or ""), rounds

    def _moved(self, at: Place, inside: Tokens) -> Place:
        """The place at this moment."""
        found = self._moment(inside)
        assert found is not None
        return replace(at, t=found[1] + {"T": ROUNDS, "": 0}.get(found[0], at.t))

    def _round(self, at: Place) -> int:
        return round(at.t + self.letters.before - self.letters.start)

    def here(self, **own: Any) -> Place:
        """The place of a claim about one round."""
        return Place(t=HERE - self.letters.before + self.letters.start, **own)

    # ---- formulas

    def sides(self, text: str) -> tuple[Value, str, Value, bool]:
        """Left side, relation and right side of a claim, and whether it is about every client."""
        found = re.fullmatch(rf"(.*?)(?:\\quad\\text\{{)?\s*for every \}}? ?{self.letters.client}", text)
        self.rest, self.open = self._tokens(text if found is None else found[1]), ()
        left, relation, self.rest = self.sum(), self.rest[:1], self.rest[1:]
        if relation not in (("=",), (r"\le",)):
            raise Unreadable(f"no relation: {relation}")
        return left, "=" if relation == ("=",) else "<=", self.whole(), found is not None

    def whole(self) -> Value:
        value = self.sum()
        if self.rest:
            raise Unreadable(f"left over: {' '.join(self.rest)}")
        return value

    def sum(self) -> Value:
        terms = [(-1 if self._take("-") else 1, self.product())]
        while self.rest[:1] in (("+",), ("-",)):
            terms.append((1 if self._take("+") else -1 if self._take("-") else 0, self.product()))
        first, *others = terms
        return lambda at: sum((s * x(at) for s, x in others), start=first[0] * first[1](at))

    def product(self) -> Value:
        factors = [(1, self.power())]
        while self.rest and self.rest[0] not in {*ENDS, *self.open[-1:]}:
            factors.append((-1 if self._take("/") else 1 if self._take(r"\cdot") or True else 0, self.power()))

        def value(at: Place) -> Any:
            found = factors[0][1](at)
            for power, x in factors[1:]:
                found = found * (x(at) if power > 0 else 1 / x(at))
            return found

        return value

    def power(self) -> Value:
        base = self.atom()
        if not self._take("^"):
            return base
        exponent = self._group("{")
        return lambda at: base(at) ** exponent(at)

    def atom(self) -> Value:
        if (found := self._symbol()) is not None:
            return found
        head, self.rest = self.rest[:1], self.rest[1:]
        match head:
            case ("E",) | (r"\sum",):
                return self._average(head[0])
            case (r"\frac",):
                above, below = self._group("{"), self._group("{")
                return lambda at: above(at) * (1 / below(at))
            case (r"\sqrt",):
                inside = self._group("{") if self.rest[:1] == ("{",) else self.atom()
                return lambda at: math.sqrt(inside(at))
            case (r"\|",):
                u = self._until(r"\|")
                return lambda at: math.sqrt(_dot(u(at), u(at)))
            case (r"\langle",):
                u, v = self._until(","), self._until(r"\rangle")
                return lambda at: _dot(u(at), v(at))
            case ("arg",):
                return self._minimiser()
            case (name,) if name in FUNCTIONS:
                arguments = [self._group("(", also=",")]
                while self._take(","):
                    arguments.append(self._until(")", also=","))
                self._need(")")
                return lambda at: FUNCTIONS[name](*(x(at) for x in arguments))
            case (opening,) if opening in CLOSING:
                inside, own = self._until(CLOSING[opening]), {"|": abs, r"\lceil": math.ceil}.get(opening, lambda x: x)
                return lambda at: own(inside(at))
            case (digits,) if digits.isdigit():
                return lambda at: int(digits)
        raise Unreadable(f"at {' '.join((*head, *self.rest[:12]))}")

    def _average(self, sign: str) -> Value:
        """E over draws, over clients or over drawn ones; sums over clients, drawn clients or rounds."""
        index, upper, world = self._script("_"), self._script("^"), self.world
        if sign == "E" and index[:1] != (self.letters.client,):
            over = self.power()
            return lambda at: world.expected(over, at)
        over = self.product()
        if index[:1] == (self.letters.time,):
            first, last = (replace(self, rest=tokens, open=()).whole() for tokens in (index[2:], upper))
            return lambda at: sum(over(replace(at, t=t)) for t in range(round(first(at)), round(last(at)) + 1))
        letters, is_drawn = self.letters, r"\in" in index
        share = re.match(r"\\frac\{1\}(\{.*?\})", letters.drawn if is_drawn else letters.mean)
        many = self._read(share[1]) if sign == r"\sum" and share else lambda at: 1
        if is_drawn:
            moment, ended = index[index.index("{") + 1 : -1], int("@-1" not in letters.drawn)
            begun = lambda at: round(self._moved(at, moment).t - letters.start - ended)  # noqa: E731
            return lambda at: many(at) * world.drawn(over, replace(at, round=begun(at)))
        return lambda at: many(at) * world.mean(over, at)

    def _minimiser(self) -> Value:
        """x of f(x) + (c/2)‖x − v‖²: the world's proximal point of c and v, which are read off the values."""
        self._need("min")
        x, point = self._script("_"), list[Any]()
        known, world = self.known, self.world
        self.known = {**known, x: Entry("vector", lambda at: point[-1])}
        whole = self._group(self.rest[0])
        self.known = known

        def value(at: Place) -> Any:
            def rest(p: Any) -> float:
                point.append(np.array(p))
                return float(whole(at) - world.mean(lambda q: world.function("value", q.client)(point[-1]), at))

            half = (rest([1, 0]) + rest([-1, 0])) / 2 - rest([0, 0])
            center = np.array([rest([-1, 0]) - rest([1, 0]), rest([0, -1]) - rest([0, 1])]) / (4 * half)
            away = np.array([0.3, -0.7]) - center
            assert math.isclose(rest(center + away) - rest(center), half * (away @ away), rel_tol=1e-7, abs_tol=1e-9)
            return world.proximal(2 * half, center)

        return value

    def _symbol(self) -> Value | None:
        """The longest known symbol that is here."""
        for pattern in sorted(self.known, key=len, reverse=True):
            kind, value = self.known[pattern]
            if (found := self._match(pattern)) is None:
                continue
            after, moment = self.rest[found[0] :][:1], found[1]
            if after == ("_",) or (after == ("^",) and kind == "vector") or (kind == "map" and after != ("(",)):
                continue
            self.rest = self.rest[found[0] :]
            if kind == "map":
                return self._mapped(value, moment, self._group("("))
            return lambda at: value(self._moved(at, moment) if moment else at)
        return None

    def _mapped(self, of: Callable[..., Any], moment: Tokens, x: Value) -> Value:
        return lambda at: of(self._moved(at, moment) if moment else at, lambda _: np.zeros(2) + x(at))

    def _match(self, pattern: Tokens) -> tuple[int, Tokens] | None:
        """How many tokens the symbol takes, and the moment in it; None where it is not here."""
        place, moment = 0, Tokens()
        for token in pattern:
            if token == MOMENT:
                end = next((i for i in range(place, len(self.rest)) if self.rest[i] in ("}", ")")), place)
                moment = self.rest[place:end]
                if self._moment(moment) is None:
                    return None
                place = end
            elif self.rest[place : place + 1] == (token,):
                place += 1
            else:
                return None
        return place, moment

    # ---- tokens

    def _script(self, mark: str) -> Tokens:
        """The tokens of a script, if there is one."""
        if not self._take(mark):
            return ()
        depth, i = 0, 0
        while depth or not i:
            depth += {"{": 1, "}": -1}.get(self.rest[i], 0)
            i += 1
        found, self.rest = self.rest[1 : i - 1], self.rest[i:]
        return found

    def _until(self, closing: str, also: str = "") -> Value:
        """A formula up to what closes it; or up to another sign, which stays."""
        self.open += (closing,)
        value = self.sum()
        self.open = self.open[:-1]
        if also and (self.rest[:1] == (also,) or self.rest[:1] == (closing,)):
            return value
        self._need(closing)
        return value

    def _group(self, opening: str, also: str = "") -> Value:
        self._need(opening)
        return self._until(CLOSING[opening], also)

    def _take(self, token: str) -> bool:
        found = self.rest[:1] == (token,)
        self.rest = self.rest[found:]
        return found

    def _need(self, token: str) -> None:
        if not self._take(token):
            raise Unreadable(f"{token} is missing before {' '.join(self.rest[:12])}")
