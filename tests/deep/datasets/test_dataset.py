"""`Dataset`: its checks, partitions into clients, splits and scaling."""

from dataclasses import replace

import numpy as np
import pytest
from dataset_makers import refused
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.data.partition import partition
from fedconvex.deep.datasets import Dataset

PICTURES = np.arange(5 * 3 * 2 * 2, dtype=np.uint8).reshape(5, 3, 2, 2)
LABELS = np.array([0, 2, 1, 2, 0])
WHOLE = Dataset(PICTURES, LABELS, 3, "test")


def with_clients(*clients: tuple[str, list[int]]) -> Dataset:
    return Dataset(PICTURES, LABELS, 3, "test", tuple((name, np.array(rows, dtype=int)) for name, rows in clients))


def test_what_it_says_of_itself() -> None:
    assert repr(WHOLE) == "Dataset(5 × (3, 2, 2) uint8, 3 classes, source='test')"
    assert "2 clients" in repr(with_clients(("a", [0]), ("b", [1, 2])))
    assert WHOLE.num_samples == 5
    assert WHOLE.labels.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        WHOLE.inputs[0] = 0
    PICTURES[0] = PICTURES[0]  # what was given stays writable


def test_client_data_are_the_rows_named() -> None:
    (first, own), (second, _) = with_clients(("a", [3, 0]), ("b", [1])).client_data()
    assert np.array_equal(first, PICTURES[[3, 0]])
    assert own.tolist() == [2, 0]
    assert np.array_equal(second, PICTURES[[1]])
    first[:] = 0  # a copy
    assert np.array_equal(WHOLE.inputs, PICTURES)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"labels": LABELS[:4]}, ("4 labels", "is not one label for each of 5 samples")),
        ({"labels": np.array([0, 1, 2, 3, 0])}, ("labels[3] = 3", "3 classes 0 … 2")),
        ({"labels": np.array([0, -1, 2, 0, 0])}, ("labels[1] = -1",)),
        ({"labels": LABELS / 1}, ("are not integers",)),
        ({"labels": LABELS[:, None]}, ("of shape (5, 1)",)),
        ({"num_classes": 0}, ("num_classes = 0",)),
        ({"inputs": PICTURES[:0], "labels": LABELS[:0]}, ("has no samples",)),
        ({"inputs": LABELS}, ("of shape (5,)",)),
        ({"inputs": PICTURES.astype(np.int16)}, ("int16", "give uint8 images, int64 tokens or floats")),
        ({"inputs": PICTURES.astype(object)}, ("object",)),
        ({"inputs": -PICTURES.astype(np.int64)}, ("is a token number below 0",)),
        ({"inputs": np.where(PICTURES == 7, np.nan, 1.0)}, ("inputs[0, 1, 1, 1] = nan", "not finite")),
        ({"clients": ()}, ("contains no client",)),
    ],
)
def test_wrong_samples_are_refused(fields: dict, says: tuple[str, ...]) -> None:
    with refused(*says):
        replace(WHOLE, **fields)


@pytest.mark.parametrize(
    ("clients", "says"),
    [
        ([("a", [0]), ("b", [])], ("clients['b']", "a client without data", "leave the client out")),
        ([("a", [0]), ("b", [5])], ("clients['b'] = 5", "there are 5 samples")),
        ([("a", [-1])], ("clients['a'] = -1",)),
        ([("a", [0, 1]), ("b", [2, 1])], ("clients['b'] = 1", "client 'a' has already")),
        ([("a", [4, 0, 4])], ("clients['a'] = 4", "the same client has already")),
        ([("a", [0]), ("a", [1])], ("clients = a", "is the name of two clients")),
    ],
)
def test_wrong_clients_are_refused(clients: list, says: tuple[str, ...]) -> None:
    with refused(*says):
        with_clients(*clients)


def test_row_numbers_that_are_none_are_refused() -> None:
    for rows in (np.array([0.0]), np.array([[0]]), np.array([True])):
        with refused("clients['a']", "are not row numbers"):
            Dataset(PICTURES, LABELS, 3, "test", (("a", rows),))


