"""A Dask worker that would compute something else is refused by name, and the others do its work.

Before, a sweep on a worker with another `simulate` succeeded, and its table was wrong.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest
import sweep_makers as make

from fedconvex import installation
from fedconvex.errors import InvalidInput
from fedconvex.installation import CHANGED, different_files, different_results, different_versions, reader_of_files
from fedconvex.sweeps import SweepFailed, cluster, local_processes, sweep

pytestmark = pytest.mark.beyond_core  # starts processes

ROOT = Path(make.__file__).resolve().parents[3]
PARTS = ("theory", "proofs_checks", "deep")
OTHER_SEED = ("    rounds, seed = integer_at_least(rounds", "    seed += 1\n    rounds, seed = integer_at_least(rounds")


@pytest.fixture
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, **make.ONE_THREAD_EACH) as workers,
        distributed.Client(workers) as client,
    ):
        client.wait_for_workers(2)
        yield client


def other_package(folder: Path) -> Path:
    """A copy of the package whose `simulate` takes the next seed."""
    shutil.copytree(ROOT / "fedconvex", folder / "fedconvex", ignore=shutil.ignore_patterns("__pycache__", *PARTS))
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / "fedconvex" / part, ignore=shutil.ignore_patterns("__pycache__"))
    changed = folder / "fedconvex" / "runs" / "simulation.py"
    text = changed.read_text()
    assert OTHER_SEED[0] in text
    changed.write_text(text.replace(*OTHER_SEED))
    return folder


@pytest.mark.slow
def test_a_worker_with_another_package_is_refused(client: Any, tmp_path: Path) -> None:
    folders = [str(other_package(tmp_path)), str(Path(make.__file__).parent)]
    address = client.scheduler.address
    words = ["-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--name", "impostor"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    with subprocess.Popen([sys.executable, *words, "--no-dashboard"], env=environment, cwd=tmp_path) as impostor:
        try:
            client.wait_for_workers(3)
            with pytest.warns(RuntimeWarning) as warned:
                table = sweep(**make.grid(), client=client)
        finally:
            impostor.terminate()
    make.assert_identical(table, make.expected())
    (warning,) = [str(one.message) for one in warned if one.category is RuntimeWarning]
    assert warning.startswith("the sweep does without the worker impostor (tcp://")
    assert warning.endswith("its fedconvex differs in runs/simulation.py")


def another_seed() -> None:
    from fedconvex.sweeps import cell_runs

    simulate = cell_runs.simulate
    cell_runs.simulate = lambda *given, seed, **options: simulate(*given, seed=seed + 1, **options)


def another_numpy() -> None:
    from fedconvex import installation

    real = installation.version
    installation.version = lambda name: "1.26" if name == "numpy" else real(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [(another_seed, "its arithmetic differs: a small known run"), (another_numpy, "it has numpy 1.26")],
)
def test_a_worker_that_computes_something_else_is_refused(
    client: Any, change: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = client.nthreads()
    client.run(change, workers=[first])
    with pytest.warns(RuntimeWarning, match=told):
        make.assert_identical(sweep(**make.grid(), client=client), make.expected())
    client.run(change, workers=[second])
    monkeypatch.setattr(cluster, "SECONDS_WITHOUT_WORKERS", 0.5)
    with pytest.warns(RuntimeWarning), pytest.raises(SweepFailed, match=f"every worker .* is refused: .*{told}"):
        sweep(**make.grid(), client=client)


@pytest.mark.slow
def test_cells_whose_workers_have_left_go_to_new_ones(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first worker is refused, the second one, to which all cells are restricted then, is killed."""
    first, second = client.nthreads()
    client.run(another_seed, workers=[first])
    refuse = cluster._Tasks._refuse

    victims = list(client.run(os.getpid, workers=[second]).values())

    def and_kill(self: Any, *answer: Any) -> None:
        refuse(self, *answer)
        while victims:
            os.kill(victims.pop(), signal.SIGKILL)

    monkeypatch.setattr(cluster._Tasks, "_refuse", and_kill)
    with pytest.warns(RuntimeWarning):
        make.assert_identical(sweep(**make.grid(), client=client), make.expected())


def test_processes_of_this_machine_have_the_files_of_this_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_processes, "files", lambda: {"runs/simulation.py": "another"})
        with pytest.raises(SweepFailed, match="the files of fedconvex were changed after this program had loaded it"):
            sweep(**make.grid(), jobs=2)


def test_the_files_are_those_of_all_parts_and_each_is_there_once() -> None:
    found = reader_of_files()()
    for name in (
        "__init__.py",
        "sweeps/cluster.py",
        "deep/runner.py",
        "theory/__init__.py",
        "proofs_checks/__init__.py",
    ):
        assert name in found
    here = [
        path
        for path in (ROOT / "fedconvex").rglob("*.py")
        if path.relative_to(ROOT / "fedconvex").parts[0] not in PARTS
    ]
    assert len(found) == len(here) + sum(len([*(ROOT / part).rglob("*.py")]) for part in PARTS)


def test_a_program_whose_files_were_changed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import fedconvex

    monkeypatch.setattr(fedconvex, "_LOADED_AT", 0.0)
    assert CHANGED in reader_of_files()()
    monkeypatch.setattr(installation, "files", reader_of_files())
    with pytest.raises(InvalidInput, match="were changed after this program had loaded it; start the program again"):
        installation.require_unchanged("client", "tcp://127.0.0.1:1")


def test_differences_are_named() -> None:
    files = {name: name for name in "abcde"}
    assert different_files(files, files) is None
    assert different_files(files, {}) == "it has no fedconvex that can be loaded"
    assert different_files(files, files | {"b": "", "f": ""}) == "its fedconvex differs in b, f"
    assert different_files(files, {"x": ""}) == "its fedconvex differs in a, b, c and 3 other files"
    assert "start that process again" in str(different_files(files, files | {CHANGED: ""}))
    assert different_versions({"numpy": "2"}, {"numpy": "2", "more": ""}) is None
    assert different_versions({"numpy": "2"}, {"numpy": "1"}) == "it has numpy 1, this program 2"
    assert different_results({"a run": "x"}, {"a run": "x"}) is None
    assert str(different_results({"a run": "x"}, {"a run": "y"})).startswith("its arithmetic differs: a run gives")


def test_files_of_the_future_are_not_taken_for_changed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some clock was wrong, and starting again would not help."""
    import time

    import fedconvex

    monkeypatch.setattr(fedconvex, "_LOADED_AT", 0.0)
    monkeypatch.setattr(time, "time", lambda: 1.0)
    assert CHANGED not in reader_of_files()()
