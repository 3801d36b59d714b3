"""Small hostile files that processes with 2 GiB of addresses load, solve and audit.

Run as a program with the folder of the files, a seed and the name of a set of attacks: it prints one line of JSON for
each attack, with the outcome and the megabytes that the attack added at its peak. Each attack has a forked process of
its own, which may abort.
"""

import gzip
import io
import json
import os
import random
import resource
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pandas as pd

import fedconvex as fc
from fedconvex.commands import errors
from fedconvex.commands.main import app
from fedconvex.errors import FedconvexError

ADDRESSES = 2 * 2**30
ROOM = 1024.0  # MB that are left in any case
Attack = tuple[str, Callable[[], Any]]


def write(folder: Path, name: str, data: "bytes | str") -> Path:
    file = folder / name
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def libsvm(folder: Path, width: int, labels: str = "01", extra: int = 0) -> Path:
    """A line for every label, the last with the feature `width`; `extra` further random features on each."""
    numbers = random.Random(width)
    lines = []
    for i, label in enumerate(labels):
        columns = sorted({1 + i, *(numbers.randrange(2, min(width, 10**6)) for _ in range(extra))} - {width})
        last = [width] if i == len(labels) - 1 else []
        lines.append(" ".join([f"{label}.{i}" if extra else label, *(f"{j}:{1 + j % 3}" for j in columns + last)]))
    return write(folder, f"features_{width}_{len(labels)}_{extra}.svm", "\n".join(lines) + "\n")


def npz(folder: Path, name: str, X: np.ndarray) -> Path:
    np.savez_compressed(folder / name, X=X, y=np.arange(len(X)) % 2)
    return folder / name


def lying_npz(folder: Path, shape: tuple[int, ...]) -> Path:
    """A header that announces an array of this shape, followed by a hundred bytes."""
    header, target, whole = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|i1", "fortran_order": False, "shape": shape})
    np.save(target, np.arange(3))
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(100))
        archive.writestr("y.npy", target.getvalue())
    return write(folder, f"lie_{'_'.join(map(str, shape))}.npz", whole.getvalue())


def csv(folder: Path, columns: int) -> Path:
    rows = [",".join([str(i % 2), *(str((i * j) % 7) for j in range(columns))]) for i in range(4)]
    return write(folder, f"wide_{columns}.csv", "\n".join([",".join(["y", *(f"c{j}" for j in range(columns))]), *rows]))


def parquet(folder: Path, rows: int, columns: int) -> Path:
    file = folder / f"zeros_{rows}_{columns}.parquet"
    names = ["y", *map(str, range(columns))]
    pd.DataFrame(np.zeros((rows, columns + 1), np.int8), columns=names).to_parquet(file, compression="zstd")
    return file


def repeated(folder: Path, column: str) -> Path:
    """Two texts of a megabyte in a dictionary, and a thousand rows of them: a kilobyte."""
    import pyarrow as pa

    texts = pa.array([f"{letter * 2**20}" for letter in "ab"]).dictionary_encode()
    texts = pa.DictionaryArray.from_arrays(pa.array(np.arange(1000) % 2, pa.int32()), texts.dictionary)
    columns = {"a": np.arange(1000) % 7, "y": np.arange(1000) % 2} | {column: texts}
    return arrow(folder, f"repeated_{column}.parquet", columns)


def arrow(folder: Path, name: str, columns: dict[str, Any]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), folder / name, compression="zstd")
    return folder / name


def nested(folder: Path) -> Path:
    """A list of 2^27 numbers in each of two rows."""
    import pyarrow as pa

    values = pa.array(np.zeros(2**27, np.int8))
    lists = pa.ListArray.from_arrays(pa.array([0, 2**27, 2**27], pa.int32()), values)
    return arrow(folder, "nested.parquet", {"l": lists, "a": [1, 2], "y": [0, 1]})


def gzipped(folder: Path, name: str, start: bytes, block: bytes, times: int) -> Path:
    """The start, then the block so many times: members of one gzip file, of which each is compressed once."""
    return write(folder, name, gzip.compress(start) + gzip.compress(block) * times)


def resumed(file: Path) -> Any:
    problem = fc.LeastSquares(A=[np.eye(2)] * 2, b=[[1, 2]] * 2)
    return fc.simulate(fc.FedGD(stepsize=0.1), problem, 3, checkpoint=file, progress=False)


def frugal(folder: Path, seed: int) -> Iterator[Attack]:
    """Files of some kilobytes that announce gigabytes, or unpack to them: each is read in little, or is too large."""
    letters = ["x" * 2**22, *"yzyzyzyzyzy"]
    np.savez_compressed(folder / "letters.npz", X=np.zeros((12, 2)), y=np.array(letters))
    for file in (repeated(folder, "t"), repeated(folder, "y"), nested(folder), folder / "letters.npz"):
        yield f"load {file.name}", lambda file=file: fc.data.load(file, clients=2, one_hot=["t"] * ("_t." in file.name),
                                                                 drop=["l"] * ("nested" in file.name))  # fmt: skip
    names = gzipped(folder, "names.csv.gz", b"", b"a,bc," * 2**24, 1)
    yield "load names.csv.gz", lambda: fc.data.load(names, clients=2)
    bits = gzipped(folder, "bits.idx.gz", bytes([0, 0, 8, 1, 0x60, 0, 0, 0]), bytes(2**26), 24)
    yield "idx", lambda: fc.deep.datasets.read_idx(bits)
    lie = lying_npz(folder, (3 * 2**30,))
    yield "checkpoint", lambda: resumed(lie)


