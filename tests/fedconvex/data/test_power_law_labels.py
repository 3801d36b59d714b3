"""Clients with few labels and power-law sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.data import partition
from fedconvex.errors import InvalidInput

MNIST_COUNTS = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)  # its 70,000 images
MNIST = np.repeat(np.arange(10), MNIST_COUNTS)


def labels_held(labels: np.ndarray, parts: list[np.ndarray]) -> list[int]:
    return [np.unique(labels[part]).size for part in parts]


@given(
    labels=st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=60).map(np.array),
    D=st.integers(1, 8),
    seed=st.integers(0, 2**64),
    data=st.data(),
)
def test_no_client_has_more_labels_and_none_is_left_over(labels, D, seed, data) -> None:
    used, counts = np.unique(labels, return_counts=True)
    num_clients = data.draw(st.integers(-(-used.size // D), labels.size).filter(lambda m: m >= 1))
    parts = partition(labels, num_clients, f"power-law-labels:{D}", seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(labels.size))
    held = labels_held(labels, parts)
    assert min(held) >= 1
    assert max(held) <= D
    # as many (client, label) pairs as there can be, dealt out evenly
    assert sum(held) == min(D * num_clients, np.minimum(counts, num_clients).sum())
    assert max(held) - min(held) <= 1


def test_mnist_over_a_thousand_devices() -> None:
    parts = partition(MNIST, 1000, "power-law-labels:2", seed=0)
    assert set(labels_held(MNIST, parts)) == {2}
    pairs = {tuple(np.unique(MNIST[part]).tolist()) for part in parts}
    assert len(pairs) == 45  # all pairs of digits occur
    sizes = np.array([part.size for part in parts])
    assert sizes.sum() == 70000
    assert sizes.min() >= 2


def tail_mean(sizes: np.ndarray) -> float:
    """The mean of log(n/least), which is 1/(exponent − 1) for a power law."""
    return float(np.log(sizes / np.quantile(sizes, 0.02)).clip(0).mean())


def test_sizes_follow_the_power_law() -> None:
    means = [tail_mean(np.array([p.size for p in partition(MNIST, 1000, "power-law-labels:2", s)])) for s in range(4)]
    assert np.allclose(means, 1 / (2.75 - 1), rtol=0.15)
    others = [tail_mean(np.array([p.size for p in partition(MNIST, 1000, s, 0)])) for s in ("iid", "by-label:2")]
    assert not np.isclose(others, 1 / (2.75 - 1), rtol=0.15).any()


def test_labels_with_more_samples_have_more_holders() -> None:
    labels = np.repeat([0, 1, 2], [6000, 3000, 1000])
    parts = partition(labels, 100, "power-law-labels:1", seed=0)
    assert [sum((labels[part] == c).all() for part in parts) for c in (0, 1, 2)] == [60, 30, 10]


@pytest.mark.beyond_core  # takes seconds
def test_a_deal_that_can_come_out_in_one_way_only_does() -> None:
    # 4 clients with 2 labels each and 2 samples each of b and c: a must go to everyone, b and c to two clients each
    labels = np.array(["a"] * 100 + ["b", "b", "c", "c"])
    for seed in range(30):
        held = ["".join(np.unique(labels[part])) for part in partition(labels, 4, "power-law-labels:2", seed)]
        assert sorted(held) == ["ab", "ab", "ac", "ac"]


def test_more_labels_than_there_are_is_all_of_them() -> None:
    labels = np.repeat([0, 1, 2], 500)
    assert set(labels_held(labels, partition(labels, 10, "power-law-labels:9"))) == {3}


def test_too_few_clients_for_all_labels_are_refused() -> None:
    labels = np.arange(10).repeat(9)
    partition(labels, 5, "power-law-labels:2")
    message = r"partition = power-law-labels:2: 4 clients with 2 labels each cannot hold all 10 labels; give D >= 3"
    with pytest.raises(InvalidInput, match=message):
        partition(labels, 4, "power-law-labels:2")
