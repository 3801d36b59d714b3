"""A federation in exact numbers: clients, a method, who takes part, and how far answers are from the solutions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, to_fmpq
from fedconvex.claims.on_runs.evaluation import StateOnPath
from fedconvex.claims.on_runs.paths import Player
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Draw, Full, Participation
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.runs.rounds import rounds_of
from fedconvex.shown import on_screen


@final
@dataclass(frozen=True)
class AnswerError:
    """How far a client's answer is from the solution of its subproblem: `size` times what is allowed, in [−1, 1].

    The direction is a reflection of what there is to reflect (the gradient at the start, or the first unit vector) at
    the plane orthogonal to `normal`: this way the length stays exactly that.
    """

    size: Fraction
    normal: tuple[Fraction, ...]

    def of(self, vector: Array) -> Array:
        """The vector, reflected and shortened."""
        normal = np.array([to_fmpq(n) for n in self.normal], dtype=object)
        square = (normal * normal).sum()
        reflected = vector if square == 0 else vector - normal * (2 * (normal * vector).sum() / square)
        return reflected * to_fmpq(self.size)


@final
@dataclass(frozen=True, eq=False)
class ExactFederation:
    """Clients with a method, in exact rational arithmetic, and everything else that a claim may speak of.

    Attributes:
        parameters: the values of the claim's parameters.
        start: the server's first point (d,).
        earlier: the draws of the rounds that were played before the round that the claim is about.
        rounds: how many rounds a claim about a run is about.
        answers, inexactness, deviations: how clients answer, as in `Setting`; one row of deviations for every round,
            used cyclically.
        first_models: the clients' models before they first took part, (m, d).
        free: the vectors that the claim names `free` or `family`.
        rests: the state before the round is the method's fixed point, of several the one that is reached from 0.
    """

    problem: Problem
    method: Method
    start: Any
    participation: Participation = field(default_factory=Full)
    parameters: Mapping[str, Fraction] = field(default_factory=dict)
    earlier: tuple[Draw, ...] = ()
    rounds: int = 1
    local_solver: LocalSolver | None = None
    answers: str = "own"
    inexactness: Fraction | None = None
    deviations: tuple[tuple[AnswerError, ...], ...] = ()
    first_models: Any = None
    free: Mapping[str, Any] = field(default_factory=dict)
    rests: bool = False

    def __post_init__(self) -> None:
        if self.answers != "own" and (self.inexactness is None or not self.deviations):
            raise InvalidInput(
                "deviations", self.deviations, "do not define the clients' local solutions", "give one row a round"
            )
        if any(abs(d.size) > 1 for row in self.deviations for d in row):
            raise InvalidInput("deviations", "a size", "is more than what is allowed", "give sizes in [-1, 1]")

    @cached_property
    def player(self) -> Player:
        """Plays its rounds, in exact arithmetic."""
        rounds = rounds_of(self.method, self.problem, "exact", self.local_solver)
        return Player(rounds, None if self.answers == "own" else self._deviating)

    @cached_property
    def moments(self) -> tuple[StateOnPath, ...]:
        """The moments before each of the rounds that are looked at: those played earlier, and the next one."""
        rounds = self.player.rounds
        with rounds.arithmetic.context():
            state = rounds.start(rounds.arithmetic.array(self.start))
            if self.rests:
                from fedconvex.fixed_points.one_round import OneRoundMap

                state = state.with_values(OneRoundMap.of(rounds).fixed_state)
            models = None if self.first_models is None else rounds.arithmetic.array(self.first_models)
            found = [StateOnPath(state, models)]
            for t, draw in enumerate(self.earlier):
                found.append(self.player.after(found[-1], draw, t)[0])
        return tuple(found)

    def _deviating(self, clients: Clients, subproblem: Subproblem, t: int) -> Array:
        """The answers with residuals, or errors, of the chosen size and direction."""
        row, allowed = self.deviations[t % len(self.deviations)], to_fmpq(self.inexactness)
        if self.answers == "error":
            first = np.array([to_fmpq(int(i == 0)) for i in range(clients.dim)], dtype=object)
            return clients.minimise(subproblem) + np.stack([d.of(first * allowed) for d in row])
        at_start = subproblem.add_gradients(subproblem.start, clients.gradients(subproblem.start))
        residuals = np.stack([d.of(g * allowed) for d, g in zip(row, at_start, strict=True)])
        return clients.minimise(subproblem.leaving(residuals))

    def __str__(self) -> str:
        lines = [f"{self.method} on {self.problem}, {self.participation}"]
        lines += [", ".join(f"{name} = {value}" for name, value in sorted(self.parameters.items()))]
        H, c, weights = getattr(self.problem, "H", ()), getattr(self.problem, "c", ()), self.problem.exact_weights
        for k, (matrix, vector) in enumerate(zip(H, c, strict=True)):
            lines += [f"client {k}: weight {weights[k]}, H = {written(matrix)}, c = {written(vector)}"]
        lines += ["at its fixed point" if self.rests else f"start {written(self.start)}"]
        if self.first_models is not None:
            lines += [f"first models {written(self.first_models)}"]
        for t, draw in enumerate(self.earlier):
            lines += [f"round {t}: drawn {'all' if draw.members is None else draw.members.tolist()}"]
        for t, row in enumerate(self.deviations):
            sizes = ", ".join(f"{d.size} along {written(d.normal)}" for d in row)
            lines += [f"deviations in round {t}: {sizes}"]
        lines += [f"{name} = {written(vector)}" for name, vector in self.free.items()]
        return on_screen("\n".join(lines))


def written(values: Any) -> str:
    """An array of exact numbers, as in [[1/2, 0], [0, 1]]."""
    if np.ndim(values) == 0:
        return str(values)
    return "[" + ", ".join(map(written, values)) + "]"
