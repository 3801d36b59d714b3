"""Which known faults explain an implementation's runs: compare them with runs of the faulty method, round by round."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from fedconvex.arithmetic.rationals import float_array
from fedconvex.conformance.faults import Fault, catalogue
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Moment, Part, Reference, arithmetic_for_faults, play
from fedconvex.conformance.setup import Setup
from fedconvex.errors import FedconvexError

CLEARLY = 8  # a fault whose distance is this many times smaller fits clearly better …
ROUNDING = 1e-3  # … unless both distances are below this part of the tolerance
FARTHER = 4  # how many times the correct run's tolerance rounding may move a faulty run of equal size


@dataclass(frozen=True, eq=False)
class Suspects:
    """The faults that a setup can have, and the references to try them on."""

    setup: Setup
    references: Sequence[Reference]
    bits: int
    part: Part = "both"

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of the catalogue that apply to the setup."""
        return tuple(fault for fault in catalogue() if fault.applies(self.setup))

    @cached_property
    def seen_in(self) -> dict[str, frozenset[str]]:
        """For each fault's name the scenarios in which it changes the server's points by more than the tolerance."""
        return {
            fault.name: frozenset(r.scenario.name for r in self.references if self._shows((fault,), r))
            for fault in self.faults
        }

    def shows(self, fault: Fault) -> bool:
        """Whether the fault changes the server's points in any scenario."""
        return self._has_effect((fault,), in_clients=False)

    def explain(self, runs: Sequence[ObservedRun], most: int = 2) -> list[tuple[Fault, ...]]:
        """The faults that reproduce every run: all single ones, those that fit clearly better first, or else one pair.

        A fault that changes no scenario explains no deviation, however close its runs are.
        """
        # short runs first: most faults are excluded there, at a fraction of the time
        order = sorted(range(len(runs)), key=lambda i: len(self.references[i].scenario.rounds))
        client_models_known = any(clients for run in runs for clients in run.clients)
        misfits = {fault: self._misfit((fault,), runs, order) for fault in self.faults}
        fitting = {
            fault: misfit
            for fault, misfit in misfits.items()
            if misfit is not None and self._has_effect((fault,), client_models_known)
        }
        if fitting:
            closest = CLEARLY * max(min(fitting.values()), ROUNDING)
            # a stable sort: among equally good fits the catalogue's order holds, conventions last
            return [(fault,) for fault in sorted(fitting, key=lambda fault: fitting[fault] > closest)]
        if most == 1:
            return []
        seen = [fault for fault in self.faults if self._has_effect((fault,), client_models_known)]
        fit = (pair for pair in combinations(seen, 2) if self._misfit(pair, runs, order) is not None)
        return next(
            ([pair] for pair in fit if self._has_effect(pair, client_models_known)), []
        )  # two faults may cancel

    def _has_effect(self, faults: Sequence[Fault], in_clients: bool) -> bool:
        """Whether the faults change any scenario by more than the tolerance."""
        return any(self._shows(faults, reference, in_clients) for reference in self.references)

    def _shows(self, faults: Sequence[Fault], reference: Reference, in_clients: bool = False) -> bool:
        """Whether the faults change this scenario; `in_clients`: a change of the clients' models counts, too."""
        tolerances = reference.tolerances(self.bits)
        for t, moment in enumerate(self._moments(faults, reference)):
            if t >= len(reference.points):
                continue
            pairs = [(moment.server, reference.points[t])]
            if in_clients and t > 0:
                right = reference.moments[t - 1].clients
                pairs += [(x, right[k]) for k, x in moment.clients.items() if k in right]
            if not all(np.abs(x - y).max() <= tolerances[t] for x, y in pairs):  # NaN differs
                return True
        return False

    def _misfit(self, faults: Sequence[Fault], runs: Sequence[ObservedRun], order: Iterable[int]) -> float | None:
        """The largest distance between run and faulty run, relative to the allowed one; None where it exceeds that."""
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
                # rounding errors grow with the numbers, and a faulty run may grow larger than the correct one
                allowed = FARTHER * tolerances[t] * max(1.0, largest / right)
                theirs = run.clients[t - 1] if 0 < t <= len(run.clients) else {}
                pairs = [(x, moment.clients[k]) for k, x in theirs.items() if k in moment.clients]
                distance = max(float(np.abs(x - y).max()) for x, y in [*pairs, (point, moment.server)])
                if not distance <= allowed:
                    return None
                worst = max(worst or 0.0, distance / allowed)
        return worst

    def _moments(self, faults: Sequence[Fault], reference: Reference) -> Iterator[Moment]:
        """The faulty run, with its initial point first. It ends early where the faulty method has no next round."""
        first = faulty_initial_point(faults, reference)
        yield Moment(first, {})
        numbers = arithmetic_for_faults(self.setup, reference.scenario)
        moments = play(self.setup, reference.scenario, numbers, faults, self.part)
        while True:
            try:
                with np.errstate(all="ignore"):  # faulty runs may diverge
                    moment = next(moments)
            except (StopIteration, ZeroDivisionError, FedconvexError):
                return
            yield Moment(float_array(moment.server), {k: float_array(x) for k, x in moment.clients.items()})


def faulty_initial_point(faults: Sequence[Fault], reference: Reference) -> np.ndarray:
    """The point from which a run with these faults starts."""
    point = reference.scenario.first_point
    for fault in faults:
        point = float_array(fault.initial_point(point))
    return point
