"""Faults in exported theorems: a changed constant, sign, exponent or hypothesis, or another multiplier in a proof."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

KINDS = ("constant", "sign", "exponent", "hypothesis", "equation", "multiplier")


@dataclass(frozen=True)
class Mutant:
    """A text in which one place differs.

    without: the text with nothing in the place of the hypothesis. If Rocq accepts that, it has proved the theorem
    without the hypothesis, and there was no fault; empty where the change is in the claim or in the proof.
    """

    identifier: str
    kind: str
    before: str
    after: str
    text: str
    without: str = ""


def mutants_of(identifier: str, text: str) -> Iterator[Mutant]:
    """At most two of each kind, in a text that has one theorem, the last one."""
    begin = text.index("\nTheorem ")
    end = text.index("Proof.", begin)
    theorem, proof = text[begin:end], text[end:]
    claim = theorem.rindex("\n  ", 0, len(theorem.rstrip()))  # the last line of the theorem is its claim

    def made(kind: str, at: int, before: str, after: str, of: str = theorem) -> Mutant:
        """The mutant with this change in the theorem, or in its proof."""
        changed = of[:at] + after + of[at + len(before) :]
        whole = changed + proof if of == theorem else theorem + changed
        return Mutant(identifier, kind, before, after, text[:begin] + whole)

    def weaker(kind: str, m: re.Match[str], group: int, after: str) -> Mutant:
        """The mutant with another hypothesis, in parentheses around the match."""
        found = made(kind, m.start(group), m[group], after)
        first, last = theorem.rindex("\n  (", 0, m.start() + 4), theorem.index(" ->\n", m.end() - 4)
        return replace(found, without=text[:begin] + theorem[:first] + "\n  (True)" + theorem[last:] + proof)

    numbers = [m for m in re.finditer(r"(?<![\w.^] )(?<![\w.^])\d+(?![\w.])", theorem) if m.start() > claim]
    for m in (numbers[:1] + numbers[-1:])[: len(numbers)]:
        yield made("constant", m.start(), m[0], str(int(m[0]) + 1))
    signs = [m for m in re.finditer(r" [+-] ", theorem) if m.start() > claim]
    for m in (signs[:1] + signs[-1:])[: len(signs)]:
        yield made("sign", m.start(), m[0], " - " if m[0] == " + " else " + ")
    powers = [m for m in re.finditer(r"\^ 2", theorem) if m.start() > claim]
    for m in (powers[:1] + powers[-1:])[: len(powers)]:
        yield made("exponent", m.start(), m[0], "^ 3")
    for m in re.finditer(r"curvature_at_most (\w+|\([^()]*\)) \(?f", theorem):
        yield weaker("hypothesis", m, 1, f"(2 * {m[1]})")
    for m in re.finditer(r"\(mean\w* \(gradient F xs\) = zero\)", theorem):
        yield weaker("hypothesis", m, 0, "(xs = xs)")
    equations = list(re.finditer(r"\((\w+_next|gradient F \w+) = \((.*)\)%V\) ->\n", theorem))
    for m in (equations[:1] + equations[-1:])[: len(equations)]:
        yield weaker("equation", m, 2, f"2 * ({m[2]})")
    multipliers = list(re.finditer(r"by_identity _ _ \(1 \* \(", proof))
    for m in (multipliers[:1] + multipliers[-1:])[: len(multipliers)]:
        yield made("multiplier", m.start(), m[0], "by_identity _ _ (2 * (", proof)
