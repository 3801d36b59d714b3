"""Fixed points on smooth clients that are not quadratic: Newton's method finds them, a theorem then encloses them.

For a method without memory, one round is a map T of the server's point. If the local update of every client k
contracts distances by a factor q_k, T contracts them by q = Σ_k weights_k q_k. With q < 1, T has exactly one fixed
point w*, the rounds converge to it from every start, and ‖w − w*‖ ≤ ‖T(w) − w‖/(1 − q) for every w (Banach). T(w) is
evaluated in balls.

Without strong convexity there is no such q. Then Krawczyk's theorem encloses a locally unique fixed point. If moreover
every local update is an averaged map (the proximal map of a convex function; gradient steps with stepsize < 2/L_k), so
is T. The fixed points of T then form a convex set, so that the isolated one is the only one, and the rounds converge
to it from every start (Krasnoselskii and Mann).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.arithmetic.balls import largest_radius, norm
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.krawczyk import enclose_zero
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import NotConverged
from fedconvex.fixed_points.convergence_rates import spectral_radius
from fedconvex.fixed_points.equations import REPELLING, is_average, is_stationary
from fedconvex.ground_truths import ground_truth
from fedconvex.local_solvers import Exact
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import Method, State
from fedconvex.pickled import without_caches
from fedconvex.problems.base import Problem
from fedconvex.runs.rounds import Rounds, rounds_of

NEWTON_STEPS = 50
HALVINGS = 30
FORMED_DIMENSION = 300  # up to here the derivative of a round is formed as a matrix; beyond, GMRES applies it
INEXACT, TIGHT = 1e-6, 1e-9  # relative residuals of GMRES: that of the last Newton step, between these
RESTART = 200  # vectors that GMRES keeps
FEWER = "give fewer features or clients"
STARTS = 25  # starts of Newton's method: the minimiser, then random points at growing distance
SETTLING_ROUNDS = 50  # before Newton's method, so that the clients' memories come near their limits
ARRIVED = 1e-11  # a Newton step this small, relative to the point, is the last: its square is below rounding
GOOD = 1e-7  # a search succeeded if its last Newton step, relative to the point, is at most this
NEARBY = 0.01  # a run's end this near the fixed point, relative to the point, is where Newton's method starts
KRAWCZYK_DIMENSION = 150  # beyond, the d directional derivatives of a round in balls take minutes
CONSERVED = 1e-12  # singular values below this fraction of the largest count as 0


@dataclass(frozen=True, eq=False)
class SmoothFixedPoints:
    """The fixed points of one method with one local solver on smooth clients."""

    method: Method
    problem: Problem
    solver: SmoothSolver
    rounds: Rounds  # in floats

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    @cached_property
    def point(self) -> np.ndarray:
        """The fixed point in float64.

        Raises NotConverged where Newton's method finds none from the minimiser and points around it, or where rounds
        move points so little that floats do not determine it to seven digits.
        """
        if not self._stationary and self._found[1] > GOOD:
            raise NotConverged(
                f"the fixed point of {self.method} is lost in rounding: one round moves every point so little that "
                f"floats determine it only up to about {self._found[1]:.0e} of its size; let a round move more (a "
                "smaller mu, a larger stepsize), or use arithmetic='ball', which bounds the error"
            )
        return self._center

    @property
    def _center(self) -> np.ndarray:
        """The fixed point, as accurately as floats determine it."""
        return np.asarray(ground_truth(self.problem).point if self._stationary else self._found[0].server)

    def state_near(self, reached: State) -> State | None:
        """The whole state at `point`, clients' memories included; None where no fixed state was found there.

        reached: the state in which a run ended, from which the search starts if that is near `point`.
        """
        if self.method.memoryless:
            return State(self._center)
        if not self._stationary:
            return self._found[0]

        def distance(state: State) -> float:
            return float(np.linalg.norm(state.server - self.point) / (1 + np.linalg.norm(self.point)))

        with self.rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            if distance(reached) <= NEARBY:
                found, remaining, _ = self._newton(reached)
                if remaining <= GOOD and distance(found) <= GOOD:
                    return found
            found, remaining, _ = self._newton(
                self._settling(0 * self.point if self.method.depends_on_start else self.point)
            )
        return found if remaining <= GOOD and distance(found) <= GOOD else None

    @cached_property
    def _found(self) -> tuple[State, float]:
        """A fixed state, and the relative error that the rounding of one round may cause in it."""
        minimizer = np.asarray(ground_truth(self.problem).point)
        with self.rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            random = np.random.default_rng(0)  # the same starts in every call
            for attempt in range(STARTS):
                away = 0.0 if attempt == 0 else random.standard_normal(len(minimizer)) * 2.0 ** (attempt / 4)
                begin = 0 * minimizer if self.method.depends_on_start else minimizer + away
                found, remaining, lost = self._newton(self._settling(begin))
                if remaining <= GOOD:
                    return found, lost
        raise NotConverged(
            f"no fixed point of {self.method} was found: Newton's method ended at no fixed point from {STARTS} "
            "starts; try a smaller stepsize"
        )

    def _settling(self, begin: np.ndarray) -> State:
        """The state after some rounds from `begin`, in which the clients' memories are near their limits."""
        state = self.rounds.start(begin)
        if not self.method.memoryless:
            for _ in range(SETTLING_ROUNDS):
                state = self.rounds.advance(state)
        return state

    @property
    def _stationary(self) -> bool:
        """Whether the fixed points are the stationary points of the objective."""
        return is_stationary(self.method, self.solver, self.problem)

    def enclosure(self, arithmetic: Arithmetic) -> Array:
        """Balls that contain the fixed point; infinitely wide where no theorem applies."""
        import flint

        if self._stationary:
            return ground_truth(self.problem).enclosure()
        w = arithmetic.array(self._center)
        q = self.contraction
        if q is None:
            box = self._krawczyk
            return np.array([value + flint.arb(0, "inf") for value in w], dtype=object) if box is None else box
        moved = rounds_of(self.method, self.problem, arithmetic, self.solver).advance(State(w)).server
        radius = (norm(moved - w) / (1 - q)).upper()
        return np.array([value + flint.arb(0, radius) for value in w], dtype=object)

    @cached_property
    def _krawczyk(self) -> Array | None:
        """Balls that contain exactly one fixed point; None where no proof was found."""
        if self.problem.dim > KRAWCZYK_DIMENSION or not self.method.memoryless:
            return None
        balls = arithmetics.get("ball")
        with balls.context():
            rounds = rounds_of(self.method, self.problem, balls, self.solver)

            def derivative(box: Array) -> Matrix:
                change = rounds.tangent(State(box))
                identity = balls.array(np.eye(self.problem.dim))
                columns = [e - change(State(e)).server for e in identity]
                return balls.transpose(balls.matrix(np.stack(columns)))

            return enclose_zero(lambda w: w - rounds.advance(State(w)).server, derivative, self._center, balls)

    @cached_property
    def _averaged(self) -> bool:
        """Whether every local update is proved to be an averaged map of the server's point."""
        averaged = self.solver.is_averaged(self.problem, self.method.proximal_weight)
        return is_average(self.method, self.solver) and self.problem.is_convex and averaged

    @cached_property
    def contraction(self) -> Any:
        """A ball below 1 that bounds the factor by which one round contracts distances; None where none is proved."""
        if not is_average(self.method, self.solver):
            return None
        balls = arithmetics.get("ball")
        with balls.context():
            rounds = rounds_of(self.method, self.problem, balls, self.solver)
            assert isinstance(rounds.solver, SmoothSolver)
            weight = rounds.method.proximal_weight
            factors = [rounds.solver.contraction(self.problem, k, weight) for k in range(self.problem.num_clients)]
            total = balls.average(rounds.weights, np.array(factors, dtype=object))
            return total if total < 1 else None

    @property
    def unique(self) -> bool | None:
        """True where proved, None otherwise."""
        if self._stationary:
            return True if np.isfinite(largest_radius(ground_truth(self.problem).enclosure())) else None
        return True if self.contraction is not None or (self._averaged and self._krawczyk is not None) else None

    @cached_property
    def attracting(self) -> bool | None:
        """True where proved; False where the derivative of one round has an eigenvalue outside the unit circle."""
        if self._stationary:
            strongly_convex = min(self.problem.mu * self.problem.weights) > 0
            known = self.method.converges_on_strongly_convex and isinstance(self.solver, Exact)
            return True if strongly_convex and known else None
        if self.unique:
            return True  # a contraction, or averaged with a single fixed point
        if not self.method.memoryless:
            return None
        return False if spectral_radius(self.rounds, State(self._center)).value > REPELLING else None

    def _newton(self, state: State) -> tuple[State, float, float]:
        """Damped Newton steps on the whole state: (last state, relative length of the last full step, relative error).

        The error is the effect of one round's rounding on the zero. The step and not the residual measures the distance
        from a zero: where a round magnifies differences it magnifies rounding, too, and where a round hardly moves
        anything, a tiny residual allows a long step.
        """

        def movement(at: State) -> np.ndarray:
            return np.asarray(self.rounds.advance(at).flat() - at.flat())

        residual, remaining, lost = movement(state), float("inf"), float("inf")
        for _ in range(NEWTON_STEPS):
            derivative = self.rounds.tangent(state)

            # the defaults bind this iteration's state and derivative
            def drift(v: np.ndarray, at: State = state, of: Callable[[State], State] = derivative) -> np.ndarray:
                return np.asarray(v - of(at.with_values(v)).flat())

            step, magnified = _solve_linear(drift, residual, min(remaining, INEXACT))
            if not np.isfinite(step).all():
                break
            length = np.linalg.norm(state.flat())
            remaining = float(np.linalg.norm(step) / (1 + length))
            lost = float(np.finfo(float).eps * magnified * length / (1 + length))
            size = np.linalg.norm(residual)
            for halvings in range(HALVINGS if remaining > ARRIVED else 1):
                trial = state.with_values(state.flat() + 0.5**halvings * step)
                residual_there = movement(trial)
                if np.linalg.norm(residual_there) < (1 - 1e-4 * 0.5**halvings) * size:
                    break
            else:
                break  # no step along Newton's direction reduces the residual: rounding, or a minimum above 0
            state, residual = trial, residual_there
            if remaining <= ARRIVED:
                break
        return state, remaining, lost


