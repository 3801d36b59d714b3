"""Classes of client functions: the range of their curvatures, what relates two points, and what holds at each.

For most classes the inequalities between two points are the interpolation conditions: values and gradients that satisfy
all of them belong to some function of the class (Taylor, Hendrickx and Glineur 2017, Theorem 4; with μ = −L_minus for
weakly convex functions: Rotaru, Glineur and Patrinos 2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, final

from flint import fmpq_mat

from fedconvex.arithmetic.definiteness import is_positive_semidefinite, lies_between
from fedconvex.arithmetic.rationals import fraction_array, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.parameters import ReadableParameters
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, Form, combination, inner, mean, square
from fedconvex.validation import instance_of, integer_at_least, is_choice


class Seen(NamedTuple):
    """The functions at one point of each client: the points, the gradients, and the mean value."""

    point: Any
    gradient: Any
    value: Form


Pair = tuple[int, int]  # the numbers of two points


class FunctionClass(ReadableParameters):
    """Functions whose curvatures lie between `lowest` and `highest`. Subclasses are frozen dataclasses of constants."""

    # Whether the inequalities between points are sufficient as well as necessary. Where they are not, a bound that
    # they prove is true but perhaps not sharp, and only a simulated federation shows that a value is attained.
    interpolable: ClassVar[bool] = True
    # Whether several clients of the class are analysed, and whether the class is the range of curvatures alone.
    of_several: ClassVar[bool] = True
    by_curvatures: ClassVar[bool] = True
    mu: Any
    L: Any

    @cached_property
    def lowest(self) -> Fraction:
        """The smallest curvature."""
        return to_fraction(self.mu)

    @cached_property
    def highest(self) -> Fraction:
        """The largest curvature."""
        return to_fraction(self.L)

    @property
    def has_minimiser(self) -> bool:
        """Whether the mean of functions of the class surely has a minimiser, or may be taken to have one."""
        return self.lowest >= 0

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The smallest and the largest curvature of quadratics of the class."""
        return self.lowest, self.highest

    def between(self, seen: Sequence[Seen], pairs: Sequence[Pair]) -> list[tuple[Pair, Form]]:
        """The inequalities between these pairs of points, each with its pair: nonnegative forms.

        F(b) − F(a) − ⟨∇F(a), b − a⟩ − ‖∇F(b) − ∇F(a) − ℓ(b − a)‖²/(2(L − ℓ)) − (ℓ/2)‖b − a‖² >= 0, with a and b the
        points i and j, ℓ and L the smallest and the largest curvature. For ℓ = L the square is 0, since a board makes
        the gradients so; without an upper bound L on the curvature its factor is 0.
        """
        low = to_fmpq(self.lowest)
        high = low if self.highest == float("inf") else to_fmpq(self.highest)
        squares: dict[Pair, tuple[Any, Form]] = {}  # those of (i, j) are those of (j, i): with the step from i to j
        found = []
        for i, j in pairs:
            a, b = seen[i], seen[j]
            if (j, i) in squares:
                (step, of_pair), sign = squares.pop((j, i)), 1
            else:
                step, sign = b.point - a.point, -1
                of_pair = interpolation_squares(step, b.gradient - a.gradient, low, high)
                squares[i, j] = step, of_pair
            rise = (ONE, b.value), (-1, a.value)
            found.append(((i, j), combination(*rise, (sign, inner(a.gradient, step)), (-1, of_pair))))
        return found

    def at_each(self, seen: Sequence[Seen]) -> list[tuple[str, Form]]:
        """What holds at every single point, beside the minimiser, where values are 0: nonnegative forms with names."""
        return []

    def contains(self, federation: Quadratic) -> bool:
        """Whether the clients of a federation of quadratics are of the class: decided exactly."""
        instance_of(federation, Quadratic, "federation", "a federation of quadratics", "give Quadratic(H, c)")
        return all(lies_between(fraction_array(H), self.lowest, self.highest) for H in federation.H)


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


@final
@dataclass(frozen=True)
class SmoothConvex(FunctionClass):
    """Convex L-smooth functions, L > 0. Use it for sublinear rates, and where no client need be strongly convex."""

    L: Any
    mu: ClassVar[int] = 0  # type: ignore[misc]

    def __post_init__(self) -> None:
        _require_positive("L", self.L)


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
        if not 0 <= to_fraction(self.L_minus, "L_minus") <= to_fraction(self.L):
            raise InvalidInput("L_minus", self.L_minus, f"is not between 0 and L = {self.L}", "give 0 <= L_minus <= L")

    @cached_property
    def lowest(self) -> Fraction:
        return -to_fraction(self.L_minus)


