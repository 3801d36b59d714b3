"""A round at numbers, and the exact rate that quadratics attain there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates
from fedconvex.proofs_checks.search.lyapunov.lyapunov import specified
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound, pose_round
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, linear_maps, slowest
from fedconvex.proofs_checks.search.rate_theorems.eigenvectors import Bases, changed
from fedconvex.proofs_checks.search.rate_theorems.rate_programs import RateProgram
from fedconvex.proofs_checks.search.rate_theorems.valued_rounds import with_value
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification

CLIENTS = 2  # a proof for two is one for any number
Extremes = tuple[bool, bool, Fraction]  # whether the two curvatures are the least one; the share of the first


def specification(arguments: Mapping[str, Any]) -> Specification:
    """What `lyapunov` is asked, checked: everyone takes part, and any number of clients. Raises InvalidInput."""
    method, clients = arguments["method"], arguments["clients"]
    return specified(method, clients, "any", arguments.get("local_solver"), None)


def posed(spec: Specification, of: Coordinates | None = None) -> PosedRound:
    """The round, with the inequalities between all pairs of points, and in other coordinates where these are given."""
    return pose_round(spec.method, spec.solver, spec.clients, CLIENTS, "all", of=of)


def slow_clients(round_: PosedRound, spec: Specification, pattern: Extremes, root: Any) -> Attained:
    """The slowest clients of this pattern; numbers may be functions of parameters."""
    ends = spec.clients.highest, spec.clients.lowest
    federation = OnALine(ends[pattern[0]], ends[pattern[1]], pattern[2])
    _, (matrix, *_) = linear_maps(round_.coordinates, spec.solver, federation)
    return Attained(federation, 0, matrix, Fraction(0), True, root)


def extremes_of(found: Attained, spec: Specification) -> Extremes | None:
    """Which extreme curvatures these clients have; None for others."""
    federation, low, high = found.federation, spec.clients.lowest, spec.clients.highest
    if not isinstance(federation, OnALine) or not {federation.first, federation.second} <= {low, high}:
        return None
    return federation.first == low, federation.second == low, federation.share


@final
@dataclass(frozen=True, eq=False)
class SampledRound:
    """A round at numbers, and the slowest quadratics among those of extreme curvatures and a rational contraction."""

    spec: Specification
    posed: PosedRound
    attaining: tuple[Attained, ...]
    is_irrational: bool = False  # whether the slowest quadratics have an irrational contraction

    @classmethod
    def at(cls, arguments: Mapping[str, Any]) -> "SampledRound":
        """The round with these arguments of `lyapunov`."""
        spec = specification(arguments)
        found = posed(spec)
        slow = slowest(found.coordinates, spec.solver, spec.clients, "any", inexact=False)
        return cls(spec, found, tuple(one for one in slow if one.root is not None and extremes_of(one, spec)),
                   not slow[0].is_exact)  # fmt: skip

    @property
    def pattern(self) -> tuple[Extremes, ...]:
        """Which extreme curvatures the slowest clients have."""
        return tuple(found for one in self.attaining if (found := extremes_of(one, self.spec)) is not None)

    @property
    def factors(self) -> tuple[Any, ...]:
        """The factors by which errors are multiplied in a round, of each of the slowest."""
        return tuple(one.root for one in self.attaining)

    @property
    def valued(self) -> "SampledRound":
        """The same, where V measures the objective's value, too."""
        return replace(self, posed=with_value(self.posed))

    def in_coordinates(self, bases: Bases) -> "SampledRound":
        """The same, where a state has these coordinates."""
        made = posed(self.spec, changed(self.posed.coordinates, bases))
        alike = zip(self.attaining, self.pattern, self.factors, strict=True)
        slow = (replace(one, matrix=slow_clients(made, self.spec, *of).matrix) for one, *of in alike)
        return replace(self, posed=made, attaining=tuple(slow))

    @cached_property
    def program(self) -> RateProgram:
        """Which V and multipliers prove the rate."""
        zeros = [zero for one in self.attaining for zero in attained_vectors(self.posed, one)]
        return RateProgram(self.posed, float(self.attaining[0].squared), zeros)
