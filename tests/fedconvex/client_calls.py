"""Every call of a problem's clients, and a comparison of the results for a subset with those for all."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from problem_makers import FLOATS, fractions

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.linear_models import LinearModelClients
from fedconvex.problems.linear_models_in_balls import BallLinearModelClients
from fedconvex.problems.quadratics import QuadraticClients, WideLeastSquaresClients

SIZES = [36, 1, 40, 2, 90, 1, 12, 33]  # three of them share a bucket
M, D = len(SIZES), 3
generator = np.random.default_rng(11)
A = [generator.integers(-8, 9, (n, D)) / 4 for n in SIZES]
B = [generator.integers(-8, 9, n) / 4 for n in SIZES]
SIGNS = [generator.choice([-1, 1], n) for n in SIZES]
LABELS = [generator.integers(0, 3, n) for n in SIZES]
FEW = slice(0, 4)  # samples of each client where every one is a ball
PROBLEMS: dict[str, Problem] = {
    "least squares": fc.LeastSquares(A, B),
    "quadratic": fc.Quadratic([a.T @ a / 8 - np.eye(D) for a in A], generator.integers(-4, 5, (M, D))),
    "logistic": fc.Logistic(A, SIGNS, 0.25),
    "multinomial": fc.MultinomialLogistic([a[:, :1] for a in A], LABELS, 3, 0.25),
}
SMALL: dict[str, Problem] = {
    "logistic": fc.Logistic([a[FEW] for a in A], [y[FEW] for y in SIGNS], 0.25),
    "multinomial": fc.MultinomialLogistic([a[FEW, :1] for a in A], [y[FEW] for y in LABELS], 3, 0.25),
}
SCALE = [Fraction(k + 1, 3) for k in range(M)]
CLASSES = {
    "least squares": QuadraticClients,
    "quadratic": QuadraticClients,
    "logistic": LinearModelClients,
    "multinomial": LinearModelClients,
    "wide": WideLeastSquaresClients,
}


def made(kind: str, arithmetic: str) -> Clients:
    """All clients, scaled."""
    numbers = arithmetics.get(arithmetic)
    if kind == "wide":
        problem = PROBLEMS["least squares"]
        clients = WideLeastSquaresClients.of(numbers, problem.A, problem.b, numbers.array(SCALE))
        clients.curvatures = problem.clients(numbers, SCALE).curvatures
        return clients
    return (SMALL if arithmetic == "ball" and kind in SMALL else PROBLEMS)[kind].clients(numbers, SCALE)


ALL = [
    *((kind, name) for kind in CLASSES for name in FLOATS),
    *((kind, name) for kind in ("least squares", "quadratic") for name in ("exact", "ball")),
    ("logistic", "ball"), ("multinomial", "ball"),
]  # fmt: skip
EVERY_CLASS = pytest.mark.parametrize(("kind", "arithmetic"), ALL)


def points_of(clients: Clients, shift: int = 0, size: int | None = None) -> Any:
    """Different points, quarters between −2 and 2."""
    rows = clients.num_clients if size is None else size
    flat = (7 * np.arange(rows * clients.dim) + 5 * shift) % 17 - 8
    return clients.arithmetic.array(fractions(flat.reshape(rows, -1)) / 4)


def subproblem_of(clients: Clients, terms: Sequence[str]) -> Subproblem:
    parts = {name: points_of(clients, i + 1) for i, name in enumerate(TERMS) if name in terms}
    weight = Fraction(7, 2) if "center" in terms else 0
    return Subproblem(points_of(clients), clients.arithmetic.scalar(weight), **parts)


TERMS = ("center", "linear", "guess")


def batch_gradients(clients: Clients, X: Any) -> Any:
    """Every client's, on its first sample and its last, the last counting thrice."""
    samples = clients.samples()
    rows = np.stack([samples.first, samples.first + samples.count - 1], axis=1)
    shares = clients.arithmetic.array([[Fraction(1, 4), Fraction(3, 4)]] * clients.num_clients)
    return samples.gradients(np.arange(clients.num_clients), X, rows, shares)


Call = Callable[[Clients, Sequence[int]], Any]


