"""A round at numbers, and the exact rate that quadratics attain there."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.lyapunov import specified
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound, pose_round
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, linear_maps, slowest
from fedconvex.proofs_checks.search.rate_theorems.rate_programs import RateProgram
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification

CLIENTS = 2  # a proof for two is one for any number
Extremes = tuple[bool, bool, Fraction]  # whether the two curvatures are the least one; the share of the first


def specification(arguments: Mapping[str, Any]) -> Specification:
    """What `lyapunov` is asked, checked: everyone takes part, and any number of clients. Raises InvalidInput."""
    method, clients = arguments["method"], arguments["clients"]
    return specified(method, clients, "any", arguments.get("local_solver"), None)


def posed(spec: Specification) -> PosedRound:
    """The round, with the inequalities between all pairs of points."""
    return pose_round(spec.method, spec.solver, spec.clients, CLIENTS, "all")


def slow_clients(round_: PosedRound, spec: Specification, pattern: Extremes, root: Any) -> Attained:
    """The slowest clients of this pattern; numbers may be functions of parameters."""
    ends = spec.clients.highest, spec.clients.lowest
    federation = OnALine(ends[pattern[0]], ends[pattern[1]], pattern[2])
    _, (matrix, *_) = linear_maps(round_.coordinates, spec.solver, federation)
    return Attained(federation, 0, matrix, Fraction(0), True, root)


@final
@dataclass(frozen=True, eq=False)
class SampledRound:
    """A round at numbers, and the slowest quadratics among those of extreme curvatures and a rational contraction."""

    method: Method
    clients: FunctionClass
    posed: PosedRound
    attaining: tuple[Attained, ...]

    @classmethod
    def at(cls, arguments: Mapping[str, Any]) -> "SampledRound":
        """The round with these arguments of `lyapunov`."""
        spec = specification(arguments)
        found, low, high = posed(spec), spec.clients.lowest, spec.clients.highest
        slow = (
            one
            for one in slowest(found.coordinates, spec.solver, spec.clients, "any", inexact=False)
            if one.root is not None
            and isinstance(one.federation, OnALine)
            and {one.federation.first, one.federation.second} <= {low, high}
        )
        return cls(spec.method, spec.clients, found, tuple(slow))

    @property
    def pattern(self) -> tuple[Extremes, ...]:
        """Which extreme curvatures the slowest clients have."""
        low = self.clients.lowest
        federations = (one.federation for one in self.attaining)
        return tuple((f.first == low, f.second == low, f.share) for f in federations if isinstance(f, OnALine))

    @property
    def factors(self) -> tuple[Any, ...]:
        """The factors by which errors are multiplied in a round, of each of the slowest."""
        return tuple(one.root for one in self.attaining)

    @cached_property
    def program(self) -> RateProgram:
        """Which V and multipliers prove the rate."""
        zeros = [zero for one in self.attaining for zero in attained_vectors(self.posed, one)]
        return RateProgram(self.posed, float(self.attaining[0].squared), zeros)
