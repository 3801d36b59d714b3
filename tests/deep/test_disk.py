"""Samples on disk: the run is that of the same samples in memory, which never holds them whole."""

import errno
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, SMALL, Once, Samples, Stream, Unsized, random, vector
from processes import python
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import fedconvex as fc
from fedconvex.deep import disk, run
from fedconvex.deep.losses import loss_of
from fedconvex.deep.tasks import task_of
from fedconvex.deep.torch_data import GivenSamples
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

SGD = fc.SGD(epochs=2, batch_size=4, stepsize=0.1)


def mapped(X: np.ndarray, folder: Path) -> np.memmap[Any, Any]:
    """A read-only memory-mapped copy."""
    file = folder / f"{len(list(folder.iterdir()))}.bin"
    X.tofile(file)
    return np.memmap(file, X.dtype, "r", shape=X.shape)


def go(clients: Any, test: Any, **more: Any) -> Any:
    options: dict[str, Any] = {
        "rounds": 2, "local_solver": SGD, "participation": fc.participation.Uniform(3), "seed": 5, "measure": "all",
        "lanczos_steps": 3, "draws": 2,
    }  # fmt: skip
    return run(fc.FedProx(mu=1), SMALL, clients, test=test, **(options | more))


MAKERS: dict[str, Any] = {
    "arrays": lambda X, y, folder: (X, y),
    "memory-mapped": lambda X, y, folder: (mapped(X, folder), mapped(y, folder)),
    "streams": lambda X, y, folder: Stream(list(zip(X, y, strict=True))),
    "one by one": lambda X, y, folder: Samples(list(zip(X, y, strict=True))),
    "loaders": lambda X, y, folder: DataLoader(TensorDataset(torch.as_tensor(X), torch.as_tensor(y)), batch_size=5),
    "lists": lambda X, y, folder: (X.tolist(), y.tolist()),
}


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedconvex.deep.disk.PIECE", 100)
    monkeypatch.setattr("fedconvex.deep.torch_data.PIECE", 100)
    monkeypatch.setattr("fedconvex.deep.memory.AT_ONCE", {"cpu": 200, "cuda": 0})


@pytest.mark.sample(3)
@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("kind", MAKERS)
def test_the_run_is_that_in_memory(kind: str, tmp_path: Path) -> None:
    """Sizes differ from client to client, and pieces and evaluations end within clients."""
    expected = go(CLIENTS, CLIENTS[0], storage="memory")
    given = [MAKERS[kind](X, y, tmp_path) for X, y in CLIENTS]
    found = go(given, given[0], storage="auto" if kind == "memory-mapped" else "disk")
    assert found.task.shards.on_disk
    assert not expected.task.shards.on_disk
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


@pytest.mark.usefixtures("small_pieces")
def test_dictionaries_weights_bytes_and_whole_numbers() -> None:
    rng = np.random.default_rng(0)

    class OfParts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vectors, self.last = nn.Embedding(9, 4), nn.Linear(4, CLASSES)

        def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.last((self.vectors(words) * mask[..., None]).mean(1))

    columns = [
        {"words": rng.integers(0, 9, (n, 5)), "mask": rng.integers(0, 2, (n, 5)), "labels": rng.integers(0, CLASSES, n),
         "sample_weight": rng.random(n) + 0.1} for n in (9, 14)
    ]  # fmt: skip
    images = [(rng.integers(0, 256, (n, 1, 4, 4), dtype=np.uint8), rng.integers(0, CLASSES, n)) for n in (9, 14)]
    counts = [(rng.integers(0, 9, (n, 16)), y) for n, (_, y) in zip((9, 14), images, strict=True)]
    convolution = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, CLASSES))
    dense = nn.Sequential(nn.Linear(16, 3), nn.Tanh(), nn.Linear(3, CLASSES))
    for model, clients in ((OfParts(), columns), (convolution, images), (dense, counts)):
        results = [
            run(fc.FedProx(mu=1), random(model), clients, rounds=2, local_solver=SGD, test=clients[1], storage=place)
            for place in ("memory", "disk")
        ]
        np.testing.assert_array_equal(*(vector(result.model) for result in results))
        pd.testing.assert_frame_equal(*(result.to_frame() for result in results))
        assert results[1].task.shards.inputs.dtype == (torch.uint8 if clients is images else torch.int64)