def calls(whole: Clients) -> dict[str, Call]:
    """Every call, for clients that are the members of the whole: an answer with one row for each."""
    X, V, common = points_of(whole), points_of(whole, 1), points_of(whole, 2, size=2)
    task, pulled, bare = (subproblem_of(whole, terms) for terms in (TERMS, ["center"], ["linear"]))
    found: dict[str, Call] = {
        "values": lambda c, k: c.values(X[k]),
        "differences": lambda c, k: c.differences(X[k], V[k]),
        "gradients": lambda c, k: c.gradients(X[k]),
        "hessians": lambda c, k: c.hessians(X[k]),
        "hessian products": lambda c, k: c.hessian_products(X[k], V[k]),
        "resolvents": lambda c, k: c.resolvents(X[k], c.arithmetic.scalar(Fraction(7, 2))),
        "minimise": lambda c, k: c.minimise(task.of(np.array(k))),
        "minimise, pulled": lambda c, k: c.minimise(pulled.of(np.array(k))),
        "values at one point": lambda c, k: c.values(common[0]),
        "differences at one point": lambda c, k: c.differences(common[0], common[1]),
        "gradients at one point": lambda c, k: c.gradients(common[0]),
        "hessian products at one point": lambda c, k: c.hessian_products(common[0], V[k]),
        "values at common points": lambda c, k: c.values_and_gradients(common)[0].swapaxes(0, 1),
        "gradients at common points": lambda c, k: c.values_and_gradients(common)[1].swapaxes(0, 1),
        "differences at common points": lambda c, k: c.differences_from(common, X[0]).swapaxes(0, 1),
        "curvatures": lambda c, k: np.stack([c.curvatures.L, c.curvatures.mu], axis=1),
    }
    if isinstance(whole, LinearModelClients | BallLinearModelClients):  # others may have many minimisers
        found["minimise, not pulled"] = lambda c, k: c.minimise(bare.of(np.array(k)))
    if has_samples(whole):
        found["samples"] = lambda c, k: batch_gradients(c, X[k])
        found["numbers of samples"] = lambda c, k: c.samples().count
    return found


@cache
def of_all(kind: str, arithmetic: str) -> tuple[Clients, dict[str, Call], dict[str, Any]]:
    """All clients, the calls, and their answers."""
    whole = made(kind, arithmetic)
    with whole.arithmetic.context():
        found = calls(whole)
        return whole, found, {name: call(whole, range(M)) for name, call in found.items()}


def has_samples(clients: Clients) -> bool:
    try:
        clients.samples()
    except InvalidInput:
        return False
    return True


def rows_of(answer: Any) -> list[Any]:
    """One list of numbers a client: floats, Fractions or balls."""
    if isinstance(answer, list):
        return [[entry for row in matrix.tolist() for entry in row] for matrix in answer]
    array = np.asarray(answer)
    return list(array.reshape(len(array), -1).tolist())


def same(one: Any, other: Any, tolerance: float = 1e-13) -> bool:
    """Equal rationals; floats up to rounding; balls that overlap and are small."""
    return len(rows_of(one)) == len(rows_of(other)) and all(
        len(a) == len(b) and all(same_number(x, y, tolerance * (1 + longest(b))) for x, y in zip(a, b, strict=True))
        for a, b in zip(rows_of(one), rows_of(other), strict=True)
    )


def longest(row: list[Any]) -> float:
    return max(abs(float(v.mid() if hasattr(v, "mid") else to_fraction(v))) for v in row)


def same_number(x: Any, y: Any, tolerance: float) -> bool:
    if type(x).__name__ == "arb":
        return bool(x.overlaps(y)) and float(x.rad()) < 1e-9 and abs(float(x.mid()) - float(y.mid())) < 1e-9
    return bool(x == y if type(x).__name__ == "fmpq" else abs(x - y) <= tolerance)


def chosen_rows(answer: Any, members: Sequence[int]) -> Any:
    return [answer[k] for k in members] if isinstance(answer, list) else answer[np.array(members)]


CHOICES = {
    "some": [1, 2, 5, 7],
    "first": [0],
    "last": [7],
    "everyone": list(range(M)),
    "one size": [1, 5],
    "in another order": [6, 0, 3],
}
