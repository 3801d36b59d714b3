"""Random data, numbers of samples, partitions and splits: arguments that make no sense are refused, with the cure."""

from functools import partial
from typing import Any

import pytest

from fedconvex.data import (
    conditioned_least_squares,
    feddyn_synthetic,
    fedsplit_least_squares,
    fedsplit_logistic,
    lognormal_sizes,
    partition,
    power_law_sizes,
    synthetic,
    synthetic_iid,
    train_test_split,
)
from fedconvex.errors import InvalidInput


def split(sizes: list[int], **options: Any) -> Any:
    return train_test_split(synthetic_iid(clients=len(sizes), features=2, classes=2, sizes=sizes), **options)


OF_BOTH: list[tuple[dict[str, Any], str]] = [
    ({"clients": 0}, "clients = 0.*give clients >= 1"),
    ({"features": 1.5}, "features = 1.5"),
    ({"classes": 1}, "classes = 1.*give classes >= 2"),
    ({"seed": -1}, "seed = -1.*give seed >= 0"),
    ({"sizes": [5, 5]}, r"sizes = \[5, 5\]: must have one entry for each of the 30 clients; correct its length"),
    ({"sizes": 5}, "sizes = 5: must have one entry"),
    ({"clients": 2, "sizes": [5, 0]}, r"sizes\[1\] = 0.*>= 1"),
    (
        {"clients": 1, "sizes": [10**13]},
        "sizes = .*the data with 60 features takes .* GiB, .* left; give smaller sizes",
    ),
]
WRONG: dict[Any, list[tuple[dict[str, Any], str]]] = {
    synthetic_iid: OF_BOTH,
    synthetic: [
        *OF_BOTH,
        ({"alpha": -1}, "alpha = -1: must not be negative; give alpha >= 0"),
        ({"beta": float("inf")}, "beta = inf"),
        ({"reading": "code"}, "reading = code: is not known; give paper or released"),
    ],
    feddyn_synthetic: [
        ({"optima": -1}, "optima = -1: must not be negative; give optima >= 0"),
        ({"features": float("nan")}, "features = nan"),
        ({"sizes": "off"}, "sizes = off"),
        ({"sizes": 100, "reading": "released"}, "sizes = .*features takes .* GiB"),
        ({"clients": 0}, "clients = 0.*give clients >= 1"),
        ({"dimension": 0}, "dimension = 0.*give dimension >= 1"),
        ({"classes": 1}, "classes = 1.*give classes >= 2"),
        ({"average": 0}, "average = 0.*give average >= 1"),
        ({"seed": 0.5}, "seed = 0.5"),
        ({"reading": "both"}, "reading = both: is not known; give paper or released"),
    ],
    partial(partition, labels_or_targets=[1, 2, 3], num_clients=2): [
        ({"num_clients": 4}, "clients = 4: more clients than the 3 samples.*give at most 3"),
        ({"num_clients": 0}, "clients = 0.*give clients >= 1"),
        ({"num_clients": 1.5}, "clients = 1.5"),
        ({"num_clients": True}, "clients = True"),
        ({"seed": -1}, "seed = -1.*give seed >= 0"),
        ({"labels_or_targets": [1.0, float("nan"), 2.0]}, r"targets\[1\] = nan"),
        ({"labels_or_targets": [[1, 2], [3, 4]]}, "one-dimensional"),
        ({"labels_or_targets": [1j, 2, 3]}, "neither numbers nor text"),
        ({"labels_or_targets": []}, "clients = 2: more clients than the 0 samples"),
    ],
    split: [
        ({"sizes": [5, 1, 1]}, "data = .*client '1' has 1 sample, which .*; leave out such clients .there are 2"),
        ({"sizes": [5], "test_fraction": 0}, "test_fraction = 0: must leave.*give 0 < test_fraction < 1"),
        ({"sizes": [5], "test_fraction": 1.0}, "test_fraction = 1.0"),
        ({"sizes": [5], "test_fraction": float("nan")}, "test_fraction = nan"),
        ({"sizes": [5], "seed": -1}, "seed = -1.*give seed >= 0"),
    ],
}
CALLS = [
    (lambda: lognormal_sizes(0, 5, 1), "num_clients = 0.*give num_clients >= 1"),
    (lambda: lognormal_sizes(5, 4, 1), "total = 4: is too small for 5 clients.*give total >= 5"),
    (lambda: lognormal_sizes(5, 9, -1), "sigma = -1: must not be negative; give sigma >= 0"),
    (lambda: lognormal_sizes(5, 9, float("nan")), "sigma = nan"),
    (lambda: lognormal_sizes(5, 9, 1, seed=-1), "seed = -1.*give seed >= 0"),
    (lambda: power_law_sizes(5, 9, minimum=2), "total = 9: is too small.*at least 2.*give total >= 10"),
    (lambda: power_law_sizes(5, 9, minimum=0), "minimum = 0.*give minimum >= 1"),
    (lambda: power_law_sizes(5, 9, exponent=1), "exponent = 1: has no distribution.*give exponent > 1"),
    (lambda: power_law_sizes(5, 9.5), "total = 9.5"),
    (lambda: fedsplit_least_squares(clients=0), "clients = 0.*give clients >= 1"),
    (lambda: fedsplit_least_squares(samples=0), "samples = 0.*give samples >= 1"),
    (lambda: fedsplit_least_squares(noise=-1), "noise = -1: must not be negative; give noise >= 0"),
    (lambda: fedsplit_least_squares(spread=float("inf")), "spread = inf"),
    (lambda: fedsplit_logistic(features=0.5), "features = 0.5"),
    (lambda: fedsplit_logistic(signal=-1), "signal = -1.*give signal >= 0"),
    (lambda: fedsplit_logistic(ridge=-1), "ridge = -1.*give ridge >= 0"),
    (lambda: fedsplit_logistic(seed=-1), "seed = -1.*give seed >= 0"),
    (lambda: conditioned_least_squares(0.5), "kappa = 0.5: is a ratio.*give kappa >= 1"),
    (lambda: conditioned_least_squares(float("nan")), "kappa = nan"),
    (lambda: conditioned_least_squares(10, L=0), "L = 0: must be positive; give L > 0"),
    (lambda: conditioned_least_squares(10, features=1), "features = 1: leaves room for one.*give features >= 2"),
    (lambda: conditioned_least_squares(10, eigenvectors="both"), "eigenvectors = both.*give own or shared"),
    *((partial(make, **options), told) for make, wrong in WRONG.items() for options, told in wrong),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_bad_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call()
