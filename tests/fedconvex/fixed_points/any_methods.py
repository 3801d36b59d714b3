"""Methods as a user may write them, and what exact runs alone say of the fixed points of any method."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction as F
from typing import Any

import flint
import numpy as np

import fedconvex as fc
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Method, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem

RNG = np.random.default_rng(0)
PLAIN = fc.Quadratic([[[2, 0], [0, 1]], [[1, 0], [0, 3]], [[1, 1], [1, 2]]], [[1, 2], [3, -1], [0, 1]])
LOGISTIC = fc.Logistic([[[1, 2], [3, -1]], [[0, 1], [1, 1]], [[1, 0], [2, 1]]], [[1, -1], [1, 1], [-1, 1]], ridge=0.5)


@dataclass(frozen=True, kw_only=True)
class Written(Averaging):
    """FedGD with two local steps, of which a test overrides what it wants."""

    stepsize: Any = number(default=F(1, 8))

    @property
    def local_solver(self) -> Any:
        return fc.GradientDescent(steps=2, stepsize=self.stepsize)


def changed(method: Method, **members: Any) -> Method:
    """The method with these members instead of its own."""
    members["__annotations__"] = {}
    kind: Any = dataclass(frozen=True, kw_only=True)(type("Changed", (type(method),), members))
    return kind(**{f.name: getattr(method, f.name) for f in fields(method)})


def written(update: Callable[..., Any], kept: Callable[..., Any] | None = None, **more: Any) -> Method:
    """A method with this update (state, cohort, average of the answers, answers), which keeps what `kept` says."""

    def its_update(self: Any, state: Any, cohort: Any, answers: Any) -> Any:
        made = update(state, cohort, cohort.average(answers.points), answers.points)
        return made if made is None or isinstance(made, State) else State(made)

    if kept is not None:
        more["initial_state"] = lambda self, server, repeat: State(server, **kept(server, repeat))
    return changed(Written(), update=its_update, **more)


def server(name: str) -> Callable[..., Any]:
    return lambda w, repeat: {"shared": {name: w}}


@dataclass(frozen=True)
class OfAPlainFloat(Written):
    """A field that is a float, not a `number()`."""

    share: float = 0.5

    def initial_state(self, server: Any, repeat: Any) -> State:
        return State(self.share * server)

    def update(self, state: Any, cohort: Any, answers: Any) -> State:
        return State(self.share * cohort.average(answers.points))


AFFINE = {
    "doubles": written(lambda s, c, a, p: 2 * a),
    "adds": written(lambda s, c, a, p: a + 1),
    "of a plain float": OfAPlainFloat(),
    "ignores the answers": written(lambda s, c, a, p: s.server / 2 + 1),
    "stays": written(lambda s, c, a, p: s.server),
    "constant": written(lambda s, c, a, p: 0 * a + 1),
    "permutes clients": written(lambda s, c, a, p: p[::-1].sum(0) / len(p) - a / 2),
    "permutes memories": written(
        lambda s, c, a, p: State(a, memory={"z": s.memory["z"][::-1] / 2 + p - s.memory["z"].sum(0) / 9}),
        lambda w, repeat: {"memory": {"z": repeat(0 * w)}},
    ),
    "one coordinate": written(lambda s, c, a, p: np.concatenate([a[:1] / 2, a[1:] + a[:1]])),
    "of the population": written(lambda s, c, a, p: a * c.population / (c.population + 1)),
    "of everyone": written(lambda s, c, a, p: a / 2 if c.everyone else 9 * a),
    "relaxes": written(lambda s, c, a, p: s.server + 3 * (a - s.server) / 2),
    "momentum": written(
        lambda s, c, a, p: State(a + (a - s.shared["v"]) / 2, shared={"v": a}), server("v")
    ),
    "too much momentum": written(
        lambda s, c, a, p: State(a + 3 * (a - s.shared["v"]), shared={"v": a}), server("v")
    ),
    "keeps the start": written(lambda s, c, a, p: State((a + s.shared["x"]) / 2, shared=s.shared), server("x")),
    "counts": written(
        lambda s, c, a, p: State(a, shared={"t": s.shared["t"] + 1}), lambda w, repeat: {"shared": {"t": 0 * w}}
    ),
    "writes into its memory": written(
        lambda s, c, a, p: State(a / 2, memory={"z": np.divide(s.memory["z"], 3) + p}),
        lambda w, repeat: {"memory": {"z": repeat(w)}},
    ),
    "claims": written(
        lambda s, c, a, p: a / 3 + 1, stationary=True, memoryless=True, stationary_inexactly=True, pull_to_start=0,
        converges_on_convex_quadratics=True, converges_on_strongly_convex=True, linear=True, depends_on_start=False,
    ),
}  # fmt: skip
REFUSED = {
    "multiplies two numbers": written(lambda s, c, a, p: 4 * a * a),
    "divides by a number": written(lambda s, c, a, p: a / (1 + a[0])),
    "takes a power": written(lambda s, c, a, p: a**2),
    "takes square roots|multiplies two": written(lambda s, c, a, p: a / c.square_root(1 + (a * a).sum())),
    "compares": written(lambda s, c, a, p: np.maximum(a, 0)),
    "compares or rounds": written(lambda s, c, a, p: s.server + c.sign(a - s.server) / 8),
    "takes a power|multiplies two numbers": written(lambda s, c, a, p: a / (1 + np.linalg.norm(a))),
    "evaluates the objective": written(lambda s, c, a, p: a * c.objective()),
    "does more than add, scale and average": written(lambda s, c, a, p: np.exp(a)),
    "ZeroDivisionError": written(lambda s, c, a, p: a / 0),
    "'server': \\(3, 2\\)": written(lambda s, c, a, p: p),
    "'server': 'list'": written(lambda s, c, a, p: list(a)),
    "'NoneType'": written(lambda s, c, a, p: None),
    "'memory b'": written(lambda s, c, a, p: State(a, memory={"b": p}), lambda w, repeat: {"memory": {"a": repeat(w)}}),
    "move the fixed point|gives another result": written(lambda s, c, a, p: a * int(RNG.integers(2, 99)) / 100),
    "move the fixed point|another result": written(lambda s, c, a, p: a + int(RNG.integers(1, 99))),
    "takes a power(?# the ratio of squared norms as the server's stepsize)": written(
        lambda s, c, a, p: (
            s.server + (a - s.server) * max(1, ((p - s.server) ** 2).sum() / (9 + ((a - s.server) ** 2).sum()))
        )
    ),
}


def of_runs(method: Method, problem: Any, solver: Any = None, rounds: int = 60) -> tuple[Any, bool | None, float]:
    """The point that runs from 0 go around or None, whether that of all starts is the same, and the slowest factor.

    The points of exact runs obey Σ_i p_i w_{t+i} = p(1) w*, with p the minimal polynomial of their differences, whose
    roots are the eigenvalues that starts excite and the server sees. With p(1) = 0 they go off.
    """
    starts = [[int(i == j) for j in range(problem.dim)] for i in range(-1, problem.dim)]
    options = {"local_solver": solver, "arithmetic": "exact", "progress": False}
    runs = [fc.simulate(method, problem, rounds, x0=x, **options).points for x in starts]
    limits = [limit(run) for run in runs]
    roots = np.roots([float(c) for c in recurrence(np.concatenate(runs, axis=1))[::-1]])
    same: bool | None = all(found is None or (found == limits[0]).all() for found in limits)
    if same and any(found is None for found in limits):
        same = None  # a combination of the starts that have none may have another one
    return limits[0], same, float(max(abs(roots), default=0))


def recurrence(points: np.ndarray) -> list[Any]:
    """The coefficients, from the lowest, of the minimal polynomial of the differences of the points."""
    moves = np.diff(points, axis=0)
    half, rows = len(moves) // 2, list[list[flint.fmpq]]()
    for r in range(half):
        rows.append([flint.fmpq(v.numerator, v.denominator) for v in moves[r : r + half].ravel()])
        reduced, rank = flint.fmpq_mat(r + 1, len(rows[0]), [v for row in rows for v in row]).transpose().rref()
        if rank <= r:
            return [*(-reduced[i, r] for i in range(r)), flint.fmpq(1)]
    raise AssertionError("the runs are too short")


def limit(points: np.ndarray) -> Any:
    polynomial = recurrence(points)
    total = sum(polynomial, start=flint.fmpq(0))
    weights = [F(int((c / total).p), int((c / total).q)) for c in polynomial] if total else []
    return sum(c * w for c, w in zip(weights, points, strict=False)) if total else None


@dataclass(frozen=True, kw_only=True)
class L2GD(Method):
    """Loopless local gradient descent: local steps, or with probability 1/2 a pull of the models to their mean."""

    skip: Any = F(1, 2)

    @property
    def local_solver(self) -> Any:
        return fc.GradientDescent(steps=1, stepsize=F(1, 8))

    def initial_state(self, server: Any, repeat: Any) -> State:
        return State(server, memory={"model": repeat(server)})

    def subproblem(self, state: State, cohort: Any) -> Subproblem:
        return Subproblem(start=state.memory["model"])

    def update(self, state: State, cohort: Any, answers: Any) -> State:
        if not cohort.communicates:
            return State(state.server, memory={"model": answers.points})
        mean = cohort.average(state.memory["model"])
        return State(mean, memory={"model": 3 * state.memory["model"] / 4 + mean / 4})
