"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from fedconvex.data.builtin.breast_cancer import breast_cancer as breast_cancer
from fedconvex.data.builtin.diabetes import diabetes as diabetes
from fedconvex.data.builtin.digits import digits as digits
from fedconvex.data.client_sizes import lognormal_sizes as lognormal_sizes
from fedconvex.data.client_sizes import power_law_sizes as power_law_sizes
from fedconvex.data.federated import FederatedData as FederatedData
from fedconvex.data.fedsplit_families import conditioned_least_squares as conditioned_least_squares
from fedconvex.data.fedsplit_families import fedsplit_least_squares as fedsplit_least_squares
from fedconvex.data.fedsplit_families import fedsplit_logistic as fedsplit_logistic
from fedconvex.data.frames import from_frame as from_frame
from fedconvex.data.gaussian_clients import feddyn_synthetic as feddyn_synthetic
from fedconvex.data.gaussian_clients import synthetic as synthetic
from fedconvex.data.gaussian_clients import synthetic_iid as synthetic_iid
from fedconvex.data.load import load as load
from fedconvex.data.partition import partition as partition
from fedconvex.data.train_test_splits import train_test_split as train_test_split

__all__ = [
    "FederatedData",
    "breast_cancer",
    "conditioned_least_squares",
    "diabetes",
    "digits",
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
