"""The entry point of the Hypothesis plugin: makes `from_type(fedconvex.LeastSquares)` and the like work.

Hypothesis calls `register` when it is imported, in every test run of an environment with fedconvex. To keep that cheap,
only the types are imported here; the strategies load when a test uses one.
"""

from typing import Any


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
        st.register_type_strategy(kind, _strategy(name))
    st.register_type_strategy(Problem, _any_problem)
    abstract: list[Any] = [Method]
    for method in (*abstract, *METHODS.values()):
        st.register_type_strategy(method, _of_kind("methods"))
    schemes: list[type] = [participation.Participation, *participation.Participation.__subclasses__()]
    for scheme in schemes:
        st.register_type_strategy(scheme, _of_kind("participation_schemes"))
    show_data(pretty)


def _strategy(name: str) -> Any:
    def resolve(kind: type) -> Any:
        from fedconvex import strategies

        return getattr(strategies, name)()

    return resolve


def _any_problem(kind: type) -> Any:
    from fedconvex import strategies

    return (
        strategies.least_squares_problems()
        | strategies.quadratic_problems()
        | strategies.logistic_problems()
        | strategies.multinomial_problems()
    )


def _of_kind(name: str) -> Any:
    def resolve(kind: type) -> Any:
        from fedconvex import strategies

        return getattr(strategies, name)(kinds=kind)

    return resolve


def show_data(pretty: Any) -> None:
    """Registers a printer for failing examples: a constructor call with the data, to paste into a test."""
    for module, name, arguments in (
        ("quadratics", "LeastSquares", ("A", "b")),
        ("quadratics", "Quadratic", ("H", "c")),
        ("logistic", "Logistic", ("A", "y", "ridge")),
        ("logistic", "MultinomialLogistic", ("A", "y", "num_classes", "ridge")),
    ):

        def show(problem: Any, printer: Any, cycle: bool, names: tuple[str, ...] = arguments) -> None:
            printer.text(_as_call(problem, names))

        pretty.for_type_by_name(f"fedconvex.problems.{module}", name, show)


def _as_call(problem: Any, names: tuple[str, ...]) -> str:
    """The problem as a constructor call, such as `Quadratic(H=[[[1]]], c=[[0]])`."""
    bias = type(problem).__name__ == "MultinomialLogistic"  # the constructor adds the column of ones
    values = {name: getattr(problem, name) for name in names}
    if bias:
        values["A"] = [A[:, :-1] for A in values["A"]]
    if not problem.is_equally_weighted:
        values["weights"] = problem.exact_weights
    shown = [f"{name}={_plain(value)}" for name, value in values.items()]
    return f"{type(problem).__name__}({', '.join(shown)})"


def _plain(value: Any) -> str:
    """Arrays and tuples as nested lists, as one would type them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    whole = getattr(value, "denominator", 0) == 1
    return str(int(value)) if whole else repr(value)
