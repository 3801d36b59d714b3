"""The numbers of `bounds_for`, computed independently."""

from fractions import Fraction
from math import sqrt
from typing import Any

import pytest
import reference_feddyn
import reference_fedprox
import reference_fedsplit
from bound_makers import gradients, mean_square, square, value
from diagonal_problems import EQUAL, GD, HALF, INDEFINITE, START, TWINS, UNEQUAL, Truth, bounds, close
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import entries, few, quadratics, real

import fedconvex as fc
from fedconvex import participation
from fedconvex.theory import bounds_for, feddyn
from fedconvex.theory.bounds import Applies


@pytest.mark.parametrize(
    ("problem", "mu", "K", "solver", "gamma"),
    [
        (TWINS, 60, 200, fc.Exact(), Fraction(0)),
        (TWINS, 60, 200, fc.ToInexactness(Fraction(1, 10)), Fraction(1, 10)),
        # curvatures of the subproblems 61 and 62
        (TWINS, 60, 200, GD, (1 - Fraction(61, 70)) ** 5),
        (INDEFINITE, 400, 400, fc.Exact(), Fraction(0)),
        (INDEFINITE, 400, 400, fc.ToInexactness(Fraction(1, 100)), Fraction(1, 100)),
        (UNEQUAL, 400, 4000, fc.Exact(), Fraction(0)),
    ],
)
def test_numbers_of_fedprox(problem: Any, mu: int, K: int, solver: Any, gamma: Fraction) -> None:
    truth = Truth(problem, fc.FedProx(mu=mu))
    epsilon = truth.square / 2
    found = bounds(problem, fc.FedProx(mu=mu), participation.Weighted(K), local_solver=solver, epsilon=epsilon)
    given_ = {"mu": mu, "L": real(truth.L), "L_minus": real(truth.L_minus), "gamma": real(gamma)}
    B, slope = real(truth.B2) ** 0.5, real(truth.square) ** 0.5
    client = max(real(square(g)) for g in gradients(truth.terms, START)) ** 0.5
    expected = {
        "theorem4": reference_fedprox.theorem4(**given_, B=B, K=K),
        "equation5": reference_fedprox.equation5(mu, given_["L_minus"], given_["gamma"], client),
        "equation6": reference_fedprox.equation6(mu, given_["L_minus"], given_["gamma"], client),
        "equation7": reference_fedprox.equation7(**given_, B=B, gradient=slope),
        "equation8": reference_fedprox.equation8(real(value(truth.terms, START)), **given_, B=B, gradient=slope),
        "equation13": reference_fedprox.equation13(mu, given_["L_minus"], B, given_["gamma"], K, slope),
        "equation14": reference_fedprox.equation14(**given_, B=B, K=K, gradient=slope),
        "corollary10": reference_fedprox.corollary10(real(truth.variance), real(epsilon)),
    }
    assert expected["theorem4"] > 0
    for name, right in expected.items():
        entry = found[f"fedprox.{name}"]
        assert isinstance(entry, Applies), name
        assert close(entry.value, right), name
    eleven = reference_fedprox.theorem11(**given_, sigma2=real(truth.variance), epsilon=real(epsilon), K=K)
    assert isinstance(found["fedprox.theorem11"], Applies) is bool(eleven > 0)
    if eleven > 0:
        assert close(found["fedprox.theorem11"].value, eleven)


