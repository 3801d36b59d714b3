"""Whether a claim holds on a run: both sides computed from the rounds that the method's own code plays.

On an `ExactFederation` both sides are exact, the expectation is a sum over every draw, and `holds` is rigorous. On
a trajectory of `simulate` the numbers are those of its arithmetic; where the draws are too many to enumerate, the
expectation is replaced by the draw that happened, and the result says so.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.claims.on_runs.conduct import Conduct, known_parameters, require_conduct
from fedconvex.claims.on_runs.draws import MOST, Outcomes, every_draw
from fedconvex.claims.on_runs.evaluation import StateOnPath
from fedconvex.claims.on_runs.findings import ALL, SAMPLE, Evaluating, Found
from fedconvex.claims.on_runs.paths import Player, minimiser_of
from fedconvex.errors import InvalidInput
from fedconvex.once import Once
from fedconvex.participation import Draw
from fedconvex.problems.composite import without_term
from fedconvex.runs.rounds import Rounds, rounds_of
from fedconvex.runs.simulation import RunSetup, Trajectory

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.on_runs.claimable import ClaimableRun
from fedconvex.claims.on_runs.conduct import require_within
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.on_runs.paths import everywhere

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


# Claims on the result of `fedconvex.simulate`: its rounds are played again, with the same draws.
# The numbers have the certainty of the run's arithmetic. Where the draws of a round can be enumerated, its expectation
# is over all of them, from the state that the run reached; else it is the draw that happened, a sample.

MEASURED = {"L": "smoothness", "mu": "mu", "L_minus": "weak_convexity", "kappa": "condition_number"}
"""What `fedconvex.statements.instance.Instance` calls the constants that papers give these names."""


def on_trajectory(claim: "Claim", run: Trajectory, parameters: Mapping[str, Any]) -> Iterator[Found]:
    """The claim's sides in every round of the run, or once for a claim about the whole run."""
    if run.setup is None:
        raise InvalidInput("run", "a trajectory", "has no record of its simulation", "give the result of simulate")
    setup, T = run.setup, len(run.points) - 1
    name = "float" if setup.arithmetic == "torch" else setup.arithmetic
    numbers = arithmetics.get(name, precision=setup.precision)
    rounds = rounds_of(run.method, without_term(run.problem), numbers, setup.local_solver)
    with numbers.context():
        player, happened = Player(rounds), partial(_happened, run, setup)
        start = rounds.start(numbers.array(run.points[0]))
        moments = [StateOnPath(start, rounds.clients.rows(start.server))]
        for t in range(0 if claim.of_run else T - 1):
            moments.append(player.after(moments[-1], happened(t), t)[0])
        at = Conduct(rounds.problem, run.method, setup.participation, setup.local_solver, setup.stragglers)
        known = {**known_parameters(claim, at, T), **parameters}
        require_conduct(claim, at, known)
        given = _parameters(claim, run, setup, numbers, known)
        evaluating = Evaluating(claim, rounds, given, {}, Once(lambda: _minimiser(rounds)))
        number = T if claim.of_run else claim.rounds_played
        if number > T:
            raise InvalidInput("run", f"{T} rounds", f"are fewer than the {number} of the claim", "simulate more")
        for t in range(T - number + 1):
            outcomes, expectation = _outcomes(run, setup, number)
            yield from evaluating.found(player.paths(moments[t], outcomes, t, number), expectation, t)


def _happened(run: Trajectory, setup: RunSetup, t: int) -> Draw:
    """Who took part in round t, and how much work each did."""
    drawn = setup.participation.draw(without_term(run.problem), setup.seed, t)
    if setup.stragglers is None:
        return drawn
    return setup.stragglers.slow(drawn, run.problem.num_clients, setup.local_solver.effort)


def _outcomes(run: Trajectory, setup: RunSetup, number: int) -> tuple[Callable[[int], Outcomes], str]:
    """The draws of each round: all where they are few, else the one that happened."""
    first = None if setup.stragglers is not None else every_draw(setup.participation, without_term(run.problem))
    if first is None or len(first) ** number > MOST:
        return lambda t: [(Fraction(1), _happened(run, setup, t))], SAMPLE
    return lambda t: every_draw(setup.participation, without_term(run.problem), t, setup.seed) or [], ALL


def _parameters(
    claim: "Claim", run: Trajectory, setup: RunSetup, numbers: Arithmetic, known: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of the claim's parameters: those that are known, and measured constants."""
    from fedconvex.statements.instance import Instance

    instance = Instance(without_term(run.problem), run.method, setup.participation, setup.local_solver)
    found = {name: numbers.scalar(known[name]) for name in claim.parameters if name in known}
    for name in sorted(claim.parameters - set(known)):
        if name in MEASURED:
            ball = instance.measure(MEASURED[name])
            found[name] = nearest_float(ball) if numbers.certainty is Certainty.NUMERIC else ball
    return found


def _minimiser(rounds: Rounds) -> Array:
    if rounds.arithmetic.certainty is not Certainty.NUMERIC:
        return minimiser_of(rounds)  # refuses what has no exact one
    from fedconvex.ground_truths import ground_truth

    return rounds.arithmetic.array(ground_truth(rounds.problem).point)
