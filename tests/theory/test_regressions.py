"""Calls that formerly gave a wrong answer, did not end, or raised an unhelpful error."""

from fractions import Fraction as F

import flint
import numpy as np
import pandas as pd
import pytest
import sympy
import torch

from fedconvex.errors import InvalidInput
from fedconvex.theory import feddyn, fedprox, fedsplit, nesterov

AT = {"mu": 50, "L": 1, "L_minus": 0, "B": 1.25, "gamma": 0, "K": 10}
EX = {n: F(v) for n, v in AT.items()}


def test_object_arrays():
    r = fedprox.rho(**{**EX, "mu": np.array([F(50), F(60)], dtype=object)})
    assert len(r) == 2


@pytest.mark.parametrize("mixed", [{"mu": flint.fmpq(50)}, {"mu": flint.fmpz(50)}, {"L_minus": flint.fmpq(1)}], ids=str)
def test_fmpq_beside_ints(mixed):
    assert float(fedprox.rho(**{**EX, **mixed})) < 1


def test_feddyn_fmpq_beside_ints():
    assert feddyn.convex_bound(alpha=flint.fmpq(50), L=1, num_clients=1, num_active=1, T=1, D0=1, G=1) == 502


def test_nesterov_rounds_default_step_is_exact():
    assert nesterov.rounds(mu=1, L=2, initial_distance=9, epsilon=1) == 2
    assert nesterov.rounds(mu=3.3, L=3.3, initial_distance=1, epsilon=1e-30) == 1


def test_best_mu_near_no_slack():
    best = fedprox.best_mu(L=1, L_minus=0, B=2 - F(1, 10**70), gamma=0, K=8)
    assert best.mu.is_finite()
    assert best.rho > 0
    assert fedprox.mu_range(L=1, L_minus=1, B=2 - F(1, 10**70), gamma=0, K=8).low.is_finite()


def test_iterations_sign():
    assert fedprox.iterations.sign(delta=1, rho=F(1, 3), epsilon=3).name == "POSITIVE"


def test_empty():
    assert fedprox.iterations(delta=np.array([]), rho=1.0, epsilon=1.0).shape == (0,)


def test_empty_named():
    assert type(fedprox.necessary_margins(B=np.array([]), gamma=0, K=3)).__name__ == "Margins"


D = {"A": [np.eye(2)], "b": [np.ones(2)]}


