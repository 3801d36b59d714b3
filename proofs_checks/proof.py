"""Proofs as data: claims, steps, and what became of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, final
from weakref import WeakKeyDictionary

from fedconvex.proofs_checks.engines.facts import Fact
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class Relation:
    """left relation right, for all parameters in the domain; sides are expressions, or vectors for "=".

    `source` is the identifier of the statement whose conclusion it is, where that is another one.
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
        """What may be used once it is proved."""
        return Fact(self.right - self.left, self.name or self.source, self.relation == "=", (self,))


@final
@dataclass(frozen=True)
class CheckOutcome:
    """What a check found, by which engine; `certificate` where others can check it again."""

    verdict: Verdict
    detail: str
    certificate: dict[str, Any] | None = None
    witness: "Any | None" = None


class Check(ABC):
    """How a claim is decided; its subclasses are frozen dataclasses."""

    engine: ClassVar[str]
    shows_claim: ClassVar[bool] = True  # whether another step may rest on the claim

    @abstractmethod
    def run(self, claim: Relation) -> CheckOutcome:
        """Decides the claim. Never PROVED without a proof."""

    def rests_on(self) -> tuple[Relation, ...]:
        """The claims that it takes as proved."""
        return ()

    def assumes(self) -> tuple[tuple[tuple[str, ...], Any], ...]:
        """The hypotheses that it uses, each as alternatives with a constant (see `engines.facts.Fact`)."""
        return ()

    def discharges(self) -> tuple[tuple[str, Any], ...]:
        """The hypotheses of another statement, with their constants, that are shown where its conclusion is used."""
        return ()

    def joins_rounds(self) -> bool:
        """Whether what is known of one round is used of many."""
        return False

    def defines(self) -> tuple[tuple[Any, Any], ...]:
        """The letters, or their squares, that it gives a meaning, with the meaning."""
        return ()

    def chooses(self, claim: Relation) -> dict[Any, Any]:
        """The letters of a claim, among those that it rests on, with what it puts in for them."""
        return {}


class Role(Enum):
    """What a step is for."""

    PROOF = "proof"  # the statement's verdict rests on it
    PRINTED = "printed"  # a formula of the paper that the proof does not need, or that fails as printed


@final
@dataclass(frozen=True)
class Step:
    """One displayed line: what it says, why, and the check.

    `shown` is the formula as the paper displays it (LaTeX); `place` where: "(8), second line". Without a place the
    step is ours: the paper leaves it to the reader. Of a statement with several cases, `case` is what the step's case
    assumes beyond what all do.
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
    """What is known of a statement, as data; `steps` in the order of the paper.

    `corrected` is the identifier of what holds instead of a refuted statement; `vacuous` says for which parameters it
    promises nothing. `written` are letters of the statement with how they are written here: (b² − 1)ε for σ², say, or
    q² for κ. That must take all values that the letter can have. `ends` says why the last step is not built from
    the statement's formula, where it is not (`conclusions`).
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


Builder = Callable[[Statement], Proof]
_BUILDERS: dict[str, Builder] = {}


def proves(statement: Statement) -> Callable[[Builder], Builder]:
    """Registers the function that makes the statement's proof.

    It is given the statement, and must take the statement's formula from there and nowhere else: that is how a
    changed formula is noticed.
    """

    def register(builder: Builder) -> Builder:
        assert statement.identifier not in _BUILDERS, statement.identifier
        _BUILDERS[statement.identifier] = builder
        return builder

    return register


def builder_of(statement: Statement) -> Builder | None:
    """What makes the statement's proof, where its module has been imported."""
    return _BUILDERS.get(statement.identifier)


class RestsOnItself(Exception):
    """A proof needs the conclusion of a proof that needs its own."""


_BUILT: WeakKeyDictionary[Statement, Proof] = WeakKeyDictionary()
_UNDER_WAY: ContextVar[tuple[str, ...]] = ContextVar("under_way", default=())


def built(statement: Statement) -> Proof | None:
    """The statement's proof, made once; None where there is none. Raises RestsOnItself."""
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
    """What another statement's proof ends with, to be used as a fact: this proof then rests on that statement."""
    proof = built(statement)
    assert proof is not None, f"{statement.identifier} has no proof"
    needed = [step for step in proof.steps if step.role is Role.PROOF]
    return replace(needed[-1].claim, source=statement.identifier)
