"""The loop over rounds: who takes part in each, what is recorded, and when the run ends.

`simulate`, the audit and deep runs differ in what they record and when they stop. They share this loop, and with it
the rule that round t depends on the state before it, the seed and t alone: that makes runs of several methods paired,
and a resumed run equal to one without interruption.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.parameters import require_rounds
from fedconvex.participation import Full, Participation, Stragglers
from fedconvex.randomness import Purpose
from fedconvex.runs.measurements import RoundMeasurements
from fedconvex.runs.rounds import Rounds


@dataclass(frozen=True, eq=False)
class SimulatedRound:
    """A round that was simulated in place: the state before it must not be used again, except after `undo`."""

    state: State  # after the round
    communicated: bool
    record: Callable[[], dict[str, Any]]  # measures the round when called: the columns of RoundMeasurements.record
    undo: Callable[[], None]  # restores the state before the round, from the overwritten rows of memory alone
    average: Callable[[Any], Any] | None = None  # the server's average over the participants; None: nobody took part


@dataclass(frozen=True, eq=False)
class Simulator:
    """Simulates round t from the state before it, with the participants and stragglers that the seed draws for t."""

    rounds: Rounds
    participation: Participation
    stragglers: Stragglers | None
    seed: int
    measurements: RoundMeasurements

    @staticmethod
    def of(
        rounds: Rounds,
        participation: Participation | None = None,
        stragglers: Stragglers | None = None,
        seed: int = 0,
        columns: tuple[str, ...] = (),
        num_rounds: int = 0,
    ) -> "Simulator":
        """The simulator, after checking that scheme, stragglers, solver and method fit together.

        Args:
            columns: what to record beside the counts, of `measurements.ROUND_COLUMNS`.
            num_rounds: how many rounds the participation scheme must provide for.

        Raises:
            InvalidInput: something that is no participation scheme, or one that does not fit the problem, the method
                or so many rounds; stragglers whose work the local solver cannot divide.
        """
        participation = Full() if participation is None else participation
        if not isinstance(participation, Participation):
            raise InvalidInput(
                "participation", participation, "is not a participation scheme", "give participation.Full()"
            )
        participation.require(rounds.problem, num_rounds)
        require_rounds(rounds.method, num_rounds)
        require_rounds(rounds.solver, num_rounds)
        _require_divisible_work(rounds, stragglers)
        _require_everyone(rounds, participation, stragglers)
        return Simulator(rounds, participation, stragglers, seed, RoundMeasurements.of(rounds, columns))

    def next_round(self, state: State, t: int) -> SimulatedRound:
        """Round t from the state before it. Where the round raises, that state is unchanged."""
        problem, method = self.rounds.problem, self.rounds.method
        drawn = self.participation.draw(problem, self.seed, t)
        gradient_draw = None
        if method.gradients_from == "sample":  # FedDANE draws a second, independent set of clients for the gradient
            gradient_draw = self.participation.draw(problem, self.seed, t, Purpose.GRADIENT_PARTICIPANTS)
        answering = drawn
        if self.stragglers is not None:
            answering = self.stragglers.slow(drawn, problem.num_clients, self.rounds.solver.effort)
        result = self.rounds.play(state, answering, gradient_draw, in_place=True)
        record = partial(self.measurements.record, drawn, gradient_draw, answering, result)
        if result is None:
            return SimulatedRound(state, True, record, _nothing)
        return SimulatedRound(result.state, result.communicated, record, result.undo, result.average)


class Undoable(Protocol):
    """What the loop needs of a round."""

    @property
    def state(self) -> State: ...
    @property
    def undo(self) -> Callable[[], None]: ...


Round = TypeVar("Round", bound=Undoable)


@dataclass(frozen=True)
class Stop:
    """Why a run ends before its last round, and whether the round that ended it is undone."""

    reason: str
    undo: bool = False


@dataclass(frozen=True)
class SaveSchedule:
    """When a run saves its state: every `every` rounds, after round number `last`, and wherever it ends."""

    save: Callable[[State], None]
    every: int
    last: int

    def after(self, t: int, state: State, ended: bool) -> None:
        """Saves the state after round t if it is time."""
        if ended or t + 1 == self.last or (t + 1) % self.every == 0:
            self.save(state)


def run_rounds(
    simulate: Callable[[State, int], Round],
    state: State,
    rounds: Iterable[int],
    record: Callable[[int, Round], Stop | None],
    schedule: SaveSchedule | None = None,
) -> tuple[State, str | None]:
    """Simulates the rounds one after the other; the only loop over rounds that is run for its results.

    Args:
        simulate: the round of that number from a state, such as `Simulator.next_round`.
        rounds: the numbers of the rounds to run, ascending.
        record: looks at each round after it was simulated, and ends the run by returning a `Stop`.

    Returns:
        The state after the last round that was not undone, and the reason why the run ended early, or None.
    """
    for t in rounds:
        simulated = simulate(state, t)
        stop = record(t, simulated)
        if stop is not None and stop.undo:
            simulated.undo()
        else:
            state = simulated.state
        del simulated  # frees all that the clients sent before the state is saved and the next round begins
        if schedule is not None:
            schedule.after(t, state, ended=stop is not None)
        if stop is not None:
            return state, stop.reason
    return state, None


def _nothing() -> None:
    pass


def _require_divisible_work(run: Rounds, stragglers: Stragglers | None) -> None:
    if stragglers is None:
        return
    if not isinstance(stragglers, Stragglers):
        raise InvalidInput("stragglers", stragglers, "is not a Stragglers", "give participation.Stragglers(fraction=…)")
    if stragglers.policy == "use" and run.solver.effort is None:
        raise InvalidInput(
            "local_solver",
            run.solver,
            "has no epochs or steps, the same for all clients, of which stragglers could do a part",
            "give SGD(…) or GradientDescent(…), or Stragglers(…, policy='drop')",
        )


def _require_everyone(run: Rounds, participation: Participation, stragglers: Stragglers | None) -> None:
    dropped = stragglers is not None and stragglers.policy == "drop" and stragglers.fraction > 0
    someone_missing = dropped or not participation.takes_everyone(run.problem)
    if run.needs_everyone and someone_missing:
        term = "" if run.method.needs_everyone else " for a composite objective"
        raise InvalidInput(
            "participation",
            participation,
            f"{run.method} needs all clients in every round{term}",
            "give participation.Full()",
        )
