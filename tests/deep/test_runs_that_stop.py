"""Interrupted and diverging runs, checkpoints and logs: no result is lost, and no file is left incomplete."""

import json
import os
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, LINEAR, NETWORK, SGD, Wrapped, random, samples, vector
from safetensors.torch import load_file
from torch import nn

import fedconvex as fc
from fedconvex import locks, participation
from fedconvex.arithmetic.instruction_sets import instruction_sets
from fedconvex.deep import models, run
from fedconvex.errors import InvalidInput, MissingLibrary, ResumedElsewhere
from fedconvex.methods.base import State
from fedconvex.owners import Owner
from fedconvex.runs.simulator import Simulator

PLAIN = "ignore::fedconvex.errors.PlainAverage"  # with weights of their own and every scheme
pytestmark = [pytest.mark.beyond_core, pytest.mark.filterwarnings(PLAIN)]  # trains networks

METHODS = [fc.FedProx(mu=1), fc.FedDyn(alpha=0.5), fc.Scaffold(stepsize=0.05, local_steps=2), fc.AdaptiveFedProx(mu=1)]


def once(method: Any = METHODS[1], model: nn.Module = NETWORK, rounds: int = 5, **options: Any) -> Any:
    given = {
        "local_solver": SGD,
        "participation": participation.Uniform(2),
        "seed": 3,
        "measure": "heterogeneity",
    } | options
    return run(method, model, CLIENTS, rounds=rounds, **given)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The checkpoint of a run."""
    once(checkpoint=tmp_path / "run.safetensors")
    return tmp_path / "run.safetensors"


def refuses(told: str, **options: Any) -> None:
    with pytest.raises(InvalidInput, match=told):
        once(**options)


class Stop(Exception):
    pass


def interrupted(monkeypatch: pytest.MonkeyPatch, after: int, **options: Any) -> None:
    play = Simulator.next_round

    def stopping(self: Simulator, state: Any, t: int) -> Any:
        if t == after:
            raise Stop
        return play(self, state, t)

    with monkeypatch.context() as patch:
        patch.setattr(Simulator, "next_round", stopping)
        with pytest.raises(Stop):
            once(**options)


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("model", [NETWORK, LINEAR, Wrapped(NETWORK)], ids=["network", "linear", "wrapped"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_run_goes_on_bit_for_bit(
    method: Any, model: nn.Module, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, log = tmp_path / "run.safetensors", tmp_path / "run.csv"
    measure = "all" if model is NETWORK else "heterogeneity"  # the curvature takes as long as all the rest
    options = {"method": method, "model": model, "dtype": dtype, "measure": measure, "lanczos_steps": 3}
    whole = once(**options)
    options |= {"checkpoint": file, "checkpoint_every": 2, "log": log}
    interrupted(monkeypatch, 3, **options)
    resumed = once(**options)
    np.testing.assert_array_equal(vector(resumed.model), vector(whole.model))
    pd.testing.assert_frame_equal(resumed.to_frame(), whole.to_frame())
    assert len(pd.read_csv(log)) == 6
    pd.testing.assert_frame_equal(pd.read_csv(log), whole.to_frame(), check_dtype=False)
    longer = once(**options, rounds=7)
    pd.testing.assert_frame_equal(longer.to_frame()[:6], whole.to_frame())
    np.testing.assert_array_equal(
        vector(longer.model), vector(once(**(options | {"checkpoint": None}), rounds=7).model)
    )


def test_what_was_run_is_not_run_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = once()
    monkeypatch.setattr(Simulator, "next_round", None)
    np.testing.assert_array_equal(vector(once(checkpoint=file).model), vector(first.model))


CHANGES: list[dict[str, Any]] = [
    {"method": fc.FedDyn(alpha=0.6)},
    {"method": METHODS[0]},
    {"model": random(models.fully_connected([FEATURES, 5, CLASSES]), seed=2)},
    {"model": random(models.fully_connected([FEATURES, 6, CLASSES]))},
    {"local_solver": fc.SGD(epochs=2, batch_size=5, stepsize=0.05)},
    {"local_solver": replace(SGD, momentum=0.5)},
    {"participation": participation.Uniform(3)},
    {"stragglers": participation.Stragglers(0.5)},
    {"seed": 4},
    {"measure": None},
    {"ridge": 0.1},
    {"weights": [1, 2, 3, 4]},
    {"dtype": "float32"},
    {"every": 2},
    {"test": CLIENTS[0]},
]


@pytest.mark.sample(4)
@pytest.mark.parametrize("change", CHANGES, ids=lambda c: next(iter(c)))
def test_a_checkpoint_of_another_run_is_refused(change: dict[str, Any], file: Path) -> None:
    before = file.read_bytes()
    named = {"every": "measure"}.get(next(iter(change)), next(iter(change)))
    refuses(f"belongs to a run with another .*{named}", checkpoint=file, **change)
    assert file.read_bytes() == before


def test_other_samples_are_another_run(file: Path) -> None:
    with pytest.raises(InvalidInput, match="another clients"):
        run(METHODS[1], NETWORK, samples(1), rounds=5, local_solver=SGD, checkpoint=file)


@pytest.mark.sample(3)
@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("fault", ["cut", "flip", "grow"])
def test_a_damaged_checkpoint_is_refused(place: float, fault: str, file: Path) -> None:
    content = bytearray(file.read_bytes())
    at = int(place * len(content))
    if fault == "cut":
        content = content[:at]
    elif fault == "flip":
        content[at] ^= 0xFF
    else:
        content[at:at] = b"\0\0\0"
    file.write_bytes(content)
    refuses("checkpoint", checkpoint=file)
    assert file.read_bytes() == content


@pytest.mark.sample(1)
@pytest.mark.parametrize("fault", ["digit", "record", "version"])
def test_damage_in_what_is_written_beside_the_tensors_is_noticed(fault: str, tmp_path: Path) -> None:
    """Of the same length, so that the file is a whole one."""
    file = tmp_path / "run.safetensors"
    found = once(checkpoint=file)
    content = file.read_bytes()
    if fault == "digit":
        number = str(found.records[1]["value"]).encode()
        damaged = content.replace(number, number[:-1] + bytes([number[-1] ^ 1]))
    elif fault == "record":
        begin = content.index(b', {\\"round\\": 5')
        end = content.index(b"}]", begin) + 1
        damaged = content[:begin] + b" " * (end - begin) + content[end:]
    else:
        damaged = content.replace(b"numba", b"number"[:5])
    assert damaged != content
    assert len(damaged) == len(content)
    file.write_bytes(damaged)
    refuses("damaged", checkpoint=file, rounds=7)
    assert file.read_bytes() == damaged


def test_a_checkpoint_of_other_versions_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedconvex.deep.checkpoints._versions", lambda: {"torch": "9.9"})
    refuses(r"written with torch .*, this is 9\.9", checkpoint=file)


def test_a_checkpoint_of_another_processor_is_a_warning_or_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once(checkpoint=file, exactly=True)
    real = instruction_sets
    elsewhere = "fedconvex.deep.checkpoints.instruction_sets"
    monkeypatch.setattr(elsewhere, lambda device: real(device) | {"torch": "NEON", "processor": "Another"})
    content = file.read_bytes()
    refuses(r"was computed on .* this is Another \[torch: NEON\]", checkpoint=file, rounds=6, exactly=True)
    assert file.read_bytes() == content
    with pytest.warns(ResumedElsewhere, match=r"this is Another \[torch: NEON\]"):
        once(checkpoint=file, rounds=6)
    monkeypatch.setattr(elsewhere, real)
    refuses("and Another", checkpoint=file, rounds=6, exactly=True)  # a run of two processors
    refuses("exactly = no: is neither True nor False", checkpoint=file.with_name("new.safetensors"), exactly="no")


def test_a_checkpoint_holds_data_alone(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    found = once(checkpoint=file)
    tensors = load_file(file)
    assert set(tensors) == {"server", "shared/h", "memory/gradient"}
    assert torch.equal(tensors["server"], found.state.server)
    content = file.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert [row["round"] for row in json.loads(header["__metadata__"]["records"])] == list(range(6))


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"checkpoint": "nowhere/run.safetensors"}, "folder that does not exist"),
        ({"checkpoint": "."}, "is a folder"),
        ({"checkpoint": 5}, "is not the path of a file"),
        ({"checkpoint": "run.safetensors", "checkpoint_every": 0}, "checkpoint_every"),
        ({"log": "nowhere/run.csv"}, "folder that does not exist"),
        ({"log": 5}, "is not the path of a file or folder"),
        ({"every": 0}, "every"),
        ({"draws": 0}, "draws"),
        ({"lanczos_steps": 0.5}, "lanczos_steps"),
        ({"measure": "memory", "method": METHODS[0]}, "is for FedDyn"),
        ({"measure": "decrease"}, "not FedDyn"),
    ],
)
def test_bad_options(options: dict[str, Any], culprit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refuses(culprit, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "name"), [("checkpoint", "run.safetensors"), ("log", "run.csv"), ("log", "board")], ids=str
)
def test_what_cannot_be_written_is_said_before_any_work(
    option: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    actual = tempfile.TemporaryFile
    folder = tmp_path / ("long" * 20)  # a path is named in full
    folder.mkdir()

    def refuse(*_: Any, dir: Any = None, **options: Any) -> Any:
        if dir is not None and Path(dir) == folder:
            raise PermissionError(13, "Permission denied")
        return actual(dir=dir, **options)

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Recorder))
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr(Simulator, "next_round", None)
    seen: list[Any] = []
    problem = re.escape(f"{folder / name}: cannot be written: Permission denied in {folder}")
    refuses(f"^{option} = {problem}; give a path", watch=seen.append, **{option: folder / name})
    assert not seen
    assert list(folder.iterdir()) == []


def test_a_log_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "board").write_text("")
    refuses("is a file, and no", log=tmp_path / "board")


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    ended, elsewhere = replace(Owner.this(), process=2**22 + 1), Owner(4711, "node17", "another")
    left = [f".fedconvex-{ended.mark}-ab12_xyz.safetensors", f".fedconvex-{ended.mark}-ab12_xyz.csv"]
    others = [".run.safetensors.bak", f".fedconvex-{elsewhere.mark}-ab12_xyz.csv"]
    for name in left + others:
        (tmp_path / name).write_text("")
    once(checkpoint=tmp_path / "run.safetensors", log=tmp_path / "run.csv", rounds=1)
    assert {path.name for path in tmp_path.iterdir()} == {*others, "run.safetensors", "run.csv"}


@pytest.mark.parametrize("used", ["run.safetensors", "run.csv"])
def test_files_of_a_run_in_another_process_are_refused_with_its_name(
    used: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both runs wrote them, and deleted each other's temporary files."""
    monkeypatch.setattr(locks, "SECONDS_OF_PATIENCE", 0.0)
    with locks.locked(tmp_path / used, "out"), pytest.raises(locks.InUse, match=f"process {os.getpid()} on .*works on"):
        once(checkpoint=tmp_path / "run.safetensors", log=tmp_path / "run.csv", rounds=1)
    assert list(tmp_path.iterdir()) == []


