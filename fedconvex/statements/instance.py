"""Instances: a problem with a method and a participation scheme, and the constants that papers' bounds take.

Each constant is a ball that is proved to contain the true constant, or to bound it on the side that theorems need (L
from above, mu from below).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import square_root_upper
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Full, Participation
from fedconvex.problems.base import Problem, Subproblem
from fedconvex.problems.composite import require_problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.statements import local_accuracy
from fedconvex.statements.assumptions.heterogeneity import gradient_bound, objective_gap, similarity
from fedconvex.statements.curvatures import ClientCurvatures, ObjectiveCurvatures
from fedconvex.statements.setting import Unmeasured as Unmeasured
from fedconvex.step_numbers import common_steps
from fedconvex.stepsizes import StepsizeSchedule
from fedconvex.validation import integer_at_least, points

PRECISION = 128


def in_balls(compute: "Callable[[Instance], Any]") -> "cached_property[Any]":
    """A constant of an instance that is computed at the balls' precision, once."""

    @wraps(compute)
    def computed(self: "Instance") -> Any:
        with self.context():
            return compute(self)

    return cached_property(computed)


def of_method(name: str, meaning: str) -> "cached_property[Any]":
    """The method's parameter of that name, as a constant of an instance."""

    def read(self: "Instance") -> Any:
        return _of_method(self, name)

    read.__doc__ = meaning
    return cached_property(read)


def _of_method(instance: "Instance", name: str) -> Any:
    if not hasattr(instance.method, name):
        raise Unmeasured(f"{type(instance.method).__name__} has no {name}")
    if isinstance(value := getattr(instance.method, name), StepsizeSchedule):
        raise Unmeasured(f"{name} changes from round to round")
    return value


