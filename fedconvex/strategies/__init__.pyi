"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from fedconvex.strategies.client_weights import weights as weights
from fedconvex.strategies.logistic import logistic_problems as logistic_problems
from fedconvex.strategies.logistic import multinomial_problems as multinomial_problems
from fedconvex.strategies.parameters import constants as constants
from fedconvex.strategies.parameters import satisfying as satisfying
from fedconvex.strategies.parameters import unsatisfiable as unsatisfiable
from fedconvex.strategies.quadratic import least_squares_problems as least_squares_problems
from fedconvex.strategies.quadratic import quadratic_problems as quadratic_problems
from fedconvex.strategies.sample_partitions import partitions as partitions
from fedconvex.strategies.simulated_runs import methods as methods
from fedconvex.strategies.simulated_runs import participation_schemes as participation_schemes
from fedconvex.strategies.simulated_runs import trajectories as trajectories
from fedconvex.strategies.stepsizes import Admissible as Admissible
from fedconvex.strategies.stepsizes import admissible as admissible
from fedconvex.strategies.stepsizes import stepsizes_for as stepsizes_for

__all__ = [
    "Admissible",
    "admissible",
    "constants",
    "least_squares_problems",
    "logistic_problems",
    "methods",
    "multinomial_problems",
    "participation_schemes",
    "partitions",
    "quadratic_problems",
    "satisfying",
    "stepsizes_for",
    "trajectories",
    "unsatisfiable",
    "weights",
]
