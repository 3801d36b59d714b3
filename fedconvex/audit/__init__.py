"""The audit of federated data: each method's fixed point, its distance from the minimiser, and its speed."""

from fedconvex.audit.measure import Audit, audit
from fedconvex.audit.methods import default_methods, parse_method

__all__ = ["Audit", "audit", "default_methods", "parse_method"]
