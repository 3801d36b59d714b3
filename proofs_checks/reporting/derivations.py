"""Proofs that the kernel replays as lines for readers: each relation in the paper's letters, and what it rests on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

from fedconvex.claims.claim import Claim
from fedconvex.claims.display.formulas import symbols_of
from fedconvex.claims.display.letters import RELATIONS, Display
from fedconvex.claims.terms import Number, expected, family, later, local_step, norm, number, parameter
from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict

KERNEL = "kernel"
WORDS = {
    "σ": "the variance of the average over a draw, of vectors with the variance 1",
    proofs.ROUND: "the number of rounds before", proofs.STEP: "the number of local steps before",
}  # fmt: skip
# In proofs alone: the factor of variances of averages over a draw, and the number of rounds before.
OF_PROOFS = MappingProxyType({"σ": r"\tilde\sigma", proofs.ROUND: r"\tau", proofs.STEP: "i"})


@final
@dataclass(frozen=True)
class ShownLine:
    """A line of a proof for readers: formula, reason, and each fact and square with its multiplier, as LaTeX."""

    shown: str
    because: str
    uses: tuple[tuple[str, str], ...]  # multiplier (LaTeX), and what it multiplies (text with formulas between dollars)


def evidence_of(of: Statement, derivation: proofs.Derivation) -> tuple[EvidenceLine, ...]:
    """The lines of a replayed proof; the last one is the statement's claim."""
    found = []
    for line in shown_lines(of, derivation):
        squares = sum(what.startswith("‖") for _, what in line.uses)
        detail = ", ".join(
            f"{n} {what}{'s' * (n != 1)}" for n, what in ((len(line.uses) - squares, "fact"), (squares, "square"))
        )
        found.append(EvidenceLine(line.shown, line.because, "", Role.PROOF.value, Verdict.PROVED.value, KERNEL, detail))
    if found:
        found[-1] = replace(found[-1], place=of.number)
    return tuple(found)


def shown_lines(of: Statement, derivation: proofs.Derivation) -> list[ShownLine]:
    """The lines of the proof, in order; those of a proof by cases, one case after the other.

    What a symbol means that is not in the claim stands beside the first line with it. Raises IllFormed where one means
    two things.
    """
    claim = of.claim
    assert claim is not None
    display = display_of(of).with_legend
    known, lines = set(display.where(claim)), []
    for line in _lines(derivation, claim, display):
        own = [
            rf"{OF_PROOFS[name]}\text{{ is {words}}}"
            for name, words in WORDS.items()
            if display.legend.has_parameter(name)
        ]
        new = [meaning for meaning in (*own, *display.legend.where()) if meaning not in known]
        known |= set(new)
        lines.append(replace(line, because="; ".join([line.because, *(f"where ${meaning}$" for meaning in new)])))
    return lines


def display_of(of: Statement) -> Display:
    """The letters of the statement's paper, with those of its formulas."""
    left = of.left.parameters if of.left is not None else {}
    symbols = {**OF_PROOFS, **symbols_of({**of.paper.notation, **left, **of.calculator.parameters})}
    letters, rounds = of.paper.letters, of.claim.rounds if of.claim is not None else ""
    if symbols.get(rounds) == letters.time:  # which is the last time, where rounds are counted by another letter
        letters = replace(letters, time="n")
    return Display.of(letters, symbols)


def _lines(derivation: proofs.Derivation, claim: Claim, display: Display) -> Iterator[ShownLine]:
    if (cases := derivation.cases) is not None:
        for larger, smaller, case in (
            (cases.more, cases.less, cases.above),
            (cases.less, cases.more, cases.below),
        ):
            where = rf"\text{{where }} {display.noted(larger)} \ge {display.noted(smaller)}:\quad "
            yield from (replace(line, shown=where + line.shown) for line in _lines(case, claim, display))
        return
    for line in derivation.of_round:
        yield _line(line, display, "in any round; ")
    for line in derivation.lines:
        yield _line(line, display.about(claim), "")


def _line(line: proofs.Line, display: Display, where: str) -> ShownLine:
    match line:
        case proofs.Combine(left, right, facts, squares, relation):
            shown = f"{display.noted(left)} {RELATIONS[relation]} {display.noted(right)}"
            reason = ""
        case proofs.Root(left, right, earlier):
            shown = rf"{display.noted(left)} \le {display.noted(right)}"
            return ShownLine(shown, f"{where}the root of “{earlier}”", ())
        case proofs.Telescope(potential, gain, ratio, error, facts, squares):
            shown = _in_a_round(potential, gain, ratio, error, display, telescopes=True)
            reason = "in every round, and summed over the rounds; "
        case proofs.Iterate(potential, ratio, error, facts, squares):
            shown = _in_a_round(potential, number(0), ratio, error, display, telescopes=False)
            reason = "in every round, one after another; "
        case proofs.LocalSteps(to, ratio, family_name, facts, squares):
            point = family(family_name)
            after, before = norm(local_step(point) - to), norm(point - to)
            shown = rf"{display.noted(after)} \le {display.noted(_times(ratio, before))}"
            reason = "in every local step, one after another; "
        case proofs.AlongSteps(potential, family_name, _, facts, squares):
            point, step = family(family_name), parameter(proofs.STEP)
            after = potential.put(step, step + 1).put(point, local_step(point))
            shown = rf"{display.noted(after)} \le {display.noted(potential)}"
            reason = "in every local step but the last, one after another; "
    uses = tuple(_uses(facts, squares, display))
    name = f"“{line.name}”: " if line.name else ""
    return ShownLine(shown, name + where + reason + _summary([what for _, what in uses]), uses)


