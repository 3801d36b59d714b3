"""γ-inexactness (FedProx paper, Definitions 1 and 2) decided in rationals: floats as the rationals that they are."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from problem_makers import Terms, fractions, terms_of

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.participation import Draw as Drawn
from fedconvex.runs.rounds import RoundResult, rounds_of

GAMMAS = [Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 3), Fraction(1, 10), Fraction(1, 1000)]
HALF = Fraction(1, 2)
FOUR = fc.Quadratic(
    H=[[[2, 1], [1, 3]], [[1, 0], [0, 0]], [[5, -1], [-1, 1]], [[-1, 0], [0, 4]]],
    c=[[1, 2], [3, 1], [-1, 4], [2, 2]],
    weights=[1, 2, 3, 2],
)
X0 = fractions([2, -3])
RATES = [Fraction(1), HALF, Fraction(1, 10), Fraction(1, 10**6)]


def played(method: Any, problem: Any, gamma: Any, x0: Any, arithmetic: str, members: Any = None, **options: Any) -> Any:
    """One round."""
    rounds = rounds_of(method, problem, arithmetic, fc.ToInexactness(gamma, **options))
    with rounds.arithmetic.context():
        draw = Drawn(None if members is None else np.array(members))
        return rounds.play(rounds.start(rounds.arithmetic.array(x0)), draw)


def rationals(values: Any) -> np.ndarray:
    """Floats, tensors and flint's rationals as Fractions."""
    values = values.numpy() if hasattr(values, "numpy") else np.asarray(values)
    flat = [to_fraction(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=object).reshape(values.shape)


def ratios(problem: Any, method: Any, round: RoundResult, members: Any = None) -> list[Fraction]:
    """The clients' ‖∇φ_k(θ_k)‖²/‖∇φ_k(start_k)‖², 0/0 being 0."""
    terms = terms_of(problem).as_a_sum() if method.plain else terms_of(problem)
    asked, found = round.subproblem, []
    weight = rationals(asked.weight)[()] if not isinstance(asked.weight, Fraction) else asked.weight
    center = None if asked.center is None else rationals(asked.center)
    linear = None if asked.linear is None else rationals(asked.linear)
    start, theta = rationals(asked.start), rationals(round.answers.points)
    for row, k in enumerate(range(problem.num_clients) if members is None else members):

        def square(x: np.ndarray, row: int = row, k: int = k) -> Fraction:
            g = terms.H[k] @ x - terms.c[k]
            g = g if linear is None else g + linear[row]
            g = g if center is None else g + weight * (x - center[row])
            return g @ g

        left, first = square(theta[row]), square(start[row])
        found.append(left / first if first else left)
    return found


def within(found: Sequence[Fraction], gammas: Sequence[Any]) -> bool:
    """Definition 2, squared."""
    return all(ratio <= to_fraction(gamma) ** 2 for ratio, gamma in zip(found, gammas, strict=True))


def first_step_within(
    terms: Terms, k: int, weight: Any, L: Any, w: np.ndarray, gamma: Fraction
) -> tuple[np.ndarray, int]:
    """FedProx's client k by gradient steps of size 1/(L + weight) from w, and how many."""
    given = (terms.H[k], terms.c[k], w, [weight, L, gamma])
    H, c, w, (weight, L, gamma) = map(arithmetics.get("exact").array, given)  # whose digits multiply with the steps
    gradient = start = H @ w - c
    theta, steps = w, 0
    while gradient @ gradient > gamma**2 * (start @ start):
        theta, steps = theta - gradient / (L + weight), steps + 1
        gradient = H @ theta - c + weight * (theta - w)
    return rationals(theta), steps
