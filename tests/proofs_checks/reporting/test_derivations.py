"""Proofs for readers: every line of every proof is shown, as mathematics, with all that it rests on."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from fedconvex.claims.claim import Claim
from fedconvex.claims.display.letters import RELATIONS
from fedconvex.claims.display.plain_text import from_latex, mixed
from fedconvex.claims.terms import Number, Vector, free, inner, number, parameter, square
from fedconvex.display.html import math
from fedconvex.proofs_checks import papers_with_proofs
from fedconvex.proofs_checks.claims import builder_of, derivation_of
from fedconvex.proofs_checks.evidence import EvidenceLine
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.proofs import Cases, Combine, Derivation, During, LocalSteps, Root, facts, squares
from fedconvex.proofs_checks.reporting.derivations import display_of, evidence_of, fact_in_words, shown_lines
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn, fedprox, papers

pytestmark = pytest.mark.beyond_core  # takes seconds

for paper in papers_with_proofs():
    load(paper)
PROVED = {s.identifier: s for name in papers_with_proofs() for s in papers()[name].everything if builder_of(s)}
NUMBERED = re.compile(r"(\d+) facts?, (\d+) squares?")


def every_line(derivation: Derivation) -> Iterator[proofs.Line]:
    """Those of both cases, and those of a round, in the order of the proof."""
    if derivation.cases is not None:
        yield from every_line(derivation.cases.above)
        yield from every_line(derivation.cases.below)
    yield from (*derivation.of_round, *derivation.lines)


def counted(line: proofs.Line) -> tuple[int, int]:
    """The facts and the squares that a line uses; those of all rounds count as each of them."""
    used, weighed = getattr(line, "facts", ()), len(getattr(line, "squares", ()))
    number = 0
    for _, fact in used:
        number += len(fact.facts) if type(fact) is During else 1
        weighed += len(fact.squares) if type(fact) is During else 0
    return number, weighed


@pytest.mark.sample(65)
@pytest.mark.parametrize("name", PROVED)
def test_every_line_is_shown_with_its_facts_counted(name: str) -> None:
    of = PROVED[name]
    derivation = derivation_of(of)
    lines, shown = list(every_line(derivation)), evidence_of(of, derivation)
    assert len(lines) == len(shown) > 0
    for line, evidence in zip(lines, shown, strict=True):
        found = NUMBERED.fullmatch(evidence.detail)
        assert found is not None, evidence.detail
        assert tuple(map(int, found.groups())) == counted(line)
        assert (evidence.role, evidence.verdict, evidence.engine) == ("proof", "proved", "kernel")
        assert evidence.because
    assert [line.place for line in shown] == [""] * (len(shown) - 1) + [of.number]


def is_readable(formula: str) -> bool:
    plain = from_latex(formula)
    balanced = formula.count("{") == formula.count("}") and formula.count(r"\left") == formula.count(r"\right")
    return balanced and "\\" not in plain and "\n" not in plain and not math(formula).startswith("<code")


@pytest.mark.sample(46)
@pytest.mark.parametrize("name", PROVED)
def test_every_formula_is_mathematics(name: str) -> None:
    of = PROVED[name]
    for line in shown_lines(of, derivation_of(of)):
        assert is_readable(line.shown), line.shown
        assert "\\" not in mixed(line.because), line.because
        assert line.because.count("$") % 2 == 0
        for multiplier, what in line.uses:
            assert is_readable(multiplier), multiplier
            assert all(is_readable(formula) for formula in what.split("$")[1::2]), what


def test_what_is_not_readable_would_be_noticed() -> None:
    assert is_readable(r"\frac{1}{\mu} \le L")
    assert not is_readable(r"\frac{1}{\mu \le L")
    assert not is_readable(r"\unknown{x} \le 1")
    assert not is_readable(r"\left( x \le 1")


def last_of_each_case(derivation: Derivation) -> Iterator[proofs.Line]:
    if derivation.cases is None:
        yield derivation.lines[-1]
    else:
        yield from last_of_each_case(derivation.cases.above)
        yield from last_of_each_case(derivation.cases.below)


def without_names(term: Any) -> Any:
    r"""A part that the claim names, such as \bar\mu, written out."""
    if type(term) not in (Number, Vector):
        return term
    if term.head == "named":
        return without_names(term.args[1])
    return type(term)(term.head, tuple(map(without_names, term.args)))


@pytest.mark.sample(65)
@pytest.mark.parametrize("name", PROVED)
def test_the_last_line_is_the_claim(name: str) -> None:
    """In each case; and it is shown in the claim's letters."""
    of = PROVED[name]
    claim, derivation = of.claim, derivation_of(of)
    assert claim is not None
    display = display_of(of).about(claim)
    for line in last_of_each_case(derivation):
        if isinstance(line, LocalSteps):  # one of the steps whose product the claim is about
            assert "in every local step" in evidence_of(of, derivation)[-1].because
            return
        assert isinstance(line, Combine | Root)
        relation = line.relation if isinstance(line, Combine) else "<="
        sides = [without_names(side) for side in (line.left, line.right)]
        assert [*sides, relation] == [without_names(claim.left), without_names(claim.right), claim.relation]
    shown = evidence_of(of, derivation)[-1].shown
    assert shown.endswith(f"{display.latex(line.left)} {RELATIONS[relation]} {display.latex(line.right)}")


