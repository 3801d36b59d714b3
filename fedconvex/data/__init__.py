"""Federated data: built-in sets, files and the papers' synthetic data, dealt to clients, as problems."""

from fedconvex.data.builtin import breast_cancer, diabetes, digits
from fedconvex.data.client_sizes import lognormal_sizes, power_law_sizes
from fedconvex.data.feddyn_generator import feddyn_synthetic
from fedconvex.data.federated import FederatedData
from fedconvex.data.fedprox_generator import synthetic, synthetic_iid
from fedconvex.data.fedsplit_families import conditioned_least_squares, fedsplit_least_squares, fedsplit_logistic
from fedconvex.data.load import load
from fedconvex.data.partition import partition
from fedconvex.data.train_test_splits import train_test_split

__all__ = [
    "FederatedData",
    "breast_cancer",
    "conditioned_least_squares",
    "diabetes",
    "digits",
    "feddyn_synthetic",
    "fedsplit_least_squares",
    "fedsplit_logistic",
    "load",
    "lognormal_sizes",
    "partition",
    "power_law_sizes",
    "synthetic",
    "synthetic_iid",
    "train_test_split",
]
