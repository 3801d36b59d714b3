"""FedProx (14): a mean of products of two lengths, which no claim says; its worst case is posed here.

The worst cases of the other statements are read off their claims (`worst_cases.looseness.claimed`).
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.parameters import in_rationals
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.looseness.registry import Multiplied, Product, worst_case_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import inner, mean, shared, square
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass, WeaklyConvex
from fedconvex.proofs_checks.worst_cases.questions.question import MOST
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, drawn_round, first_state
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

SEGMENT = "between w̄ and w⁺ the gradient is bounded in a ball, and attained at w⁺"


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
