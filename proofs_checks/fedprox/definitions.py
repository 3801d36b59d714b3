"""FedProx, Definitions 1 to 3, Assumption 1, equations (1) and (2), compared with the running code on instances."""

from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import fedconvex as fc
from fedconvex.proofs_checks.engines.checks import Agreement, Combination
from fedconvex.proofs_checks.engines.hilbert import deviation, square
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.notation import NOT_STATIONARY, gradient, gradient_norm, gradients
from fedconvex.proofs_checks.proof import Proof, Relation, Step, proves
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

Pair = tuple[Any, Any]
RUNS = Relation(0, "=", 0)  # `Agreement` compares numbers and does not look at the claim


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


def inexactness_in_a_run(statement: Statement, clients: int, rounds: int) -> Agreement:
    """The inexactness that a run measures for one gradient step of 1/8: the formula's, |1 − (h_k + μ)/8|."""

    def compare(number: int) -> Pair:
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
            expected += [
                statement.calculator.formula(residual=abs(end), client_gradient=abs(g))
                for end, g in zip(ends, start, strict=True)
            ]
        return [Fraction(float(x)) for x in run.client_inexactness.ravel()], expected

    return Agreement(compare)


@proves(fedprox.definition1)
def definition1(statement: Statement) -> Proof:
    return Proof((
        Step(r"\|\nabla h(w^*;w_0)\| \le \gamma\|\nabla h(w_0;w_0)\|,\quad \nabla h(w;w_0)=\nabla F(w)+\mu(w-w_0)",
             "the inexactness that a run measures is this quotient, ∇h(w₀; w₀) being ∇F(w₀)", RUNS,
             inexactness_in_a_run(statement, 1, 1), place="Definition 1"),
    ))  # fmt: skip


@proves(fedprox.definition2)
def definition2(statement: Statement) -> Proof:
    return Proof((
        Step(r"\|\nabla h_k(w^*;w_t)\| \le \gamma_k^t\|\nabla h_k(w_t;w_t)\|",
             "the same of every device in every round, as a run measures it", RUNS,
             inexactness_in_a_run(statement, 3, 2), place="Definition 2"),
    ))  # fmt: skip


@proves(fedprox.definition3)
def definition3(statement: Statement) -> Proof:
    formula = statement.calculator.formula

    def compare(number: int) -> Pair:
        problem, B = unlike(number)
        own = problem.client_gradients([Fraction(0)])
        mean_square, whole = sum(g[0] ** 2 for g in own) / 2, sum(g[0] for g in own) / 2
        measured = Fraction(fc.dissimilarity(problem, [Fraction(0)]))
        return [formula(mean_square=mean_square, square=whole**2)] * 2, [measured, B]

    squared = formula(mean_square=square(gradients), square=square(gradient)) ** 2
    return Proof((
        Step(r"B(w) = \sqrt{E_k\|\nabla F_k(w)\|^2/\|\nabla f(w)\|^2}", "what `fedconvex.dissimilarity` measures",
             RUNS, Agreement(compare), place="Definition 3"),
        Step(r"B(w) \ge 1", "the mean square is the squared mean and the variance",
             Relation(1, "<=", squared, Domain((NOT_STATIONARY,)), "B is at least 1"),
             Combination(squares=((1 / gradient_norm**2, deviation(gradients)),)), place="after Definition 3"),
    ), notes="Where all gradients vanish B is 1 by the paper's footnote, and so it is measured.")  # fmt: skip


@proves(fedprox.assumption1)
def assumption1(statement: Statement) -> Proof:
    def compare(number: int) -> Pair:
        random = Random(number)
        problem = line(random, 3).problem
        points = [[Fraction(random.randint(-40, 40), 4)] for _ in range(6)]
        outside = [x for x in points if problem.gradient(x)[0] ** 2 > 1]
        numbers = [Fraction(fc.dissimilarity(problem, x)) for x in outside]
        least = statement.calculator.formula(dissimilarities=numbers)
        return (least in numbers, all(least >= B for B in numbers)), (True, True)

    return Proof((
        Step(r"B(w) \le B_\epsilon \text{ for all } w \text{ with } \|\nabla f(w)\|^2 > \epsilon",
             "the least number that is not below any measured B(w) of such points", RUNS, Agreement(compare),
             place="Assumption 1"),
    ))  # fmt: skip


@proves(fedprox.equation1)
def equation1(statement: Statement) -> Proof:
    def compare(number: int) -> Pair:
        random = Random(number)
        problem, h, c, p = line(random, 3)
        x = Fraction(random.randint(-9, 9), 5)
        values = [a * x * x / 2 - b * x for a, b in zip(h, c, strict=True)]
        return problem.value([x]), statement.calculator.formula(weights=p, values=values)

    return Proof((
        Step(r"f(w) = \sum_{k=1}^N p_kF_k(w) = E_k[F_k(w)]", "what a problem's value is", RUNS, Agreement(compare),
             place="(1)"),
    ))  # fmt: skip


@proves(fedprox.equation2)
def equation2(statement: Statement) -> Proof:
    def compare(number: int) -> Pair:
        random = Random(number)
        problem, h, c, _ = line(random, 1)
        mu, w = Fraction(random.randint(1, 9), 2), Fraction(random.randint(-9, 9), 4)

        def local(x: Fraction) -> Any:
            value = h[0] * x * x / 2 - c[0] * x
            return statement.calculator.formula(value=value, mu=mu, distance=abs(x - w))

        left, middle, right = (local(Fraction(x)) for x in (-1, 0, 1))  # a parabola: its vertex
        answer = fc.simulate(fc.FedProx(mu=mu), problem, 1, None, fc.Exact(), [w], arithmetic="exact").points[1][0]
        return answer, (left - right) / (2 * (left + right - 2 * middle))

    return Proof((
        Step(r"\min_w h_k(w;w^t) = F_k(w)+\tfrac\mu2\|w-w^t\|^2", "where it is least a client's exact answer lies",
             RUNS, Agreement(compare), place="(2)"),
    ), ends="where the formula is least is compared, and twice the formula is least there too")  # fmt: skip
