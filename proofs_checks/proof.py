"""Steps that `discover` proves: relations between expressions, the checks that decide them, and lists of steps.

The papers' statements are proved by the kernel; this is how worst cases become theorems for all parameters.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class Relation:
    """The claim left ≤ right, left < right or left = right, for all parameters in the domain, of SymPy expressions."""

    left: Any
    relation: str  # "<=", "<", "="
    right: Any
    domain: Domain = field(default_factory=Domain)
    name: str = ""

    def __post_init__(self) -> None:
        assert self.relation in ("<=", "<", "="), self.relation


@final
@dataclass(frozen=True)
class CheckOutcome:
    """What a check found. `certificate` is data from which the result can be checked without this package."""

    verdict: Verdict
    detail: str
    certificate: dict[str, Any] | None = None


class Check(ABC):
    """A way to decide a claim. Its subclasses are frozen dataclasses, so that a proof is data."""

    engine: ClassVar[str]

    @abstractmethod
    def run(self, claim: Relation) -> CheckOutcome:
        """Decides the claim. Never PROVED without a proof."""


@final
@dataclass(frozen=True)
class Step:
    """One line of a proof: the formula (LaTeX), the reason, the claim, and the check that decides it."""

    shown: str
    because: str
    claim: Relation
    by: Check


@final
@dataclass(frozen=True)
class Proof:
    """Steps, of which the last has the claim."""

    steps: tuple[Step, ...]
