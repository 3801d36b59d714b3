"""Classes of functions, by the inequalities that hold between any two of their points.

These are the interpolation conditions: numbers that satisfy them all belong to a function of the class (Taylor,
Hendrickx and Glineur 2017, Theorem 4; with μ = −L_minus for weakly convex ones: Rotaru, Glineur and Patrinos 2022).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from fedconvex.errors import InvalidInput
from fedconvex.rationals import to_fraction


class FunctionClass(ABC):
    """Its subclasses are frozen dataclasses of the class's constants: curvatures between `lowest` and `highest`."""

    # Whether the inequalities are sufficient, too. Where they are not, what they prove is true but may not be sharp,
    # and only functions of the class that were played show what is attained.
    interpolable: ClassVar[bool] = True

    @property
    @abstractmethod
    def lowest(self) -> Fraction:
        """The smallest curvature."""

    @property
    @abstractmethod
    def highest(self) -> Fraction:
        """The largest curvature."""


@final
@dataclass(frozen=True)
class SmoothStronglyConvex(FunctionClass):
    """mu-strongly convex and L-smooth functions, 0 < mu <= L."""

    mu: Any
    L: Any

    def __post_init__(self) -> None:
        _require_positive("L", self.L)
        _require_positive("mu", self.mu)
        if to_fraction(self.mu) > to_fraction(self.L):
            raise InvalidInput("mu", self.mu, f"is larger than L = {self.L}", "give mu <= L")

    @property
    def lowest(self) -> Fraction:
        return to_fraction(self.mu)

    @property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class SmoothConvex(FunctionClass):
    """Convex L-smooth functions."""

    L: Any

    def __post_init__(self) -> None:
        _require_positive("L", self.L)

    @property
    def lowest(self) -> Fraction:
        return Fraction(0)

    @property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class WeaklyConvex(FunctionClass):
    """L-smooth functions whose curvature is nowhere below -L_minus, 0 <= L_minus <= L."""

    L_minus: Any
    L: Any

    def __post_init__(self) -> None:
        _require_positive("L", self.L)
        if not 0 <= to_fraction(self.L_minus) <= to_fraction(self.L):
            raise InvalidInput("L_minus", self.L_minus, f"is not between 0 and L = {self.L}", "give 0 <= L_minus <= L")

    @property
    def lowest(self) -> Fraction:
        return -to_fraction(self.L_minus)

    @property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class Quadratics(FunctionClass):
    """Quadratic functions with curvatures between mu and L, 0 <= mu <= L.

    Numbers that satisfy the inequalities of smooth (strongly) convex functions need not belong to a quadratic one:
    that takes conditions on matrices (Bousselmi, Hendrickx and Glineur 2024). So the proved end is that of all smooth
    (strongly) convex functions, valid but perhaps not sharp; the attained end is by quadratics.
    """

    mu: Any
    L: Any

    interpolable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require_positive("L", self.L)
        if not 0 <= to_fraction(self.mu) <= to_fraction(self.L):
            raise InvalidInput("mu", self.mu, f"is not between 0 and L = {self.L}", "give 0 <= mu <= L")

    @property
    def lowest(self) -> Fraction:
        return to_fraction(self.mu)

    @property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


def _require_positive(name: str, value: Any) -> None:
    if not to_fraction(value) > 0:
        raise InvalidInput(name, value, "is not positive", f"give {name} > 0")
