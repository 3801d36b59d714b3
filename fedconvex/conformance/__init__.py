"""Conformance checks of other people's implementations: exact problems, exact trajectories, identified edits.

    from fedconvex.conformance import check
    print(check(fc.Scaffold(stepsize=0.1, local_steps=5), init=…, round=…, server_model=…).report())

`check` runs the implementation on small least-squares problems (`scenarios`), computes the trajectory that the method
takes there (`reference`), and, where the two differ, identifies which edits of the method's round reproduce the
implementation's numbers (`identification`). `trainer` checks a PyTorch client's local training alone;
`adapters` has the parts of an adapter for a framework; those for nine frameworks are in `examples/frameworks`.
"""

from fedconvex.conformance.check import check as check
from fedconvex.conformance.decorator import DoesNotConform as DoesNotConform
from fedconvex.conformance.decorator import conforms_to as conforms_to
from fedconvex.conformance.findings import ConformanceFinding as ConformanceFinding
from fedconvex.conformance.report import Deviation as Deviation
from fedconvex.conformance.report import Property as Property
from fedconvex.conformance.report import Report as Report

__all__ = ["ConformanceFinding", "Deviation", "DoesNotConform", "Property", "Report", "check", "conforms_to"]
