"""No statement about a method is taken to hold where clients take different numbers of local steps."""

from fractions import Fraction

import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothStronglyConvex, error_floor, lyapunov, sublinear_rate, worst_case
from fedconvex.theory import bounds_for
from fedconvex.verdicts import Verdict

S = Fraction(1, 200)
PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])
CLASS = SmoothStronglyConvex(mu=1, L=4)
RATE = "scaffold.acceleration"


def bounds(method, **options):
    return bounds_for(method, PROBLEM, x0=[1, 0], rounds=3, **options)


def test_a_rate_for_equal_steps_applies_to_equal_steps_alone():
    one, several, unequal = (
        bounds(fc.Scaffold(stepsize=S, local_steps=steps, server_stepsize=1))[RATE] for steps in (2, (2, 2), (2, 1))
    )
    assert one.value is not None
    assert str(one.value) == str(several.value)  # all clients take two steps
    assert unequal.verdict is Verdict.REFUTED
    assert "different numbers of local steps, (2, 1)" in unequal.reason


def applying(found):
    return {entry.statement.identifier for entry in found if hasattr(entry, "value")}


@pytest.mark.parametrize("method", [fc.FedGD, fc.Scaffold, fc.FedNova, fc.FedLin])
def test_worst_cases_know_them(method):
    equal, alike = (
        worst_case(method(stepsize=S, local_steps=steps), clients=CLASS, num_clients=2, heterogeneity=1)
        for steps in (2, (2, 2))
    )
    assert float(alike.upper) == pytest.approx(float(equal.upper), rel=1e-9)
    found = worst_case(method(stepsize=S, local_steps=(2, 1)), clients=CLASS, num_clients=2, heterogeneity=1)
    assert found.local_steps == (1, 2)
    assert found.lower <= found.upper < float("inf")


@pytest.mark.parametrize("method", [fc.FedGD, fc.FedNova])
@pytest.mark.parametrize("steps", [(2, 1), (2, 2)])
def test_rates_refuse_methods_that_are_biased(method, steps):
    with pytest.raises(InvalidInput, match=r"^method = .* has a biased fixed point"):
        lyapunov(method(stepsize=S, local_steps=steps), clients=CLASS, num_clients=2)


def test_other_rates_refuse_them():
    for other in (sublinear_rate, error_floor):
        with pytest.raises(InvalidInput, match=r"^local_steps = .* differ between clients, which is not analysed here"):
            other(fc.FedLin(stepsize=S, local_steps=(2, 1)), clients=CLASS, num_clients=2)


def test_worst_cases_know_the_solver():
    found = [
        worst_case(fc.FedProx(mu=1), clients=CLASS, num_clients=2, heterogeneity=1, local_solver=solver)
        for solver in (fc.UnequalSteps(steps=(2, 2), stepsize=S), fc.GradientDescent(steps=2, stepsize=S))
    ]
    assert float(found[0].upper) == pytest.approx(float(found[1].upper), rel=1e-9)
