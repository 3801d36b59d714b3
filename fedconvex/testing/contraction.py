"""Assertion that one round of a method contracts distances, decided in rationals."""

from itertools import product
from typing import Any

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.argument_order import method_then_problem
from fedconvex.arithmetic.balls import upper_float
from fedconvex.arithmetic.definiteness import is_positive_semidefinite, negative_direction
from fedconvex.arithmetic.rationals import float_array, to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.formulas import Formulas
from fedconvex.fixed_points.linear_forms import NotAffine, refusing
from fedconvex.fixed_points.one_round import OneRoundMap
from fedconvex.local_solvers import Exact as ExactSolution
from fedconvex.local_solvers.base import LocalSolver, SmoothSolver
from fedconvex.methods.base import Method
from fedconvex.parameters import is_scheduled
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem
from fedconvex.problems.quadratics import QuadraticClients, QuadraticProblem
from fedconvex.runs.rounds import Rounds, rounds_of
from fedconvex.testing.failures import refuted, undecided
from fedconvex.types import Exact

MOST_NUMBERS = 300  # the largest dimension of a method's state


@method_then_problem
def assert_contracts(
    method: Method, problem: Problem, factor: Exact, *, local_solver: LocalSolver | None = None
) -> None:
    """Assert that one round with all clients contracts distances by `factor` or less.

    Use it to test a claimed rate of convergence on given data. On least squares and quadratics a round is an affine map
    y ↦ Ty + q, and whether factor² I − TᵀT is positive semidefinite is decided in rationals. The norm is Euclidean:

    | method | y |
    |---|---|
    | without memory; DANE | the server's point |
    | FedSplit, RegularizedFedSplit, FedDyn, FedPD, FedADMM | all centres v_k of the clients' proximal steps |
    | others, and those above if inexact local work depends on more than v_k | the whole state of server and clients |

    The centres are 2x − z_k for FedSplit, as far apart as the z_k, and w + g_k/α for FedDyn.

    On logistic losses, for methods without memory, it averages bounds on the clients' own contraction factors: that can
    prove contraction, but not refute it.

    Args:
        method, problem: any method, any problem.
        factor: >= 0: int, Fraction, float, or a ball (flint arb) such as `fedsplit.contraction` returns.
        local_solver: default: the method's own.

    Raises:
        AssertionError: for some two states it is proved to fail; the message shows their difference.
        NotDecided: it was not proved (logistic losses, or a ball for `factor` that contains the least factor).
        InvalidInput: the method's rounds are not one fixed smooth map, or its state has more than 300 numbers.
    """
    _require(method, problem)
    low, high = _bounds(factor)
    solver = method.local_solver if local_solver is None else local_solver
    random = method.skip != 0 or method.compresses
    if not isinstance(solver, SmoothSolver) or random or is_scheduled(method) or is_scheduled(solver):
        problem_text = "has rounds that are random, or change: they are no map that could contract"
        raise InvalidInput("method", method, problem_text, "give a method with exact or gradient steps as local work")
    if not isinstance(problem, QuadraticProblem):
        _by_clients(method, problem, low, factor, solver)
        return
    rounds = rounds_of(method, problem, "exact", solver)
    state = rounds.start(rounds.arithmetic.array(np.zeros(problem.dim, dtype=int)))
    if len(state.flat()) > MOST_NUMBERS:
        cure = f"take fewer clients or unknowns, up to {MOST_NUMBERS}"
        raise InvalidInput("problem", problem, f"makes states of {len(state.flat())} numbers", cure)
    variable, T = _variable(rounds, solver)
    if _at_most(T, low):
        return
    # For a ball `factor` contraction is asserted for every number in it, and refuted if it fails for the largest.
    # in floats, for the message only: the decision above is exact
    least = float(np.linalg.norm(float_array(np.array(T.tolist(), dtype=object)), 2))
    norm = f"Euclidean, of {variable}"
    if _at_most(T, high):
        undecided(f"not decided: the factor {factor} contains the least one", norm=norm, least_one=least)
    y = negative_direction(_gap(T, high))
    assert y is not None
    before = flint.fmpq_mat(len(y), 1, list(y))
    after = T * before
    refuted(
        f"{method} does not contract by {factor} on {problem}",
        norm=norm,
        factor=factor,
        least_factor=f"{least:.10g} (numeric)",
        two_that_differ_by=before.entries(),
        then_differ_by=after.entries(),
        squared_distance_before=(before.transpose() * before)[0, 0],
        and_after=(after.transpose() * after)[0, 0],
    )