def test_a_square_is_told_from_a_fact() -> None:
    (line,) = shown_lines(fedprox.equation3, derivation_of(fedprox.equation3))[-1:]
    assert all(not what.startswith("‖") for _, what in line.uses)
    some = next(of for of in PROVED.values() if counted(derivation_of(of).lines[-1])[1] > 1)
    (line,) = shown_lines(some, derivation_of(some))[-1:]
    assert sum(what.startswith("‖") for _, what in line.uses) == counted(derivation_of(some).lines[-1])[1]


# ---- made for the purpose: cases, rounds, every kind of fact

x, y, a = free("x"), free("y"), parameter("L")
OF: Statement = fedprox.equation6
CLAIM = Claim(inner(x, y), "<=", square(x) + square(y))
LINE = Combine(CLAIM.left, CLAIM.right, facts((1, proofs.CauchySchwarz(x, y))), squares((2, x - y)), name="a name")


def shown(derivation: Derivation, of: Statement = OF) -> tuple[EvidenceLine, ...]:
    return evidence_of(of, derivation)


def test_cases_are_told_apart() -> None:
    simple = Derivation((LINE,))
    apart = shown(Derivation(cases=Cases(a, number(1), simple, simple)))
    assert len(apart) == 2
    assert apart[0].shown.startswith(r"\text{where } L \ge 1:")
    assert apart[1].shown.startswith(r"\text{where } 1 \ge L:")
    assert [line.place for line in apart] == ["", OF.number]
    assert all(line.shown.endswith(shown(simple)[0].shown) for line in apart)
    within = shown(Derivation(cases=Cases(a, number(1), Derivation(cases=Cases(a, number(2), simple, simple)), simple)))
    assert len(within) == 3
    assert from_latex(within[0].shown).count("where") == 2


def test_a_line_has_its_name_and_its_facts() -> None:
    (line,) = shown(Derivation((LINE,)))
    vectors = r"where $x\text{ is any vector}$; where $y\text{ is any vector}$"
    assert line.because == f"“a name”: Cauchy-Schwarz, a square; {vectors}"
    assert line.detail == "1 fact, 1 square"
    nothing = shown(Derivation((replace(LINE, facts=(), squares=(), name=""),)))
    assert nothing[0].because == f"the two sides are the same; {vectors}"


def test_lines_of_a_round_and_of_all_rounds_are_told_apart() -> None:
    theorem2 = shown_lines(feddyn.theorem2, derivation_of(feddyn.theorem2))
    assert any("in every round" in line.because for line in theorem2)
    of_round = shown(Derivation((LINE,), of_round=(LINE,)))
    assert of_round[0].because.startswith("“a name”: in any round; ")
    assert not of_round[1].because.startswith("“a name”: in any round")


def test_every_kind_of_fact_has_words() -> None:
    display = display_of(OF)
    kinds = [
        proofs.Lower(x, y), proofs.Upper(x, y), proofs.Between(x, y), proofs.Hypothesis("inexactness"),
        proofs.Hypothesis("scale"), proofs.CauchySchwarz(x, y), proofs.Idle(x), proofs.Infimum(x),
        proofs.Nonnegative(a), proofs.Earlier("first"), proofs.Proved("fedprox.equation3"), proofs.Jensen(x),
        proofs.ClientInfima(x), proofs.Similar(x, y),
        proofs.Triangle(x, y, x), proofs.MeanLength(x), proofs.Product("first", "second"), proofs.BernoulliPower(a, 1),
    ]  # fmt: skip
    said = [fact_in_words(fact, display) for fact in kinds]
    assert {type(fact) for fact in kinds} == {*proofs.Fact.__args__} - {During}  # whose facts are shown each
    assert len(set(said)) == len(kinds)
    assert all("\\" not in mixed(words) for words in said)
    with pytest.raises(AssertionError, match="int"):
        fact_in_words(1, display)
