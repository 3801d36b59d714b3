"""Client groups with several classes and weights, against programs with a function for every client."""

from fractions import Fraction as F

import numpy as np
import pytest
from full_program import Clients, agree

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroup, ClientGroups


class Weighted(Clients):
    """Every client with its own weight and curvatures."""

    def __init__(self, weights, curvatures):
        super().__init__(len(weights), 0.0, 1.0, minimiser=False)
        self.weights, self.curvatures = weights, curvatures
        pulls = [self.new() for _ in weights[1:]]
        last = -sum((w * p for w, p in zip(weights[:-1], pulls, strict=True)), np.zeros(self.size)) / weights[-1]
        self.pulls = [*pulls, last]
        for k, pull in enumerate(self.pulls):
            self.known[k].append((np.zeros(self.size), pull, 0.0))

    def average(self, rows):
        return sum(w * row for w, row in zip(self.weights, rows, strict=True))


def truth_of(weights, curvatures, method, metric, G):
    c = Weighted(weights, curvatures)
    last = c.average([method(c, k) for k in range(len(weights))])
    values = [c.look(k, last)[1] for k in range(len(weights))] if metric == "gap" else None

    def measured(inner):
        return c.average(values) if metric == "gap" else inner(last, last)

    def measure(inner):
        return inner(c.w, c.w) + G * c.average([inner(p, p) for p in c.pulls])

    return c.worst(measured, measure)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("metric", ["distance", "gap"])
@pytest.mark.parametrize(
    ("weights", "curvatures", "kinds"),
    [
        ([0.25, 0.75], [(1, 2), (0.5, 4)], [(F(1, 4), 1, 2, 1), (F(3, 4), F(1, 2), 4, 1)]),
        ([0.25, 0.25, 0.5], [(1, 2), (1, 2), (0.5, 4)], [(1, 1, 2, 2), (1, F(1, 2), 4, 1)]),
        ([0.2, 0.2, 0.3, 0.3], [(1, 2), (1, 2), (0.5, 1), (0.5, 1)], [(2, 1, 2, "any"), (3, F(1, 2), 1, "any")]),
    ],
)
def test_a_block_for_every_kind(weights, curvatures, kinds, metric):
    def step(c, k):
        return c.w - 0.4 * c.look(k, c.w)[0]

    def prox(c, k):
        return c.prox(k, 1.5, c.w)[0]

    mixture = ClientGroups(*(ClientGroup(SmoothStronglyConvex(mu, L), share, count) for share, mu, L, count in kinds))
    for written, method in ((step, fc.FedGD(stepsize=F(2, 5))), (prox, fc.FedProx(mu=F(3, 2)))):
        found = worst_case(method, mixture, "any", metric=metric, heterogeneity=F(1, 2))
        truth = truth_of(weights, curvatures, written, metric, 0.5)
        agree(found, truth)


@pytest.mark.beyond_core  # takes a second
@pytest.mark.parametrize("numbers", [(1, 2), (2, 1, 2)])
def test_unequal_local_steps(numbers):
    def steps(c, k):
        x = c.w
        for _ in range(numbers[k]):
            x = x - 0.4 * c.look(k, x)[0]
        return x

    m = len(numbers)
    found = worst_case(
        fc.FedGD(stepsize=F(2, 5), local_steps=numbers), SmoothStronglyConvex(1, 2), m, heterogeneity=F(1, 2)
    )
    truth = truth_of([1 / m] * m, [(1, 2)] * m, steps, "distance", 0.5)
    agree(found, truth)


def test_equal_kinds_are_one_kind():
    clients, question = SmoothStronglyConvex(1, 3), {"heterogeneity": 1, "metric": "gap"}
    one = worst_case(fc.FedGD(stepsize=F(1, 4), local_steps=2), clients, "any", **question)
    two = worst_case(
        fc.FedGD(stepsize=F(1, 4), local_steps=2),
        ClientGroups(ClientGroup(clients, 1), ClientGroup(clients, 5)),
        "any",
        **question,
    )
    assert abs(one.upper - two.upper) < 1e-9


def test_fedsplit_is_as_slow_as_its_slowest_kind():
    s = F(1, 2)
    mixture = ClientGroups(
        ClientGroup(SmoothStronglyConvex(1, 2), 1), ClientGroup(SmoothStronglyConvex(F(1, 2), 2), 1, 1)
    )
    found = worst_case(fc.FedSplit(stepsize=s), mixture, "any", metric="lifted_distance")
    assert found.lower <= ((1 - s / 2) / (1 + s / 2)) ** 2 <= found.upper
    assert found.upper == F(9, 25)
    assert found.upper - found.lower < 1e-6


def test_kinds_that_are_none():
    with pytest.raises(InvalidInput, match="share"):
        ClientGroup(SmoothConvex(1), 0)
    with pytest.raises(InvalidInput, match="none"):
        ClientGroups()
    with pytest.raises(InvalidInput, match="mu < L"):
        ClientGroup(SmoothStronglyConvex(1, 1), 1)
    with pytest.raises(InvalidInput, match="client groups"):
        worst_case(
            fc.FedGD(stepsize=1),
            ClientGroups(ClientGroup(SmoothConvex(1), 1)),
            4,
            participation=fc.participation.Uniform(2),
        )


KINDS = ClientGroups(ClientGroup(SmoothStronglyConvex(1, 2), 1), ClientGroup(SmoothConvex(4), 3))
METHODS = (
    fc.FedGD(stepsize=F(1, 5), local_steps=2), fc.FedProx(mu=2), fc.FedSplit(stepsize=F(1, 2)), fc.FedDyn(alpha=4),
    fc.DANE(mu=5),
)  # fmt: skip


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("metric", ["distance", "gap", "descent"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_the_attained_end_is_what_simulate_finds(method, metric):
    descent = metric == "descent"
    how = {"dissimilarity": F(3, 2)} if descent else {"heterogeneity": 1}
    found = worst_case(method, KINDS, "any", metric=metric, **how)
    problem, start = found.federation(), np.array(found.start, dtype=float)
    last, zero = fc.simulate(method, problem, 1, x0=start).points[-1], 0 * start
    if descent:
        slope = problem.gradient(start)
        change, size = problem.value(start) - problem.value(last), slope @ slope
    else:
        assert np.allclose(problem.gradient(zero), 0, atol=1e-7)
        pulls = [g @ g for g in problem.client_gradients(zero)]
        change = last @ last if metric == "distance" else problem.value(last) - problem.value(zero)
        size = start @ start + np.average(pulls, weights=np.array(problem.weights, dtype=float))
    assert change / size == pytest.approx(float(found.upper if descent else found.lower), abs=1e-7)


def test_one_client_cannot_count_for_three():
    alone = ClientGroups(ClientGroup(SmoothStronglyConvex(1, 2), 1, 1), ClientGroup(SmoothConvex(4), 3, 1))
    assert worst_case(fc.FedProx(mu=2), alone, "any", heterogeneity=1).federation().num_clients == 2
    with pytest.raises(ValueError, match="not numbers of clients"):
        worst_case(fc.FedDyn(alpha=4), alone, "any", heterogeneity=1).federation()
