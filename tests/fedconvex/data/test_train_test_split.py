"""Splits into training and test samples: per client, without overlap, reproducible from the seed."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.data import FederatedData, synthetic, train_test_split


def numbered(sizes: list[int], targets=None) -> FederatedData:
    """Data whose only feature is the sample's number among all."""
    ends = np.cumsum([0, *sizes])
    features = tuple(np.arange(a, b, dtype=float)[:, None] for a, b in pairwise(ends))
    targets = targets or tuple(x[:, 0] / 3 for x in features)
    return FederatedData(features, targets, tuple(f"client {k}" for k in range(len(sizes))), ("number",), "a test")


@given(
    sizes=st.lists(st.integers(2, 40), min_size=1, max_size=6),
    fraction=st.floats(0, 1, exclude_min=True, exclude_max=True),
    seed=st.integers(0, 2**64),
)
def test_each_client_keeps_its_samples_in_two_disjoint_parts(sizes, fraction, seed) -> None:
    data = numbered(sizes)
    train, test = train_test_split(data, fraction, seed)
    for k, size in enumerate(sizes):
        parts = train.features[k][:, 0], test.features[k][:, 0]
        assert sorted(np.concatenate(parts).tolist()) == data.features[k][:, 0].tolist()
        assert all((np.diff(part) > 0).all() for part in parts)
        assert min(map(len, parts)) >= 1
        assert 1 in (len(test.features[k]), len(train.features[k])) or abs(len(parts[1]) - fraction * size) <= 0.5
        for part in (train, test):
            assert np.array_equal(part.targets[k], part.features[k][:, 0] / 3)
    assert train.client_names == test.client_names == data.client_names


def test_counts_by_hand() -> None:
    data = numbered([2, 3, 10, 12, 13, 100])
    assert train_test_split(data)[1].sizes.tolist() == [1, 1, 2, 2, 3, 20]
    assert train_test_split(data, 0.1)[1].sizes.tolist() == [1, 1, 1, 1, 1, 10]
    assert train_test_split(data, 0.99)[1].sizes.tolist() == [1, 2, 9, 11, 12, 99]


@pytest.mark.beyond_core  # takes seconds
def test_every_sample_is_as_likely_to_be_held_out() -> None:
    times = np.zeros(10)
    for seed in range(2000):
        times[train_test_split(numbered([10]), 0.3, seed)[1].features[0][:, 0].astype(int)] += 1
    limit = 5 * (2000 * 0.3 * 0.7) ** 0.5
    assert abs(times - 600).max() < limit
    assert not abs(np.repeat([2000, 0], [3, 7]) - 600).max() < limit  # as if the first were always held out


def test_the_seed_decides_and_clients_do_not_feel_each_other() -> None:
    one, same, other = (train_test_split(numbered([30, 20, 20]), seed=s)[1] for s in (0, 0, 1))
    alone = train_test_split(numbered([30]))[1]
    assert np.array_equal(one.features[0], same.features[0])
    assert not np.array_equal(one.features[0], other.features[0])
    assert np.array_equal(one.features[0], alone.features[0])
    assert not np.array_equal(one.features[1] - 30, one.features[2] - 50)


def test_both_parts_keep_all_classes() -> None:
    labels = np.array(["a"] * 9 + ["b"] * 9 + ["c"])
    data = numbered([19], targets=(labels,))
    train, test = train_test_split(data)
    assert len({*train.targets[0].tolist()} ^ {*test.targets[0].tolist()}) > 0  # the c is in one of the two
    assert train.classes.tolist() == test.classes.tolist() == ["a", "b", "c"]
    assert train.problem().dim == test.problem().dim == data.problem().dim
    for part in train_test_split(synthetic(clients=3, sizes=[9, 9, 9])):
        assert part.problem().dim == 610
    assert train_test_split(numbered([9]))[0].task == "regression"
    assert train_test_split(numbered([4], targets=(np.array(["a"] * 4),)))[0].classes.tolist() == ["a"]
