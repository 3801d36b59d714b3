"""Partitions of samples into clients: every sample once, in the stated proportions."""

from itertools import pairwise

import numpy as np
import pytest
from data_checks import is_variance, scatter
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.data import partition
from fedconvex.data.partition import Scheme, parse_scheme
from fedconvex.errors import InvalidInput

SCHEMES = st.one_of(
    st.just("iid"),
    st.floats(min_value=0, allow_infinity=False, allow_nan=False).map(lambda sigma: f"lognormal:{sigma}"),
    st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False).map(lambda a: f"dirichlet:{a}"),
    st.tuples(st.floats(1e-3, 1e3), st.floats(0, 10)).map(lambda both: "dirichlet:{},lognormal:{}".format(*both)),
    st.integers(1, 10**6).map(lambda d: f"by-label:{d}"),
    st.integers(10, 10**6).map(lambda d: f"power-law-labels:{d}"),  # 10: the deciles of targets that are no labels
)
TARGETS = st.one_of(
    st.lists(st.integers(0, 4), min_size=1, max_size=60),
    st.lists(st.sampled_from(["cat", "dog", "eel"]), min_size=1, max_size=60),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60),
)
SEEDS = st.integers(0, 2**64)


@given(targets=TARGETS, scheme=SCHEMES, seed=SEEDS, data=st.data())
def test_every_sample_goes_to_one_client_and_no_client_goes_without(targets, scheme, seed, data) -> None:
    num_clients = data.draw(st.integers(1, len(targets)))
    parts = partition(targets, num_clients, scheme, seed)
    assert len(parts) == num_clients
    assert min(part.size for part in parts) >= 1
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(targets)))
    assert all((np.diff(part) > 0).all() for part in parts)
    again = partition(targets, num_clients, scheme, seed)
    assert all(np.array_equal(one, other) for one, other in zip(parts, again, strict=True))


EVEN = SCHEMES.filter(lambda scheme: scheme.startswith(("iid", "dirichlet")) and "," not in scheme)


@given(targets=TARGETS, scheme=EVEN, seed=SEEDS, data=st.data())
def test_iid_and_dirichlet_give_equal_shares(targets, scheme, seed, data) -> None:
    num_clients = data.draw(st.integers(1, len(targets)))
    sizes = [part.size for part in partition(targets, num_clients, scheme, seed)]
    assert max(sizes) - min(sizes) <= 1


def test_targets_of_which_a_difference_is_no_float() -> None:
    """Deciles are those of the same targets in other units; an exploration found an overflow between them."""
    ends = np.concatenate([np.linspace(-1.7e308, -1e308, 5), np.linspace(1e308, 1.7e308, 5)])
    for one, other in zip(partition(ends, 5, "dirichlet:0.1"), partition(ends / 1024, 5, "dirichlet:0.1"), strict=True):
        assert np.array_equal(one, other)


