"""Checks of sentences: what a check computes, and the verdict that follows from it.

A check yields *evidence*: lemmas, which the kernel proves, and comparisons of numbers without rounding. The verdict
that it is written for is found only if all of its evidence holds. Each check names a change of its arguments under
which its evidence must not hold, so that it is known to be able to fail.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from importlib import import_module
from typing import Any, NoReturn, final

from fedconvex.discovery import module_names
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.library import Lemma
from fedconvex.statements.sentences import Sentence
from fedconvex.theory.sentences import sentences


class SentenceVerdict(Enum):
    """What a check finds. It has no truth value, since `assert verdict` would also pass for REFUTED."""

    PROVED = "proved"  # the kernel proves it
    SHOWN = "shown by an instance"  # it says that something can happen, and an exact instance has it
    REFUTED = "refuted"  # an exact instance, or the kernel, contradicts it
    ON_INSTANCES = "holds on these instances"  # checked without rounding where it was tried, and proved nowhere
    OPEN = "not decidable as said"
    FAILED = "the check fails"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self} has no truth value; compare it: verdict is SentenceVerdict.PROVED")


@final
@dataclass(frozen=True)
class Comparison:
    """left relation right, for numbers without rounding: integers, fractions, truth values."""

    what: str
    left: Any
    relation: str
    right: Any

    def __post_init__(self) -> None:
        for side in (self.left, self.right):
            if type(side) not in (int, Fraction, bool):
                raise TypeError(f"{self.what}: {side!r} may be rounded, and proves nothing")

    @property
    def holds(self) -> bool:
        return bool(RELATIONS[self.relation](self.left, self.right))

    def __str__(self) -> str:
        if isinstance(self.right, bool):
            return f"{self.what}: {'yes' if self.left else 'no'}"
        return f"{self.what}: {shown(self.left)} {SIGNS[self.relation]} {shown(self.right)}"


@final
@dataclass(frozen=True)
class Proves:
    """A lemma that the kernel is to prove."""

    what: str
    lemma: Lemma

    @property
    def holds(self) -> bool:
        try:
            self.lemma.theorem()
        except Refused:
            return False
        return True

    def __str__(self) -> str:
        return f"{self.what}: proved"


RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "=": lambda a, b: a == b, "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"} | {sign: sign for sign in ("<", "=", ">")}

Evidence = Comparison | Proves
Check = Callable[..., Iterator[Evidence]]


@final
@dataclass(frozen=True)
class SentenceCheck:
    """A check, the verdict if its evidence holds, and the arguments under which it must not hold."""

    check: Check
    verdict: SentenceVerdict
    altered: Mapping[str, Any]


@final
@dataclass(frozen=True)
class SentenceFinding:
    """The verdict on a sentence, and the evidence in words."""

    sentence: Sentence
    verdict: SentenceVerdict
    evidence: tuple[str, ...]


_CHECKS: dict[str, SentenceCheck] = {}


def decides(identifier: str, verdict: SentenceVerdict, **altered: Any) -> Callable[[Check], Check]:
    """Registers the check of a sentence; `altered` are arguments under which its evidence must not hold."""

    def register(check: Check) -> Check:
        if identifier in _CHECKS or not altered:
            raise ValueError(f"{identifier} has a check already, or this one cannot fail")
        _CHECKS[identifier] = SentenceCheck(check, verdict, altered)
        return check

    return register


def check_of(sentence: Sentence) -> SentenceCheck:
    """The check of a sentence. Raises KeyError where there is none of what it says."""
    package = __name__.rpartition(".")[0]
    for name in module_names(package):
        if name.partition("_")[0] == sentence.paper:
            import_module(f"{package}.{name}")
    if sentence not in sentences():
        raise KeyError(sentence.identifier)
    return _CHECKS[sentence.identifier]


def finding(sentence: Sentence) -> SentenceFinding:
    """Runs the check of a sentence."""
    check = check_of(sentence)
    return judged(sentence, check.verdict, tuple(check.check()))


def judged(sentence: Sentence, verdict: SentenceVerdict, evidence: tuple[Evidence, ...]) -> SentenceFinding:
    """The verdict, if all evidence holds; PROVED rests on the kernel alone."""
    holds = bool(evidence) and all(one.holds for one in evidence)
    if verdict is SentenceVerdict.PROVED:
        holds = holds and all(isinstance(one, Proves) for one in evidence)
    found = verdict if holds else SentenceVerdict.FAILED
    return SentenceFinding(sentence, found, tuple(str(one) for one in evidence))


def shown(number: int | Fraction) -> str:
    """A number for a reader: one of few digits as it is, a longer one by its first digits."""
    few = number.numerator.bit_length() + number.denominator.bit_length() < 50
    return str(number) if few else f"{float(number):.6g}…"


def summary(found: Iterable[SentenceFinding]) -> str:
    """How many sentences have which verdict, in one line."""
    counts = Counter(one.verdict for one in found)
    listed = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in SentenceVerdict if counts[verdict])
    return f"{counts.total()} sentences: {listed}."
