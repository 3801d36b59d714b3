"""Every promise that the federated-optimization papers make: a number to compute, a proof to run, a run to check.

    import fedconvex as fc
    problem = fc.LeastSquares(A=[A_1, A_2], b=[b_1, b_2])
    fc.fixed_point(fc.FedProx(mu=1), problem, arithmetic="exact").bias

Names load when first used, so that `import fedconvex` costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedconvex import data as data
    from fedconvex import participation as participation
    from fedconvex.certainty import Certainty as Certainty
    from fedconvex.errors import FedconvexError as FedconvexError
    from fedconvex.errors import InvalidInput as InvalidInput
    from fedconvex.errors import NoFixedPoint as NoFixedPoint
    from fedconvex.errors import NoMinimizer as NoMinimizer
    from fedconvex.errors import NotConverged as NotConverged
    from fedconvex.fixed_points import FixedPoint as FixedPoint
    from fedconvex.fixed_points import fixed_point as fixed_point
    from fedconvex.ground_truths import GroundTruth as GroundTruth
    from fedconvex.ground_truths import ground_truth as ground_truth
    from fedconvex.local_solvers import SGD as SGD
    from fedconvex.local_solvers import AcceleratedGradient as AcceleratedGradient
    from fedconvex.local_solvers import Exact as Exact
    from fedconvex.local_solvers import GradientDescent as GradientDescent
    from fedconvex.local_solvers import Newton as Newton
    from fedconvex.local_solvers import ToInexactness as ToInexactness
    from fedconvex.methods.adaptive_fedprox import AdaptiveFedProx as AdaptiveFedProx
    from fedconvex.methods.dane import DANE as DANE
    from fedconvex.methods.fedavg import FedAvg as FedAvg
    from fedconvex.methods.feddane import FedDANE as FedDANE
    from fedconvex.methods.feddyn import FedDyn as FedDyn
    from fedconvex.methods.feddyn import FedDynOneGD as FedDynOneGD
    from fedconvex.methods.fedgd import FedGD as FedGD
    from fedconvex.methods.fednova import FedNova as FedNova
    from fedconvex.methods.fedprox import FedProx as FedProx
    from fedconvex.methods.fedsgd import FedSGD as FedSGD
    from fedconvex.methods.fedsplit import FedSplit as FedSplit
    from fedconvex.methods.regularized_fedsplit import RegularizedFedSplit as RegularizedFedSplit
    from fedconvex.methods.scaffold import Scaffold as Scaffold
    from fedconvex.problems import LeastSquares as LeastSquares
    from fedconvex.problems import Logistic as Logistic
    from fedconvex.problems import MultinomialLogistic as MultinomialLogistic
    from fedconvex.problems import Quadratic as Quadratic
    from fedconvex.problems.heterogeneity import dissimilarity as dissimilarity
    from fedconvex.problems.heterogeneity import gradient_variance as gradient_variance
    from fedconvex.runs.simulation import Trajectory as Trajectory
    from fedconvex.runs.simulation import simulate as simulate
    from fedconvex.sweeps import Setting as Setting
    from fedconvex.sweeps import SweepFailed as SweepFailed
    from fedconvex.sweeps import draw_sweep as draw_sweep
    from fedconvex.sweeps import sweep as sweep

_HOMES = {
    "certainty": ("Certainty",),
    "errors": ("FedconvexError", "InvalidInput", "NoFixedPoint", "NoMinimizer", "NotConverged"),
    "fixed_points": ("FixedPoint", "fixed_point"),
    "ground_truths": ("GroundTruth", "ground_truth"),
    "problems.heterogeneity": ("dissimilarity", "gradient_variance"),
    "local_solvers": ("AcceleratedGradient", "Exact", "GradientDescent", "Newton", "SGD", "ToInexactness"),
    "problems": ("LeastSquares", "Logistic", "MultinomialLogistic", "Quadratic"),
    "runs.simulation": ("Trajectory", "simulate"),
    "sweeps": ("Setting", "SweepFailed", "draw_sweep", "sweep"),
}
_MODULES = ("data", "participation")
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def _methods() -> dict[str, Any]:
    """Every method by name, found by itself: a new method's file is all that it takes."""
    return import_module("fedconvex.methods").METHODS  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fedconvex")
    if name == "__all__":
        return sorted([*_HOME_OF, *_MODULES, *_methods()])
    if name in _MODULES:
        return import_module(f"fedconvex.{name}")
    if name in _HOME_OF:
        return getattr(import_module(f"fedconvex.{_HOME_OF[name]}"), name)
    if name[:1].isupper() and name in _methods():
        return _methods()[name]
    raise AttributeError(f"module 'fedconvex' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__"), "__version__"})
