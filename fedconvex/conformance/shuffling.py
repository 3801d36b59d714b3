"""Implementations that shuffle by themselves: each round has to agree with one of all orders of a few samples.

Where clients have one sample more than a batch holds, an epoch is a full batch and a batch of one: as many different
epochs as samples. From the models after a round the kit finds the epochs that lead there, and compares the run with the
method over just these batches, as it compares any other run. Correct code always agrees: no chance is involved, and
wrong code would have to hit a ball of the tolerance's size.

Whether samples are shuffled at all is a question of chance: if every epoch left the same sample for last, the report
says so, with the probability of that in shuffled code.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.conformance import findings
from fedconvex.conformance.batches import Batches, ChosenBatches, Work, first_batch_only, full_ones
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Reference, draw_of, rounds_with, started
from fedconvex.conformance.scenarios import Scenario
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import State
from fedconvex.runs.rounds import Rounds

MOST_ORDERS = 1000  # of all clients together in one round: each is played

Change = Callable[[SGD, Work, Batches], Batches]
LEAVING_OUT: tuple[tuple[str, str, Change], ...] = (
    (findings.LAST_BATCH, "set drop_last=False: every epoch visits all samples", full_ones),
    (findings.FIRST_BATCH, "loop over all batches of an epoch", first_batch_only),
)


@dataclass(frozen=True, eq=False)
class ShuffledRun:
    """A run over shuffled batches, the method's run over the batches that were found in it, and what was found."""

    run: ObservedRun
    reference: Reference
    orders: int  # that a round of all clients may have
    last: tuple[int, ...]  # the sample that each epoch left for last
    findings: tuple[ConformanceFinding, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the run did not break off."""
        return len(self.run.points) > len(self.run.scenario.rounds)


def orders(solver: SGD, work: Work) -> Iterator[Batches]:
    """All batches that a round may have where an epoch is a full batch and a batch of one sample."""
    samples = range(work.samples)
    epochs: list[Batches] = [[[i for i in samples if i != last], [last]] for last in samples]
    started = work.amount if solver.steps is None else -(-work.amount // 2)
    for chosen in product(epochs, repeat=started):
        batches = [batch for epoch in chosen for batch in epoch]
        yield batches if solver.steps is None else batches[: work.amount]


def number_of_orders(setup: Setup, scenario: Scenario) -> int:
    """How many combinations of orders a round of all clients may have."""
    solver: Any = setup.solver
    started = solver.effort if solver.steps is None else -(-solver.effort // 2)
    total: int = np.prod([size**started for size in scenario.sizes], dtype=object)
    return total


def examined(
    setup: Setup, scenario: Scenario, run: ObservedRun, deviates: Callable[[ObservedRun, Reference], Any]
) -> ShuffledRun:
    """Finds the orders in a run, and if none agree those of code that leaves batches out.

    `deviates(run, reference)` is None where they agree.
    """
    number = number_of_orders(setup, scenario)
    found = ordered(setup, scenario, run, lambda solver, work, batches: batches)
    last = tuple(batch[0] for batches in found.values() for batch in batches[1::2])
    reference = Reference(setup, with_orders(scenario, found))
    if deviates(run, reference) is None:
        return ShuffledRun(run, reference, number, last, ())
    for name, cure, change in LEAVING_OUT:
        faulty = Reference(setup, with_orders(scenario, ordered(setup, scenario, run, change)))
        if deviates(run, faulty) is None:
            return ShuffledRun(run, reference, number, last, (ConformanceFinding(name, cure),))
    detail = f"none of {number} in a round of '{scenario.name}'"
    cure = "visit every sample once in an epoch, with the mean over each batch; give `batches` for more"
    return ShuffledRun(run, reference, number, last, (ConformanceFinding(findings.NO_ORDER, cure, detail),))


def ordered(setup: Setup, scenario: Scenario, run: ObservedRun, change: Change) -> dict[tuple[int, int], Batches]:
    """For each round and client the changed batches that lead nearest to the run's models."""
    rounds = rounds_with(setup, scenario, arithmetics.get("float"))
    solver: Any = rounds.solver.inner  # type: ignore[attr-defined] # of ChosenBatches: clients with batches run SGD
    rounds = replace(rounds, solver=solver)
    state = started(rounds, scenario.first_point)
    found: dict[tuple[int, int], Batches] = {}
    for t, active in enumerate(scenario.rounds):
        works = [Work(k, t, scenario.sizes[k], solver.effort) for k in active]
        choices = [[change(solver, work, batches) for batches in orders(solver, work)] for work in works]
        if t + 1 >= len(run.points):  # the run broke off: any order will do
            found |= {(t, work.client): choice[0] for work, choice in zip(works, choices, strict=True)}
            continue
        best, nearest, following = np.inf, None, state
        answers = [_answers(rounds, state, t, active, own) for own in _columns(choices)]
        for numbers in product(*(range(len(own)) for own in choices)):
            points = np.stack([answers[number].points[i] for i, number in enumerate(numbers)])
            played = rounds.play(state, draw_of(t, active, None)[1], answers=replace(answers[0], points=points))
            assert played is not None
            known = run.clients[t] if t < len(run.clients) else {}
            errors = [run.points[t + 1] - played.state.server]
            errors += [known[k] - points[i] for i, k in enumerate(active) if k in known]
            distance = max(float(np.abs(error).max()) for error in errors)
            if nearest is None or distance < best:
                best, nearest, following = distance, numbers, played.state
        assert nearest is not None
        state = following
        found |= {(t, k): own[number] for k, own, number in zip(active, choices, nearest, strict=True)}
    return found


def _columns(choices: Sequence[Sequence[Batches]]) -> Iterator[list[Batches]]:
    """One of each client's choices, the next ones, …, until all are taken; clients with fewer repeat their last."""
    for number in range(max(len(own) for own in choices)):
        yield [own[min(number, len(own) - 1)] for own in choices]


def _answers(rounds: Rounds, state: State, t: int, active: Sequence[int], chosen: Sequence[Batches]) -> Answers:
    """The clients' answers over the chosen batches: local work is solved once an order, not once a combination."""
    by_client = dict(zip(active, chosen, strict=True))
    tried = replace(rounds, solver=ChosenBatches(rounds.solver, partial(_own, by_client)))  # type: ignore[arg-type] # SGD, which has batches
    played = tried.play(state, draw_of(t, active, None)[1])
    assert played is not None
    return played.answers


def _own(by_client: dict[int, Batches], work: Work) -> Batches:
    return by_client[work.client]


def with_orders(scenario: Scenario, found: dict[tuple[int, int], Batches]) -> Scenario:
    """The scenario whose clients visit these batches."""
    return replace(scenario, visited=lambda work: found[work.round, work.client])


def notes_on(runs: Sequence[ShuffledRun], skipped: Sequence[Scenario]) -> list[str]:
    """What the report says about the orders."""
    names = " and ".join(f"'{scenario.name}'" for scenario in skipped)
    notes = [f"{findings.TOO_MANY_ORDERS} ({names})"] if skipped else []
    seen = [one for one in runs if not one.findings and one.is_complete]
    notes += [f"each round of '{one.run.scenario.name}' agrees with one of its {one.orders} orders" for one in seen]
    last = [sample for shuffled in seen for sample in shuffled.last]
    if seen and len(set(last)) == 1:
        samples = seen[0].run.scenario.sizes[0]
        chance = float(samples) ** (1 - len(last))
        notes.append(f"{findings.NEVER_SHUFFLED} (shuffled code does so with a probability of {chance:.1g})")
    return notes
