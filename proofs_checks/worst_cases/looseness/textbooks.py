"""The worst cases that textbook bounds for one function are compared with."""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.parameters import in_rationals
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, Played, worst_case_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import shared, square
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    NotSmooth,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
)
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, first_state
from fedconvex.statements.statement import Statement
from fedconvex.theory import ghadimi_lan, nesterov, rockafellar

ONE = Fraction(1)


def _steps(stepsize: Any, rounds: Any, clients: Any, metric: str, bound: Any, power: int = 1) -> Played:
    question = {
        "method": fc.FedGD(stepsize=stepsize, local_steps=1), "clients": clients, "num_clients": 1,
        "rounds": int(rounds), "metric": metric,
    }  # fmt: skip
    return Played(question, bound, power)


@worst_case_of(nesterov.gradientstep)
def gradient_steps(statement: Statement, *, t: Any, stepsize: Any, mu: Any, L: Any) -> Played:
    """Gradient steps of any stepsize."""
    bound = statement(t=t, stepsize=stepsize, mu=mu, L=L, initial_distance=ONE)
    return _steps(stepsize, t, SmoothStronglyConvex(mu, L), "distance", bound, power=2)


@worst_case_of(nesterov.theorem2_1_15)
def best_steps(statement: Statement, *, t: Any, kappa: Any) -> Played:
    """Gradient steps with the best stepsize, for μ = 1 and L = κ."""
    bound = statement(t=t, kappa=kappa, initial_distance=ONE)
    return _steps(2 / (1 + kappa), t, SmoothStronglyConvex(1, kappa), "distance", bound, power=2)


@worst_case_of(nesterov.corollary2_1_2)
def convex_gap(statement: Statement, *, t: Any, L: Any) -> Played:
    """Gradient steps of size 1/L."""
    return _steps(1 / L, t, SmoothConvex(L), "gap", statement(t=t, L=L, D0=ONE))


@worst_case_of(nesterov.smoothfunctions)
def smooth_functions(statement: Statement, *, T: Any, stepsize: Any, L: Any) -> Played:
    """Gradient steps on functions of any curvature between −L and L."""
    bound = statement(T=T, stepsize=stepsize, L=L, delta=ONE)
    return _steps(stepsize, T, WeaklyConvex(L, L), "mean_gradient_norm", bound)


def _without_noise(statement: Statement, sigma2: Any, **numbers: Any) -> Any:
    """The bound for exact gradients, in which D has no part."""
    if sigma2 != 0:
        raise InvalidInput("sigma2", sigma2, "is not 0: noisy steps are not simulated", "give sigma2 = 0")
    return statement(sigma2=sigma2, D=ONE, **numbers)


@worst_case_of(ghadimi_lan.corollary2_2nonconvex)
def random_step(statement: Statement, *, N: Any, L: Any, sigma2: Any) -> Played:
    """The mean over N equal steps: each of the points is drawn with the same probability."""
    bound = _without_noise(statement, sigma2, N=N, L=L, delta=ONE)
    return _steps(1 / L, N, WeaklyConvex(L, L), "mean_gradient_norm", bound)


@worst_case_of(ghadimi_lan.corollary2_2convex)
def random_step_convex(statement: Statement, *, N: Any, L: Any, sigma2: Any) -> Played:
    """The same for convex functions and their gaps."""
    return _steps(1 / L, N, SmoothConvex(L), "mean_gap", _without_noise(statement, sigma2, N=N, L=L, D0=ONE))


def _proximal_steps(board: Board, stepsize: Any, t: int) -> Any:
    """The point after t proximal steps from the start: FedProx with a single client."""
    method = in_rationals(fc.FedProx(mu=1 / stepsize))
    state = first_state(method, shared("w"))
    for _ in range(t):
        state, _ = answered(method, fc.Exact(), board, state)
    return state.server


@worst_case_of(rockafellar.proximalstep)
def proximal_step(statement: Statement, *, stepsize: Any, mu: Any) -> Compared:
    """A proximal step on a function that need not be smooth."""
    board = Board(1, NotSmooth(mu))
    last = _proximal_steps(board, stepsize, 1)
    return Compared(board, square(last), square(shared("w")) * statement(stepsize=stepsize, mu=mu) ** 2, power=2)


@worst_case_of(rockafellar.convexfunctions)
def proximal_gap(statement: Statement, *, t: Any, stepsize: Any) -> Compared:
    """Proximal steps on a convex function that need not be smooth."""
    board = Board(1, NotSmooth(0))
    last = board.at(_proximal_steps(board, stepsize, int(t)))
    bound = statement(t=t, stepsize=stepsize, D0=ONE)
    return Compared(board, board.mean_value(last), square(shared("w")) * bound)
