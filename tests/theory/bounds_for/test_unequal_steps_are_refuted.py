"""No statement about a method is taken to hold where clients take different numbers of local steps."""

from fractions import Fraction

import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.statements.instance import Instance
from fedconvex.statements.setting import Unmeasured
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
def test_statements_about_methods_do_not_apply(method):
    """The only ones that do are about the problem, and apply to a method of which the catalogue has no statement."""
    found, other = bounds(method(stepsize=S, local_steps=(2, 1))), bounds(fc.FedPD(eta=1))
    assert applying(found) <= applying(other)


def test_one_step_is_one_step_for_all():
    """Nesterov's gradient steps: as many as in FedGD with a single one, and not where a client takes two."""
    one, both, unequal = (applying(bounds(fc.FedGD(stepsize=S, local_steps=e))) for e in (1, (1, 1), (1, 2)))
    assert "nesterov.gradientstep" in (one & both) - unequal


def test_different_numbers_are_not_measured():
    assert Instance(PROBLEM, fc.FedGD(stepsize=S, local_steps=(2, 2))).local_steps == 2
    with pytest.raises(Unmeasured, match="different numbers"):
        _ = Instance(PROBLEM, fc.FedGD(stepsize=S, local_steps=(2, 1))).local_steps


def test_an_inexactness_is_not_measured():
    solver = fc.UnequalSteps(steps=(2, 1), stepsize=S)
    assert bounds(fc.FedProx(mu=1), local_solver=solver)["fedprox.theorem4"].verdict is not Verdict.PROVED
    with pytest.raises(Unmeasured, match="UnequalSteps"):
        _ = Instance(PROBLEM, fc.FedProx(mu=1), local_solver=solver).inexactness
    with pytest.raises(Unmeasured):
        _ = Instance(PROBLEM, fc.FedSplit(stepsize=1), local_solver=solver).prox_error


@pytest.mark.parametrize("method", [fc.FedGD, fc.Scaffold, fc.FedNova, fc.FedLin])
@pytest.mark.parametrize("steps", [(2, 1), (2, 2)])
def test_worst_cases_and_rates_refuse_them(method, steps):
    message = r"^local_steps = .* has a number of local steps for every client, which is not analysed"
    with pytest.raises(InvalidInput, match=message):
        worst_case(method(stepsize=S, local_steps=steps), clients=CLASS, num_clients=2, rounds=1, metric="distance")
    with pytest.raises(InvalidInput, match=message):
        lyapunov(method(stepsize=S, local_steps=steps), clients=CLASS, num_clients=2)


def test_worst_cases_refuse_the_solver():
    solver = fc.UnequalSteps(steps=(2, 1), stepsize=S)
    with pytest.raises(InvalidInput, match=r"^local_solver"):
        worst_case(fc.FedProx(mu=1), clients=CLASS, num_clients=2, rounds=1, metric="distance", local_solver=solver)
