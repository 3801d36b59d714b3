"""Fingerprints of what is claimed: what is recorded of a statement belongs to its content, and not to its name."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.display.formulas import formula
from fedconvex.claims.terms import without_names
from fedconvex.fingerprints import fingerprint
from fedconvex.statements.letters import Letters

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement

NOTHING_ASSUMED = ClaimSetting()


def content(claim: Claim | None, setting: ClaimSetting, *more: Any) -> str:
    """The fingerprint of a claim and all that it assumes, whatever symbols it is displayed by.

    The example of admissible parameters does not count, because a search finds it; nor does a field of the setting that
    assumes nothing, so that a new kind of assumption leaves the fingerprints of what does not make it.
    """
    fields_of = {f.name: getattr(setting, f.name) for f in fields(setting) if f.name != "example"}
    assumed = {name: _in_order(x) for name, x in fields_of.items() if x != getattr(NOTHING_ASSUMED, name)}
    return of_terms(claim, assumed, *more)


def of_terms(*parts: Any) -> str:
    """The fingerprint of terms, and of tuples, mappings and dataclasses of them: that of the text that has them all."""
    return fingerprint(repr(without_names(parts)))[:16]


def _in_order(of: Any) -> Any:
    """The same content in the same order, as a tuple."""
    return tuple(sorted(of.items() if isinstance(of, Mapping) else of)) if isinstance(of, Mapping | frozenset) else of


def content_of(statement: "Statement") -> str:
    """The fingerprint of a statement's claim, setting and formulas; "" where a formula takes no terms.

    The formulas count beside the claim, because a claim need not contain them: `states` can be any function of them.
    """
    try:
        both = [formula(c, Letters(), {}) for c in (statement.calculator, statement.left) if c is not None]
        about = (statement.claim_type, statement.relation, [type(a).__name__ for a in statement.every_assumption])
        return content(statement.claim, statement.setting, *about, *((f.values, f.meanings) for f in both))
    except Exception:  # a formula is the code of whoever wrote it, and nothing is recorded of one that fails
        return ""