def _solve_linear(
    apply: Callable[[np.ndarray], np.ndarray], right: np.ndarray, tolerance: float
) -> tuple[np.ndarray, float]:
    """(x with apply(x) = right, the factor by which x magnifies rounding errors of `right`).

    Among many solutions, the one in the range of `apply`: quantities that rounds conserve (such as the anchor of
    `RegularizedFedSplit`) must keep their initial value. GMRES finds that one by itself, since its Krylov space lies in
    the range. Where `apply` is not formed as a matrix, the residual may be as large as tolerance · ‖right‖, and the
    factor is only a lower bound.
    """
    size = len(right)
    if size <= FORMED_DIMENSION:
        matrix = np.stack([apply(e) for e in np.eye(size)], axis=1)
        if not np.isfinite(matrix).all():
            return np.full(size, np.nan), np.inf
        left, singular, _ = np.linalg.svd(matrix)
        seen = singular > CONSERVED * singular[0]
        conserved = left[:, ~seen].T
        stacked = np.vstack([matrix, singular[0] * conserved])
        x = np.asarray(np.linalg.lstsq(stacked, np.append(right, np.zeros(len(conserved))), rcond=1e-13)[0])
        return x, 1 / float(min(singular[seen])) if seen.any() else np.inf
    from scipy.sparse.linalg import LinearOperator, gmres

    memory.require((RESTART + 10) * right.nbytes, "problem", f"states of {size} numbers", "Newton's method", FEWER)
    operator = LinearOperator((size, size), matvec=apply, dtype=np.float64)
    x = np.asarray(gmres(operator, right, rtol=max(tolerance, TIGHT), restart=RESTART, maxiter=5)[0])
    length = float(np.linalg.norm(right))
    return x, float(np.linalg.norm(x)) / length if length > 0 else 0.0
