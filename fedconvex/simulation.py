"""Running a method and looking at where it goes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.errors import InvalidInput, NoMinimizer
from fedconvex.heterogeneity import dissimilarity, gradient_variance
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.participation import Full, Participation
from fedconvex.problems.base import Problem
from fedconvex.progress import track
from fedconvex.rationals import Array
from fedconvex.rounds import rounds_of
from fedconvex.validation import integer_at_least
from fedconvex.validation import points as points_of

if TYPE_CHECKING:
    import pandas


@final
@dataclass(frozen=True, eq=False)
class Trajectory:
    """The server's points of a run and the state after its last round."""

    points: Array  # (T + 1, d) in the run's arithmetic; Fractions for exact ones
    problem: Problem
    method: Method
    state: State

    def to_frame(self) -> "pandas.DataFrame":
        """One row per round 0, …, T, in float64.

        Columns: round, value f(x), gap f(x) − f(x*), distance ‖x − x*‖ to the minimiser, gradient_norm ‖∇f(x)‖,
        dissimilarity B(x), gradient_variance. gap and distance are NaN where the objective has no minimiser.
        """
        import pandas

        points = arithmetics.of(self.points).to_float(self.points)
        minimizer = self._minimizer()
        clients, weights = self.problem.clients("float"), self.problem.weights
        rows = []
        with clients.arithmetic.context():
            for t, x in enumerate(points):
                gradient_norm = float(np.linalg.norm(weights @ clients.gradients(x)))
                rows.append(
                    {
                        "round": t,
                        "value": self.problem.value(x),
                        "gap": np.nan if minimizer is None else float(weights @ clients.differences(x, minimizer)),
                        "distance": np.nan if minimizer is None else float(np.linalg.norm(x - minimizer)),
                        "gradient_norm": gradient_norm,
                        "dissimilarity": dissimilarity(self.problem, x),
                        "gradient_variance": gradient_variance(self.problem, x),
                    }
                )
        return pandas.DataFrame(rows)

    def _minimizer(self) -> np.ndarray | None:
        from fedconvex.ground_truths import ground_truth

        try:
            return np.asarray(ground_truth(self.problem).point)
        except NoMinimizer:
            return None


def simulate(
    method: Method,
    problem: Problem,
    rounds: int,
    participation: Participation | None = None,
    local_solver: LocalSolver | None = None,
    x0: Any = None,
    seed: int = 0,
    arithmetic: str = "float",
    precision: int = 128,
    progress: bool = True,
) -> Trajectory:
    """The method's first `rounds` rounds on the problem.

    Args:
        rounds: T >= 0; the trajectory has T + 1 points.
        participation: who takes part; default (and so far only) everyone.
        local_solver: how clients solve their subproblems; default the method's own.
        x0: the server's first point (d,); default 0.
        seed: of everything that is random; deterministic methods with full participation use no randomness.
        arithmetic: "float", "exact" (rational data and methods), "ball" (with `precision` bits) or "torch".
        progress: shows a bar on a terminal when it takes long.

    Raises:
        InvalidInput: a subproblem without exactly one solution, a bad x0, a logistic loss in exact arithmetic.
    """
    rounds = integer_at_least(rounds, 0, "rounds")
    integer_at_least(seed, 0, "seed")
    if participation is not None and not isinstance(participation, Full):
        raise InvalidInput("participation", participation, "is not a participation scheme", "give participation.Full()")
    numbers = arithmetics.get(arithmetic, precision=precision)
    run = rounds_of(method, problem, numbers, local_solver)
    with numbers.context():
        state = run.start(_first_point(x0, problem, numbers))
        points = [state.server]
        for _ in track(range(rounds), f"{type(method).__name__}: {rounds} rounds", show=progress):
            state = run.advance(state)
            points.append(state.server)
        return Trajectory(points=numbers.publish(numbers.rows(points)), problem=problem, method=method, state=state)


def _first_point(x0: Any, problem: Problem, numbers: Arithmetic) -> Array:
    return numbers.array(np.zeros(problem.dim) if x0 is None else points_of(x0, "x0", [(problem.dim,)]))
