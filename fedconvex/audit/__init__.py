"""The audit of federated data: each method's fixed point, its bias, its speed; which to run, and why a run is stuck."""

import sys
from types import ModuleType
from typing import Any

from fedconvex.audit.measure import Audit, audit
from fedconvex.audit.methods import default_methods, parse_method
from fedconvex.audit.recommendation import recommend
from fedconvex.audit.recommendation_result import Recommendation, RecommendedMethod
from fedconvex.audit.run_diagnosis import RunDiagnosis, StuckCause
from fedconvex.audit.stuck_runs import diagnose

__all__ = [
    "Audit", "Recommendation", "RecommendedMethod", "RunDiagnosis", "StuckCause", "audit", "default_methods",
    "diagnose", "parse_method", "recommend",
]  # fmt: skip


class _CallablePackage(ModuleType):
    """`fedconvex.audit` is this package once it is imported, and the function by its name: both are called alike."""

    __wrapped__ = staticmethod(audit)  # its signature

    def __call__(self, *args: Any, **options: Any) -> Audit:
        return audit(*args, **options)


sys.modules[__name__].__class__ = _CallablePackage
