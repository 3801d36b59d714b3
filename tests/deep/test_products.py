"""Products of many clients' matrices by torch and by BLAS are the same, in place and without copies."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, FEATURES, random, samples, vector
from torch import Tensor

import fedconvex as fc
from fedconvex.arithmetic import dense
from fedconvex.arithmetic.dense import TorchArithmetic
from fedconvex.deep import models, run
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


@pytest.fixture
def blas_threads() -> Iterator[Any]:
    """A function that gives the BLAS libraries' numbers of threads, which are two outside of runs.

    SCS has a library that was built without threads, which always has one.
    """
    from threadpoolctl import ThreadpoolController

    def threads() -> set[int]:
        libraries = ThreadpoolController().select(user_api="blas").info()
        return {found["num_threads"] for found in libraries if found["threading_layer"] != "disabled"}

    with ThreadpoolController().limit(limits=2, user_api="blas"):
        yield threads


def test_a_run_by_blas_is_the_run_by_torch_and_resumes_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, blas_threads: Any
) -> None:
    """In one thread, to rounding; a plain loop is what runs are compared with elsewhere."""
    monkeypatch.setattr(products, "LEAST", 1)
    monkeypatch.setattr(products, "blas_is_faster", lambda: True)
    threads: list[set[int]] = []

    def once(rounds: int = 4, checkpoint: Path | None = None) -> np.ndarray:
        model = random(models.fully_connected([FEATURES, 20, 15, CLASSES]))
        solver = fc.SGD(epochs=2, batch_size=5, stepsize=0.1, momentum=0.5)
        clients = samples()
        found = run(
            fc.FedProx(mu=0.1), model, clients, rounds=rounds, local_solver=solver, checkpoint=checkpoint,
            watch=lambda record, model: threads.append(blas_threads()),
        )  # fmt: skip
        return vector(found.model)

    by_blas = once()
    once(2, tmp_path / "run")
    assert (once(4, tmp_path / "run") == by_blas).all()
    assert threads
    assert all(found == {1} for found in threads)
    assert blas_threads() == {2}
    monkeypatch.setattr(products, "blas_is_faster", lambda: False)
    by_torch, start = once(), vector(random(models.fully_connected([FEATURES, 20, 15, CLASSES])))
    assert np.linalg.norm(by_blas - by_torch) <= 1e-12 * np.linalg.norm(by_torch - start)
    assert (by_blas != by_torch).any()  # or BLAS computed nothing


def test_torch_alone_needs_no_library_that_limits_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "is_installed", lambda name: name != "threadpoolctl")
    monkeypatch.setattr(dense, "_blas_threads", None)
    with TorchArithmetic().context():
        assert torch.get_num_threads() == 1
