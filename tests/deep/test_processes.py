"""Two processes, each with half of the clients, run as one does."""

import os
import platform
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from deep_makers import vector
from processes import python, require
from worker_process import METHODS, SCHEMES, train, train_in_training_mode

from fedconvex import locks
from fedconvex.commands.main import main
from fedconvex.errors import ResumedElsewhere

pytestmark = pytest.mark.beyond_core  # starts processes; by default those of one command alone

HERE = Path(__file__).parent


def start(*words: str) -> subprocess.CompletedProcess[str]:
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    return python(*launcher, *words, cwd=HERE, seconds=300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("two")
    require(start(str(HERE / "worker_process.py"), str(place)))
    return place


def assert_same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Up to rounding, of which quotients of differences between two points have more."""
    quotients = [name for name in one.columns if name.endswith(("_between", "_of_round"))]
    pd.testing.assert_frame_equal(one[quotients], other[quotients], rtol=1e-8)
    others = one.columns.difference(quotients)
    pd.testing.assert_frame_equal(one[others], other[others], rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_processes_run_as_one(method: str, scheme: str, folder: Path) -> None:
    alone = train(method, scheme)
    frame = alone.to_frame().astype(float)
    both = [np.load(folder / f"{method}-{scheme}-{rank}.npz") for rank in (0, 1)]
    for found in both:
        np.testing.assert_allclose(found["arr_0"], vector(alone.model), rtol=1e-12, atol=1e-13)
        assert_same(pd.DataFrame(found["arr_1"], columns=frame.columns), frame)
    np.testing.assert_array_equal(both[0]["arr_0"], both[1]["arr_0"])
    for rank in (0, 1):  # every client's inexactness is everywhere
        found = np.load(folder / f"{method}-{scheme}-{rank}-inexactness.npy")
        np.testing.assert_allclose(found, alone.client_inexactness, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("buffers", ["averaged", "kept"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_processes_train_in_training_mode_as_one(scheme: str, buffers: str, folder: Path) -> None:
    alone = train_in_training_mode(scheme, buffers)
    for rank in (0, 1):
        found = np.load(folder / f"training-{scheme}-{buffers}-{rank}.npy")
        np.testing.assert_allclose(found, alone, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
def test_measuring_ones_own_clients_is_not_enough(folder: Path) -> None:
    """What a process that forgets the other would write is told apart, on one of them at least."""
    alone = train("feddyn", "full", rounds=1).to_frame()
    found = [pd.read_csv(folder / f"alone-{rank}.csv") for rank in (0, 1)]
    for column in ("gradient_norm", "dissimilarity", "gradient_variance", "smoothness", "weak_convexity"):
        assert any(not np.allclose(frame[column], alone[column], rtol=1e-3) for frame in found), column
        assert not all(np.allclose(frame[column], alone[column], rtol=1e-12) for frame in found)


@pytest.mark.slow
def test_a_checkpoint_of_two_is_one_for_one(folder: Path) -> None:
    """It holds all clients' memory: one process goes on from it."""
    alone = train("scaffold", "schedule", rounds=6)
    with pytest.warns(ResumedElsewhere, match=r"processes: 2\], this is .*processes: 1\]"):
        resumed = train("scaffold", "schedule", rounds=6, checkpoint=folder / "run.safetensors")
    np.testing.assert_allclose(vector(resumed.model), vector(alone.model), rtol=1e-12, atol=1e-13)


@pytest.mark.slow
def test_both_end_where_the_first_one_does(folder: Path) -> None:
    assert [(folder / f"until-{rank}").read_text() for rank in (0, 1)] == ["2", "2"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list a process's threads")
@pytest.mark.parametrize("rank", [0, 1])
def test_no_thread_of_gloo_outlives_the_run(rank: int, folder: Path) -> None:
    """One that did aborted the process at its exit, now and then."""
    connected = (folder / f"threads-connected-{rank}").read_text()
    left = (folder / f"threads-{rank}").read_text()
    assert "gloo" in connected
    assert left
    assert "gloo" not in left


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_ends_leaves_a_run_that_can_go_on(rank: int, tmp_path: Path) -> None:
    done = start(str(HERE / "worker_process.py"), str(tmp_path), str(rank))
    assert done.returncode != 0
    assert "another process has ended" in done.stderr or f"rank      : {rank}" in done.stderr.split("Root Cause")[1]
    alone = train("feddyn", "full", rounds=6)
    with pytest.warns(ResumedElsewhere, match="processes: 2"):
        resumed = train("feddyn", "full", rounds=6, checkpoint=tmp_path / "run.safetensors", checkpoint_every=2)
    np.testing.assert_allclose(vector(resumed.model), vector(alone.model), rtol=1e-12, atol=1e-13)
    assert not list(tmp_path.glob(".*"))


CONFIG = """
data = {name = "digits", clients = 4}
model = {name = "fully_connected", sizes = [64, 5, 10]}
method = {name = "FedDyn", alpha = 0.5}
local_solver = {name = "SGD", epochs = 1, stepsize = 0.1}
run = {rounds = 3, measure = "all", dtype = "float64"}
"""


@pytest.mark.slow
def test_the_command_in_two_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.toml").write_text(CONFIG)
    words = ("run", str(tmp_path / "run.toml"), "--out")
    two = start("-m", "fedconvex.deep", *words, str(tmp_path / "two"))
    assert two.returncode == 0, two.stderr
    monkeypatch.setattr(sys, "argv", ["fedconvex", "deep", *words, str(tmp_path / "one")])
    with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert two.stdout.count("saved") == 1
    assert two.stdout.count("FedDyn") == capsys.readouterr().out.count("FedDyn") > 0
    assert {path.name for path in (tmp_path / "two").iterdir()} == {path.name for path in (tmp_path / "one").iterdir()}
    tables = [pd.read_csv(tmp_path / name / "run.csv") for name in ("one", "two")]
    assert_same(*tables)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("processes.files = lambda: {'deep/rounds.py': 'another'}", "its fedconvex differs in"),
        ("processes.versions = lambda names: {'torch': '1.13'}", "it has Python"),
        ("processes.known_run = lambda: 'another'", "its arithmetic differs: a small known run"),
    ],
)
def test_a_process_that_would_compute_something_else_is_named(change: str, told: str, tmp_path: Path) -> None:
    """Each process computes the sums with its own code: the results would have been of no code at all."""
    program = tmp_path / "program.py"
    program.write_text(
        f"import os, sys\nsys.path.insert(0, {str(HERE)!r})\nimport worker_process\n"
        f"from fedconvex.deep import processes\nif os.environ['RANK'] == '1':\n    {change}\n"
        "worker_process.train('fedprox', 'full', rounds=1)\n"
    )
    done = start(str(program))
    assert done.returncode != 0
    assert (
        f"processes = 2: process 1 on {platform.node()} would not compute what the first one does: {told}"
        in done.stderr
    )


@pytest.mark.slow
def test_files_of_another_run_are_refused_on_every_process(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(CONFIG)
    (tmp_path / "out").mkdir()
    with locks.locked(tmp_path / "out" / "run.safetensors", "checkpoint"):
        done = start("-m", "fedconvex.deep", "run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "out"))
    assert done.returncode != 0
    assert done.stderr.count(f"process {os.getpid()} on") == 1
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('measure = "all"', 'measure = "decrease"'), "is for methods whose clients have no memory, not FedDyn"),
        (("clients = 4", "clients = 1"), "start fewer processes"),
        (("alpha = 0.5", "alpha = 0"), "method.alpha"),
    ],
)
def test_wrong_input_is_said_once(change: tuple[str, str], told: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(CONFIG.replace(*change))
    done = start("-m", "fedconvex.deep", "run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "out"))
    assert done.returncode != 0
    assert done.stderr.count("fedconvex: ") == 1
    assert told in done.stderr
