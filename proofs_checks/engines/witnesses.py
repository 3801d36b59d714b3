"""Counterexamples as programs: twenty lines that anyone can run, with nothing but `fractions`."""

import ast
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.verdicts import Verdict

LINES = 20


@final
@dataclass(frozen=True)
class Witness:
    """A program that computes `left` and `right`, for which the statement says left <= right (or left = right).

    It uses nothing but `from fractions import Fraction`, and at most twenty lines. `shows` says in words what it is.
    """

    shows: str
    program: str
    relation: str = "<="  # or "="


@final
@dataclass(frozen=True)
class Replay:
    """What the program computed."""

    verdict: Verdict
    left: Any
    right: Any
    detail: str


def replay(witness: Witness) -> Replay:
    """Runs the program. REFUTED where it violates the statement, UNKNOWN where it does not."""
    lines = [line for line in witness.program.strip().splitlines() if line.strip()]
    if len(lines) > LINES:
        return Replay(Verdict.UNKNOWN, None, None, f"the program has {len(lines)} lines, more than {LINES}")
    foreign = [name for name in _imported(witness.program) if name != "fractions"]
    if foreign:
        return Replay(Verdict.UNKNOWN, None, None, f"the program imports {', '.join(foreign)}")
    space: dict[str, Any] = {}
    exec(compile(witness.program, "witness", "exec"), space)  # noqa: S102 - our own programs, part of the package
    left, right = space.get("left"), space.get("right")
    if not isinstance(left, int | Fraction) or not isinstance(right, int | Fraction):
        return Replay(Verdict.UNKNOWN, left, right, "the program gives no exact left and right")
    violated = left > right if witness.relation == "<=" else left != right
    sign = {True: ">", False: "≤"}[left > right] if witness.relation == "<=" else {True: "≠", False: "="}[violated]
    return Replay(Verdict.REFUTED if violated else Verdict.UNKNOWN, left, right, f"{left} {sign} {right}")


def _imported(program: str) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names
