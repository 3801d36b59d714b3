"""Classes of client functions, given by the range of their curvatures.

For each class the inequalities between two points in `board` are the interpolation conditions: values and gradients
that satisfy all of them belong to some function of the class (Taylor, Hendrickx and Glineur 2017, Theorem 4; with
μ = −L_minus for weakly convex functions: Rotaru, Glineur and Patrinos 2022).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.parameters import ReadableParameters
from fedconvex.validation import instance_of


class FunctionClass(ReadableParameters, ABC):
    """Functions whose curvatures lie between `lowest` and `highest`. Subclasses are frozen dataclasses of constants."""

    # Whether the inequalities between points are sufficient as well as necessary. Where they are not, a bound that
    # they prove is true but perhaps not sharp, and only a simulated federation shows that a value is attained.
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
    """mu-strongly convex and L-smooth functions, 0 < mu <= L. Use it for linear rates."""

    mu: Any
    L: Any

    def __post_init__(self) -> None:
        _require_positive("L", self.L)
        _require_positive("mu", self.mu)
        if self.lowest > self.highest:
            raise InvalidInput("mu", self.mu, f"is larger than L = {self.L}", "give mu <= L")

    @cached_property
    def lowest(self) -> Fraction:
        return to_fraction(self.mu)

    @cached_property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class SmoothConvex(FunctionClass):
    """Convex L-smooth functions, L > 0. Use it for sublinear rates, and where no client need be strongly convex."""

    L: Any

    def __post_init__(self) -> None:
        _require_positive("L", self.L)

    @property
    def lowest(self) -> Fraction:
        return Fraction(0)

    @cached_property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class WeaklyConvex(FunctionClass):
    """L-smooth functions with all curvatures at least -L_minus, 0 <= L_minus <= L.

    Use it for nonconvex clients; L_minus = L is any L-smooth function. Metrics that measure from a minimiser are not
    defined for it: take "descent" or "mean_gradient_norm".
    """

    L_minus: Any
    L: Any

    def __post_init__(self) -> None:
        _require_positive("L", self.L)
        if not 0 <= to_fraction(self.L_minus) <= to_fraction(self.L):
            raise InvalidInput("L_minus", self.L_minus, f"is not between 0 and L = {self.L}", "give 0 <= L_minus <= L")

    @cached_property
    def lowest(self) -> Fraction:
        return -to_fraction(self.L_minus)

    @cached_property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class NotSmooth(FunctionClass):
    """Functions with all curvatures at least `mu`, of any sign, and no upper bound; gradients are subgradients.

    Use it for the two sides of a lemma (`looseness.quotients`). `worst_case` refuses it: it analyses smooth clients.
    """

    mu: Any

    @cached_property
    def lowest(self) -> Fraction:
        return to_fraction(self.mu)

    @property
    def highest(self) -> Any:
        return float("inf")


@final
@dataclass(frozen=True)
class Differentiable(FunctionClass):
    """Differentiable functions of any curvature: between two points nothing is known.

    Use it for the two sides of a lemma that assumes nothing of the functions; `worst_case` refuses it. Solutions of
    subproblems are then any points where the subproblems' gradients vanish.
    """

    @property
    def lowest(self) -> Any:
        return float("-inf")

    @property
    def highest(self) -> Any:
        return float("inf")


@final
@dataclass(frozen=True)
class Quadratics(FunctionClass):
    """Quadratic functions with curvatures between mu and L, 0 <= mu <= L. Use it for least squares.

    The upper bound is the one for all smooth (strongly) convex functions: valid, but perhaps not sharp, since points
    that interpolate to such a function need not interpolate to a quadratic one (that takes conditions on matrices:
    Bousselmi, Hendrickx and Glineur 2024). The lower bound is attained by quadratics.
    """

    mu: Any
    L: Any

    interpolable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require_positive("L", self.L)
        if not 0 <= to_fraction(self.mu) <= to_fraction(self.L):
            raise InvalidInput("mu", self.mu, f"is not between 0 and L = {self.L}", "give 0 <= mu <= L")

    @cached_property
    def lowest(self) -> Fraction:
        return to_fraction(self.mu)

    @cached_property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class SimilarClients(FunctionClass):
    """mu-strongly convex, L-smooth clients with δ-similar Hessians: ‖∇²F_k(x) − ∇²f(x)‖ <= delta at all points.

    Use it for methods that profit from similarity, such as DANE: with data of one distribution δ is small beside L.
    Every F_k is the objective f, of curvatures between mu and L, plus h_k = F_k − f, of curvatures between −δ and δ
    (`questions.similarity`). The upper bound is valid but perhaps not sharp: of f at the clients' own points only what
    relates each point with itself, with shared points and with other points of the same client is used. The lower
    bound is attained by quadratics of the class. delta >= L − mu says nothing beyond mu and L.
    """

    mu: Any
    L: Any
    delta: Any

    interpolable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        SmoothStronglyConvex(self.mu, self.L)  # refuses what is no such class
        _require_positive("delta", self.delta)
        if to_fraction(self.mu) == to_fraction(self.L):
            raise InvalidInput("mu", self.mu, "is L, so that all Hessians agree", "give SmoothStronglyConvex(mu, L)")

    @cached_property
    def lowest(self) -> Fraction:
        return to_fraction(self.mu)

    @cached_property
    def highest(self) -> Fraction:
        return to_fraction(self.L)


@final
@dataclass(frozen=True)
class ClientGroup(ReadableParameters):
    """Clients with one function class: the class, their share in every average, and whether they are one or several.

    Args:
        functions: the class, with lowest < highest curvature.
        share: the sum of the clients' weights, > 0; all clients of a group weigh the same, and `ClientGroups` divides
            the shares by their sum. Methods that average without weights (FedSplit, FedDyn, SCAFFOLD) see
            F_k = num_clients · weights[k] · f_k: for these give the group's share of the number of clients, and the
            class of F_k.
        clients: 1, 2, …, or "any" number.

    Raises:
        InvalidInput: a share that is not positive, no number of clients, a class of one curvature.
    """

    functions: FunctionClass
    share: Any
    clients: int | str = "any"

    def __post_init__(self) -> None:
        _require_positive("share", self.share)
        if not (self.clients == "any" if isinstance(self.clients, str) else _is_count(self.clients)):
            raise InvalidInput("clients", self.clients, "is no number of clients", 'give 1, 2, … or "any"')
        # With one curvature the first gradient determines all others; `Board` only uses that where all share a class.
        instance_of(
            self.functions, FunctionClass, "functions", "a class of functions", "give SmoothStronglyConvex(mu, L)"
        )
        if isinstance(self.functions, ClientGroups | SimilarClients) or self.functions.lowest == self.functions.highest:
            raise InvalidInput("functions", self.functions, "cannot be the class of a group", "give one with mu < L")


@final
@dataclass(frozen=True)
class ClientGroups(FunctionClass):
    """Several groups of clients, each with its class: `ClientGroups(ClientGroup(SmoothConvex(1), 2), …)`.

    Use it for federations in which some clients are known to be better conditioned than others, or weigh more.
    """

    groups: tuple[ClientGroup, ...]

    def __init__(self, *groups: ClientGroup) -> None:
        if not groups:
            raise InvalidInput("groups", groups, "are none", "give one or more")
        for group in groups:
            instance_of(group, ClientGroup, "groups", "a group of clients", "give ClientGroup(SmoothConvex(L), share)")
        object.__setattr__(self, "groups", groups)

    @property
    def interpolable(self) -> bool:  # type: ignore[override]
        return all(group.functions.interpolable for group in self.groups)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The groups' shares, divided by their sum."""
        total = sum((to_fraction(group.share) for group in self.groups), Fraction(0))
        return tuple(to_fraction(group.share) / total for group in self.groups)

    @property
    def lowest(self) -> Fraction:
        return min(group.functions.lowest for group in self.groups)

    @property
    def highest(self) -> Fraction:
        return max(group.functions.highest for group in self.groups)


def _require_positive(name: str, value: Any) -> None:
    if not to_fraction(value) > 0:
        raise InvalidInput(name, value, "is not positive", f"give {name} > 0")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
