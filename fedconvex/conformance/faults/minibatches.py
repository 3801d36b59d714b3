"""Faults of mini-batches: which samples every epoch visits."""

from collections.abc import Callable
from dataclasses import replace

from fedconvex.conformance.batches import Batches, Work, drawn
from fedconvex.conformance.faults.base import LOCAL_WORK, Rule
from fedconvex.conformance.faults.building_blocks import takes_steps
from fedconvex.conformance.faults.faulty_solvers import FaultySteps, with_steps
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


EPOCH = Rule(LOCAL_WORK, has_batches)

FAULTS = (
    EPOCH.broken(
        LAST_BATCH,
        "set drop_last=False: every epoch visits all samples",
        solver=with_batches(full_ones),
    ),
    EPOCH.broken(
        FIRST_BATCH,
        "loop over all batches of an epoch",
        solver=with_batches(first_batch_only),
    ),
    EPOCH.broken(
        "every epoch has the batches of the first",
        "visit the batches that were given for this epoch",
        where=takes_steps(2),
        solver=with_batches(first_epoch_again),
    ),
)
