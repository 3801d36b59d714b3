"""The entry point of the Hypothesis plugin: makes `from_type(fedconvex.LeastSquares)` and the like work.

Hypothesis calls `register` when it is imported, in every test run of an environment with fedconvex. To keep that cheap,
only the types are imported here; the strategies load when a test uses one.
"""

from typing import Any

from fedconvex.problems.constructor_calls import ARGUMENTS, constructor_call


def register() -> None:
    """Registers strategies for problems, methods, participation schemes and trajectories."""
    from hypothesis import strategies as st
    from hypothesis.vendor import pretty

    from fedconvex import participation, problems
    from fedconvex.methods import METHODS, Method
    from fedconvex.problems.base import Problem
    from fedconvex.runs.simulation import Trajectory

    named: tuple[tuple[type, str], ...] = (
        (problems.LeastSquares, "least_squares_problems"),
        (problems.Quadratic, "quadratic_problems"),
        (problems.Logistic, "logistic_problems"),
        (problems.MultinomialLogistic, "multinomial_problems"),
        (Trajectory, "trajectories"),
    )
    # functions instead of strategies: Hypothesis calls them when a test first asks for the type
    for kind, name in named:
        st.register_type_strategy(kind, _late(name))
    st.register_type_strategy(Problem, _late(*(name for _, name in named if name.endswith("problems"))))
    abstract: list[Any] = [Method]
    for method in (*abstract, *METHODS.values()):
        st.register_type_strategy(method, _late("methods", argument="kinds"))
    base: list[Any] = [participation.Participation]
    for scheme in (*base, *participation.SCHEMES):
        st.register_type_strategy(scheme, _late("participation_schemes", argument="kinds"))
    register_printers(pretty)


def _late(*names: str, argument: str = "") -> Any:
    """What Hypothesis calls with a type: one of the named strategies; `argument`, if any, takes that type."""

    def resolve(kind: type) -> Any:
        from hypothesis import strategies as st

        from fedconvex import strategies

        return st.one_of([getattr(strategies, name)(**({argument: kind} if argument else {})) for name in names])

    return resolve


def register_printers(pretty: Any) -> None:
    """Registers a printer for failing examples: a constructor call with the data, to paste into a test."""

    def show(problem: Any, printer: Any, cycle: bool) -> None:
        printer.text(constructor_call(problem))

    for name in ARGUMENTS:
        module = "logistic" if "Logistic" in name else "quadratics"
        pretty.for_type_by_name(f"fedconvex.problems.{module}", name, show)