@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL, TWINS])
@pytest.mark.parametrize("s", [Fraction(1, 5), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("t", [1, 8])
def test_numbers_of_fedsplit(problem: Any, s: Fraction, t: int) -> None:
    truth = Truth(problem, fc.FedSplit(stepsize=s))
    kappa = max(1 / (s * truth.mu), s * truth.L) ** 2
    right = (1 - 2 / (sqrt(kappa) + 1)) ** t * sqrt(truth.stacked(s) / 3)
    found = bounds(problem, fc.FedSplit(stepsize=s), rounds=t)
    assert close(found["fedsplit.theorem1"].value, right)
    assert close(found["fedsplit.theorem1"].parameters["kappa"], kappa)
    assert close(reference_fedsplit.contraction(real(kappa)), 1 - 2 / (sqrt(kappa) + 1))


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL, TWINS])
@pytest.mark.parametrize("P", [1, 2, 3])
@pytest.mark.parametrize("T", [1, 9])
def test_numbers_of_feddyn(problem: Any, P: int, T: int) -> None:
    alpha, m = 1000, 3
    truth = Truth(problem, fc.FedDyn(alpha=alpha))
    found = bounds(problem, fc.FedDyn(alpha=alpha), participation.Uniform(P), rounds=T)
    r = 1 + truth.mu / alpha
    expected = {
        "theorem2": (10 * alpha * truth.D0 + Fraction(100 * m, P * alpha) * truth.G) / T,
        "theorem3": (20 * alpha * truth.D0 + Fraction(400 * m, P * alpha) * truth.G) / r ** (T - 1),
        "theorem4": (3 * alpha * truth.delta + 30 * truth.L**3 * Fraction(m, P * alpha) * truth.spread) / T,
    }
    for name, right in expected.items():
        assert close(found[f"feddyn.{name}"].value, right), name
    constants = [truth.L, truth.mu, m, P, T, truth.D0, truth.G, truth.delta, truth.spread]
    rates = reference_feddyn.theorem1(*(real(v) for v in constants))
    names = ("L", "mu", "num_clients", "num_active", "T", "D0", "G", "delta", "spread")
    given = {name: float(Fraction(value)) for name, value in zip(names, constants, strict=True)}
    assert all(close(a, b) for a, b in zip(feddyn.theorem1(**given), rates, strict=True))


@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL])
@pytest.mark.parametrize("P", [1, 3])
def test_numbers_of_one_gradient(problem: Any, P: int) -> None:
    alpha, T = 2000, 4
    truth = Truth(problem, fc.FedDynOneGD(alpha=alpha))
    found = bounds(problem, fc.FedDynOneGD(alpha=alpha), participation.Uniform(P), rounds=T)
    part = Fraction(3, P * alpha)
    B0 = mean_square(truth.terms, START)
    assert close(found["feddyn.equation18"].value, (alpha * truth.D0 + 10 * part * truth.G) / T)
    assert close(found["feddyn.equation20"].value, (4 * alpha * truth.delta + 50 * part * truth.L * B0) / T)


@pytest.mark.parametrize("s", [Fraction(1, 9), HALF, Fraction(3, 2)])
def test_numbers_of_gradient_descent(s: Fraction) -> None:
    truth, T = Truth(UNEQUAL, fc.FedGD(stepsize=s)), 6
    # Σ w_k L_k and Σ w_k mu_k with weights 1/6, 2/6, 3/6
    L, mu = Fraction(2 + 6 + 6, 6), Fraction(1 + 2 + 6, 6)
    found = bounds(UNEQUAL, fc.FedGD(stepsize=s), rounds=T)
    factor = max(abs(1 - s * mu), abs(1 - s * L))
    assert close(found["nesterov.gradientstep"].value, factor**T * sqrt(truth.D0))
    if s * L < 2:
        assert close(found["nesterov.smoothfunctions"].value, truth.delta / (T * s * (1 - s * L / 2)))


def test_a_wrong_number_is_not_close() -> None:
    found = bounds(EQUAL, fc.FedDyn(alpha=1000))
    assert not close(found["feddyn.theorem2"].value * (1 + 1e-6), found["feddyn.theorem2"].value)


@few
@given(quadratics(), st.data())
def test_measured_constants_are_the_arguments(problem: Any, data: Any) -> None:
    """What applies was computed from the parameters that it shows, whatever the problem."""
    x = data.draw(entries(problem.dim))
    for method in (fc.FedProx(mu=50), fc.FedSplit(stepsize=1), fc.FedDyn(alpha=300)):
        for entry in bounds_for(method, problem, x0=x, rounds=2).applies:
            again = entry.statement(**entry.parameters)
            again, there = (v if isinstance(v, tuple) else (v,) for v in (again, entry.value))
            assert all(
                float(a) == pytest.approx(float(b), rel=1e-9, abs=1e-12) for a, b in zip(again, there, strict=True)
            )
