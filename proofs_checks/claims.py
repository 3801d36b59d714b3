"""Proofs of claims: their registry, and the theorems that the kernel makes of them.

A paper's module decorates a function per statement with `@proof_of(statement)`. The function gets the claim and returns
the proof as data; `theorem_of` lets the kernel replay it. `proved_by_sum` registers a proof of one line.
"""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.content import of_terms
from fedconvex.claims.terms import Vector
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import Library, Refused, Theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Proved
from fedconvex.proofs_checks.library import Parts, concluding
from fedconvex.statements.statement import Statement, is_run_again
from fedconvex.theory import statement as statement_of

NOTHING = Parts()
Invariants = tuple[tuple[str, Vector], ...]
Builder = Callable[[Claim], Derivation]
_BUILDERS: WeakKeyDictionary[Statement, Builder] = WeakKeyDictionary()  # a name could be that of another statement
LIBRARY = Library(lambda identifier: _entry(statement_of(identifier)))  # replays once what several proofs cite


def proof_of(statement: Statement) -> Callable[[Builder], Builder]:
    """Registers the function that makes the proof of a statement's claim."""

    def register(builder: Builder) -> Builder:
        known = _BUILDERS.get(statement)
        if known is not None and not is_run_again(builder, known):
            cure = "give it one proof; papers and statements have names of their own"
            raise InvalidInput("statement", statement.identifier, "has two proofs", cure)
        _BUILDERS[statement] = builder
        return builder

    return register


def proved_by_sum(statement: Statement, parts: Parts = NOTHING, invariants: Invariants = ()) -> None:
    """Registers a proof of one line: the claim is the sum of these parts, or both of its sides are the same."""
    proof_of(statement)(lambda claim: Derivation((concluding(claim, parts),), invariants))


def builder_of(statement: Statement) -> Builder | None:
    """The function that makes the proof; None where there is none, or its module is not imported."""
    return _BUILDERS.get(statement)


def theorem_of(statement: Statement) -> Theorem:
    """The theorem that the kernel proves of a statement's claim, replayed once. Raises Refused."""
    return LIBRARY.theorem(statement.identifier, *_entry(statement))


def derivation_of(statement: Statement) -> Derivation:
    """The statement's proof as data, not replayed. Raises Refused where there is none."""
    return _entry(statement)[2]


def fingerprint_of_proof(statement: Statement) -> str:
    """The fingerprint of a statement's proof, and of the statements and proofs that it rests on; "" without a proof."""
    found: dict[str, tuple[str, Derivation]] = {}
    waiting = [*statement.stated_by]
    while waiting:
        one = waiting.pop()
        if one.identifier not in found and builder_of(one) is not None:
            proof = derivation_of(one)
            found[one.identifier] = (one.content, proof)
            waiting += map(statement_of, cited(proof))
    return of_terms(*sorted(found.items(), key=lambda item: item[0])) if found else ""


def cited(part: object) -> list[str]:
    """The identifiers of the statements that a proof cites."""
    if type(part) is Proved:
        return [part.identifier]
    inside = part if type(part) is tuple else [getattr(part, f) for f in getattr(part, "__dataclass_fields__", ())]
    return [identifier for one in inside for identifier in cited(one)]


def _entry(statement: Statement) -> tuple[ClaimSetting, Claim, Derivation]:
    """What the kernel needs to prove the statement."""
    builder = builder_of(statement)
    try:
        claim = statement.claim
    except InvalidInput:
        raise
    except Exception as error:  # a formula that fails when it is called with terms
        raise Refused(f"the formula of {statement.identifier} cannot be evaluated on terms: {error}") from error
    if builder is None or claim is None:
        raise Refused(f"{statement.identifier} has no proof as data")
    return statement.setting, claim, builder(claim)
