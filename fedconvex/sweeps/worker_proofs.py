"""Cells on workers of a cluster, each of which proves before its first one that it computes as the caller does.

A worker may have another version of the package, or of a library, or another processor; its results would differ, and
nothing would tell. What it gets are plain data and a function with its own code, so that it can answer whatever it has.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from fedconvex.installation import (
    different_files,
    different_results,
    different_versions,
    files,
    known_run,
    reader_of_files,
    versions,
)
from fedconvex.sweeps.cell_runs import CellOutcome, run_cell
from fedconvex.sweeps.local_processes import unpacked_once
from fedconvex.sweeps.packed_problems import PackedProblem

# Arithmetics set the precision and the number of BLAS threads for the whole worker process: two runs in threads of one
# process would disturb each other.
_one_run_at_a_time = threading.Lock()
_proofs: dict[str, str | None] = {}  # in a worker: what differs from a caller's installation, by the sweep's name
KNOWN_RUN = "a small known run"


def expected() -> dict[str, dict[str, str]]:
    """What a worker has to have: the caller's files, versions, and results of the known run."""
    return {"files": files(), "versions": versions(), "results": {KNOWN_RUN: known_run()}}


def runner_of_cells() -> Callable[..., Any]:
    """The function that runs a cell in a worker, or returns the worker's address, name and what differs there.

    cloudpickle sends it with its code, as it is local; it uses the worker's package only after its files were compared.
    """
    installed = reader_of_files()

    def run(sweep: str, wanted: Any, cell: bytes, key: str, problem: Any) -> Any:
        import sys

        from distributed import get_worker

        def refuse(what: Any) -> tuple[str, str, Any]:
            worker = get_worker()
            return worker.address, str(worker.name), what

        if sweep not in getattr(sys.modules.get("fedconvex"), "_PROVEN", ()):
            there = installed()
            if there != wanted["files"]:
                return refuse(there)
            import fedconvex

            fedconvex._PROVEN = {*getattr(fedconvex, "_PROVEN", ()), sweep}  # type: ignore[attr-defined]
        from fedconvex.sweeps.worker_proofs import run_if_proven

        outcome = run_if_proven(sweep, wanted, cell, key, problem)
        return refuse(outcome) if isinstance(outcome, str) else outcome

    return run


def run_if_proven(sweep: str, wanted: Mapping[str, Any], cell: bytes, key: str, problem: Any) -> CellOutcome | str:
    """In a worker: the outcome of the cell, or what differs from the caller's libraries and arithmetic."""
    import cloudpickle

    with _one_run_at_a_time:
        if sweep not in _proofs:
            _proofs[sweep] = different_versions(wanted["versions"], versions()) or different_results(
                wanted["results"], {KNOWN_RUN: known_run()}
            )
        different = _proofs[sweep]
        if different is not None:
            return different
        return run_cell(cloudpickle.loads(cell), unpacked_once(PackedProblem(key, problem)).problem)


def in_words(answer: str | Mapping[str, str]) -> str:
    """What differs on a worker that refused a cell: it answered in words, or with its package's files."""
    return answer if isinstance(answer, str) else str(different_files(files(), answer))
