"""Faults of the server's step, of the model that it sends, and of the initial point."""

from dataclasses import replace

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import after_update, always, with_server
from fedconvex.conformance.faults.properties import FIRST_POINT, SERVER_STEP, START
from fedconvex.conformance.history import PREVIOUS_POINT
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.problems.base import Subproblem


def from_previous_point(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """The subproblem at the server's point of one round ago."""
    before = state.shared[PREVIOUS_POINT]
    there = replace(cohort, points=0 * cohort.points + before)
    return method.subproblem(State(before, state.shared, state.memory), there)


FAULTS = (
    Fault(
        name="the server's step is taken twice",
        cure="apply the averaged update once",
        breaks=SERVER_STEP,
        applies=always,
        update=after_update(lambda before, after, *_: with_server(after, 2 * after.server - before.server)),
    ),
    Fault(
        name="the server's model never changes",
        cure="store the average as the server's model",
        breaks=SERVER_STEP,
        applies=always,
        update=after_update(lambda before, after, *_: with_server(after, before.server)),
    ),
    Fault(
        name="clients get the server's model of the round before",
        cure="send the model after the last round's average",
        breaks=START,
        applies=always,
        subproblem=from_previous_point,
    ),
    Fault(
        name="the run starts at zero instead of x0",
        cure="load x0 into the server's model",
        breaks=FIRST_POINT,
        applies=always,
        initial_point=lambda point: 0 * point,
    ),
)
