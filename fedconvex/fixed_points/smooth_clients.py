"""Fixed points on smooth clients that are not quadratic: Newton's method finds them, a theorem then encloses them.

Where the method's formulas (`fixed_points.formulas`) say that T(w) = w + Σ_k λ_k(θ_k − w) = w at its fixed points: if
the local update θ_k of every client k contracts distances by a factor q_k, T contracts them by q = |1 − Σ_k λ_k| + Σ_k
λ_k q_k. With q < 1, T has exactly one fixed point w*, and ‖w − w*‖ ≤ ‖T(w) − w‖/(1 − q) for every w (Banach); T(w) is
evaluated in balls. If T is a round, the rounds converge to w* from every start.

Without strong convexity there is no such q. Then Krawczyk's theorem encloses a locally unique fixed point. If moreover
every local update is an averaged map (the proximal map of a convex function; gradient steps with stepsize < 2/L_k), so
is T where Σ_k λ_k ≤ 1. The fixed points of T then form a convex set, so that the isolated one is the only one, and its
repetition converges to it from every start (Krasnoselskii and Mann).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.arithmetic.balls import around, largest_radius, norm, upper_float
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.krawczyk import enclose_zero
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.fixed_points.convergence_rates import matrix_of, spectral_radius
from fedconvex.fixed_points.equations import REPELLING
from fedconvex.fixed_points.linear_forms import refusing
from fedconvex.fixed_points.method_analysis import MethodAnalysis, require_affine
from fedconvex.ground_truths import ground_truth
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import State
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
KRAWCZYK_DIMENSION = 150  # beyond, the d directional derivatives of a round in balls take minutes
CONSERVED = 1e-12  # singular values below this fraction of the largest count as 0


@final
@dataclass(frozen=True, eq=False)
class SmoothFixedPoints(MethodAnalysis):
    """The fixed points of one method with one local solver on smooth clients."""

    @cached_property
    def rounds(self) -> Rounds:
        """Its rounds in floats."""
        return rounds_of(self.method, self.problem, "float", self.solver)

    def located(self, arithmetic: Arithmetic, target_radius: float) -> Array:
        """The fixed point, found in floats whatever the arithmetic, then enclosed or converted.

        Raises InvalidInput unless a round is affine in the state, the answers and the gradients.
        """
        method, in_balls = self.method, arithmetic.name == "ball"
        if method.skip != 0 and not self._is_stationary:
            text = "has rounds that are local at random; which states all of them keep is known of quadratics alone"
            raise InvalidInput("method", method, text, "run it with `simulate`, or give one that always communicates")
        require_affine(method, self.problem, self.solver)
        point = self.enclosure(arithmetic) if in_balls else arithmetic.array(self.point)
        rests = self.formulas is not None and self.formulas.is_determined  # the memory, too
        self.confirm(point, arithmetic, None if in_balls else self.state, whole=rests)
        return point

    @cached_property
    def point(self) -> np.ndarray:
        """The fixed point in float64.

        Raises NotConverged where Newton's method finds none from the minimiser and points around it, or where rounds
        move points so little that floats do not determine it to seven digits.
        """
        if not self._is_stationary and self._found[1] > GOOD:
            raise NotConverged(
                f"the fixed point of {self.method} is lost in rounding: one round moves every point so little that "
                f"floats determine it only up to about {self._found[1]:.0e} of its size; let a round move more (a "
                "smaller mu, a larger stepsize), or use arithmetic='ball', which bounds the error"
            )
        return self._center

    @property
    def _center(self) -> np.ndarray:
        """The fixed point, as accurately as floats determine it."""
        return np.asarray(ground_truth(self.problem).point if self._is_stationary else self._found[0].server)

    @property
    def state(self) -> State | None:
        """The whole state at the fixed point, clients' memories included; None where it is not determined."""
        if self._is_stationary and self.formulas is not None:
            with self.rounds.arithmetic.context():
                return self.formulas.state_at(self._center, self.rounds)
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[State, float]:
        """A fixed state, and the relative error that the rounding of one round may cause in it."""
        minimizer = np.asarray(ground_truth(self.problem).point)
        with self.rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            random = np.random.default_rng(0)  # the same starts in every call
            for attempt in range(STARTS):
                away = 0.0 if attempt == 0 else random.standard_normal(len(minimizer)) * 2.0 ** (attempt / 4)
                kept = self.formulas is None or self.formulas.depends_on_start
                begin = 0 * minimizer if kept else minimizer + away
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
        if not self.method.is_stateless:
            for _ in range(SETTLING_ROUNDS):
                state = self.rounds.advance(state)
        return state

    @property
    def _is_stationary(self) -> bool:
        return bool(self.pull == 0)

    def enclosure(self, arithmetic: Arithmetic) -> Array:
        """Balls that contain the fixed point; infinitely wide where no theorem applies."""
        if self._is_stationary:
            return ground_truth(self.problem).enclosure()
        w = arithmetic.array(self._center)
        q = self.contraction
        if q is None:
            return around(self._center, np.inf) if self._krawczyk is None else self._krawczyk
        rounds = rounds_of(self.method, self.problem, arithmetic, self.solver)
        with refusing(self.method):  # its code may have numbers that balls do not take
            played = rounds.play(rounds.start(w))
        assert played is not None
        moved = arithmetic.average(arithmetic.array(self.shares), played.answers.points - w)
        return around(self._center, upper_float(norm(moved) / (1 - q)))

    @cached_property
    def _krawczyk(self) -> Array | None:
        """Balls that contain exactly one fixed point; None where no proof was found."""
        if self.problem.dim > KRAWCZYK_DIMENSION or not self.method.is_stateless:
            return None
        balls = arithmetics.get("ball")
        with balls.context():
            rounds = rounds_of(self.method, self.problem, balls, self.solver)

            def derivative(box: Array) -> Matrix:
                return balls.matrix(matrix_of(rounds.drift(State(box)), balls.array(np.eye(self.problem.dim))))

            return enclose_zero(lambda w: w - rounds.advance(State(w)).server, derivative, self._center, balls)

    @cached_property
    def _averaged(self) -> bool:
        """Whether T is proved to be an averaged map."""
        shares = self.shares
        if shares is None or not self.problem.is_convex or (shares < 0).any() or shares.sum() > 1:
            return False
        return self.solver.is_averaged(self.problem, self.method.proximal_weight)

    @cached_property
    def contraction(self) -> Any:
        """A ball below 1 that bounds the factor by which T contracts distances; None where none is proved."""
        shares = self.shares
        if shares is None:
            return None
        balls = arithmetics.get("ball")
        with balls.context():
            rounds = rounds_of(self.method, self.problem, balls, self.solver)
            assert isinstance(rounds.solver, SmoothSolver)
            weight = rounds.method.proximal_weight
            factors = [rounds.solver.contraction(self.problem, k, weight) for k in range(self.problem.num_clients)]
            total = balls.average(balls.array(abs(shares)), np.array(factors, dtype=object))
            total = total + balls.scalar(abs(1 - shares.sum()))
            return total if total < 1 else None

    @property
    def unique(self) -> bool | None:
        """True where proved, None otherwise."""
        if self._is_stationary:
            return True if np.isfinite(largest_radius(ground_truth(self.problem).enclosure())) else None
        return True if self.contraction is not None or (self._averaged and self._krawczyk is not None) else None

    @cached_property
    def attracting(self) -> bool | None:
        """True where proved; False where the derivative of one round has an eigenvalue outside the unit circle.

        Operator splitting with relaxation below 1 converges where the minimiser is unique (Krasnoselskii and Mann), and
        with relaxation 1 on smooth strongly convex clients, where reflected proximal steps contract distances
        (Giselsson and Boyd 2017).
        """
        if self._is_stationary:
            strongly_convex = min(self.problem.mu * self.problem.weights) > 0
            averages = self.relaxation is not None and self.relaxation < 1 and self.problem.is_convex and self.unique
            return True if averages or (strongly_convex and self.relaxation is not None) else None
        if self.unique and self.is_step:
            return True  # a contraction, or averaged with a single fixed point
        if not self.method.is_stateless:
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
            step, magnified = _solve_linear(self.rounds.drift(state), residual, min(remaining, INEXACT))
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
        matrix = matrix_of(apply, np.eye(size))
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
