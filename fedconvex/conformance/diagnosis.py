"""Which edits of the method explain an implementation's runs, and in which runs each edit would show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.conformance.identification.agreement import Agreement, Explanation
from fedconvex.conformance.identification.edits import EVERY_EDIT, Edit
from fedconvex.conformance.identification.identify import MOST_EDITS, Identification
from fedconvex.conformance.identification.play import Candidate
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Part, Reference, prescribed_draw, rounds_with, started
from fedconvex.conformance.setup import Setup
from fedconvex.errors import FedconvexError
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import State
from fedconvex.pickled import without_caches

CLEARLY = 8  # a set whose distance is this many times smaller fits clearly better …
ROUNDING = 1e-3  # … unless both distances are below this part of the tolerance


@dataclass(frozen=True, eq=False)
class Suspects:
    """The edits that a setup can have, and the references to try them on."""

    setup: Setup
    references: Sequence[Reference]
    bits: int
    part: Part = "both"

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """Every edit that applies to the setup; where targets are labels, they are integers already."""
        labels = not all(reference.scenario.is_rational for reference in self.references)
        return tuple(e for e in EVERY_EDIT if e.applies(self.setup) and not (labels and "targets" in e.hooks))

    @cached_property
    def plain(self) -> tuple[Edit, ...]:
        """Those without an unknown number."""
        return tuple(edit for edit in self.edits if edit.number is None)

    @cached_property
    def seen_in(self) -> dict[str, frozenset[str]]:
        """For each plain edit's name the scenarios in which it changes the server's points beyond the tolerance."""
        return self._seen_in(self.part)

    @cached_property
    def beyond_this_part(self) -> frozenset[str]:
        """The edits that belong to the part that the kit plays: seen in a whole implementation, not in this half."""
        if self.part == "both":
            return frozenset()
        whole = self._seen_in("both")
        return frozenset(name for name, seen in self.seen_in.items() if not seen and whole[name])

    def _seen_in(self, part: Part) -> dict[str, frozenset[str]]:
        agreement = Agreement(self.setup, self.references, (), self.bits, part)
        shown = agreement.shows([(edit,) for edit in self.plain])
        return {edit.name: seen for edit, seen in zip(self.plain, shown, strict=True)}

    def explain(
        self, runs: Sequence[ObservedRun], more: Sequence[tuple[Reference, ObservedRun]] = (), most: int = MOST_EDITS
    ) -> list[Candidate]:
        """The smallest sets of edits that reproduce every run; those that fit clearly better first.

        `more`: further runs that they must reproduce, at other stepsizes, local steps and participants. An edit that
        changes no scenario explains no deviation, however close its runs are.
        """
        references = [*self.references, *(reference for reference, _ in more)]
        agreement = Agreement(self.setup, references, [*runs, *(run for _, run in more)], self.bits, self.part)
        found = Identification(agreement, self.edits).explanations(most)
        clients_known = any(clients for run in runs for clients in run.clients)
        alone = [one for one in found if len(one.edits) == 1]
        shown = dict(zip(alone, agreement.shows([one.edits for one in alone], clients_known), strict=True))
        found = [one for one in found if shown.get(one, True)]
        if not found:
            return []
        closest = CLEARLY * max(min(one.worst for one in found), ROUNDING)
        # a stable sort: among equally good fits the search's order holds, conventions last
        in_order = sorted(found, key=lambda one: one.worst > closest)
        return [self._told(one, runs) for one in in_order]

    def _told(self, one: Explanation, runs: Sequence[ObservedRun]) -> Candidate:
        """The edits, those with a fitted number with how well the runs agree with it."""
        numbers = sum(len(run.points) + sum(len(clients) for clients in run.clients) for run in runs)
        fits = f"all {numbers} models agree within {max(one.worst, 0.001):.1g} of the admissible rounding error"
        return tuple(replace(e, detail=f"{e.detail}; {fits}") if e.value is not None else e for e in one.edits)

    def right_halves(self, runs: Sequence[ObservedRun]) -> tuple[bool, bool]:
        """Whether all that clients, and all that the server computed is right, each half of a round judged by itself.

        A run that follows the method on its own leaves an unexplained fault behind in every later round. Here the
        clients' half is judged from the server's model that was observed, the server's from the clients' models that
        were observed. Two times False where clients' models are not known.
        """
        if self.part != "both" or not any(clients for run in runs for clients in run.clients):
            return False, False
        found = [right_halves(self.setup, *pair, self.bits) for pair in zip(self.references, runs, strict=True)]
        return all(clients for clients, _ in found), all(server for _, server in found)


def indistinguishable(one: Candidate, other: Candidate) -> bool:
    """Whether two sets that fit the same runs differ in one edit, and in no convention."""
    names = {edit.name for edit in one} ^ {edit.name for edit in other}
    differing = [edit for edit in (*one, *other) if edit.name in names]
    return len(differing) == 2 and len(one) == len(other) and not any(edit.convention for edit in differing)


def right_halves(setup: Setup, reference: Reference, run: ObservedRun, bits: int) -> tuple[bool, bool]:
    """Whether the clients' and the server's halves of every round of a run are right, given what came before."""
    scenario = reference.scenario
    rounds = rounds_with(setup, scenario, arithmetics.get("float"))
    state, tolerances = started(rounds, scenario.first_point), reference.tolerances(bits)
    clients = server = True
    largest = float(np.abs(reference.points).max())
    for t, point in enumerate(run.points[1:]):
        draw = prescribed_draw(scenario, t)
        known = run.clients[t] if t < len(run.clients) else {}
        try:
            with np.errstate(all="ignore"):
                played = rounds.play(State(run.points[t], state.shared, state.memory), draw)
                assert played is not None
                assert draw.members is not None
                members = draw.members.tolist()
                if set(known) != set(members):
                    return False, False
                points = np.stack([known[k] for k in members])
                allowed = tolerances[t + 1] * max(1.0, float(np.abs(points).max()) / largest)
                clients = clients and float(np.abs(points - played.answers.points).max()) <= allowed
                answers = Answers(points, played.answers.path_lengths)
                played = rounds.play(State(run.points[t], state.shared, state.memory), draw, answers=answers)
                assert played is not None
        except (ZeroDivisionError, OverflowError, FedconvexError):
            return False, False
        state = played.state
        allowed = tolerances[t + 1] * max(1.0, float(np.abs(point).max()) / largest)
        server = server and float(np.abs(point - np.asarray(state.server, float)).max()) <= allowed
    return clients, server
