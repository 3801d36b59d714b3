"""Federated data: bundled data sets, files and the papers' synthetic data, divided among clients, as problems.

A new data set is a new module in `fedconvex/data/builtin/`; its function is then also an attribute of this package.
"""

from importlib import import_module
from typing import Any

from fedconvex.data import builtin
from fedconvex.data.client_sizes import lognormal_sizes, power_law_sizes
from fedconvex.data.federated import FederatedData
from fedconvex.data.fedsplit_families import conditioned_least_squares, fedsplit_least_squares, fedsplit_logistic
from fedconvex.data.frames import from_frame
from fedconvex.data.gaussian_clients import feddyn_synthetic, synthetic, synthetic_iid
from fedconvex.data.load import load
from fedconvex.data.partition import partition
from fedconvex.data.train_test_splits import train_test_split
from fedconvex.names import unknown_attribute

__all__ = [
    *builtin.names(),
    "FederatedData",
    "conditioned_least_squares",
    "feddyn_synthetic",
    "fedsplit_least_squares",
    "fedsplit_logistic",
    "from_frame",
    "load",
    "lognormal_sizes",
    "partition",
    "power_law_sizes",
    "synthetic",
    "synthetic_iid",
    "train_test_split",
]


def __getattr__(name: str) -> Any:
    if name in builtin.names():
        return getattr(import_module(f"fedconvex.data.builtin.{name}"), name)
    raise unknown_attribute(__name__, name, __all__)
