"""How Hypothesis prints a problem in a failing example: as the constructor call that creates it."""

from typing import Any


def register_printers(pretty: Any) -> None:
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
