"""`run`: a method on a PyTorch model, with the core's method objects and all clients of a round in one batch."""

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
import torch
from torch import Tensor, nn

from fedconvex.claims.on_runs.claimable import ClaimableRun
from fedconvex.claims.on_runs.findings import ROUNDING
from fedconvex.deep.checkpoints import DeepCheckpoint
from fedconvex.deep.devices import device_of, dtype_of, lower_of, one_thread, products_in
from fedconvex.deep.dictionaries import restored
from fedconvex.deep.disk import disk_of
from fedconvex.deep.footprint import Footprint, footprint
from fedconvex.deep.identities import RunIdentity
from fedconvex.deep.local_mode import LocalMode
from fedconvex.deep.loggers import Logger, require_loggers, started
from fedconvex.deep.logs import log_to, only_writer, require_log
from fedconvex.deep.losses import loss_for, loss_of
from fedconvex.deep.measuring.columns import OF_ROUNDS, Measuring, in_mode_of, names_of
from fedconvex.deep.memory import with_room
from fedconvex.deep.metrics import require_metrics
from fedconvex.deep.monitor import Monitor, require_evaluation
from fedconvex.deep.over_the_run import over_the_run
from fedconvex.deep.plans import Plan, available_on
from fedconvex.deep.problem import training_of
from fedconvex.deep.processes import Processes, join, own_device
from fedconvex.deep.round_settings import RoundSetting, before_and_in, participation_of
from fedconvex.deep.rounds import RecordedRound, recorded_round
from fedconvex.deep.routes import continue_on, route_of, take_route
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import NetworkTask, Task, require_fit, task_of
from fedconvex.deep.torch_data import TARGETS, GivenSamples
from fedconvex.deep.training_mode import require_local_steps
from fedconvex.deep.watching import require_function, watching_with
from fedconvex.errors import InvalidInput, PlainAverage, short_text
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.names import checked_keywords
from fedconvex.participation import Participation, Stragglers, Uniform
from fedconvex.progress import track
from fedconvex.runs.measurements import COUNTS, OF_CLIENTS
from fedconvex.runs.rounds import Rounds, rounds_of
from fedconvex.runs.simulator import SaveSchedule, Simulator, Stop, run_rounds
from fedconvex.shown import ShownResult
from fedconvex.validation import integer_at_least, random_seed

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from fedconvex.claims.claim import Claim
    from fedconvex.claims.on_runs.findings import Found

SINGLE = {
    "full": 1e-4,
    "tf32": 1e-2,
    "fp16": 1e-2,
    "bf16": 5e-2,
}  # `ROUNDING` of float32 parameters, by the products' precision