def test_fewer_rounds_than_the_checkpoint_has(file: Path) -> None:
    refuses("already holds round 5", checkpoint=file, rounds=4)


@pytest.mark.parametrize("model", [NETWORK, LINEAR], ids=["network", "linear"])
def test_divergence_keeps_the_last_good_state(model: nn.Module, tmp_path: Path) -> None:
    wild, file = fc.SGD(epochs=2, batch_size=4, stepsize=1e200), tmp_path / "run.safetensors"
    options = {"local_solver": wild, "measure": None, "ridge": 1.0, "checkpoint": file, "rounds": 9}
    found = once(model=model, **options)
    assert found.stopped is not None
    assert f"round {len(found.records) - 1}" in found.stopped
    assert np.isfinite(vector(found.model)).all()
    assert len(found.to_frame()) < 9
    again = once(model=model, **options)
    assert again.stopped == found.stopped
    np.testing.assert_array_equal(vector(again.model), vector(found.model))
    assert once(rounds=2).stopped is None


# ---- the last good state, in all its parts ----

WILD = fc.SGD(steps=5, batch_size=4, stepsize=1e80)  # finite for some rounds


def same_state(first: Any, second: Any) -> None:
    assert torch.equal(first.server, second.server)
    for kind in ("shared", "memory"):
        parts, others = getattr(first, kind), getattr(second, kind)
        assert parts.keys() == others.keys()
        for name in parts:
            np.testing.assert_array_equal(np.asarray(parts[name]), np.asarray(others[name]))


