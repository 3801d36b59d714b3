"""Classes of functions, by the inequalities that hold between any two of their points.

These are the interpolation conditions: numbers that satisfy them all belong to a function of the class (Taylor,
Hendrickx and Glineur 2017, Theorem 4; with μ = −L_minus for weakly convex ones: Rotaru, Glineur and Patrinos 2022).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput


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
class NotSmooth(FunctionClass):
    """Functions whose curvature is nowhere below `mu`, of any sign; nothing is known of it from above.

    Gradients are subgradients. For comparisons (`comparing`), not for `worst_case`, which plays smooth clients.
    """

    mu: Any

    @property
    def lowest(self) -> Fraction:
        return to_fraction(self.mu)

    @property
    def highest(self) -> Any:
        return float("inf")


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


@final
@dataclass(frozen=True)
class ClientGroup:
    """Clients of one kind: their class, their share in every average, and whether it is one client or several.

    `share`: of one kind, the sum of its clients' weights, which are equal; shares are normalised to sum 1. Methods that
    average plainly (FedSplit, FedDyn, SCAFFOLD) see F_k = num_clients · weights[k] · f_k: for these give the share of
    the number of clients, and the class of F_k.
    """

    functions: FunctionClass
    share: Any
    clients: int | str = "any"

    def __post_init__(self) -> None:
        _require_positive("share", self.share)
        if self.clients != "any" and not (isinstance(self.clients, int) and self.clients >= 1):
            raise InvalidInput("clients", self.clients, "is no number of clients", 'give 1, 2, … or "any"')
        if isinstance(self.functions, ClientGroups) or self.functions.lowest == self.functions.highest:
            raise InvalidInput("functions", self.functions, "cannot be a kind's", "give a class with mu < L")


@final
@dataclass(frozen=True)
class ClientGroups(FunctionClass):
    """Several groups of clients: `ClientGroups(ClientGroup(SmoothConvex(1), 2), ClientGroup(…))`."""

    kinds: tuple[ClientGroup, ...]

    def __init__(self, *kinds: ClientGroup) -> None:
        if not kinds:
            raise InvalidInput("kinds", kinds, "are none", "give one or more")
        object.__setattr__(self, "kinds", kinds)

    @property
    def interpolable(self) -> bool:  # type: ignore[override]
        return all(kind.functions.interpolable for kind in self.kinds)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Normalised."""
        total = sum((to_fraction(kind.share) for kind in self.kinds), Fraction(0))
        return tuple(to_fraction(kind.share) / total for kind in self.kinds)

    @property
    def lowest(self) -> Fraction:
        return min(kind.functions.lowest for kind in self.kinds)

    @property
    def highest(self) -> Fraction:
        return max(kind.functions.highest for kind in self.kinds)


def _require_positive(name: str, value: Any) -> None:
    if not to_fraction(value) > 0:
        raise InvalidInput(name, value, "is not positive", f"give {name} > 0")
