"""What the catalogue says of a statement beside the proof of its claim: readings, notes, misprints, counterexamples.

A paper's module decorates a function per statement with `@remarks_on(statement)`, which gets the statement and returns
`Remarks`. No remark makes a statement PROVED: that the kernel alone can.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final
from weakref import WeakKeyDictionary

from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.proofs_checks.evidence import CodeComparison, FailingLine
from fedconvex.proofs_checks.readings import Reading
from fedconvex.proofs_checks.witnesses import Witness
from fedconvex.statements.statement import Statement


@final
@dataclass(frozen=True)
class Remarks:
    """What is known of a statement besides its proof.

    Attributes:
        notes: misprints, readings and remarks, for the reader.
        vacuous: the parameters for which the statement guarantees nothing.
        tightness: the worst known instance (`tightness.Tightness`).
        reading: how what is proved differs from what the paper prints, where it does.
        breaks: makes an exact federation of the statement's setting in which its claim is false.
        refutation: the same counterexample as a program that runs alone, for readers.
        corrected: for a refuted statement, the identifier of the statement that holds instead.
        compared: comparisons of the formula with the running code.
        misprints: lines of the paper that fail as printed.
    """

    notes: str = ""
    vacuous: str = ""
    tightness: Any = None
    reading: Reading | None = None
    breaks: Callable[[], ExactFederation] | None = None
    refutation: Witness | None = None
    corrected: str | None = None
    compared: tuple[CodeComparison, ...] = ()
    misprints: tuple[FailingLine | CodeComparison, ...] = ()


Remarking = Callable[[Statement], Remarks]
_REMARKS: WeakKeyDictionary[Statement, Remarking] = WeakKeyDictionary()  # not by names, which others may use too


def remarks_on(*statements: Statement) -> Callable[[Remarking], Remarking]:
    """Decorator that registers the function which makes the remarks on these statements.

    The function gets the statement and must take formulas from there: a copy would not notice that it has changed.
    """

    def register(remarking: Remarking) -> Remarking:
        for statement in statements:
            assert statement not in _REMARKS, statement.identifier
            _REMARKS[statement] = remarking
        return remarking

    return register


def remarks_of(statement: Statement) -> Remarks:
    """The remarks; empty ones where nobody made any, or their module is not imported."""
    remarking = _REMARKS.get(statement)
    return Remarks() if remarking is None else remarking(statement)