@final
@dataclass(frozen=True)
class NotSmooth(FunctionClass):
    """Functions with all curvatures at least `mu`, of any sign, and no upper bound; gradients are subgradients.

    Use it for the two sides of a lemma (`looseness.quotients`). `worst_case` refuses it: it analyses smooth clients.
    """

    mu: Any
    highest: ClassVar[float] = float("inf")  # type: ignore[assignment]


@final
@dataclass(frozen=True)
class Differentiable(FunctionClass):
    """Differentiable functions of any curvature: between two points nothing is known.

    Use it for the two sides of a lemma that assumes nothing of the functions; `worst_case` refuses it. Solutions of
    subproblems are then any points where the subproblems' gradients vanish.
    """

    lowest: ClassVar[float] = float("-inf")  # type: ignore[assignment]
    highest: ClassVar[float] = float("inf")  # type: ignore[assignment]

    def between(self, seen: Sequence[Seen], pairs: Sequence[Pair]) -> list[tuple[Pair, Form]]:
        """Nothing."""
        return []


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
        if not 0 <= to_fraction(self.mu, "mu") <= to_fraction(self.L):
            raise InvalidInput("mu", self.mu, f"is not between 0 and L = {self.L}", "give 0 <= mu <= L")


@dataclass(frozen=True)
class _OfOneClient(FunctionClass):
    """L-smooth functions with a minimiser and a property of constant mu, which the mean of several need not have."""

    mu: Any
    L: Any

    interpolable: ClassVar[bool] = False
    of_several: ClassVar[bool] = False
    by_curvatures: ClassVar[bool] = False

    def __post_init__(self) -> None:
        SmoothStronglyConvex(self.mu, self.L)  # refuses what is no such class

    @property
    def has_minimiser(self) -> bool:
        return True

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return to_fraction(self.mu), self.highest


@final
@dataclass(frozen=True)
class PolyakLojasiewicz(_OfOneClient):
    """L-smooth functions that may be nonconvex, with ‖∇f(x)‖² >= 2μ(f(x) − min f) at all x, 0 < mu <= L.

    Use it for linear rates of f(w) − f* without convexity, of one client: the mean of several such functions need not
    be one. The upper bound is valid, and for one gradient step of size 1/L the known (2 − 2μ/L)/(2 + μ/L); the lower
    bound is attained by quadratics of the class, whose curvatures are 0 or between μ and L. For a tiny μ/L, as 10⁻⁶,
    perhaps no bound below 1 is found.

    Source of that rate: Abbaszadehpeivasti, de Klerk and Zamani (2023), "Conditions for linear convergence of the
    gradient method for non-convex optimization".
    """

    @cached_property
    def lowest(self) -> Fraction:
        return -to_fraction(self.L)

    def at_each(self, seen: Sequence[Seen]) -> list[tuple[str, Form]]:
        """‖∇f(x)‖²/(2μ) >= f(x) − f* >= ‖∇f(x)‖²/(2L): a gradient step of size 1/L from x stays above f*."""
        found = []
        for n, e in enumerate(seen):
            if e.value.values:
                size = square(mean(e.gradient))
                for name, curvature, sign in (("gradient", self.mu, 1), ("step", self.L, -1)):
                    factor = sign / (2 * to_fmpq(to_fraction(curvature)))
                    found.append((f"{name} at {n}", combination((factor, size), (-sign, e.value))))
        return found

    def contains(self, federation: Quadratic) -> bool:
        """Of one client: curvatures that are 0, or at least mu, and a minimiser."""
        if not super().contains(federation) or len(federation.H) != 1:
            return False
        H, c = fraction_array(federation.H[0]), fraction_array(federation.c[0])
        n = len(H)
        bounded = fmpq_mat(n, n, [to_fmpq(x) for x in H.ravel()]).rank()
        extended = fmpq_mat(n, n + 1, [to_fmpq(x) for row, b in zip(H, c, strict=True) for x in (*row, b)]).rank()
        rest = H @ H - to_fraction(self.mu) * H
        return bounded == extended and all(map(is_positive_semidefinite, (H, rest)))


