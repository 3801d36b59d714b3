"""FedProx: the worst-case problems whose exact values its bounds are compared with (`worst_cases.looseness`).

A client's answer is any γ-inexact one; K devices are drawn independently. For any number of clients the draw's effect
on f is bounded by the descent lemma, so that the decrease that is proved may be a little smaller than the true worst
case. For a given small number of clients the problem contains every possible draw, and the worst case is exact.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Weighted
from fedconvex.proofs_checks.worst_cases.looseness.registry import (
    Compared,
    Length,
    Multiplied,
    Played,
    Product,
    compared,
    rational_root,
    worst_case_of,
)
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Family, Form, inner, mean, shared, square
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    FunctionClass,
    NotSmooth,
    SmoothConvex,
    WeaklyConvex,
)
from fedconvex.proofs_checks.worst_cases.questions.question import MOST
from fedconvex.proofs_checks.worst_cases.questions.sampling import Draws
from fedconvex.proofs_checks.worst_cases.questions.specification import in_rationals
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, drawn_round, first_state
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

DRAWN = "f at the drawn average is bounded by the descent lemma"
SEGMENT = "between w̄ and w⁺ the gradient is bounded in a ball, and attained at w⁺"


def _descent(
    bound: Any, mu: Any, clients: FunctionClass, B: Any, gamma: Any, K: Any = None, num_clients: Any = None
) -> Played:
    question = {
        "method": fc.FedProx(mu=mu), "clients": clients, "metric": "descent", "dissimilarity": B,
        "num_clients": "any" if num_clients is None else int(num_clients),
        "local_solver": fc.ToInexactness(gamma), "participation": None if K is None else Weighted(int(K)),
    }  # fmt: skip
    return Played(question, bound, remark=DRAWN if K is not None and num_clients is None else "")


@worst_case_of(fedprox.theorem4, fedprox.theorem4byvariance, fedprox.theorem4bycurvature)
def with_draws(
    statement: Statement, *, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any, num_clients: Any = None
) -> Played:
    bound = statement(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma, K=K)
    return _descent(bound, mu, WeaklyConvex(L_minus, L), B, gamma, K, num_clients)


@worst_case_of(fedprox.theorem4sharper)
def without_draws(
    statement: Statement, *, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, num_clients: Any = None
) -> Played:
    """However few are drawn: with one it is worst."""
    bound = statement(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma)
    return _descent(bound, mu, WeaklyConvex(L_minus, L), B, gamma, 1, num_clients)


@worst_case_of(fedprox.theorem4convex)
def convex(statement: Statement, *, mu: Any, L: Any, B: Any, K: Any, num_clients: Any = None) -> Played:
    return _descent(statement(mu=mu, L=L, B=B, K=K), mu, SmoothConvex(L), B, 0, K, num_clients)


@worst_case_of(fedprox.theorem4convexeveryone)
def convex_everyone(statement: Statement, *, mu: Any, L: Any, B: Any) -> Played:
    return _descent(statement(mu=mu, L=L, B=B), mu, SmoothConvex(L), B, 0)


@worst_case_of(fedprox.corollary7sharper)
def convex_choice(statement: Statement, *, L: Any, B: Any, K: Any, num_clients: Any = None) -> Played:
    chosen = statement(L=L, B=B, K=K)
    return _descent(chosen.rho, chosen.mu, SmoothConvex(L), B, 0, K, num_clients)


def _dissimilar(sigma2: Any, epsilon: Any) -> Fraction:
    """B with B² = 1 + σ²/ε. Gradients with ‖∇f‖² >= ε and variance σ² are B-dissimilar; with ‖∇f‖² = ε no less."""
    return rational_root(1 + sigma2 / epsilon, "sigma2", "√(1 + σ²/ε)")


@worst_case_of(fedprox.theorem11)
def by_variance(
    statement: Statement, *, mu: Any, L: Any, L_minus: Any, sigma2: Any, epsilon: Any, gamma: Any, K: Any,
    num_clients: Any = None,
) -> Played:  # fmt: skip
    bound = statement(mu=mu, L=L, L_minus=L_minus, sigma2=sigma2, epsilon=epsilon, gamma=gamma, K=K)
    return _descent(bound, mu, WeaklyConvex(L_minus, L), _dissimilar(sigma2, epsilon), gamma, K, num_clients)


@worst_case_of(fedprox.theorem11sharper)
def by_variance_sharper(
    statement: Statement, *, mu: Any, L: Any, L_minus: Any, sigma2: Any, epsilon: Any, gamma: Any,
    num_clients: Any = None,
) -> Played:  # fmt: skip
    bound = statement(mu=mu, L=L, L_minus=L_minus, sigma2=sigma2, epsilon=epsilon, gamma=gamma)
    return _descent(bound, mu, WeaklyConvex(L_minus, L), _dissimilar(sigma2, epsilon), gamma, 1, num_clients)


class _FedProxRound:
    """One round of everyone from w, on a board: `steps` are the clients' moves."""

    def __init__(self, clients: int, functions: FunctionClass, mu: Any, gamma: Any) -> None:
        self.board = Board(clients, functions, minimiser=False)
        method, solver = in_rationals(fc.FedProx(mu=mu)), fc.ToInexactness(gamma)
        self.w = shared("w")
        self.first = self.board.at(self.w)
        state, answers = answered(method, solver, self.board, first_state(method, self.w))
        self.server, self.steps = state.server, answers - self.w

    def dissimilar(self, B: Any) -> tuple[tuple[str, Form], ...]:
        gradient = self.first.gradient
        return (("dissimilarity", square(mean(gradient)) * Fraction(B) ** 2 - square(gradient)),)


