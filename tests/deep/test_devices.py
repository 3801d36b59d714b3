"""Devices and torch's settings for them, as far as they can be tried where there is no GPU."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import pytest
import torch
from deep_makers import Plain, samples
from torch import backends

import fedconvex as fc
from fedconvex.deep import memory, monitor, processes, run
from fedconvex.deep.devices import device_of, products_in, wait_for
from fedconvex.deep.networks.functional import kernels_for
from fedconvex.deep.plans import available_on
from fedconvex.deep.processes import own_device
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # needs torch

OWNERS = [backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn, backends.mkldnn.matmul]
NEWER: list[Any] = [owner for owner in OWNERS if hasattr(owner, "fp32_precision")]


def settings() -> tuple[Any, ...]:
    cudnn = backends.cudnn
    return [owner.fp32_precision for owner in NEWER], cudnn.deterministic, cudnn.benchmark, cudnn.enabled


@pytest.fixture
def restored() -> Iterator[None]:
    """Torch's settings as they were, after a test that sets them by their newer names."""
    before, for_all = settings()[0], getattr(backends, "fp32_precision", None)
    yield
    if for_all is not None:
        backends.fp32_precision = for_all  # type: ignore[attr-defined]
    torch.set_float32_matmul_precision("highest")
    for owner, digits in zip(NEWER, before, strict=True):
        owner.fp32_precision = digits


@pytest.mark.parametrize("precision", ["full", "tf32", "bf16"])
@pytest.mark.parametrize("name", ["cuda.matmul", "cudnn.conv", "cudnn.rnn", ""])
def test_digits_that_the_caller_set_by_torchs_newer_names(name: str, precision: str, restored: None) -> None:
    """Torch refuses to read its older names after that, and these leave convolutions to a setting for all."""
    owner: Any = attrgetter(name)(backends) if name else backends
    for digits in ("tf32", "ieee"):
        owner.fp32_precision = digits
        before = settings()
        with products_in(precision):
            expected = "tf32" if precision == "tf32" else "ieee"
            assert settings() == ([expected] * len(NEWER), True, False, True)
            assert torch.get_float32_matmul_precision() == ("high" if precision == "tf32" else "highest")
            assert backends.cudnn.allow_tf32 == (precision == "tf32")
        assert settings() == before


def test_older_and_newer_names_at_once(restored: None) -> None:
    torch.set_float32_matmul_precision("high")
    backends.cudnn.conv.fp32_precision = "ieee"  # type: ignore[attr-defined]
    before = settings()
    with products_in("full"):
        assert settings()[0] == ["ieee"] * len(NEWER)
    assert settings() == before
    assert torch.get_float32_matmul_precision() == "high"


def test_no_algorithm_is_chosen_by_a_measurement_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may choose another one when the run goes on, whose last digits differ."""
    monkeypatch.setattr(backends.cudnn, "benchmark", True)
    with products_in("full"):
        assert not backends.cudnn.benchmark
    assert backends.cudnn.benchmark


@pytest.mark.parametrize("layer", [torch.nn.Linear(2, 2), torch.nn.RNN(2, 2)], ids=["linear", "recurrent"])
@pytest.mark.parametrize("place", ["cpu", "meta"])
def test_kernels_that_differ_from_call_to_call_are_left_out_on_devices(layer: torch.nn.Module, place: str) -> None:
    kernels = kernels_for(layer.to(place))
    for _ in range(2):
        with kernels():
            fused = backends.cuda.flash_sdp_enabled() or backends.cuda.mem_efficient_sdp_enabled()
            assert fused == (place == "cpu")
            assert backends.cudnn.enabled == (place == "cpu" or isinstance(layer, torch.nn.Linear))
        assert backends.cudnn.enabled
        assert backends.cuda.flash_sdp_enabled()


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> list[torch.device]:
    """Two GPUs of which only the number is known; the list has those that were made the process's own."""
    chosen: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    return chosen


def test_a_gpu_that_is_not_there_is_an_error(two_gpus: list[torch.device]) -> None:
    assert device_of("cuda:1") == torch.device("cuda", 1)
    assert device_of("auto") == torch.device("cuda")
    with pytest.raises(InvalidInput, match=r"device.*cuda:2.*torch finds 2 GPUs"):
        device_of("cuda:2")


def test_more_processes_than_gpus_are_an_error(two_gpus: list[torch.device], monkeypatch: pytest.MonkeyPatch) -> None:
    place = torch.device("cuda")
    assert own_device(place) == place
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert own_device(torch.device("cpu")) == torch.device("cpu")
    assert two_gpus == []
    assert own_device(place) == torch.device("cuda", 1)
    assert two_gpus == [torch.device("cuda", 1)]
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(InvalidInput, match="torch finds 2 here; start 2 on this machine"):
        own_device(place)


def test_one_gpu_for_several_processes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    connected: list[str] = []
    monkeypatch.setattr(processes.dist, "init_process_group", connected.append)
    monkeypatch.setattr(processes.signal, "signal", lambda *given: None)
    monkeypatch.setattr(processes.atexit, "register", lambda *given: None)
    for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        monkeypatch.setenv(name, "2")
    with pytest.raises(InvalidInput, match=r"device.*cuda:0.*is one GPU for several processes; give 'cuda'"):
        processes.join(torch.device("cuda", 0))
    assert connected == []
    processes.join(torch.device("cuda"))
    processes.join(torch.device("cpu"))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")  # one on each of two machines
    processes.join(torch.device("cuda", 0))
    assert connected == ["nccl", "gloo", "nccl"]


def test_a_clock_is_read_when_the_device_has_done_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    wait_for(torch.device("cpu"))
    wait_for(torch.device("cuda", 1))
    assert waited == [torch.device("cuda", 1)]
    monkeypatch.setattr(monitor, "wait_for", waited.append)
    options: dict[str, Any] = {"local_solver": fc.GradientDescent(steps=1, stepsize=0.1), "rounds": 2}
    seconds = run(fc.FedProx(mu=1), Plain(), samples(), **options).seconds
    assert len(waited) == 1 + 2 + 3  # rounds, and the evaluations of their models and of the first one
    assert set(seconds) == {"rounds", "evaluation"}


def test_memory_that_torch_keeps_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run in a process may use what the first one's tensors took."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda place: (10, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda place: 80)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda place: 5)
    assert available_on(torch.device("cuda")) == 85


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
        (RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`"), False),
        (ValueError("shapes"), False),
    ],
    ids=str,
)
def test_what_tells_that_memory_ran_out(error: Exception, is_memory: bool) -> None:
    assert memory.is_out_of_memory(error) == is_memory
