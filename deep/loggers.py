"""Loggers of deep runs, `run(…, loggers=[…])`: TensorBoard, MLflow, Weights & Biases, or a class of one's own.

    run(method, model, clients, rounds=100, loggers=[MLflow("runs"), TensorBoard("events")])

Each gets every record of the run. Their libraries are loaded when a run begins. None of them needs a network: MLflow
and Weights & Biases write files, too, unless they are told a server.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from os import PathLike, fspath
from pathlib import Path
from typing import Any, final

from fedconvex.errors import FedconvexError, InvalidInput, LoggerFailed, MissingLibrary

__all__ = ["Logger", "MLflow", "TensorBoard", "WeightsAndBiases"]


class Logger(ABC):
    """What a run writes its records to, while it is running.

    Derive a class for another destination: `log` is all that it needs. After an error the run continues without the
    logger, with one warning (`fedconvex.errors.LoggerFailed`); only a library that is not installed, and arguments that
    are wrong, end it before its first round.
    """

    def start(self, settings: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Called before the first record; settings: the run's method, participation, seed … in words."""

    @abstractmethod
    def log(self, record: Mapping[str, float]) -> None:
        """Called with every record, a row of `to_frame`; `round` counts from 0. A resumed run begins with its first."""

    def close(self) -> None:  # noqa: B027 - optional
        """Called after the last record, also where the run ends with an error."""


@final
class TensorBoard(Logger):
    """Scalars in a file of events in a folder, for `tensorboard --logdir FOLDER`. Needs tensorboard."""

    def __init__(self, folder: "str | PathLike[str]") -> None:
        self.folder = _path(folder)
        self._writer: Any = None

    def start(self, settings: Mapping[str, str]) -> None:
        self._writer = summary_writer("TensorBoard")(fspath(self.folder))

    def log(self, record: Mapping[str, float]) -> None:
        for name, value in record.items():
            if name != "round":
                self._writer.add_scalar(name, value, record["round"])

    def close(self) -> None:
        self._writer.close()


@final
class MLflow(Logger):
    """A run of MLflow, whose parameters are the settings. Needs mlflow.

    Args:
        tracking: a folder, whose data base `mlflow.db` is used, or an address ("http://…", "sqlite:///runs.db").
        experiment: the experiment's name; it is created where it does not exist.
        name: the run's name; None: one of MLflow's.
    """

    def __init__(self, tracking: "str | PathLike[str]", experiment: str = "fedconvex", name: str | None = None) -> None:
        self.folder = None if "://" in str(tracking) else _path(tracking).absolute()
        self.tracking = str(tracking) if self.folder is None else f"sqlite:///{self.folder / 'mlflow.db'}"
        self.experiment, self.name = experiment, name
        self._client: Any = None
        self._run = ""

    def start(self, settings: Mapping[str, str]) -> None:
        try:
            from mlflow import MlflowClient  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise MissingLibrary("mlflow", "MLflow", "mlflow") from None
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self._client = MlflowClient(tracking_uri=self.tracking)
        known = self._client.get_experiment_by_name(self.experiment)
        number = self._client.create_experiment(self.experiment) if known is None else known.experiment_id
        self._run = self._client.create_run(number, run_name=self.name).info.run_id
        for name, value in settings.items():
            self._client.log_param(self._run, name, value[:500])  # MLflow takes no longer ones

    def log(self, record: Mapping[str, float]) -> None:
        for name, value in _numbers(record).items():
            self._client.log_metric(self._run, name, value, step=int(record["round"]))

    def close(self) -> None:
        self._client.set_terminated(self._run)


@final
class WeightsAndBiases(Logger):
    """A run of Weights & Biases. Needs wandb.

    Args:
        project: the project's name.
        folder: where its files are written.
        name: the run's name; None: one of wandb's.
        mode: "offline": files alone, which `wandb sync` sends; or "online".
    """

    def __init__(
        self, project: str, folder: "str | PathLike[str]", name: str | None = None, mode: str = "offline"
    ) -> None:
        if mode not in ("offline", "online"):
            raise InvalidInput("mode", mode, "is unknown", "give 'offline' or 'online'")
        self.project, self.folder, self.name, self.mode = project, _path(folder), name, mode
        self._run: Any = None

    def start(self, settings: Mapping[str, str]) -> None:
        try:
            import wandb  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise MissingLibrary("wandb", "WeightsAndBiases", "wandb") from None
        self.folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            project=self.project, dir=fspath(self.folder), name=self.name, mode=self.mode, config=dict(settings)
        )

    def log(self, record: Mapping[str, float]) -> None:
        self._run.log(_numbers(record), step=int(record["round"]))

    def close(self) -> None:
        self._run.finish()


def summary_writer(purpose: str) -> Any:
    """TensorBoard's writer of events. Raises MissingLibrary, which names the purpose."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingLibrary("tensorboard", purpose, "deep-logs") from None
    return SummaryWriter


def _path(given: Any) -> Path:
    if not isinstance(given, str | PathLike) or "\0" in str(given):
        raise InvalidInput("folder", given, "is not the path of a folder", "give such as 'runs'")
    return Path(given)


def _numbers(record: Mapping[str, float]) -> dict[str, float]:
    """What was measured: a round that was not evaluated has NaN."""
    return {name: float(value) for name, value in record.items() if name != "round" and isfinite(value)}


def require_loggers(loggers: Any) -> list[Logger]:
    """Raises InvalidInput for what is no list of loggers."""
    if loggers is None:
        return []
    if not isinstance(loggers, list | tuple):
        raise InvalidInput("loggers", loggers, "is no list", "give [TensorBoard(…), …], see fedconvex.deep.loggers")
    for i, logger in enumerate(loggers):
        if not isinstance(logger, Logger):
            cure = "give one of fedconvex.deep.loggers, or a class derived from its Logger"
            raise InvalidInput(f"loggers[{i}]", logger, "is no logger", cure)
    return list(loggers)


@final
class Writing:
    """The loggers of a run that have not failed."""

    def __init__(self, loggers: Sequence[Logger]) -> None:
        self.working = list(loggers)

    def write(self, record: Mapping[str, Any]) -> None:
        """Log a record; a logger that fails is left out from then on."""
        given = {name: value for name, value in record.items() if not isinstance(value, list)}
        for logger in list(self.working):
            try:
                logger.log(dict(given))
            except Exception as error:  # of another library, or of the user's code
                self.failed(logger, error, f"in round {record['round']}")

    def close(self) -> None:
        """Close all of them."""
        for logger in list(self.working):
            try:
                logger.close()
            except Exception as error:
                self.failed(logger, error, "at the end")

    def failed(self, logger: Logger, error: Exception, when: str) -> None:
        """Leave the logger out from now on, with a warning."""
        self.working.remove(logger)
        reason = (str(error) or "no reason given").splitlines()[0]
        text = f"{type(logger).__name__} failed {when}: {type(error).__name__}: {reason}; the run continues without it"
        warnings.warn(text, LoggerFailed, stacklevel=2)


@contextmanager
def started(loggers: Sequence[Logger], settings: Mapping[str, str], records: Sequence[Any]) -> Iterator[Writing]:
    """The loggers within a run: started, with the records so far, and closed at the end."""
    writing = Writing([])
    try:
        for logger in loggers:
            writing.working.append(logger)
            try:
                logger.start(settings)
            except FedconvexError:  # before any round: a library is missing, or an argument is wrong
                writing.working.remove(logger)
                raise
            except Exception as error:  # such as a server that does not answer
                writing.failed(logger, error, "at the start")
        for record in records:
            writing.write(record)
        yield writing
    finally:
        writing.close()
