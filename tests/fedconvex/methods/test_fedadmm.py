"""FedADMM: to which methods it reduces, where it rests for each server stepsize, what it refuses."""

from fractions import Fraction
from typing import Any

import pytest
from problem_makers import fractions
from round_cases import PARTIAL

import fedconvex as fc
from fedconvex.audit.methods import read_method

F = Fraction
RHO = F(3)
DESIGNS: Any = [[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 1], [2, 5]]]
PROBLEM = fc.LeastSquares(A=DESIGNS, b=[[1, 2], [0, 4], [1, 1]])
FAR = fractions([5, 5])


def test_the_server_is_the_mean_of_all_clients_vectors() -> None:
    """Whoever takes part, with η = |S|/m."""
    who = fc.participation.Schedule(PARTIAL)
    state = fc.simulate(fc.FedADMM(rho=RHO), PROBLEM, 3, who, x0=FAR, arithmetic="exact").state
    u = state.memory["answer"] + state.memory["dual"] / 3
    assert (state.server == u.sum(0) / 3).all()
    other = fc.simulate(fc.FedADMM(rho=RHO, server_stepsize=1), PROBLEM, 3, who, x0=FAR, arithmetic="exact").state
    assert (other.server != (other.memory["answer"] + other.memory["dual"] / 3).sum(0) / 3).all()


@pytest.mark.parametrize("eta", [F(1, 2), F(9, 10), F(3, 2)])
def test_another_server_stepsize_rests_elsewhere(eta) -> None:
    """∇f(w) = (1/η − 1)ρ (x⁽¹⁾ − w), from the origin; the stationarity of the gradients is a second route."""
    found = fc.fixed_point(fc.FedADMM(rho=RHO, server_stepsize=eta), PROBLEM, "exact")
    gradient = (
        sum(
            fractions(A).T @ (fractions(A) @ found.point - fractions(b))
            for A, b in zip(DESIGNS, PROBLEM.b, strict=True)
        )
        / 3
    )
    assert list(gradient) == list((1 / eta - 1) * RHO * (0 - found.point))
    assert not found.bias_is_zero
    assert found.unique is False


@pytest.mark.parametrize("steps", [None, 1, 3])
def test_one_rests_at_the_minimiser(steps) -> None:
    for eta in (None, 1):
        solver = None if steps is None else fc.GradientDescent(steps=steps, stepsize=F(1, 50))
        found = fc.fixed_point(fc.FedADMM(rho=RHO, server_stepsize=eta), PROBLEM, "exact", solver)
        assert found.bias_is_zero
        assert found.attracting


@pytest.mark.beyond_core  # plays 2,700 rounds
def test_what_the_server_stepsize_does_where_two_of_three_take_part() -> None:
    """η = 1 does not find the minimiser: c = ηm/|S| = 3/2 pushes away from the start. η = |S|/m does."""
    minimiser = fc.ground_truth(PROBLEM).point
    pairs = fc.participation.Schedule([[0, 1], [1, 2], [0, 2]] * 300)
    for eta, factor in ((None, 0.0), (F(2, 3), 0.0), (1, 2 / 3 - 1)):
        method = fc.FedADMM(rho=RHO, server_stepsize=eta)
        last = fc.simulate(method, PROBLEM, 900, pairs, x0=[5, 5]).points[-1]
        assert PROBLEM.gradient(last) == pytest.approx(factor * 3 * (5 - last), abs=1e-9)
        assert (abs(last - minimiser).max() < 1e-9) == (factor == 0)


def test_the_command_line_knows_it() -> None:
    assert read_method("fedadmm") == ("fedadmm", {})
    assert read_method("fedadmm:rho=1/2,server_stepsize=1") == ("fedadmm", {"rho": F(1, 2), "server_stepsize": F(1)})
