"""Claims on the results of `simulate`: the rounds that were run, with the certainty of their arithmetic."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.certainty import Certainty
from fedconvex.claims.claim import at_most, equal
from fedconvex.claims.on_runs.draws import every_draw
from fedconvex.claims.on_runs.evaluation import NotOnThisRun
from fedconvex.claims.on_runs.findings import ALL, SAMPLE
from fedconvex.claims.terms import (
    after,
    answers,
    expected,
    gradient,
    mean,
    minimiser,
    number,
    parameter,
    server,
    square,
    sum_of_rounds,
    value,
)
from fedconvex.participation import Bernoulli, Full, Schedule, Stragglers, Uniform, Weighted
from fedconvex.theory import feddyn

pytestmark = pytest.mark.beyond_core

F = Fraction
SMALL = fc.LeastSquares([[[1, 2], [0, 1]], [[3, 1]], [[1, -1], [2, 2]]], [[1, 0], [2], [-1, 1]])


def run(arithmetic: str = "exact", participation: Any = None, **options: Any) -> Any:
    options = {"rounds": 4, "seed": 3, **options}
    return fc.simulate(fc.FedDyn(alpha=300), SMALL, participation=participation or Uniform(2), arithmetic=arithmetic,
                       **options)  # fmt: skip


@pytest.mark.parametrize(("arithmetic", "certainty"), [
    ("exact", Certainty.EXACT), ("ball", Certainty.ENCLOSED), ("float", Certainty.NUMERIC),
    ("torch", Certainty.NUMERIC),
])  # fmt: skip
def test_the_numbers_have_the_certainty_of_the_run(arithmetic: str, certainty: Certainty) -> None:
    found = at_most(expected(square(server(1))), square(server(0)) + 1).on(run(arithmetic))
    assert (found.holds, found.certainty, found.expectation) == (True, certainty, ALL)


def test_lemma1_of_feddyn_holds_in_every_round_with_measured_constants() -> None:
    for arithmetic in ("exact", "ball", "float"):
        found = feddyn.lemma1.claim.on(run(arithmetic))
        assert found.holds is True
        # the smoothness is measured as a ball
        assert found.certainty is (Certainty.NUMERIC if arithmetic == "float" else Certainty.ENCLOSED)
    assert feddyn.lemma1.claim.on(run(), L=F(12)).certainty is Certainty.EXACT


def test_the_rounds_are_those_that_were_run() -> None:
    simulated = run(participation=Schedule([[0, 1], [2], [0], [1, 2]]))
    steps = [((b - a) ** 2).sum() for a, b in zip(simulated.points, simulated.points[1:], strict=False)]
    largest = max(steps)
    assert at_most(square(server(1) - server(0)), number(largest)).on(simulated).holds is True
    found = at_most(square(server(1) - server(0)), number(largest - F(1, 10**9))).on(simulated)
    assert (found.holds, found.round, found.left) == (False, steps.index(largest), largest)


def test_stochastic_local_steps_and_stragglers_are_played_again_as_they_were() -> None:
    step = {"epochs": 2, "stepsize": F(1, 100), "batch_size": 1}
    simulated = fc.simulate(
        fc.FedAvg(**step), SMALL, 3, local_solver=fc.SGD(**step), stragglers=Stragglers(F(1, 2)), seed=5
    )
    steps = [((b - a) ** 2).sum() for a, b in zip(simulated.points, simulated.points[1:], strict=False)]
    found = equal(square(server(1) - server(0)), number(0)).on(simulated)
    assert found.left == pytest.approx(max(steps), rel=1e-12)
    assert found.expectation == SAMPLE


def test_a_sample_of_the_draws_decides_nothing_about_an_expectation() -> None:
    simulated = run("float", Bernoulli(F(1, 2)))
    found = at_most(expected(square(server(1))), number(10**6)).on(simulated)
    assert (found.expectation, found.holds) == (SAMPLE, None)
    assert at_most(square(server(1)), number(10**6)).on(simulated).holds is True


def test_claims_about_a_whole_run_enumerate_its_draws() -> None:
    simulated = run()
    every = after(square(server(0)))
    outcomes = every_draw(Uniform(2), SMALL)
    assert outcomes is not None
    found = equal(every, number(0), rounds="T").on(simulated)
    assert (found.certainty, found.expectation) == (Certainty.EXACT, ALL)
    ends = []
    for sets in np.ndindex(*(3,) * 4):
        plan = Schedule([outcomes[i][1].members.tolist() for i in sets])  # type: ignore[union-attr]
        ends.append((run(participation=plan).points[-1] ** 2).sum())
    assert found.left == sum(ends) / F(len(ends))
    assert at_most(sum_of_rounds(value(server(0)) - value(minimiser)), number(0), rounds="T").on(simulated).left > 0


def test_parameters_are_the_methods_the_counts_and_what_is_given() -> None:
    simulated = run()
    for name, value_of in (("alpha", 300), ("num_clients", 3), ("num_active", 2), ("T", 4)):
        assert equal(parameter(name), number(value_of)).on(simulated).holds is True
    assert equal(parameter("T"), number(7)).on(simulated, T=7).holds is True
    with pytest.raises(NotOnThisRun, match=r"sigma2.*give sigma2=…"):
        equal(parameter("sigma2"), number(7)).on(simulated)


def test_a_minimiser_of_a_logistic_problem_is_numeric_and_never_enclosed() -> None:
    generator = np.random.default_rng(0)
    problem = fc.Logistic(generator.normal(size=(3, 20, 2)), np.sign(generator.normal(size=(3, 20))), ridge=F(1, 10))
    claim = at_most(square(mean(gradient(minimiser))), number(F(1, 10**20)))
    assert claim.on(fc.simulate(fc.FedDyn(alpha=30), problem, 2)).certainty is Certainty.NUMERIC
    with pytest.raises(NotOnThisRun, match="minimiser"):
        claim.on(fc.simulate(fc.FedDyn(alpha=30), problem, 2, arithmetic="ball"))


def test_close_sides_are_not_decided_in_floats() -> None:
    simulated = run("float")
    assert at_most(square(answers), square(answers) * F(10**15 + 1, 10**15)).on(simulated).holds is None
    assert at_most(square(answers) * F(10**15 + 1, 10**15), square(answers)).on(simulated).holds is None
    assert at_most(square(answers) * F(11, 10), square(answers)).on(simulated).holds is False


def test_a_trajectory_that_was_not_simulated_is_refused() -> None:
    with pytest.raises(fc.InvalidInput, match="simulate"):
        at_most(square(server(1)), 1).on(replace(run(), setup=None))


def test_every_draw_has_its_probability() -> None:
    weighted = fc.LeastSquares(SMALL.A, SMALL.b, [1, 2, 3])
    for scheme, size in ((Full(), 1), (Uniform(2), 3), (Weighted(3), 10)):
        outcomes = every_draw(scheme, weighted)
        assert outcomes is not None
        assert (sum(p for p, _ in outcomes), len(outcomes)) == (1, size)
    assert every_draw(Bernoulli(F(1, 2)), weighted) is None
    assert every_draw(Weighted(1000), weighted) is None