@final
@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with a method, a local solver, a participation scheme, a point w and a number of rounds.

    Use it to evaluate bounds on concrete data, and to check the assumptions of theorems there. Constants are computed
    when they are first read, and raise `Unmeasured` where they are not available.
    """

    problem: Problem
    method: Method
    participation: Any = None  # default: all clients in every round
    local_solver: Any = None  # default: the method's own
    point: Any = None  # default: the origin
    rounds: int | None = None

    def __post_init__(self) -> None:
        _require_kind("problem", self.problem, Problem)
        _require_kind("method", self.method, Method)
        participation = self.participation if self.participation is not None else Full()
        solver = self.local_solver if self.local_solver is not None else self.method.local_solver
        _require_kind("participation", participation, Participation)
        _require_kind("local_solver", solver, LocalSolver)
        if self.rounds is not None:
            integer_at_least(self.rounds, 1, "rounds")
        participation.require(self.problem, self.rounds or 1)
        point = np.zeros(self.problem.dim)
        if self.point is not None:
            point = points(self.point, "x0", [(self.problem.dim,)])
        for name, value in (("participation", participation), ("local_solver", solver), ("point", point)):
            object.__setattr__(self, name, value)

    def measure(self, quantity: str) -> Any:
        """The constant of this name; raises Unmeasured with the reason where it is not available."""
        try:
            return getattr(self, quantity)
        except Unmeasured:
            raise
        except FedconvexError as error:
            raise Unmeasured(str(error)) from None

    def number(self, value: Any) -> Any:
        """The value as a ball."""
        return self._balls.scalar(value)

    def context(self) -> Any:
        """A context in which balls have the working precision of the measured constants."""
        return self._balls.context()

    # ---- curvature ----

    @cached_property
    def curvatures(self) -> ClientCurvatures:
        """Curvature bounds of the clients' functions, scaled as in the method's paper."""
        return ClientCurvatures(self.problem, self.method.scale(self.problem), self._balls)

    @cached_property
    def objective_curvatures(self) -> ObjectiveCurvatures:
        """Curvature bounds of the objective."""
        return ObjectiveCurvatures(self.problem, self._balls)

    @property
    def smoothness(self) -> Any:
        """An upper bound of the largest L_k."""
        return self.curvatures.smoothness

    @cached_property
    def mu(self) -> Any:
        """A lower bound of the strong convexity of all clients."""
        if not self.curvatures.strong_convexity > 0:
            raise Unmeasured("no client-wise strong convexity: a client's least curvature is not proved positive")
        return self.curvatures.strong_convexity

    @cached_property
    def weak_convexity(self) -> Any:
        """An upper bound of L_minus: no client's Hessian has an eigenvalue below −L_minus; 0 for convex clients."""
        least = self.curvatures.strong_convexity
        # the bound of a convex client may be slightly negative from rounding: `is_convex` is exact
        return self.number(0) if least >= 0 or self.problem.is_convex else -least

    @cached_property
    def condition_number(self) -> Any:
        """An upper bound of κ in the FedSplit paper's Theorem 1, for the stepsize of this method."""
        return self._condition_number(self.mu, self.smoothness)

    @property
    def objective_smoothness(self) -> Any:
        """An upper bound of the objective's smoothness: Σ_k weights_k L_k."""
        return self.objective_curvatures.smoothness

    @cached_property
    def objective_convexity(self) -> Any:
        """A lower bound of the objective's strong convexity: Σ_k weights_k mu_k."""
        if not self.objective_curvatures.strong_convexity > 0:
            raise Unmeasured("the objective is not proved strongly convex")
        return self.objective_curvatures.strong_convexity

    @in_balls
    def objective_condition(self) -> Any:
        """An upper bound of the objective's condition number."""
        return (self.objective_smoothness / self.objective_convexity).max(1).upper()  # κ >= 1 by definition

    def possible(self, quantity: str) -> Any:
        """A ball that contains the true constant; `measure` gives only one bound of it."""
        clients, objective = self.curvatures, self.objective_curvatures
        with self._balls.context():
            match quantity:
                case "smoothness":
                    other = clients.attained_smoothness
                case "mu":
                    other = clients.attained_convexity
                case "weak_convexity":
                    other = (-clients.attained_convexity).max(0)
                case "inexactness":
                    other = self.number(0)
                case "condition_number":
                    other = self.least_condition_number
                case "objective_smoothness":
                    other = objective.attained_smoothness
                case "objective_convexity":
                    other = objective.attained_convexity
                case "objective_condition":
                    other = (objective.attained_smoothness / objective.attained_convexity).max(1).lower()
                case _:
                    return self.measure(quantity)
            return self.number(self.measure(quantity)).union(other)

    @cached_property
    def least_condition_number(self) -> Any:
        """A lower bound of `condition_number`."""
        return self._condition_number(self.curvatures.attained_convexity, self.curvatures.attained_smoothness).lower()

    def _condition_number(self, mu: Any, L: Any) -> Any:
        """max(1/(s mu), s L)², the least κ = L'/mu' with mu' <= mu, L' >= L and s = 1/√(mu'·L').

        The theorem needs the stepsize 1/√(mu·L); every s is of this form for weaker constants mu' and L'.
        """
        with self._balls.context():
            s = self.number(self.stepsize)
            return (1 / (s * mu)).max(s * L) ** 2

    # ---- the point ----

    @in_balls
    def gradients(self) -> Any:
        """The clients' gradients ∇F_k(w), an (m, d) array of balls."""
        return self._functions.gradients(self._ball_point)

    @in_balls
    def client_gradient(self) -> Any:
        """The largest ‖∇F_k(w)‖."""
        squares = [square_root_upper((row * row).sum()) for row in self.gradients]
        return max(squares, key=lambda ball: ball.upper())  # the true maximum is at most this ball's upper bound

    @in_balls
    def square(self) -> Any:
        """‖∇f(w)‖²."""
        mean = self._balls.average(self._weights, self.gradients)
        return (mean * mean).sum()

    @in_balls
    def gradient(self) -> Any:
        """‖∇f(w)‖."""
        return square_root_upper(self.square)

    @in_balls
    def mean_square(self) -> Any:
        """E_k‖∇F_k(w)‖²."""
        return self._balls.average(self._weights, (self.gradients * self.gradients).sum(-1))

    @cached_property
    def dissimilarity(self) -> Any:
        """B(w)."""
        if not self.square > 0:
            raise Unmeasured("B(w) needs a point where the objective's gradient is not 0")
        with self._balls.context():
            return (self.mean_square / self.square).sqrt()

    @in_balls
    def gradient_variance(self) -> Any:
        """E_k‖∇F_k(w) − ∇f(w)‖²."""
        deviations = self.gradients - self._balls.average(self._weights, self.gradients)
        return self._balls.average(self._weights, (deviations * deviations).sum(-1))

    @in_balls
    def value(self) -> Any:
        """f(w)."""
        return self._balls.average(self._weights, self._functions.values(self._ball_point))

    # ---- the minimiser ----

    @cached_property
    def minimizer(self) -> Any:
        """Balls (d,) that contain the objective's minimiser."""
        from fedconvex.ground_truths import ground_truth

        truth = ground_truth(self.problem)
        if not np.isfinite(truth.distance_bound):
            raise Unmeasured("the minimiser is not enclosed: the objective is not proved strongly convex")
        with self._balls.context():
            import flint

            # |point_i − x*_i| <= ‖point − x*‖ in every coordinate
            return np.array([flint.arb(float(x), truth.distance_bound) for x in truth.point], dtype=object)

    @in_balls
    def squared_distance(self) -> Any:
        """‖w − x*‖²."""
        difference = self._ball_point - self.minimizer
        # a square enclosed near 0 may reach below 0, where it cannot be
        return (difference * difference).sum().nonnegative_part()

    @in_balls
    def distance(self) -> Any:
        """‖w − x*‖."""
        return square_root_upper(self.squared_distance)

    @in_balls
    def stacked_distance(self) -> Any:
        """‖z⁽¹⁾ − z*‖ of FedSplit, started at w: z_k* = x* − s∇F_k(x*) for F_k scaled to a sum."""
        at_minimizer = self._functions.gradients(self.minimizer)
        z = self.minimizer - self.number(self.stepsize) * at_minimizer
        difference = self._ball_point - z
        return square_root_upper((difference * difference).sum())

    @in_balls
    def sigma_star2(self) -> Any:
        """σ*² = mean_k‖∇F_k(x*)‖², with the weights of the server's average: the heterogeneity at the minimiser."""
        at_minimizer = self._functions.gradients(self.minimizer)
        return self._balls.average(self._weights, (at_minimizer * at_minimizer).sum(-1)).nonnegative_part()

    @in_balls
    def sigma_star(self) -> Any:
        """The root of σ*²."""
        return square_root_upper(self.sigma_star2)

    @in_balls
    def objective_gap(self) -> Any:
        """Γ = f(x*) − Σ_k p_k min F_k, with the weights of the server's average."""
        scale = self.method.scale(self.problem)
        return objective_gap(self.problem, scale, self.mu, self._weights, self.minimizer, self._balls)

    @in_balls
    def gradient_bound(self) -> Any:
        """An upper bound of ‖∇F_k‖ for all clients at all points."""
        return gradient_bound(self.problem, self.curvatures.scale, self._balls)

    @in_balls
    def similarity(self) -> Any:
        """An upper bound δ of ‖∇²F_k − ∇²f‖ for all clients at all points."""
        scale = self.method.scale(self.problem)
        return similarity(self.problem, scale, self.curvatures, self.objective_curvatures)

    @in_balls
    def initial_gap(self) -> Any:
        """f(w) − f(x*)."""
        differences = self._functions.differences(self._ball_point, self.minimizer)
        return self._balls.average(self._weights, differences).nonnegative_part()

    @cached_property
    def spread(self) -> Any:
        """(1/m) Σ_k‖θ_k⁰ − w‖² for θ_k⁰ the minimiser of F_k."""
        if not self.curvatures.strong_convexity > 0 or not isinstance(self.problem, QuadraticProblem):
            raise Unmeasured("the stationary points of the clients' own functions are not enclosed")
        with self._balls.context():
            start = self._functions.rows(self._ball_point)
            difference = self._functions.minimise(Subproblem(start=start)) - start
            return (difference * difference).sum() / self.problem.num_clients

    # ---- the method and the participation scheme ----

    stepsize = of_method("stepsize", "The method's stepsize s.")
    probability = of_method("probability", "The method's probability p of a communication.")
    server_stepsize = of_method("server_stepsize", "The method's `server_stepsize`.")

    @cached_property
    def local_steps(self) -> Any:
        """The number of the method's local steps, the same for all clients."""
        if (common := common_steps(_of_method(self, "local_steps"))) is None:
            raise Unmeasured("the clients take different numbers of local steps")
        return common

    alpha = of_method("alpha", "The method's α.")
    regularization = of_method("regularization", "The regularisation λ of RegularizedFedSplit.")
    proximal_weight = of_method("mu", "The weight μ of FedProx's proximal term.")
    gradient_weight = of_method("eta", "The weight η of the gradient term in DANE.")

    @cached_property
    def inexactness(self) -> Any:
        """A γ for which every local solution is proved to be γ-inexact (FedProx paper, Definition 1)."""
        return local_accuracy.inexactness(self.local_solver, self.method, self.curvatures, self._balls)

    @property
    def prox_error(self) -> Any:
        """An upper bound b of the distance from a computed proximal point to the true one."""
        return local_accuracy.prox_error(self.local_solver)

    @cached_property
    def step_contraction(self) -> Any:
        """The contraction factor of one local gradient step."""
        return local_accuracy.step_contraction(self.local_solver, self.method, self.curvatures, self._balls)

    @property
    def everyone(self) -> bool:
        """Whether all clients take part in every round."""
        return bool(self.participation.takes_everyone(self.problem))

    @property
    def num_clients(self) -> int:
        """The number m of clients."""
        return self.problem.num_clients

    @property
    def num_drawn(self) -> int:
        """The number K of draws in a round; a device drawn twice counts twice."""
        if self.everyone:
            return self.problem.num_clients
        if not hasattr(self.participation, "K"):
            raise Unmeasured("the number of devices in a round is not fixed")
        return int(self.participation.K)

    @property
    def num_active(self) -> int:
        """The number P of different devices that take part in a round."""
        if type(self.participation).__name__ == "Weighted":
            raise Unmeasured("the number of different devices in a round is not fixed")
        return self.num_drawn

    @property
    def num_rounds(self) -> int:
        """The number T of rounds."""
        if self.rounds is None:
            raise Unmeasured("not given: rounds")
        return self.rounds

    # ---- helpers ----

    @cached_property
    def _balls(self) -> Any:
        return arithmetics.get("ball", precision=PRECISION)

    @cached_property
    def _weights(self) -> Any:
        return self._balls.array(np.array(self.method.average_weights(self.problem), dtype=object))

    @cached_property
    def _functions(self) -> Any:
        return self.problem.clients(self._balls, self.method.scale(self.problem))

    @cached_property
    def _ball_point(self) -> Any:
        return self._balls.array(self.point)


def _require_kind(name: str, value: Any, kind: type) -> None:
    if kind is Problem:
        require_problem(value, name)
    if not isinstance(value, kind):
        raise InvalidInput(name, value, f"is not a {kind.__name__}", f"give a {kind.__name__} of fedconvex")
