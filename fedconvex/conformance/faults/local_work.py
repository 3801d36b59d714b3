"""Faults of the clients' local work: where it starts, its number and size of steps, its optimiser and its data."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    always,
    both,
    last_own_answers,
    takes_steps,
    uses_gradient_descent,
    with_solver,
    with_subproblem,
)
from fedconvex.conformance.faults.faulty_solvers import (
    Chained,
    Decaying,
    FrozenGradient,
    LastingMomentum,
    OneClientsData,
    OtherSteps,
)
from fedconvex.conformance.faults.properties import LATE, LOCAL_FUNCTION, LOCAL_WORK, START
from fedconvex.conformance.history import LAST_ANSWER
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.fedpd import FedPD
from fedconvex.participation import Draw


def has_momentum(setup: Setup) -> bool:
    """Whether the local steps are full-batch steps with momentum."""
    return isinstance(setup.solver, SGD) and setup.solver.momentum != 0 and setup.most_batches == 1


def with_lasting_momentum(shared: bool) -> Callable[[LocalSolver], LocalSolver]:
    """Solvers whose momentum lasts beyond the round, of each client or shared by all."""
    return lambda solver: LastingMomentum(solver, shared) if isinstance(solver, SGD) else solver


def with_decay(factor: Callable[[int], Fraction]) -> Callable[[LocalSolver], LocalSolver]:
    """Solvers whose stepsize in round t is multiplied by factor(t)."""
    return lambda solver: Decaying(solver, factor) if isinstance(solver, GradientDescent | SGD) else solver


def with_steps(change: Callable[[int], int]) -> Callable[[LocalSolver], LocalSolver]:
    """Solvers with change(steps) steps (or epochs)."""
    return lambda solver: OtherSteps(solver, change) if isinstance(solver, GradientDescent | SGD) else solver


def with_frozen_gradient(solver: LocalSolver) -> LocalSolver:
    """A solver whose steps all use the first gradient."""
    return FrozenGradient(solver) if isinstance(solver, GradientDescent) else solver


def starts_matter(setup: Setup) -> bool:
    """Whether local work starts at the server's point, and its result depends on that."""
    return setup.path_length is not None and not isinstance(setup.method, FedPD)


def momentum(factor: Fraction) -> Callable[[Setup], Setup]:
    """The setup with momentum in its gradient steps."""
    return with_solver(lambda s: SGD(steps=s.steps, batch_size=None, stepsize=s.stepsize, momentum=factor))


def weight_decay(factor: Fraction) -> Callable[[Setup], Setup]:
    """The setup with weight decay in its gradient steps."""
    return with_solver(lambda s: SGD(steps=s.steps, batch_size=None, stepsize=s.stepsize, weight_decay=factor))


def only_full_work(draw: Draw, effort: int | None, num_clients: int) -> Draw:
    """The draw without the clients that do less than the full work."""
    return draw if draw.efforts is None else draw.kept(draw.efforts == effort)


# Common defaults of frameworks and schedules; the factor of round t, counted from 0.
DECAYS = (
    ("divided by the number of the round", lambda t: Fraction(1, t + 1)),
    ("multiplied by 1/2 every round", lambda t: Fraction(1, 2) ** t),
    ("multiplied by 0.9 every round", lambda t: Fraction(9, 10) ** t),
    ("multiplied by 0.95 every round", lambda t: Fraction(95, 100) ** t),
    ("multiplied by 0.99 every round", lambda t: Fraction(99, 100) ** t),
    ("multiplied by 0.995 every round", lambda t: Fraction(995, 1000) ** t),
    ("multiplied by 0.998 every round", lambda t: Fraction(998, 1000) ** t),
)

FAULTS = (
    Fault(
        name="clients take one local step too many",
        cure="count the local steps from 1",
        breaks=LOCAL_WORK,
        applies=takes_steps(1),
        solver=with_steps(lambda steps: steps + 1),
    ),
    Fault(
        name="clients take one local step too few",
        cure="count the local steps from 1",
        breaks=LOCAL_WORK,
        applies=takes_steps(2),
        solver=with_steps(lambda steps: steps - 1),
    ),
    Fault(
        name="clients take only one local step",
        cure="let the training loop run through all local steps",
        breaks=LOCAL_WORK,
        applies=takes_steps(3),
        solver=with_steps(lambda steps: 1),
    ),
    Fault(
        name="local gradients are all taken at the server's model",
        cure="compute a new gradient, at the local model, in every local step",
        breaks=LOCAL_WORK,
        applies=both(takes_steps(2), uses_gradient_descent),
        solver=with_frozen_gradient,
    ),
    *(
        Fault(
            name=f"the local stepsize is {how}",
            cure="use the same stepsize in every round, or state the decay",
            breaks=LOCAL_WORK,
            applies=takes_steps(1),
            solver=with_decay(factor),
        )
        for how, factor in DECAYS
    ),
    *(
        Fault(
            name=f"local steps have a momentum of {float(factor)}",
            cure="switch the optimiser's momentum off, or state it: local_solver=SGD(…, momentum=…)",
            breaks=LOCAL_WORK,
            applies=both(takes_steps(2), uses_gradient_descent),
            parameters=momentum(factor),
        )
        for factor in (Fraction(9, 10), Fraction(1, 2))
    ),
    *(
        Fault(
            name=f"local steps have a weight decay of {float(factor)}",
            cure="switch the optimiser's weight decay off, or state it: local_solver=SGD(…, weight_decay=…)",
            breaks=LOCAL_WORK,
            applies=both(takes_steps(1), uses_gradient_descent),
            parameters=weight_decay(factor),
        )
        for factor in (Fraction(1, 10_000), Fraction(5, 10_000), Fraction(1, 1000), Fraction(1, 100))
    ),
    Fault(
        name="momentum is shared between clients",
        cure="give each client an optimiser of its own, a new one in every round",
        breaks=LOCAL_WORK,
        applies=has_momentum,
        solver=with_lasting_momentum(shared=True),
    ),
    Fault(
        name="momentum is kept from round to round",
        cure="give each client a new optimiser in every round",
        breaks=LOCAL_WORK,
        applies=has_momentum,
        solver=with_lasting_momentum(shared=False),
    ),
    Fault(
        name="clients start at their own last model",
        cure="load the server's model into the client at the beginning of each of its rounds",
        breaks=START,
        applies=starts_matter,
        subproblem=with_subproblem(lambda sub, state: replace(sub, start=state.memory[LAST_ANSWER])),
    ),
    Fault(
        name="clients start at their own last model, where they have one",
        cure="load the server's model into the client at the beginning of each of its rounds",
        breaks=START,
        applies=starts_matter,
        subproblem=with_subproblem(
            lambda subproblem, state: replace(subproblem, start=last_own_answers(subproblem, state))
        ),
    ),
    Fault(
        name="every client starts where the one before it ended",
        cure="give each client a copy of the server's model: they train one and the same object",
        breaks=START,
        applies=takes_steps(1),
        solver=Chained,
    ),
    Fault(
        name="all clients train on the data of the last one",
        cure="bind each client's data when it is made: a closure over the loop's variable sees its last value",
        breaks=LOCAL_FUNCTION,
        applies=always,
        solver=OneClientsData,
    ),
    Fault(
        name="stragglers are dropped",
        cure="average what late clients have got, too",
        breaks=LATE,
        applies=takes_steps(2),
        draw=only_full_work,
    ),
    Fault(
        name="late clients do all of the work",
        cure="stop a client after its own number of local steps",
        breaks=LATE,
        applies=takes_steps(2),
        draw=lambda draw, effort, num_clients: replace(draw, efforts=None),
    ),
)
