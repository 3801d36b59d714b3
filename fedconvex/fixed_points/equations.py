"""Fixed points on quadratic clients: the equation Φx = q, its solution in any arithmetic, uniqueness and attraction.

Let client k's function be ½xᵀH_k x − c_kᵀx. A local solver that starts at the centre of the proximal term returns
θ_k = w − R_k ∇f_k(w), where R_k is a function of H_k alone. For a method without memory the fixed points are therefore
the solutions of Φx = q, Φ = Σ_k weights_k R_k H_k, q = Σ_k weights_k R_k c_k, and one round is w ↦ (I − Φ)w + q:

* FedGD(s, e):  R_k = s Σ_{j<e} (I − sH_k)^j          (FedSplit paper, equations (5) and (10)), e_k steps of client k;
* FedProx(μ):   R_k = (H_k + μI)⁻¹                    (FedSplit paper, equation (7), s = 1/μ).

Methods whose fixed points are the stationary points (FedSplit with exact proximal steps) have R_k = I. Where each F_k
is pulled to the start by (λ/2)‖· − x⁽¹⁾‖² (RegularizedFedSplit), the matrix is Φ + λI; from the origin, q is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import largest_radius
from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.definiteness import is_positive_definite, null_space, proves_nonsingular
from fedconvex.arithmetic.rationals import Array, Scalar, float_array, fraction_array, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import NoFixedPoint, NotConverged
from fedconvex.fixed_points.convergence_rates import spectral_radius
from fedconvex.fixed_points.one_round import COPIES, OneRoundMap
from fedconvex.local_solvers import Exact
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import Method
from fedconvex.parameters import in_rationals
from fedconvex.pickled import without_caches
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import rounds_of

MAX_PRECISION = 1 << 14
ACCURATE = 1e-25  # radius of balls whose midpoints become floats
EXACT_STATE = 300  # numbers in a method's state up to which the map of one round is formed in rationals
REPELLING = 1 + 1e-6  # from this numeric spectral radius on, a fixed point counts as repelling
SAFE_CONDITION = 1e8  # where rounding errors may grow by more than this, the solution is computed in balls and rounded


def is_stationary(method: Method, solver: SmoothSolver, problem: Problem) -> bool:
    """Whether the fixed points are proved to be the stationary points of the objective."""
    if isinstance(solver, Exact):
        return method.stationary or (method.stationary_inexactly and problem.is_convex)
    if not (method.stationary_inexactly and problem.is_convex):
        return False
    weight = in_rationals(method).proximal_weight
    return solver.descends(problem, method.scale(problem), weight)


def is_average(method: Method, solver: SmoothSolver) -> bool:
    """Whether a round is w ↦ Σ_k weights_k θ_k, each θ_k a function of w alone.

    FedNova without memory divides by the clients' numbers of steps: only where they are equal is it FedGD.
    """
    return method.memoryless and (solver.equal_steps or not method.needs_path_lengths)


@dataclass(frozen=True, eq=False)
class QuadraticFixedPoints:
    """The fixed points of one method with one local solver on quadratic clients."""

    method: Method
    problem: QuadraticProblem
    solver: SmoothSolver

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    def point(self, arithmetic: Arithmetic, target_radius: float) -> Array:
        """The fixed point that rounds from the origin reach; the least-norm one where the method does not converge.

        Raises:
            NoFixedPoint: the equation Φx = q has no solution.
        """
        if not self.has_closed_form:
            settled = self._settled_in_floats() if arithmetic.certainty is Certainty.NUMERIC else None
            return self._convert(self.one_round.point if settled is None else settled, arithmetic)
        return solve_symmetric(self.equation, arithmetic, target_radius, kernel=self._kernel)

    @cached_property
    def unique(self) -> bool:
        """Whether exactly one server's point belongs to a fixed state: decided exactly."""
        if self._is_pulled_to_start:
            return False  # (Φ + λI)⁻¹(q + λx⁽¹⁾) changes with the start x⁽¹⁾
        if not self.has_closed_form:
            return self.one_round.unique
        if self._kernel_is_common:
            return proves_nonsingular(self.problem.weighted_hessian) or not self.problem.kernel
        return is_nonsingular(lambda arithmetic: self.equation(arithmetic).phi)

    @cached_property
    def attracting(self) -> bool | None:
        """Whether the server's point converges to the fixed point from every start, decided exactly by eigenvalues.

        Without memory one round is the symmetric affine map with matrix I − Φ, whose eigenvalues lie in (−1, 1) iff Φ
        and 2I − Φ are positive definite. For methods with memory and a large state, True is proved, False is numeric,
        and None means not decided.
        """
        if not self.unique:
            return False  # started at another fixed point, it stays there
        if isinstance(self.solver, Exact) and self.problem.is_convex:
            if self._is_average:
                return True  # 0 ≺ Φ ≺ I: a positive semidefinite H(H + μI)⁻¹ has eigenvalues in [0, 1)
            if self.method.converges_on_convex_quadratics:
                return True
        if self._is_average:

            def below_two(arithmetic: Arithmetic) -> Matrix:
                phi = self.equation(arithmetic).phi
                return arithmetic.identity(arithmetic.size(phi)) * arithmetic.scalar(2) - phi

            return is_positive_definite(lambda arithmetic: self.equation(arithmetic).phi) and is_positive_definite(
                below_two
            )
        decided = self.one_round.attracting if self._state_size <= EXACT_STATE else None
        if decided is not None:
            return decided
        rounds = rounds_of(self.method, self.problem, "float", self.solver)
        with rounds.arithmetic.context():
            start = rounds.start(np.zeros(self.problem.dim))
        return False if spectral_radius(rounds, start).value > REPELLING else None

    @cached_property
    def _state_size(self) -> int:
        """How many numbers the method's whole state consists of."""
        rounds = rounds_of(self.method, self.problem, "float", self.solver)
        with rounds.arithmetic.context():
            return len(rounds.start(np.zeros(self.problem.dim)).flat())

    @property
    def _is_average(self) -> bool:
        return is_average(self.method, self.solver)

    @property
    def has_closed_form(self) -> bool:
        """Whether Φx = q determines the fixed points; otherwise `one_round` does."""
        stationary = is_stationary(self.method, self.solver, self.problem)
        return self._is_average or stationary or self._is_pulled_to_start

    @property
    def _is_pulled_to_start(self) -> bool:
        """Whether the fixed point is proved to be the minimiser of Σ_k F_k + (λ/2)‖· − x⁽¹⁾‖², x⁽¹⁾ the start."""
        return bool(self.method.pull_to_start > 0) and isinstance(self.solver, Exact) and self.problem.is_convex

    def _settled_in_floats(self) -> Array | None:
        """The server's point of the only fixed state, in floats; None where rounding errors could be visible in it.

        One round on the whole state is s ↦ Ms + q. With a safely nonsingular I − M nothing is conserved, and the fixed
        state is the only one.
        """
        rounds = rounds_of(self.method, self.problem, "float", self.solver)
        assert isinstance(rounds.solver, SmoothSolver)
        with rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            origin = rounds.start(np.zeros(self.problem.dim))
            size = len(origin.flat())
            rounds.arithmetic.require_room(size, size, COPIES)
            derivative = rounds.tangent(origin)
            drift = np.stack([v - derivative(origin.with_values(v)).flat() for v in np.eye(size)], axis=1)
            moved = rounds.advance(origin).flat() - origin.flat()
            if not (np.isfinite(drift).all() and np.isfinite(moved).all()):
                return None
            H, c = rounds.clients.hessians(rounds.clients.rows(origin.server)), rounds.clients.gradients(origin.server)
            matrix_scale, vector_scale = rounding_scales(rounds.solver, H, c, rounds.method.proximal_weight)
            singular = np.linalg.svd(drift, compute_uv=False)
            size_of_drift, size_of_moved = float(singular[0]), float(np.linalg.norm(moved))
            if singular[-1] <= np.finfo(float).eps * size_of_drift:
                return None
            change = np.linalg.solve(drift, moved)
            point = np.asarray(change[: self.problem.dim])
            error = (max(matrix_scale) + size_of_drift) * np.linalg.norm(change) + max(vector_scale) + size_of_moved
            return point if error <= SAFE_CONDITION * singular[-1] * np.linalg.norm(point) else None

    @cached_property
    def one_round(self) -> OneRoundMap:
        """The affine map of one round on the whole state, in rational arithmetic."""
        return OneRoundMap.of(rounds_of(self.method, self.problem, "exact", self.solver))

    def equation(self, arithmetic: Arithmetic) -> "Terms":
        """Φ and q in that arithmetic; Φ is symmetric."""
        key = (arithmetic.name, getattr(arithmetic, "precision", None))
        if key not in self._equations:
            self._equations[key] = self._equation(arithmetic)
        return self._equations[key]

    @cached_property
    def _equations(self) -> "dict[Any, Terms]":
        return {}

    def _equation(self, arithmetic: Arithmetic) -> "Terms":
        if not self._is_average:
            pull = self.method.pull_to_start if self._is_pulled_to_start else None
            return stationarity(self.problem, pull)(arithmetic)
        rounds = rounds_of(self.method, self.problem, arithmetic, self.solver)
        assert isinstance(rounds.solver, SmoothSolver)
        with arithmetic.context():
            clients = self.problem.quadratic_clients(arithmetic)
            RH, Rc = rounds.solver.response(arithmetic, clients.H, clients.c, rounds.method.proximal_weight)
            terms = Terms.of(arithmetic, rounds.weights, RH, Rc)
            if arithmetic.certainty is not Certainty.NUMERIC:
                return terms
            H, c = arithmetic.to_float(clients.H), arithmetic.to_float(clients.c)
            matrix_scale, vector_scale = rounding_scales(rounds.solver, H, c, rounds.method.proximal_weight)
            weights = arithmetic.to_float(rounds.weights)
            return replace(
                terms,
                phi_size=max(terms.phi_size, float(weights @ matrix_scale)),
                q_size=max(terms.q_size, float(weights @ vector_scale)),
            )

    @cached_property
    def _kernel_is_common(self) -> bool:
        """Whether the kernel of Φ is proved to be the common kernel of the H_k of all (convex) clients.

        It is if every R_k is positive definite and a function of H_k. On that kernel all R_k are the same multiple of
        I, so that Φx = q is solvable iff the equation of the stationary points is. That needs equal numbers of steps.
        """
        averaged = self.solver.is_averaged(self.problem, self.method.proximal_weight)
        return self.problem.is_convex and self.solver.equal_steps and averaged

    def _kernel(self) -> list[Array]:
        """An exact basis of the kernel of Φ; raises NoFixedPoint where q is not orthogonal to it."""
        if self._is_pulled_to_start:
            return []  # Φ + λI is positive definite
        if self._kernel_is_common:
            return solvable(self.problem.kernel, self.problem.weighted_linear_term())
        terms = self.equation(arithmetics.get("exact"))
        return solvable(null_space(terms.phi), terms.q)

    @staticmethod
    def _convert(point: Array, arithmetic: Arithmetic) -> Array:
        with arithmetic.context():
            return arithmetic.array(point)


