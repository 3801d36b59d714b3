"""Fixed points on quadratic clients: the equation Φx = q, its solution in any arithmetic, uniqueness and attraction.

Let client k's function be ½xᵀH_k x − c_kᵀx. A local solver that starts at the centre of the proximal term returns
θ_k = w − R_k ∇f_k(w), where R_k is a function of H_k alone. Where w = Σ_k λ_k θ_k(w) are the fixed points, which the
method's formulas tell (`fixed_points.formulas`), these are therefore the solutions of Φx = q, Φ = Σ_k λ_k R_k H_k,
q = Σ_k λ_k R_k c_k; and where w⁺ = Σ_k λ_k θ_k(w), one round is w ↦ (I − Φ)w + q:

* FedGD(s, e):  R_k = s Σ_{j<e} (I − sH_k)^j          (FedSplit paper, equations (5) and (10)), e_k steps of client k;
* FedProx(μ):   R_k = (H_k + μI)⁻¹                    (FedSplit paper, equation (7), s = 1/μ).

Methods whose fixed points are the stationary points (FedSplit with exact proximal steps) have R_k = I. Where they are
those of f + (λ/2)‖· − x⁽¹⁾‖² (RegularizedFedSplit), the matrix is Φ + λI; from the origin, q is the same.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import largest_radius
from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.definiteness import is_positive_definite, null_space, proves_nonsingular
from fedconvex.arithmetic.rationals import Array, Scalar, float_array, fraction_array, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import NoFixedPoint, NotConverged
from fedconvex.fixed_points.convergence_rates import matrix_of, spectral_radius
from fedconvex.fixed_points.linear_forms import NotAffine, refusing
from fedconvex.fixed_points.method_analysis import MethodAnalysis
from fedconvex.fixed_points.one_round import COPIES, OneRoundMap
from fedconvex.local_solvers import Exact
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import State
from fedconvex.problems.quadratics import LeastSquares, Quadratic, QuadraticClients, QuadraticProblem
from fedconvex.problems.row_space import RowSpace
from fedconvex.runs.rounds import Rounds, rounds_of

MAX_PRECISION = 1 << 14
ACCURATE = 1e-25  # radius of balls whose midpoints become floats
EXACT_STATE = 300  # numbers in a method's state up to which the map of one round is formed in rationals
REPELLING = 1 + 1e-6  # from this numeric spectral radius on, a fixed point counts as repelling
SAFE_CONDITION = 1e8  # where rounding errors may grow by more than this, the solution is computed in balls and rounded


@final
@dataclass(frozen=True, eq=False)
class QuadraticFixedPoints(MethodAnalysis):
    """The fixed points of one method with one local solver on quadratic clients."""

    def located(self, arithmetic: Arithmetic, target_radius: float) -> Array:
        """The fixed point that rounds from the origin reach; the least-norm one where the method does not converge.

        Raises:
            NoFixedPoint: there is none.
            InvalidInput: the round is not affine in the state, or not the same whenever it is played.
        """
        point, state, whole = self._at_rest(arithmetic, target_radius)
        self.confirm(point, arithmetic, state, whole)
        return point

    def _at_rest(self, arithmetic: Arithmetic, target_radius: float) -> tuple[Array, State | None, bool]:
        """The fixed point, the whole state there if the formulas do not tell it, and whether the whole of it rests."""
        if self.row_space is not None and arithmetic.certainty is Certainty.NUMERIC:
            floats = arithmetics.get("float")
            with floats.context():
                found = replace(self, problem=self.row_space.problem)._at_rest(floats, np.inf)[0]
            return arithmetic.array(self.row_space.point(found)), None, True
        if self.has_closed_form:
            with suppress(LookupError):  # of many solutions memories choose another one
                return solve_symmetric(self.equation, arithmetic, target_radius, kernel=self._kernel), None, True
        elif arithmetic.certainty is Certainty.NUMERIC and (settled := self._settled_in_floats()) is not None:
            return arithmetic.array(settled.server), settled, True
        state, whole = self._reached, self.one_round is self._whole_round
        return arithmetic.array(state.server), state, whole

    @cached_property
    def row_space(self) -> RowSpace | None:
        """The span of the samples, in which fixed points on wide least squares are computed; None elsewhere.

        A direction v with A_k v = 0 for all clients changes no gradient: where the equation Φx = q determines the fixed
        points, w + v is one with w, so that none is unique and none attracts all starts. Rounds from the origin do not
        leave the span.
        """
        wide = isinstance(self.problem, LeastSquares) and self.problem.is_wide
        return RowSpace.of(self.problem) if wide and self.has_closed_form and self.keeps_every_point else None

    @cached_property
    def unique(self) -> bool:
        """Whether exactly one server's point belongs to a fixed state that runs can reach: decided exactly."""
        if self.has_closed_form and self.pull:
            return False  # (Φ + λI)⁻¹(q + λx⁽¹⁾) changes with the start x⁽¹⁾
        if self.row_space is not None:
            return False
        if not self.has_closed_form:
            return self.one_round.unique
        return self._is_regular or (not self.is_step and self._chooses_one)

    @cached_property
    def _is_regular(self) -> bool:
        """Whether Φ is nonsingular."""
        if self._kernel_is_common:
            return proves_nonsingular(self.problem.weighted_hessian) or not self.problem.kernel
        return is_nonsingular(lambda arithmetic: self.equation(arithmetic).phi)

    @property
    def _chooses_one(self) -> bool:
        """Whether, for a singular Φ, memories let all starts lead to the same solution of Φx = q."""
        if self._without_functions is not None:
            return self._without_functions.unique
        return self._state_size <= EXACT_STATE and self.one_round.unique

    @cached_property
    def keeps_every_point(self) -> bool:
        """Whether rounds that start in the kernel of Φ lead from 0 to 0, and from other points elsewhere."""
        if self.is_step:
            return True
        flat = self._without_functions
        if flat is None:
            return self._state_size > EXACT_STATE
        try:
            return not any(flat.point) and not flat.unique
        except NoFixedPoint:
            return False

    @cached_property
    def _without_functions(self) -> OneRoundMap | None:
        """The round where all functions are 0, as along the clients' common kernel; None where Φ has another one."""
        m, common = self.problem.num_clients, self.pull == 0 or self._kernel_is_common
        if not (self.problem.is_convex and common) or m > EXACT_STATE:
            return None
        flat = Quadratic([[[0]]] * m, [[0]] * m, self.problem.exact_weights)
        return OneRoundMap.of(rounds_of(self.method, flat, "exact", self.solver))

    @cached_property
    def attracting(self) -> bool | None:
        """Whether the server's point converges to the fixed point from every start, decided exactly by eigenvalues.

        Where a round is w⁺ = w − (Φw − q), its eigenvalues lie in (−1, 1) iff Φ and 2I − Φ are positive definite. For
        methods with memory and a large state, True is proved, False is numeric, and None means not decided. Of random
        rounds it is not decided.

        Operator splitting converges on convex quadratics with a unique minimiser. With relaxation below 1 the map of
        the centres v_k is averaged, and its fixed points are those of the minimisers (Krasnoselskii and Mann). With
        relaxation 1 it is v ↦ CRv, C = 2·mean − I and R = 2(I + H/weight)⁻¹ − I, a symmetric contraction that keeps the
        length of a vector only on the clients' kernels: a v whose length is never reduced has its mean, which is the
        server's point, in the kernel of every H_k, which is {0}.
        """
        if not self.unique:
            return False  # started at another fixed point, it stays there
        if self.problem.is_convex and self.relaxation is not None and self._is_regular:
            return True
        if self.is_step:
            exact = isinstance(self.solver, Exact) and self.problem.is_convex
            if exact and min(self.shares) >= 0 > sum(self.shares) - 2:
                return True  # 0 ≺ Φ ≺ 2I: a positive semidefinite H(H + μI)⁻¹ has eigenvalues in [0, 1]
            return is_positive_definite(lambda arithmetic: self.equation(arithmetic).phi) and self.is_below_two
        if self.method.skip != 0:
            return None
        decided = self.one_round.attracting if self._state_size <= EXACT_STATE else None
        if decided is not None or self.formulas is None:
            return decided
        rounds = rounds_of(self.method, self.problem, "float", self.solver)
        with rounds.arithmetic.context():
            start = rounds.start(np.zeros(self.problem.dim))
        return False if spectral_radius(rounds, start).value > REPELLING else None

    @property
    def is_below_two(self) -> bool:
        """Whether 2I − Φ is positive definite."""

        def below_two(arithmetic: Arithmetic) -> Matrix:
            phi = self.equation(arithmetic).phi
            return arithmetic.identity(arithmetic.size(phi)) * arithmetic.scalar(2) - phi

        return is_positive_definite(below_two)

    @cached_property
    def _state_size(self) -> int:
        """How many numbers the method's whole state consists of."""
        rounds = rounds_of(self.method, self.problem, "float", self.solver)
        with rounds.arithmetic.context():
            return len(rounds.start(np.zeros(self.problem.dim)).flat())

    @property
    def has_closed_form(self) -> bool:
        """Whether Φx = q determines the fixed points; otherwise `one_round` does."""
        # a pull makes up for no client that is not convex
        return self.shares is not None or self.pull == 0 or bool(self.pull and self.pull > 0 and self.problem.is_convex)

    @cached_property
    def _reached(self) -> State:
        """The fixed state that rounds from the origin reach, or one that the server's point takes for it."""
        state = self.one_round.fixed_state
        if self.one_round is not self._whole_round:
            state = np.array((self._whole_round.seen[1] * flint.fmpq_mat(len(state), 1, list(state))).entries())
        rounds = rounds_of(self.method, self.problem, "exact", self.solver)
        found = rounds.start(rounds.arithmetic.array(np.zeros(self.problem.dim, dtype=int))).with_values(state)
        self.confirm(found.server, rounds.arithmetic, found, self.one_round is self._whole_round)
        return found

    def _settled_in_floats(self) -> State | None:
        """The only fixed state, in floats; None where rounding errors could be visible in its server's point.

        One round on the whole state is s ↦ Ms + q. With a safely nonsingular I − M nothing is conserved, and the fixed
        state is the only one.
        """
        if self.formulas is None or self.method.skip != 0:
            return None
        rounds = rounds_of(self.method, self.problem, "float", self.solver)
        assert isinstance(rounds.solver, SmoothSolver)
        with rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            origin = rounds.start(np.zeros(self.problem.dim))
            size = len(origin.flat())
            rounds.arithmetic.require_room(size, size, COPIES)
            drift = matrix_of(rounds.drift(origin), np.eye(size))
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
            safe = error <= SAFE_CONDITION * singular[-1] * np.linalg.norm(point)
            return origin.with_values(origin.flat() + change) if safe else None

    @cached_property
    def one_round(self) -> OneRoundMap:
        """The affine map of one round on the whole state, or if that never rests on what the server's point sees of it.

        Raises InvalidInput where it is none.
        """
        try:
            if self._whole_round.conserved:
                self._whole_round.fixed_state  # noqa: B018
        except NoFixedPoint:
            with suppress(NoFixedPoint):
                self._whole_round.seen[0].fixed_state  # noqa: B018
                return self._whole_round.seen[0]
        return self._whole_round

    @cached_property
    def _whole_round(self) -> OneRoundMap:
        if self.method.takes_square_roots:
            with refusing(self.method):
                raise NotAffine("takes square roots")
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
        if self.shares is None:
            return stationarity(self.problem, self.pull or None)(arithmetic)
        rounds = rounds_of(self.method, self.problem, arithmetic, self.solver)
        assert isinstance(rounds.solver, SmoothSolver)
        with arithmetic.context():
            H, c = self._terms_of_clients(rounds)
            RH, Rc = rounds.solver.response(arithmetic, H, c, rounds.method.proximal_weight)
            shares = arithmetic.array(self.shares)
            terms = Terms.of(arithmetic, shares, RH, Rc)
            if arithmetic.certainty is not Certainty.NUMERIC:
                return terms
            H, c = arithmetic.to_float(H), arithmetic.to_float(c)
            matrix_scale, vector_scale = rounding_scales(rounds.solver, H, c, rounds.method.proximal_weight)
            weights = abs(arithmetic.to_float(shares))
            return replace(
                terms,
                phi_size=max(terms.phi_size, float(weights @ matrix_scale)),
                q_size=max(terms.q_size, float(weights @ vector_scale)),
            )

    def _terms_of_clients(self, rounds: Rounds) -> tuple[Batch, Array]:
        """The clients' H_k and c_k, as the method scales them."""
        scale = self.method.scale(self.problem)
        clients = self.problem.quadratic_clients(rounds.arithmetic) if scale is None else rounds.clients
        if not isinstance(clients, QuadraticClients):
            clients = self.problem.form(rounds.arithmetic, scale or ())
        return clients.H, clients.c

    @cached_property
    def _kernel_is_common(self) -> bool:
        """Whether the kernel of Φ is proved to be the common kernel of the H_k of all (convex) clients.

        It is if every R_k is positive definite and a function of H_k. On that kernel all R_k are the same multiple of
        I, so that Φx = q is solvable iff the equation of the stationary points is. That needs equal numbers of steps.
        """
        shares = self.shares
        if shares is not None and not ((shares > 0) == (self.problem.exact_weights_array > 0)).all():
            return False
        averaged = self.solver.is_averaged(self.problem, self.method.proximal_weight)
        return self.problem.is_convex and self.solver.equal_steps and averaged

    def _kernel(self) -> list[Array]:
        """An exact basis of the kernel of Φ; raises NoFixedPoint where q is not orthogonal to it.

        Raises LookupError where rounds from 0 may lead to another solution than the one of least norm.
        """
        if self.pull:
            return []  # Φ + λI is positive definite
        if self._kernel_is_common:
            found = solvable(self.problem.kernel, self.problem.weighted_linear_term())
        else:
            terms = self.equation(arithmetics.get("exact"))
            found = solvable(null_space(terms.phi), terms.q)
        if found and not self.keeps_every_point:
            raise LookupError
        return found


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
                float(arithmetic.average(abs(weights), (matrices * matrices).sum((1, 2)) ** 0.5)),
                float(arithmetic.average(abs(weights), (vectors * vectors).sum(1) ** 0.5)),
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
