"""Faults of the proximal term (weight/2)‖θ − w‖²."""

from collections.abc import Callable
from dataclasses import replace

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.properties import PULL
from fedconvex.conformance.setup import Setup
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.problems.base import Subproblem


def is_proximal(setup: Setup) -> bool:
    """Whether the method has a proximal term."""
    return bool(setup.method.proximal_weight != 0)


def weighed(factor: int | float) -> Callable[[Method, State, Cohort], Subproblem]:
    """The subproblem with its proximal weight multiplied."""

    def ask(method: Method, state: State, cohort: Cohort) -> Subproblem:
        asked = method.subproblem(state, cohort)
        return replace(asked, weight=asked.weight * factor)

    return ask


def without_pull(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """No proximal term."""
    return replace(method.subproblem(state, cohort), weight=0, center=None)


FAULTS = (
    Fault(
        name="the proximal gradient has the wrong sign",
        cure="add weight·(θ − w) to the local gradient: the term pulls back to the server's model",
        breaks=PULL,
        applies=is_proximal,
        ask=weighed(-1),
    ),
    Fault(
        name="the proximal term is always zero",
        cure="keep a copy of the server's model for the term: a reference to the model that trains is the model itself",
        breaks=PULL,
        applies=is_proximal,
        ask=without_pull,
    ),
)