REFUSED_RHO = [
    *[
        {"mu": v}
        for v in ([1, None], np.array([1, "a"], dtype=object), [50, float("nan"), 2**70], pd.Series(["50", "a"]))
    ],
    *[{"mu": v} for v in ([[1], [1, 2]], [50, True], sympy.nan, sympy.eye(2), sympy.true)],
    {"mu": np.empty(0), "B": 0.5},
    {"B": np.array([np.longdouble(1) - np.longdouble(2) ** -60])},
    {"mu": 1, "L_minus": 10**400},
    {"mu": 1, "L_minus": 10**5000},
    {"K": -(10**5000)},
]
REFUSED = [
    *[lambda v=v: fedprox.rho(**{**AT, **v}) for v in REFUSED_RHO],
    lambda: feddyn.convex_bound(alpha=F(1), L=F(10) ** 400, num_clients=1, num_active=1, T=1, D0=1, G=1),
    # designs are of one problem
    lambda: fedprox.smallest_K(B=np.ones(2), gamma=0),
    lambda: fedprox.smallest_K(mu=np.array([50.0, 60.0]), L=1, L_minus=0, B=1.2, gamma=0),
    lambda: fedprox.best_mu(L=sympy.Integer(2), L_minus=0, B=1, gamma=0, K=10),
    lambda: fedsplit.rounds(kappa=np.array([1.0, 2.0]), initial_distance=1, num_clients=1, epsilon=0.1),
    lambda: nesterov.rounds(mu=np.ones(2), L=2.0, initial_distance=1, epsilon=0.1),
    # beyond what floats hold
    lambda: fedsplit.optimal_stepsize(mu=F(1) + F(1, 10**30), L=np.array([1.0, 2.0])),
    lambda: feddyn.smallest_alpha_nonconvex(L=1.0, num_active=2**53 + 1, num_clients=np.array([2**53])),
    lambda: feddyn.lemma14(A=np.array([1.0, 2.0]), gap=1.0, alpha=1e-200, L=1.0),
    lambda: feddyn.lemma14(A=torch.tensor([1.0, 2.0]), gap=1.0, alpha=1e200, L=1.0),
    lambda: fedprox.iterations(delta=torch.tensor([1e300], dtype=torch.float64), rho=1e-10, epsilon=1e-10),
    # lengths
    lambda: fedprox.objective(weights=[F(1, 2), F(1, 2)], values=[F(1)]),
    lambda: fedprox.objective(weights=[np.ones(2), 0.5], values=[1.0]),
    lambda: fedsplit.regularized_objective(values=[F(1), F(2)], squared_distances=[F(1)], regularizer=1),
    lambda: fedsplit.condition_number(mus=[1, 2, 3], Ls=[4]),
    # matrices
    *[lambda v=v: fedsplit.fedprox_fixed_point(**D, stepsize=v) for v in ("x", None, True, np.array([0.1, 0.2]), 1j)],
    lambda: fedsplit.fedgd_fixed_point(**D, stepsize=0.1, local_steps="2"),
    lambda: fedsplit.fedprox_fixed_point(A=[np.eye(2) * np.nan], b=[np.ones(2)], stepsize=1.0),
    lambda: fedsplit.least_squares_objective(A=[np.eye(2)], b=[np.array([np.inf, 1])], x=np.ones(2)),
    lambda: fedsplit.least_squares_objective(A=[np.eye(2) * 1e300], b=[np.ones(2)], x=np.ones(2) * 1e300),
    lambda: fedsplit.least_squares_objective(A=[np.eye(2) * 1j], b=[np.ones(2)], x=np.ones(2)),
    lambda: fedsplit.least_squares_objective(A=[["a"]], b=[np.ones(2)], x=np.ones(2)),
    lambda: fedsplit.least_squares_objective(A=[[[1, 2], [3]]], b=[np.ones(2)], x=np.ones(2)),
    lambda: fedsplit.least_squares_objective.sign(**D, x=np.ones(2)),
]
SAID = [
    (lambda: fedprox.rho(**{**AT, "mu": torch.ones(3) * 50, "L": torch.ones(2)}), "broadcast"),
    (lambda: fedprox.rho(**{**AT, "mu": torch.ones(3) * 50, "L_minus": torch.zeros(2)}), "broadcast"),
    (lambda: fedprox.rho.sign(**{**AT, "mu": np.ones(3) * 50, "L_minus": np.zeros(2)}), "broadcast"),
    (lambda: fedprox.objective(weights=[0.5, 0.5], values=[1.0]), "length"),
]


@pytest.mark.parametrize(("call", "said"), [*SAID, *((call, None) for call in REFUSED)])
def test_refused(call, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        call()
    assert str(caught.value)


def test_matrices_numpy_number():
    assert fedsplit.fedgd_fixed_point(**D, stepsize=np.float32(0.125), local_steps=np.int64(3)).shape == (2,)


def test_rounds_where_the_floor_is_the_accuracy():
    assert fedsplit.rounds(kappa=1, initial_distance=5, num_clients=2, epsilon=2, b=1) == 1
    assert fedsplit.rounds(kappa=4, initial_distance=0, num_clients=2, epsilon=3, b=1) == 1


def test_smallest_alpha_is_accepted():
    for i in range(1, 100):
        L = i * 0.1
        feddyn.convex_bound(alpha=feddyn.smallest_alpha_convex(L=L), L=L, num_clients=4, num_active=2, T=1, D0=1, G=1)


def test_best_alpha_is_accepted():
    g = {"L": F(91, 1000), "D0": F(1, 500), "G": F(1, 1000), "num_clients": 1, "num_active": 1}
    feddyn.convex_bound(alpha=feddyn.best_alpha_convex(**g), T=1, **g)


def test_growth_sum():
    assert feddyn.growth_sum(alpha=1e20, mu=1.0, T=3) == pytest.approx(3)


def test_torch_promotion():
    assert (
        nesterov.contraction(
            stepsize=torch.tensor(0.1), mu=torch.tensor([0.3], dtype=torch.float64), L=torch.tensor([1.0])
        ).dtype
        == torch.float64
    )


def test_bfloat16():
    fedprox.rho(**{**AT, "mu": torch.ones(3, dtype=torch.bfloat16) * 50})
