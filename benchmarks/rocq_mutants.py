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
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from run import record, row

from fedconvex.proofs_checks.reporting.cache import folder as cache_folder
from fedconvex.proofs_checks.rocq.compiling import Rocq, check_folder, find_rocq
from fedconvex.proofs_checks.rocq.files import Exported, exported, write_theories
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers, statement

TESTS = Path(__file__).resolve().parent.parent / "tests" / "proofs_checks"
sys.path[:0] = [str(TESTS / "rocq"), str(TESTS)]

from rocq_mutants import IN_PROOF, KINDS, Mutant, mutants_of, shown_wrong, unchanged  # noqa: E402  (found above)

LONGEST = 6_500  # characters of a text that is mutated
EVERY = 20  # mutants in one process, and between two records
TRIED: set[str] = set()  # statements whose right theorem was accepted in the form of mutants
LONGEST_STEP = 60  # seconds for one sentence of Rocq


def is_short(of: Exported) -> bool:
    """Whether the theorem is mutated."""
    return bool(of.text) and not of.refuted and len(of.text) <= LONGEST


def in_turn(chosen: list[Statement]) -> Iterator[Mutant]:
    """Mutants of these theorems, the kinds in turn and each text once."""
    draws = np.random.default_rng(0)
    left = {(place, kind): _shuffled(one, kind, draws) for place, one in enumerate(chosen) for kind in KINDS}
    while left:
        for kind in KINDS:
            for place in draws.permutation(len(chosen)):
                mutant = next(left[place, kind], None) if (place, kind) in left else None
                if mutant is not None:
                    yield mutant
                    break
                left.pop((place, kind), None)


def _shuffled(one: Statement, kind: str, draws: np.random.Generator) -> Iterator[Mutant]:
    """The mutants of a kind in a random order, as they are asked for."""
    if kind in IN_PROOF:  # in a random order already, and each takes long to write
        yield from mutants_of(one, IN_PROOF)
        return
    of_kind = [m for m in mutants_of(one, {kind}) if m.kind == kind]
    for place in draws.permutation(len(of_kind)):
        yield of_kind[place]


class Count:
    """What was found of the mutants so far."""

    def __init__(self, rocq: Rocq) -> None:
        self.rocq = rocq
        self.kinds = {kind: Counter[str]() for kind in KINDS}
        self.listed: list[dict[str, Any]] = []

    def add(self, mutant: Mutant, why: str, answer: str) -> None:
        """Counts a mutant: `why` is how it is known to be wrong, "" where it is not."""
        self.kinds[mutant.kind][f"{'shown wrong' if why else 'not shown wrong'}, {answer}"] += 1
        if answer != "refused":
            entry = {"statement": mutant.identifier, "kind": mutant.kind, "answer": answer, "wrong": why[:300]}
            self.listed.append(entry | {"before": mutant.before, "after": mutant.after})
            print(f"{answer}{': WRONG' * bool(why)}: {mutant.identifier}, {mutant.kind}: {mutant.after}", flush=True)

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
        print(dict(self.total), flush=True)
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
        texts = {one: exported(one) for paper in papers().values() for one in paper.everything}
        chosen = [one for one, of in texts.items() if is_short(of)]
        print(f"{len(chosen)} of {sum(bool(of.text) for of in texts.values())} theorems", flush=True)
        write_theories(folder, chosen)
        later: list[Mutant] = []
        of_turn = in_turn(chosen)
        while count.faults < faults:
            wrong: list[tuple[Mutant, str]] = []
            while len(wrong) < min(EVERY, faults - count.faults) and (mutant := next(of_turn, None)) is not None:
                if why := shown_wrong(mutant, seconds):
                    wrong.append((mutant, why))
                else:
                    later.append(mutant)
            if not wrong:
                break
            for (mutant, why), said in zip(wrong, answers(rocq, folder, [m for m, _ in wrong]), strict=True):
                count.add(mutant, why, said)
            count.write()
        for begin in range(0, len(later), EVERY):
            some = later[begin : begin + EVERY]
            for mutant, said in zip(some, answers(rocq, folder, some), strict=True):
                count.add(mutant, "", said)
            count.write()


@cache
def compile_right(rocq: Rocq, folder: Path, identifier: str) -> None:
    """Compiles the right theorem, from which mutants take lemmas."""
    found, waiting = [], [identifier]
    while waiting:
        found.insert(0, exported(statement(waiting.pop())))
        waiting += found[0].cited
    for checked in check_folder(rocq, folder, found, jobs=1, kept=cache_folder() / "rocq"):
        assert checked.accepted, f"{checked.name}: {checked.problem}"


def answers(rocq: Rocq, folder: Path, mutants: list[Mutant]) -> list[str]:
    """For each mutant "accepted", "refused" or "too long": the last where a step of it takes more than a minute.

    All of them in one process, which loads the library once and goes on after an error, also within a proof: whatever
    is accepted so has been proved. The right theorem of each statement comes first, once, in the same form, and must be
    accepted.
    """
    identifiers = [name for name in dict.fromkeys(m.identifier for m in mutants) if name not in TRIED]
    for identifier in identifiers:
        compile_right(rocq, folder, identifier)
    texts = [*(unchanged(statement(identifier)) for identifier in identifiers), *(m.text for m in mutants)]
    names = [identifier.replace(".", "_") for identifier in [*identifiers, *(m.identifier for m in mutants)]]
    session = ["Set Silent.", f"Set Default Timeout {LONGEST_STEP}."]
    for place, (name, text) in enumerate(zip(names, texts, strict=True)):
        session += [f"Module Mutant{place}.", text, "Abort All.", f"End Mutant{place}.", f"Check Mutant{place}.{name}.",
                    f"Check end_of_{place}."]  # fmt: skip
    command = [str(shutil.which("coqtop")), "-q", "-R", "FedConvex", "FedConvex", "-R", "Statements", "Statements"]
    run = subprocess.run(command, cwd=folder, input="\n".join(session), capture_output=True, text=True)
    found, left = [], " ".join(run.stderr.split())  # messages are broken into lines
    for place, name in enumerate(names):
        errors, end, left = left.partition(f"The reference end_of_{place} was not found")
        refused = f"The reference Mutant{place}.{name} was not found" in errors
        accepted = re.search(rf"^Mutant{place}\.{name}\s*:", run.stdout, re.M) is not None
        assert end, f"{name}: no answer of Rocq: {run.stderr[-500:]}"
        assert refused != accepted, f"{name}: no answer of Rocq: {errors}"
        found.append("accepted" if accepted else "too long" if "Timeout!" in errors else "refused")
    assert found[: len(identifiers)] == ["accepted"] * len(identifiers), dict(zip(identifiers, found, strict=False))
    TRIED.update(identifiers)
    return found[len(identifiers) :]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    main(options.faults, options.seconds)
