"""`simulate`: a method run on a problem, and the trajectory of its server's points."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.argument_order import method_then_problem
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import InvalidInput
from fedconvex.fingerprints import fingerprint
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.names import checked_keywords, suggestion
from fedconvex.participation import Participation, Stragglers
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem, parts_of
from fedconvex.progress import track
from fedconvex.runs.checkpoints import Checkpoint, Run
from fedconvex.runs.measurements import (
    OF_CLIENTS,
    POINT_COLUMNS,
    at_points,
    recorded_names,
    round_columns,
    table,
)
from fedconvex.runs.rounds import rounds_of
from fedconvex.runs.simulator import SaveSchedule, SimulatedRound, Simulator, run_rounds
from fedconvex.shown import ShownResult
from fedconvex.types import Vector
from fedconvex.validation import (
    from_torch,
    integer_at_least,
    is_choice,
    is_tensor,
    members_of,
    random_seed,
    truth_value,
)
from fedconvex.validation import points as points_of

if TYPE_CHECKING:
    import pandas


@final
@dataclass(frozen=True, eq=False)
class RunSetup:
    """How a trajectory was simulated, so that its rounds can be played again: the arguments of `simulate`."""

    participation: Participation
    local_solver: LocalSolver
    stragglers: Stragglers | None
    seed: int
    arithmetic: str
    precision: int


@final
@dataclass(frozen=True, eq=False)
class Trajectory(ShownResult):
    """A simulated run: the server's points, what was recorded in each round, and the state after the last round.

    `print` it, or leave it as the last line of a notebook's cell, to see some of the rounds and whether the run
    diverges; `to_frame()` has every round, `plot()` draws the suboptimality.
    """

    points: np.ndarray  # (T + 1, d) in the run's arithmetic; Fractions for exact ones
    problem: Problem | CompositeProblem
    method: Method
    state: State
    recorded: dict[str, np.ndarray]  # (T,) each, but client_inexactness (T, m)
    setup: RunSetup | None = None

    @property
    def client_inexactness(self) -> np.ndarray:
        """The γ_k that every client reached in every round (FedProx, Definition 2), (T, m); NaN where it took no part.

        Raises InvalidInput where the run did not measure it.
        """
        if OF_CLIENTS not in self.recorded:
            raise InvalidInput(
                "measure", sorted(self.recorded), "does not include the inexactness", "run with measure='inexactness'"
            )
        return self.recorded[OF_CLIENTS]

    def to_frame(self, columns: Sequence[str] = POINT_COLUMNS) -> "pandas.DataFrame":
        """One row per round 0, …, T, in float64.

        Columns: round; value f(x), gap f(x) − f(x*), distance ‖x − x*‖ to the certified minimiser (both NaN where there
        is none), gradient_norm ‖∇f(x)‖, dissimilarity B(x), gradient_variance, at the server's points (`columns`
        selects some of them); participants, bytes_down, bytes_up and what `measure` asked for, of the round that led
        to the point (NaN in row 0): see `measurements.RoundMeasurements.record`.

        Of a composite objective f + ψ: value, gap and distance are its own, gradient_norm is the length of the shortest
        element of ∇f(x) + ∂ψ(x); dissimilarity and variance are those of the clients' gradients.
        """
        import pandas

        cure = f"choose from {', '.join(POINT_COLUMNS)}"
        columns = (columns,) if isinstance(columns, str) else tuple(members_of(columns, "columns", cure))
        for name in columns:
            if not is_choice(name, POINT_COLUMNS):
                raise InvalidInput("columns", name, "is unknown", suggestion(name, POINT_COLUMNS) + cure)
        points = arithmetics.of(self.points).to_float(self.points)
        found = at_points(self.problem, points, columns)
        return pandas.DataFrame({"round": np.arange(len(points)), **table(found, self.recorded)})


@method_then_problem
@checked_keywords
def simulate(
    method: Method,
    problem: Problem | CompositeProblem,
    rounds: int,
    participation: Participation | None = None,
    local_solver: LocalSolver | None = None,
    x0: Vector | None = None,
    seed: int = 0,
    arithmetic: str = "float",
    precision: int = 128,
    stragglers: Stragglers | None = None,
    measure: "str | Sequence[str] | None" = None,
    checkpoint: "str | PathLike[str] | None" = None,
    checkpoint_every: int = 100,
    progress: bool = True,
    exactly: bool = False,
) -> Trajectory:
    """Runs the method for `rounds` rounds on the problem.

    Use it to see a method at work and to compare a run with a bound. Where the method converges to, and how fast, is
    computed without a run by `fixed_point`; grids of methods, problems and seeds are run by `sweep`; neural networks
    by `fedconvex.deep.run`.

    Args:
        problem: the clients' functions; with a convex term of the objective, a `CompositeProblem`.
        rounds: T >= 0; the trajectory has T + 1 points.
        participation: who takes part; default everyone.
        local_solver: how clients solve their subproblems; default the method's own.
        x0: the server's first point (d,); default 0.
        seed: seeds every random draw. One seed gives the same participants, stragglers and mini-batches whatever the
            method, so that comparisons are paired.
        arithmetic: "float", "exact" (rational data and methods), "ball" (with `precision` bits) or "torch".
        stragglers: clients that finish only a part of their work, and whether the server uses it; default none.
        measure: "all" or some of inexactness, drift, control_error, recorded round by round.
        checkpoint: the file to save the run's state to, every `checkpoint_every` rounds and after the last. If the
            file exists, the run resumes from it, to exactly the trajectory of an uninterrupted run (in floats: on
            processors with the same instruction sets; others are a warning, `fedconvex.errors.ResumedElsewhere`).
        progress: shows a progress bar on a terminal once the run has taken a second.
        exactly: refuse a checkpoint that was written with other instruction sets, instead of warning.

    Raises:
        InvalidInput: a subproblem without exactly one solution, a bad x0, a logistic loss in exact arithmetic, a
            participation scheme that does not fit, a checkpoint that is damaged, of another run, in use by another
            process, or (if `exactly`) of another kind of processor.
    """
    rounds, seed = integer_at_least(rounds, 0, "rounds", sys.maxsize), random_seed(seed)
    precision = integer_at_least(precision, 2, "precision")
    numbers = arithmetics.get(arithmetic, precision=precision)
    smooth, regularizer = parts_of(problem)
    method_rounds = rounds_of(method, smooth, numbers, local_solver, regularizer=regularizer)
    truth_value(progress, "progress")
    columns, every = round_columns(measure), integer_at_least(checkpoint_every, 1, "checkpoint_every")
    simulator = Simulator.of(method_rounds, participation, stragglers, seed, columns, rounds)
    with numbers.context():
        start = method_rounds.start(_first_point(x0, smooth, numbers))
        file = None
        if checkpoint is not None:
            identity = {
                "method": method, "problem": problem, "participation": simulator.participation,
                "local_solver": method_rounds.solver,
                "stragglers": stragglers, "x0": start.server, "seed": seed, "arithmetic": arithmetic,
                "measure": columns,
            }  # fmt: skip
            mark = fingerprint([fingerprint(value, name) for name, value in identity.items()])
            file = Checkpoint(
                _path(checkpoint), every, mark, numbers, recorded_names(columns), truth_value(exactly, "exactly")
            )
        with nullcontext() if file is None else file.held():
            saved = None if file is None else file.load(rounds)
            begun = Run(start, [start.server], []) if saved is None else saved
            points, recorded = begun.points, begun.recorded

            def record(t: int, simulated: SimulatedRound) -> None:
                recorded.append(simulated.record())
                points.append(simulated.state.server)

            def save(state: State) -> None:
                assert file is not None
                file.save(Run(state, points, recorded))

            left = track(range(begun.round, rounds), f"{type(method).__name__}: {rounds} rounds", show=progress)
            schedule = None if file is None else SaveSchedule(save, file.every, rounds)
            state, _ = run_rounds(simulator.next_round, begun.state, left, record, schedule)
        columns_of_rounds = Run(state, points, recorded).columns(recorded_names(columns))
        setup = RunSetup(
            simulator.participation,
            local_solver if local_solver is not None else method.local_solver,
            stragglers,
            seed,
            arithmetic,
            precision,
        )
        return Trajectory(numbers.publish(numbers.rows(points)), problem, method, state, columns_of_rounds, setup)


def _path(checkpoint: Any) -> Path:
    if not isinstance(checkpoint, str | PathLike) or "\0" in str(checkpoint):
        raise InvalidInput("checkpoint", checkpoint, "is not the path of a file", "give such as 'run.npz'")
    return Path(checkpoint)


def _first_point(x0: Any, problem: Problem, numbers: Arithmetic) -> Array:
    if x0 is None:
        return numbers.array(np.zeros(problem.dim))
    start = points_of(x0, "x0", [(problem.dim,)])
    # only torch's arithmetic reads tensors, which may be on a GPU
    return numbers.array(from_torch(start, "x0") if is_tensor(start) and numbers.name != "torch" else start)
