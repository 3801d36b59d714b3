"""Fixed points for composite objectives f + ψ: w = prox_{τψ}(update of w), with all clients taking part.

Operator splitting (FedSplit, FedDyn, FedPD; `Formulas.centres`) whose proximal step has the stepsize of the clients'
rests exactly at the minimisers of f + ψ: v_k⁺ = v_k leaves θ_k = w, and with the answers' ∇F_k(w) = weight·(v_k − w) is
w = prox_{τψ}(mean(2w − v_k)) = prox_{τψ}(w − τ∇f(w)), τ = 1/weight. Where a round of quadratic clients is w ↦ w − (Φw −
q), Φ and q as in `fixed_points.equations`, the fixed points are the minimisers of ½wᵀΦw − qᵀw + τψ(w): unique where Φ
is positive definite, and rational for ℓ1 and boxes. On other smooth clients a round that contracts distances does so
with its proximal step, too: there its repetition finds the fixed point, and Banach's theorem bounds the distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import around, norm, upper_float
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.definiteness import is_positive_definite, smallest_eigenvalue_bound
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.fixed_points.formulas import Formulas
from fedconvex.fixed_points.linear_forms import refusing
from fedconvex.fixed_points.method_analysis import MethodAnalysis
from fedconvex.fixed_points.smooth_clients import SmoothFixedPoints
from fedconvex.ground_truths import ground_truth
from fedconvex.ground_truths.composite import SmoothPart, minimise
from fedconvex.ground_truths.rational_composites import exact_solution
from fedconvex.local_solvers import Exact
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
class CompositeFixedPoints(MethodAnalysis):
    """The fixed points of a method with a local solver on a composite problem. Raises InvalidInput where unknown."""

    def __post_init__(self) -> None:
        self._rounds("float")  # refuses bad input
        with refusing(self.method):
            Formulas.of(self.method, self.problem.problem, self.solver)
        if not (self._is_stationary or (self._is_quadratic and self.is_step) or self._contraction is not None):
            raise InvalidInput("method", self.method, "has fixed points that are not known with this regulariser", CURE)
        if self._is_quadratic and not is_positive_definite(lambda arithmetic: self._terms(arithmetic)[0]):
            problem = "leaves the composite fixed points undetermined: their equation is not strictly monotone"
            raise InvalidInput("problem", self.problem, problem, "add a ridge, or use a smaller stepsize")

    def located(self, arithmetic: Arithmetic, target_radius: float) -> Array:
        """The fixed point in that arithmetic: exact, in balls that contain it, or numeric."""
        found = self._point(arithmetic)
        self.confirm(found, arithmetic)
        return found

    def _point(self, arithmetic: Arithmetic) -> Array:
        if self._is_quadratic:
            separable = isinstance(self.problem.regularizer, Separable)
            if arithmetic.name == "exact" or (arithmetic.name == "ball" and separable):
                return arithmetic.array(self._rational)  # refuses what is not separable
            return self._enclosed(arithmetic) if arithmetic.name == "ball" else arithmetic.array(self._candidate)
        if arithmetic.name == "exact":
            self._rounds(arithmetic)  # refuses losses that have no rational values
        if not self._is_stationary:
            return self._around_repeated(arithmetic) if arithmetic.name == "ball" else arithmetic.array(self._repeated)
        truth = ground_truth(self.problem)
        return truth.enclosure() if arithmetic.name == "ball" else arithmetic.array(truth.point)

    @property
    def unique(self) -> bool | None:
        """True for quadratics, whose Φ is positive definite, and contractions; else where f is strongly convex."""
        known = self._is_quadratic or self._contraction is not None
        return True if known or np.isfinite(ground_truth(self.problem).distance_bound) else None

    @cached_property
    def attracting(self) -> bool | None:
        """Whether the method is proved to converge to the point from every start; None: not decided.

        Proximal steps lengthen no distance, so that 0 ≺ Φ ≺ 2I makes a round a contraction. Operator splitting, with ψ
        beside the consensus constraint, converges for every convex ψ on strongly convex clients with exact local
        solutions.
        """
        f = self.problem.problem
        if self._contraction is not None:
            return True
        if self._is_splitting and isinstance(self.solver, Exact):
            return True if all(f.strong_convexity_bound(k) > 0 for k in range(f.num_clients)) else None
        return True if self._is_quadratic and self.is_step and self._without_term.is_below_two else None

    @cached_property
    def _without_term(self) -> Any:
        """The method's fixed points on the clients' functions alone."""
        kind = QuadraticFixedPoints if isinstance(self.problem.problem, QuadraticProblem) else SmoothFixedPoints
        return kind(self.method, self.problem.problem, self.solver)

    @property
    def _is_quadratic(self) -> bool:
        return isinstance(self._without_term, QuadraticFixedPoints)

    @property
    def _is_splitting(self) -> bool:
        """Whether a round is operator splitting with ψ beside the consensus constraint."""
        found = self.formulas.centres if self.formulas is not None else None
        return found is not None and found.takes_proximal_steps

    @cached_property
    def _is_stationary(self) -> bool:
        assert self.formulas is not None
        if self.is_step:  # one gradient step: the proximal gradient method
            one = not self.method.proximal_weight > 0 and getattr(self.solver, "steps", None) == 1
            return one and bool((self.formulas.step == self.formulas.weights).all())
        return self._is_splitting and self.formulas.stationary(self.solver, self.problem.problem) is not None

    @property
    def _contraction(self) -> Any:
        """The factor by which a round contracts distances, on clients that are not quadratic; None where none is known.

        The proximal step lengthens no distance, so that the factor of the round without it is one.
        """
        return None if self._is_quadratic or self._is_stationary else self._without_term.contraction

    def _rounds(self, arithmetic: Arithmetic | str) -> Rounds:
        problem = self.problem
        return rounds_of(self.method, problem.problem, arithmetic, self.solver, regularizer=problem.regularizer)

    @cached_property
    def _repeated(self) -> np.ndarray:
        """The point to which rounds converge, by Anderson's extrapolation from the latest ones.

        A round from the extrapolated point replaces it, so that coordinates that ψ makes 0 are exactly 0.
        """
        rounds = self._rounds("float")
        with rounds.arithmetic.context():
            w = np.asarray(rounds.advance(rounds.start(np.zeros(self.problem.dim))).server)
            best, least, kept = w, np.inf, list[tuple[np.ndarray, np.ndarray]]()
            for _ in range(MOST_ROUNDS):
                moved = np.asarray(rounds.advance(rounds.start(w)).server)
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
        rounds = self._rounds(balls)
        with balls.context():
            w = balls.array(self._repeated)
            moved = rounds.advance(rounds.start(w)).server
            return around(self._repeated, upper_float(norm(moved - w) / (1 - self._contraction)))

    def _terms(self, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        """Φ/τ and q/τ."""
        f = self.problem.problem
        if self._is_stationary:
            return f.weighted_hessian(arithmetic), f.weighted_linear_term(arithmetic)
        terms, rounds = self._without_term.equation(arithmetic), rounds_of(self.method, f, arithmetic, self.solver)
        with arithmetic.context():  # τ depends on the method and the local steps alone
            played = rounds.play(rounds.start(arithmetic.array(np.zeros(self.problem.dim))))
            assert played is not None
            scale = 1 / played.prox_stepsize()
            return terms.phi * scale, terms.q * scale

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
        regularizer, floats = self.problem.regularizer, arithmetics.get("float")
        least = float(np.linalg.eigvalsh(self._terms(floats)[0])[0])
        modulus = smallest_eigenvalue_bound(lambda arithmetic: self._terms(arithmetic)[0], least, balls.settings[0])
        exact = regularizer.snapped(self._candidate)
        with balls.context():
            phi, q = self._terms(balls)
            gradient = balls.apply(phi, balls.array(exact)) - q
            length = norm(regularizer.shortest(gradient, exact, balls))
            radius = upper_float(length / modulus) if modulus > 0 else np.inf
            return around(self._candidate, radius)


def _extrapolated(kept: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The affine combination of the latest points whose rounds' moves cancel best (Anderson 1965)."""
    point, move = kept[-1]
    if len(kept) == 1:
        return point
    points = np.stack([p - point for p, _ in kept[:-1]], axis=1)
    moves = np.stack([m - move for _, m in kept[:-1]], axis=1)
    found: np.ndarray = point - points @ np.linalg.lstsq(moves, move, rcond=1e-12)[0]
    return found
