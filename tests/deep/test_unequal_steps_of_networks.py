"""Deep runs whose clients take different numbers of local steps: against a PyTorch loop, resumed, and from a file."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import NETWORK, samples, vector
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import run
from fedconvex.deep.config import construct
from fedconvex.errors import InvalidInput, ResumedElsewhere

pytestmark = pytest.mark.beyond_core  # trains networks

CLIENTS, STEPS, S = samples(), (3, 1, 5, 2), 0.05
SCHEDULE = [[0, 2], [1, 2, 3], [0, 1, 2, 3]]


def trained(method: Any, rounds: int = 3, **options: Any) -> Any:
    scheme = participation.Schedule(SCHEDULE)
    return run(method, deepcopy(NETWORK), CLIENTS, rounds=rounds, participation=scheme, **options)


def by_hand(steps: tuple[int, ...], normalised: bool) -> np.ndarray:
    """FedGD, or FedNova, client by client."""
    server = deepcopy(NETWORK)
    for members in SCHEDULE:
        moves, start = [], vector(server)
        for k in members:
            own, (inputs, targets) = deepcopy(server), map(torch.as_tensor, CLIENTS[k])
            optimizer = torch.optim.SGD(own.parameters(), lr=S)
            for _ in range(steps[k]):
                optimizer.zero_grad()
                nn.functional.cross_entropy(own(inputs), targets).backward()
                optimizer.step()
            moves.append(vector(own) - start)
        mean = np.mean([steps[k] for k in members])
        shares = [mean / steps[k] if normalised else 1 for k in members]
        moved = start + np.mean([share * move for share, move in zip(shares, moves, strict=True)], axis=0)
        nn.utils.vector_to_parameters(torch.as_tensor(moved), server.parameters())
    return vector(server)


@pytest.mark.parametrize("kind", [fc.FedGD, fc.FedNova])
def test_as_a_loop_over_clients(kind: Any) -> None:
    found = vector(trained(kind(stepsize=S, local_steps=STEPS)).model)
    np.testing.assert_allclose(found, by_hand(STEPS, kind is fc.FedNova), rtol=1e-10)
    assert abs(found - by_hand((1, 3, 5, 2), kind is fc.FedNova)).max() > 1e-4


def test_an_interrupted_run_goes_on_with_the_same_numbers(tmp_path: Any) -> None:
    method, place = fc.Scaffold(stepsize=S, local_steps=STEPS), {"checkpoint": tmp_path / "run"}
    whole = trained(method)
    trained(method, rounds=2, **place)
    np.testing.assert_array_equal(vector(trained(method, **place).model), vector(whole.model))
    for other in ((1, 3, 5, 2), (3, 1, 5, 3), 3):
        with pytest.raises((InvalidInput, ResumedElsewhere), match="method"):
            trained(fc.Scaffold(stepsize=S, local_steps=other), **place)


def test_a_file_gives_them_as_a_list() -> None:
    assert construct(fc.FedGD, {"stepsize": S, "local_steps": list(STEPS)}, "method").local_steps == STEPS
    with pytest.raises(InvalidInput, match=r"method\.local_steps\[1\] = 0"):
        construct(fc.FedGD, {"stepsize": S, "local_steps": [3, 0]}, "method")


def test_a_wrong_number_of_clients_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has 2 numbers for 4 clients"):
        trained(fc.FedGD(stepsize=S, local_steps=(3, 1)))
