"""Counterexamples as programs of at most twenty lines, which use nothing but exact numbers (`fractions`).

A program is short enough to be read, and runs without this package. The checks here refuse what could hide a rounding
error or a foreign import; they are no sandbox: the programs are part of this package.
"""

import ast
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.syntax_trees import syntax_tree
from fedconvex.verdicts import Verdict

LINES, WIDTH = 20, 120
RELATIONS = {"<=": operator.le, "<": operator.lt, "=": operator.eq, ">=": operator.ge, ">": operator.gt}
OPPOSITES = {"<=": ">", "<": "≥", "=": "≠", ">=": "<", ">": "≤"}
FUNCTIONS = (
    abs, all, any, bool, dict, divmod, enumerate, filter, int, len, list, map, max, min, pow, range, reversed, round,
    set, sorted, sum, tuple, zip,
)  # fmt: skip


@final
@dataclass(frozen=True)
class Witness:
    """A program that computes `left` and `right`, for which the statement says left <= right (or left = right).

    It uses nothing but `from fractions import Fraction` and exact numbers, in at most twenty lines. `shows` describes
    the counterexample in words.
    """

    shows: str
    program: str
    relation: str = "<="  # or one of the others in RELATIONS


@final
@dataclass(frozen=True)
class Replay:
    """The two numbers that the program computed, and the verdict that follows from them."""

    verdict: Verdict
    left: Any
    right: Any
    detail: str


def replay(witness: Witness) -> Replay:
    """Runs the program: REFUTED if the two numbers violate the statement, else UNKNOWN, also for an invalid program."""
    for problem in _problems(witness):
        return Replay(Verdict.UNKNOWN, None, None, problem)
    space: dict[str, Any] = {"__builtins__": _builtins()}
    try:
        exec(compile(witness.program, "witness", "exec"), space)  # noqa: S102 - our own programs, part of the package
    except Exception as error:  # a program that fails shows nothing
        return Replay(Verdict.UNKNOWN, None, None, f"the program fails: {type(error).__name__}: {error}")
    left: Any = space.get("left")
    right: Any = space.get("right")
    if not all(isinstance(side, int | Fraction) and not isinstance(side, bool) for side in (left, right)):
        return Replay(Verdict.UNKNOWN, left, right, "the program gives no exact left and right")
    holds = RELATIONS[witness.relation](left, right)
    sign = witness.relation if holds else OPPOSITES[witness.relation]
    sign = {"<=": "≤", ">=": "≥"}.get(sign, sign)
    return Replay(Verdict.UNKNOWN if holds else Verdict.REFUTED, left, right, f"{left} {sign} {right}")


def _problems(witness: Witness) -> Iterator[str]:
    """The reasons why the program is not one that a reader can check by hand."""
    if witness.relation not in RELATIONS:
        yield f"{witness.relation} is no relation"
    lines = [line for line in witness.program.strip().splitlines() if line.strip()]
    if len(lines) > LINES:
        yield f"the program has {len(lines)} lines, more than {LINES}"
    if any(len(line) > WIDTH for line in lines):
        yield f"the program has lines of more than {WIDTH} characters"
    try:
        tree = syntax_tree(witness.program)
    except SyntaxError as error:
        yield f"the program cannot be read: {error}"
        return
    # Floats, foreign imports and underscored names could hide something from a reader.
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="fractions", names=[ast.alias(name="Fraction")]):
                pass
            case ast.Import() | ast.ImportFrom():
                yield f"the program imports: {ast.unparse(node)}"
            case ast.Constant(value=float() | complex() as number):
                yield f"the program uses {number}, which is not exact"
            case ast.Name(id=name) | ast.Attribute(attr=name) if name.startswith("_") and name.strip("_"):
                yield f"the program uses {name}"


class _Exact(Fraction):
    """A Fraction that refuses floats: Fraction(0.1) would be exact, but not the number that the reader sees."""

    def __new__(cls, numerator: Any = 0, denominator: Any = None) -> Any:
        if any(isinstance(number, float) for number in (numerator, denominator)):
            raise TypeError("a float is not exact")
        return Fraction(numerator, denominator)


def _builtins() -> dict[str, Any]:
    def imported(name: str, *rest: Any) -> Any:
        return type("fractions", (), {"Fraction": _Exact})

    functions: dict[str, Any] = {function.__name__: function for function in FUNCTIONS}
    return functions | {"__import__": imported}
