"""The interface of assumptions, and those that restrict the parameters alone."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar, final

from fedconvex.statements.conditions import Condition
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.statements.setting import MeasuredSetting


@dataclass(frozen=True)
class AssumptionFinding:
    """Whether an assumption holds on an instance, and the reason."""

    verdict: Verdict
    reason: str


PROVED = AssumptionFinding(Verdict.PROVED, "")


def unknown(reason: str) -> AssumptionFinding:
    """Neither proved nor refuted."""
    return AssumptionFinding(Verdict.UNKNOWN, reason)


def refuted(reason: str) -> AssumptionFinding:
    """Proved not to hold."""
    return AssumptionFinding(Verdict.REFUTED, reason)


def decided(holds: Any, fails: Any, reason: str) -> AssumptionFinding:
    """PROVED or REFUTED according to two certified comparisons, UNKNOWN where neither succeeds."""
    if holds:
        return PROVED
    return refuted(reason) if fails else unknown(reason)


Written = Callable[[str], str]  # from a parameter's name to how it is displayed: the name, or the paper's symbol


@dataclass(frozen=True)
class Implication:
    """What follows from an assumption, with which constant: `name` <= constant(…), where `needs` hold as well.

    `assumption` is the object that takes the constant; None for σ*², which every federation with a minimiser has.
    """

    assumption: "Assumption | None"
    name: str
    constant: Callable[..., Any]
    needs: tuple["Assumption", ...] = ()


class Assumption(ABC):
    """One hypothesis of a statement; subclasses are frozen dataclasses that name the parameters involved.

    To write a new one: say it in words, and decide it on a setting. `check` answers PROVED or REFUTED only with a
    proof, UNKNOWN otherwise. A statement's author lists assumptions in `assumes=(Smooth("L"), …)`.
    """

    # The assumption in words; {L} stands for the parameter that the field L names, else for the parameter L.
    words: ClassVar[str]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions on parameters that a calculator can check without a problem."""
        return ()

    @property
    def implies(self) -> tuple[Implication, ...]:
        """Weaker assumptions, with the constants that this one gives them."""
        return ()

    @property
    def implied_by(self) -> tuple[Implication, ...]:
        """The constants that other assumptions give this one."""
        return ()

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters involved; by default, the values of the fields."""
        return tuple(getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The assumption in words, with the parameters' names."""
        return self._in_names

    @cached_property
    def _in_names(self) -> str:
        return self.in_words(str)  # SymPy takes milliseconds to write a formula

    def in_words(self, written: Written) -> str:
        """The assumption in words, with parameters as `written` displays them."""
        names = {name for _, name, _, _ in Formatter().parse(self.words) if name}
        return self.words.format_map({name: written(getattr(self, name, name)) for name in names})

    @abstractmethod
    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        """Whether it holds for this problem, method and participation, at these values of the parameters."""


class OnParameters(Assumption):
    """An assumption that is a condition on the parameters, whatever the clients and the method are."""

    @abstractmethod
    def required(self) -> Condition:
        """The condition on the parameters."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        condition = self.required()
        return tuple(dict.fromkeys((condition.argument, *condition.names)))

    def in_words(self, written: Written) -> str:
        return _readable(self.required(), written)

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        return check_condition(self.required(), values)


@final
@dataclass(frozen=True)
class Given(OnParameters):
    """An arbitrary condition on the parameters, such as mu > L_minus."""

    condition: Condition

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (self.condition,)

    def required(self) -> Condition:
        return self.condition


@final
@dataclass(frozen=True)
class StepsizeAtMost(OnParameters):
    """stepsize <= bound, where the bound is a formula of other parameters."""

    bound: Callable[..., Any]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (self.required(),)

    def required(self) -> Condition:
        return Condition("stepsize", "<=", self.bound)


@final
@dataclass(frozen=True)
class ProximalWeight(OnParameters):
    """mu = a formula of other parameters: the statement is about FedProx with this weight.

    Its value may be irrational, so that no number passed to a calculator could equal it: `conditions` leaves it out.
    """

    formula: Callable[..., Any]

    def required(self) -> Condition:
        return Condition("mu", "=", self.formula)


@final
@dataclass(frozen=True)
class StepsizeIs(OnParameters):
    """stepsize = a formula of other parameters, which may be irrational, as in `ProximalWeight`."""

    formula: Callable[..., Any]

    def required(self) -> Condition:
        return Condition("stepsize", "=", self.formula)


def is_at_most(found: Any, assumed: Any, setting: "MeasuredSetting") -> bool:
    """Whether the measured constant is proved to be; it is where the caller assumes that ball itself."""
    return assumed is found or found <= setting.number(assumed)


def check_condition(condition: Condition, values: dict[str, Any]) -> AssumptionFinding:
    """Whether the parameters' values satisfy the condition."""
    offence = condition.check(condition.argument, values)
    if offence is None:
        return PROVED
    reason = f"{condition.argument} = {short(offence.value)} against {short(offence.bound)}"
    return unknown(reason) if offence.undecided else refuted(reason)


def short(value: Any) -> str:
    """A number with six digits, for a sentence."""
    return f"{float(value):.6g}"


def _readable(condition: Condition, written: Written) -> str:
    bound = condition.bound
    if callable(bound):
        from sympy import Symbol

        bound = bound(**{name: Symbol(written(name), positive=True) for name in condition.names})
    return f"{written(condition.argument)} {condition.relation} {bound}"
