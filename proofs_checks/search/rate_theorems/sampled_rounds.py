"""A round at numbers: the exact rate that quadratics attain there, and the numbers of which a proof may consist.

A proof of that rate is an equality on the attaining vectors, so that its form vanishes on them. What remains is found
by semidefinite programming, in floating point: only proposals.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.lyapunov import specified
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair, PosedRound, pose_round
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, linear_maps, slowest
from fedconvex.proofs_checks.search.lyapunov.semidefinite import orthogonal
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Key
from fedconvex.proofs_checks.worst_cases.programs.solver import conic, triangles, units
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification

CLIENTS = 2  # a proof for two is one for any number
SOLVED = 1e-9  # a margin below 0 that is left to the solver where the margin is not sought
NOISE = 1e-7  # a margin that the solver does not tell from 0
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

    @property
    def zeros(self) -> list[dict[Key, Any]]:
        """The vectors on which the form of every proof vanishes."""
        return [zero for one in self.attaining for zero in attained_vectors(self.posed, one)]

    # ---- the semidefinite program

    @cached_property
    def _program(self) -> tuple[Any, ...]:
        """In units: the matrices on what is orthogonal to the zeros, the equations, and the unknowns' units."""
        program, count, pairs = self.posed.parts, len(self.posed.inequalities), self.posed.pairs
        rate = float(self.attaining[0].squared)
        (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)
        of_values = of_values[2:] * value_units
        zeros = [program.coordinates(zero) for zero in self.zeros]

        def combined(forms: np.ndarray) -> np.ndarray:
            """From inequalities, V's entries before and after to the unknowns: V's entries, then multipliers."""
            n = len(pairs)
            return np.concatenate([rate * forms[count : count + n] - forms[count + n :], -forms[:count]])

        scaled = [combined(m[2:] * np.multiply.outer(v, v)) for m, v in zip(blocks, vectors, strict=True)]
        values = combined(of_values)
        sizes = np.max([*(np.abs(m).max(axis=(1, 2)) for m in scaled), np.abs(values).max(axis=1, initial=0)], 0)
        sizes[sizes == 0] = 1.0
        equations, inside = [values.T / sizes], []
        for place, (m, v) in enumerate(zip(scaled, vectors, strict=True)):
            m /= sizes[:, None, None]
            room, along = orthogonal([zero[place] for zero in zeros], v)
            inside.append(room.T @ m @ room)
            equations.append((m @ along).reshape(len(m), -1).T)
        return inside, np.vstack(equations), sizes

    def solve(
        self, support: Collection[str], fixed: Mapping[Pair, float], objective: Mapping[Pair | str, float] | None = None
    ) -> dict[Any, float] | None:
        """V's entries and multipliers, by pair and by name, with the largest margin, or the least Σ objective·x.

        Only inequalities of the support are used; None where there is no solution.
        """
        import clarabel

        inside, equations, sizes = self._program
        pairs, names = self.posed.pairs, [name for name, _ in self.posed.inequalities]
        unknowns = [*pairs, *names]
        kept = [i for i, x in enumerate(unknowns) if x in support or (x in pairs and fixed.get(x, 1.0) != 0.0)]
        known = [(kept.index(i), fixed[x] * sizes[i]) for i, x in enumerate(unknowns) if i in kept and x in fixed]
        n = len(kept)
        rows = np.hstack([np.zeros((len(equations), 1)), equations[:, kept]])
        size = np.abs(rows).max(axis=1, initial=0)
        rows = rows[size > 1e-9] / size[size > 1e-9, None]
        set_to = np.zeros((len(known), 1 + n))
        for row, (place, _) in zip(set_to, known, strict=True):
            row[1 + place] = 1.0
        A, b = [rows, set_to], [np.zeros(len(rows)), np.array([x for _, x in known])]
        cones: list[Any] = [clarabel.ZeroConeT(len(rows) + len(known))]
        signed = [place for place, i in enumerate(kept) if i >= len(pairs)]
        bounds = np.zeros((2 + len(signed), 1 + n))
        bounds[:2, 0] = 1.0, -1.0  # the margin
        for row, place in zip(bounds[2:], signed, strict=True):
            row[1 + place] = -1.0
        A.append(bounds)
        b.append(np.array([*((1.0, 1.0) if objective is None else (0.0, SOLVED)), *np.zeros(len(signed))]))
        cones.append(clarabel.NonnegativeConeT(len(bounds)))
        for m in inside:
            if m.shape[-1]:
                A.append(-triangles(np.concatenate([-np.eye(m.shape[-1])[None], m[kept]])).T)
                b.append(np.zeros(A[-1].shape[0]))
                cones.append(clarabel.PSDTriangleConeT(m.shape[-1]))
        for part in dict.fromkeys(a[0] for a, _ in pairs):
            places = {x: kept.index(i) for i, x in enumerate(pairs) if x[0][0] == part and i in kept}
            size_of_part = 1 + max(a[1] for a, _ in pairs if a[0] == part)
            m = np.zeros((1 + n, size_of_part, size_of_part))
            for ((_, i), (_, j)), place in places.items():
                m[1 + place, i, j] = m[1 + place, j, i] = 1.0
            A.append(-triangles(m).T)
            b.append(np.zeros(A[-1].shape[0]))
            cones.append(clarabel.PSDTriangleConeT(m.shape[-1]))
        costs = np.zeros(1 + n)
        if objective is None:
            costs[0] = -1.0
        else:
            costs[1:] = [objective.get(unknowns[i], 0.0) / sizes[i] for i in kept]
        x, _, _ = conic(np.vstack(A), np.concatenate(b), cones, costs)
        if not np.isfinite(x).all() or x[0] < -NOISE:
            return None
        size = 1 + np.abs(x).max()
        left = [np.abs(A[0] @ x - b[0]), np.abs(A[1] @ x - b[1]), *(-x[1 + place] for place in signed)]
        if any(np.max(part, initial=0) > NOISE * size for part in left):
            return None
        for m in inside:
            if m.shape[-1] and np.linalg.eigvalsh(np.tensordot(x[1:], m[kept], 1)).min() < -NOISE * size:
                return None
        return {unknowns[i]: float(c / sizes[i]) for i, c in zip(kept, x[1:], strict=True)}
