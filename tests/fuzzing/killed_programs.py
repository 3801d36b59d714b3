"""Programs that write files, killed at random: `python killed_programs.py {kills,contention} NAME,… NUMBER SEED`.

This process runs every program once. Each then runs in a child that it forks, and that is killed: by a timer,
at its n-th operation on files, or half-way through its n-th write. The same program runs again until it ends; its files
must be those of a run that nobody disturbed, and nothing else may be left. What was found is printed as JSON.
"""

import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from experiment_texts import SWEEP

import fedconvex as fc
from fedconvex import atomic_files, locks
from fedconvex.locks import InUse

OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.listdir", "os.scandir"}
KILLS_IN_A_ROW = 4
SECONDS_AT_MOST = 60.0
DONE, REFUSED, FAILED = 0, 5, 6
LOG = "what-happened"  # a child's words, beside its folder

A = [np.arange(12.0).reshape(6, 2) % 5 - k for k in range(3)]
PROBLEM = fc.LeastSquares(A=A, b=[a.sum(axis=1) + 1 for a in A])


def simulate(folder: Path) -> None:
    fc.simulate(
        fc.FedDyn(alpha=1), PROBLEM, 20, fc.participation.Uniform(2), seed=3, checkpoint=folder / "run.npz",
        checkpoint_every=1, progress=False,
    )  # fmt: skip


def sweep(folder: Path, **options: Any) -> None:
    methods = {"prox": fc.FedProx(mu=1), "gd": fc.FedGD(stepsize=0.01)}
    fc.sweep(
        methods, {"squares": PROBLEM}, (0, 1, 2), rounds=5, out=folder / "sweep.parquet", progress=False, **options
    )


def in_this_process(folder: Path) -> None:
    sweep(folder, jobs=1)


def on_cores(folder: Path) -> None:
    sweep(folder, jobs=2)


def on_a_cluster(folder: Path) -> None:
    sweep(folder, client=os.environ["SCHEDULER"])


def deep(folder: Path) -> None:
    from deep_makers import SMALL, samples

    from fedconvex.deep import run

    solver = fc.SGD(epochs=1, batch_size=4, stepsize=0.1)
    files = {"checkpoint": folder / "run.safetensors", "checkpoint_every": 1, "log": folder / "run.csv"}
    run(fc.FedDyn(alpha=0.5), SMALL, samples(sizes=(8, 8, 8)), rounds=6, local_solver=solver, progress=False, **files)


def reproduce(folder: Path) -> None:
    from fedconvex.reproduce.pipeline import run_experiment
    from fedconvex.reproduce.specification import read

    paper = Path(tempfile.gettempdir()) / "paper"
    run_experiment(read(paper / "test.toml", False), folder, jobs=1)


def cache(folder: Path) -> None:
    from fedconvex.proofs_checks.reporting.cache import load_content, store_content

    os.environ["FEDCONVEX_CACHE"] = str(folder)
    for number in range(12):
        if load_content(f"statement{number}") is None:
            store_content(f"statement{number}", {"lines": ["proved"] * 200})


def audit(folder: Path) -> None:
    _command("audit", "diabetes", "--rounds", "3", "--method", "fedprox:mu=1", "--out", str(folder))


def report(folder: Path) -> None:
    import fedconvex.report

    page = f"<html>{'<p>a line of the report</p>' * 20_000}</html>"
    fedconvex.report.report = lambda *_, **__: (page, [])  # type: ignore[assignment] # the proofs would take minutes
    _command("report", "--out", str(folder / "report.html"))


def careless(folder: Path) -> None:
    """What the attacks are there to find: it replaces its file piece by piece."""
    with (folder / "run.json").open("w") as file:
        for piece in ("[", *["1, "] * 50, "1]"):
            file.write(piece)
            file.flush()
            time.sleep(0.001)


def _command(*words: str) -> None:
    from fedconvex.commands.main import app

    app(list(words), standalone_mode=False)


PROGRAMS: dict[str, Callable[[Path], None]] = {
    "simulate": simulate, "sweep": in_this_process, "sweep on cores": on_cores, "sweep on a cluster": on_a_cluster,
    "deep": deep, "reproduce": reproduce, "cache": cache, "audit": audit, "report": report,
    "careless": careless,
}  # fmt: skip


WITH_THREADS = ("sweep on cores", "sweep on a cluster")  # a process that has run them could not fork


