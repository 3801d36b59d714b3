"""Fixed points for composite objectives f + ψ: w = prox_{τψ}(update of w), with all clients taking part.

Splitting methods (FedSplit, FedDyn, FedPD) rest exactly at the minimisers of f + ψ, see `prox_stepsize` in their
files. On quadratic clients the other methods' update is w ↦ w − (Φw − q), Φ and q as in `fixed_points.equations`, so
that the fixed points are the minimisers of ½wᵀΦw − qᵀw + τψ(w): unique where Φ is positive definite, and rational for
ℓ1 and boxes. On other smooth clients a round that contracts distances does so with its proximal step, too: there its
repetition finds the fixed point, and Banach's theorem bounds the distance from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import norm, upper_float
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.definiteness import is_positive_definite, smallest_eigenvalue_bound
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.fixed_points.equations import QuadraticFixedPoints, is_average, is_stationary
from fedconvex.fixed_points.smooth_clients import SmoothFixedPoints
from fedconvex.ground_truths import ground_truth
from fedconvex.ground_truths.composite import SmoothPart, minimise
from fedconvex.ground_truths.rational_composites import exact_solution
from fedconvex.local_solvers import Exact
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import Method, State
from fedconvex.problems.composite import CompositeProblem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.regularizers import Separable
from fedconvex.runs.rounds import Rounds, rounds_of

CURE = "give strongly convex or quadratic clients, Exact(), or one local step; runs (`simulate`) take every setting"
MOST_ROUNDS = 20_000
KEPT = 8  # differences of rounds from which the next point is extrapolated
TIGHT = 1e-9  # relative: a longer last move is no result
ARRIVED = 1e-15  # a round that moves a point by no more, relative to it, leaves rounding alone


@final
@dataclass(frozen=True, eq=False)
class CompositeFixedPoints:
    """The fixed points of a method with a local solver on a composite problem. Raises InvalidInput where unknown."""

    method: Method
    problem: CompositeProblem
    solver: SmoothSolver

    def __post_init__(self) -> None:
        f = self.problem.problem
        rounds_of(self.method, f, "float", self.solver, regularizer=self.problem.regularizer)  # refuses bad input
        known = self._is_stationary or (isinstance(f, QuadraticProblem) and is_average(self.method, self.solver))
        if not (known or self._contraction is not None):
            raise InvalidInput("method", self.method, "has fixed points that are not known with this regulariser", CURE)
        if isinstance(f, QuadraticProblem) and not is_positive_definite(self._phi):
            problem = "leaves the composite fixed points undetermined: their equation is not strictly monotone"
            raise InvalidInput("problem", self.problem, problem, "add a ridge, or use a smaller stepsize")

    def point(self, arithmetic: Arithmetic) -> Array:
        """The fixed point in that arithmetic: exact, in balls that contain it, or numeric."""
        if arithmetic.name == "exact" and not isinstance(self.problem.problem, QuadraticProblem):
            self._rounds(arithmetic, smooth=True)  # refuses losses that have no rational values
        if not (isinstance(self.problem.problem, QuadraticProblem) or self._is_stationary):
            return self._around_repeated(arithmetic) if arithmetic.name == "ball" else arithmetic.array(self._repeated)
        if not isinstance(self.problem.problem, QuadraticProblem):
            truth = ground_truth(self.problem)
            return truth.enclosure() if arithmetic.name == "ball" else arithmetic.array(truth.point)
        if arithmetic.name in ("exact", "ball") and isinstance(self.problem.regularizer, Separable):
            return arithmetic.array(arithmetics.get("exact").publish(self._rational))
        if arithmetic.name == "exact":
            return self._rational  # refuses
        return self._enclosed(arithmetic) if arithmetic.name == "ball" else arithmetic.array(self._candidate)

    @property
    def unique(self) -> bool | None:
        """True for quadratics, whose Φ is positive definite, and contractions; else where f is strongly convex."""
        known = isinstance(self.problem.problem, QuadraticProblem) or self._contraction is not None
        return True if known or np.isfinite(ground_truth(self.problem).distance_bound) else None

    @cached_property
    def attracting(self) -> bool | None:
        """Whether the method is proved to converge to the point from every start; None: not decided.

        Proximal steps lengthen no distance, so that 0 ≺ Φ ≺ 2I makes a round a contraction. FedDyn and FedPD are ADMM,
        FedSplit is Peaceman–Rachford splitting, with ψ beside the consensus constraint: both converge for every convex
        ψ on strongly convex clients with exact local solutions.
        """
        f = self.problem.problem
        if self._contraction is not None:
            return True
        if self.method.converges_on_strongly_convex and isinstance(self.solver, Exact):
            return True if all(f.strong_convexity_bound(k) > 0 for k in range(f.num_clients)) else None
        if not (isinstance(f, QuadraticProblem) and is_average(self.method, self.solver)):
            return None
        quadratic = QuadraticFixedPoints(self.method, f, self.solver)

        def below_two(arithmetic: Arithmetic) -> Matrix:
            phi = quadratic.equation(arithmetic).phi
            return arithmetic.identity(arithmetic.size(phi)) * arithmetic.scalar(2) - phi

        return True if is_positive_definite(below_two) else None

    @property
    def _is_stationary(self) -> bool:
        if is_average(self.method, self.solver):  # one gradient step: the proximal gradient method
            return not self.method.proximal_weight > 0 and getattr(self.solver, "steps", None) == 1
        return is_stationary(self.method, self.solver, self.problem.problem)

    @cached_property
    def _contraction(self) -> Any:
        """The factor by which a round contracts distances, on clients that are not quadratic; None where none is known.

        The proximal step lengthens no distance, so that the factor of the round without it is one.
        """
        f = self.problem.problem
        if isinstance(f, QuadraticProblem) or self._is_stationary:
            return None
        return SmoothFixedPoints(self.method, f, self.solver, self._rounds("float", smooth=True)).contraction

    def _rounds(self, arithmetic: Arithmetic | str, smooth: bool = False) -> Rounds:
        term = None if smooth else self.problem.regularizer
        return rounds_of(self.method, self.problem.problem, arithmetic, self.solver, regularizer=term)

    @cached_property
    def _repeated(self) -> np.ndarray:
        """The point to which rounds converge, by Anderson's extrapolation from the latest ones.

        A round from the extrapolated point replaces it, so that coordinates that ψ makes 0 are exactly 0.
        """
        rounds = self._rounds("float")
        with rounds.arithmetic.context():
            w = np.asarray(rounds.advance(State(np.zeros(self.problem.dim))).server)
            best, least, kept = w, np.inf, list[tuple[np.ndarray, np.ndarray]]()
            for _ in range(MOST_ROUNDS):
                moved = np.asarray(rounds.advance(State(w)).server)
                length = float(np.linalg.norm(moved - w))
                if length < least:
                    best, least = moved, length
                elif length > 10 * least:  # the extrapolation went astray: plain rounds from the best point converge
                    kept, w = [], best
                    continue
                if length <= ARRIVED * (1 + np.linalg.norm(moved)):
                    return moved
                kept = [*kept, (moved, moved - w)][-KEPT:]
                w = _extrapolated(kept)
        if least > TIGHT * (1 + np.linalg.norm(best)):
            raise NotConverged(f"the fixed point of {self.method} was not found in {MOST_ROUNDS} rounds; let a round "
                               "move more: a smaller mu, a larger stepsize")  # fmt: skip
        return best

    def _around_repeated(self, balls: Arithmetic) -> Array:
        """‖w − w*‖ ≤ ‖T(w) − w‖/(1 − q), with the round T evaluated in balls."""
        import flint

        with balls.context():
            w = balls.array(self._repeated)
            moved = self._rounds(balls).advance(State(w)).server
            radius = upper_float(norm(moved - w) / (1 - self._contraction))
            return np.array([flint.arb(float(x), radius) for x in self._repeated], dtype=object)

    def _terms(self, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        """Φ/τ and q/τ."""
        f = self.problem.problem
        assert isinstance(f, QuadraticProblem)
        if self._is_stationary:
            return f.weighted_hessian(arithmetic), f.weighted_linear_term(arithmetic)
        terms = QuadraticFixedPoints(self.method, f, self.solver).equation(arithmetic)
        with arithmetic.context():
            scale = 1 / self._stepsize(arithmetic)
            return terms.phi * scale, terms.q * scale

    def _stepsize(self, arithmetic: Arithmetic) -> Any:
        """τ, which depends on the method and the local steps alone."""
        rounds = rounds_of(self.method, self.problem.problem, arithmetic, self.solver)
        played = rounds.play(rounds.start(arithmetic.array(np.zeros(self.problem.dim))))
        assert played is not None
        return played.prox_stepsize()

    def _phi(self, arithmetic: Arithmetic) -> Matrix:
        return self._terms(arithmetic)[0]

    @cached_property
    def _candidate(self) -> np.ndarray:
        floats = arithmetics.get("float")
        phi, q = self._terms(floats)
        smooth = SmoothPart(lambda x: phi @ x - q, lambda x: phi, float(np.linalg.norm(phi, 2)))
        with floats.context():
            return minimise(smooth, self.problem.regularizer, np.zeros(self.problem.dim))

    @cached_property
    def _rational(self) -> Array:
        exact = arithmetics.get("exact")
        return exact_solution(*self._terms(exact), self.problem.regularizer, self._candidate)

    def _enclosed(self, balls: Arithmetic) -> Array:
        """The candidate, as far from the fixed point as its shortest subgradient over the least eigenvalue of Φ/τ."""
        import flint

        regularizer, floats = self.problem.regularizer, arithmetics.get("float")
        least = float(np.linalg.eigvalsh(self._terms(floats)[0])[0])
        modulus = smallest_eigenvalue_bound(self._phi, least, balls.settings[0])
        exact = regularizer.snapped(self._candidate)
        with balls.context():
            phi, q = self._terms(balls)
            gradient = balls.apply(phi, balls.array(exact)) - q
            length = norm(regularizer.shortest(gradient, exact, balls))
            radius = upper_float(length / modulus) if modulus > 0 else np.inf
            return np.array([flint.arb(float(x), radius) for x in self._candidate], dtype=object)


def _extrapolated(kept: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The affine combination of the latest points whose rounds' moves cancel best (Anderson 1965)."""
    point, move = kept[-1]
    if len(kept) == 1:
        return point
    points = np.stack([p - point for p, _ in kept[:-1]], axis=1)
    moves = np.stack([m - move for _, m in kept[:-1]], axis=1)
    found: np.ndarray = point - points @ np.linalg.lstsq(moves, move, rcond=1e-12)[0]
    return found
