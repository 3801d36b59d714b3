"""The methods, one file each, algebra only."""

from fedconvex.methods.base import Method, State
from fedconvex.methods.fedgd import FedGD
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedsplit import FedSplit

__all__ = ["FedGD", "FedProx", "FedSplit", "Method", "State"]
