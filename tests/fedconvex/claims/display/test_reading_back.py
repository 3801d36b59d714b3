"""Every display of a claim, read back with its `where` lines, means the claim; an altered one means something else."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mathml_reader import latex_of
from reader import Reader, Unreadable
from worlds import HERE, Meaning, Place, World

from fedconvex.claims import Claim, equal
from fedconvex.claims.display.formulas import symbols_of
from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.display.statements import displayed
from fedconvex.claims.terms import (
    IllFormed,
    Number,
    Vector,
    after,
    answers,
    before_last_step,
    drawn,
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
    next_round,
    norm,
    number,
    objective_gradient,
    parameter,
    proximal,
    residuals,
    server,
    shared,
    solutions,
    square,
    sum_of_rounds,
    value,
)
from fedconvex.display.html import math
from fedconvex.statements import Statement
from fedconvex.statements.letters import Letters
from fedconvex.statements.rendering import text as text_of
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core

Shown = tuple[str, list[str], bool]  # a claim, its `where` lines, and whether they are plain text


def read(claim: Claim, letters: Letters, symbols: dict[str, str], shown: Shown, seed: int = 1) -> str:
    """How what is shown differs from the claim; "" where it does not."""
    text, where, plain = shown
    one_client = letters.function == letters.objective
    world = World(seed, 3 if letters.expectation else 1, claim.rounds, 1 if one_client else 3)
    reader = Reader(world, letters, {n: from_latex(x) if plain else x for n, x in symbols.items()}, claim, plain)
    for line in where:
        # of numbers that the clients have, the claim has one, the largest
        reader.define(re.sub(r"\\?max_k (\\?\w+?)_k\^t$", r"\1", line))
    left, relation, right, each = reader.sides(text)
    if (relation, each) != (claim.relation, claim.of_client):
        return f"another relation: {relation}, {each}"
    meaning = Meaning(world, claim.of_client)
    for k in range(world.clients):
        for side, of in ((claim.left, left), (claim.right, right)):
            wanted = meaning(side, Place(round=0 if claim.rounds else HERE, client=k))
            found = of(Place(client=k, t=letters.start) if claim.rounds else reader.here(client=k))
            if not close(wanted, found):
                return f"{found} for {wanted}"
    return ""


def close(wanted: Any, found: Any) -> bool:
    a, b = np.asarray(wanted), np.asarray(found)
    return (a.shape == b.shape or not b.any()) and np.allclose(a, b, rtol=1e-7, atol=1e-8)


def unwrapped(text: str) -> tuple[str, list[str]]:
    """A claim and its `where` lines from lines for a screen, where lines that go on are indented."""
    first, *lines = re.sub(r"\n {2,}", " ", text).split("\n")
    return first, [line.removeprefix("where ") for line in lines]


def in_html(latex: str) -> str:
    """The LaTeX that a reader of a page makes of the formula."""
    return latex_of(math(latex))


def displays(claim: Claim, display: Display) -> Iterator[Shown]:
    """LaTeX, LaTeX as MathML, plain text, and LaTeX as plain text."""
    latex, where, slashes = display.latex(claim), display.where(claim), replace(display, slashes=True)
    yield latex, where, False
    yield in_html(latex), list(map(in_html, where)), False
    yield from_latex(latex), list(map(from_latex, where)), True
    yield slashes.text(claim), list(map(from_latex, slashes.where(claim))), True


def catalogue() -> dict[str, Statement]:
    return {s.identifier: s for paper in papers().values() for s in paper.everything if s.claim is not None}


def symbols_in(s: Statement) -> dict[str, str]:
    left = s.left.parameters if s.left is not None else {}
    return symbols_of({**s.paper.notation, **left, **s.calculator.parameters})


def used(claim: Claim, symbols: dict[str, str]) -> dict[str, str]:
    return {name: symbols[name] for name in sorted(claim.parameters | {claim.rounds} - {""})}


def of_statement(s: Statement, plain: bool) -> Shown:
    """The claim as the statement shows it: with a factor such as ρ, what the factor is stands among the meanings."""
    shown = displayed(s, plain=plain)
    if not shown.conclusion:
        return shown.formulas[0], list(shown.where), plain
    factors = [f for f in shown.formulas if " = " in f and re.match(r"\\?[\w^]+ = (?!\\tilde O|Õ|O)", f)]
    return shown.conclusion, [*factors, *shown.where], plain


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", sorted(catalogue()))
def test_what_is_shown_is_the_claim(name: str) -> None:
    s = catalogue()[name]
    claim = s.claim
    assert claim is not None
    display, symbols = Display.of(s.paper.letters, symbols_in(s)), used(claim, symbols_in(s))
    for shown in (*displays(claim, display), of_statement(s, False), of_statement(s, True)):
        assert read(claim, s.paper.letters, symbols, shown) == "", shown
    standard = Display.standard(symbols)
    for shown in (*displays(claim, standard), (*unwrapped(str(claim)), True)):
        assert read(claim, standard.letters, dict(standard.symbols), shown) == "", shown
    lines = [line.strip() for line in text_of(s).splitlines()]
    in_text = of_statement(s, True)
    assert {in_text[0], *in_text[1]} <= {re.sub("^(where|then) ", "", line) for line in lines}


def test_nothing_is_left_out_that_a_paper_does_not_write() -> None:
    """Where a paper writes no expectation nothing is drawn, and where its function is the objective there is one."""
    for s in catalogue().values():
        claim, letters = s.claim, s.paper.letters
        assert claim is not None
        if not letters.expectation:
            assert s.setting.draws.scheme == "everyone", s.identifier
        if letters.function == letters.objective:
            assert s.setting.single_client, s.identifier


# ---- what must be noticed

ALTERATIONS = {
    "a sign": lambda text: re.sub(r" - ", " + ", text, count=1),
    "another sign": lambda text: re.sub(r" \+ ", " - ", text, count=1),
    "a time": lambda text: re.sub(r"\^\{t\+1\}|\^\{t-1\}", "^t", text, count=1),
    "a power": lambda text: re.sub(r"\^2", "^3", text, count=1),
    "a relation": lambda text: text.replace(r"\le", "="),
    "a bracket": lambda text: re.sub(r"(?<=[\w}] )\(([^()]* [+-] [^()]*)\)(?= )", r"\1", text, count=1),
    "an index": lambda text: re.sub(r"_k\^", "^", text, count=1),
    "a mean": lambda text: re.sub(r"\\mathbb\{E\}_k |\\frac\{1\}\{m\}\\sum_k ", "", text, count=1),
    "a minimiser": lambda text: re.sub(r"(theta|w|x)_\*|(w|x)\^\*", r"\1\2^0", text, count=1),
}

IN_HTML = {  # of the markup
    "a sign in HTML": lambda text: text.replace("&#x02212;", "&#x0002B;", 1),
    "another sign in HTML": lambda text: text.replace("&#x0002B;", "&#x02212;", 1),
    "a time in HTML": lambda text: text.replace("<mo>&#x0002B;</mo><mn>1</mn></mrow></msup>", "</mrow></msup>", 1),
    "a power in HTML": lambda text: text.replace("<mn>2</mn></msup>", "<mn>3</mn></msup>", 1),
    "a raised letter in HTML": lambda text: re.sub("msup>", "msub>", text),
    "a fraction in HTML": lambda text: re.sub(
        r"<mfrac>(<mrow><m[ni]>[^<]*</m[ni]></mrow>)(<mrow>(?:(?!mrow).)*</mrow>)", r"<mfrac>\2\1", text, count=1),
    "a root in HTML": lambda text: text.replace("msqrt>", "mrow>"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*ALTERATIONS, *IN_HTML])
def test_an_altered_display_is_another_claim(name: str) -> None:
    noticed, unnoticed = 0, []
    for s in [s for i, s in enumerate(catalogue().values()) if i % 3 == 0]:
        claim = s.claim
        assert claim is not None
        display = Display.of(s.paper.letters, symbols_in(s))
        text = math(display.latex(claim)) if name in IN_HTML else display.latex(claim)
        if (altered := {**ALTERATIONS, **IN_HTML}[name](text)) == text:
            continue
        try:
            shown = latex_of(altered) if name in IN_HTML else altered
            same = not read(claim, s.paper.letters, used(claim, symbols_in(s)), (shown, display.where(claim), False))
        except (Unreadable, ValueError, TypeError):
            same = False
        noticed += not same
        unnoticed += [altered] * same
    assert noticed >= 2
    assert unnoticed == []


# ---- claims that nobody has stated

NAMES = ("mu", "L", "alpha_0", "stepsize", "num_clients", "T", "t", "e", "k", "E", "f", "x", "max")
VECTORS = [server(0), server(1), minimiser, free("x"), free("v_1"), shared("h", 0), shared("h", 1), answers, solutions,
           residuals, local_gradients, before_last_step, family("u"), last_answers(0), last_answers(1), memory("c", 0),
           memory("gradient", 1)]  # fmt: skip
SYMBOLS = ["a_@", r"\bar b^@", "C_{@-1}", r"\phi", "D_@^*", r"\tilde y^{(@)}", "q_1", r"\xi_{\mu,1}^@", "Z", "R^@"]
CONSTANTS = (0, 1, 2, 3, -1, -2, Fraction(1, 2), Fraction(-2, 3), 12)
OF_VECTORS = (gradient, objective_gradient, mean, drawn, expected, local_step, next_round)
OF_NUMBERS: tuple[Any, ...] = (
    lambda x: -x, abs, lambda x: abs(x).sqrt(), expected, lambda x: (x / 8).exp(), lambda x: (x * x + 1).log(),
    lambda x: x.ceil(), lambda x: x**2, lambda x: x**3, lambda x: x**-1, lambda x: x ** parameter("T"),
)  # fmt: skip
OF_TWO: tuple[Any, ...] = (
    lambda x, y: x + y, lambda x, y: Number("-", (x, y)), lambda x, y: x * y, lambda x, y: x * y, lambda x, y: x / y,
    lambda x, y: x.max(y), lambda x, y: -((-x).max(-y)),
)  # fmt: skip
OF_RUNS: tuple[Any, ...] = (after, sum_of_rounds, mean_of_rounds)


class Drawn:
    """Terms at random, with symbols for some of their parts, one for each."""

    def __init__(self, draw: Any, rounds: str) -> None:
        self.draw, self.rounds, self.symbols = draw, rounds, dict[Any, str]()

    def of(self, choices: Iterable[Any]) -> Any:
        return self.draw(st.sampled_from(list(choices)))

    def named(self, term: Any) -> Any:
        if len(self.symbols) == len(SYMBOLS) or self.draw(st.integers(0, 9)):
            return term
        return type(term)("named", (self.symbols.setdefault(term, SYMBOLS[len(self.symbols)]), term))

    def vector(self, depth: int) -> Any:
        if depth == 0:
            return self.of(VECTORS)
        inside = self.named(self.vector(depth - 1))
        match self.draw(st.integers(0, 12)):
            case 0:
                return inside + self.vector(depth - 1)
            case 1:
                return inside - self.vector(depth - 1)
            case 2 | 3:
                return Vector("*", (self.number(depth - 1), inside))
            case 4:
                return inside / self.number(0)
            case 5:
                return proximal(self.of((parameter("L"), parameter("mu") / 2)), self.of(VECTORS[:5]))
            case 6 if self.rounds:
                return mean_of_rounds(inside, self.of((number(1), parameter("mu"), 1 + parameter("L"))))
        return self.of(OF_VECTORS)(inside)

    def number(self, depth: int) -> Any:
        if depth == 0:
            return self.of((infimum, number(self.of(CONSTANTS)), *2 * (parameter(self.of(NAMES)),)))
        match self.draw(st.integers(0, 9)):
            case 0 | 1:
                return self.of((square, norm, value))(self.named(self.vector(depth - 1)))
            case 2:
                return inner(self.vector(depth - 1), self.vector(depth - 1))
            case 3 | 4:
                return self.of(OF_NUMBERS)(self.named(self.number(depth - 1)))
            case 5 if self.rounds:
                inside = self.number(depth - 1)
                ratio = self.of((number(1), parameter("mu"), 1 + parameter("L")))
                kind = self.of(OF_RUNS)
                return after(inside) if kind is after else kind(inside, ratio)
        return self.of(OF_TWO)(self.named(self.number(depth - 1)), self.number(depth - 1))


@st.composite
def claims(draw: Any) -> Claim:
    """Claims that are well formed, of whatever use."""
    made = Drawn(draw, draw(st.sampled_from(["", "", "T", "t"])))
    if draw(st.integers(0, 3)) == 0:
        return equal(*(made.named(made.vector(draw(st.integers(0, 3)))) for _ in range(2)), rounds=made.rounds)
    left, right = (made.named(made.number(draw(st.integers(0, 4)))) for _ in range(2))
    each = not made.rounds and draw(st.booleans())
    return Claim(left, draw(st.sampled_from(["<=", "="])), right, rounds=made.rounds, of_client=each)


LETTERS = {name: papers()[name].letters for name in ("feddyn", "fedsplit", "fedprox", "ghadimi_lan", "exact_rates")}
OF_PAPERS = {
    "mu": r"\mu", "L": "L^*", "alpha_0": r"\alpha_0", "stepsize": "s", "num_clients": "m", "T": "T", "t": r"\tau",
    "e": r"\varepsilon", "k": "K", "E": r"\Gamma", "f": r"\bar f", "x": "X", "max": "M",
}  # fmt: skip


def shown_or_refused(claim: Claim, display: Display) -> tuple[list[Shown], str]:
    try:
        return list(displays(claim, display)), ""
    except IllFormed as refused:
        return [], str(refused)


@given(claims(), st.sampled_from(["", *LETTERS]))
def test_any_claim_is_read_back_or_refused(claim: Claim, paper: str) -> None:
    meaning, place = Meaning(World(7, rounds=claim.rounds), claim.of_client), Place(round=0 if claim.rounds else HERE)
    try:
        sizes = np.abs(np.array([meaning(side, place) for side in (claim.left, claim.right)], dtype=float))
    except (ValueError, ArithmeticError, TypeError):  # no real number, or a complex one
        assume(False)
    assume(np.all(sizes < 1e6))
    names = claim.parameters | {claim.rounds} - {""}
    display = Display.of(LETTERS[paper], OF_PAPERS) if paper else Display.standard(names)
    all_shown, refusal = shown_or_refused(claim, display)
    if refusal:
        assert "means two things" in refusal or "at several times" in refusal
        return
    symbols = {n: s for n, s in display.symbols.items() if n in names}
    for shown in all_shown:
        try:
            assert read(claim, display.letters, symbols, shown, 7) == "", shown
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, Unreadable):
                raise AssertionError(f"{error}: {shown}") from None
            assume(False)
