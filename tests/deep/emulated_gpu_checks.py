"""Tests of the device that stands in for a GPU: code that would fail on a GPU fails on it, too."""

from collections.abc import Callable, Iterator
from typing import Any

import emulated_gpu
import numpy as np
import pytest
import torch
from torch import distributed

from fedconvex.deep.processes import Processes
from fedconvex.methods.base import State


@pytest.fixture
def there() -> Iterator[torch.Tensor]:
    place = emulated_gpu.device()
    with emulated_gpu.Dispatching():
        yield torch.arange(6.0).reshape(2, 3).to(place)


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: (x + x) @ x.T,
        lambda x: x[np.array([1, 0])],
        lambda x: x[torch.tensor([1, 0])],
        lambda x: x.index_select(0, torch.tensor([1, 0]).to(x.device)),
        lambda x: x * torch.tensor(2.0),
        lambda x: torch.func.vmap(torch.sin)(x),
        lambda x: x.new_zeros(2, 3).copy_(torch.ones(2, 3)),
        lambda x: x.clone().unsqueeze(0).squeeze_(0),
    ],
)
def test_it_computes_what_the_cpu_does(there: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]) -> None:
    found = compute(there)
    assert found.device == there.device
    assert found.shape == found.cpu().shape
    torch.testing.assert_close(found.cpu(), compute(there.cpu()))


def test_gradients(there: torch.Tensor) -> None:
    x = there.clone().requires_grad_()
    (gradient,) = torch.autograd.grad((x**2).sum(), x)
    torch.testing.assert_close(gradient.cpu(), 2 * there.cpu())


@pytest.mark.parametrize(
    "mistake",
    [
        lambda x: x + torch.ones(2, 3),
        lambda x: torch.cat([x, torch.ones(2, 3)]),
        lambda x: x.index_select(0, torch.tensor([1])),
        lambda x: torch.ones(6)[x[0].long()],
        lambda x: x.index_put_((torch.tensor([0]),), torch.ones(1, 3)),
        lambda x: np.asarray(x),
        lambda x: x.numpy(),
        lambda x: np.arange(6)[x[0].long()],
    ],
)
def test_mixing_devices_is_an_error(there: torch.Tensor, mistake: Callable[[Any], Any]) -> None:
    with pytest.raises((RuntimeError, TypeError, IndexError)):
        mistake(there)


class TestAStateGatheredFromSeveralGPUs:
    """Two processes' parts of a state on the stand-in; the sum over both is computed here."""

    def processes(self, monkeypatch: pytest.MonkeyPatch, rank: int, others: State) -> Any:
        monkeypatch.setattr(distributed, "get_rank", lambda: rank)
        monkeypatch.setattr(distributed, "get_world_size", lambda: 2)
        made = Processes(5, emulated_gpu.device())
        partner = np.arange(1 - rank, 5, 2)

        def total(self: Any, part: torch.Tensor) -> torch.Tensor:
            begin, rows = summed[0], others.memory["h"]
            summed[0] += len(part)
            for row, k in enumerate(partner):
                if begin <= k < begin + len(part):
                    part[int(k) - begin] += rows[row].to(part.device)
            return part

        summed = [0]
        monkeypatch.setattr(Processes, "total", total)
        return made

    @pytest.mark.parametrize("at_once", [1, 6, 2**24])
    @pytest.mark.parametrize("rank", [0, 1])
    def test_in_pieces_it_is_whole(self, rank: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("fedconvex.deep.processes.GATHERED", at_once)
        everyone = torch.arange(15.0).reshape(5, 3)
        with emulated_gpu.Dispatching():
            parts = [State(torch.zeros(3), {}, {"h": everyone[k::2].to(emulated_gpu.device())}) for k in (0, 1)]
            found = self.processes(monkeypatch, rank, parts[1 - rank]).whole(parts[rank])
        if rank:
            assert found is None
        else:
            assert found.memory["h"].device.type == "cpu"
            assert torch.equal(found.memory["h"], everyone)
