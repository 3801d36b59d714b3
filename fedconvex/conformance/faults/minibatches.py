"""Faults of mini-batches: which samples every epoch visits."""

from collections.abc import Callable
from dataclasses import replace

from fedconvex.conformance.batches import Batches, Work, drawn
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.faulty_solvers import FaultySteps, with_steps
from fedconvex.conformance.faults.properties import LOCAL_WORK
from fedconvex.conformance.findings import FIRST_BATCH, LAST_BATCH
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.sgd import SGD


def with_batches(change: Callable[[SGD, Work, Batches], Batches]) -> Callable[[LocalSolver], LocalSolver]:
    """SGD whose clients visit change(solver, work, the batches that they should)."""

    def changed(steps: FaultySteps) -> FaultySteps:
        solver, correct = steps.correct, steps.batches
        if correct is None or not isinstance(solver, SGD):
            return steps
        return replace(steps, batches=lambda work: change(solver, work, correct(work)))

    return with_steps(changed)


def full_ones(solver: SGD, work: Work, batches: Batches) -> Batches:
    """The batches without smaller ones."""
    return [batch for batch in batches if len(batch) == min(solver.batch_size or work.samples, work.samples)]


def first_epoch_again(solver: SGD, work: Work, batches: Batches) -> Batches:
    """The first epoch's batches in every epoch."""
    first = drawn(solver, replace(work, amount=1)) if solver.steps is None else batches
    return [first[i % len(first)] for i in range(len(batches))]


def first_batch_only(solver: SGD, work: Work, batches: Batches) -> Batches:
    """The first batch of every epoch."""
    return batches[:: -(-work.samples // (solver.batch_size or work.samples))]


def has_batches(setup: Setup) -> bool:
    """Whether an epoch of the largest client has more than one batch."""
    return setup.most_batches > 1


FAULTS = (
    Fault(
        name=LAST_BATCH,
        cure="set drop_last=False: every epoch visits all samples",
        breaks=LOCAL_WORK,
        applies=has_batches,
        solver=with_batches(full_ones),
    ),
    Fault(
        name=FIRST_BATCH,
        cure="loop over all batches of an epoch",
        breaks=LOCAL_WORK,
        applies=has_batches,
        solver=with_batches(first_batch_only),
    ),
    Fault(
        name="every epoch has the batches of the first",
        cure="visit the batches that were given for this epoch",
        breaks=LOCAL_WORK,
        applies=lambda setup: has_batches(setup) and setup.effort is not None and setup.effort > 1,
        solver=with_batches(first_epoch_again),
    ),
)
