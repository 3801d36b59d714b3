"""Which known faults explain an implementation's runs, and in which runs each fault would show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.conformance.comparison import ComparedRuns, moments
from fedconvex.conformance.explanations import Explanation
from fedconvex.conformance.faults import Fault, FaultFamily, catalogue, families
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Part, Reference, prescribed_draw, rounds_with
from fedconvex.conformance.search import MOST_FAULTS, FaultSearch
from fedconvex.conformance.setup import Setup
from fedconvex.errors import FedconvexError
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import State
from fedconvex.pickled import without_caches

CLEARLY = 8  # a fault whose distance is this many times smaller fits clearly better …
ROUNDING = 1e-3  # … unless both distances are below this part of the tolerance


@dataclass(frozen=True, eq=False)
class Suspects:
    """The faults that a setup can have, and the references to try them on."""

    setup: Setup
    references: Sequence[Reference]
    bits: int
    part: Part = "both"

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of the catalogue that apply to the setup."""
        labels = not all(reference.scenario.is_rational for reference in self.references)  # which are integers already
        known = (fault for fault in catalogue() if fault.targets is None or not labels)
        return tuple(fault for fault in known if fault.applies(self.setup))

    @cached_property
    def families(self) -> tuple[FaultFamily, ...]:
        """The families of faults that apply to the setup."""
        return tuple(family for family in families() if family.applies(self.setup))

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

    def excluded(self, runs: Sequence[ObservedRun]) -> frozenset[str]:
        """The names of the faults that these runs show to be absent although no faults explain them."""
        if self.part != "both":
            return frozenset()
        return excluded(self.setup, self.references, runs, self.bits, self.faults)

    def explain(self, runs: Sequence[ObservedRun], most: int = MOST_FAULTS) -> list[tuple[Fault, ...]]:
        """The smallest sets of faults that reproduce every run; those that fit clearly better first.

        A fault that changes no scenario explains no deviation, however close its runs are.
        """
        comparison = ComparedRuns(self.setup, self.references, runs, self.bits, self.part)
        search = FaultSearch(comparison, self.faults, self.families)
        client_models_known = any(clients for run in runs for clients in run.clients)
        found = search.explanations(most)
        found = [one for one in found if len(one.faults) > 1 or self._has_effect(one.faults, client_models_known)]
        if not found:
            return []
        closest = CLEARLY * max(min(one.worst for one in found), ROUNDING)
        # a stable sort: among equally good fits the search's order holds, conventions last
        ordered = sorted(found, key=lambda one: one.worst > closest)
        return [self._told(one, runs) for one in ordered]

    def indistinguishable(self, one: Sequence[Fault], other: Sequence[Fault], clients_known: bool) -> bool:
        """Whether two sets of faults differ in one, no convention, and compute the same models in every scenario.

        `clients_known`: the clients' models count, too.
        """
        names = {fault.name for fault in one} ^ {fault.name for fault in other}
        differing = [fault for fault in (*one, *other) if fault.name in names]
        if len(differing) != 2 or len(one) != len(other) or any(fault.convention for fault in differing):
            return False
        return all(self._agree(one, other, reference, clients_known) for reference in self.references)

    def _agree(self, one: Sequence[Fault], other: Sequence[Fault], reference: Reference, clients_known: bool) -> bool:
        """Whether all models of the two faulty runs agree."""
        pairs = zip_longest(*(moments(self.setup, reference, faults, self.part) for faults in (one, other)))
        size = 0.0
        for tolerance, (mine, theirs) in zip(reference.tolerances(self.bits), pairs, strict=False):
            if mine is None or theirs is None:
                return False
            models = [(mine.server, theirs.server)]
            if clients_known:
                if mine.clients.keys() != theirs.clients.keys():
                    return False
                models += [(x, theirs.clients[k]) for k, x in mine.clients.items()]
            size = max(size, *(float(np.abs(x).max()) for x, _ in models))
            allowed = tolerance * max(1.0, size / float(np.abs(reference.points).max()))
            if not all(np.abs(x - y).max() <= allowed for x, y in models):
                return False
        return True

    def _told(self, one: Explanation, runs: Sequence[ObservedRun]) -> tuple[Fault, ...]:
        """The faults, those with a fitted number with how well the runs agree with it."""
        numbers = sum(len(run.points) + sum(len(clients) for clients in run.clients) for run in runs)
        fits = f"all {numbers} models agree within {max(one.worst, 0.001):.1g} of the admissible rounding error"
        return tuple(replace(f, detail=f"{f.detail}; {fits}") if f.family else f for f in one.faults)

    def _has_effect(self, faults: Sequence[Fault], in_clients: bool) -> bool:
        """Whether the faults change any scenario by more than the tolerance."""
        return any(self._shows(faults, reference, in_clients) for reference in self.references)

    def _shows(self, faults: Sequence[Fault], reference: Reference, in_clients: bool = False) -> bool:
        """Whether the faults change this scenario; `in_clients`: a change of the clients' models counts, too."""
        tolerances = reference.tolerances(self.bits)
        for t, moment in enumerate(moments(self.setup, reference, faults, self.part)):
            if t >= len(reference.points):
                continue
            pairs = [(moment.server, reference.points[t])]
            if in_clients and t > 0:
                right = reference.moments[t - 1].clients
                pairs += [(x, right[k]) for k, x in moment.clients.items() if k in right]
            if not all(np.abs(x - y).max() <= tolerances[t] for x, y in pairs):  # NaN differs
                return True
        return False


