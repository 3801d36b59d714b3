"""Local solvers of users are played on unknown vectors as they are; what symbols cannot give is refused by its name."""

from dataclasses import dataclass
from fractions import Fraction as F
from random import Random
from typing import Any, final

import pytest

import fedconvex as fc
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import State
from fedconvex.parameters import number
from fedconvex.participation import Bernoulli, Uniform, Weighted
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov, worst_case

CHANCE = Random(0)
CLASS = SmoothStronglyConvex(1, 4)


class Own(LocalSolver):
    """What the solvers below share."""

    def require(self, problem: Any, scale: Any, weight: Any) -> None:
        """Steps can be taken on every subproblem."""


@final
@dataclass(frozen=True, kw_only=True)
class HeavyBall(Own):
    """v ← βv − s∇φ_k(θ), θ ← θ + v."""

    steps: int
    stepsize: Any = number()
    momentum: Any = number()

    def solve(self, clients: Any, subproblem: Any, draw: Any = None) -> Answers:
        theta, velocity = subproblem.start, 0 * subproblem.start
        for _ in range(self.steps):
            velocity = self.momentum * velocity - self.stepsize * subproblem.add_gradients(
                theta, clients.gradients(theta)
            )
            theta = theta + velocity
        return Answers(theta)


@final
@dataclass(frozen=True)
class Normalised(Own):
    """A step of length 1."""

    def solve(self, clients: Any, subproblem: Any, draw: Any = None) -> Answers:
        gradient = clients.gradients(subproblem.start)
        return Answers(subproblem.start - gradient / (gradient * gradient).sum() ** 0.5)


@final
@dataclass(frozen=True)
class AtRandom(Own):
    """A step whose length depends on the seed."""

    def solve(self, clients: Any, subproblem: Any, draw: Any = None) -> Answers:
        return Answers(subproblem.start - clients.gradients(subproblem.start) / (8 + draw.seed))


@final
@dataclass(frozen=True)
class ByChance(Own):
    """A step whose length is drawn from a generator of its own."""

    def solve(self, clients: Any, subproblem: Any, draw: Any = None) -> Answers:
        return Answers(subproblem.start - clients.gradients(subproblem.start) / F(1 + CHANCE.randrange(10**9)))


@final
@dataclass(frozen=True)
class ByValues(Own):
    """Polyak's step."""

    def solve(self, clients: Any, subproblem: Any, draw: Any = None) -> Answers:
        return Answers(subproblem.start - clients.values(subproblem.start) * clients.gradients(subproblem.start))


@pytest.mark.parametrize("method", [fc.FedProx(mu=2), fc.FedDyn(alpha=4), fc.FedSplit(stepsize=F(1, 2))])
def test_without_momentum_it_is_gradient_descent(method):
    ball = HeavyBall(steps=2, stepsize=F(1, 8), momentum=0)
    plain = fc.GradientDescent(steps=2, stepsize=F(1, 8))
    one, other = (worst_case(method, CLASS, 2, heterogeneity=1, metric="distance", local_solver=s)
                  for s in (ball, plain))  # fmt: skip
    assert (one.lower, one.upper) == (other.lower, other.upper)


def test_momentum_on_clients_is_proved_and_attained():
    """The federation that attains it is simulated with the same solver, in numbers."""
    ball = HeavyBall(steps=3, stepsize=F(1, 8), momentum=F(1, 2))
    found = worst_case(fc.FedProx(mu=2), CLASS, 2, metric="distance", heterogeneity=1, local_solver=ball)
    problem, start = found.federation(), found.start
    run = fc.simulate(fc.FedProx(mu=2), problem, 1, local_solver=ball, x0=start, arithmetic="exact")
    minimiser = 0 * start
    size = sum(x * x for x in start) + sum(sum(x * x for x in c) for c in problem.c) / problem.num_clients
    assert sum((x - y) ** 2 for x, y in zip(run.points[-1], minimiser, strict=True)) / size == found.lower
    assert found.lower <= found.upper <= found.lower * (1 + F(1, 10**4))
    rate = lyapunov(fc.FedLin(stepsize=F(1, 16), local_steps=2), CLASS)
    assert lyapunov(fc.FedDyn(alpha=4), CLASS, local_solver=ball).lower < 1
    assert rate.upper < 1


@final
@dataclass(frozen=True, kw_only=True)
class AllOrNothing(Averaging):
    """A server that goes on only where everyone has answered."""

    stepsize: Any = number()
    local_steps: int = 1

    @property
    def local_solver(self) -> fc.GradientDescent:
        return fc.GradientDescent(steps=1, stepsize=self.stepsize)

    def update(self, state: State, cohort: Any, answers: Any) -> State:
        return State(cohort.average(answers.points) if cohort.everyone else state.server)


def test_whether_everyone_takes_part_is_no_question_where_chance_decides():
    """The proof would be about rounds in which the server never moves."""
    method = AllOrNothing(stepsize=F(1, 8))
    assert worst_case(method, CLASS, 3, heterogeneity=1, participation=Uniform(2)).upper == 1
    for participation in (Bernoulli(F(1, 2)), Weighted(3)):
        with pytest.raises(fc.InvalidInput, match="asks whether everyone takes part"):
            lyapunov(method, CLASS, 3, participation=participation)


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (Normalised(), "does more than to add"),
        (AtRandom(), "asks for seed"),
        (ByValues(), "asks for values"),
        (ByChance(), "another result when it is called again"),
    ],
    ids=["a norm", "randomness", "values", "another generator"],
)
def test_what_symbols_cannot_give_is_refused(solver, words):
    with pytest.raises(fc.InvalidInput, match=words):
        worst_case(fc.FedProx(mu=2), CLASS, 2, local_solver=solver)