def careless(folder: Path, seed: int) -> Iterator[Attack]:
    """Readers that do not ask: of the same files, and what ends a process."""
    texts = repeated(folder, "t")
    yield "pandas", lambda: len(pd.read_parquet(texts).to_numpy(dtype=str))
    yield "fill", lambda: bytes(3 * 2**30)
    yield "touch", lambda: len(bytearray(b"x") * 2**29)
    yield "flint", lambda: flint.arb_mat(20_000, 20_000)


def audit(file: Path) -> int:
    words = ["audit", str(file), "--clients", "2", "--rounds", "5", "--method", "fedgd:local_steps=2"]
    return errors.run(app, [*words, "--method", "fedprox", "--out", str(file.with_suffix(".out"))])


def on_problem(file: Path, model: str, work: Callable[[Any], Any]) -> Any:
    data = fc.data.load(file, clients=2)
    return work(data.problem(model))


def fixed(arithmetic: str) -> Callable[[Any], Any]:
    return lambda problem: fc.fixed_point(fc.FedProx(mu=1), problem, arithmetic=arithmetic).bias_norm


def exactly(problem: Any) -> Any:
    return fc.ground_truth(problem).exact_point


def attacks(folder: Path, seed: int) -> Iterator[Attack]:
    numbers = random.Random(seed)

    def size(low: int, high: int) -> int:
        return low if seed == 0 else int(low * (high / low) ** numbers.random())

    wide = libsvm(folder, size(20_000, 200_000), "01" * 6, extra=2)
    labels = libsvm(folder, size(20_000, 200_000), "01")
    tall = libsvm(folder, size(20_001, 90_000), "01" * size(40, 1000), extra=2)
    huge = libsvm(folder, size(5_000_000, 500_000_000))
    files = [
        wide,
        labels,
        huge,
        libsvm(folder, 2**31),
        npz(folder, "zeros.npz", np.zeros((500, size(40_000, 200_000)), np.int8)),
        npz(folder, "ones.npz", np.ones((size(4_000, 30_000), 20_000), np.int8)),
        lying_npz(folder, (10**5, size(30_000, 10**9))),
        lying_npz(folder, (-1, 10**12)),
        csv(folder, size(20_000, 60_000)),
        parquet(folder, 3, size(2_000, 20_000)),
        parquet(folder, size(8_000_000, 30_000_000), 20),
        gzipped(folder, "cells.csv.gz", b"a,b,y\n", b"1,2,0\n" * 2**20, size(10, 40)),
    ]
    for file in files:
        yield f"load {file.name}", lambda file=file: fc.data.load(file, clients=2)
    yield f"truth multinomial {labels.name}", lambda: on_problem(labels, "multinomial", fc.ground_truth)
    for model, file in (("least-squares", wide), ("logistic", labels), ("least-squares", tall)):
        yield f"truth {model} {file.name}", lambda f=file, m=model: on_problem(f, m, fc.ground_truth)
        for arithmetic in ("ball", "exact") if model == "logistic" else ("float", "ball", "exact"):
            work = fixed(arithmetic)
            yield f"{arithmetic} {model} {file.name}", lambda f=file, m=model, w=work: on_problem(f, m, w)
    yield "exact minimiser", lambda: on_problem(wide, "least-squares", exactly)
    for file in (wide, labels, huge, *(files[j] for j in (4, 8) if seed)):
        yield f"audit {file.name}", lambda file=file: audit(file)


def megabytes(field: str) -> float:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) / 1024


def attempt(attack: Callable[[], Any]) -> str:
    try:
        result = attack()
    except FedconvexError as error:
        return f"refused: {error}"
    except BaseException as error:
        return f"FAULT: {type(error).__name__}: {error}"
    if type(result) is int:
        return f"{'FAULT' if result == errors.UNFINISHED else 'status'} {result}"
    return "answer"


def limited(name: str, attack: Callable[[], Any]) -> None:
    addresses = max(ADDRESSES, int(megabytes("VmSize") + ROOM) * 2**20)  # the caller's files leave holes
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = megabytes("VmRSS")
    outcome = attempt(attack)
    print(json.dumps({"name": name, "outcome": outcome, "added": megabytes("VmHWM") - before}), flush=True)  # noqa: T201


def main() -> None:
    for name, attack in {a.__name__: a for a in (attacks, frugal, careless)}[sys.argv[3]](
        Path(sys.argv[1]), int(sys.argv[2])
    ):
        child = os.fork()
        if child == 0:
            limited(name, attack)
            os._exit(0)
        if signal := os.WTERMSIG(os.waitpid(child, 0)[1]):
            print(json.dumps({"name": name, "outcome": f"FAULT: signal {signal}", "added": 0.0}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
