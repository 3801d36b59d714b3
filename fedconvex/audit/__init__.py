"""The audit of federated data: each method's fixed point, its bias, its speed; which to run, and why a run is stuck."""

from fedconvex.audit.measure import Audit, audit
from fedconvex.audit.methods import default_methods, parse_method
from fedconvex.audit.recommendation import Recommendation, RecommendedMethod, recommend

__all__ = [
    "Audit", "Recommendation", "RecommendedMethod", "audit", "default_methods", "parse_method", "recommend",
]  # fmt: skip
