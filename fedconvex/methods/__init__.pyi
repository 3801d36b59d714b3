"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from collections.abc import Mapping

from fedconvex.methods.averaging import FedAvg as FedAvg
from fedconvex.methods.averaging import FedGD as FedGD
from fedconvex.methods.averaging import FedNova as FedNova
from fedconvex.methods.averaging import FedSGD as FedSGD
from fedconvex.methods.base import Cohort as Cohort
from fedconvex.methods.base import Method as Method
from fedconvex.methods.base import State as State
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

METHODS: Mapping[str, type[Method]]
__all__ = [
    "DANE",
    "DIANA",
    "EF21",
    "METHODS",
    "AdaptiveFedProx",
    "Cohort",
    "Ditto",
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
    "Method",
    "PFedMe",
    "RegularizedFedSplit",
    "Scaffnew",
    "Scaffold",
    "State",
]
