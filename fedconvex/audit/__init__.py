"""The audit of federated data: where each method stops, how far that is from the truth, and how fast it gets there."""

from fedconvex.audit.measure import Audit, audit
from fedconvex.audit.methods import default_methods, parse_method

__all__ = ["Audit", "audit", "default_methods", "parse_method"]
