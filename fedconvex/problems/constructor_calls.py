"""A problem as the call that makes it again: `LeastSquares(A=[[[1]]], b=[[0]])`."""

from typing import Any

ARGUMENTS = {
    "LeastSquares": ("A", "b"),
    "Quadratic": ("H", "c"),
    "Logistic": ("A", "y", "ridge"),
    "MultinomialLogistic": ("A", "y", "num_classes", "ridge"),
}


def constructor_call(problem: Any) -> str:
    """The problem as a call of its class, with all data: to paste into a test. For the classes in `ARGUMENTS`."""
    kind = type(problem).__name__
    values = {name: getattr(problem, name) for name in ARGUMENTS[kind]}
    if kind == "MultinomialLogistic":  # the constructor adds the column of ones
        values["A"] = [A[:, :-1] for A in values["A"]]
    if not problem.is_equally_weighted:
        values["weights"] = problem.exact_weights
    return f"{kind}({', '.join(f'{name}={_plain(value)}' for name, value in values.items())})"


def _plain(value: Any) -> str:
    """Arrays and tuples as nested lists, as one would type them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    whole = getattr(value, "denominator", 0) == 1
    return str(int(value)) if whole else repr(value)