@dataclass(frozen=True, eq=False)
class Terms:
    """Φ = Σ_k weights_k matrices_k and q = Σ_k weights_k vectors_k in one arithmetic."""

    phi: Matrix
    q: Array
    # rounding errors of Φ and q are eps times these (floats only): at least the sums of the terms' norms, since the
    # terms may cancel
    phi_size: float = 0.0
    q_size: float = 0.0

    @staticmethod
    def of(arithmetic: Arithmetic, weights: Array, matrices: Batch, vectors: Array) -> "Terms":
        """The weighted sums of matrices and vectors; in floats with the sizes of their rounding errors."""
        sizes = (0.0, 0.0)
        if arithmetic.certainty is Certainty.NUMERIC:
            sizes = (
                float(arithmetic.average(weights, (matrices * matrices).sum((1, 2)) ** 0.5)),
                float(arithmetic.average(weights, (vectors * vectors).sum(1) ** 0.5)),
            )
        return Terms(arithmetic.weighted_sum(weights, matrices), arithmetic.average(weights, vectors), *sizes)

    def are_safe_for(self, x: Array, arithmetic: Arithmetic) -> bool:
        """Whether the rounding errors of Φ and q, multiplied by ‖Φ⁻¹‖, stay small compared with the solution x."""
        least = float(min(abs(np.linalg.eigvalsh(arithmetic.to_float(self.phi)))))
        length = float(np.linalg.norm(arithmetic.to_float(x)))
        return self.phi_size * length + self.q_size <= SAFE_CONDITION * least * length


