"""What this process would compute with: the package's files, the libraries' versions, and the result of a known run.

Processes that work on one result prove to the first one that theirs are the same. A process with other code could
describe itself as it likes, so `reader_of_files` makes a function that takes its own code along.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version_tuple

import numpy as np

from fedconvex.errors import InvalidInput

LIBRARIES = ("fedconvex", "numpy", "scipy", "numba", "python-flint", "pandas", "pyarrow")
CHANGED = "changed"  # the entry of a process that may run other code than its files hold
NONE = "not at all"
SHOWN = 3  # a message lists at most as many files


def reader_of_files() -> Callable[[], dict[str, str]]:
    """A function that returns the SHA-256 of every Python file of the installed package, by its path in the package.

    cloudpickle sends it with its code, as it is local, so that it is this program's wherever it runs. It uses the
    standard library only, and notes where files were changed after the process had loaded the package, as its code is
    an older one then.
    """

    def files() -> dict[str, str]:
        import hashlib
        import os
        import sys
        import time
        from importlib.util import find_spec

        loaded, now = getattr(sys.modules.get("fedconvex"), "_LOADED_AT", None), time.time()
        found, changed = {}, False
        try:
            specs = {
                part: find_spec(f"fedconvex.{part}".rstrip(".")) for part in ("", "theory", "proofs_checks", "deep")
            }
        except Exception:  # no such package, or one that cannot be loaded: whatever its code raises
            return {}
        for part, spec in specs.items():
            for root in [] if spec is None else spec.submodule_search_locations or []:
                # follows no links, which show the parts a second time
                paths = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
                for path in paths:
                    if path.endswith(".py"):
                        with open(path, "rb") as file:
                            digest = hashlib.sha256(file.read()).hexdigest()
                        found[os.path.join(part, os.path.relpath(path, root)).replace(os.sep, "/")] = digest
                        # a date in the future says nothing: some clock was wrong
                        changed |= loaded is not None and loaded < os.stat(path).st_mtime <= now
        if changed:
            found["changed"] = ""  # CHANGED, which a function with its own code cannot know
        return found

    return files


@cache
def files() -> dict[str, str]:
    """The SHA-256 of every Python file of the package, when this process first needed it."""
    return reader_of_files()()


def versions(libraries: Sequence[str] = LIBRARIES) -> dict[str, str]:
    """The versions of Python and of these libraries."""
    return {"Python": ".".join(python_version_tuple()[:2]), **{library: _version(library) for library in libraries}}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return NONE


def require_unchanged(argument: str, value: object) -> None:
    """Raises InvalidInput where this process may run other code than the package's files hold."""
    if CHANGED in files():
        problem = "the files of fedconvex were changed after this program had loaded it"
        raise InvalidInput(argument, value, problem, "start the program again")


def known_run() -> str:
    """The digest of two small runs with drawn clients and mini-batches: of every bit of the server's points."""
    from threadpoolctl import threadpool_limits

    from fedconvex.local_solvers import SGD, GradientDescent
    from fedconvex.methods import FedProx
    from fedconvex.participation import Uniform
    from fedconvex.problems import Logistic
    from fedconvex.sweeps import cell_runs

    random = np.random.default_rng(0)
    A = [random.normal(size=(33 + k, 17)) for k in range(3)]  # no multiples of a processor's vectors
    problem = Logistic(A=A, y=[np.where(a.sum(axis=1) > 0, 1, -1) for a in A], ridge=0.1)
    digest = hashlib.sha256()
    for solver in (GradientDescent(steps=3, stepsize=0.1), SGD(epochs=1, batch_size=8, stepsize=0.1)):
        with threadpool_limits(limits=1):
            # the `simulate` that the cells of a sweep call
            run = cell_runs.simulate(FedProx(mu=1), problem, 8, Uniform(2), solver, seed=3, progress=False)  # type: ignore[attr-defined]
        digest.update(np.ascontiguousarray(run.points).tobytes())
    return digest.hexdigest()


def different_files(here: Mapping[str, str], there: Mapping[str, str]) -> str | None:
    """Which files of the package differ there, in words; None where none does."""
    if not there:
        return "it has no fedconvex that can be loaded"
    if CHANGED in there:
        return "its fedconvex was changed after it had been loaded: start that process again"
    names = sorted(name for name in {*here, *there} if here.get(name) != there.get(name))
    more = f" and {len(names) - SHOWN} other files" if len(names) > SHOWN else ""
    return f"its fedconvex differs in {', '.join(names[:SHOWN])}{more}" if names else None


def different_versions(here: Mapping[str, str], there: Mapping[str, str]) -> str | None:
    """Which library has another version there, in words; None where none has."""
    for name, wanted in here.items():
        if there.get(name) != wanted:
            return f"it has {name} {there.get(name, NONE)}, this program {wanted}"
    return None


def different_results(here: Mapping[str, str], there: Mapping[str, str]) -> str | None:
    """Which result differs there, in words; None where none does."""
    for name, wanted in here.items():
        if there.get(name) != wanted:
            return f"its arithmetic differs: {name} gives other digits there, by another processor or changed code"
    return None
