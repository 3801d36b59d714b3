"""Claims on deep runs: the rounds are played again from the model's first parameters, with the same draws.

Everything is known that torch computes at the server's models and in the rounds: models, memories, answers, gradients
and values of the clients and of the objective. A network has no known minimiser and no exact local solutions; a linear
model under a convex loss has both. All numbers are NUMERIC. Constants that the claim speaks of and the caller does not
give are measured as `DeepRun.bounds` measures them: at some points of each round, with nothing known of those between.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import nan
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, nearest_float, to_fraction
from fedconvex.claims.on_runs.conduct import Conduct, known_parameters, require_conduct
from fedconvex.claims.on_runs.draws import Outcomes, every_draw
from fedconvex.claims.on_runs.evaluation import NotOnThisRun, StateOnPath
from fedconvex.claims.on_runs.findings import ALL, SAMPLE, Evaluating, Found
from fedconvex.claims.on_runs.paths import Player
from fedconvex.claims.terms import parts
from fedconvex.deep.devices import products_in
from fedconvex.deep.measuring.columns import Measuring
from fedconvex.deep.memory import with_room
from fedconvex.deep.problem import NetworkProblem, budget_of, training_of
from fedconvex.deep.round_settings import RoundSetting, participation_of
from fedconvex.deep.training_mode import WHY_OFF
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.once import Once
from fedconvex.participation import Draw
from fedconvex.runs.measurements import RoundMeasurements
from fedconvex.statements.setting import Unmeasured

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim
    from fedconvex.deep.runner import DeepRun

T = TypeVar("T")
DRAWS = 30  # more draws than these are not enumerated: each costs a round
LANCZOS_STEPS = 20

CURVATURE, HETEROGENEITY, ROUND = "curvature", "heterogeneity", "the round itself"
CONSTANTS = {
    "L": ("smoothness", CURVATURE), "L_minus": ("weak_convexity", CURVATURE), "mu": ("mu", CURVATURE),
    "B": ("dissimilarity", HETEROGENEITY), "sigma2": ("gradient_variance", HETEROGENEITY),
    "epsilon": ("square", HETEROGENEITY), "gamma": ("inexactness", ROUND),
}  # fmt: skip
"""The parameters of claims that can be measured: what `RoundSetting` calls them, and what measures them."""
LOWER = ("mu", "epsilon")  # bounds from below; the others are bounds from above

OF_ROUND = ("answers", "solutions", "residuals", "local gradients")  # of clients that were late, or not drawn
ELSE = "or train a linear model under a convex loss, of which it is computed"
UNKNOWN = {
    "minimiser": ("is not known of a network", f"claim something of gradients, values and moves, {ELSE}"),
    "infimum": ("is not known of a network's objective", f"claim something of its decrease, {ELSE}"),
    "solutions": ("are not known of a network's clients", f"claim something of their answers, {ELSE}"),
}


@final
@dataclass(frozen=True, eq=False)
class ClaimOnDeepRun:
    """A claim on a deep run, with the values that the caller gives to its parameters and free vectors."""

    claim: "Claim"
    run: "DeepRun"
    given: Mapping[str, Any]

    def __post_init__(self) -> None:
        rounds, heads = self.run.simulator.rounds, {p.head for p in self._parts}
        if self.num_rounds < 1:
            raise InvalidInput("run", self.num_rounds, "is a run without rounds", "give rounds=1 or more")
        if training_of(rounds.problem) is not None:
            raise InvalidInput("run", "local_mode='training'", WHY_OFF, "run in evaluation mode")
        if rounds.share is not None:
            raise InvalidInput("run", "several processes", "holds a part of the clients", "run in one process")
        if isinstance(rounds.problem, NetworkProblem):
            for head in sorted(heads & UNKNOWN.keys()):
                problem, cure = UNKNOWN[head]
                raise NotOnThisRun("term", head, problem, cure)
        if "local gradients" in heads and not isinstance(rounds.solver, GradientDescent):
            raise NotOnThisRun("term", "local gradients", f"{rounds.solver} takes no full gradient steps",
                               "run with local_solver=GradientDescent(…)")  # fmt: skip
        if self.run.simulator.stragglers is not None and (late := sorted(heads & set(OF_ROUND))):
            raise NotOnThisRun("term", late[0], "depends on which clients are late", "run without stragglers")
        require_conduct(self.claim, self._conduct, self._known)
        known = self.claim.parameters | self._free_names | {self.claim.rounds} - {""}
        for name in self.given:
            if name not in known:
                raise InvalidInput("parameter", name, "is not in the claim", f"it has {', '.join(sorted(known))}")
        if missing := sorted(self._free_names - self.given.keys()):
            raise NotOnThisRun("free", missing[0], "has no value", f"give the vector {missing[0]}=… to Claim.on")
        for name in sorted(self.claim.parameters - self._values.keys() - CONSTANTS.keys()):
            raise NotOnThisRun("parameter", name, "is not measured in deep runs", f"give {name}=… to Claim.on")

    @property
    def num_rounds(self) -> int:
        """How many rounds were played and kept."""
        return len(self.run.records) - 1

    @property
    def _parts(self) -> Iterator[Any]:
        return (part for side in (self.claim.left, self.claim.right) for part in parts(side))

    @cached_property
    def _free_names(self) -> set[str]:
        return {p.args[0] for p in self._parts if p.head in ("free", "family")}

    def sides(self) -> list[Found]:
        """The two sides in every round of the run, or once for a claim about the whole run."""
        with products_in(self.run.precision), self.run.task.arithmetic.context():
            rounds = self._whole_run() if self.claim.of_run else self._one_round_each()
            return [found for several in rounds for found in several]

    # ---- the rounds, played again ----

    @cached_property
    def _player(self) -> Player:
        return Player(self.run.simulator.rounds)

    def _start(self) -> StateOnPath:
        rounds = self.run.simulator.rounds
        start = rounds.start(self.run.task.start())
        return StateOnPath(start, rounds.clients.rows(start.server))

    def _one_round_each(self) -> Iterator[list[Found]]:
        moment = self._start()
        for t in range(self.num_rounds):
            found, moment = self._with_room(self._one_round, moment, t)
            yield found
        self._require_same_model(moment)

    def _one_round(self, before: StateOnPath, t: int) -> tuple[list[Found], StateOnPath]:
        """The claim's sides in round t, and the moment after it."""
        outcomes, expectation = self._outcomes(1)
        constants = self._constants([self._row(before, t)])
        paths = self._player.paths(before, outcomes, t, 1)
        found = [replace(one, measured=constants) for one in self._evaluating(constants).found(paths, expectation, t)]
        return found, paths[0].moments[1] if len(paths) == 1 else self._after(before, t)

    def _whole_run(self) -> Iterator[list[Found]]:
        outcomes, expectation = self._outcomes(self.num_rounds)
        moment, settings = self._start(), []
        for t in range(self.num_rounds):
            settings.append(self._with_room(self._row, moment, t))
            moment = self._with_room(self._after, moment, t)
        self._require_same_model(moment)
        constants = self._constants(settings)

        def found() -> list[Found]:
            paths = self._player.paths(self._start(), outcomes, 0, self.num_rounds)
            return list(self._evaluating(constants).found(paths, expectation, 0))

        yield [replace(one, measured=constants) for one in self._with_room(found)]

    def _after(self, before: StateOnPath, t: int) -> StateOnPath:
        return self._player.after(before, self._happened(t), t)[0]

    def _happened(self, t: int) -> Draw:
        simulator = self.run.simulator
        problem, drawn = (
            simulator.rounds.problem,
            simulator.participation.draw(simulator.rounds.problem, simulator.seed, t),
        )
        if simulator.stragglers is None:
            return drawn
        return simulator.stragglers.slow(drawn, problem.num_clients, simulator.rounds.solver.effort)

    def _outcomes(self, number: int) -> tuple[Callable[[int], Outcomes], str]:
        """The draws of each round: all where they are few, else the one that happened."""
        simulator = self.run.simulator
        scheme, problem, seed = simulator.participation, simulator.rounds.problem, simulator.seed
        first = None if simulator.stragglers is not None else every_draw(scheme, problem)
        if first is None or len(first) ** number > DRAWS:
            return lambda t: [(Fraction(1), self._happened(t))], SAMPLE
        return lambda t: every_draw(scheme, problem, t, seed) or [], ALL

    def _require_same_model(self, last: StateOnPath) -> None:
        here, there = last.state.server, self.run.state.server
        number = self.run.task.arithmetic.to_float
        apart = np.linalg.norm(number(here) - number(there))
        if not apart <= self.run.rounding * np.linalg.norm(number(there)):
            raise InvalidInput("run", "its rounds, computed again", f"lead to a model {apart:.3g} away from the run's",
                               "compute them on the device of the run")  # fmt: skip

    def _with_room(self, work: Callable[..., T], *arguments: Any) -> T:
        return with_room(partial(work, *arguments), budget_of(self.run.task.problem))

    # ---- what the claim's letters are ----

    def _evaluating(self, constants: Mapping[str, float]) -> Evaluating:
        rounds, free = self.run.simulator.rounds, self._free
        return Evaluating(
            self.claim, rounds, {**self._values, **constants}, free, Once(self._minimiser), self.run.rounding
        )

    @cached_property
    def _values(self) -> dict[str, float]:
        """The values of the claim's parameters that are known."""
        return {name: nearest_float(value) for name, value in self._known.items() if name in self.claim.parameters}

    @cached_property
    def _known(self) -> dict[str, Any]:
        """The parameters that are given, the method's own, and the counts."""
        given = {name: to_fraction(x, name) for name, x in self.given.items() if name not in self._free_names}
        return {**known_parameters(self.claim, self._conduct, self.num_rounds), **given}

    @cached_property
    def _conduct(self) -> Conduct:
        simulator = self.run.simulator
        rounds = simulator.rounds
        return Conduct(rounds.problem, rounds.method, simulator.participation, rounds.solver, simulator.stragglers)

    @cached_property
    def _free(self) -> dict[str, Array]:
        problem, array = self.run.task.problem, self.run.task.arithmetic.array
        found = {}
        for part in self._parts:
            if part.head in ("free", "family"):
                name, shape = part.args[0], (problem.num_clients, problem.dim)[part.head == "free" :]
                found[name] = array(self.given[name])
                if tuple(found[name].shape) != shape:
                    raise InvalidInput(
                        name, tuple(found[name].shape), "is not the shape of the models", f"give {shape}"
                    )
        return found

    def _minimiser(self) -> Array:
        from fedconvex.ground_truths import ground_truth

        return self.run.task.arithmetic.array(ground_truth(self.run.task.problem).point)

    # ---- constants that are measured ----

    @cached_property
    def _measured(self) -> tuple[str, ...]:
        return tuple(sorted(self.claim.parameters & CONSTANTS.keys() - self._values.keys()))

    def _row(self, moment: StateOnPath, t: int) -> RoundSetting:
        """What is measured at the model before round t, and in the round."""
        simulator, needed = self.run.simulator, {CONSTANTS[name][1] for name in self._measured}
        rounds, names = simulator.rounds, tuple(sorted(needed - {ROUND}))
        if names and rounds.method.scale(rounds.problem) is not None:
            raise NotOnThisRun("parameter", self._measured[0], "is about clients scaled by their weights",
                               f"give {self._measured[0]}=… to Claim.on")  # fmt: skip
        row = {"round": t, "value": nan, "inexactness": nan}
        row |= Measuring(names, simulator, self.run.task, LANCZOS_STEPS, DRAWS, self.run.rounding).at(moment.state, t)
        if ROUND in needed:
            if simulator.stragglers is not None:
                raise NotOnThisRun(
                    "parameter", "gamma", "depends on which clients are late", "give gamma=… to Claim.on"
                )
            everyone = Draw(np.arange(rounds.problem.num_clients), round=t, seed=simulator.seed)
            result = rounds.play(moment.state, everyone)
            assert result is not None
            row["inexactness"] = float(RoundMeasurements(rounds, (), None).inexactness(everyone, result).max())
        return RoundSetting(
            rounds.problem, rounds.method, participation_of(simulator), rounds.solver, self.num_rounds, row
        )

    def _constants(self, settings: list[RoundSetting]) -> dict[str, float]:
        """The measured constants: those for which the assumption holds at all these models."""
        found = {}
        for name in self._measured:
            try:
                values = [float(setting.measure(CONSTANTS[name][0])) for setting in settings]
            except Unmeasured as error:
                raise NotOnThisRun("parameter", name, str(error), f"give {name}=… to Claim.on") from None
            found[name] = min(values) if name in LOWER else max(values)
        return found
