"""A run's rounds one after the other: who takes part in each, and what is recorded of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.participation import Full, Participation, Stragglers
from fedconvex.randomness import Purpose
from fedconvex.runs.measurements import RoundMeasurements
from fedconvex.runs.rounds import Rounds


@dataclass(frozen=True, eq=False)
class SimulatedRound:
    """A round that was played. The old state must not be used again, except after `undo`."""

    state: State  # after it
    communicated: bool
    record: Callable[[], dict[str, Any]]  # what is to be written down of the round; measured when it is called
    undo: Callable[[], None]  # the old state is again what it was; costs and keeps the rows that changed, no more


@dataclass(frozen=True, eq=False)
class Simulator:
    """Plays round t from the state before it; a round depends on the seed and t, not on who played those before."""

    rounds: Rounds
    participation: Participation
    stragglers: Stragglers | None
    seed: int
    measurements: RoundMeasurements

    @staticmethod
    def of(
        rounds: Rounds,
        participation: Participation | None,
        stragglers: Stragglers | None,
        seed: int,
        columns: tuple[str, ...],
        num_rounds: int,
    ) -> "Simulator":
        """After checking that scheme, stragglers, solver and method fit together."""
        participation = Full() if participation is None else participation
        if not isinstance(participation, Participation):
            raise InvalidInput(
                "participation", participation, "is not a participation scheme", "give participation.Full()"
            )
        participation.require(rounds.problem, num_rounds)
        _require_divisible_work(rounds, stragglers)
        _require_everyone(rounds, participation, stragglers)
        return Simulator(rounds, participation, stragglers, seed, RoundMeasurements.of(rounds, columns))

    def next_round(self, state: State, t: int) -> SimulatedRound:
        """Round t, played from the state before it. Where that fails, the state is what it was."""
        problem, method = self.rounds.problem, self.rounds.method
        asked = self.participation.draw(problem, self.seed, t)
        gradients = None
        if method.gradients_from == "sample":
            gradients = self.participation.draw(problem, self.seed, t, Purpose.GRADIENT_PARTICIPANTS)
        draw = asked
        if self.stragglers is not None:
            draw = self.stragglers.slow(asked, problem.num_clients, self.rounds.solver.effort)
        played = self.rounds.play(state, draw, gradients, in_place=True)
        record = partial(self.measurements.record, asked, gradients, draw, played)
        if played is None:
            return SimulatedRound(state, True, record, _nothing)
        return SimulatedRound(played.state, played.communicated, record, played.undo)


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
            "has no epochs or steps of which stragglers could do a part",
            "give SGD(…) or GradientDescent(…), or Stragglers(…, policy='drop')",
        )


def _require_everyone(run: Rounds, participation: Participation, stragglers: Stragglers | None) -> None:
    dropped = stragglers is not None and stragglers.policy == "drop" and stragglers.fraction > 0
    someone_missing = dropped or not participation.takes_everyone(run.problem)
    if run.method.needs_everyone and someone_missing:
        raise InvalidInput(
            "participation",
            participation,
            f"{run.method} needs all clients in every round",
            "give participation.Full()",
        )