def rounding_scales(solver: SmoothSolver, H: np.ndarray, c: np.ndarray, weight: Scalar) -> tuple[Array, Array]:
    """The rounding errors of every client's R_k H_k and R_k c_k in floats, in units of eps.

    I − weight·R and I − Mᵉ cancel: where they are tiny, the rounding errors of I remain at full size.
    """
    curvatures = np.linalg.eigvalsh(H)
    per_matrix, per_vector = solver.rounding(curvatures[:, 0], abs(curvatures).max(axis=1), float(weight))
    return per_matrix, per_vector * np.linalg.norm(c, axis=1)


Equation = Callable[[Arithmetic], Terms]


def stationarity(problem: QuadraticProblem, pull: Scalar | None = None) -> Equation:
    """The equation of the stationary points: Φ = Σ_k weights_k H_k, q = Σ_k weights_k c_k; Φ + pull·I with a pull."""

    def terms(arithmetic: Arithmetic) -> Terms:
        with arithmetic.context():
            clients = problem.quadratic_clients(arithmetic)
            found = Terms.of(arithmetic, arithmetic.array(problem.exact_weights_array), clients.H, clients.c)
            if pull is None:
                return found
            identity = arithmetic.identity(arithmetic.size(found.phi)) * arithmetic.scalar(pull)
            return replace(found, phi=found.phi + identity, phi_size=found.phi_size + nearest_float(pull))

    return terms


