"""Error floors that quadratics attain, exactly: where a method's fixed point is, or how noise spreads around it."""

from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.proofs_checks.search.lyapunov.priced_rounds import PricedRound
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import BETWEEN, OnALine, trial_federations
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import QuadraticBoard
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ONE, ZERO, Family
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes

PULL = Family({(DEVIATION, "pull"): -ONE})  # minus the clients' gradients at the minimiser


class _Disturbed:
    """A quadratic board whose gradients have something added: a new number each time, or the same pull."""

    def __init__(self, board: QuadraticBoard, cause: str) -> None:
        self.board, self.cause, self.count = board, cause, 0

    def gradient(self, point: Family) -> Family:
        if self.cause == "heterogeneity":
            return _plus(self.board.gradient(point), -PULL)
        self.count += 1
        # the noise of the clients' mean alone, as they are all alike
        return _plus(self.board.gradient(point), Family({(MEAN, f"noise {self.count}"): ONE}))

    def minimise(self, subproblem: Any, left: Any = None) -> Family:
        return self.board.minimise(subproblem, PULL if left is None else left + PULL)


def _plus(u: Family, v: Family) -> Family:
    total: Family = u + v
    return total


def attained_floor(
    posed: PricedRound, solver: LocalSolver, functions: FunctionClass, cause: str, variance: Fraction
) -> Fraction:
    """The largest squared error, per unit of σ² or ζ*², that some trial federations keep; 0 where none is known.

    `variance`: of the clients' mean noise, in units of σ².
    """
    low, high = functions.lowest, functions.highest
    if cause == "noise":
        alike = [low + (high - low) * Fraction(i, BETWEEN) for i in range(BETWEEN + 1)]
        return variance * max(_spread(posed, solver, OnALine(a, a, Fraction(1))) for a in dict.fromkeys(alike))
    return max(_bias(posed, solver, one) for one in trial_federations(functions, "any"))


def _spread(posed: PricedRound, solver: LocalSolver, federation: OnALine) -> Fraction:
    """The stationary E‖w − x*‖² of clients that are all alike, whose mean gradients have noise of variance 1."""
    found, names = posed.coordinates, posed.coordinates.mean.names
    n = len(names)
    values = {(MEAN, i): Family({(MEAN, f"{MEAN} {i}"): ONE}) for i in range(n)}
    values |= {(DEVIATION, i): Family() for i in range(len(found.deviation.names))}
    board = _Disturbed(QuadraticBoard(federation, 0), "noise")
    total, right = _identity(n * n), [ZERO] * (n * n)
    for chance, state in outcomes(found.method, solver, board, found.state(values)):
        after = found.of(state)
        rows = [after[MEAN, i].parts for i in range(n)]
        M = [[row.get((MEAN, f"{MEAN} {j}"), ZERO) for j in range(n)] for row in rows]
        B = [[row.get((MEAN, f"noise {j + 1}"), ZERO) for j in range(board.count)] for row in rows]
        for i in range(n):
            for j in range(n):
                right[i * n + j] += chance * sum((x * y for x, y in zip(B[i], B[j], strict=True)), ZERO)
                for k in range(n):
                    for q in range(n):
                        total[i * n + j][k * n + q] -= chance * M[i][k] * M[j][q]
    try:
        second = fmpq_mat(total).solve(fmpq_mat([[x] for x in right])).tolist()
    except ZeroDivisionError:  # errors that do not decrease
        return Fraction(0)
    size = sum((posed.measured[i] * posed.measured[j] * second[i * n + j][0] for i in range(n) for j in range(n)), ZERO)
    return max(to_fraction(size), Fraction(0))


def _bias(posed: PricedRound, solver: LocalSolver, federation: Any) -> Fraction:
    """The squared distance of a memoryless method's fixed point from the minimiser, where mean‖∇F_k(x*)‖² = 1."""
    found = posed.coordinates
    board = _Disturbed(QuadraticBoard(federation, 0), "heterogeneity")
    begun = {(MEAN, 0): Family({(MEAN, "w"): ONE})}
    [(_, state)] = outcomes(found.method, solver, board, found.state(begun))
    after = found.of(state)[MEAN, 0].parts
    left = 1 - after.get((MEAN, "w"), ZERO)
    if not left:
        return Fraction(0)
    share = federation.share if isinstance(federation, OnALine) else None
    if share == 1:
        return Fraction(0)
    # The two groups' deviations are 1 − p and −p times the coordinate, in a plane they have its length.
    size = ONE if share is None else to_fmpq(share * (1 - share))
    return to_fraction((after.get((MEAN, "pull"), ZERO) / left) ** 2 / size)


def _identity(n: int) -> list[list[Any]]:
    return [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]
