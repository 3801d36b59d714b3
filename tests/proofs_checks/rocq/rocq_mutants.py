"""Faults in exported theorems: a changed constant, sign, exponent or hypothesis, or another multiplier in a proof."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("constant", "sign", "exponent", "hypothesis", "equation", "multiplier")
# What is not a fault: the theorem with it is true, and its proof does not need what is gone.
NO_FAULTS: frozenset[tuple[str, str, str]] = frozenset()


@dataclass(frozen=True)
class Mutant:
    """A text in which one place differs."""

    identifier: str
    kind: str
    before: str
    after: str
    text: str


def mutants_of(identifier: str, text: str) -> Iterator[Mutant]:
    """At most two of each kind, in a text that has one theorem, the last one."""
    begin = text.index("\nTheorem ")
    end = text.index("Proof.", begin)
    theorem, proof = text[begin:end], text[end:]
    claim = theorem.rindex("\n  ", 0, len(theorem.rstrip()))  # the last line of the theorem is its claim

    def made(kind: str, of: str, at: int, before: str, after: str) -> Mutant:
        """The mutant with this change in the theorem, or in its proof."""
        changed = (
            (theorem if of == "theorem" else proof)[:at]
            + after
            + (theorem if of == "theorem" else proof)[at + len(before) :]
        )
        whole = changed + proof if of == "theorem" else theorem + changed
        return Mutant(identifier, kind, before, after, text[:begin] + whole)

    numbers = [m for m in re.finditer(r"(?<![\w.^] )(?<![\w.^])\d+(?![\w.])", theorem) if m.start() > claim]
    for m in (numbers[:1] + numbers[-1:])[: len(numbers)]:
        yield made("constant", "theorem", m.start(), m[0], str(int(m[0]) + 1))
    signs = [m for m in re.finditer(r" [+-] ", theorem) if m.start() > claim]
    for m in (signs[:1] + signs[-1:])[: len(signs)]:
        yield made("sign", "theorem", m.start(), m[0], " - " if m[0] == " + " else " + ")
    powers = [m for m in re.finditer(r"\^ 2", theorem) if m.start() > claim]
    for m in (powers[:1] + powers[-1:])[: len(powers)]:
        yield made("exponent", "theorem", m.start(), m[0], "^ 3")
    for m in re.finditer(r"curvature_at_most (\w+|\([^()]*\)) \(?f", theorem):
        yield made("hypothesis", "theorem", m.start(1), m[1], f"(2 * {m[1]})")
    for m in re.finditer(r"\(mean\w* \(gradient F xs\) = zero\)", theorem):
        yield made("hypothesis", "theorem", m.start(), m[0], "(xs = xs)")
    equations = list(re.finditer(r"\((\w+_next|gradient F \w+) = \((.*)\)%V\) ->\n", theorem))
    for m in (equations[:1] + equations[-1:])[: len(equations)]:
        yield made("equation", "theorem", m.start(2), m[2], f"2 * ({m[2]})")
    multipliers = list(re.finditer(r"by_identity _ _ \(1 \* \(", proof))
    for m in (multipliers[:1] + multipliers[-1:])[: len(multipliers)]:
        yield made("multiplier", "proof", m.start(), m[0], "by_identity _ _ (2 * (")
