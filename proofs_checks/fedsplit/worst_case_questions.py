"""FedSplit's Corollary 1: gradient steps on one client's subproblem, which no claim of a round says.

The worst cases of the other statements are read off their claims (`worst_cases.looseness.claimed`). √κ must be
rational, because the best stepsize contains it and the computation is exact.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.parameters import in_rationals
from fedconvex.problems.base import Subproblem
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, rational_root, worst_case_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import shared, square
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import solved
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedsplit


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
