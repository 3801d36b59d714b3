"""Clients of one size in one float array: their matrices from one call, equal to each client's own."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import fedconvex as fc

RNG = np.random.default_rng(0)
A, b = RNG.standard_normal((6, 4, 3)), RNG.standard_normal((6, 4))
WEIGHTS = [1, 2, 3, 4, 5, 0]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "unequal"])
@pytest.mark.parametrize("name", ["float", "torch"])
def test_one_array_gives_what_the_clients_give(weights, name) -> None:
    stacked, single = (fc.LeastSquares(A=data, b=b, weights=weights) for data in (A, list(A)))
    scale = None if weights is None else fc.FedSplit(stepsize=1).scale(stacked)
    here, there = (problem.clients(name, scale) for problem in (stacked, single))
    for one, other in ((here.H, there.H), (here.c, there.c), (here.scale, there.scale)):
        assert abs(np.asarray(one) - np.asarray(other)).max() < 1e-14
    assert scale is None or abs(np.asarray(here.H) - A.swapaxes(1, 2) @ A).max() > 0.1  # scales are not forgotten


def test_no_client_is_set_up_alone() -> None:
    stacked = fc.LeastSquares(A=A, b=b)
    with patch.object(fc.LeastSquares, "client_terms", side_effect=AssertionError("one client at a time")):
        run = fc.simulate(fc.FedGD(stepsize=0.01, local_steps=2), stacked, 3)
        with pytest.raises(AssertionError, match="one client"):
            fc.LeastSquares(A=list(A), b=b).clients("float")
    same = fc.simulate(fc.FedGD(stepsize=0.01, local_steps=2), fc.LeastSquares(A=list(A), b=b), 3)
    assert abs(run.points - same.points).max() < 1e-14


def test_exact_numbers_stay_exact() -> None:
    stacked = fc.LeastSquares(A=A, b=b)
    H = stacked.clients("exact").H[2]
    terms = [Fraction(float(row[0])) * Fraction(float(row[1])) for row in A[2]]
    assert Fraction(int(H[0, 1].p), int(H[0, 1].q)) == sum(terms)


def test_squares_beyond_floats_are_refused() -> None:
    with pytest.raises(fc.InvalidInput, match="squares beyond the range"):
        fc.LeastSquares(A=1e200 * A, b=b).clients("float")


def test_scales_of_one_are_no_scales() -> None:
    stacked = fc.LeastSquares(A=A, b=b)
    assert stacked.clients("float", [1] * 6) is stacked.clients("float")
    assert stacked.clients("float", [1] * 5 + [2]) is not stacked.clients("float")


def test_bounds_of_curvature_form_each_matrix_once() -> None:
    problem = fc.LeastSquares(A=list(A), b=b)
    bounds = fc.LeastSquares(A=list(A), b=b).client_bounds
    with patch.object(
        fc.LeastSquares, "client_terms", autospec=True, side_effect=fc.LeastSquares.client_terms
    ) as terms:
        again = problem.client_bounds
    assert terms.call_count == len(A)
    for k, (low, high) in enumerate(again):
        values = np.linalg.eigvalsh(A[k].T @ A[k])
        assert float(low) <= values[0] * (1 + 1e-12)
        assert float(high) >= values[-1] * (1 - 1e-12)
        assert (float(low), float(high)) == tuple(map(float, bounds[k]))
        assert float(low) > 0.99 * values[0]
        assert float(high) < 1.01 * values[-1]
