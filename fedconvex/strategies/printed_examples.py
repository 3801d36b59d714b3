"""How Hypothesis prints a problem in a failing example: as the constructor call that creates it."""

from typing import Any

from fedconvex.problems.constructor_calls import ARGUMENTS, constructor_call


def register_printers(pretty: Any) -> None:
    """Registers a printer for failing examples: a constructor call with the data, to paste into a test."""

    def show(problem: Any, printer: Any, cycle: bool) -> None:
        printer.text(constructor_call(problem))

    for name in ARGUMENTS:
        module = "logistic" if "Logistic" in name else "quadratics"
        pretty.for_type_by_name(f"fedconvex.problems.{module}", name, show)