MOST_ROUNDS_OF_RUN = 5  # the long run shows no fault of a single round that the others do not
CERTAIN = 8  # admissible errors by which a fault must change a cell for the cell to exclude it


def excluded(
    setup: Setup, references: Sequence[Reference], runs: Sequence[ObservedRun], bits: int, faults: Sequence[Fault]
) -> frozenset[str]:
    """The names of the faults that some half of a round excludes: it is correct, and would not be with them.

    A run that follows the method on its own leaves an unexplained fault behind in every later round. Here each half of
    a round is judged by itself: the clients' from the server's model that was observed, the server's from the clients'
    models that were observed, where they are known. So an unknown optimiser of the clients says nothing against the
    server.
    """
    found = set[str]()
    for reference, run in zip(references, runs, strict=True):
        if len(reference.scenario.rounds) > MOST_ROUNDS_OF_RUN or not run.points:
            continue
        right, seen = predicted(setup, reference, run), observed(run)
        # rounding errors grow with the numbers
        sizes = np.maximum.accumulate([float(np.abs(cell).max(initial=0.0)) for cell in seen])
        growth = np.maximum(1.0, sizes / np.abs(reference.points).max())
        allowed = np.repeat(reference.tolerances(bits), 2)[1:][: len(seen)] * growth
        correct = [i for i, cell in enumerate(right) if cell.size and _off(seen[i], cell) <= allowed[i]]
        for fault in faults:
            if fault.name not in found:
                theirs = predicted(setup, reference, run, (fault,))
                if any(i >= len(theirs) or not _off(right[i], theirs[i]) <= CERTAIN * allowed[i] for i in correct):
                    found.add(fault.name)
    return frozenset(found)


def observed(run: ObservedRun) -> list[np.ndarray]:
    """The cells of a run: the initial point, then the clients' and the server's models of every round."""
    cells = [run.points[0]] if run.points else []
    for t, point in enumerate(run.points[1:]):
        known = run.clients[t] if t < len(run.clients) else {}
        rows = [known[k] for k in sorted(known)]
        cells += [np.concatenate(rows) if rows else np.zeros(0), point]
    return cells


def predicted(setup: Setup, reference: Reference, run: ObservedRun, faults: Sequence[Fault] = ()) -> list[np.ndarray]:
    """The same cells by the method with these faults, each half of a round from what was observed before it."""
    scenario, numbers = reference.scenario, arithmetics.get("float")
    rounds = rounds_with(setup, scenario, numbers, faults)
    state = rounds.start(scenario.first_point)
    cells = [np.asarray(state.server, float)]
    for t in range(len(run.points) - 1):
        state = State(run.points[t], state.shared, state.memory)
        draw = prescribed_draw(scenario, t)
        for fault in faults:
            draw = fault.draw(draw, setup.effort, scenario.base.num_clients)
        known = run.clients[t] if t < len(run.clients) else {}
        try:
            with np.errstate(all="ignore"):
                played = rounds.play(state, draw)
                if played is None or draw.members is None:
                    return cells
                members = draw.members.tolist()
                mine = dict(zip(members, played.answers.points, strict=True))
                if set(known) == set(members):
                    points = np.stack([known[k] for k in members])
                    played = rounds.play(state, draw, answers=Answers(points, played.answers.path_lengths))
                    assert played is not None
        except (ZeroDivisionError, OverflowError, FedconvexError):
            return cells
        theirs = [mine[k] for k in sorted(known) if k in mine]
        cells += [np.concatenate(theirs) if theirs else np.zeros(0), np.asarray(played.state.server, float)]
        state = played.state
    return cells


def _off(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference; infinite between other numbers of clients."""
    if one.shape != other.shape:
        return np.inf
    return float(np.abs(one - other).max()) if one.size else 0.0
