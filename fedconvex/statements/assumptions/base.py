"""What an assumption is, and those that are about the parameters alone."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, final

from fedconvex.statements.conditions import Condition
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.statements.setting import MeasuredSetting


@dataclass(frozen=True)
class AssumptionFinding:
    """Whether an assumption holds on an instance, and why."""

    verdict: Verdict
    reason: str


PROVED = AssumptionFinding(Verdict.PROVED, "")


Written = Callable[[str], str]  # a parameter's name, or its letter in a paper


class Assumption(ABC):
    """One hypothesis of a statement; its subclasses are frozen dataclasses of the parameters that it is about."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What it asks of the parameters alone."""
        return ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The constants that it is about: by default, those that its fields name."""
        return tuple(getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]

    def __str__(self) -> str:
        """In words, with the parameters' names."""
        return self.in_words(str)

    @abstractmethod
    def in_words(self, written: Written) -> str:
        """In words; `written` says how a parameter is."""

    @abstractmethod
    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        """Whether it holds for this problem, method and participation, at these values of the parameters."""


class OnParameters(Assumption):
    """A condition on the parameters, whatever the clients and the method are."""

    @abstractmethod
    def asked(self) -> Condition:
        """The condition."""

    @property
    def parameters(self) -> tuple[str, ...]:
        condition = self.asked()
        return tuple(dict.fromkeys((condition.argument, *condition.names)))

    def in_words(self, written: Written) -> str:
        return _readable(self.asked(), written)

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        return check_condition(self.asked(), values)


@final
@dataclass(frozen=True)
class Given(OnParameters):
    """Any: mu > L_minus."""

    condition: Condition

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (self.condition,)

    def asked(self) -> Condition:
        return self.condition


@final
@dataclass(frozen=True)
class StepsizeAtMost(OnParameters):
    """stepsize <= a bound, a formula of other parameters."""

    bound: Callable[..., Any]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (self.asked(),)

    def asked(self) -> Condition:
        return Condition("stepsize", "<=", self.bound)


@final
@dataclass(frozen=True)
class ProximalWeight(OnParameters):
    """mu = a formula of other parameters: FedProx is run with that one. It need be no rational number, so that a
    calculator does not ask for it.
    """

    formula: Callable[..., Any]

    def asked(self) -> Condition:
        return Condition("mu", "=", self.formula)


def check_condition(condition: Condition, values: dict[str, Any]) -> AssumptionFinding:
    """Whether the parameters' values satisfy it."""
    offence = condition.check(condition.argument, values)
    if offence is None:
        return PROVED
    verdict = Verdict.UNKNOWN if offence.undecided else Verdict.REFUTED
    return AssumptionFinding(verdict, f"{condition.argument} = {short(offence.value)} against {short(offence.bound)}")


def short(value: Any) -> str:
    """A number as it is shown in a sentence: six digits."""
    return f"{float(value):.6g}"


def _readable(condition: Condition, written: Written) -> str:
    bound = condition.bound
    if callable(bound):
        from sympy import Symbol

        bound = bound(**{name: Symbol(written(name), positive=True) for name in condition.names})
    return f"{written(condition.argument)} {condition.relation} {bound}"
