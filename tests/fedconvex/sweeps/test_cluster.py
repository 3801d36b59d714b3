"""On a real Dask cluster of two processes, of which some are killed half-way, nothing is lost or counted twice."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import pandas
import pytest
import sweep_makers as make
from processes import HELPERS, python

import fedconvex as fc
from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.sweeps import SweepFailed, cluster, part_files, sweep

pytestmark = pytest.mark.beyond_core  # starts processes

ANY_NUMBER = 10_000  # of rounds, more than there will be


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, **make.ONE_THREAD_EACH) as workers:
        yield workers


@pytest.fixture(scope="module")
def client(workers: Any) -> Iterator[Any]:
    with distributed.Client(workers) as client:
        yield client


def kill(processes: list[int]) -> None:
    for process in processes:
        os.kill(process, signal.SIGKILL)


@pytest.fixture
def turnstile(tmp_path: Path) -> Iterator[make.Turnstile]:
    turnstile = make.Turnstile(tmp_path)
    yield turnstile
    turnstile.close()


def waiting(turnstile: make.Turnstile, folder: Path) -> tuple[dict[str, Any], pandas.DataFrame]:
    """A grid of 12 runs that go through the turnstile, and what it gives."""
    steps = {"short": 0.05, "long": 0.1}
    expected = sweep(**make.grid(methods={name: fc.FedGD(stepsize=s) for name, s in steps.items()}), jobs=1)
    methods = {name: make.Waits(stepsize=s, turnstile=turnstile.path) for name, s in steps.items()}
    return make.grid(methods=methods, out=folder / "sweep.parquet"), expected


@pytest.mark.slow
@pytest.mark.parametrize("killed", [1, 2])
def test_workers_killed_half_way_cost_nothing(
    client: Any, turnstile: make.Turnstile, tmp_path: Path, killed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When four runs are recorded, at most six are finished, and both workers are at work or wait."""
    arguments, expected = waiting(turnstile, tmp_path)
    client.wait_for_workers(2)
    victims = list(client.run(os.getpid).values())[:killed]
    written: Counter[str] = Counter()
    add = part_files.PartFiles.add

    def counting(self: part_files.PartFiles, key: str, content: bytes) -> None:
        written[key] += 1
        add(self, key, content)

    def kill_and_go_on() -> None:
        assert len(written) == 3
        kill(victims)
        turnstile.admit(ANY_NUMBER)

    monkeypatch.setattr(part_files.PartFiles, "add", counting)
    turnstile.admit(6 * make.ROUNDS)
    with make.watched(at=3, then=kill_and_go_on) as keys:
        table = sweep(**arguments, client=client)
    make.assert_identical(table, expected)
    make.assert_identical(pandas.read_parquet(tmp_path / "sweep.parquet"), expected)
    sizes = table.groupby(["method", "problem", "seed"]).size()
    assert (len(sizes), set(sizes)) == (12, {make.ROUNDS + 1})
    assert len(keys) == len(written) == 12
    assert set(written.values()) == {1}
    client.wait_for_workers(2)
    assert not set(victims) & set(client.run(os.getpid).values())  # they were really killed


def test_an_address_will_do_and_nothing_stays_behind(workers: Any, client: Any) -> None:
    make.assert_identical(sweep(**make.grid(), client=workers.scheduler_address), make.expected())
    make.assert_identical(sweep(**make.grid(), client=client), make.expected())
    assert client.run_on_scheduler(lambda dask_scheduler: [*map(str, dask_scheduler.tasks)]) == []
    assert client.status == "running"


def test_a_cluster_goes_on_where_this_machine_stopped(client: Any, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    with make.watched(at=5, then=stop), pytest.raises(Stopped):
        sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)
    with make.watched() as keys:
        make.assert_identical(sweep(**make.grid(), out=tmp_path / "sweep.parquet", client=client), make.expected())
    assert len(keys) == 12 - 5


def test_failures_are_named(client: Any) -> None:
    methods = {"fails": make.Fails(stepsize=1, file=__file__), **make.grid()["methods"]}
    with pytest.raises(SweepFailed, match="6 of 18 runs failed") as stopped:
        sweep(**make.grid(methods=methods), client=client)
    assert stopped.value.failures[0].message == "RuntimeError: the file is there"
    make.assert_identical(stopped.value.finished, make.expected())


@pytest.mark.slow
def test_a_run_that_kills_every_worker_is_named() -> None:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, **make.ONE_THREAD_EACH) as workers,
    ):
        methods = {"killer": make.KillsItsProcess(stepsize=1)}
        with pytest.raises(SweepFailed, match="KilledWorker: Attempted to run task") as stopped:
            sweep(methods, make.least_squares(), rounds=1, client=workers.scheduler_address)
    assert len(stopped.value.failures) == 1


def test_threads_of_one_process_take_turns() -> None:
    """Clients' functions keep what they computed last, and flint's precision belongs to the process."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=4, processes=False, dashboard_address=make.ANY_PORT
        ) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        make.assert_identical(sweep(**make.grid(), client=client), make.expected())


@pytest.mark.slow
def test_a_cluster_that_goes_away_leaves_what_is_finished(turnstile: make.Turnstile, tmp_path: Path) -> None:
    arguments, expected = waiting(turnstile, tmp_path)
    turnstile.admit(6 * make.ROUNDS)
    workers = distributed.LocalCluster(n_workers=1, **make.ONE_THREAD_EACH)
    with workers, distributed.Client(workers, set_as_default=False) as client:
        with (
            make.watched(at=3, then=workers.close),
            pytest.raises(SweepFailed, match="the cluster dropped this run") as stopped,
        ):
            sweep(**arguments, client=client)
        with pytest.raises(InvalidInput, match=r"client = .* is closed; give a running"):
            sweep(**arguments, client=client)
    done = 12 - len(stopped.value.failures)
    assert 4 <= done <= 6
    turnstile.admit(ANY_NUMBER)
    with make.watched() as keys:
        make.assert_identical(sweep(**arguments, jobs=1), expected)
    assert len(keys) == 12 - done


def test_a_problem_of_some_size_is_sent_without_complaint(client: Any) -> None:
    large = make.least_squares(m=2, n=70_000, d=10)
    gd = fc.FedGD(stepsize=1e-6)
    make.assert_identical(sweep(gd, large, (0, 1), rounds=1, client=client), sweep(gd, large, (0, 1), rounds=1, jobs=1))


@pytest.mark.sample(1)
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "ftp://127.0.0.1:1"])
def test_an_address_where_nobody_answers_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", "0.2s")
    with pytest.raises(InvalidInput, match=f"client = {address}: no scheduler responds there .*; give a running"):
        sweep(**make.grid(), client=address)


@pytest.mark.slow
def test_without_dask_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['distributed'] = None\n"
        "import sweep_makers as make\n"
        "from fedconvex.sweeps import sweep\n"
        "print(len(sweep(**make.grid(), jobs=1)))\n"
        "sweep(**make.grid(), client='tcp://127.0.0.1:1')\n"
    )
    done = python("-c", program, **HELPERS)
    assert done.stdout == f"{12 * (make.ROUNDS + 1)}\n"
    assert f"{MissingLibrary.__name__}: a sweep on a cluster needs dask.distributed" in done.stderr
    assert "pip install 'fedconvex[dask]'" in done.stderr
