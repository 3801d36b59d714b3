r"""Convex terms ψ of composite objectives f + ψ: ℓ1, box constraints, group lasso. See `CompositeProblem`.

The server handles ψ by its proximal operator prox_{τψ}(v) = argmin_x ψ(x) + ‖x − v‖²/(2τ); clients do not know of it.
Each term says its value, that operator, and the shortest element of g + ∂ψ(x), by which minimisers are certified. They
are written once, for floats, rationals (where they have no roots), balls and torch tensors.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, nearest_float, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.parameters import ReadableParameters
from fedconvex.validation import integer_at_least, members_of, positive

__all__ = ["L1", "Box", "GroupLasso", "Regularizer"]
ONE_FOR_EACH = "give one number, or one for each coordinate"


class Regularizer(ReadableParameters, ABC):
    """A convex function ψ of the server's point with a proximal operator in closed form."""

    # Whether the proximal operator is rational, so that runs and fixed points are exact in fractions.
    is_rational: ClassVar[bool] = True

    @abstractmethod
    def require(self, dim: int) -> None:
        """Raises InvalidInput where the term does not fit points of that dimension."""

    @abstractmethod
    def values(self, points: Array, arithmetic: Arithmetic) -> Array:
        """ψ at T points, (T, d) to (T,); inf outside its domain."""

    @abstractmethod
    def prox(self, point: Array, stepsize: Scalar, arithmetic: Arithmetic) -> Array:
        """prox_{τψ} of a (d,) point, τ > 0 the stepsize."""

    @abstractmethod
    def shortest(self, gradient: Array, point: Sequence[Fraction], arithmetic: Arithmetic) -> Array:
        """The shortest element of g + ∂ψ(x), (d,), at a point x of the domain; 0 iff −g ∈ ∂ψ(x)."""

    def contains(self, point: Sequence[Fraction]) -> bool:
        """Whether ψ is finite there."""
        return True

    def snapped(self, point: np.ndarray) -> list[Fraction]:
        """The float64 point in rational numbers; what is as near as floats come to a kink of ψ is put on it."""
        return [Fraction(x) for x in point.tolist()]

    @abstractmethod
    def smooth_part(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where ψ is smooth near x: these coordinates F, ∇ψ(x) and ∇²ψ(x) on them, (|F|,) and (|F|, |F|), in floats.

        The other coordinates stay as they are at all near points at which ∂ψ is the same.
        """

    @abstractmethod
    def is_coercive(self, dim: int) -> bool:
        """Whether ψ(x) → ∞ with ‖x‖, so that f + ψ has a minimiser for every convex f that is bounded below."""

    def is_bounded_set(self, dim: int) -> bool:
        """Whether ψ is finite on a bounded set alone, so that f + ψ has a minimiser for every convex f."""
        return False

    @abstractmethod
    def conic(self, cp: Any, x: Any) -> tuple[Any, list[Any]]:
        """ψ in CVXPY: an expression of the variable x, and constraints."""


class Separable(Regularizer):
    """ψ(x) = Σ_i ψ_i(x_i), piecewise linear, so that minimisers on quadratics are rational."""

    @abstractmethod
    def subdifferential(self, point: Sequence[Fraction]) -> list[tuple[Fraction | None, Fraction | None]]:
        """The intervals ∂ψ_i(x_i) at a point of the domain; None: without bound."""

    def shortest(self, gradient: Array, point: Sequence[Fraction], arithmetic: Arithmetic) -> Array:
        result = 0 * gradient
        low, high = zip(*self.subdifferential(point), strict=True)
        for ends, sign in ((low, 1), (high, -1)):
            places = np.array([i for i, end in enumerate(ends) if end is not None], dtype=int)
            if len(places):  # −g is at distance g + low below its interval, and −g − high above it
                outside = sign * (gradient[places] + arithmetic.array([ends[i] for i in places]))
                result[places] = result[places] + sign * arithmetic.maximum(outside, 0 * outside)
        return result


@final
@dataclass(frozen=True, eq=False)
class L1(Separable):
    """ψ(x) = Σ_i λ_i|x_i|: sparse minimisers (the lasso); prox is soft thresholding, entry by entry.

    Args:
        weight: λ >= 0; one for every coordinate, or (d,) such as with 0 for an intercept.

    Raises:
        InvalidInput: a negative weight, with which ψ is not convex; when a problem is made, another number of weights
            than of coordinates.
    """

    weight: Any

    def __post_init__(self) -> None:
        _freeze(self, "weight")
        if any(w < 0 for w in _entries(self.weight)):
            raise InvalidInput("weight", self.weight, "is negative, so that the term is not convex", "give weight >= 0")

    def require(self, dim: int) -> None:
        _require_length(self.weight, "weight", dim)

    def values(self, points: Array, arithmetic: Arithmetic) -> Array:
        weights = arithmetic.array(_full(self.weight, points.shape[1]))
        return (weights * arithmetic.maximum(points, -points)).sum(-1)

    def prox(self, point: Array, stepsize: Scalar, arithmetic: Arithmetic) -> Array:
        threshold = stepsize * arithmetic.array(_full(self.weight, len(point)))
        zero = 0 * point
        return arithmetic.maximum(point - threshold, zero) - arithmetic.maximum(-point - threshold, zero)

    def subdifferential(self, point: Sequence[Fraction]) -> list[tuple[Fraction | None, Fraction | None]]:
        weights = _full(self.weight, len(point))
        return [(-w if x <= 0 else w, w if x >= 0 else -w) for x, w in zip(point, weights, strict=True)]

    def smooth_part(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weights = _floats(self.weight, len(point))
        free = np.flatnonzero((point != 0) | (weights == 0))
        return free, weights[free] * np.sign(point[free]), np.zeros((len(free), len(free)))

    def is_coercive(self, dim: int) -> bool:
        return all(w > 0 for w in _full(self.weight, dim))

    def conic(self, cp: Any, x: Any) -> tuple[Any, list[Any]]:
        return _floats(self.weight, x.size) @ cp.abs(x), []


@final
@dataclass(frozen=True, eq=False)
class Box(Separable):
    """ψ(x) = 0 where lower <= x <= upper, entry by entry, and ∞ elsewhere: constraints; prox is clipping.

    Args:
        lower, upper: one number for every coordinate, or (d,); -inf and inf where there is no bound. Box(0, inf) are
            the points without negative entries.

    Raises:
        InvalidInput: lower > upper, so that no point is allowed; when a problem is made, another number of bounds than
            of coordinates.
    """

    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        _freeze(self, "lower", -np.inf)
        _freeze(self, "upper", np.inf)
        lower, upper = _entries(self.lower), _entries(self.upper)
        if 1 not in (len(lower), len(upper)) and len(lower) != len(upper):
            problem = f"has {len(upper)} bounds, and lower {len(lower)}"
            raise InvalidInput("upper", self.upper, problem, ONE_FOR_EACH)
        size = max(len(lower), len(upper))
        if any(a > b for a, b in zip(_full(self.lower, size), _full(self.upper, size), strict=True)):
            raise InvalidInput(
                "lower", self.lower, "is above upper, so that no point is allowed", "give lower <= upper"
            )

    def require(self, dim: int) -> None:
        _require_length(self.lower, "lower", dim)
        _require_length(self.upper, "upper", dim)

    def values(self, points: Array, arithmetic: Arithmetic) -> Array:
        result = 0 * points.sum(-1)
        for bound, sign in self._sides(points.shape[1]):
            places, ends = _finite(bound)
            outside = (sign * (points[:, places] - arithmetic.array(ends)) < 0).any(-1)
            result[outside] = float("inf")
        return result

    def prox(self, point: Array, stepsize: Scalar, arithmetic: Arithmetic) -> Array:
        result = point + 0
        for bound, sign in self._sides(len(point)):
            places, ends = _finite(bound)
            if len(places):
                end = arithmetic.array(ends)
                result[places] = sign * arithmetic.maximum(sign * result[places], sign * end)
        return result

    def snapped(self, point: np.ndarray) -> list[Fraction]:
        result = super().snapped(point)
        for bound, _ in self._sides(len(point)):
            for i, end in zip(*_finite(bound), strict=True):
                if nearest_float(end) == point[i]:
                    result[i] = end
        return result

    def subdifferential(self, point: Sequence[Fraction]) -> list[tuple[Fraction | None, Fraction | None]]:
        bounds = zip(point, _full(self.lower, len(point)), _full(self.upper, len(point)), strict=True)
        return [(None if x <= low else Fraction(0), None if x >= high else Fraction(0)) for x, low, high in bounds]

    def contains(self, point: Sequence[Fraction]) -> bool:
        bounds = zip(_full(self.lower, len(point)), point, _full(self.upper, len(point)), strict=True)
        return all(low <= x <= high for low, x, high in bounds)

    def smooth_part(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        inside = (point > _floats(self.lower, len(point))) & (point < _floats(self.upper, len(point)))
        free = np.flatnonzero(inside)
        return free, np.zeros(len(free)), np.zeros((len(free), len(free)))

    def is_coercive(self, dim: int) -> bool:
        return self.is_bounded_set(dim)

    def is_bounded_set(self, dim: int) -> bool:
        return not any(isinstance(bound, float) for bound in (*_entries(self.lower), *_entries(self.upper)))

    def conic(self, cp: Any, x: Any) -> tuple[Any, list[Any]]:
        found = []
        for bound, sign in self._sides(x.size):
            places, ends = _finite(bound)
            if len(places):
                found.append(sign * (x[places] - np.array([nearest_float(end) for end in ends])) >= 0)
        return cp.Constant(0), found

    def _sides(self, dim: int) -> tuple[tuple[list[Any], int], tuple[list[Any], int]]:
        return (_full(self.lower, dim), 1), (_full(self.upper, dim), -1)


@final
@dataclass(frozen=True, eq=False)
class GroupLasso(Regularizer):
    """ψ(x) = Σ_G λ_G‖x_G‖ over disjoint groups of coordinates: groups of minimisers vanish together.

    prox shortens every group by τλ_G, to 0 at least; coordinates in no group are not penalised. Conventions differ:
    here a group of many coordinates has no larger weight than one of few, unless it is given one.

    Args:
        weight: λ > 0; one for every group, or as many as there are groups (λ√|G| in Yuan and Lin, 2006).
        groups: lists of coordinates, counted from 0.

    Raises:
        InvalidInput: a weight that is not positive, a coordinate in two groups, an empty group; when a problem is made,
            a coordinate that its points do not have.
    """

    weight: Any
    groups: tuple[tuple[int, ...], ...]

    is_rational: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _freeze(self, "weight")
        cure = "give lists of coordinates, such as [[0, 1], [2, 3]]"
        listed = [members_of(group, "groups", cure) for group in members_of(self.groups, "groups", cure)]
        groups = tuple(tuple(integer_at_least(i, 0, "groups") for i in group) for group in listed)
        if not groups or not all(groups):
            raise InvalidInput("groups", self.groups, "has no group, or an empty one", cure)
        if len(set(every := [i for group in groups for i in group])) != len(every):
            problem = "has a coordinate in two groups: the proximal operator has no closed form then"
            raise InvalidInput("groups", self.groups, problem, "give disjoint groups")
        if len(_entries(self.weight)) not in (1, len(groups)):
            problem = f"has {len(_entries(self.weight))} weights for {len(groups)} groups"
            raise InvalidInput("weight", self.weight, problem, "give one number, or one for each group")
        for w in _entries(self.weight):
            positive(w, "weight")
        object.__setattr__(self, "groups", groups)

    def require(self, dim: int) -> None:
        if (largest := max(map(max, self.groups))) >= dim:
            problem = f"has the coordinate {largest}, and points have {dim}"
            raise InvalidInput("groups", self.groups, problem, f"give coordinates from 0 to {dim - 1}")

    def values(self, points: Array, arithmetic: Arithmetic) -> Array:
        lengths = [w * arithmetic.square_root((part * part).sum(-1)) for w, part in self._parts(points.T, arithmetic)]
        return sum(lengths[1:], lengths[0])

    def prox(self, point: Array, stepsize: Scalar, arithmetic: Arithmetic) -> Array:
        result = point + 0
        for weight, group in zip(self._weights(arithmetic), self.groups, strict=True):
            result[list(group)] = _shortened(point[list(group)], stepsize * weight, arithmetic)
        return result

    def shortest(self, gradient: Array, point: Sequence[Fraction], arithmetic: Arithmetic) -> Array:
        result = gradient + 0
        for weight, group in zip(self._weights(arithmetic), self.groups, strict=True):
            entries, g = [point[i] for i in group], gradient[list(group)]
            if any(entries):
                x = arithmetic.array(entries)
                result[list(group)] = g + weight * x / _length(x, arithmetic)
            else:
                result[list(group)] = _shortened(g, weight, arithmetic)
        return result

    def smooth_part(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        gradient, curvature = np.zeros(len(point)), np.zeros((len(point), len(point)))
        free = np.ones(len(point), dtype=bool)
        for w, group in zip(_floats(self.weight, len(self.groups)), map(list, self.groups), strict=True):
            length = float(np.linalg.norm(x := point[group]))
            free[group] = length > 0
            if length > 0:
                gradient[group] = w * x / length
                curvature[np.ix_(group, group)] = w / length * (np.eye(len(x)) - np.outer(x, x) / length**2)
        kept = np.flatnonzero(free)
        return kept, gradient[kept], curvature[np.ix_(kept, kept)]

    def is_coercive(self, dim: int) -> bool:
        return sum(map(len, self.groups)) == dim

    def conic(self, cp: Any, x: Any) -> tuple[Any, list[Any]]:
        weights = _floats(self.weight, len(self.groups))
        return sum(w * cp.norm2(x[list(group)]) for w, group in zip(weights, self.groups, strict=True)), []

    def _weights(self, arithmetic: Arithmetic) -> Array:
        return arithmetic.array(_full(self.weight, len(self.groups)))

    def _parts(self, columns: Array, arithmetic: Arithmetic) -> list[tuple[Scalar, Array]]:
        weights = self._weights(arithmetic)
        return [(w, columns[list(group)].T) for w, group in zip(weights, self.groups, strict=True)]


def _length(vector: Array, arithmetic: Arithmetic) -> Array:
    """‖v‖, (1,)."""
    return arithmetic.square_root((vector * vector).reshape(1, -1).sum(1))


def _shortened(vector: Array, by: Scalar, arithmetic: Arithmetic) -> Array:
    """v·max(1 − by/‖v‖, 0); written so that no quotient has a denominator near 0."""
    length = _length(vector, arithmetic)
    return vector * (1 - by / arithmetic.maximum(length, 0 * length + by))


def _freeze(term: Any, name: str, infinity: float | None = None) -> None:
    """The parameter as one Fraction or a tuple of them; of bounds, one infinity stays as it is."""
    given = getattr(term, name)
    is_list = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)
    entries = list(_listed(given, name)) if is_list else [given]
    found = tuple(_number(entry, name, infinity) for entry in entries)
    if not found:
        raise InvalidInput(name, given, "is empty", ONE_FOR_EACH)
    object.__setattr__(term, name, found if is_list else found[0])


def _listed(given: Any, name: str) -> list[Any]:
    """The entries of a flat list or array of numbers; nested ones are refused."""
    if isinstance(given, np.ndarray) and given.ndim != 1:
        raise InvalidInput(name, given, f"has {given.ndim} dimensions", ONE_FOR_EACH)
    return members_of(given, name, ONE_FOR_EACH)


def _number(value: Any, name: str, infinity: float | None) -> Any:
    if infinity is not None and isinstance(value, float | np.floating) and value == infinity:
        return infinity
    return to_fraction(value, name)


def _entries(parameter: Any) -> tuple[Any, ...]:
    return parameter if isinstance(parameter, tuple) else (parameter,)


def _full(parameter: Any, size: int) -> list[Any]:
    """One number for each of `size` places."""
    entries = _entries(parameter)
    return list(entries * size if len(entries) == 1 else entries)


def _floats(parameter: Any, size: int) -> np.ndarray:
    return np.array([x if isinstance(x, float) else nearest_float(x) for x in _full(parameter, size)])


def _finite(bounds: Sequence[Any]) -> tuple[np.ndarray, list[Any]]:
    """The places of the finite bounds, and these."""
    places = [i for i, bound in enumerate(bounds) if not isinstance(bound, float)]
    return np.array(places, dtype=int), [bounds[i] for i in places]


def _require_length(parameter: Any, name: str, dim: int) -> None:
    if isinstance(parameter, tuple) and len(parameter) != dim:
        raise InvalidInput(name, parameter, f"has {len(parameter)} numbers for {dim} coordinates", ONE_FOR_EACH)
