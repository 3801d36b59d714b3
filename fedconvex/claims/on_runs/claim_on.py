"""Whether a claim holds on a run: both sides computed from the rounds that the method's own code plays.

On an `ExactFederation` both sides are exact, the expectation is a sum over every draw, and `holds` is rigorous. On
a trajectory of `simulate` the numbers are those of its arithmetic; where the draws are too many to enumerate, the
expectation is replaced by the draw that happened, and the result says so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.on_runs.claimable import ClaimableRun
from fedconvex.claims.on_runs.conduct import require_within
from fedconvex.claims.on_runs.draws import every_draw
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.on_runs.findings import ALL, Evaluating, Found
from fedconvex.claims.on_runs.paths import everywhere, minimiser_of
from fedconvex.errors import InvalidInput
from fedconvex.once import Once

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim

EMPTY: Mapping[str, Any] = MappingProxyType({})


def claim_on(claim: "Claim", run: Any, parameters: Mapping[str, Any]) -> Found:
    """The claim on a federation, a trajectory of `simulate`, or a deep run; see `Claim.on`."""
    if isinstance(run, ExactFederation):
        if claim.within is not None:
            given = {**run.parameters, **{name: to_fraction(x) for name, x in parameters.items()}}
            require_within(offences(claim.within, replace(run, parameters=given)))
        return _worst(claim, sides_on(claim, run, parameters))
    if isinstance(run, ClaimableRun):
        return _worst(claim, run.sides_of(claim, parameters))
    from fedconvex.claims.on_runs.on_trajectories import on_trajectory
    from fedconvex.runs.simulation import Trajectory

    if isinstance(run, Trajectory):
        return _worst(claim, on_trajectory(claim, run, parameters))
    raise InvalidInput("run", type(run).__name__, "is no run that claims are about",
                       "give an ExactFederation or the result of fedconvex.simulate or fedconvex.deep.run")  # fmt: skip


def sides_on(claim: "Claim", run: ExactFederation, parameters: Mapping[str, Any] = EMPTY) -> Iterator[Found]:
    """The claim's two sides in every round of the federation, for every client of a claim about each."""
    rounds = run.player.rounds
    with rounds.arithmetic.context():
        outcomes = every_draw(run.participation, run.problem)
        if outcomes is None:
            raise InvalidInput("participation", run.participation, "has too many draws", "give fewer clients")
        given = {name: to_fmpq(value, name) for name, value in {**run.parameters, **parameters}.items()}
        free = {name: rounds.arithmetic.array(vector) for name, vector in run.free.items()}
        evaluating = Evaluating(claim, rounds, given, free, Once(lambda: minimiser_of(rounds)))
        number = int(given.get(claim.rounds, run.rounds)) if claim.of_run else claim.rounds_played
        for t in range(1 if claim.of_run else len(run.moments)):
            paths = run.player.paths(run.moments[t], everywhere(outcomes), t, number)
            yield from evaluating.found(paths, ALL, t)


def _worst(claim: "Claim", several: Iterable[Found]) -> Found:
    """A violation where there is one; else something undecided; else the sides that are closest."""
    badness = {False: 2, None: 1, True: 0}
    return max(several, key=lambda one: (badness[one.holds], one.excess))
