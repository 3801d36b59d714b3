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
    from fedconvex.heterogeneity import dissimilarity as dissimilarity
    from fedconvex.heterogeneity import gradient_variance as gradient_variance
    from fedconvex.local_solvers import Exact as Exact
    from fedconvex.local_solvers import GradientDescent as GradientDescent
    from fedconvex.methods import FedGD as FedGD
    from fedconvex.methods import FedProx as FedProx
    from fedconvex.methods import FedSplit as FedSplit
    from fedconvex.problems import LeastSquares as LeastSquares
    from fedconvex.problems import Logistic as Logistic
    from fedconvex.problems import MultinomialLogistic as MultinomialLogistic
    from fedconvex.problems import Quadratic as Quadratic
    from fedconvex.simulation import Trajectory as Trajectory
    from fedconvex.simulation import simulate as simulate

_HOMES = {
    "certainty": ("Certainty",),
    "errors": ("FedconvexError", "InvalidInput", "NoFixedPoint", "NoMinimizer", "NotConverged"),
    "fixed_points": ("FixedPoint", "fixed_point"),
    "ground_truths": ("GroundTruth", "ground_truth"),
    "heterogeneity": ("dissimilarity", "gradient_variance"),
    "local_solvers": ("Exact", "GradientDescent"),
    "methods": ("FedGD", "FedProx", "FedSplit"),
    "problems": ("LeastSquares", "Logistic", "MultinomialLogistic", "Quadratic"),
    "simulation": ("Trajectory", "simulate"),
}
_MODULES = ("data", "participation")
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, *_MODULES])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fedconvex")
    if name in _MODULES:
        return import_module(f"fedconvex.{name}")
    if name in _HOME_OF:
        return getattr(import_module(f"fedconvex.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'fedconvex' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
