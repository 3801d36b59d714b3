"""Products of many clients' matrices by torch and by BLAS are the same, in place and without copies."""

import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedconvex.arithmetic.dense import TorchArithmetic
from fedconvex.deep.networks import products
from fedconvex.deep.networks.products import added_product_calls, product_calls

pytestmark = pytest.mark.beyond_core  # imports torch

TYPES = [torch.float32, torch.float64]


@pytest.fixture
def by_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLAS computes all products that it can."""
    monkeypatch.setattr(products, "blas_is_faster", lambda: True)
    monkeypatch.setattr(products, "LEAST", 1)


def numbers(*size: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    """Whole numbers, whose products are exact in every order."""
    return torch.randint(-9, 10, size, generator=torch.Generator().manual_seed(seed)).to(dtype)


def in_rows(matrices: Tensor) -> Tensor:
    """The same (K, a, b) as a part of longer rows, one for each client, as parameters are stored."""
    rows = torch.full((len(matrices), 7 + matrices[0].numel() + 4), torch.nan, dtype=matrices.dtype)
    part = rows[:, 7:-4].unflatten(1, matrices.shape[1:])
    part.copy_(matrices)
    return part


def of_torch(calls: list[Any]) -> bool:
    return any(getattr(call.func, "__name__", "") in ("bmm", "baddbmm_") for call in calls)


@pytest.mark.usefixtures("by_blas")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("size", [(3, 4, 5, 6), (1, 4, 5, 6), (3, 1, 5, 6), (3, 4, 1, 6), (3, 4, 5, 1), (2, 1, 1, 1)])
def test_products(dtype: torch.dtype, turned: tuple[bool, bool], size: tuple[int, ...]) -> None:
    clients, a, b, c = size
    left = numbers(clients, b, a, dtype=dtype).mT if turned[0] else numbers(clients, a, b, dtype=dtype)
    right = (
        in_rows(numbers(clients, c, b, dtype=dtype, seed=1)).mT if turned[1] else numbers(clients, b, c, dtype=dtype)
    )
    out = in_rows(torch.full((clients, a, c), torch.nan, dtype=dtype))  # what it held does not count
    expected = torch.tensor(np.einsum("kab,kbc->kac", left.numpy(), right.numpy()))
    calls = product_calls(left, right, out)
    assert not of_torch(calls)
    for _ in range(2):
        for call in calls:
            call()
        assert torch.equal(out, expected)
    added = added_product_calls(out, left, right, 0.5, -2.0)
    assert not of_torch(added)
    for call in added:
        call()
    assert torch.equal(out, -1.5 * expected)


@pytest.mark.usefixtures("by_blas")
def test_a_call_reads_what_its_operands_hold_then() -> None:
    left, right, out = numbers(2, 3, 4), numbers(2, 4, 5), torch.empty(2, 3, 5, dtype=torch.float64)
    calls = product_calls(left, right, out)
    left.neg_()
    right[0, 0, 0] = torch.nan
    for call in calls:
        call()
    assert torch.equal(out[1], left[1] @ right[1])
    assert out[0, :, 0].isnan().all()
    assert torch.equal(out[0, :, 1:], left[0] @ right[0, :, 1:])


@pytest.mark.usefixtures("by_blas")
def test_results_that_blas_would_copy_are_left_to_torch() -> None:
    left, right = numbers(2, 3, 4), numbers(2, 4, 5)
    for out in (torch.empty(2, 5, 3, dtype=torch.float64).mT, torch.empty(2, 3, 9, dtype=torch.float64)[..., :5]):
        calls = product_calls(left, right, out)
        assert of_torch(calls)
        for call in calls:
            call()
        assert torch.equal(out, left @ right)


def test_small_products_other_types_and_devices_are_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "blas_is_faster", lambda: True)
    large = numbers(1, 64, 64), numbers(1, 64, 16), torch.empty(1, 64, 16, dtype=torch.float64)
    assert not of_torch(product_calls(*large))
    assert of_torch(product_calls(large[0][:, :-1], large[1], large[2][:, :-1]))
    assert of_torch(product_calls(*(part.half() for part in large)))
    assert of_torch(product_calls(*(part.to("meta") for part in large)))
    monkeypatch.setattr(products, "blas_is_faster", lambda: False)
    assert of_torch(product_calls(*large))


@pytest.mark.parametrize(
    ("processor", "blas", "torch_has", "expected"),
    [
        ("AMD EPYC", "openblas SkylakeX", "AVX512", True),
        ("AMD EPYC", "openblas Haswell", "AVX512", False),
        ("AMD EPYC", "openblas Haswell openblas SkylakeX", "AVX512", False),
        ("AMD EPYC", "openblas SkylakeX", "AVX2", False),
        ("Intel(R) Xeon(R)", "openblas SkylakeX", "AVX512", False),
        ("AMD EPYC", "mkl", "AVX512", False),
    ],
)
def test_the_rule(processor: str, blas: str, torch_has: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "processor", lambda: processor)
    monkeypatch.setattr(products, "blas", lambda: blas)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: torch_has)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert products.blas_is_faster.__wrapped__() is expected


def test_within_a_run_blas_has_one_thread() -> None:
    from threadpoolctl import ThreadpoolController

    with TorchArithmetic().context():
        libraries = ThreadpoolController().select(user_api="blas").info()
    assert "scipy.linalg" in sys.modules
    assert {library["num_threads"] for library in libraries} == {1}
