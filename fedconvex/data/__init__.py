"""Federated data: built-in sets and files, dealt to clients, as problems."""

from fedconvex.data.builtin import breast_cancer, diabetes, digits
from fedconvex.data.federated import FederatedData
from fedconvex.data.load import load
from fedconvex.data.partition import partition

__all__ = ["FederatedData", "breast_cancer", "diabetes", "digits", "load", "partition"]
