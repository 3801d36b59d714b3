"""Rates of stepsizes that repeat: the contraction in a period, beside worst cases, explicit maps and one stepsize."""

from fractions import Fraction as F

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Uniform
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds
CLASS = SmoothStronglyConvex(1, 4)


def test_two_stepsizes_beat_the_best_one():
    best = lyapunov(fc.FedGD(stepsize=F(2, 5)), CLASS)
    two = lyapunov(fc.FedGD(stepsize=[F(1, 3), F(1, 2)]), CLASS, period=2)
    assert two.upper == two.lower == F(1, 9) < best.upper**2
    assert str(two.function) == "‖server‖²"
    assert "in 2 rounds" in repr(two)
    assert float(worst_case(fc.FedGD(stepsize=[F(1, 3), F(1, 2)]), CLASS, rounds=2).upper) == pytest.approx(1 / 9)


@pytest.mark.parametrize("pair", [(F(1, 4), F(2, 5)), (F(1, 3), F(1, 2)), (F(1, 2), F(1, 3)), (F(1, 5), F(3, 4))])
def test_two_rounds_from_any_point_contract_no_more_than_the_worst_case(pair):
    method = fc.FedGD(stepsize=list(pair))
    found, rounds = lyapunov(method, CLASS, period=2), worst_case(method, CLASS, rounds=2)
    assert found.lower <= found.upper <= rounds.upper * (1 + F(1, 10**6))
    if str(found.function) == "‖server‖²":
        assert float(rounds.lower) <= float(found.upper) * (1 + 1e-6)


@pytest.mark.parametrize(
    "method",
    [fc.FedDyn(alpha=2), fc.Scaffold(stepsize=F(1, 4), local_steps=2), fc.FedLin(stepsize=F(1, 8), local_steps=(1, 2))],
)
def test_several_rounds_that_are_alike_contract_by_the_power(method):
    one, three = lyapunov(method, CLASS), lyapunov(method, CLASS, period=3)
    assert three.lower == one.lower**3
    assert float(three.upper) == pytest.approx(float(one.upper) ** 3, rel=1e-6)


def test_lists_and_functions_that_repeat_are_alike():
    listed = lyapunov(fc.FedGD(stepsize=[F(1, 4), F(1, 5)]), CLASS, period=2)
    computed = lyapunov(fc.FedGD(stepsize=lambda t: F(1, 4 + t % 2)), CLASS, period=2)
    assert computed.upper == listed.upper == listed.lower == F(9, 16) * F(16, 25)
    longer = lyapunov(fc.FedGD(stepsize=lambda t: F(1, 4 + t % 2)), CLASS, period=4)
    assert longer.upper == listed.upper**2
    assert lyapunov(fc.FedGD(stepsize=[F(1, 4), F(1, 5)]), CLASS, period=F(2)).upper == listed.upper


@pytest.mark.parametrize("steps", [2, (1, 2)])
def test_runs_contract_as_it_says(steps):
    pair = F(1, 4), F(1, 8)
    found = lyapunov(fc.Scaffold(stepsize=list(pair), local_steps=steps), CLASS, period=2)
    problem = found.federation()
    everyone = steps if isinstance(steps, int) else steps * (problem.num_clients // len(steps))
    plays = [rounds_of(fc.Scaffold(stepsize=s, local_steps=everyone), problem, "exact") for s in pair]
    states = [plays[0].start(plays[0].arithmetic.array([F(1)] * problem.dim))]
    for t in range(24):
        states.append(plays[t % 2].advance(states[-1]))
    sizes = [
        np.linalg.norm([float(a - b) for a, b in zip(states[t].flat(), states[t + 2].flat(), strict=True)])
        for t in (8, 20)
    ]
    assert (sizes[1] / sizes[0]) ** (2 / 6) == pytest.approx(float(found.lower), rel=0.02)


def test_curvatures_between_the_extreme_ones_are_refined():
    """The polynomial (1 − a·s)(1 − b·s) of curvatures is largest inside, where the grid of curvatures has no point."""
    found = lyapunov(fc.FedGD(stepsize=[F(1, 4), F(19, 20)]), CLASS, 1, period=2)
    a = float(found.slowest.federation.first)
    grid = np.linspace(1, 4, 100_001)
    values = ((1 - grid / 4) * (1 - grid * 19 / 20)) ** 2
    assert float(found.lower) == pytest.approx(values.max(), rel=1e-6)
    assert 1 < a < 4
    assert found.upper >= found.lower


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        (fc.FedGD(stepsize="1/(8 + t)"), {}, "`worst_case` any schedule"),
        (fc.FedGD(stepsize="1/(8 + t)"), {"period": 3}, "which is 1/8 in round 0 and 1/11 in round 3"),
        (fc.FedGD(stepsize=[F(1, 4), F(1, 2)]), {"period": 3}, "give period=2"),
        (fc.FedGD(stepsize=[F(1, 4), F(1, 2)]), {}, "changes from round to round"),
        (fc.FedDyn(alpha=2), {"period": 0}, "period = 0"),
        (fc.FedDyn(alpha=2), {"period": True}, "period = True"),
        (fc.FedDyn(alpha=2), {"period": 1.5}, "period = 1.5"),
        (fc.FedDyn(alpha=2), {"period": 65}, "at most 64"),
        (fc.Scaffold(stepsize=F(1, 4), local_steps=(1, 4)), {"period": 13}, "66 rows"),
        (fc.FedDyn(alpha=2), {"period": 2, "num_clients": 2, "participation": Uniform(1)}, "leave it out"),
        (fc.Scaffnew(stepsize=F(1, 4), probability=F(1, 2)), {"period": 5}, "at most 4"),
    ],
)
def test_what_does_not_repeat_is_refused(method, options, words):
    with pytest.raises(InvalidInput) as refused:
        lyapunov(method, CLASS, **options)
    assert words in str(refused.value)
    assert refused.value.cure
