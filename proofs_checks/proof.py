"""Proofs as data: relations, checks, steps, proofs, and the registry of the functions that build them.

A paper's module decorates one function per statement with `@proves(statement)`. The function builds a `Proof`, a list
of `Step`s; each step has a claim (`Relation`) and a `Check` that decides it. `verification` runs the checks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, final
from weakref import WeakKeyDictionary

from fedconvex.proofs_checks.engines.facts import Fact
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.readings import Reading
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class Relation:
    """The claim left ≤ right, left < right or left = right, for all parameters in the domain.

    The sides are SymPy expressions; for "=" they may be vectors. `source` is the identifier of another statement, if
    the claim is that statement's conclusion (`conclusion`).
    """

    left: Any
    relation: str  # "<=", "<", "="
    right: Any
    domain: Domain = field(default_factory=Domain)
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        assert self.relation in ("<=", "<", "="), self.relation

    @property
    def fact(self) -> Fact:
        """The claim as a fact, for use in later steps: right − left ≥ 0, or = 0. The claim must be proved before."""
        return Fact(self.right - self.left, self.name or self.source, self.relation == "=", (self,))


@final
@dataclass(frozen=True)
class CheckOutcome:
    """What a check found. `certificate` is data from which the result can be checked without this package."""

    verdict: Verdict
    detail: str
    certificate: dict[str, Any] | None = None
    witness: "Any | None" = None


class Check(ABC):
    """A way to decide a claim. Its subclasses are frozen dataclasses, so that a proof is data.

    The methods besides `run` state what the check depends on; `verification` compares that with the statement.
    """

    engine: ClassVar[str]
    shows_claim: ClassVar[bool] = True  # whether another step may rest on the claim

    @abstractmethod
    def run(self, claim: Relation) -> CheckOutcome:
        """Decides the claim. Never PROVED without a proof."""

    def rests_on(self) -> tuple[Relation, ...]:
        """The claims that the check uses, which must be proved."""
        return ()

    def assumes(self) -> tuple[tuple[tuple[str, ...], Any], ...]:
        """The hypotheses that the check uses, each as alternative names with a constant (see `engines.facts.Fact`)."""
        return ()

    def discharges(self) -> tuple[tuple[str, Any], ...]:
        """The hypotheses of a used statement, with constants, that steps of this proof derive instead of assuming."""
        return ()

    def joins_rounds(self) -> bool:
        """Whether the check derives a claim about many rounds from one about each of them."""
        return False

    def defines(self) -> tuple[tuple[Any, Any], ...]:
        """The symbols, or their squares, that the check's facts define, with the definitions."""
        return ()

    def chooses(self, claim: Relation) -> dict[Any, Any]:
        """The values that the check substitutes for symbols of `claim`, one of those in `rests_on`."""
        return {}


class Role(Enum):
    """Whether the statement's verdict depends on the step."""

    PROOF = "proof"  # the statement's verdict rests on it
    PRINTED = "printed"  # a formula of the paper that the proof does not need, or that fails as printed


@final
@dataclass(frozen=True)
class Step:
    """One line of a proof: the formula, the reason, the claim that a computer can decide, and the check that does.

    Attributes:
        shown: the formula as the paper displays it (LaTeX).
        because: the reason, in words.
        place: where the paper displays it, as in "(8), second line"; "" where the paper leaves it to the reader.
        role: PRINTED for a line that the verdict does not depend on.
        case: for a statement with several cases, the assumptions of the step's case; () for a step in all of them.
    """

    shown: str
    because: str
    claim: Relation
    by: Check
    place: str = ""
    role: Role = Role.PROOF
    case: tuple[Assumption, ...] = ()


@final
@dataclass(frozen=True)
class Proof:
    """The proof or refutation of a statement, as data.

    Attributes:
        steps: in the order of the paper.
        refutation: a counterexample (`engines.witnesses.Witness`), if the statement is false as printed.
        corrected: for a refuted statement, the identifier of the statement that holds instead.
        extra: the condition beyond the paper's under which it is proved.
        notes: misprints, readings and remarks, for the reader.
        vacuous: the parameters for which the statement promises nothing.
        tightness: the worst known instance (`engines.tightness.Tightness`).
        written: parameters of the statement that the proof expresses by others, such as (b² − 1)ε for σ² or q² for κ,
            so that roots become rational. The expression must take every value that the parameter can have.
        reading: how what is proved differs from what the paper prints, where it does.
        ends: why the last step does not contain the statement's formula, where it does not (`conclusions`).
    """

    steps: tuple[Step, ...]
    refutation: "Any | None" = None  # a Witness
    corrected: str | None = None
    extra: str = ""  # the condition beyond the paper's under which it is proved
    notes: str = ""
    vacuous: str = ""
    tightness: "Any | None" = None
    written: tuple[tuple[Any, Any], ...] = ()
    ends: str = ""
    reading: Reading | None = None


Builder = Callable[[Statement], Proof]
_BUILDERS: dict[str, Builder] = {}


def proves(statement: Statement) -> Callable[[Builder], Builder]:
    """Decorator that registers the function which builds the statement's proof.

    The function gets the statement as its argument and must take the formula from there and from nowhere else. A proof
    that repeats the formula would still pass after the statement has changed.
    """

    def register(builder: Builder) -> Builder:
        assert statement.identifier not in _BUILDERS, statement.identifier
        _BUILDERS[statement.identifier] = builder
        return builder

    return register


def builder_of(statement: Statement) -> Builder | None:
    """The function that builds the statement's proof; None if there is none, or its module is not imported yet."""
    return _BUILDERS.get(statement.identifier)


class RestsOnItself(Exception):
    """A circular proof: it uses the conclusion of a statement whose proof uses this one's conclusion."""


# Keyed by the statement and not by its identifier: the tests make statements with changed formulas. Weak, so that these
# can be freed.
_BUILT: WeakKeyDictionary[Statement, Proof] = WeakKeyDictionary()
# The statements whose proofs are being built, to detect circular proofs.
_UNDER_WAY: ContextVar[tuple[str, ...]] = ContextVar("under_way", default=())


def built(statement: Statement) -> Proof | None:
    """The statement's proof, built once; None where there is none. Raises RestsOnItself."""
    builder, before = builder_of(statement), _UNDER_WAY.get()
    if builder is None:
        return None
    if statement in _BUILT:
        return _BUILT[statement]
    if statement.identifier in before:
        raise RestsOnItself(f"its proof rests on itself: {' → '.join((*before, statement.identifier))}")
    token = _UNDER_WAY.set((*before, statement.identifier))
    try:
        _BUILT[statement] = builder(statement)
    finally:
        _UNDER_WAY.reset(token)
    return _BUILT[statement]


def conclusion(statement: Statement) -> Relation:
    """The last claim of another statement's proof, for use as a fact: this proof then depends on that statement."""
    proof = built(statement)
    assert proof is not None, f"{statement.identifier} has no proof"
    needed = [step for step in proof.steps if step.role is Role.PROOF]
    return replace(needed[-1].claim, source=statement.identifier)
