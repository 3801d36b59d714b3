"""Changed statements with the proof, remarks and question of the right one, with which wrong ones are seen to fail."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedconvex.proofs_checks import claims, remarks
from fedconvex.proofs_checks.worst_cases.looseness import registry
from fedconvex.statements.statement import Statement

REGISTRIES: tuple[Any, ...] = (claims._BUILDERS, remarks._REMARKS, registry._BUILDERS)


def altered(statement: Statement, **changes: Any) -> Statement:
    """The statement with other fields."""
    made = replace(statement, **changes)
    for known in REGISTRIES:
        if statement in known:
            known[made] = known[statement]
    return made


def with_formula(statement: Statement, formula: Callable[..., Any]) -> Statement:
    """The statement with another formula."""
    return altered(statement, calculator=replace(statement.calculator, formula=formula))
