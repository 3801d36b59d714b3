"""Damaged files of every kind that the package reads: no traceback, no abort, no hang, nothing wrong taken for data.

A process with 2 GiB of address space reads them, with 20 s of CPU for each. What it reads is compared with what a
strict reader of the same format reads, where there is one: see `kinds_of_files`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from faulty_readers import FAULTY
from file_mutations import mutated
from kinds_of_files import Kind, kinds
from processes import HELPERS, ONE_THREAD, python

pytestmark = pytest.mark.beyond_core  # starts processes

SECONDS = 20  # of CPU for one file
READER = Path(__file__).with_name("reader_process.py")
FEW, MANY = 8, 150  # files of each kind; the exhaustive test reads MANY more
ALLOWED = ("read", "refused")
LARGE = ("run.safetensors", "run.toml")  # torch beside pyarrow takes most of the address space: a process of their own

EVERY: Mapping[str, Kind] = kinds()
TOGETHER = [[name for name in EVERY if name not in LARGE], list(LARGE)]


class Outcome(NamedTuple):
    """What a reader made of the file that the seed gives."""

    kind: str
    seed: int
    verdict: str


def outcomes(folder: Path, first: int, last: int, names: list[str], seconds: int = SECONDS) -> Iterator[Outcome]:
    """The reader's verdicts. After a file that ends the process, another process goes on."""
    waiting = [(name, first) for name in names]
    while waiting:
        (name, start), *waiting = waiting
        # one thread of each library: every thread takes address space for its stack
        together = [name] if start > first else [name, *(other for other, _ in waiting)]
        done = python(READER, folder, seconds, start, last, *together, **ONE_THREAD, **HELPERS)
        now: dict[str, Any] = {}
        for line in map(json.loads, done.stdout.splitlines()):
            now = now | line if "seed" not in line else line
            if "verdict" in line:
                yield Outcome(now["kind"], now["seed"], now["verdict"])
        if done.returncode == 0 and start == first:
            return
        if done.returncode == 0:
            continue
        if "kind" not in now or "verdict" in now:
            pytest.fail(f"the process ended outside of a reader: {done.stderr[-2000:]}")
        if "compares" not in now:  # else the strict reader ended it, which is not ours
            yield Outcome(now["kind"], now["seed"], f"ended the process ({done.returncode}): {done.stderr[-300:]}")
        later = waiting if start > first else [(other, first) for other in together[together.index(now["kind"]) + 1 :]]
        waiting = [(now["kind"], now["seed"] + 1), *later]


def require_none_wrong(found: list[Outcome], count: int, kinds: Iterable[str] = EVERY) -> None:
    wrong = [one for one in found if one.verdict not in ALLOWED]
    assert not wrong, "\n".join(f"{one.kind} {one.seed}: {one.verdict}" for one in wrong[:20])
    assert len(found) >= count
    for kind in kinds:
        verdicts = [one.verdict for one in found if one.kind == kind]
        assert verdicts, f"no file of kind {kind} was read"


def test_damaged_files_are_refused_or_read_right(tmp_path: Path) -> None:
    found = [one for names in TOGETHER for one in outcomes(tmp_path, 0, FEW, names)]
    require_none_wrong(found, FEW * len(EVERY))
    # the files with seed 0 are not damaged, and the others nearly all are
    assert all(one.verdict == "read" for one in found if one.seed == 0)
    assert sum(one.verdict == "refused" for one in found) > len(found) / 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("names", TOGETHER, ids=["most", "torch"])
def test_many_damaged_files(names: list[str], tmp_path: Path) -> None:
    found = list(outcomes(tmp_path, FEW, FEW + MANY, names))
    require_none_wrong(found, MANY * len(names), names)


def test_the_exhaustive_test_reads_five_thousand() -> None:
    assert MANY * len(EVERY) >= 5000


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_reader_is_found_and_the_next_one_still_read(name: str, tmp_path: Path) -> None:
    found = list(outcomes(tmp_path, 1, 3, [name, "a.idx"], seconds=1))
    assert [(one.kind, one.seed) for one in found] == [(kind, seed) for kind in (name, "a.idx") for seed in (1, 2)]
    assert all(FAULTY[name] in one.verdict for one in found[:2]), found
    assert all(one.verdict in ALLOWED for one in found[2:])


def test_the_same_seed_is_the_same_file() -> None:
    import random

    content = b"client,a,y\n1,2.5,0\n"
    made = [mutated(content, random.Random(f"x {seed % 5}"), "t.csv") for seed in range(10)]
    assert made[:5] == made[5:]
    assert len(set(made)) == 5
