"""A round at numbers, and the exact rate that quadratics attain there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates
from fedconvex.proofs_checks.search.lyapunov.lyapunov import specified
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound, pose_round
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, linear_maps, slowest
from fedconvex.proofs_checks.search.lyapunov.semidefinite import in_units, matrices_of_function
from fedconvex.proofs_checks.search.rate_theorems.eigenvectors import Bases, changed
from fedconvex.proofs_checks.search.rate_theorems.equations import Unknown
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Key
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints, units
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification

# Which Lyapunov functions and multipliers prove an attained rate at numbers, in floating point: only proposals.
# A proof of that rate is an equality on the attaining vectors, so that its form vanishes on them. These are linear
# equations; on what is orthogonal to these vectors the form is to be positive semidefinite.

SOLVED = 1e-9  # a margin below 0 that is left to the solver where the largest one is not sought
NOISE = 1e-7  # what the solver does not tell from 0
Rows = Any  # arrays


@final
class RateProgram:
    """rate·V − V⁺ − Σ λ_i I_i >= 0, λ >= 0, V >= 0, in V's entries and the multipliers λ.

    Args:
        posed: the round, at numbers.
        rate: the factor by which V is to contract.
        zeros: vectors on which the form vanishes.
    """

    def __init__(self, posed: PosedRound, rate: float, zeros: Sequence[Mapping[Key, Any]]):
        program, count, n = posed.forms, len(posed.inequalities), len(posed.pairs)
        self.pairs, names = posed.pairs, [name for name, _ in posed.inequalities]
        self.unknowns: list[Unknown] = [*self.pairs, *names]

        def combined(forms: Rows) -> Rows:
            """From inequalities, squares before and squares after to the unknowns' forms."""
            return np.concatenate([rate * forms[count : count + n] - forms[count + n :], -forms[:count]])

        self.sizes, values, on_zeros, self.blocks = in_units(program, units(program)[:2], zeros, combined)
        self.equations = np.vstack([values, on_zeros])

    def solve(
        self, support: Collection[str], fixed: Mapping[Unknown, float], objective: Mapping[Unknown, float] | None = None
    ) -> dict[Unknown, float] | None:
        """V's entries and the multipliers with the largest margin, or with the least Σ objective·x; None without any.

        Only inequalities of the support are used; some numbers are `fixed`.
        """
        kept = [i for i, x in enumerate(self.unknowns) if x in support or x in self.pairs]
        problem = self._constraints(kept, fixed, objective is None)
        costs = np.zeros(1 + len(kept))  # the first variable is the margin
        if objective is None:
            costs[0] = -1.0
        else:
            costs[1:] = [objective.get(self.unknowns[i], 0.0) / self.sizes[i] for i in kept]
        x, _, _ = problem.least(costs)
        # Where there is no solution, the solver returns something, too. The margin need not be exact.
        size = 1 + np.abs(x).max()
        if not np.isfinite(x).all() or x[0] < -NOISE or problem.violation(np.array([0.0, *x[1:]])) > NOISE * size:
            return None
        return {self.unknowns[i]: float(c / self.sizes[i]) for i, c in zip(kept, x[1:], strict=True)}

    def _constraints(self, kept: list[int], fixed: Mapping[Unknown, float], with_margin: bool) -> Constraints:
        n, found = len(kept), Constraints()
        of_equations = np.hstack([np.zeros((len(self.equations), 1)), self.equations[:, kept]])
        size = np.abs(of_equations).max(axis=1, initial=0)
        found.equal(of_equations[size > SOLVED] / size[size > SOLVED, None])
        known = [(place, self.unknowns[i]) for place, i in enumerate(kept) if self.unknowns[i] in fixed]
        given = np.zeros((len(known), 1 + n))
        given[range(len(known)), [1 + place for place, _ in known]] = 1.0
        found.equal(given, [fixed[x] * self.sizes[kept[place]] for place, x in known])
        found.at_most(np.outer((1.0, -1.0), np.eye(1 + n)[0]), (1.0, 1.0) if with_margin else (0.0, SOLVED))
        found.at_most(-np.eye(1 + n)[[1 + place for place, i in enumerate(kept) if i >= len(self.pairs)]])
        margins = [np.concatenate([-np.eye(m.shape[-1])[None], m[kept]]) for m in self.blocks]
        for m in (*margins, *matrices_of_function(self.pairs, 1 / self.sizes, 1, n - len(self.pairs)).values()):
            found.positive(-m)
        return found


CLIENTS = 2  # a proof for two is one for any number
Extremes = tuple[bool, bool, Fraction]  # whether the two curvatures are the least one; the share of the first


def specification(arguments: Mapping[str, Any]) -> Specification:
    """What `lyapunov` is asked, checked: everyone takes part, and any number of clients. Raises InvalidInput."""
    method, clients = arguments["method"], arguments["clients"]
    return specified(method, clients, "any", arguments.get("local_solver"), None)


def posed(spec: Specification, of: Coordinates | None = None, valued: bool = False) -> PosedRound:
    """The round, with the inequalities between all pairs of points, and in other coordinates where these are given."""
    return pose_round(spec.method, spec.solver, spec.clients, CLIENTS, "all", of=of, valued=valued)


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
        return replace(self, posed=posed(self.spec, self.posed.coordinates, valued=True))

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