@given(
    targets=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=80),
    D=st.integers(1, 5),
    seed=SEEDS,
    data=st.data(),
)
def test_by_label_keeps_labels_few(targets, D, seed, data) -> None:
    # Sort by label and cut into S = min(N·D, n) runs. A run with r labels has r − 1 of the C − 1 label boundaries in
    # it. A client gets at most ceil(S/N) <= D runs, so it holds at most D + (boundaries inside its runs) labels:
    # its excess over D is at most that number of boundaries. Runs are disjoint, so over all clients the excesses sum to
    # at most C − 1.
    # If each label has at least ceil(n/S) samples, the size of the longest run, a run cannot contain a whole label with
    # samples of others on both sides: it holds at most 2 labels, and a client at most 2·D.
    num_clients = data.draw(st.integers(1, len(targets)))
    labels = np.array(targets)
    held = [np.unique(labels[part]).size for part in partition(labels, num_clients, f"by-label:{D}", seed)]
    counts = np.unique(labels, return_counts=True)[1]
    assert sum(max(0, k - D) for k in held) <= counts.size - 1
    longest = -(-len(targets) // min(num_clients * D, len(targets)))
    if counts.min() >= longest:
        assert max(held) <= 2 * D


def test_by_label_with_shards_that_meet_the_boundaries_gives_exactly_d_labels_at_most() -> None:
    labels = np.repeat(np.arange(10), 60)
    parts = partition(labels, 20, "by-label:2", seed=3)
    assert all(part.size == 30 and np.unique(labels[part]).size <= 2 for part in parts)


def test_seeds_differ() -> None:
    one, other = (np.concatenate(partition(range(100), 4, "iid", seed)) for seed in (0, 1))
    assert not np.array_equal(one, other)


def skew(labels: np.ndarray, scheme: str) -> float:
    """Mean over clients of the largest share that one label has there."""
    parts = partition(labels, 10, scheme, seed=1)
    return float(np.mean([np.bincount(labels[part]).max() / part.size for part in parts]))


def test_alpha_sets_the_skew() -> None:
    labels = np.random.default_rng(0).integers(0, 10, 5000)
    nearly_iid, mild, strong = (skew(labels, f"dirichlet:{alpha}") for alpha in (1e6, 10, 0.1))
    assert nearly_iid < 0.15
    assert nearly_iid + 0.1 < mild < strong - 0.1


def test_dirichlet_draws_proportions_around_those_of_the_whole() -> None:
    labels = np.repeat([0, 1], [9000, 1000])
    *shares, leftover = [np.mean(labels[part]) for part in partition(labels, 10, "dirichlet:1e9", seed=0)]
    deviation = np.sqrt(0.1 * 0.9 / 1000)
    assert np.allclose(shares, 0.1, atol=4 * deviation)
    assert abs(leftover - 0.1) <= 4 * 3 * deviation  # the last of 10 gets what 9 independent draws have left


def labels_that_hold_most(scheme: str) -> float:
    """How many labels hold 80 % of a client's samples, on average, with 100 clients of 600 samples of 10 labels."""
    labels = np.repeat(np.arange(10), 6000)
    falling = [-np.sort(-np.bincount(labels[part], minlength=10)) for part in partition(labels, 100, scheme, seed=0)]
    return float(np.mean([np.searchsorted(np.cumsum(counts), 0.8 * counts.sum()) + 1 for counts in falling]))


def test_feddyn_priors_of_0_6_and_0_3_are_alpha_6_and_3() -> None:
    # FedDyn, section 4: of MNIST, 100 devices have "about 5 and 3 classes that consume 80% of local data"
    assert 4 < labels_that_hold_most("dirichlet:6") < 5
    assert 2.5 < labels_that_hold_most("dirichlet:3") < 3.5
    assert labels_that_hold_most("dirichlet:0.6") < 2  # a prior of 0.06 for each label


@pytest.mark.beyond_core  # takes seconds
def test_lognormal_sizes_have_their_spread_and_samples_are_iid() -> None:
    labels = np.random.default_rng(0).integers(0, 2, 10**6)
    parts = partition(labels, 400, "lognormal:0.3", seed=0)
    sizes = np.array([part.size for part in parts])
    assert is_variance(scatter(np.log(sizes)), 399, 0.3**2)
    deviates = [(labels[part].mean() - labels.mean()) * 2 * part.size**0.5 for part in parts]
    assert is_variance(float(np.sum(np.square(deviates))), 399, 1)
    iid = np.array([part.size for part in partition(labels, 400, "iid", seed=0)])
    assert not is_variance(scatter(np.log(iid)), 399, 0.3**2)
    skewed = [labels[part].mean() for part in partition(labels, 400, "dirichlet:2", seed=0)]
    assert not is_variance(float(np.sum(np.square((np.array(skewed) - labels.mean()) * 2 * 50))), 399, 1)


def test_no_spread_of_sizes_is_equal_sizes() -> None:
    assert {part.size for part in partition(range(100), 10, "lognormal:0")} == {10}


def test_labels_as_in_one_scheme_and_sizes_as_in_another() -> None:
    labels = np.random.default_rng(0).integers(0, 10, 10**5)
    both, sizes_alone = (partition(labels, 400, s, seed=0) for s in ("dirichlet:3,lognormal:0.3", "lognormal:0.3"))
    assert [part.size for part in both] == [part.size for part in sizes_alone]
    assert is_variance(scatter(np.log([part.size for part in both])), 399, 0.3**2)
    assert abs(skew(labels, "dirichlet:3,lognormal:0.3") - skew(labels, "dirichlet:3")) < 0.1
    assert skew(labels, "lognormal:0.3") < skew(labels, "dirichlet:3") - 0.1


@pytest.mark.parametrize("alpha", ["5e-324", "1e308"])
def test_dirichlet_survives_extreme_alpha(alpha: str) -> None:
    labels = np.repeat(np.arange(5), 40)
    parts = partition(labels, 8, f"dirichlet:{alpha}", seed=0)
    assert [part.size for part in parts] == [25] * 8
    if alpha == "5e-324":
        assert np.unique(labels[parts[0]]).size == 1


def test_regression_targets_are_binned_at_deciles() -> None:
    targets = np.random.default_rng(0).normal(size=1000)
    parts = partition(targets, 10, "by-label:1", seed=0)
    ends = sorted((targets[part].min(), targets[part].max()) for part in parts)
    assert all(before[1] < after[0] for before, after in pairwise(ends))


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("iid", Scheme("iid", 0)),
        (" iid ", Scheme("iid", 0)),
        ("dirichlet:0.3", Scheme("dirichlet", 0.3)),
        ("by-label:2", Scheme("by-label", 2)),
        ("lognormal:0", Scheme("lognormal", 0)),
        ("lognormal:.3", Scheme("lognormal", 0.3)),
        ("power-law-labels:2", Scheme("power-law-labels", 2)),
        ("dirichlet:3, lognormal:0.3", Scheme("dirichlet", 3, 0.3)),
    ],
)
def test_parse_scheme(text: str, scheme: Scheme) -> None:
    assert parse_scheme(text) == scheme


@pytest.mark.parametrize(
    "text",
    [
        "",
        "IID",
        "iid:",
        "iid:3",
        "dirichlet",
        "dirichlet:",
        "dirichlet:0",
        "dirichlet:-1",
        "dirichlet:nan",
        "dirichlet:inf",
    ]
    + ["iid,lognormal:1", "lognormal:1,dirichlet:3", "dirichlet:3,lognormal:x", "dirichlet:3,lognormal:1,iid"]
    + ["dirichlet:x", "by-label", "by-label:0", "by-label:0.5", "by-label:2.5", "by-label:-1", "quantity:3", 7, None]
    + ["lognormal", "lognormal:-1", "lognormal:inf", "power-law-labels", "power-law-labels:0", "power-law-labels:1.5"],
)
def test_a_scheme_that_makes_no_sense_is_refused(text) -> None:
    with pytest.raises(InvalidInput, match=r"partition = .*(dirichlet:ALPHA).*(by-label:D)"):
        parse_scheme(text)


def test_a_natural_partition_is_not_dealt() -> None:
    with pytest.raises(InvalidInput, match=r"partition = natural: is the data's own partition.*client_column"):
        partition(range(9), 3, "natural")