def solve_symmetric(
    equation: Equation,
    arithmetic: Arithmetic,
    target_radius: float = np.inf,
    anchor: Any = None,
    *,
    kernel: Callable[[], list[Array]],
) -> Array:
    """The solution x of Φx = q for a symmetric Φ; among many solutions, the one nearest to `anchor` (default 0).

    Floats solve the equation only where the rounding errors of Φ and q, including cancellation among the clients,
    cannot grow to a visible fraction of x; elsewhere the result is a rounded ball. Balls raise their precision until
    every radius is at most `target_radius`; rational arithmetic decides whether Φ is singular.

    Args:
        kernel: returns an exact basis of {v : Φv = 0}, or raises where q is not orthogonal to it. Called only where
            Φ may be singular, since exact arithmetic is slow.
    """
    if arithmetic.name == "exact":
        terms = equation(arithmetic)
        try:
            return arithmetic.solve(terms.phi, terms.q)
        except ZeroDivisionError:
            return _solve_singular(terms, arithmetic, anchor, kernel())
    if arithmetic.name == "ball":
        return _solve_in_balls(equation, arithmetic.precision, target_radius, anchor, kernel)  # type: ignore[attr-defined]
    terms = equation(arithmetic)
    try:
        x = arithmetic.solve(terms.phi, terms.q)
        if terms.are_safe_for(x, arithmetic):
            return x
    except (ZeroDivisionError, np.linalg.LinAlgError):  # singular, or beyond the range of floats
        pass
    return arithmetic.array(_solve_in_balls(equation, 128, ACCURATE, anchor, kernel))


def solvable(kernel: list[Array], q: Array) -> list[Array]:
    """The given basis of a kernel; raises NoFixedPoint where vᵀq ≠ 0 for one of its vectors v, the witness."""
    for v in kernel:
        if np.dot(v, q) != 0:
            raise NoFixedPoint(
                "there is no fixed point: along some direction every round moves the point by the same amount "
                f"(direction {_readable(v)})",
                witness=fraction_array(v),
            )
    return kernel


def is_nonsingular(matrix: Callable[[Arithmetic], Matrix]) -> bool:
    """Whether the matrix is invertible: by a proof in balls where one succeeds, else by the exact rank."""
    if proves_nonsingular(matrix):
        return True
    square = matrix(arithmetics.get("exact"))
    return bool(square.rank() == square.nrows())


def _solve_in_balls(
    equation: Equation, precision: int, target_radius: float, anchor: Any, kernel: Callable[[], list[Array]]
) -> Array:
    """The solution in balls, at doubled precision until every radius is small enough."""
    vectors: list[Array] | None = None  # the kernel's basis, computed only once Φ appears to be singular
    while precision <= MAX_PRECISION:
        balls = arithmetics.get("ball", precision=precision)
        with balls.context():
            terms = equation(balls)
            try:
                x = _solve_singular(terms, balls, anchor, vectors) if vectors else balls.solve(terms.phi, terms.q)
                if largest_radius(x) <= target_radius:
                    return x
                precision *= 2
            except ZeroDivisionError:  # singular, or too wide to exclude that
                if vectors is None:
                    vectors = kernel()
                    if vectors:
                        continue
                precision *= 2
    raise NotConverged(f"balls of {MAX_PRECISION} bits do not reach the radius {target_radius}; pass a larger radius")


def _solve_singular(terms: Terms, arithmetic: Arithmetic, anchor: Any, kernel: list[Array]) -> Array:
    """The solution of Φx = q nearest to the anchor, for a singular Φ with this kernel and q ⟂ kernel.

    With N a basis of the kernel, Φ + NNᵀ is invertible, and (Φ + NNᵀ)x = q has the solution of least norm. The
    anchor's projection onto the kernel is added afterwards: in the right-hand side, the condition number of Φ would
    magnify the radii of an anchor of balls.
    """
    N = arithmetic.matrix(np.stack([v / max(abs(entry) for entry in v) for v in kernel], axis=1))
    transposed = arithmetic.transpose(N)
    x = arithmetic.solve(terms.phi + arithmetic.product(N, transposed), terms.q)
    if anchor is None:
        return x
    along = arithmetic.apply(transposed, arithmetic.array(anchor))
    return x + arithmetic.apply(N, arithmetic.solve(arithmetic.product(transposed, N), along))


def _readable(v: np.ndarray) -> str:
    floats = float_array(v)
    return np.array2string(floats / np.linalg.norm(floats), precision=4, threshold=8)
