"""How many faults in exported theorems Rocq refuses, each shown to be a fault without Rocq.

    python benchmarks/rocq_mutants.py [--faults 300] [--seconds 1]

Mutants are those of rocq_mutants.py in tests/proofs_checks/rocq: a constant, sign, exponent or time in a claim, a
hypothesis, a parameter of the round, or a multiplier of a proof is changed. Kinds take turns, statements are drawn at
random, always in the same order; the longest texts are left out. A mutant counts where an exact federation breaks it,
found within so many seconds of CPU, or, for a multiplier, where the kernel refuses the proof. Those that nothing
breaks may be true: Rocq is asked about them afterwards, and those that it accepts are theorems. Rocq has ten minutes
for each, and one that takes longer is counted apart. Compiled theorems are kept as `fedconvex verify --kernel rocq`
keeps them; 300 faults take an hour or less, and the record is written again and again.
"""

import argparse
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from run import record, row

from fedconvex.proofs_checks.reporting.cache import folder as cache_folder
from fedconvex.proofs_checks.rocq.compiling import Rocq, check_folder, find_rocq
from fedconvex.proofs_checks.rocq.files import exported, write_theories
from fedconvex.theory import papers, statement

TESTS = Path(__file__).resolve().parent.parent / "tests" / "proofs_checks"
sys.path[:0] = [str(TESTS / "rocq"), str(TESTS)]

from rocq_mutants import KINDS, Mutant, mutants_of, shown_wrong, unchanged  # noqa: E402  (found above)

LONGEST = 9_000  # characters of a text that is mutated
EVERY = 10  # mutants between two records


def in_turn() -> Iterator[Mutant]:
    """Mutants of the theorems that are not too long, the kinds in turn and each text once."""
    draws = np.random.default_rng(0)
    everything = [one for paper in papers().values() for one in paper.everything]
    texts = [(one, exported(one)) for one in everything]
    chosen = [one for one, of in texts if of.text and not of.refuted and len(of.text) <= LONGEST]
    known: dict[str, dict[str, list[Mutant]]] = {}
    seen: set[str] = set()
    print(f"{len(chosen)} of {sum(bool(of.text) for _, of in texts)} theorems", flush=True)
    while True:
        before = len(seen)
        for kind in KINDS:
            for place in draws.permutation(len(chosen)):
                one = chosen[place]
                if one.identifier not in known:
                    known[one.identifier] = {k: [] for k in KINDS}
                    for mutant in mutants_of(one):
                        known[one.identifier][mutant.kind].append(mutant)
                left = [m for m in known[one.identifier][kind] if m.text not in seen]
                if left:
                    mutant = left[int(draws.integers(len(left)))]
                    seen.add(mutant.text)
                    yield mutant
                    break
        if len(seen) == before:
            return


class Count:
    """What was found of the mutants so far."""

    def __init__(self, rocq: Rocq) -> None:
        self.rocq = rocq
        self.kinds = {kind: Counter[str]() for kind in KINDS}
        self.listed: list[dict[str, Any]] = []

    def add(self, mutant: Mutant, why: str, accepted: bool, too_long: bool) -> None:
        """Counts a mutant: `why` is how it is known to be wrong, "" where it is not."""
        answer = "accepted" if accepted else "too long" if too_long else "refused"
        self.kinds[mutant.kind][f"{'shown wrong' if why else 'not shown wrong'}, {answer}"] += 1
        if accepted or too_long:
            entry = {"statement": mutant.identifier, "kind": mutant.kind, "answer": answer, "wrong": why[:300]}
            self.listed.append(entry | {"before": mutant.before, "after": mutant.after})
            print(f"{answer}{': WRONG' * bool(why)}: {mutant.identifier}, {mutant.kind}: {mutant.after}", flush=True)
        if sum(self.total.values()) % EVERY == 0:
            self.write()
            print(dict(self.total), flush=True)

    @property
    def total(self) -> Counter[str]:
        """Of all kinds."""
        return sum(self.kinds.values(), Counter[str]())

    @property
    def faults(self) -> int:
        """How many were shown to be wrong."""
        return sum(n for name, n in self.total.items() if name.startswith("shown"))

    def write(self) -> None:
        """Writes the record."""
        refused = self.total["shown wrong, refused"]
        what = f"mutants of exported theorems, shown to be wrong without Rocq, that Rocq refuses, of {self.faults}"
        share = 100 * refused / max(self.faults, 1)
        rows = [row(what, share, 100, "%", peer="wrong mutants that it accepts",
                    peer_value=self.total["shown wrong, accepted"], ratio=share / 100, at_least=True)]  # fmt: skip
        kinds = {kind: dict(counts) for kind, counts in self.kinds.items()}
        drawn = sum(self.total.values())
        record("rocq_mutants", rows, rocq=self.rocq.version, drawn=drawn, counts=dict(self.total), kinds=kinds,
               listed=self.listed)  # fmt: skip


def main(faults: int, seconds: float) -> None:
    """Lets Rocq check mutants until so many are shown to be wrong, and writes what was counted."""
    count = Count(rocq := find_rocq())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "theories"
        names = [one.identifier for paper in papers().values() for one in paper.everything]
        short = [n for n in names if (of := exported(statement(n))).text and not of.refuted and len(of.text) <= LONGEST]
        written = write_theories(folder, [statement(name) for name in short])
        for checked in check_folder(rocq, folder, written, jobs=1, kept=cache_folder() / "rocq"):
            assert checked.accepted, f"{checked.name}: {checked.problem}"
        later: list[Mutant] = []
        of_turn = in_turn()
        with ThreadPoolExecutor(1) as pool:  # while Rocq reads a mutant, the next one is looked for
            waiting: deque[tuple[Mutant, str, Future[tuple[bool, bool]]]] = deque()
            while len(waiting) + count.faults < faults and (mutant := next(of_turn, None)) is not None:
                if why := shown_wrong(mutant, seconds):
                    waiting.append((mutant, why, pool.submit(answer, rocq, folder, mutant)))
                else:
                    later.append(mutant)
                while waiting and waiting[0][2].done():
                    count.add(*waiting[0][:2], *waiting.popleft()[2].result())
            for mutant, why, of in waiting:
                count.add(mutant, why, *of.result())
        count.write()
        for mutant in later:
            count.add(mutant, "", *answer(rocq, folder, mutant))
        count.write()


@cache
def require_accepted(rocq: Rocq, folder: Path, identifier: str) -> None:
    """Without a change Rocq accepts the file: what it refuses, it refuses for the change."""
    (folder / "Statements" / "mutant.v").write_text(unchanged(statement(identifier)))
    found = rocq.compile(folder, "Statements/mutant")
    assert found.accepted, f"{identifier}: {found.problem}"


def answer(rocq: Rocq, folder: Path, mutant: Mutant) -> tuple[bool, bool]:
    """Whether Rocq accepts the mutant, and whether it needs too long."""
    require_accepted(rocq, folder, mutant.identifier)
    (folder / "Statements" / "mutant.v").write_text(mutant.text)
    found = rocq.compile(folder, "Statements/mutant")
    return found.accepted, found.problem.startswith("more than")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    main(options.faults, options.seconds)
