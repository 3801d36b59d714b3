"""FedSplit: the worst-case problems whose exact values its bounds are compared with, for exact proximal steps (b = 0).

√κ must be rational, because the best stepsize contains it and the computation is exact.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.methods.base import State
from fedconvex.problems.base import Subproblem
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, rational_root, worst_case_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import mean, shared, square
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.questions.specification import in_rationals
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, solved
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit

# ‖z − z*‖/√m = 1 for a number of clients whose root is rational; the worst case is the same for any number.
OF_START = {"initial_distance": Fraction(2), "num_clients": Fraction(4)}


def _server(method: fc.FedSplit, mu: Any, L: Any, t: Any, bound: Any) -> Compared:
    """The server's distance after t rounds, from any z with ‖z − z*‖/√m = 1."""
    board = Board(2, SmoothStronglyConvex(mu, L))
    method = in_rationals(method)
    z = board.vectors("z")
    state = State(mean(z), memory={"z": z})
    for _ in range(int(t)):
        state, _ = answered(method, fc.Exact(), board, state)
    fixed = board.minimiser_gradients * -method.stepsize
    return Compared(board, square(state.server), square(z - fixed) * bound**2, power=2)


@worst_case_of(fedsplit.theorem1, fedsplit.equation16)
def theorem1(statement: Statement, *, t: Any, kappa: Any) -> Compared:
    """With ℓ_* = 1 and L^* = κ: the bound is invariant under scaling of f and of x."""
    method = fc.FedSplit(stepsize=1 / rational_root(kappa, "kappa", "√κ"))
    return _server(method, 1, kappa, t, statement(t=t, kappa=kappa, **OF_START))


@worst_case_of(fedsplit.theorem1sharper)
def any_stepsize(statement: Statement, *, t: Any, stepsize: Any, mu: Any, L: Any) -> Compared:
    bound = statement(t=t, stepsize=stepsize, mu=mu, L=L, **OF_START)
    return _server(fc.FedSplit(stepsize=stepsize), mu, L, t, bound)


@worst_case_of(fedsplit.corollary1, fedsplit.equation18, fedsplit.corollary1sharper)
def local_steps(statement: Statement, *, kappa: Any, local_steps: Any) -> Compared:
    """Gradient steps on sf + ½‖· − x‖², from x, with ℓ_* = 1 and L^* = κ; the subproblem here is that divided by s."""
    root = rational_root(kappa, "kappa", "√κ")
    s, alpha = 1 / root, fedsplit.local_stepsize(mu=Fraction(1), L=kappa)
    board = Board(1, SmoothStronglyConvex(1, kappa), minimiser=False)
    x = shared("x")
    subproblem = Subproblem(start=x, linear=None, weight=to_fmpq(root), center=x)
    solver = in_rationals(fc.GradientDescent(steps=int(local_steps), stepsize=Fraction(alpha) * s))
    last, solution = solved(board, solver, subproblem).points, solved(board, fc.Exact(), subproblem).points
    bound = statement(kappa=kappa, local_steps=local_steps, start_distance=Fraction(1))
    return Compared(board, square(last - solution), square(x - solution) * bound**2, power=2)
