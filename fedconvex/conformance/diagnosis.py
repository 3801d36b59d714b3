"""Which known faults explain what an implementation did: faulty runs, compared round by round."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from fedconvex.arithmetic.rationals import float_array
from fedconvex.conformance.faults import Fault, catalogue
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Moment, Reference, arithmetic_for_faults, play
from fedconvex.conformance.setup import Setup
from fedconvex.errors import FedconvexError

CLEARLY = 8  # so much closer fits clearly better …
ROUNDING = 1e-3  # … unless both are this close
FARTHER = 4  # how much farther than a right run a faulty one may be led off by rounding, at equal size


@dataclass(frozen=True, eq=False)
class Suspects:
    """The known faults of a setup, with the references of the scenarios."""

    setup: Setup
    references: Sequence[Reference]
    bits: int
    clients_only: bool

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Those that apply."""
        return tuple(fault for fault in catalogue() if fault.applies(self.setup))

    @cached_property
    def seen_in(self) -> dict[str, frozenset[str]]:
        """By the fault's name, the scenarios on which it leads off by more than the tolerance."""
        return {
            fault.name: frozenset(r.scenario.name for r in self.references if self._shows((fault,), r))
            for fault in self.faults
        }

    def explain(self, runs: Sequence[ObservedRun], most: int = 2) -> list[tuple[Fault, ...]]:
        """All single faults that every run agrees with, those that fit clearly better first; else the first pair.

        What changes nothing anywhere explains no deviation, however near the run is to it.
        """
        order = sorted(range(len(runs)), key=lambda i: len(self.references[i].scenario.rounds))
        watched = any(clients for run in runs for clients in run.clients)
        misfits = {fault: self._misfit((fault,), runs, order) for fault in self.faults}
        fitting = {
            fault: misfit
            for fault, misfit in misfits.items()
            if misfit is not None and self._has_effect((fault,), watched)
        }
        if fitting:
            closest = CLEARLY * max(min(fitting.values()), ROUNDING)
            return [(fault,) for fault in sorted(fitting, key=lambda fault: fitting[fault] > closest)]
        if most == 1:
            return []
        seen = [fault for fault in self.faults if self._has_effect((fault,), watched)]
        fit = (pair for pair in combinations(seen, 2) if self._misfit(pair, runs, order) is not None)
        return next(([pair] for pair in fit if self._has_effect(pair, watched)), [])  # two faults may cancel

    def _has_effect(self, faults: Sequence[Fault], in_clients: bool) -> bool:
        """Whether they lead off by more than the tolerance anywhere."""
        return any(self._shows(faults, reference, in_clients) for reference in self.references)

    def _shows(self, faults: Sequence[Fault], reference: Reference, in_clients: bool = False) -> bool:
        tolerances = reference.tolerances(self.bits)
        for t, moment in enumerate(self._moments(faults, reference)):
            if t >= len(reference.points):
                continue
            pairs = [(moment.server, reference.points[t])]
            if in_clients and t > 0:
                right = reference.moments[t - 1].clients
                pairs += [(x, right[k]) for k, x in moment.clients.items() if k in right]
            if not all(np.abs(x - y).max() <= tolerances[t] for x, y in pairs):
                return True
        return False

    def _misfit(self, faults: Sequence[Fault], runs: Sequence[ObservedRun], order: Iterable[int]) -> float | None:
        """The largest distance from the faulty run, in parts of what is allowed; None where one is not allowed."""
        worst: float | None = None
        for i in order:
            reference, run = self.references[i], runs[i]
            tolerances, size = reference.tolerances(self.bits), np.abs(reference.points).max(axis=1)
            largest = right = 0.0
            faulty = self._moments(faults, reference)
            for t, point in enumerate(run.points):
                moment = next(faulty, None)
                if moment is None or not np.isfinite(moment.server).all():
                    return None
                largest, right = max(largest, float(np.abs(moment.server).max())), max(right, float(size[t]))
                allowed = FARTHER * tolerances[t] * max(1.0, largest / right)
                theirs = run.clients[t - 1] if 0 < t <= len(run.clients) else {}
                pairs = [(x, moment.clients[k]) for k, x in theirs.items() if k in moment.clients]
                distance = max(float(np.abs(x - y).max()) for x, y in [*pairs, (point, moment.server)])
                if not distance <= allowed:
                    return None
                worst = max(worst or 0.0, distance / allowed)
        return worst

    def _moments(self, faults: Sequence[Fault], reference: Reference) -> Iterator[Moment]:
        """The faulty run's, the first point included; it ends early where the faulty run cannot go on."""
        first = faults_start(faults, reference)
        yield Moment(first, {})
        moments = play(self.setup, reference.scenario, arithmetic_for_faults(self.setup), faults, self.clients_only)
        while True:
            try:
                with np.errstate(all="ignore"):  # faulty runs may diverge
                    moment = next(moments)
            except (StopIteration, ZeroDivisionError, FedconvexError):
                return
            yield Moment(float_array(moment.server), {k: float_array(x) for k, x in moment.clients.items()})


def faults_start(faults: Sequence[Fault], reference: Reference) -> np.ndarray:
    """The first point of a faulty run."""
    point = reference.scenario.first_point
    for fault in faults:
        point = float_array(fault.initial_point(point))
    return point
