"""Is my implementation right? A kit for other people's code: exact problems, exact trajectories, named faults.

from fedconvex.conformance import check
print(check(fc.Scaffold(stepsize=0.1, local_steps=5), init=…, round=…, server_model=…).report())
"""

from fedconvex.conformance.check import check as check
from fedconvex.conformance.decorator import DoesNotConform as DoesNotConform
from fedconvex.conformance.decorator import conforms_to as conforms_to
from fedconvex.conformance.findings import ConformanceFinding as ConformanceFinding
from fedconvex.conformance.report import Deviation as Deviation
from fedconvex.conformance.report import Property as Property
from fedconvex.conformance.report import Report as Report

__all__ = ["ConformanceFinding", "Deviation", "DoesNotConform", "Property", "Report", "check", "conforms_to"]
