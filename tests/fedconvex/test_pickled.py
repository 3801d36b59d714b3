"""Every public result survives pickling and copying, with the same text, table and JSON."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_results import LOGISTIC, MAKERS, PAIR, made

import fedconvex as fc
from fedconvex.audit.report import to_dictionary
from fedconvex.pickled import register_flint

pytestmark = pytest.mark.beyond_core  # takes seconds
DRAWN = fc.participation.Uniform(1)
MORE: dict[str, Any] = {
    "run with drawn clients": lambda: fc.simulate(fc.FedDyn(alpha=1), PAIR, 12, participation=DRAWN),
    "run on logistic losses": lambda: fc.simulate(fc.FedSplit(stepsize=1), LOGISTIC, 12),
    "numeric fixed point with memory": lambda: fc.fixed_point(fc.Scaffold(stepsize=0.1, local_steps=3), LOGISTIC),
    "exact fixed point with memory": lambda: fc.fixed_point(fc.FedDyn(alpha=1), PAIR, arithmetic="exact"),
    "ground truth of logistic losses": lambda: fc.ground_truth(LOGISTIC),
    "recommendation under limits": lambda: fc.recommend(PAIR, 1e-2, local_steps=2, participation=DRAWN),
    "diagnosis of losses": lambda: fc.diagnose(np.geomspace(9, 2, 40), fc.FedProx(mu=1), LOGISTIC),
    "diagnosis of gradient norms": lambda: fc.diagnose(
        np.geomspace(9, 2, 40), fc.FedProx(mu=1), LOGISTIC, kind="gradient_norm"
    ),
}


def again(result: Any) -> Any:
    return pickle.loads(pickle.dumps(result))  # noqa: S301 - our own bytes


def lines(result: Any) -> list[str]:
    """What the result prints, without the seconds that a computation took."""
    return [line for line in str(result).splitlines() if "seconds" not in line]


@pytest.mark.parametrize("name", [*MAKERS, *MORE])
def test_a_result_is_the_same_after_pickling_and_copying(name: str) -> None:
    result = MORE[name]() if name in MORE else made(name)
    result.to_frame()  # may compute the minimiser, which the text then uses
    with np.errstate(all="ignore"):
        for other in (again(result), copy.deepcopy(result), again(again(result))):
            assert type(other) is type(result)
            assert lines(other) == lines(result)
            pandas.testing.assert_frame_equal(other.to_frame(), result.to_frame())
            other.plot()


def test_computations_go_on_with_a_pickled_result() -> None:
    """Its functions and cached numbers are left out, and come back where they are needed."""
    diagnosis = again(made("diagnosis"))
    point = np.array([0.5, -1.0])
    assert diagnosis.series.of_point(point) == made("diagnosis").series.of_point(point)
    assert diagnosis.twin.floor == made("diagnosis").twin.floor
    enclosed = made("enclosed fixed point")
    assert again(enclosed).unique is enclosed.unique is True
    assert again(enclosed).attracting == enclosed.attracting
    found = again(made("audit"))
    assert json.dumps(to_dictionary(found)) == json.dumps(to_dictionary(made("audit")))
    run = again(made("run"))
    assert fc.diagnose(run).cause == made("diagnosis").cause


def test_a_pickle_has_the_data_alone() -> None:
    """What was computed on the way, such as clients in other arithmetics, does not travel."""
    fresh = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])
    size = len(pickle.dumps(fresh))
    fc.simulate(fc.FedProx(mu=1), fresh, 5, arithmetic="ball")
    assert len(pickle.dumps(fresh)) == size


@settings(max_examples=40)
@given(st.integers(-(10**40), 10**40), st.integers(1, 10**40), st.integers(0, 600))
def test_flints_numbers_keep_every_bit(numerator: int, denominator: int, bits: int) -> None:
    import flint

    register_flint()
    ratio = flint.fmpq(numerator, denominator)
    assert again(ratio) == ratio
    assert again(flint.fmpz(numerator)) == numerator
    with flint.ctx.workprec(bits + 2):
        ball = flint.arb(ratio).exp() if abs(ratio) < 100 else flint.arb(ratio)
    other = again(ball)  # at another precision than it was made
    assert (other.mid() == ball.mid(), other.rad() == ball.rad()) == (True, True)
    assert copy.copy(ball).mid() == ball.mid()


def test_balls_that_are_not_finite_keep_what_they_are() -> None:
    import flint

    register_flint()
    assert again(flint.arb("inf")) == flint.arb("inf")
    assert again(-flint.arb("inf")) == -flint.arb("inf")
    assert again(flint.arb("nan")).is_nan()
    unknown = again(flint.arb(0, "inf"))
    assert unknown.mid() == 0
    assert not unknown.is_finite()
