"""Pieces that the proofs of all papers are built from: a statement's formula in symbols, and steps of common forms."""

from collections.abc import Mapping
from typing import Any

from fedconvex.proofs_checks.engines.checks import Inequality
from fedconvex.proofs_checks.engines.facts import Fact
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Relation, Step
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.statement import Statement


def formula_with(calculator: Calculator, symbols: Mapping[str, Any], **other: Any) -> Any:
    """The calculator's formula, each argument replaced by the symbol of its name, or by what `other` gives for it.

    Use it for every formula of a statement: a proof that takes the formula from the statement fails if the formula
    changes, a proof that repeats it does not notice.
    """
    return calculator.formula(**{name: symbols[name] for name in calculator.names if name not in other}, **other)


def sides_with(statement: Statement, symbols: Mapping[str, Any], **other: Any) -> tuple[Any, Any]:
    """Both sides of a statement whose left side is a formula as well, in symbols; `other` may concern either side."""
    assert statement.left is not None, f"the left side of {statement.identifier} is words"

    def side(calculator: Calculator) -> Any:
        own = {name: value for name, value in other.items() if name in calculator.names}
        return formula_with(calculator, symbols, **own)

    return side(statement.left), side(statement.calculator)


def chained(*claims: Relation) -> tuple[tuple[Any, Fact], ...]:
    """Facts with multiplier 1 each: the claims a ≤ b, b ≤ c, … add up to a ≤ c."""
    return tuple((1, claim.fact) for claim in claims)


def positive(shown: str, because: str, number: Any, domain: Domain, place: str = "", name: str = "") -> Step:
    """The step that a number, usually a constant of the paper that a later step divides by, is positive."""
    return Step(shown, because, Relation(0, "<", number, domain, name), Inequality(), place=place)