def test_training_mode_and_a_checkpoint_of_the_other_storage(tmp_path: Path) -> None:
    """A run that began in memory goes on from disk, bit for bit: the samples are the same."""
    file = tmp_path / "c.safetensors"
    options: dict[str, Any] = {"local_mode": "training", "measure": None, "storage": "disk"}
    whole = go(CLIENTS, None, rounds=3, **options)
    go(CLIENTS, None, rounds=1, checkpoint=file, **(options | {"storage": "memory"}))
    resumed = go(CLIENTS, None, rounds=3, checkpoint=file, **options)
    assert torch.equal(resumed.state.server, whole.state.server)
    with pytest.raises(InvalidInput, match="clients"):
        go([(X + 1, y) for X, y in CLIENTS], None, rounds=3, checkpoint=file, **options)


def test_consecutive_clients_are_not_copied(tmp_path: Path) -> None:
    place = disk.Disk(tmp_path)
    with disk.SampleFile(place) as file:
        for X, _ in CLIENTS:
            file.append(torch.as_tensor(X), "clients")
        rows = file.mapped().split([len(X) for X, _ in CLIENTS])
    assert place.joined(rows).data_ptr() == rows[0].data_ptr()
    swapped = place.joined([rows[1], rows[0]])
    assert swapped.data_ptr() != rows[1].data_ptr()
    assert torch.equal(swapped, torch.cat([rows[1], rows[0]]))
    assert torch.equal(place.joined(rows), torch.cat(rows))


@pytest.mark.parametrize("storage", ["auto", "disk"])
def test_linear_models(storage: str, tmp_path: Path) -> None:
    """They are the core's problems, with exact local solutions, unless samples on disk are required."""
    given = [(mapped(X, tmp_path), y) for X, y in CLIENTS]
    model = random(nn.Linear(FEATURES, CLASSES))
    kept = run(fc.FedProx(mu=1), model, given, rounds=2, local_solver=SGD, storage=storage)
    assert type(kept.task).__name__ == ("NetworkTask" if storage == "disk" else "LinearTask")
    expected = run(fc.FedProx(mu=1), model, CLIENTS, rounds=2, local_solver=SGD)
    np.testing.assert_allclose(vector(kept.model), vector(expected.model), rtol=1e-12, atol=1e-13)


def test_no_file_is_left(tmp_path: Path) -> None:
    go(CLIENTS, None, storage=tmp_path)
    assert not list(tmp_path.iterdir())


class Mirrored(Samples):
    """The first samples are the same in most readings."""

    def __getitem__(self, i: int) -> Any:
        return self.pairs[i] * (1 if i < 9 else np.random.default_rng().normal()), 0


@pytest.mark.parametrize(
    ("clients", "storage", "argument", "told"),
    [
        (CLIENTS, "dsk", "storage", "did you mean disk.*Path"),
        (CLIENTS, Path("nowhere"), "storage", "is no folder"),
        ([CLIENTS[0], (CLIENTS[1][0][:, :2], CLIENTS[1][1])], "disk", "clients[1][0]", "another shape.*n_k, 6"),
        ([CLIENTS[0], (CLIENTS[1][0], CLIENTS[1][1][:3])], "disk", "clients[1][1]", "one target for each"),
        ([(np.full((9, FEATURES), np.nan), np.zeros(9, int))], "disk", "clients[0][0]", "not finite"),
        ([CLIENTS[0], (np.zeros((9, FEATURES), int), np.zeros(9, int))], "disk", "clients[1][0]", "make them alike"),
        ([Once([(np.zeros(FEATURES), 0)] * 40)], "disk", "clients[0]", "gives no samples when it is read again"),
        ([Mirrored(CLIENTS[1][0])], "disk", "clients[0]", "draws at random"),
        ([], "disk", "clients", "is not a list with a pair"),
        (CLIENTS, Path("/proc"), "storage", "takes no file|is no folder"),
        ([Unsized([0, 1])], "disk", "clients[0]", "has no length"),
        ([Stream([])], "disk", "clients[0]", "has no samples"),
        ([7], "disk", "clients[0]", "pair"),
        ([(np.full((9, FEATURES), 1e300), np.zeros(9, int))], "disk", "clients[0][0]", "too large for torch.float32"),
    ],
)  # fmt: skip
def test_what_is_refused(clients: Any, storage: Any, argument: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as caught:
        go(clients, None, storage=storage, measure=None, dtype="float32")
    assert caught.value.argument == argument


def test_a_folder_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None:
            pass

        def tell(self) -> int:
            return 2**30

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **given: Full())
    with pytest.raises(InvalidInput, match=r"no room left after 1.0 GiB of samples; give a folder with more room"):
        go(CLIENTS, None, storage="disk", measure=None)


