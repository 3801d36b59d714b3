"""Hypothesis strategies for problems, methods, participation, the papers' constants, partitions and runs.

    from hypothesis import given
    from fedconvex import strategies

    @given(problem=strategies.quadratic_problems(mu=1, L=4))
    def test_my_solver(problem): ...

Every example is valid by construction, none is filtered out; examples shrink to one client, one unknown and small
integers. Entries are integers and Fractions, so that results are exact, unless `exact=False` requests floats.
`hypothesis.strategies.from_type(fedconvex.LeastSquares)` and the like work without importing this module.

Names load at their first use, since Hypothesis imports this package at its own start, for `types.register`.

Needs Hypothesis: `pip install 'fedconvex[testing]'`.
"""

from importlib import import_module
from typing import Any

from fedconvex.errors import MissingLibrary

try:
    from hypothesis.vendor import pretty  # first, so that the error without Hypothesis names the cure
except ModuleNotFoundError:
    raise MissingLibrary("Hypothesis", "fedconvex.strategies", "testing") from None

_HOMES = {
    "parameters": ("constants", "satisfying", "unsatisfiable"),
    "logistic": ("logistic_problems", "multinomial_problems"),
    "sample_partitions": ("partitions",),
    "quadratic": ("least_squares_problems", "quadratic_problems"),
    "stepsizes": ("Admissible", "admissible", "stepsizes_for"),
    "simulated_runs": ("methods", "participation_schemes", "trajectories"),
    "client_weights": ("weights",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'fedconvex.strategies' has no attribute {name!r}")
    _load_what_examples_use()
    return getattr(import_module(f"fedconvex.strategies.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _load_what_examples_use() -> None:
    """Loads slow modules now: inside a test's first example they would exceed Hypothesis's time limit."""
    from fedconvex.strategies.types import register_printers

    register_printers(pretty)
    for module in ("flint", "fedconvex.fixed_points", "fedconvex.runs.simulation"):
        import_module(module)