def _require(method: Any, problem: Any) -> None:
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.FedProx(mu=1)")
    require_problem(problem)


def _variable(rounds: Rounds, solver: SmoothSolver) -> tuple[str, flint.fmpq_mat]:
    """What y of `assert_contracts`'s table is, with the matrix of its round."""
    method, problem, exact = rounds.method, rounds.problem, rounds.arithmetic
    whole = OneRoundMap.of(rounds).M
    try:
        formulas = Formulas.of(method, problem, solver)
    except NotAffine:
        return "everything that server and clients keep", whole
    if method.is_stateless:
        return "the server's point", whole
    centres = formulas.centres
    if centres is None or not (isinstance(solver, ExactSolution) or formulas.starts_at_centres):
        return "everything that server and clients keep", whole
    assert isinstance(rounds.clients, QuadraticClients)
    assert isinstance(rounds.solver, SmoothSolver)
    moved, _ = rounds.solver.response(exact, rounds.clients.H, rounds.clients.c, method.proximal_weight)
    m, d = rounds.clients.num_clients, rounds.clients.dim
    identity = exact.identity(d)
    T = flint.fmpq_mat(m * d, m * d)
    for k, l in product(range(m), repeat=2):  # θ_l = v_l − R_l(H_l v_l − c_l)
        answer = identity - moved[l]
        block = (identity * centres.mean + answer * centres.mean_answer) * to_fmpq(rounds.weights[l])
        if k == l:
            block += identity * centres.own + answer * centres.answer
        for i, j in product(range(d), repeat=2):
            T[k * d + i, l * d + j] = block[i, j]
    return "the centres v_k of the clients' proximal steps", T


def _by_clients(method: Method, problem: Problem, low: Any, factor: Any, solver: SmoothSolver) -> None:
    """Asserts Σ_k weights_k q_k <= factor, where q_k bounds the contraction factor of client k's local solution."""
    with refusing(method):
        shares = Formulas.of(method, problem, solver).step
    if shares is None:
        undecided(f"on {problem}, contraction is only known of averages without memory", method=str(method))
    balls = arithmetics.get("ball")
    with balls.context():
        rounds = rounds_of(method, problem, balls, solver)
        assert isinstance(rounds.solver, SmoothSolver)
        weight = rounds.method.proximal_weight
        own = [rounds.solver.contraction(problem, k, weight) for k in range(problem.num_clients)]
        total = balls.average(balls.array(abs(shares)), np.array(own, dtype=object)) + abs(1 - shares.sum())
        if not total <= flint.arb(low):
            norm = "Euclidean, of the server's point"
            headline = f"not proved that {method} contracts by {factor} on {problem}"
            undecided(headline, norm=norm, factor=factor, proved_of_the_clients=own, proved=upper_float(total))


def _at_most(T: flint.fmpq_mat, factor: Any) -> bool:
    gap = _gap(T, factor)
    return is_positive_semidefinite(lambda numbers: flint.arb_mat(gap) if numbers.name == "ball" else gap)


def _gap(T: flint.fmpq_mat, factor: Any) -> flint.fmpq_mat:
    """factor² I − TᵀT."""
    size = T.ncols()
    return (
        flint.fmpq_mat(size, size, [factor**2 * (i == j) for i in range(size) for j in range(size)]) - T.transpose() * T
    )


def _bounds(factor: Any) -> tuple[Any, Any]:
    """The lower and upper bound of the factor as exact numbers; equal unless it is a ball."""
    if type(factor).__name__ == "arb":
        if not factor.is_finite():
            raise InvalidInput("factor", factor, "is not finite", "give a ball with finite bounds")
        low, high = (_dyadic(end) for end in (factor.lower(), factor.upper()))
    else:
        low = high = to_fmpq(factor, "factor")
    if low < 0:
        raise InvalidInput("factor", factor, "is negative", "give factor >= 0")
    return low, high


def _dyadic(end: Any) -> Any:
    mantissa, exponent = end.mid().man_exp()  # exact: the bounds of a ball are dyadic rationals
    return flint.fmpq(mantissa) * flint.fmpq(2) ** int(exponent)
