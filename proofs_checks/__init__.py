"""Whether the promises of `fedconvex.theory` hold: a module or folder per paper, named as there, and the kernel.

from fedconvex.proofs_checks import catalogue, verify
verify("fedprox.theorem4").verdict
"""

from importlib import import_module
from typing import Any

from fedconvex.names import unknown_attribute

_CLASSES = "worst_cases.questions.function_classes"
_HOMES = {
    "Result": "verification", "catalogue": "verification", "papers_with_proofs": "verification",
    "verify": "verification", "verify_all": "verification",
    "SmoothConvex": _CLASSES, "SmoothStronglyConvex": _CLASSES, "WeaklyConvex": _CLASSES, "Quadratics": _CLASSES,
    "PolyakLojasiewicz": _CLASSES, "QuadraticGrowth": _CLASSES,
    "SimilarClients": _CLASSES, "ClientGroup": _CLASSES, "ClientGroups": _CLASSES,
    "WorstCase": "worst_cases.result", "worst_case": "worst_cases.worst_case",
    "looseness": "worst_cases.looseness.factor",
    "lyapunov": "search.lyapunov.lyapunov", "Rate": "search.lyapunov.rate",
    "design": "search.lyapunov.design", "Design": "search.lyapunov.design_result",
    "error_floor": "search.lyapunov.error_floors", "ErrorFloor": "search.lyapunov.error_floors",
    "sublinear_rate": "search.lyapunov.sublinear_rates", "SublinearRate": "search.lyapunov.sublinear_rates",
    "NonconvexRate": "search.lyapunov.nonconvex_rates",
    "Discovered": "worst_cases.theorems.discovered", "discover": "worst_cases.theorems.discovery",
    "falsify": "falsification", "Counterexample": "falsification", "prove": "search.prove",
    "Remarks": "remarks", "remarks_on": "remarks", "proof_of": "claims",
}  # fmt: skip
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise unknown_attribute(__name__, name, _HOMES)
