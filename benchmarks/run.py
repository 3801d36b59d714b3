"""All benchmarks in a row, each in a process of its own, and what they share: timing, tables, records.

python benchmarks/run.py
"""

import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"
SCRIPTS = (
    "import_time",
    "rounds",
    "fixed_points",
    "hessian_products",
    "ground_truth",
    "local_sgd",
    "measuring",
    "many_clients",
    "reading",
    "bounds",
    "verify",
    "worst_cases",
    "rates",
    "design",
    "conformance",
    "strategies",
    "deep",
    "deep_networks",
    "deep_local_sgd",
    "deep_gpu",
)
CLOCK = os.environ.get("FEDCONVEX_CLOCK", "wall")
LOAD_BEFORE = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
LIBRARIES = ("fedconvex", "numpy", "scipy", "numba", "torch", "python-flint", "scikit-learn", "cvxpy", "clarabel")


def clock() -> float:
    """The time now; with FEDCONVEX_CLOCK=cpu the processor time of this process and of its children that ended.

    On a busy machine the time on the wall is mostly waiting.
    """
    if CLOCK == "wall":
        return time.perf_counter()
    import resource

    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def seconds(call: Callable[[], Any]) -> float:
    """How long one call takes."""
    begun = clock()
    call()
    return clock() - begun


def interleaved(calls: dict[str, Callable[[], Any]], repetitions: int, warm_up: int = 1) -> dict[str, list[float]]:
    """The calls' seconds, repetition by repetition, all calls in turn: what slows the machine slows all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for i in range(warm_up + repetitions):
        for name, call in calls.items():
            taken = seconds(call)
            if i >= warm_up:
                times[name].append(taken)
    return times


def median_ratio(ours: list[float], peer: list[float]) -> float:
    """The median of the ratios of neighbouring measurements."""
    return statistics.median(a / b for a, b in zip(ours, peer, strict=True))


def row(
    what: str,
    value: float,
    target: float,
    unit: str,
    *,
    peer: str,
    peer_value: float,
    ratio: float,
    at_least: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """One measured value beside its target (at most, or `at_least`) and beside something real from the same run."""
    reached = value >= target if at_least else value <= target
    fixed = {"what": what, "value": value, "target": target, "unit": unit, "reached": reached, "at_least": at_least}
    return {**fixed, "peer": peer, "peer_value": peer_value, "ratio": ratio, **more}


def record(name: str, rows: list[dict[str, Any]], **more: Any) -> None:
    """Print the rows and write them, with the machine they were measured on, to results/<name>.json and summary.md."""
    print(f"\n{name}\n{table(rows)}")
    for note in more.get("notes", []):
        print(note)
    RESULTS.mkdir(exist_ok=True)
    content = {"benchmark": name, **machine(), "rows": rows, **more}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (RESULTS / "summary.md").write_text("\n".join(["# Benchmarks\n", *map(section, recorded())]), "utf-8")


def recorded() -> list[dict[str, Any]]:
    """The latest results of every benchmark that has some."""
    files = (RESULTS / f"{name}.json" for name in SCRIPTS)
    return [json.loads(file.read_text("utf-8")) for file in files if file.exists()]


def section(content: dict[str, Any]) -> str:
    """A benchmark's part of the summary."""
    versions = ", ".join(f"{key} {value}" for key, value in content["versions"].items() if value)
    where = f"{content['processor']}, {content['cores']} cores, load before {content['load_before']}, {content['date']}"
    where += ", processor time" if content.get("clock") == "cpu" else ""
    notes = "".join(f"\n\n{note}" for note in content.get("notes", []))
    heading = f"## {content['benchmark']}\n\n{table(content['rows'])}{notes}"
    return f"{heading}\n\n{where}; Python {content['python']}, {versions}\n"


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | measured | target | reached | ratio | to |", "|---|---|---|---|---|---|"]
    for r in rows:
        measured, target = (f"{r[key]:.4g} {r['unit']}".strip() for key in ("value", "target"))
        target = f"{'≥' if r.get('at_least') else '≤'} {target}"
        peer = f"{r['peer']} ({r['peer_value']:.4g} {r.get('peer_unit', r['unit'])})".replace(" )", ")")
        lines.append(
            f"| {r['what']} | {measured} | {target} | {'yes' if r['reached'] else 'NO'} | {r['ratio']:.3g} | {peer} |"
        )
    return "\n".join(lines)


def commit() -> str | None:
    """The commit on which this process runs, with a plus where files have changed since; None outside a clone."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"],
            cwd=FOLDER,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


COMMIT = commit()  # of the code as it is loaded: later commits are not what is measured


def machine() -> dict[str, Any]:
    """Processor, versions, date, and how busy the machine was."""
    return {
        "commit": COMMIT,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": LOAD_BEFORE,
        "clock": CLOCK,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def processor() -> str:
    """The processor's name and clock, as far as the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "cpu MHz"))]
    return f"{found[0]}, {found[1]} MHz" if len(found) > 1 else platform.processor() or platform.machine()


def version(name: str) -> str | None:
    """The installed version, None where there is none."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> int:
    """Run every benchmark; 1 where one failed or missed a target. What failed keeps the results it had."""
    failed = [name for name in SCRIPTS if subprocess.run([sys.executable, str(FOLDER / f"{name}.py")]).returncode]
    print(f"\nwritten: {RESULTS / 'summary.md'}" + f"\nfailed: {', '.join(failed)}" * bool(failed))
    missed = not all(r["reached"] for content in recorded() for r in content["rows"])
    return int(bool(failed) or missed)


if __name__ == "__main__":
    sys.exit(main())