@final
@dataclass(frozen=True, eq=False)
class DeepRun(ShownResult, ClaimableRun):
    """A finished run: the trained model, the state after the last finite round, and one record per model.

    `stopped` is the reason why the run ended early, or None: the next round's model, or its value, was not finite, or
    `until` held. `seconds` is the time that the rounds, the evaluations and each kind of measurement took. `precision`
    is that of the products, as in `run`.

    `statement.claim.on(run)` plays the rounds again and computes both sides of the claim in each; constants that it
    speaks of and that are not given, such as L and B, are measured at the server's models.
    """

    model: nn.Module
    state: State
    records: list[dict[str, Any]]
    task: Task
    simulator: Simulator
    seconds: dict[str, float]
    stopped: str | None
    precision: str = "full"
    names: tuple[str, ...] = ()  # of the clients, where they were given by name

    def sides_of(self, claim: "Claim", parameters: Mapping[str, Any]) -> "list[Found]":
        """Both sides of a claim in every round, for `Claim.on`; see `fedconvex.deep.claims`."""
        from fedconvex.deep.claims import ClaimOnDeepRun

        return ClaimOnDeepRun(claim, self, parameters).sides()

    def to_frame(self) -> "pandas.DataFrame":
        """One row per round 0, …, T.

        Columns: round; value f(θ) = Σ_k weights_k f_k(θ) and accuracy (of the clients' samples, pooled; NaN for losses
        that do not classify) of the server's model before round `round`, after the last one in row T; test_value and
        test_accuracy where a test set was given; participants, bytes_down, bytes_up of the round that led to the model
        (as in `fedconvex.simulate`), and what `measure` asked for: see `fedconvex.deep.measuring.columns`.
        """
        import pandas

        of_each = {name for record in self.records for name, value in record.items() if isinstance(value, list)}
        return pandas.DataFrame(self.records).drop(columns=list(of_each))

    def of_clients(self, column: str = "accuracy") -> "pandas.DataFrame":
        """What `evaluate="clients"` found of every client: one row per round, one column per client.

        Use its `.quantile([0, 0.1, 0.5, 0.9], axis=1)` for how evenly the model serves the clients, `.min(axis=1)` for
        the worst one. column: "value" or "accuracy" of their samples; "test_value", "test_accuracy" of their test sets.
        Raises InvalidInput where the run has no such numbers.
        """
        import pandas

        if not any(f"client_{column}" in record for record in self.records):
            cure = "run with evaluate='clients', and with a test set for each client for those of test sets"
            raise InvalidInput("column", column, "was not evaluated for each client", cure)
        nothing = [nan] * self.task.problem.num_clients
        rows = [record.get(f"client_{column}", nothing) for record in self.records]
        rounds = pandas.Index([record["round"] for record in self.records], name="round")
        return pandas.DataFrame(rows, rounds, pandas.Index(self.names or range(len(nothing)), name="client"))

    @property
    def client_inexactness(self) -> np.ndarray:
        """The γ_k that every client reached in every round (FedProx, Definition 2), (T, m); NaN where it took no part.

        Raises InvalidInput where the run did not measure it.
        """
        if len(self.records) < 2 or OF_CLIENTS not in self.records[1]:
            raise InvalidInput("measure", None, "does not include the inexactness", "run with measure='inexactness'")
        return np.array([record[OF_CLIENTS] for record in self.records[1:]])

    def figure(self, statement: str = "fedprox.theorem4", **given: Any) -> "Figure":
        """The run with a statement laid over it, as Matplotlib's figure: see `fedconvex.deep.figure.figure`."""
        from fedconvex.deep.figure import figure

        return figure(self, statement, **given)

    def draw(self, path: "str | PathLike[str]", statement: str = "fedprox.theorem4", **given: Any) -> Path:
        """The same, in a .png, .svg or .pdf file."""
        from fedconvex.deep.figure import draw

        return draw(self, path, statement, **given)

    def bounds(self, **given: Any) -> "pandas.DataFrame":
        """The papers' statements about the method, evaluated round by round on the measured constants.

        Rounds whose model was not evaluated (`every`) have no rows. Columns: round; statement; verdict: "applies" where
        all its assumptions hold by measurement, "does not apply" where one fails, "refuted by this round" where they
        hold at the points measured and f falls by less than promised, so that one must fail in between; applies:
        whether the verdict is the first; quantity, promised: the promised number; happened: what the round did, slack:
        happened − promised (ρ of the decrease statements, where `decrease` was measured; NaN elsewhere); assumption,
        reason: what fails. `fedconvex.deep.over_the_run.when` summarises the table in sentences.

        Args:
            **given: constants to use instead of measured ones, and those that cannot be measured: epsilon=1e-3.
        """
        return over_the_run(self.settings, given)

    @property
    def settings(self) -> list[RoundSetting]:
        """The constants of every round that was measured, as `bounds` uses them."""
        rounds, simulator = self.simulator.rounds, self.simulator
        return [
            RoundSetting(
                rounds.problem, rounds.method, participation_of(simulator), rounds.solver, len(self.records) - 1,
                before_and_in(now, after, rounds.problem.num_clients), self.rounding,
            )
            for now, after in zip(self.records, self.records[1:], strict=False)
            if not isnan(now["value"])
        ]  # fmt: skip

    @property
    def rounding(self) -> float:
        """The relative error that rounding may leave in the objective's values: differences below it decide nothing."""
        return _rounding(self.task, self.precision)