def _in_a_round(potential: Number, gain: Number, ratio: Any, error: Any, display: Display, telescopes: bool) -> str:
    """E[r·V⁺ + G] ≤ V + e, or E V⁺ ≤ qV + e, for the potential V."""
    at = display.in_a_round
    after, before = later(potential), potential
    if telescopes:
        left, right = _plus(_times(ratio, after), gain), _plus(before, error)
    else:
        left, right = after, _plus(_times(ratio, before), error)
    return rf"{at.noted(expected(left))} \le {at.noted(right)}"


def _times(factor: Number, of: Number) -> Number:
    return of if factor == number(1) else factor * of


def _plus(first: Number, second: Number) -> Number:
    return first if second == number(0) else first + second


def _uses(facts: Any, squares: Any, display: Display) -> Iterator[tuple[str, str]]:
    for multiplier, fact in facts:
        if type(fact) is proofs.During:
            when = {"start": "at the start", "end": "after the last round", "rounds": "in every round"}[fact.when]
            for inner, what in _uses(fact.facts, fact.squares, display.in_a_round):
                yield f"{display.noted(multiplier)} \\cdot {inner}", f"{what} {when}"
        else:
            yield display.noted(multiplier), fact_in_words(fact, display)
    for weight, vector in squares:
        yield display.noted(weight), f"‖${display.noted(vector)}$‖² ≥ 0"


def fact_in_words(fact: Any, display: Display) -> str:
    """What a fact says, in a phrase with formulas between dollars."""
    show = display.noted
    match fact:
        case proofs.Lower(b, a):
            return f"the least curvature, at ${show(b)}$ seen from ${show(a)}$"
        case proofs.Upper(b, a):
            return f"smoothness, at ${show(b)}$ seen from ${show(a)}$"
        case proofs.Between(b, a):
            return f"the curvatures between ${show(a)}$ and ${show(b)}$"
        case proofs.Hypothesis(what):
            return f"the assumed {what}" if what != "scale" else "the variance of the draw"
        case proofs.CauchySchwarz(u, v, _):
            return f"Cauchy-Schwarz for ${show(u)}$ and ${show(v)}$"
        case proofs.Triangle(u, v, times):
            return f"the triangle inequality for ${show(u)}$ and ${show(v)}$ times ${show(norm(times))}$"
        case proofs.MeanLength(u):
            return f"Jensen's inequality for the length of ${show(u)}$"
        case proofs.Idle(u):
            return f"the idle clients' ‖${show(u)}$‖² ≥ 0"
        case proofs.Infimum(at):
            return f"the infimum, at ${show(at)}$"
        case proofs.ClientInfima(at):
            return f"the clients' minima, at ${show(at)}$"
        case proofs.Similar(b, a):
            return f"the similarity of the Hessians between ${show(a)}$ and ${show(b)}$"
        case proofs.Nonnegative(of):
            return f"${show(of)} \\ge 0$"
        case proofs.Earlier(line):
            return f"“{line}”"
        case proofs.Product(line, other):
            return f"“{line}” times “{other}”"
        case proofs.BernoulliPower(ratio, order):
            return f"Bernoulli's inequality of order {order} for ${show(ratio)}$"
        case proofs.Proved(identifier):
            return f"`{identifier}`"
        case proofs.Jensen(vector, _):
            return f"Jensen's inequality for ${show(vector)}$"
    raise AssertionError(type(fact).__name__)


def _summary(uses: list[str]) -> str:
    """The kinds of facts in a phrase: statements and earlier lines by name, other facts counted."""
    named = list(dict.fromkeys(what for what in uses if what.startswith(("“", "`"))))
    counted = Counter(_kind(what) for what in uses if not what.startswith(("“", "`")))
    kinds = [f"{kind} ({count} times)" if count > 1 else kind for kind, count in counted.items()]
    return ", ".join([*named, *kinds]) or "the two sides are the same"


def _kind(what: str) -> str:
    if what.startswith("‖"):
        return "a square"
    if what.startswith("$"):
        return "a sign"
    return what.partition(" $")[0].partition(", at")[0].partition(" for")[0].removesuffix(" between")
