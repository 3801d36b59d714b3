"""Compare an implementation's runs with runs of a faulty method, cell by cell.

A cell holds the models that one half of a round computes: first those of the clients, where they are known, then that
of the server. So a fault of the clients shows in a cell before the server's faults of that round do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fedconvex.arithmetic.rationals import float_array
from fedconvex.conformance.faults import Fault
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import ModelsAfterRound, Part, Reference, arithmetic_for_faults, play
from fedconvex.conformance.setup import Setup
from fedconvex.errors import FedconvexError

FARTHER = 4  # how many times the correct run's tolerance rounding may move a faulty run of equal size


@dataclass(eq=False)
class ComparedRuns:
    """The runs of an implementation, each with its reference, at the implementation's precision."""

    setup: Setup
    references: Sequence[Reference]
    runs: Sequence[ObservedRun]
    bits: int
    part: Part
    spent: int = 0  # rounds of full batches played so far, or as much work

    def errors(self, faults: Sequence[Fault], i: int) -> Iterator[np.ndarray]:
        """The faulty run's errors in run i, one vector a cell, in units of the admissible error; NaN: no such round."""
        reference, run = self.references[i], self.runs[i]
        tolerances, size = reference.tolerances(self.bits), np.abs(reference.points).max(axis=1)
        largest = right = 0.0
        faulty = moments(self.setup, reference, faults, self.part)
        for t, point in enumerate(run.points):
            # the gradients of cross-entropies take about twice as long as those of least squares
            self.spent += self.setup.most_batches * (1 if reference.scenario.is_rational else 2)
            moment = next(faulty, None)
            if moment is None or not np.isfinite(moment.server).all():
                yield np.array([np.nan])
                return
            theirs = run.clients[t - 1] if 0 < t <= len(run.clients) else {}
            pairs = [(x, moment.clients[k]) for k, x in theirs.items() if k in moment.clients]
            if pairs:
                # before the server's new model: faults with the same effect on the clients have the same errors here
                correct = list(reference.moments[t - 1].clients.values())
                clients, known = largest_of([expected for _, expected in pairs]), largest_of(correct)
                allowed = FARTHER * tolerances[t] * max(1.0, max(largest, clients) / max(right, known))
                yield np.concatenate([found - expected for found, expected in pairs]) / allowed
            largest, right = max(largest, largest_of([moment.server])), max(right, float(size[t]))
            # rounding errors grow with the numbers, and a faulty run may grow larger than the correct one
            allowed = FARTHER * tolerances[t] * max(1.0, largest / right)
            yield (point - moment.server) / allowed

    def agreement(self, faults: Sequence[Fault], i: int) -> tuple[int, bool, float]:
        """The number of cells of run i that agree before the first that does not, whether all do, the largest error."""
        count, worst = 0, 0.0
        for error in self.errors(faults, i):
            size = float(np.abs(error).max())
            if not size <= 1:
                return count, False, worst
            count, worst = count + 1, max(worst, size)
        return count, True, worst

    def round_of(self, i: int, cell: int) -> int:
        """The number t of the round, counted from 1, to which a cell of run i belongs; 0: the initial point."""
        places = [0]
        for t in range(1, len(self.runs[i].points)):
            known = t <= len(self.runs[i].clients) and bool(self.runs[i].clients[t - 1])
            places += [t, t] if known else [t]
        return places[min(cell, len(places) - 1)]

    def largest_error(self, faults: Sequence[Fault]) -> float:
        """The largest error of any cell of any run; infinite where a round does not exist."""
        found = [0.0]
        for i in range(len(self.runs)):
            sizes = [float(np.abs(error).max()) for error in self.errors(faults, i)]
            found += [size if np.isfinite(size) else np.inf for size in sizes]
        return max(found)


def largest_of(models: Sequence[np.ndarray]) -> float:
    """The largest entry of any of the models, in size."""
    return max(float(np.abs(model).max()) for model in models)


def moments(setup: Setup, reference: Reference, faults: Sequence[Fault], part: Part) -> Iterator[ModelsAfterRound]:
    """The faulty run, with its initial point first. It ends early where the faulty method has no next round."""
    yield ModelsAfterRound(faulty_initial_point(faults, reference), {})
    try:
        numbers = arithmetic_for_faults(setup, reference.scenario, faults)
        played = play(setup, reference.scenario, numbers, faults, part)
        while True:
            with np.errstate(all="ignore"):  # faulty runs may diverge
                moment = next(played)
            yield ModelsAfterRound(float_array(moment.server), {k: float_array(x) for k, x in moment.clients.items()})
    except (StopIteration, ZeroDivisionError, OverflowError, FedconvexError):
        return


def faulty_initial_point(faults: Sequence[Fault], reference: Reference) -> np.ndarray:
    """The point from which a run with these faults starts."""
    point = reference.scenario.first_point
    for fault in faults:
        point = float_array(fault.initial_point(point))
    return point
