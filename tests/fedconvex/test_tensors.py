"""Tensors of all types are read exactly or refused by name; numbers of any length can be shown."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.fingerprints import fingerprint

A, B = [np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, 0.0]])], [np.array([1.0, 2.0]), np.array([3.0])]
PROBLEM = fc.LeastSquares(A=A, b=B)
LONG = Fraction(10**100_000 + 1, 3)  # Python refuses to write it


@pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64], ids=str)
def test_start_points_of_all_types(dtype: torch.dtype, arithmetic: str) -> None:
    values = [0.3, -2.0] if dtype.is_floating_point else [1, -2]
    start = torch.tensor(values, dtype=dtype)
    start.requires_grad_(dtype.is_floating_point)
    found = fc.simulate(fc.FedGD(stepsize=0.125), PROBLEM, 1, x0=start, arithmetic=arithmetic)
    same = fc.simulate(fc.FedGD(stepsize=0.125), PROBLEM, 1, x0=start.tolist(), arithmetic=arithmetic)
    assert np.array_equal(np.asarray(found.points), np.asarray(same.points))  # and no gradient is attached


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_data_and_weights_of_all_types(dtype: torch.dtype) -> None:
    data = [torch.tensor(part, dtype=dtype) for part in A]
    weights = torch.tensor([0.1, 0.3], dtype=dtype, requires_grad=True)
    problem = fc.LeastSquares(A=data, b=B, weights=weights)
    assert all(np.array_equal(one, other.double().numpy()) for one, other in zip(problem.A, data, strict=True))
    first, second = map(Fraction, weights.tolist())
    assert problem.exact_weights == (first / (first + second), second / (first + second))


def test_fingerprints_of_short_floats() -> None:
    short = torch.tensor([0.3, -2.0], dtype=torch.bfloat16)
    marks = {fingerprint(x) for x in (short, short + 1, short.float(), short.view(torch.int16), short.half())}
    assert len(marks) == 5
    assert fingerprint(short) == fingerprint(short.clone())


@pytest.mark.parametrize(
    "start",
    [
        torch.ones(2).to_sparse(),
        torch.ones(2, dtype=torch.complex64),
        torch.ones(2, device="meta"),
        torch.tensor([1.0, np.nan], dtype=torch.bfloat16),
        np.array(["a", "b"], dtype=object),
        np.array([[1], [2, 3]], dtype=object),
        np.array(["a", "b"]),
    ],
    ids=["sparse", "complex", "no values", "NaN", "objects of text", "ragged objects", "text"],
)  # fmt: skip
def test_what_is_no_array_of_numbers_is_refused(start: Any) -> None:
    for arithmetic in ("float", "exact", "torch", "ball"):
        with pytest.raises(InvalidInput, match="x0"):
            fc.simulate(fc.FedProx(mu=1), PROBLEM, 1, x0=start, arithmetic=arithmetic)


@pytest.mark.parametrize(
    "parameters",
    [fc.FedProx(mu=LONG), fc.GradientDescent(steps=1, stepsize=1 / LONG), fc.participation.Bernoulli(Fraction(1, 3))],
)
def test_every_parameter_can_be_shown(parameters: Any) -> None:
    with pytest.raises(ValueError, match="4300 digits"):
        repr(LONG)  # why it takes a function of its own
    assert len(repr(parameters)) < 200
    assert repr(parameters).startswith(type(parameters).__name__ + "(")
    assert repr(fc.FedProx(mu=Fraction(1, 3))) == "FedProx(mu=Fraction(1, 3))"
