"""Every promise that the federated-optimization papers make: a number to compute, a proof to run, a run to check.

    import fedconvex as fc
    problem = fc.LeastSquares(A=[A_1, A_2], b=[b_1, b_2])
    fc.fixed_point(fc.FedProx(mu=1), problem, arithmetic="exact").bias

`import fedconvex` costs almost nothing, because a name's module is imported when the name is first used. Type checkers
read `__init__.pyi` instead, which `python docs/making/type_stubs.py` writes from the names below.
"""

from importlib import import_module
from time import time as _time
from typing import Any

# Each of these packages finds its members by searching its folder: a new file there is a new name here.
_SEARCHED = {"methods": "METHODS", "local_solvers": "LOCAL_SOLVERS", "problems": "PROBLEMS"}
_HOMES = {
    "audit.measure": ("audit",),
    "audit.recommendation": ("recommend",),
    "audit.recommendation_result": ("Recommendation",),
    "audit.run_diagnosis": ("RunDiagnosis",),
    "audit.stuck_runs": ("diagnose",),
    "certainty": ("Certainty",),
    "errors": ("FedconvexError", "InvalidInput", "NoFixedPoint", "NoMinimizer", "NotConverged"),
    "fixed_points": ("FixedPoint", "fixed_point"),
    "ground_truths": ("GroundTruth", "ground_truth"),
    "problems.composite": ("CompositeProblem",),
    "problems.heterogeneity": ("dissimilarity", "gradient_variance"),
    "runs.simulation": ("Trajectory", "simulate"),
    "step_numbers": ("RandomNumberOfSteps",),
    "stepsizes": ("StepsizeSchedule",),
    "sweeps": ("Setting", "SweepFailed", "draw_sweep", "sweep"),
}
_MODULES = ("compressors", "data", "deep", "participation", "proofs_checks", "regularizers", "theory")
_LOADED_AT = _time()  # files that are newer hold other code than this process runs, see `installation`
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def _searched(name: str) -> Any:
    """The method, local solver or problem of that name; None where no folder has it."""
    for package, registry in _SEARCHED.items():
        members = getattr(import_module(f"fedconvex.{package}"), registry)
        if name in members:
            return members[name]
    return None


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fedconvex")
    if name == "__all__":
        found = (getattr(import_module(f"fedconvex.{package}"), registry) for package, registry in _SEARCHED.items())
        return sorted([*_HOME_OF, *_MODULES, *(name for members in found for name in members)])
    if name in _MODULES:
        return import_module(f"fedconvex.{name}")
    if name in _HOME_OF:
        return getattr(import_module(f"fedconvex.{_HOME_OF[name]}"), name)
    # Members are classes. Python also asks for names such as `__path__`, which must not import the packages.
    if name[:1].isupper() and (found := _searched(name)) is not None:
        globals()[name] = found  # so that Python does not come here again
        return found
    from fedconvex.names import unknown_attribute

    raise unknown_attribute("fedconvex", name, __getattr__("__all__") if name[:1].isupper() else (*_HOME_OF, *_MODULES))


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__"), "__version__"})
