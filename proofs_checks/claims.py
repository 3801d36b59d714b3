"""Proofs of claims: their registry, and the theorems that the kernel makes of them.

A paper's module decorates a function per statement with `@proof_of(statement)`. The function gets the claim and returns
the proof as data; `theorem_of` lets the kernel replay it.
"""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.statements.statement import Statement, is_run_again
from fedconvex.theory import statement as statement_of

Builder = Callable[[Claim], Derivation]
_BUILDERS: dict[str, Builder] = {}
_THEOREMS: WeakKeyDictionary[Statement, Theorem] = WeakKeyDictionary()


def proof_of(statement: Statement) -> Callable[[Builder], Builder]:
    """Registers the function that makes the proof of a statement's claim."""

    def register(builder: Builder) -> Builder:
        known = _BUILDERS.get(statement.identifier)
        if known is not None and not is_run_again(builder, known):
            cure = "give it one proof; papers and statements have names of their own"
            raise InvalidInput("statement", statement.identifier, "has two proofs", cure)
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
    _THEOREMS[statement] = theorem(*_entry(statement), lambda other: _entry(statement_of(other)))
    return _THEOREMS[statement]


def derivation_of(statement: Statement) -> Derivation:
    """The statement's proof as data, not replayed. Raises Refused where there is none."""
    return _entry(statement)[2]


def _entry(statement: Statement) -> tuple[ClaimSetting, Claim, Derivation]:
    """What the kernel needs to prove the statement."""
    builder = builder_of(statement)
    try:
        claim = statement.claim
    except Exception as error:  # a formula that fails when it is called with terms
        raise Refused(f"the formula of {statement.identifier} cannot be evaluated on terms: {error}") from error
    if builder is None or claim is None:
        raise Refused(f"{statement.identifier} has no proof as data")
    return statement.setting, claim, builder(claim)