def test_a_stream_that_does_not_end_leaves_room_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("disk", "torch_data"):
        monkeypatch.setattr(f"fedconvex.deep.{module}.PIECE", 10_000)
    free = disk.RESERVED + 20_000

    def usage(folder: Path) -> Any:
        return SimpleNamespace(free=free - written())

    def written() -> int:
        return 4 * FEATURES * appended[0]

    appended, append = [0], disk.SampleFile.append

    def counted(self: Any, rows: torch.Tensor, place: str) -> None:
        append(self, rows, place)
        appended[0] += len(rows)

    monkeypatch.setattr("shutil.disk_usage", usage)
    monkeypatch.setattr(disk.SampleFile, "append", counted)
    with pytest.raises(InvalidInput, match=r"has no room left after \d+ MiB of samples; .*streams that end"):
        go([Stream([(np.zeros(FEATURES), 0)], endless=True)], None, storage=tmp_path, measure=None, dtype="float32")
    assert 10_000 < written() <= 20_000
    assert not list(tmp_path.iterdir())


def test_some_clients_of_a_process() -> None:
    """A process keeps its own clients: not consecutive ones, which are copied to a file of their own."""
    place = disk.Disk(Path(tempfile.gettempdir()))
    given = GivenSamples.of(CLIENTS, None, place)
    options: tuple[Any, ...] = (loss_of("cross_entropy"), None, 0, torch.device("cpu"), torch.float64)
    tasks = [
        task_of(SMALL, clients, *options, np.array([1, 3]), disk=one)
        for clients, one in ((given.clients, place), (CLIENTS, None))
    ]
    assert torch.equal(*(task.shards.inputs for task in tasks))
    assert torch.equal(*(task.shards.targets for task in tasks))
    assert [task.shards.on_disk for task in tasks] == [True, False]


LIMITED = """
import resource, sys
import numpy as np, torch
from torch import nn
from torch.utils.data import Dataset, IterableDataset
import fedconvex as fc
from fedconvex.deep import run

kind, storage = sys.argv[1:]
CLIENTS, SAMPLES, SHAPE = 4, 600, (3, 96, 96)  # 265 MB in float32


def image(k, i):
    return np.random.default_rng((k, i)).random(SHAPE, dtype=np.float32)


class Stream(IterableDataset):
    def __init__(self, k):
        self.k = k
    def __iter__(self):
        for i in range(SAMPLES):
            yield image(self.k, i), i % 3


class OneByOne(Dataset):
    def __init__(self, k):
        self.k = k
    def __len__(self):
        return SAMPLES
    def __getitem__(self, i):
        return image(self.k, i), i % 3


def mapped(k):
    X = np.memmap(f"{k}.bin", np.float32, "w+", shape=(SAMPLES, *SHAPE))
    for i in range(SAMPLES):
        X[i] = image(k, i)
    del X
    return np.memmap(f"{k}.bin", np.float32, "r", shape=(SAMPLES, *SHAPE)), np.arange(SAMPLES) % 3


make = {"stream": Stream, "one by one": OneByOne, "mapped": mapped}[kind]
model = nn.Sequential(nn.Conv2d(3, 2, 5, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 23 * 23, 3))
options = {"dtype": "float32", "rounds": 1, "participation": fc.participation.Uniform(2), "measure": "heterogeneity",
           "local_solver": fc.SGD(steps=4, batch_size=8, stepsize=0.01)}
small = [(np.zeros((9, *SHAPE), np.float32), np.arange(9) % 3)] * 2
run(fc.FedProx(mu=0), model, small, test=small[0], **options).to_frame()  # loads all that is loaded late
clients = [make(k) for k in range(CLIENTS)]
now = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmData"))) * 1024
LIMIT = 100_000_000
resource.setrlimit(resource.RLIMIT_DATA, (now + LIMIT, now + LIMIT))
found = run(fc.FedProx(mu=0), model, clients, test=clients[0], storage=storage, **options)
assert np.isfinite(found.to_frame()["value"]).all() and np.isfinite(found.to_frame()["dissimilarity"]).all()
print("trained")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux limits the memory that files are not mapped to")
@pytest.mark.parametrize("kind", ["stream", "one by one", "mapped"])
def test_data_three_times_the_memory(kind: str, tmp_path: Path) -> None:
    """265 MB of images, and 66 MB for testing, with 100 MB beside what was there before; in memory that fails."""

    def outcome(storage: str) -> Any:
        return python("-c", LIMITED, kind, storage, cwd=tmp_path, seconds=300)

    done = outcome("disk")
    assert done.stdout == "trained\n", done.stderr
    if kind == "mapped":
        failed = outcome("memory")
        assert failed.returncode != 0
        assert "memory" in failed.stderr.lower()