@pytest.mark.parametrize(
    ("method", "scheme"),
    [
        (fc.FedDyn(alpha=0.5), participation.Uniform(2)),
        (fc.FedDyn(alpha=0.5), None),
        (fc.Scaffold(stepsize=0.5, local_steps=3), participation.Uniform(2)),
        (fc.FedPD(eta=1), participation.Uniform(2)),
        (fc.FedPD(eta=1, skip=0.8), None),  # rounds that the server does not hear of
    ],
    ids=str,
)
def test_divergence_leaves_nothing_in_the_clients_memory(method: Any, scheme: Any, tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    options = {"participation": scheme, "local_solver": WILD, "measure": None}
    clients = [(1e3 * X, y) for X, y in CLIENTS]
    found = run(method, NETWORK, clients, rounds=60, checkpoint=file, seed=3, **options)
    assert found.stopped is not None
    for part in load_file(file).values():
        assert part.isfinite().all()
    for part in (*found.state.memory.values(), *found.state.shared.values()):
        assert part.isfinite().all()
    stopped_before = run(method, NETWORK, clients, rounds=len(found.records) - 1, seed=3, **options)
    assert stopped_before.stopped is None
    same_state(found.state, stopped_before.state)


def test_a_state_that_is_not_put_back_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "put_back", lambda self, members, seen: None)
    clients = [(1e3 * X, y) for X, y in CLIENTS]
    found = run(METHODS[1], NETWORK, clients, rounds=60, local_solver=WILD, participation=participation.Uniform(2))
    assert not found.state.memory["gradient"].isfinite().all()


