"""FedSplit: an algorithmic framework for fast federated optimization: its formulas, transcribed for mpmath.

The transcription shares nothing with the calculators it is compared with. Every function is the printed expression,
also where it looks misprinted; the comments say where. Functions have the names of the statements or calculators. The
objective is the plain sum of the m clients' f_j, mu = ell_*, L = L^*. Vectors and matrices are mpmath's, vectors with
one column.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from mpmath import exp, eye, log, log1p, mpf, sqrt


def total(terms: Sequence[Any]) -> Any:
    return reduce(add, terms)


def equation1(values: Sequence[Any]) -> Any:
    return total(values)


def equation2(values: Sequence[Any]) -> Any:
    return total(values)


def equation3(x: Any, stepsize: Any, gradient: Any) -> Any:
    return x - gradient * stepsize


def equation4(points: Sequence[Any]) -> Any:
    return total(points) / len(points)


def equation5(gradients: Sequence[Any]) -> Any:
    return total(gradients)


def equation6(points: Sequence[Any]) -> Any:
    return total(points) / len(points)


def equation7(x: Any, points: Sequence[Any], stepsize: Any) -> Any:
    # The gradient of the Moreau envelope is (x - prox(x))/s, a standard fact that the paper does not print.
    return total([(x - point) / stepsize for point in points])


def equation8(A: Sequence[Any], b: Sequence[Any], x: Any) -> Any:
    return mpf(1) / 2 * total([((Aj * x - bj).T * (Aj * x - bj))[0] for Aj, bj in zip(A, b, strict=True)])


def equation9(A: Sequence[Any], b: Sequence[Any]) -> Any:
    return total([Aj.T * Aj for Aj in A]) ** -1 * total([Aj.T * bj for Aj, bj in zip(A, b, strict=True)])


def fedprox_fixed_point(A: Sequence[Any], b: Sequence[Any], stepsize: Any) -> Any:
    identity = eye(A[0].cols)
    return total([identity - (identity + Aj.T * Aj * stepsize) ** -1 for Aj in A]) ** -1 * total(
        [(Aj.T * Aj + identity / stepsize) ** -1 * (Aj.T * bj) for Aj, bj in zip(A, b, strict=True)]
    )


def equation10(A: Sequence[Any], b: Sequence[Any], stepsize: Any, local_steps: int) -> Any:
    identity = eye(A[0].cols)
    powers = [total([(identity - Aj.T * Aj * stepsize) ** k for k in range(local_steps)]) for Aj in A]
    return total([Aj.T * Aj * S for Aj, S in zip(A, powers, strict=True)]) ** -1 * total(
        [S * (Aj.T * bj) for Aj, bj, S in zip(A, b, powers, strict=True)]
    )


def equation11(blocks: Sequence[Any]) -> Any:
    return total(blocks)


def equation12(gradients: Sequence[Any]) -> Any:
    return total(gradients)


def equation13(x: Any, points: Any) -> Any:
    # Printed prox(2 z^* - z_j^*) - z^*, where z^* must be the average x^* and not the tuple (z_1^*, ..., z_m^*).
    return (points - x) * 2


def equation14(mus: Sequence[Any], Ls: Sequence[Any]) -> tuple[Any, Any, Any]:
    return min(mus), max(Ls), max(Ls) / min(mus)


def equation15(update: Any, prox: Any) -> Any:
    return abs(update - prox)


def equation16(t: int, kappa: Any, initial_distance: Any, num_clients: int, b: Any) -> Any:
    return (1 - 2 / (sqrt(kappa) + 1)) ** t * initial_distance / sqrt(num_clients) + (sqrt(kappa) + 1) * b


def contraction(kappa: Any) -> Any:
    return 1 - 2 / (sqrt(kappa) + 1)


def optimal_stepsize(mu: Any, L: Any) -> Any:
    return 1 / sqrt(mu * L)


def equation17(u: Any, x: Any, stepsize: Any, local_stepsize: Any, gradient: Any) -> Any:
    # As printed. A gradient step on h_j(u) = s f_j(u) + |u - x|^2/2, which the same line announces, would end in
    # -alpha (u - x) instead of +(u - x).
    return u - gradient * (local_stepsize * stepsize) + (u - x)


def equation18(kappa: Any, local_steps: int, start_distance: Any) -> Any:
    # As printed; gradient descent with this alpha contracts with 1 - 2/(sqrt kappa + 1), so the bound holds loosely.
    return (1 - 1 / (sqrt(kappa) + 1)) ** local_steps * start_distance


def local_stepsize(mu: Any, L: Any) -> Any:
    return (1 + 1 / sqrt(mu * L) * (mu + L) / 2) ** -1


def equation19(values: Sequence[Any], squared_distances: Sequence[Any], regularizer: Any) -> Any:
    # As printed, with 1/m. The text below it (lambda-strongly convex, (L + lambda)-smooth) and the interval for lambda
    # in Theorem 2 fit lambda/2 without the 1/m.
    m = len(values)
    return total(
        [value + regularizer / mpf(2 * m) * distance for value, distance in zip(values, squared_distances, strict=True)]
    )


def theorem2(L: Any, squared_distance: Any, epsilon: Any) -> Any:
    # As printed. With lambda near the end of its interval, sqrt((L + lambda)/lambda) also has the factor sqrt m.
    return sqrt(L * squared_distance / epsilon)


def largest_regularizer(epsilon: Any, num_clients: int, squared_distance: Any) -> Any:
    return epsilon / (num_clients * squared_distance)


def regularized_stepsize(L: Any, regularizer: Any) -> Any:
    return 1 / sqrt(regularizer * (L + regularizer))


def equation20(margins: Sequence[Any]) -> Any:
    return total([log1p(exp(-margin)) for margin in margins])


def equation21(margins: Sequence[Any], squared_norm: Any, regularizer: Any, num_clients: int) -> Any:
    # The regularizer stands inside the sum over the clients, so it counts num_clients times.
    return total([log1p(exp(-margin)) for margin in margins]) + num_clients * (regularizer / mpf(2) * squared_norm)


def equation22(kappa: Any, epsilon: Any) -> tuple[Any, Any]:
    return sqrt(kappa) * log(1 / epsilon), kappa * log(1 / epsilon)


proposition1 = equation5
proposition2 = equation7
proposition3 = equation13
theorem1 = equation16
corollary1 = equation18
