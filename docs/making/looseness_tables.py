"""Tables of how loose the bounds are, and of how much known instances use of those without a row."""

from collections.abc import Iterator
from fractions import Fraction as F
from typing import Any

from number_tables import NumberTable

from fedconvex.arithmetic.decimals import Rounding
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.worst_cases.looseness.factor import looseness
from fedconvex.proofs_checks.worst_cases.looseness.table import lemmas, row, short, theorems
from fedconvex.statements.statement import ClaimType
from fedconvex.theory import papers

BOUNDS = (ClaimType.UPPER, ClaimType.LOWER, ClaimType.TIGHT)


def used_at_most() -> Iterator[tuple[str, str, str]]:
    """Bounds without a row for which the proofs know an instance: how much of the bound it uses, and how."""
    rows = {identifier for identifier, _ in (*theorems(), *lemmas())}
    for statement in (s for paper in papers().values() for s in paper.everything if s.claim_type in BOUNDS):
        load(statement.paper.name)
        known = None if statement.identifier in rows else remarks_of(statement).tightness
        if known is not None:
            used = "1" if known.attained else short(F(float(known.quotient)), Rounding.FLOOR)
            yield statement.identifier, used, known.how


def of_theorem(identifier: str, numbers: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a theorem's row, computed."""
    r = row(looseness(identifier, **numbers))
    return f"`{r.statement}`", r.at, r.bound, r.worst, r.looseness


def of_lemma(identifier: str, numbers: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a lemma's row, computed."""
    r = row(looseness(identifier, **numbers))
    return f"`{r.statement}`", r.at, r.looseness


TABLES = {
    "looseness_of_theorems": NumberTable(
        ("statement", "at", "bound", "exact worst case", "looseness"), theorems, of_theorem
    ),
    "looseness_of_lemmas": NumberTable(("statement", "at", "looseness"), lemmas, of_lemma),
    "used_by_instances": NumberTable(("statement", "used", "by"), used_at_most, lambda name, *of: (f"`{name}`", *of)),
}
