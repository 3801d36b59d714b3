"""Hypothesis strategies for problems, methods, participation, the papers' constants, partitions and runs.

    from hypothesis import given
    from fedconvex import strategies

    @given(problem=strategies.quadratic_problems(mu=1, L=4))
    def test_my_solver(problem): ...

Everything is built to fit and nothing is filtered out; examples shrink to one client, one unknown and small integers.
Entries are integers and Fractions, so that the answers are exact, unless `exact=False` asks for floats.
`hypothesis.strategies.from_type(fedconvex.LeastSquares)` and the like work without importing this module.

Needs Hypothesis: `pip install 'fedconvex[testing]'`.
"""

from importlib import import_module

from fedconvex.errors import MissingLibrary

try:
    from hypothesis.vendor import pretty  # asked for first, so that its absence has an error with the cure
except ModuleNotFoundError:
    raise MissingLibrary("Hypothesis", "fedconvex.strategies", "testing") from None

from fedconvex.strategies.constants import constants, satisfying, unsatisfiable
from fedconvex.strategies.least_squares import least_squares_problems
from fedconvex.strategies.logistic import logistic_problems, multinomial_problems
from fedconvex.strategies.methods import methods
from fedconvex.strategies.participation import participation_schemes
from fedconvex.strategies.partitions import partitions
from fedconvex.strategies.quadratic import quadratic_problems
from fedconvex.strategies.stepsizes import Admissible, admissible, stepsizes_for
from fedconvex.strategies.trajectories import trajectories
from fedconvex.strategies.weights import weights
from fedconvex.type_strategies import show_data

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

show_data(pretty)
for _module in ("flint", "fedconvex.fixed_points", "fedconvex.simulation"):
    import_module(_module)  # now, and not within a test's first example, whose time Hypothesis limits
