"""Formulas in μ and L of which designed parameters may be values, and theorems of the catalogue with the same rate."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from math import isqrt
from typing import Any, final

from fedconvex.arithmetic.rationals import rational_root
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import Method
from fedconvex.participation import Uniform
from fedconvex.proofs_checks.search.lyapunov.parameter_search import simplest
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.statements.assumptions import Runs, SampledUniformly, StepOf
from fedconvex.statements.statement import Statement

CLOSE = 2e-2  # relative distance from a formula that is worth a look
ROOT_DIGITS = 10**12  # with which square roots are computed
NEXT = Fraction(1, 10**8)  # relative distance of a short fraction from an irrational one
PAPERS = ("scaffold", "scaffnew", "feddyn", "exact_rates")  # with rates of squared errors a round

Formula = Callable[[Fraction, Fraction], Fraction]


def root(x: Fraction) -> Fraction:
    """The square root, exact where it is rational, else a short fraction next to it."""
    if (exact := rational_root(x)) is not None:
        return exact
    near = Fraction(isqrt(x.numerator * x.denominator * ROOT_DIGITS**2), x.denominator * ROOT_DIGITS)
    return simplest(near, near * (1 + NEXT))


CURVATURES: Mapping[str, Formula] = {
    "√(μL)": lambda mu, L: root(mu * L), "L": lambda mu, L: L, "μ + L": lambda mu, L: mu + L,
    "(μ + L)/2": lambda mu, L: (mu + L) / 2, "2L": lambda mu, L: 2 * L, "2(μ + L)": lambda mu, L: 2 * (mu + L),
    "L − μ": lambda mu, L: L - mu, "(L − μ)/2": lambda mu, L: (L - mu) / 2, "L/2": lambda mu, L: L / 2,
    "μ": lambda mu, L: mu,
}  # fmt: skip
NUMBERS: Mapping[str, Formula] = {
    "1": lambda mu, L: Fraction(1), "1/2": lambda mu, L: Fraction(1, 2), "2": lambda mu, L: Fraction(2),
    "√(μ/L)": lambda mu, L: root(mu / L), "√(L/μ)": lambda mu, L: root(L / mu),
}  # fmt: skip


@final
@dataclass(frozen=True, eq=False)
class ClosedForm:
    """A formula in μ and L for a parameter, and its value here: exact, but for roots that are irrational."""

    text: str
    value: Fraction
    of: str  # the formula in this module's tables
    inverse: bool

    def at(self, clients: FunctionClass) -> Fraction:
        """Its value for another class."""
        return _value(self.of, self.inverse, clients)

    def __str__(self) -> str:
        return self.text


def closed_forms(value: Fraction, dimension: int, clients: FunctionClass) -> Iterator[ClosedForm]:
    """The formulas near a value, the nearest first; `dimension` as in `ParameterSearch`."""
    found, inverse = [], dimension == -1
    for text in NUMBERS if dimension == 0 else CURVATURES:
        try:
            here = _value(text, inverse, clients)
        except ZeroDivisionError:
            continue
        if here > 0 and (distance := abs(float(value / here) - 1)) <= CLOSE:
            name = _inverted(text) if inverse else text
            found.append((distance, name, ClosedForm(name, here, text, inverse)))
    yield from (form for _, _, form in sorted(found, key=lambda one: one[:2]))


def _value(text: str, inverse: bool, clients: FunctionClass) -> Fraction:
    found = {**CURVATURES, **NUMBERS}[text](clients.lowest, clients.highest)
    return 1 / found if inverse else found


def _inverted(text: str) -> str:
    if text.startswith("(") and text.endswith(")/2"):
        return f"2/{text.removesuffix('/2')}"
    if text == "L/2":
        return "2/L"
    return f"1/({text})" if (" " in text and not text.startswith("2(")) or text == "2L" else f"1/{text}"


def theorem(method: Method, clients: FunctionClass, rate: Any, participation: Any, num_clients: Any) -> str | None:
    """The statement that promises just this rate of squared errors, or its root of lengths; None without one.

    Of a statement that names the method, with the same clients and participants, and whose conditions hold: that its
    formula gives the same rational number is then no accident.
    """
    from fedconvex.proofs_checks.verification import load
    from fedconvex.theory import paper

    own = {f.name: getattr(method, f.name) for f in fields(method)}  # type: ignore[arg-type]
    sampled = isinstance(participation, Uniform)
    values = {
        **({"stepsize": own["eta"]} if "eta" in own else {"stepsize": 1 / own["mu"]} if "mu" in own else {}), **own,
        "mu": clients.lowest, "L": clients.highest, "num_clients": num_clients,
        "num_active": participation.K if sampled else num_clients,
    }  # fmt: skip
    for name in PAPERS:
        load(name)
        found = paper(name)
        for statement in found.everything if found is not None else ():
            if _is_about(statement, method, sampled) and _gives(statement, values, rate):
                return statement.identifier
    return None


def _is_about(statement: Statement, method: Method, sampled: bool) -> bool:
    """Whether its assumptions name this method, with these parameters, and the same participants."""
    if sampled != any(isinstance(a, SampledUniformly) for a in statement.assumptions):
        return False
    for a in statement.assumptions:
        if isinstance(a, StepOf):
            return a.method == type(method).__name__
        if isinstance(a, Runs):
            steps = (("local_steps", a.local_steps),) if a.local_steps is not None else ()
            same = all(getattr(method, name, None) == value for name, value in (*a.fixed, *steps))
            return a.method == type(method).__name__ and same
    return False


def _gives(statement: Statement, values: Mapping[str, Any], rate: Fraction) -> bool:
    names = statement.calculator.names
    if not values.keys() >= {*names}:
        return False
    try:
        found = statement.calculator(**{name: values[name] for name in names})
    except InvalidInput:  # its conditions do not hold
        return False
    return bool(isinstance(found, Fraction | int) and rate in (found, found**2))