@final
class Interrupted(KeyboardInterrupt):
    """Ctrl-C during the rounds; `run` is the `DeepRun` of those that were finished."""

    def __init__(self, run: DeepRun) -> None:
        super().__init__(f"after {len(run.records) - 1} rounds: this error's attribute `run` has them")
        self.run = run


def _rounding(task: Task, precision: str) -> float:
    single = getattr(task.arithmetic, "dtype", torch.float64) == torch.float32
    return SINGLE[precision] if single else ROUNDING


@checked_keywords
def run(
    method: Method,
    model: nn.Module,
    clients: Any,
    loss: Any = "cross_entropy",
    rounds: int = 1,
    participation: Participation | None = None,
    local_solver: LocalSolver | None = None,
    weights: Any = None,
    ridge: Any = 0.0,
    seed: int = 0,
    dtype: Any = None,
    device: Any = "cpu",
    *,
    precision: str = "full",
    local_mode: str = "evaluation",
    buffers: "str | Mapping[str, str] | None" = None,
    transform: Callable[[Tensor, torch.Generator], Tensor] | None = None,
    storage: "str | PathLike[str]" = "auto",
    test: Any = None,
    stragglers: Stragglers | None = None,
    measure: "str | Sequence[str] | None" = None,
    every: int = 1,
    evaluate: str = "all",
    until: Callable[[dict[str, Any]], bool] | None = None,
    lanczos_steps: int = 20,
    draws: int = 30,
    metrics: "Mapping[str, Callable[[Tensor, Tensor], Any]] | None" = None,
    log: "str | PathLike[str] | None" = None,
    loggers: Sequence[Logger] | None = None,
    checkpoint: "str | PathLike[str] | None" = None,
    checkpoint_every: int = 10,
    exactly: bool = False,
    watch: Callable[..., None] | None = None,
    before: Callable[[Footprint], None] | None = None,
    progress: bool = True,
) -> DeepRun:
    """Trains a model with a federated method on f_k(θ) = (1/n_k) Σ_i loss(model_θ(x_i), y_i) + (ridge/2)‖θ‖².

    Use it to see whether a theorem's assumptions and promises hold on a network: `measure` records its constants,
    `.bounds()` compares. For convex problems with exact numbers use `fedconvex.simulate`.

    θ are the model's trainable parameters, starting from their present values; the model itself is not changed. A
    linear layer under a convex loss runs as the core's own problem, with all that it offers: `Exact` local solutions,
    and on the CPU its machine code, which computes in float64 whatever the dtype.

    Args:
        model: a module that maps (batch, …) inputs to (batch, outputs), for tokens to (batch, …, classes), a function
            of its parameters alone; or to an object or a dictionary with such `logits`.
        clients: one pair (inputs (n_k, …), targets (n_k,)) per client, tensors or arrays; with weights w of the
            samples (inputs, targets, w (n_k,)): f_k is then Σ_i w_i loss_i / Σ_i w_i. Images in uint8 are divided by
            255, batch by batch; other numbers are used as they are. Inputs may be dictionaries of arrays, which the
            model gets by keyword. Or a dictionary of columns, of which "labels" or "label" has the targets and
            "sample_weight" the weights. Or a `torch.utils.data.Dataset`, a `DataLoader`, or another sequence or
            iterable of such samples, which is read once; the local solver makes the batches. Or a dictionary of these
            by the clients' names.
        loss: "cross_entropy" (targets 0, …, C − 1; of tokens (n_k, …), the mean over a sample's tokens whose target is
            not −100), "logistic" (targets −1, +1; one output), "half_square" (one output; ½‖z − y‖² of vectors
            (n_k, C)), or a function (outputs, targets) -> one loss per sample.
        rounds: T >= 0.
        participation, local_solver, stragglers, seed: as in `fedconvex.simulate`; the same seed gives the same
            clients, stragglers and mini-batches as there.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each; "samples": n_k/n.
        dtype: torch.float64 or torch.float32, in which the model is trained and returned; None: that of its parameters.
        device: "cpu", "cuda" or "auto" (a GPU if there is one).
        precision: "full"; "tf32", "bf16" or "fp16": products of networks' local work and measurements in fewer digits,
            of float32 parameters (on GPUs; bf16 and fp16 also on CPUs). Evaluations are in full. In fp16 losses are
            multiplied by 2^16 for their derivatives, and by less where these overflow.
        local_mode: "evaluation"; or "training": local steps call the model in training mode, with dropout, batch
            statistics and augmentation. The objective, and all that is measured, are those of evaluation mode.
        buffers: what happens to buffers that training changes, such as running statistics: "averaged" (default) over
            the participants as their models are; "kept" by every client, which is evaluated with its own; "frozen",
            whose layers always compute as in evaluation mode. Or one of these for each name or pattern of a layer or
            buffer: {"norm1": "kept", "*": "averaged"}, of which the first that fits decides.
        transform: a function (batch, generator) -> batch for the inputs of every step in training mode, which draws
            random numbers from the generator alone. `fedconvex.deep.training_mode.step_seeds` has the seeds.
        storage: "memory": the samples are held on the device; "disk": their inputs are read once, piece by piece, into
            a temporary file, from which every batch comes to the device, for data larger than memory; or the folder
            (a Path) of that file; "auto": on disk where inputs are memory-mapped arrays. The run is the same, but for
            linear models, which run as networks if "disk" or a folder is given. Targets and weights stay in memory.
        test: (inputs, targets), or such a data set, on which the server's model is evaluated, too.
        measure: "all" (that the method has) or some of heterogeneity, curvature, decrease, memory, inexactness, drift;
            defined in `fedconvex.deep.measuring.columns`.
        every: the model is evaluated and measured before every `every`-th round, and after the last.
        evaluate: "all"; "clients": for `of_clients`, each client's samples and, if `test` is a list or a dictionary
            of one for each client, its test set, too; or "test": on the test set alone, value and accuracy are NaN.
            Evaluating the clients' samples can cost more than the round.
        until: ends the run after the first record of which it is true, such as
            `lambda record: record["test_accuracy"] >= 0.9`, or after `rounds` rounds. Numbers of models that are not
            evaluated are NaN. A checkpoint's last record is tested, too, before any round.
        lanczos_steps, draws: Hessian products per client for the curvature; draws of clients for the decrease, at most.
        metrics: functions (outputs, targets) -> number of the whole test set, by name, such as "f1"; the records have
            them as "test_f1". The two are tensors on the host, whatever the device.
        log: a file for the records, written during the run, if its name ends in .csv; else a folder for TensorBoard.
        loggers: of `fedconvex.deep.loggers`, such as MLflow. One that fails is a warning; the run continues without it.
        checkpoint: a .safetensors file, written every `checkpoint_every` rounds and after the last. If it exists, the
            run resumes from it, to exactly the run without interruption (on the same kind of device, and processors
            with the same instruction sets: others are a warning, `fedconvex.errors.ResumedElsewhere`), with as many
            `rounds` or more; a `Schedule` must list all rounds from the beginning.
        exactly: refuse a checkpoint that was written with other instruction sets or on another GPU.
        watch: a function (record) or (record, model), called with every record, a checkpoint's last one included; the
            model is a copy of the server's.
        before: called once, before any sample is copied, with the memory that the run will take: the peak of a round
            on tensors without content (torch's `meta` device). Not for linear models, and not in several processes.
        progress: shows a progress bar on a terminal once the run has taken a second.

    Raises:
        InvalidInput: arguments that do not fit together, before any work; "cuda" where there is no GPU; a log or
            checkpoint that another run is writing; of several processes, one that would compute something else.
        Interrupted: Ctrl-C, a KeyboardInterrupt whose `run` is the run of the rounds that were finished.
        TooLarge: samples that take more memory than there is, even in the smallest batches; it names what would fit.
    """
    rounds, seed = integer_at_least(rounds, 0, "rounds", sys.maxsize), random_seed(seed)
    number, criterion, names = dtype_of(dtype, model), loss_of(loss), names_of(measure)
    require_function(watch, "watch", "record, model", "print")
    require_function(until, "until", "record", 'lambda record: record["value"] < 0.1')
    require_function(before, "before", "footprint", "print")
    place = device_of(device)
    join(place)
    disk = disk_of(storage, clients, test)
    named_clients: tuple[str, ...] = ()
    if isinstance(clients, Mapping) and not any(name in clients for name in TARGETS):
        named_clients, clients = tuple(map(str, clients)), list(clients.values())
        if isinstance(test, Mapping) and test.keys() == set(named_clients):
            test = [test[name] for name in named_clients]
    given = GivenSamples.of(clients, test, disk, number, of_each=evaluate == "clients")
    clients, test = given.clients, given.test
    criterion = loss_for(criterion, clients)
    lower = lower_of(precision, number)
    local = LocalMode.of(local_mode, buffers, transform)
    with one_thread(), products_in(precision), ExitStack() as locks:
        place, share = own_device(place), Processes.of(clients, place)
        criterion = criterion.on(place, number)
        if share is not None:
            share.require_same_installation()
        silent = share is not None and share.rank > 0
        writers, named = require_loggers(loggers), require_metrics(metrics, test is not None)
        require_log(None if silent else log)
        locks.enter_context(only_writer(None if silent else log))
        owned = None if share is None else share.members
        planned = None
        if share is None:
            plan = Plan(
                model, given, criterion, ridge, place, number, local, lower, disk,
                lambda task: rounds_of(method, task.problem, task.arithmetic, local_solver),
                lambda running: Simulator.of(running, participation, stragglers, seed, (), rounds),
                rounds, names,
            )  # fmt: skip
            plan.require(available_on(place))
            planned = None if before is None else plan.footprint()
            if before is not None and planned is not None:
                before(planned)
        task = task_of(model, clients, criterion, weights, ridge, place, number, owned, lower, local, given.parts, disk)
        names = in_mode_of(names, measure == "all", task.problem)
        stack = partial(Shards.of, loss=criterion, device=place, dtype=number, parts=given.parts, disk=disk)
        place_of_test = "test[{}]" if given.of_each else "test"
        held_out = stack(given.tests, name=place_of_test).fitting(task.module) if given.tests else None
        require_evaluation(evaluate, held_out, share)
        if held_out is not None:
            require_fit(task.module, criterion, held_out)
        with task.arithmetic.context():
            running = rounds_of(method, task.problem, task.arithmetic, local_solver, share)
            of_rounds = tuple(name for name in OF_ROUNDS if name in names)
            simulator = Simulator.of(running, participation, stragglers, seed, of_rounds, rounds)
            _warn_of_plain_average(simulator)
            training = training_of(task.problem)
            if training is not None:
                require_local_steps(training, method, running.solver, [len(pair[0]) for pair in clients])
            measuring = Measuring.of(
                names, measure == "all", simulator, task,
                integer_at_least(lanczos_steps, 1, "lanczos_steps"), integer_at_least(draws, 1, "draws"),
                _rounding(task, precision),
            )  # fmt: skip
            monitor = Monitor(
                task, held_out, measuring, integer_at_least(every, 1, "every"), rounds, share, evaluate, named
            )
            file = None
            if checkpoint is not None:
                everyone = task.shards if share is None else stack(clients).fitting(task.module)
                identity = RunIdentity.of(
                    task, everyone, simulator, task.start(), (*names, precision, evaluate, *named), held_out,
                    every, lanczos_steps, draws,
                )  # fmt: skip
                file = DeepCheckpoint.at(checkpoint, identity, checkpoint_every, task.arithmetic, share, place, exactly)
                locks.enter_context(file.held())
            state, records = (None if file is None else file.load(rounds)) or (_first_state(running, task), [])
            continued = {} if file is None else file.route
            continue_on(task, monitor.budget, continued)
            take_route(task, running.solver, continued.get("together"), share)
            if before is not None and planned is None and share is None and isinstance(task, NetworkTask):
                before(with_room(lambda: footprint(task, simulator, state, rounds, names), monitor.budget))
            if records:
                records[-1] = monitor.as_not_last(records[-1])
            else:
                nothing = dict.fromkeys(COUNTS, 0.0) | dict.fromkeys(of_rounds, nan)
                records.append(monitor.record(0, state, nothing))
            settings = _settings(simulator, rounds, model)
            with (
                log_to(None if silent else log, records) as written,
                started([] if silent else writers, settings, records) as writing,
            ):
                watching = None if watch is None or silent else watching_with(watch, task)
                last = [state]
                listeners = [
                    lambda record, state: last.__setitem__(0, state),
                    lambda record, state: written(record),
                    lambda record, state: writing.write(record),
                    *([] if watching is None else [watching]),
                ]
                left = track(
                    range(len(records) - 1, rounds),
                    f"{type(method).__name__}: {rounds} rounds",
                    progress and not silent,
                )
                if watching is not None:
                    watching(records[-1], state)

                def ended(state: State, stopped: str | None) -> DeepRun:
                    trained = restored(task.module_at(state))
                    seconds = monitor.seconds
                    return DeepRun(trained, state, records, task, simulator, seconds, stopped, precision, named_clients)

                try:
                    return ended(*_run_rounds(simulator, state, records, monitor, left, file, listeners, until))
                except KeyboardInterrupt as error:
                    raise Interrupted(ended(last[0], "interrupted")) from error


