"""FedProx: what the running code measures beside the paper's definitions, on exact instances."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count
from random import Random
from typing import Any, NamedTuple

import fedconvex as fc

Pair = tuple[Any, Any]
Formula = Callable[..., Any]


class ScalarQuadratics(NamedTuple):
    """Clients h_k x²/2 − c_k x."""

    problem: fc.Quadratic
    h: list[int]
    c: list[int]
    p: list[Fraction]


def line(random: Random, clients: int) -> ScalarQuadratics:
    """Random clients with random weights."""
    h = [random.randint(1, 6) for _ in range(clients)]
    c = [random.choice([-5, -3, 7, 11]) for _ in range(clients)]
    weights = [random.randint(1, 4) for _ in range(clients)]
    problem = fc.Quadratic([[[a]] for a in h], [[b] for b in c], weights)
    return ScalarQuadratics(problem, h, c, [Fraction(p, sum(weights)) for p in weights])


def unlike(number: int) -> tuple[fc.Quadratic, Fraction]:
    """Two clients x²/2 − c_k x, and their dissimilarity at 0, a dyadic rational, which is exact as a float."""
    k, scale = 1 + number % 8, 1 + number // 8
    total, apart = 2**k, 4 ** (k - 1) - 1  # legs of a Pythagorean triple
    c = [Fraction(scale * (total + apart), 2), Fraction(scale * (total - apart), 2)]
    return fc.Quadratic([[[1]], [[1]]], [[x] for x in c]), Fraction(4 ** (k - 1) + 1, total)


def inexactness_in_a_run(formula: Formula, clients: int, rounds: int, number: int) -> Pair:
    """The inexactness that a run measures for one gradient step of 1/8: the formula's, |1 − (h_k + μ)/8|."""
    random = Random(number)
    problem, h, c, _ = line(random, clients)
    mu, w = random.randint(1, 8), Fraction(random.randint(-6, 6) * 2 + 1, 8)
    solver = fc.GradientDescent(steps=1, stepsize=Fraction(1, 8))
    method = fc.FedProx(mu=mu)
    run = fc.simulate(method, problem, rounds, None, solver, [w], arithmetic="exact", measure="inexactness")
    expected = []
    for t in range(rounds):
        at = run.points[t][0]
        start = [a * at - b for a, b in zip(h, c, strict=True)]
        answers = [at - g / 8 for g in start]
        ends = [a * x - b + mu * (x - at) for a, b, x in zip(h, c, answers, strict=True)]
        expected += [formula(residual=abs(end), client_gradient=abs(g)) for end, g in zip(ends, start, strict=True)]
    return [Fraction(float(x)) for x in run.client_inexactness.ravel()], expected


def dissimilarity_at_zero(formula: Formula, number: int) -> Pair:
    """B(0) by the formula, and as `fedconvex.dissimilarity` measures it and as the instance is made."""
    problem, B = unlike(number)
    own = problem.client_gradients([Fraction(0)])
    mean_square, whole = sum(g[0] ** 2 for g in own) / 2, sum(g[0] for g in own) / 2
    measured = Fraction(fc.dissimilarity(problem, [Fraction(0)]))
    return [formula(mean_square=mean_square, square=whole**2)] * 2, [measured, B]


def least_dissimilarity(formula: Formula, number: int) -> Pair:
    """Whether the formula's number is one of the measured B(w), and none of them is larger."""
    random = Random(number)
    problem = line(random, 3).problem
    points = [[Fraction(random.randint(-40, 40), 4)] for _ in range(6)]
    outside = [x for x in points if problem.gradient(x)[0] ** 2 > 1]
    numbers = [Fraction(fc.dissimilarity(problem, x)) for x in outside]
    least = formula(dissimilarities=numbers)
    return (least in numbers, all(least >= B for B in numbers)), (True, True)


def value_of_problem(formula: Formula, number: int) -> Pair:
    """f(w) of a problem, and the formula of the clients' values."""
    random = Random(number)
    problem, h, c, p = line(random, 3)
    x = Fraction(random.randint(-9, 9), 5)
    values = [a * x * x / 2 - b * x for a, b in zip(h, c, strict=True)]
    return problem.value([x]), formula(weights=p, values=values)


def lowest_of_subproblem(formula: Formula, number: int) -> Pair:
    """A client's exact answer, and where the formula is least: the vertex of a parabola."""
    random = Random(number)
    problem, h, c, _ = line(random, 1)
    mu, w = Fraction(random.randint(1, 9), 2), Fraction(random.randint(-9, 9), 4)

    def local(x: Fraction) -> Any:
        return formula(value=h[0] * x * x / 2 - c[0] * x, mu=mu, distance=abs(x - w))

    left, middle, right = (local(Fraction(x)) for x in (-1, 0, 1))
    answer = fc.simulate(fc.FedProx(mu=mu), problem, 1, None, fc.Exact(), [w], arithmetic="exact").points[1][0]
    return answer, (left - right) / (2 * (left + right - 2 * middle))


def least_number_of_rounds(formula: Formula, number: int) -> Pair:
    """The formula's number of rounds, and the first T with Tρε ≥ Δ."""
    random = Random(number)
    gap, decrease, accuracy = (Fraction(random.randint(1, 9), random.randint(1, 9)) for _ in "Δρε")
    found = formula(delta=gap, rho=decrease, epsilon=accuracy)
    return found, next(t for t in count(1) if t * decrease * accuracy >= gap)
