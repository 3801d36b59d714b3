"""Fixed points for composite objectives f + ψ: w = prox_{τψ}(update of w), with all clients taking part.

Splitting methods (FedSplit, FedDyn, FedPD) rest exactly at the minimisers of f + ψ, see `prox_stepsize` in their
files. On quadratic clients the other methods' update is w ↦ w − (Φw − q), Φ and q as in `fixed_points.equations`, so
that the fixed points are the minimisers of ½wᵀΦw − qᵀw + τψ(w): unique where Φ is positive definite, and rational for
ℓ1 and boxes.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import norm, upper_float
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.definiteness import is_positive_definite, smallest_eigenvalue_bound
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.equations import QuadraticFixedPoints, is_average, is_stationary
from fedconvex.ground_truths import ground_truth
from fedconvex.ground_truths.composite import SmoothPart, minimise
from fedconvex.ground_truths.rational_composites import exact_solution
from fedconvex.local_solvers import Exact
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import Method
from fedconvex.problems.composite import CompositeProblem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.regularizers import Separable
from fedconvex.runs.rounds import rounds_of

CURE = "give Exact(), one local step, or quadratic clients; runs (`simulate`) take every setting"


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
        if not (self._is_stationary or (isinstance(f, QuadraticProblem) and is_average(self.method, self.solver))):
            raise InvalidInput("method", self.method, "has fixed points that are not known with this regulariser", CURE)
        if isinstance(f, QuadraticProblem) and not is_positive_definite(self._phi):
            problem = "leaves the composite fixed points undetermined: their equation is not strictly monotone"
            raise InvalidInput("problem", self.problem, problem, "add a ridge, or use a smaller stepsize")

    def point(self, arithmetic: Arithmetic) -> Array:
        """The fixed point in that arithmetic: exact, in balls that contain it, or numeric."""
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
        """True for quadratics, whose Φ is positive definite; otherwise where f is proved strongly convex."""
        known = isinstance(self.problem.problem, QuadraticProblem)
        return True if known or np.isfinite(ground_truth(self.problem).distance_bound) else None

    @cached_property
    def attracting(self) -> bool | None:
        """Whether the method is proved to converge to the point from every start; None: not decided.

        Proximal steps lengthen no distance, so that 0 ≺ Φ ≺ 2I makes a round a contraction. FedDyn and FedPD are ADMM,
        FedSplit is Peaceman–Rachford splitting, with ψ beside the consensus constraint: both converge for every convex
        ψ on strongly convex clients with exact local solutions.
        """
        f = self.problem.problem
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