def _first_state(running: Rounds, task: Task) -> State:
    state, training = running.start(task.start()), training_of(task.problem)
    return state if training is None else training.started(state, len(task.shards.count))


def _settings(simulator: Simulator, rounds: int, model: nn.Module) -> dict[str, str]:
    """The run in words, for loggers."""
    return {
        "method": short_text(simulator.rounds.method),
        "local_solver": short_text(simulator.rounds.solver),
        "participation": short_text(participation_of(simulator)),
        "model": type(model).__name__,
        "clients": str(simulator.rounds.problem.num_clients),
        "rounds": str(rounds),
        "seed": str(simulator.seed),
    }


def _warn_of_plain_average(simulator: Simulator) -> None:
    rounds, scheme = simulator.rounds, simulator.participation
    if isinstance(scheme, Uniform) and not (rounds.method.plain or rounds.problem.is_equally_weighted):
        text = f"{scheme} averages the clients plainly, but the objective weights them: the rounds minimise another one"
        cure = f"take Weighted({scheme.K}) or UniformThenWeighted({scheme.K}), or equal weights"
        warnings.warn(f"{text}; {cure}", PlainAverage, stacklevel=3)


def _run_rounds(
    simulator: Simulator,
    state: State,
    records: list[dict[str, Any]],
    monitor: Monitor,
    left: Iterable[int],
    file: DeepCheckpoint | None,
    listeners: Sequence[Callable[[dict[str, Any], State], None]],
    until: Callable[[dict[str, Any]], bool] | None,
) -> tuple[State, str | None]:
    """Runs the rounds that are left: the last finite state, and why the run ended early, if it did."""
    if monitor.ends(until, records[-1]):  # of a checkpoint: the run had ended there
        return state, _reached(records)

    def simulate(state: State, t: int) -> RecordedRound:
        begun = time.perf_counter()
        simulated = recorded_round(simulator, state, t, monitor.processes)
        monitor.took("rounds", begun)
        return simulated

    def record(t: int, simulated: RecordedRound) -> Stop | None:
        finite = simulated.is_finite(monitor.processes)
        row = monitor.record(t + 1, simulated.state, simulated.columns) if finite else None
        if row is None or not monitor.is_finite(row):
            what = "the model" if row is None else "its value"
            return Stop(f"round {t}: {what} is not finite; a smaller stepsize may help", undo=True)
        records.append(row)
        for listener in listeners:
            listener(row, simulated.state)
        return Stop(_reached(records)) if monitor.ends(until, row) else None

    def save(state: State) -> None:
        assert file is not None
        file.route.update(route_of(monitor.task, monitor.budget))
        file.save(state, records)

    schedule = None if file is None else SaveSchedule(save, file.every, monitor.rounds)
    return run_rounds(simulate, state, left, record, schedule)


def _reached(records: Sequence[Any]) -> str:
    return f"round {len(records) - 1}: `until` holds"