def test_without_clients_it_says_how_to_make_some() -> None:
    for ask in (WHOLE.client_data, lambda: WHOLE.sizes, WHOLE.hold_out):
        with refused("has no natural clients", "deal(num_clients)"):
            ask()


@given(
    labels=st.lists(st.integers(0, 3), min_size=20, max_size=60),
    clients=st.integers(1, 8),
    scheme=st.sampled_from(["iid", "dirichlet:0.5", "by-label:2", "lognormal:1"]),
    seed=st.integers(0, 9),
)
def test_dealing_is_the_core_s_own(labels: list[int], clients: int, scheme: str, seed: int) -> None:
    inputs = np.arange(len(labels))[:, None]
    dealt = Dataset(inputs, np.array(labels), 4, "test").deal(clients, scheme, seed)
    expected = partition(labels, clients, scheme, seed)
    assert all(np.array_equal(X[:, 0], rows) for (X, _), rows in zip(dealt.client_data(), expected, strict=True))
    assert dealt.sizes.sum() == len(labels)
    assert [name for name, _ in dealt.clients] == [str(k) for k in range(clients)]


def test_few_samples_of_many_classes_are_dealt_by_class() -> None:
    whole = Dataset(np.zeros((300, 1)), np.repeat(np.arange(150), 2), 150, "test")
    assert all(len(set(y.tolist())) == 2 for _, y in whole.deal(75, "by-label:1").client_data())


@given(sizes=st.lists(st.integers(2, 9), min_size=1, max_size=5), seed=st.integers(0, 9))
def test_held_out_samples_are_the_others_of_each_client(sizes: list[int], seed: int) -> None:
    total = sum(sizes)
    order = np.random.default_rng(seed).permutation(total + 3)  # three rows that nobody has
    rows = np.split(order[:total], np.cumsum(sizes)[:-1])
    clients = tuple((str(k), own) for k, own in enumerate(rows))
    whole = Dataset(np.arange(total + 3)[:, None], np.arange(total + 3) % 2, 2, "test", clients)
    parts = [part.client_data() for part in whole.hold_out(0.3, seed)]
    for k, own in enumerate(rows):
        train, test = (set(part[k][0][:, 0].tolist()) for part in parts)
        assert train | test == set(own.tolist())
        assert not train & test
        assert all(np.array_equal(part[k][0][:, 0] % 2, part[k][1]) for part in parts)


def test_scaling() -> None:
    scaled = WHOLE.scaled().inputs
    assert scaled.dtype == np.float32
    assert scaled[0, 0, 0, 1] == np.float32(1 / 255)
    one = WHOLE.scaled(mean=[0.1, 0.2, 0.3], std=0.5).inputs
    assert one[4, 2, 1, 1] == pytest.approx((59 / 255 - 0.3) / 0.5, rel=1e-6)
    floats = Dataset(PICTURES / 60, LABELS, 3, "test").scaled(std=2).inputs
    assert floats[4, 2, 1, 1] == pytest.approx(59 / 120, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mean": [1, 2]}, ("mean = [1, 2]", "3 channels")),
        ({"std": 0}, ("std = 0", "must be positive")),
        ({"std": [1, 1, -1]}, ("must be positive",)),
        ({"mean": float("nan")}, ("mean = nan",)),
        ({"mean": "light"}, ("mean = light",)),
    ],
)
def test_wrong_scales_are_refused(options: dict, says: tuple[str, ...]) -> None:
    with refused(*says):
        WHOLE.scaled(**options)


def test_tokens_have_no_scale() -> None:
    with refused("token numbers"):
        Dataset(np.array([[1, 2]]), np.array([0]), 1, "test").scaled()


def test_classes_without_samples_are_refused_where_all_are_asserted() -> None:
    assert WHOLE.require_all_classes() is WHOLE
    with refused("num_classes = 5", "2 of them have no sample in test", "class 3"):
        replace(WHOLE, num_classes=5).require_all_classes()