@final
@dataclass(frozen=True)
class QuadraticGrowth(_OfOneClient):
    """Convex L-smooth functions with one minimiser x* and f(x) − f* >= (μ/2)‖x − x*‖² at all x, 0 < mu <= L.

    Use it for linear rates of the distance without strong convexity, of one client: the mean of several such functions
    need not grow so. A gradient step of size 1/L multiplies ‖w − x*‖² by at most 1 − μ/L; the lower bounds are attained
    by quadratics of the class, whose curvatures lie between μ and L.

    Compare Necoara, Nesterov and Glineur (2019), "Linear convergence of first order methods for non-strongly convex
    optimization", where minimisers may be many and the distance is that from the nearest.
    """

    @cached_property
    def lowest(self) -> Fraction:
        return Fraction(0)

    def at_each(self, seen: Sequence[Seen]) -> list[tuple[str, Form]]:
        half = to_fmpq(to_fraction(self.mu)) / 2
        return [(f"growth at {n}", combination((ONE, e.value), (-half, square(e.point)))) for n, e in enumerate(seen)]

    def contains(self, federation: Quadratic) -> bool:
        return len(federation.H) == 1 and SmoothStronglyConvex(self.mu, self.L).contains(federation)


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

    def contains(self, federation: Quadratic) -> bool:
        """The same: every Hessian is near the objective's, too."""
        if not super().contains(federation):
            return False
        hessians, delta = [fraction_array(H) for H in federation.H], to_fraction(self.delta)
        mean = sum(w * H for w, H in zip(federation.exact_weights, hessians, strict=True))
        return all(lies_between(H - mean, -delta, delta) for H in hessians)


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
        object.__setattr__(self, "clients", number_of_clients(self.clients, "clients"))
        # With one curvature the first gradient determines all others; `Board` only uses that where all share a class.
        instance_of(
            self.functions, FunctionClass, "functions", "a class of functions", "give SmoothStronglyConvex(mu, L)"
        )
        alone = not self.functions.by_curvatures or isinstance(self.functions, ClientGroups | SimilarClients)
        alone = alone or self.functions.highest == float("inf")
        if alone or self.functions.lowest == self.functions.highest:
            raise InvalidInput("functions", self.functions, "cannot be the class of a group",
                               "give one of bounded curvatures, SmoothStronglyConvex(mu, L) with mu < L")  # fmt: skip


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

    @cached_property
    def lowest(self) -> Fraction:
        return min(group.functions.lowest for group in self.groups)

    @cached_property
    def highest(self) -> Fraction:
        return max(group.functions.highest for group in self.groups)

    def contains(self, federation: Quadratic, members: Sequence[int] | None = None) -> bool:
        """The same, where `members` are the numbers of the clients' groups; by default there is a client for each."""
        instance_of(federation, Quadratic, "federation", "a federation of quadratics", "give Quadratic(H, c)")
        of = range(len(self.groups)) if members is None else members
        if not all(k in range(len(self.groups)) for k in of):
            raise InvalidInput("members", members, "are no groups", f"give numbers from 0 to {len(self.groups) - 1}")
        ends = [(self.groups[k].functions.lowest, self.groups[k].functions.highest) for k in of]
        return len(ends) == len(federation.H) and all(
            lies_between(fraction_array(H), *between) for H, between in zip(federation.H, ends, strict=True)
        )


def interpolation(step: Any, before: Any, change: Any, rise: Form, low: Any, high: Any) -> Form:
    """rise − ⟨before, step⟩ − ‖change − ℓ·step‖²/(2(L − ℓ)) − (ℓ/2)‖step‖² of a function of curvatures ℓ to L."""
    return combination((ONE, rise), (-1, inner(before, step)), (-1, interpolation_squares(step, change, low, high)))


def interpolation_squares(step: Any, change: Any, low: Any, high: Any) -> Form:
    """‖change − ℓ·step‖²/(2(L − ℓ)) + (ℓ/2)‖step‖², which is the same for −step and −change."""
    terms = []
    if low:
        terms.append((low / 2, square(step)))
    if low != high:
        terms.append((1 / (2 * (high - low)), square(change - step * low if low else change)))
    return combination(*terms)


def _require_positive(name: str, value: Any) -> None:
    if not to_fraction(value, name) > 0:
        raise InvalidInput(name, value, "is not positive", f"give {name} > 0")


def number_of_clients(value: Any, argument: str = "num_clients") -> int | str:
    """The number, or "any"."""
    try:
        return "any" if is_choice(value, ("any",)) else integer_at_least(value, 1, argument)
    except InvalidInput:
        raise InvalidInput(argument, value, "is no number of clients", 'give 1, 2, … or "any"') from None
