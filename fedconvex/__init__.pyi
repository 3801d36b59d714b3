"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from fedconvex import compressors as compressors
from fedconvex import data as data
from fedconvex import deep as deep
from fedconvex import participation as participation
from fedconvex import proofs_checks as proofs_checks
from fedconvex import regularizers as regularizers
from fedconvex import theory as theory
from fedconvex.audit.measure import audit as audit
from fedconvex.audit.recommendation import recommend as recommend
from fedconvex.audit.recommendation_result import Recommendation as Recommendation
from fedconvex.audit.run_diagnosis import RunDiagnosis as RunDiagnosis
from fedconvex.audit.stuck_runs import diagnose as diagnose
from fedconvex.certainty import Certainty as Certainty
from fedconvex.errors import FedconvexError as FedconvexError
from fedconvex.errors import InvalidInput as InvalidInput
from fedconvex.errors import NoFixedPoint as NoFixedPoint
from fedconvex.errors import NoMinimizer as NoMinimizer
from fedconvex.errors import NotConverged as NotConverged
from fedconvex.fixed_points.computation import fixed_point as fixed_point
from fedconvex.fixed_points.result import FixedPoint as FixedPoint
from fedconvex.ground_truths.certificates import GroundTruth as GroundTruth
from fedconvex.ground_truths.search import ground_truth as ground_truth
from fedconvex.local_solvers.adam import Adam as Adam
from fedconvex.local_solvers.exact import Exact as Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent as GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness as ToInexactness
from fedconvex.local_solvers.sgd import SGD as SGD
from fedconvex.local_solvers.tolerances import AcceleratedGradient as AcceleratedGradient
from fedconvex.local_solvers.tolerances import Newton as Newton
from fedconvex.local_solvers.unequal_steps import RandomSteps as RandomSteps
from fedconvex.local_solvers.unequal_steps import UnequalSteps as UnequalSteps
from fedconvex.methods.averaging import FedAvg as FedAvg
from fedconvex.methods.averaging import FedGD as FedGD
from fedconvex.methods.averaging import FedNova as FedNova
from fedconvex.methods.averaging import FedSGD as FedSGD
from fedconvex.methods.compressed_differences import DIANA as DIANA
from fedconvex.methods.compressed_differences import EF21 as EF21
from fedconvex.methods.dane import DANE as DANE
from fedconvex.methods.dane import FedDANE as FedDANE
from fedconvex.methods.dane import FedLin as FedLin
from fedconvex.methods.fedadmm import FedADMM as FedADMM
from fedconvex.methods.feddyn import FedDyn as FedDyn
from fedconvex.methods.feddyn import FedDynOneGD as FedDynOneGD
from fedconvex.methods.fedpd import FedPD as FedPD
from fedconvex.methods.fedprox import AdaptiveFedProx as AdaptiveFedProx
from fedconvex.methods.fedprox import FedProx as FedProx
from fedconvex.methods.fedsplit import FedSplit as FedSplit
from fedconvex.methods.fedsplit import RegularizedFedSplit as RegularizedFedSplit
from fedconvex.methods.personal_models import Ditto as Ditto
from fedconvex.methods.personal_models import PFedMe as PFedMe
from fedconvex.methods.scaffnew import Scaffnew as Scaffnew
from fedconvex.methods.scaffold import Scaffold as Scaffold
from fedconvex.methods.server_optimizer import FedAdagrad as FedAdagrad
from fedconvex.methods.server_optimizer import FedAdam as FedAdam
from fedconvex.methods.server_optimizer import FedAvgM as FedAvgM
from fedconvex.methods.server_optimizer import FedYogi as FedYogi
from fedconvex.problems.composite import CompositeProblem as CompositeProblem
from fedconvex.problems.heterogeneity import dissimilarity as dissimilarity
from fedconvex.problems.heterogeneity import gradient_variance as gradient_variance
from fedconvex.problems.logistic import Logistic as Logistic
from fedconvex.problems.logistic import MultinomialLogistic as MultinomialLogistic
from fedconvex.problems.quadratics import LeastSquares as LeastSquares
from fedconvex.problems.quadratics import Quadratic as Quadratic
from fedconvex.runs.simulation import Trajectory as Trajectory
from fedconvex.runs.simulation import simulate as simulate
from fedconvex.step_numbers import RandomNumberOfSteps as RandomNumberOfSteps
from fedconvex.stepsizes import StepsizeSchedule as StepsizeSchedule
from fedconvex.sweeps.errors import SweepFailed as SweepFailed
from fedconvex.sweeps.figure import draw_sweep as draw_sweep
from fedconvex.sweeps.grid import Setting as Setting
from fedconvex.sweeps.run import sweep as sweep

__version__: str
__all__ = [
    "DANE",
    "DIANA",
    "EF21",
    "SGD",
    "AcceleratedGradient",
    "Adam",
    "AdaptiveFedProx",
    "Certainty",
    "CompositeProblem",
    "Ditto",
    "Exact",
    "FedADMM",
    "FedAdagrad",
    "FedAdam",
    "FedAvg",
    "FedAvgM",
    "FedDANE",
    "FedDyn",
    "FedDynOneGD",
    "FedGD",
    "FedLin",
    "FedNova",
    "FedPD",
    "FedProx",
    "FedSGD",
    "FedSplit",
    "FedYogi",
    "FedconvexError",
    "FixedPoint",
    "GradientDescent",
    "GroundTruth",
    "InvalidInput",
    "LeastSquares",
    "Logistic",
    "MultinomialLogistic",
    "Newton",
    "NoFixedPoint",
    "NoMinimizer",
    "NotConverged",
    "PFedMe",
    "Quadratic",
    "RandomNumberOfSteps",
    "RandomSteps",
    "Recommendation",
    "RegularizedFedSplit",
    "RunDiagnosis",
    "Scaffnew",
    "Scaffold",
    "Setting",
    "StepsizeSchedule",
    "SweepFailed",
    "ToInexactness",
    "Trajectory",
    "UnequalSteps",
    "audit",
    "compressors",
    "data",
    "deep",
    "diagnose",
    "dissimilarity",
    "draw_sweep",
    "fixed_point",
    "gradient_variance",
    "ground_truth",
    "participation",
    "proofs_checks",
    "recommend",
    "regularizers",
    "simulate",
    "sweep",
    "theory",
]
