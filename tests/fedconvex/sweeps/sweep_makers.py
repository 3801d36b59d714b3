"""Small grids, and methods that misbehave. A module of its own: worker processes import it too."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import fedconvex as fc
from fedconvex.sweeps import run

ROUNDS = 20
ANY_PORT = "127.0.0.1:0"  # the default one may be taken, of which Dask warns
ONE_THREAD_EACH = {"threads_per_worker": 1, "processes": True, "dashboard_address": ANY_PORT}  # for Dask's workers


def least_squares(m: int = 3, n: int = 6, d: int = 2, seed: int = 0) -> fc.LeastSquares:
    random = np.random.default_rng(seed)
    return fc.LeastSquares(A=list(random.normal(size=(m, n, d))), b=list(random.normal(size=(m, n))))


def logistic(seed: int = 0) -> fc.Logistic:
    random = np.random.default_rng(seed)
    labels = [np.array([1, -1, 1, -1, 1]), np.array([-1, 1, 1, -1])]
    return fc.Logistic(A=[random.normal(size=(len(y), 2)) for y in labels], y=labels, ridge=0.1)


def grid(**changes: Any) -> dict[str, Any]:
    """Arguments of a sweep of 2 · 2 · 3 runs, in which the seed matters."""
    methods = {"prox": fc.FedProx(mu=1), "gd": fc.FedGD(stepsize=0.05, local_steps=2)}
    problems = {"squares": least_squares(), "logistic": logistic()}
    options = {"rounds": ROUNDS, "participation": fc.participation.Uniform(1)}
    return {"methods": methods, "problems": problems, "seeds": (3, 0, 1), **options, **changes}


@cache
def expected() -> pandas.DataFrame:
    """What that sweep gives in this process."""
    return run.sweep(**grid(), jobs=1)


def labels(frame: pandas.DataFrame) -> list[tuple[str, str, int]]:
    """Method, problem and seed of every run, in the order of the rows, once each."""
    return list(frame[["method", "problem", "seed"]].drop_duplicates().itertuples(index=False, name=None))


def assert_identical(one: pandas.DataFrame, other: pandas.DataFrame) -> None:
    """Equal to the last bit, types and order included."""
    pandas.testing.assert_frame_equal(one, other, check_exact=True)
    for name in one.select_dtypes("float64"):
        assert one[name].to_numpy().tobytes() == other[name].to_numpy().tobytes()


@contextmanager
def watched(at: int = -1, then: Callable[[], object] = lambda: None) -> Iterator[list[str]]:
    """The keys of the runs that sweeps record inside, as they do; `then` is called before the `at`-th is recorded."""
    keys: list[str] = []
    collect = run._collect

    def watching(outcomes: Iterable[Any], *others: Any) -> Any:
        def seen() -> Iterator[Any]:
            for number, outcome in enumerate(outcomes):
                if number == at:
                    then()
                keys.append(outcome.key)
                yield outcome

        return collect(seen(), *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_collect", watching)
        yield keys


STOPS = """
import sys
from fedconvex.sweeps import part_files

add, written = part_files.PartFiles.add, []

def add_and_wait(self, key, content):
    add(self, key, content)
    written.append(key)
    if len(written) == int(sys.argv[1]):
        print("written", flush=True)
        sys.stdin.read()  # until it is killed

part_files.PartFiles.add = add_and_wait
"""


def killed_after(parts: int, program: str, *arguments: object) -> None:
    """Runs the program, whose arguments begin at `sys.argv[2]`, and kills it when so many runs have been written."""
    from processes import HELPERS  # not in the workers, which do not see it

    command = [sys.executable, "-c", STOPS + program, str(parts), *map(str, arguments)]
    with subprocess.Popen(command, env=os.environ | HELPERS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.kill()


@dataclass(frozen=True, kw_only=True)
class KillsItsProcess(fc.FedGD):
    """Where it runs, the process is killed."""

    def subproblem(self, *_: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, kw_only=True)
class Fails(fc.FedGD):
    """Fails as long as the file is there."""

    file: str

    def subproblem(self, *given: Any) -> Any:
        if os.path.exists(self.file):
            raise RuntimeError("the file is there")
        return super().subproblem(*given)


class Turnstile:
    """A place that lets as many rounds through as it was told, in whatever process, and makes the others wait."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "turnstile")
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDWR)

    def admit(self, rounds: int) -> None:
        os.write(self._end, bytes(rounds))

    def close(self) -> None:
        os.close(self._end)


@dataclass(frozen=True, kw_only=True)
class Waits(fc.FedGD):
    """Every round goes through the turnstile."""

    turnstile: str

    def subproblem(self, *given: Any) -> Any:
        entrance = os.open(self.turnstile, os.O_RDONLY)
        os.read(entrance, 1)
        os.close(entrance)
        return super().subproblem(*given)