def test_a_value_that_is_not_finite_ends_the_run(tmp_path: Path) -> None:
    """Parameters may be finite where their squares are not."""
    clients = [(X, X[:, 0]) for X, _ in CLIENTS]
    options: dict[str, Any] = {"loss": "half_square", "checkpoint": tmp_path / "run.safetensors"}
    options |= {
        "local_solver": fc.SGD(steps=1, batch_size=4, stepsize=1e160),
        "participation": participation.Uniform(2),
    }
    model = random(nn.Linear(FEATURES, 1))
    found = run(fc.FedDyn(alpha=0.5), model, clients, rounds=3, **options)
    assert found.stopped == "round 0: its value is not finite; a smaller stepsize may help"
    assert [record["round"] for record in found.records] == [0]
    assert np.isfinite(found.records[0]["value"])
    np.testing.assert_array_equal(vector(found.model), vector(model))
    assert not np.asarray(found.state.memory["gradient"]).any()
    options["checkpoint"] = None
    on_test = run(fc.FedDyn(alpha=0.5), model, clients, rounds=3, test=clients[0], evaluate="test", **options)
    assert on_test.stopped == found.stopped
    unseen = run(fc.FedDyn(alpha=0.5), model, clients, rounds=1, every=5, **options)
    assert unseen.stopped == found.stopped  # after the last round it is looked at


def test_every_second_round_is_looked_at() -> None:
    sparse, dense = (once(measure="all", lanczos_steps=3, every=every).to_frame() for every in (2, 1))
    looked = [0, 2, 4, 5]
    pd.testing.assert_frame_equal(sparse.iloc[looked], dense.iloc[looked])
    for name in ("value", "accuracy", "dissimilarity", "smoothness"):
        assert sparse[name].isna().tolist() == [t not in looked for t in range(6)]
    pd.testing.assert_series_equal(sparse["inexactness"], dense["inexactness"])


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", [3, 4])
def test_a_run_that_is_made_longer_looks_where_it_would_have(first: int, tmp_path: Path) -> None:
    """Round 3 was looked at for being the last; in the longer run it is one on the way."""
    file, log = tmp_path / "run.safetensors", tmp_path / "run.csv"
    options = {"method": METHODS[0], "every": 2, "test": CLIENTS[0]}
    short = once(checkpoint=file, rounds=first, **options)
    assert np.isfinite(short.records[-1]["value"])
    pd.testing.assert_frame_equal(once(checkpoint=file, rounds=first, **options).to_frame(), short.to_frame())
    longer, whole = once(checkpoint=file, log=log, rounds=6, **options).to_frame(), once(rounds=6, **options).to_frame()
    pd.testing.assert_frame_equal(longer, whole)
    pd.testing.assert_frame_equal(pd.read_csv(log), whole, check_dtype=False)


def test_a_longer_schedule_is_another_run_and_the_message_says_so(tmp_path: Path) -> None:
    schedules = [participation.Schedule([[0], [1], [2]][:rounds]) for rounds in (2, 3)]
    options = {"checkpoint": tmp_path / "run.safetensors", "measure": None}
    once(participation=schedules[0], rounds=2, **options)
    told = r"another participation \(a schedule is compared as a whole, later rounds"
    refuses(told, participation=schedules[1], rounds=3, **options)


def test_costs_are_reported() -> None:
    seconds = once(method=METHODS[0], measure="all", lanczos_steps=3).seconds
    assert set(seconds) == {"rounds", "evaluation", "heterogeneity", "curvature", "decrease"}
    assert all(value > 0 for value in seconds.values())


# ---- TensorBoard ----


class Recorder:
    """Stands in for TensorBoard's writer, which need not be installed here."""

    written: ClassVar[list[tuple[str, float, int]]] = []
    folders: ClassVar[list[str]] = []

    def __init__(self, folder: str) -> None:
        self.folders.append(folder)

    def close(self) -> None:
        pass

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.written.append((name, value, step))


def test_a_log_without_csv_goes_to_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Recorder))
    Recorder.written.clear()
    found = once(log=tmp_path / "board").to_frame()
    assert Recorder.folders[-1] == str(tmp_path / "board")
    values = {step: value for name, value, step in Recorder.written if name == "value"}
    assert values == dict(zip(found["round"], found["value"], strict=True))
    assert "client_inexactness" not in {name for name, _, _ in Recorder.written}


def test_tensorboard_that_is_lacking_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingLibrary, match="deep-logs"):
        once(log=tmp_path / "board")
    assert list(tmp_path.iterdir()) == []
