"""Assertion that one round of a method contracts distances, decided in rationals."""

from dataclasses import dataclass
from typing import Any, final

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.argument_order import method_then_problem
from fedconvex.arithmetic.balls import upper_float
from fedconvex.arithmetic.definiteness import is_positive_semidefinite, negative_direction
from fedconvex.arithmetic.rationals import float_array, to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.equations import is_average
from fedconvex.fixed_points.one_round import OneRoundMap
from fedconvex.local_solvers.base import LocalSolver, SmoothSolver
from fedconvex.methods.base import Method, State
from fedconvex.parameters import is_scheduled
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import Rounds, rounds_of
from fedconvex.testing.failures import refuted, undecided
from fedconvex.types import Exact

MOST_NUMBERS = 300  # the largest dimension of a method's state


@final
@dataclass(frozen=True, eq=False)
class LiftedVariable:
    """The vector y = seen · state, in whose Euclidean norm a round contracts.

    `state` maps y to one state that has it; the columns of `blind` are changes of the state that leave y unchanged.
    """

    seen: flint.fmpq_mat
    state: flint.fmpq_mat
    blind: flint.fmpq_mat
    name: str

    def round(self, M: flint.fmpq_mat) -> flint.fmpq_mat | None:
        """The matrix of y ↦ the next y, for the round's matrix M; None if the next y depends on more than y."""
        return self.seen * M * self.state if _is_zero(self.seen * M * self.blind) else None


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
    | FedSplit, RegularizedFedSplit | all clients' z_k; the server's point is their mean |
    | FedDyn, FedPD (1/η = α, g_k = −λ_k) | all w + g_k/α: a round is Douglas–Rachford splitting of these |
    | others, and those above if inexact local work depends on more than y | the whole state of server and clients |

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
    if not isinstance(solver, SmoothSolver) or not method.linear or is_scheduled(solver):
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
    lifted, T = _lifted(rounds, state, OneRoundMap.of(rounds).M)
    if _at_most(T, low):
        return
    # For a ball `factor` contraction is asserted for every number in it, and refuted if it fails for the largest.
    # in floats, for the message only: the decision above is exact
    least = float(np.linalg.norm(float_array(np.array(T.tolist(), dtype=object)), 2))
    norm = f"Euclidean, of {lifted.name}"
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


def _lifted(rounds: Rounds, state: State, M: flint.fmpq_mat) -> tuple[LiftedVariable, flint.fmpq_mat]:
    """The variable y of `assert_contracts`'s table, with the matrix of its round."""
    method, d, m = rounds.method, rounds.problem.dim, rounds.problem.num_clients
    size, places = len(state.flat()), _places(state)
    kept = [places[name] + i for name in ("answer", "anchor") if name in state.memory for i in range(m * d)]
    # stored, but without influence with exact local solutions: where local work starts, the anchors of local rounds
    unused = [{place: 1} for place in kept]
    found = None
    if "z" in state.memory:
        z = places["z"]
        clients = [(k, i) for k in range(m) for i in range(d)]
        seen = [{z + k * d + i: 1} for k, i in clients]
        states = [{z + k * d + i: 1, i: flint.fmpq(1, m)} for k, i in clients]
        found = LiftedVariable(
            _columns(seen, size).transpose(), _columns(states, size), _columns(unused, size), "the clients' z_k"
        )
    elif "gradient" in state.memory or "dual" in state.memory:
        found = _douglas_rachford(state, to_fmpq(method.proximal_weight), unused)
    if found is not None:
        T = found.round(M)
        if T is not None:  # else the round depends on more than y: fall back to the whole state
            return found, T
    identity = _columns([{i: 1} for i in range(size)], size)
    name = "the server's point" if size == d else "everything that server and clients keep"
    return LiftedVariable(identity, identity, _columns([], size), name), M


def _douglas_rachford(state: State, alpha: Any, unused: list[dict[int, Any]]) -> LiftedVariable:
    """y_k = w + g_k/α, where h is the mean of the g_k; the state that represents y has w = 0 and g_k = α y_k."""
    places, size, d = _places(state), len(state.flat()), len(state.server)
    name, sign = ("gradient", 1) if "gradient" in state.memory else ("dual", -1)
    g, m = places[name], len(state.memory[name])
    seen, states, blind = [], [], list(unused)
    for k in range(m):
        for i in range(d):
            seen.append({i: 1, g + k * d + i: sign / alpha})
            mean = {places["h"] + i: alpha / m} if "h" in places else {}
            states.append({g + k * d + i: sign * alpha, **mean})
    for i in range(d):
        mean = {places["h"] + i: -alpha} if "h" in places else {}
        blind.append({i: 1, **{g + k * d + i: -sign * alpha for k in range(m)}, **mean})
    return LiftedVariable(
        _columns(seen, size).transpose(), _columns(states, size), _columns(blind, size), "the clients' w + g_k/α"
    )


def _by_clients(method: Method, problem: Problem, low: Any, factor: Any, solver: SmoothSolver) -> None:
    """Asserts Σ_k weights_k q_k <= factor, where q_k bounds the contraction factor of client k's local solution."""
    if not is_average(method, solver):
        undecided(f"on {problem}, contraction is only known of averages without memory", method=str(method))
    balls = arithmetics.get("ball")
    with balls.context():
        rounds = rounds_of(method, problem, balls, solver)
        assert isinstance(rounds.solver, SmoothSolver)
        weight = rounds.method.proximal_weight
        own = [rounds.solver.contraction(problem, k, weight) for k in range(problem.num_clients)]
        total = balls.average(rounds.weights, np.array(own, dtype=object))
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


def _places(state: State) -> dict[str, int]:
    """The index in the flat state at which each part after the server's point begins."""
    places, begin = {}, len(state.server)
    for name, part in [*state.shared.items(), *state.memory.items()]:
        places[name] = begin
        begin += part.size
    return places


def _is_zero(matrix: flint.fmpq_mat) -> bool:
    return not any(entry != 0 for entry in matrix.entries())


def _columns(columns: list[dict[int, Any]], size: int) -> flint.fmpq_mat:
    """The sparse columns {row: entry} as a matrix (size, number of columns)."""
    made = flint.fmpq_mat(size, len(columns))
    for j, column in enumerate(columns):
        for i, entry in column.items():
            made[i, j] = entry
    return made
