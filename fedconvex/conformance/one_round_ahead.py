"""What an implementation's rounds should give, each from the models that it had before the round itself.

A run that follows the method on its own leaves an unexplained fault behind in every later round. Here each half of a
round is judged by itself: the clients' from the server's model that was observed, the server's from the clients' models
that were observed, where they are known. So an unknown optimiser of the clients says nothing against the server.
"""

from collections.abc import Sequence

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.conformance.faults import Fault
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Reference, prescribed_draw, rounds_with
from fedconvex.conformance.setup import Setup
from fedconvex.errors import FedconvexError
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import State

MOST_ROUNDS_OF_RUN = 5  # the long run shows no fault of a single round that the others do not
CERTAIN = 8  # admissible errors by which a fault must change a cell for the cell to exclude it


def excluded(
    setup: Setup, references: Sequence[Reference], runs: Sequence[ObservedRun], bits: int, faults: Sequence[Fault]
) -> frozenset[str]:
    """The names of the faults that some half of a round excludes: it is correct, and would not be with them."""
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
