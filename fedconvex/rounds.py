"""The rounds of one method on one problem in one arithmetic: the only place where method, solver and problem meet."""

from collections.abc import Callable
from dataclasses import dataclass

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.parameters import in_arithmetic
from fedconvex.problems.base import Clients, Problem
from fedconvex.rationals import Array


@dataclass(frozen=True, eq=False)
class Rounds:
    """`start`, then `advance` again and again; everything inside `arithmetic.context()`."""

    method: Method
    solver: LocalSolver
    clients: Clients
    arithmetic: Arithmetic
    weights: Array  # of the server's average

    def start(self, x0: Array) -> State:
        """The first state, from the server's first point (d,)."""
        return self.method.start(self.clients.rows(x0))

    def advance(self, state: State) -> State:
        """One round."""
        points = self.clients.rows(state.server)
        answers = self.solver.solve(self.clients, self.method.subproblem(state, points))
        return self.method.update(state, points, answers, self._average)

    def tangent(self, state: State) -> Callable[[State], State]:
        """The derivative of one round at `state`, as a linear map on changes of the state.

        Methods are linear in their state, so their own lines also carry the changes; only the local solver has a
        derivative of its own. For quadratic clients and fixed local work, this is the linear part of the round itself.
        """
        points = self.clients.rows(state.server)
        subproblem = self.method.subproblem(state, points)
        answers = self.solver.solve(self.clients, subproblem)
        derivative = self.solver.tangent(self.clients, subproblem, answers)

        def change_of_next(change: State) -> State:
            moved = self.clients.rows(change.server)
            return self.method.update(change, moved, derivative(self.method.subproblem(change, moved)), self._average)

        return change_of_next

    def _average(self, stack: Array) -> Array:
        return self.arithmetic.average(self.weights, stack)


def rounds_of(
    method: Method,
    problem: Problem,
    arithmetic: "str | Arithmetic" = "float",
    local_solver: LocalSolver | None = None,
) -> Rounds:
    """The rounds, after checking that the clients' subproblems have exactly one solution each.

    Raises:
        InvalidInput: a subproblem that is unbounded below or has many minimisers, a logistic loss in exact arithmetic.
    """
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.FedProx(mu=1)")
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "is not a problem", "give for example fedconvex.LeastSquares(A=…, b=…)")
    arithmetic = arithmetics.get(arithmetic)
    solver = local_solver if local_solver is not None else method.local_solver
    if not isinstance(solver, LocalSolver):
        raise InvalidInput("local_solver", solver, "is not a local solver", "give for example fedconvex.Exact()")
    exact = in_arithmetic(method, arithmetics.get("exact"))
    solver.require(problem, method.scale(problem), exact.proximal_weight)
    with arithmetic.context():
        return Rounds(
            method=in_arithmetic(method, arithmetic),
            solver=in_arithmetic(solver, arithmetic),
            clients=problem.clients(arithmetic, method.scale(problem)),
            arithmetic=arithmetic,
            weights=arithmetic.array(list(method.average_weights(problem))),
        )
