"""How many faults in exported theorems Rocq refuses: a constant, sign, exponent or hypothesis, a multiplier of a proof.

    python benchmarks/rocq_mutants.py [--mutants 300]

Mutants are those of rocq_mutants.py in tests/proofs_checks/rocq, in an order that is random and always the same; the
longest statements are left out. Prints each mutant that is accepted. Where Rocq accepts the theorem without the changed
hypothesis, too, the theorem does not need it, and the mutant is no fault ("without it"). Compiled theorems are kept as
`fedconvex verify --kernel rocq` keeps them; 300 mutants take ten to thirty minutes, and the record is written again
and again.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from run import record, row

from fedconvex.proofs_checks.reporting.cache import folder as cache_folder
from fedconvex.proofs_checks.rocq.compiling import Rocq, check_folder, find_rocq
from fedconvex.proofs_checks.rocq.files import Exported, exported, write_theories
from fedconvex.theory import papers, statement

TESTS = Path(__file__).resolve().parent.parent / "tests" / "proofs_checks" / "rocq"
sys.path.insert(0, str(TESTS))

from rocq_mutants import KINDS, Mutant, mutants_of  # noqa: E402  (found above)

LONGEST = 12_000  # characters of a text that is mutated
EVERY = 20  # mutants between two records


def mutated() -> list[Mutant]:
    """The mutants of the theorems that are not too long, each text once."""
    found: dict[str, Mutant] = {}
    for paper in papers().values():
        for one in paper.everything:
            of = exported(one)
            if of.text and not of.refuted and len(of.text) <= LONGEST:
                found |= {m.text: m for m in mutants_of(of.identifier, of.text)}
    return list(found.values())


def main(number: int) -> None:
    """Let Rocq check so many mutants, and write what was counted."""
    rocq, listed = find_rocq(), mutated()
    chosen = [listed[i] for i in np.random.default_rng(0).permutation(len(listed))[:number]]
    counts: Counter[str] = Counter()
    accepted: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "theories"
        write_and_check(folder, sorted({m.identifier for m in chosen}))
        for done, mutant in enumerate(chosen, 1):
            verdict = "refused"
            if accepts(rocq, folder, mutant.text):
                spare = mutant.without and accepts(rocq, folder, mutant.without)
                verdict = "without it" if spare else "accepted"
            counts.update([verdict, mutant.kind, f"{mutant.kind} {verdict}"])
            if verdict != "refused":
                entry = {"statement": mutant.identifier, "kind": mutant.kind, "before": mutant.before}
                accepted.append(entry | {"verdict": verdict})
                print(f"{verdict}: {mutant.identifier}, {mutant.kind}: {mutant.before} -> {mutant.after}", flush=True)
            if done % EVERY == 0 or done == len(chosen):
                faults = done - counts["without it"]
                share = 100 * counts["refused"] / faults
                what = f"mutants of exported theorems that Rocq refuses, of {faults}"
                rows = [row(what, share, 100, "%", peer="mutants that it accepts", peer_value=counts["accepted"],
                            ratio=share / 100, at_least=True)]  # fmt: skip
                by_kind = {
                    kind: {v: counts[f"{kind} {v}"] for v in ("refused", "accepted", "without it")} for kind in KINDS
                }
                record("rocq_mutants", rows, rocq=rocq.version, listed=len(listed), kinds=by_kind, accepted=accepted)


def accepts(rocq: Rocq, folder: Path, text: str) -> bool:
    """Whether Rocq accepts the text."""
    (folder / "Statements" / "mutant.v").write_text(text)
    return rocq.compile(folder, "Statements/mutant").accepted


def write_and_check(folder: Path, names: list[str]) -> list[Exported]:
    """The theorems without mutations, all of which Rocq accepts."""
    written = write_theories(folder, [statement(name) for name in names])
    for checked in check_folder(find_rocq(), folder, written, jobs=1, kept=cache_folder() / "rocq"):
        assert checked.accepted, f"{checked.name}: {checked.problem}"
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=300)
    main(parser.parse_args().mutants)
