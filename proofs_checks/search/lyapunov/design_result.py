"""The answer of `design`: parameters, the rate that is proved for them, and how much depends on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, final

from fedconvex.arithmetic.rationals import float_at_least, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.closed_forms import ClosedForm
from fedconvex.proofs_checks.search.lyapunov.parameter_search import decrease
from fedconvex.proofs_checks.search.lyapunov.rate import Rate
from fedconvex.shown import ShownResult

if TYPE_CHECKING:
    import pandas

UNITS = {"round": "rounds", "gradient": "gradients of a client", "byte": "vectors sent and received per client"}
MOST_BITS = 1 << 14  # of the logarithms with which rounds are counted


@final
@dataclass(frozen=True)
class CurvePoint:
    """The rate with another value of one parameter, and what a round then costs."""

    parameter: str
    value: Any
    lower: Fraction
    upper: Any
    units: Fraction

    @property
    def cost(self) -> float:
        """Units in which a squared error decreases tenfold; infinite where no decrease is proved. Numeric."""
        worth = decrease(self.upper)
        return float(self.units) * log(10) / worth if worth > 0 else float("inf")


@final
@dataclass(frozen=True, eq=False)
class Design(ShownResult):
    """Designed parameters of a method, for all clients of a class, with a rate that is proved for them.

    Attributes:
        method: the method with these parameters.
        rate: its `Rate`: `rate.upper` is proved, `rate.lower` is attained.
        parameters: the designed ones, by name.
        per: what was to be saved, and `units` of it in a round.
        curve: rates with other values of one parameter at a time, each with a proof of its own: proved when first read.
        flat: for each parameter a range around it whose two ends need at most 1.1 times as many units, as proved.
        closed_forms: formulas in μ and L of designed parameters, where one was found: as good here as the best found,
            and a local optimum of what quadratics attain at two other condition numbers. Not proved to be optimal.
        theorem: the catalogue's statement that promises this rate for all parameters in its range; None without one.
        before: the rate of the method as it was given; None where its class was.
    """

    method: Method
    rate: Rate
    parameters: Mapping[str, Any]
    per: str
    units: Fraction
    flat: Mapping[str, tuple[Any, Any]]
    closed_forms: Mapping[str, ClosedForm]
    theorem: str | None
    before: Rate | None
    _prove_curve: Callable[[], tuple[CurvePoint, ...]]

    @cached_property
    def curve(self) -> tuple[CurvePoint, ...]:
        return self._prove_curve()

    def rounds(self, reduction: Any = Fraction(1, 10**6)) -> int:
        """The rounds after which V is proved to be at most this part of its first value: the fewest T, upper^T <= it.

        Raises InvalidInput for a reduction that is not between 0 and 1.
        """
        wanted = to_fraction(reduction, "reduction")
        if not 0 < wanted < 1:
            raise InvalidInput("reduction", reduction, "is no part of the first error", "give a number between 0 and 1")
        return fewest_rounds(self.rate.upper, wanted)

    def to_frame(self) -> "pandas.DataFrame":
        """The curves: a row for each value of each parameter, with the others as designed.

        Columns: parameter, value, exact_value (text), lower and upper (rounded outwards), units a round, and
        cost_of_tenfold, the units in which a squared error decreases tenfold as proved (numeric).
        """
        import pandas

        return pandas.DataFrame(
            [
                {
                    "parameter": one.parameter, "value": float(one.value), "exact_value": str(one.value),
                    "lower": 0.0 - float_at_least(-one.lower), "upper": rounded_up(one.upper),
                    "units": float(one.units), "cost_of_tenfold": one.cost,
                }
                for one in self.curve
            ]
        )  # fmt: skip

    def to_dictionary(self) -> dict[str, Any]:
        """For JSON: exact numbers as fractions, rates without a proof as null."""
        return {
            "method": type(self.method).__name__,
            "parameters": {name: str(value) for name, value in self.parameters.items()},
            "formulas": {name: form.text for name, form in self.closed_forms.items()},
            "good": {name: [str(low), str(high)] for name, (low, high) in self.flat.items()},
            "upper": str(self.rate.upper),
            "lower": str(self.rate.lower),
            "per": self.per,
            "units": str(self.units),
            "rounds_to_a_millionth": self.rounds(),
            "theorem": self.theorem,
            "curve": [
                {"parameter": one.parameter, "value": str(one.value), "lower": str(one.lower),
                 "upper": None if isinstance(one.upper, float) else str(one.upper)}
                for one in self.curve
            ],
        }  # fmt: skip


def fewest_rounds(rate: Fraction, reduction: Fraction) -> int:
    """The fewest T with rate^T <= reduction, exactly."""
    from flint import arb, ctx

    if rate == 0:
        return 1
    bits = 64
    while bits <= MOST_BITS:
        with ctx.workprec(bits):
            quotient = arb(to_fmpq(reduction)).log() / arb(to_fmpq(rate)).log()
            least, most = (end.ceil().unique_fmpz() for end in (quotient.lower(), quotient.upper()))
        if least is not None and least == most:
            return max(int(least), 1)
        bits *= 4
    whole = round(float(quotient)) - 1  # the quotient is an integer, or nearly: powers decide
    return next(T for T in (whole, whole + 1, whole + 2) if rate**T <= reduction)


def rounded_up(bound: Any) -> float:
    """A float that is not below the bound, which may be infinite."""
    return bound if isinstance(bound, float) else float_at_least(bound)
