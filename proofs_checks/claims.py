"""Proofs of claims: their registry, and the theorems that the kernel makes of them.

A paper's module decorates a function per statement with `@proof_of(statement)`. The function gets the claim and returns
the proof as data; `theorem_of` lets the kernel replay it.
"""

from collections.abc import Callable
from contextvars import ContextVar
from weakref import WeakKeyDictionary

from fedconvex.claims.claim import Claim
from fedconvex.proofs_checks.kernel import Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import Proof
from fedconvex.statements.statement import Statement
from fedconvex.theory import statement as statement_of

Builder = Callable[[Claim], Proof]
_BUILDERS: dict[str, Builder] = {}
_THEOREMS: WeakKeyDictionary[Statement, Theorem] = WeakKeyDictionary()
_UNDER_WAY: ContextVar[tuple[str, ...]] = ContextVar("under_way", default=())


def proof_of(statement: Statement) -> Callable[[Builder], Builder]:
    """Registers the function that makes the proof of a statement's claim."""

    def register(builder: Builder) -> Builder:
        assert statement.identifier not in _BUILDERS, statement.identifier
        _BUILDERS[statement.identifier] = builder
        return builder

    return register


def builder_of(statement: Statement) -> Builder | None:
    """The function that makes the proof; None where there is none, or its module is not imported."""
    return _BUILDERS.get(statement.identifier)


def theorem_of(statement: Statement) -> Theorem:
    """The theorem that the kernel proves of a statement's claim, replayed once. Raises Refused."""
    if statement in _THEOREMS:
        return _THEOREMS[statement]
    builder, claim, before = builder_of(statement), statement.claim, _UNDER_WAY.get()
    if builder is None or claim is None:
        raise Refused(f"{statement.identifier} has no proof as data")
    if statement.identifier in before:
        raise Refused(f"its proof rests on itself: {' → '.join((*before, statement.identifier))}")
    token = _UNDER_WAY.set((*before, statement.identifier))
    try:
        found = theorem(statement.setting, claim, builder(claim), lambda other: theorem_of(statement_of(other)))
    finally:
        _UNDER_WAY.reset(token)
    _THEOREMS[statement] = found
    return found