class CutShort(io.FileIO):
    """A file whose n-th piece is written by half, and then the process is killed."""

    left = 0

    def write(self, content: Any, /) -> int:
        view = memoryview(content).cast("B")[:512]
        CutShort.left -= 1
        if CutShort.left == 0:
            super().write(view[: len(view) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(view)


class Pieces(io.BufferedWriter):
    """Passes on every piece at once, and has the name of its file."""

    def write(self, content: Any, /) -> int:
        written = super().write(content)
        self.flush()
        return written


def cut_short_at(piece: int) -> None:
    """The process is killed while it writes that piece of its files."""
    CutShort.left = piece

    def opened(path: str, mode: str, opener: Any) -> Any:
        return Pieces(CutShort(path, "w", opener=opener))

    atomic_files.open = opened  # type: ignore[attr-defined]


def kill_at(operation: int, folder: Path) -> None:
    """The process is killed just before that operation on the files of the folder."""
    left = [operation]

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event in OPERATIONS and arguments and str(arguments[0]).startswith(str(folder)):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


def start(name: str, folder: Path, prepare: Callable[[], None] = lambda: None) -> int:
    """Starts the program in a child with a process group of its own, and returns its number."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        _run(name, folder, prepare)
    return child


def _run(name: str, folder: Path, prepare: Callable[[], None]) -> NoReturn:
    status = FAILED
    words = io.StringIO()
    try:
        with redirect_stdout(words), redirect_stderr(words):
            prepare()
            PROGRAMS[name](folder)
        status = DONE
    except InUse as refusal:
        words.write(f"\n{refusal}")
        status = REFUSED
    except BaseException:
        traceback.print_exc(file=words)
    finally:
        (folder.parent / f"{LOG}-{os.getpid()}").write_text(words.getvalue())
        os._exit(status)


def ended(child: int, at_most: float = SECONDS_AT_MOST) -> int | None:
    """The exit status of the child: negative if it was killed; None, and it is killed, after the time."""
    until = time.monotonic() + at_most
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def content(folder: Path) -> dict[str, Any]:
    """The files and what they hold, whatever their dates."""
    return {str(path.relative_to(folder)): _held(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def _held(path: Path) -> Any:
    if path.name == "summary.json":
        return {key: value for key, value in json.loads(path.read_text()).items() if key != "date"}
    if path.suffix == ".safetensors":  # its metadata are in any order
        from safetensors import safe_open

        with safe_open(path, "np") as file:
            return file.metadata(), {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118
    return path.read_bytes()


def require_whole(folder: Path) -> None:
    """Raises where a file that has its name is not complete; logs of runs are rewritten by the next start."""
    import pyarrow.parquet
    from safetensors import safe_open

    for path in folder.rglob("*"):
        if not path.is_file() or ".fedconvex-" in path.name or path.suffix == ".csv":
            continue
        if path.suffix == ".npz":
            with np.load(path) as file:
                assert all(file[name] is not None for name in file.files)
        elif path.suffix == ".parquet":
            pyarrow.parquet.read_table(path)
        elif path.suffix == ".safetensors":
            with safe_open(path, "pt") as tensors:
                assert list(tensors.keys())
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".html":
            assert path.read_text().endswith("</html>")
        elif path.suffix == ".png":
            assert path.read_bytes().endswith(b"IEND\xaeB`\x82")
        else:
            raise AssertionError(f"{path} is not known")


def undisturbed(name: str, place: Path) -> tuple[dict[str, Any], float]:
    """The files of a run that nobody disturbs, and how long it takes."""
    folder = place / "undisturbed"
    folder.mkdir(parents=True)
    begun = time.perf_counter()
    _require(ended(start(name, folder)) == DONE, f"{name}, undisturbed", folder)
    return content(folder), time.perf_counter() - begun


def _require(holds: bool, what: str, folder: Path) -> None:
    if not holds:
        words = "\n".join(path.read_text() for path in sorted(folder.parent.glob(f"{LOG}-*")))
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        raise AssertionError(f"{what}: {files}\n{words}")


def kills(name: str, number: int, seed: int, place: Path) -> dict[str, Any]:
    """Kills the program so often, up to four times before it may end."""
    expected, seconds = undisturbed(name, place)
    chance, killed, rounds = random.Random(f"{name} {seed}"), 0, 0
    ways = {"timer": 0, "operation": 0, "write": 0}
    while killed < number:
        rounds += 1
        folder = place / f"killed{rounds}" / "out"
        folder.mkdir(parents=True)
        for _ in range(chance.randint(1, KILLS_IN_A_ROW)):
            way = chance.choice(list(ways))
            status = _killed(name, folder, way, chance, seconds)
            what = f"{name}, round {rounds}, {way}, seed {seed}"
            _require(status in (DONE, -signal.SIGKILL), what, folder)
            if status != DONE:
                killed, ways[way] = killed + 1, ways[way] + 1
            require_whole(folder)
        what = f"{name}, round {rounds}, seed {seed}: the last start"
        _require(ended(start(name, folder)) == DONE, what, folder)
        _require(content(folder) == expected, f"{what}, its files", folder)
    return {"program": name, "kills": killed, "runs": rounds, **ways, "seconds of a run": round(seconds, 3)}


def _killed(name: str, folder: Path, way: str, chance: random.Random, seconds: float) -> int | None:
    if way == "timer":
        child, wait = start(name, folder), chance.uniform(0, seconds)
        time.sleep(wait)
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:  # it has not made its group yet, or has ended
            os.kill(child, signal.SIGKILL)
        return ended(child)
    number = chance.randint(1, 60)
    return ended(start(name, folder, lambda: kill_at(number, folder) if way == "operation" else cut_short_at(number)))


def contention(name: str, number: int, seed: int, place: Path) -> dict[str, Any]:
    """Starts two to five processes on one folder at nearly one moment, so often; some of them are killed."""
    expected, seconds = undisturbed(name, place)
    chance = random.Random(f"{name} {seed}")
    counts = {"done": 0, "refused": 0, "killed": 0}
    for number_of_round in range(number):
        folder = place / f"together{number_of_round}" / "out"
        folder.mkdir(parents=True)
        children = []
        for _ in range(chance.randint(2, 5)):
            children.append(start(name, folder))
            time.sleep(chance.uniform(0, seconds / 4))
        victim = chance.choice(children) if chance.random() < 0.25 else None
        if victim is not None:
            os.kill(victim, signal.SIGKILL)
        what = f"{name} together, round {number_of_round}, seed {seed}"
        statuses = {child: ended(child) for child in children}
        for child, status in statuses.items():
            _require(status in (DONE, REFUSED) or child == victim, f"{what}: {status}", folder)
            counts["killed" if status == -signal.SIGKILL else "done" if status == DONE else "refused"] += 1
            if status == REFUSED:
                words = (folder.parent / f"{LOG}-{child}").read_text()
                owner = int(words.split("process ")[1].split(" on ")[0])
                _require(owner in children and owner != child and "delete" in words, f"{what}: {words}", folder)
        require_whole(folder)
        if DONE not in statuses.values():
            _require(victim is not None, f"{what}: nobody ended", folder)
        _require(ended(start(name, folder)) == DONE, f"{what}: the last start", folder)
        _require(content(folder) == expected, f"{what}: the files", folder)
    return {"program": name, "rounds": number, **counts}


def main() -> None:
    attack, names = {"kills": kills, "contention": contention}[sys.argv[1]], sys.argv[2].split(",")
    number, seed = int(sys.argv[3]), int(sys.argv[4])
    locks.SECONDS_OF_PATIENCE = 0.05
    memory = Path("/dev/shm")  # a disk would take most of the time for fsync
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() and os.access(memory, os.W_OK) else None) as place:
        tempfile.tempdir = place
        (Path(place) / "paper").mkdir()
        (Path(place) / "paper" / "test.toml").write_text(SWEEP.replace("rounds = 40", "rounds = 5"))
        for name in names:
            if name not in WITH_THREADS:  # in this process, so that no child has to import or compile
                warm = Path(place) / "warm" / name
                warm.mkdir(parents=True)
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    PROGRAMS[name](warm)
        with cluster() if "sweep on a cluster" in names else nullcontext():
            sys.stdout.write(json.dumps([attack(name, number, seed, Path(place) / name) for name in names]))


@contextmanager
def cluster() -> Iterator[None]:
    """A Dask cluster of one worker, in processes of its own: a process with Dask's threads could not fork."""
    program = (
        "import sys, distributed\nif __name__ == '__main__':\n"
        "    options = dict(threads_per_worker=1, processes=False, dashboard_address='127.0.0.1:0', host='127.0.0.1')\n"
        "    with distributed.LocalCluster(n_workers=1, protocol='tcp', **options) as workers:\n"
        "        print(workers.scheduler_address, flush=True)\n        sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        os.environ["SCHEDULER"] = process.stdout.readline().strip()
        yield
        process.kill()


if __name__ == "__main__":
    main()
