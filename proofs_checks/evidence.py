"""What a verdict rests on, line by line: lines of proofs, printed lines that fail, and comparisons with the code."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, final

from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.terms import Number
from fedconvex.verdicts import Verdict


class Role(Enum):
    """What a line is for."""

    PROOF = "proof"  # a line of the proof that the kernel replays
    COMPARED = "compared"  # a formula beside the running code
    PRINTED = "printed"  # a line of the paper that fails as printed; no verdict rests on it


@final
@dataclass(frozen=True)
class EvidenceLine:
    """One line, and what was found of it, as text.

    Attributes:
        shown: the formula (LaTeX).
        because: the reason, in words.
        place: where the paper displays it; "" where it does not.
        role, verdict: the values of a `Role` and a `Verdict`.
        engine: what decided it.
        detail: what was found.
    """

    shown: str
    because: str
    place: str
    role: str
    verdict: str
    engine: str
    detail: str


@final
@dataclass(frozen=True)
class CodeComparison:
    """A formula beside what the running code computes, on exact instances. It proves nothing.

    Attributes:
        shown, because, place: as in `EvidenceLine`.
        compare: from an instance's number to the two values.
        instances: how many are compared.
        as_printed: whether this is a misprinted line, which must differ from the code on one of them.
    """

    shown: str
    because: str
    place: str
    compare: Callable[[int], tuple[Any, Any]]
    instances: int = 20
    as_printed: bool = False

    def line(self) -> EvidenceLine:
        """COMPARED where all values are equal, REFUTED where two differ; UNKNOWN for a misprint that does not show."""
        role = Role.PRINTED if self.as_printed else Role.COMPARED
        for number in range(self.instances):
            left, right = self.compare(number)
            if not equal(left, right):
                found, detail = Verdict.REFUTED, f"instance {number}: {left} against {right}"
                break
        else:
            found = Verdict.UNKNOWN if self.as_printed else Verdict.COMPARED
            detail = f"equal to the running code on {self.instances} exact instances"
        return EvidenceLine(self.shown, self.because, self.place, role.value, found.value, "instances", detail)


@final
@dataclass(frozen=True)
class FailingLine:
    """A relation between parameters that the paper prints and that fails at some of their values.

    Attributes:
        shown, because, place: as in `EvidenceLine`.
        left, relation, right: what is printed, as terms; the relation is "<=", "<" or "=".
        at: the values at which it fails.
        where: relations between parameters that the line assumes, as (larger side, smaller side).
    """

    shown: str
    because: str
    place: str
    left: Number
    relation: str
    right: Number
    at: Mapping[str, Fraction | int]
    where: tuple[tuple[Number, Number], ...] = ()

    def line(self) -> EvidenceLine:
        """REFUTED where the values show, exactly or in balls, that the line fails; else UNKNOWN."""
        point = ", ".join(f"{name} = {value}" for name, value in self.at.items())
        values = {name: Fraction(value) for name, value in self.at.items()}
        left, right = number_at(self.left, values), number_at(self.right, values)
        fails = {"<=": left > right, "<": left >= right, "=": left != right}[self.relation]
        if not all(number_at(larger, values) >= number_at(smaller, values) for larger, smaller in self.where):
            verdict, detail = Verdict.UNKNOWN, f"{point} is not what the line is about"
        elif not fails:
            verdict, detail = Verdict.UNKNOWN, f"it is not seen to fail at {point}"
        else:
            sign = {"<=": ">", "<": "≥", "=": "≠"}[self.relation]
            verdict, detail = Verdict.REFUTED, f"it fails at {point}: {left} {sign} {right}"
        return EvidenceLine(
            self.shown, self.because, self.place, Role.PRINTED.value, verdict.value, "exact numbers", detail
        )


def equal(left: Any, right: Any) -> bool:
    """Whether two values, or all entries of two sequences, are equal; of balls, whether both are exact and equal."""
    if isinstance(left, Iterable) and not isinstance(left, str):
        return all(equal(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)