def _known(round_: _FedProxRound, **numbers: Any) -> dict[str, Any]:
    gradient = round_.first.gradient
    return {
        **numbers, "gradient": Length(square(mean(gradient))), "client_gradient": Length(square(gradient)),
        "value": round_.board.mean_value(round_.first),
    }  # fmt: skip


@worst_case_of(fedprox.equation5)
def to_the_solution(statement: Statement, *, mu: Any, L_minus: Any, gamma: Any) -> Compared:
    """From the answer to the subproblem's solution."""
    round_ = _FedProxRound(1, NotSmooth(-L_minus), mu, gamma)
    method = in_rationals(fc.FedProx(mu=mu))
    _, solution = answered(method, fc.Exact(), round_.board, first_state(method, round_.w))
    known = _known(round_, mu=mu, L_minus=L_minus, gamma=gamma)
    return compared(round_.board, statement, known, square(round_.w + round_.steps - solution))


@worst_case_of(fedprox.equation6)
def client_step(statement: Statement, *, mu: Any, L_minus: Any, gamma: Any) -> Compared:
    round_ = _FedProxRound(1, NotSmooth(-L_minus), mu, gamma)
    known = _known(round_, mu=mu, L_minus=L_minus, gamma=gamma)
    return compared(round_.board, statement, known, square(round_.steps))


@worst_case_of(fedprox.equation7)
def drift(statement: Statement, *, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any) -> Compared:
    """M = −μ(w̄ − w) − ∇f(w)."""
    round_ = _FedProxRound(2, WeaklyConvex(L_minus, L), mu, gamma)
    known = _known(round_, mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma)
    M: Family = mean(round_.steps) * -mu - mean(round_.first.gradient)
    return compared(round_.board, statement, known, square(M), more=round_.dissimilar(B))


@worst_case_of(fedprox.equation8)
def at_the_mean(statement: Statement, *, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any) -> Played:
    """What the statement takes from the value of f."""
    one = {"value": 0, "gradient": 1}
    bound = -statement(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma, **{n: Fraction(x) for n, x in one.items()})
    return _descent(bound, mu, WeaklyConvex(L_minus, L), B, gamma)


@worst_case_of(fedprox.equation13)
def deviation(statement: Statement, *, mu: Any, L_minus: Any, B: Any, gamma: Any, K: Any) -> Compared:
    """The average of K independent draws has 1/K of the variance."""
    round_ = _FedProxRound(2, NotSmooth(-L_minus), mu, gamma)
    known = _known(round_, mu=mu, L_minus=L_minus, B=B, gamma=gamma, K=K)
    drawn = square(round_.steps - mean(round_.steps)) / K
    return compared(round_.board, statement, known, drawn, more=round_.dissimilar(B))


@worst_case_of(fedprox.equation14)
def sampling_cost(
    statement: Statement, *, mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any, num_clients: Any
) -> Multiplied:
    """E[L₀‖w⁺ − w̄‖], L₀ being the largest ‖∇f‖ between w̄ and w⁺.

    It is at most what it is in the ball of which that is a diameter, and at least what it is at w⁺.
    """
    draws = Draws(int(K), int(num_clients), replaced=True)
    if not 1 < num_clients <= MOST or num_clients * draws.number > MOST:
        raise InvalidInput("num_clients", num_clients, f"are not two or more, or leave too many ways to draw {K}",
                           "give 2, and a small K")  # fmt: skip
    bound = statement(mu=mu, L=L, L_minus=L_minus, B=B, gamma=gamma, K=K, gradient=Fraction(1))
    functions = WeaklyConvex(L_minus, L)
    at_server = _sampled(draws, functions, mu, B, gamma, bound)
    return _sampled(draws, functions, mu, B, gamma, bound, at_server)


def _sampled(
    draws: Draws, functions: FunctionClass, mu: Any, B: Any, gamma: Any, bound: Any, inside: Multiplied | None = None
) -> Multiplied:
    """With the gradient of f at the server's point; or anywhere in the ball, in which that one is `inside`."""
    board: Any = EnumeratedBoard.of(draws.clients, functions, minimiser=False)
    method, solver, w = in_rationals(fc.FedProx(mu=mu)), fc.ToInexactness(gamma), shared("w")
    gradients = board.at(w).gradient
    state = first_state(method, w)
    middle = mean(answered(method, solver, board, state)[1])
    shapes: dict[tuple[int, ...], list[Product]] = {}
    more = [("dissimilarity", square(mean(gradients)) * Fraction(B) ** 2 - square(gradients))]
    for n, (chance, draw) in enumerate(draws.every()):
        _, server = drawn_round(method, solver, board, state, draw)
        away = server - middle
        if not away.parts:
            continue  # everyone was drawn as often
        z = server
        if inside is not None:
            z = shared(f"z{n}")
            more.append((f"between {n}", -inner(z - middle, z - server)))
        assert draw.shares is not None
        shape = tuple(sorted(draw.shares.tolist()))
        shapes.setdefault(shape, []).append((chance, square(mean(board.at(z).gradient)), square(away)))
    products = tuple(map(tuple, shapes.values()))
    return Multiplied(board, products, square(mean(gradients)), bound, tuple(more), inside, SEGMENT)
