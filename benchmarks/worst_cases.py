"""`worst_case` against PEPit with its free solvers: seconds, and whether "upper bounds" are above the truth.

    python benchmarks/worst_cases.py --pepit /path/to/a/python/with/PEPit

PEPit runs in an environment of its own (or FEDCONVEX_PEERS=pepit=…) and is timed there, building and solving; ours
includes the proof and the federation that attains it. Both report their least time, since the machine is shared. The
fastest of PEPit's solvers counts, even where its value is below the truth. Such a value is no bound, however near: a
federation attains the truth, so that what the value promises is false. A certified upper end below the truth would
count as missed.
"""

import argparse
import json
import os
import statistics
import subprocess
from fractions import Fraction
from typing import Any

from run import FOLDER, interleaved, record, row, seconds

import fedconvex as fc
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, discover, worst_case

REPETITIONS, SWEEP = 30, 1000
PEPIT_REPETITIONS = {2: 20, 10: 10, 30: 5}
RATIOS = {2: 15, 10: 100, 30: 1000}
STEPS, FASTER = {5: 10, 20: 3, 40: 1}, 5  # of gradient descent, with repetitions


def fedsplit(clients: int | str) -> Any:
    """One round, κ = 4; the truth is 1/9."""
    return worst_case(
        fc.FedSplit(stepsize=Fraction(1, 2)), SmoothStronglyConvex(1, 4), clients, metric="lifted_distance"
    )


def peaceman_rachford() -> Any:
    """Eight rounds at μ = 0.1, L = 1 and the best stepsize."""
    return worst_case(fc.FedSplit(stepsize=10**0.5), SmoothStronglyConvex(0.1, 1), rounds=8, metric="lifted_distance")


def steps(count: int) -> Any:
    """Gradient descent, in values; the truth is 1/(4·count + 2)."""
    return worst_case(fc.FedGD(stepsize=1), SmoothConvex(1), 1, count, metric="gap")


def grid(count: int) -> list[tuple[Fraction, Fraction]]:
    """Pairs (μ, B), μ from 1 to 4 and B from 1 to 1.5."""
    side = round(count**0.5)
    return [(Fraction(n, 10) + 1, 1 + Fraction(k, 2 * side)) for n in range(side) for k in range(count // side)]


def descents(count: int) -> list[Any]:
    """FedProx, one round."""
    return [worst_case(fc.FedProx(mu=mu), SmoothConvex(1), metric="descent", dissimilarity=B) for mu, B in grid(count)]


def theorem(count: int) -> list[Fraction]:
    """The same by a formula that is found and proved for all parameters first."""
    found = discover(
        lambda mu, B: {
            "method": fc.FedProx(mu=mu), "clients": SmoothConvex(1), "metric": "descent", "dissimilarity": B
        },
        lambda mu, B: (mu >= 1, B >= 1),
    )  # fmt: skip
    return [found.at(mu=mu, B=B) for mu, B in grid(count)]


def error(upper: Any, truth: Any) -> float:
    """Relative; infinite below the truth."""
    return float((upper - truth) / truth) if upper >= truth else float("inf")


def pepit(python: str | None, case: str, clients: int, repetitions: int) -> dict[str, Any] | None:
    """Its seconds and values, by solver; None without it."""
    if python is None:
        return None
    command = [python, "-m", "peers.pepit", case, str(clients), str(repetitions)]
    finished = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def interpreter() -> str | None:
    """The Python that has PEPit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pepit")
    named = dict(part.split("=", 1) for part in os.environ.get("FEDCONVEX_PEERS", "").split(",") if "=" in part)
    chosen: str | None = parser.parse_args().pepit or named.get("pepit")
    return chosen


def fastest(theirs: dict[str, Any]) -> tuple[str, float]:
    """The fastest of PEPit's solvers, and its milliseconds."""
    name = min(theirs["seconds"], key=lambda solver: theirs["seconds"][solver])
    return name, theirs["seconds"][name] * 1e3


def told(theirs: dict[str, Any], truth: Any) -> str:
    """Each solver's seconds and error, and whether its value is a bound at all."""
    return ", ".join(
        f"{solver} {theirs['seconds'][solver]:.3g} s and {(value - float(truth)) / float(truth):+.1e}"
        + " (below the truth: no bound)" * (value < truth)
        for solver, value in theirs["values"].items()
    )


def speed(python: str | None, notes: list[str]) -> list[dict[str, Any]]:
    """FedSplit, one round."""
    clients = (2, 10, 30, 10**6, "any")
    times = interleaved({str(m): lambda m=m: fedsplit(m) for m in clients}, REPETITIONS, warm_up=3)
    ours = {m: min(taken) * 1e3 for m, taken in times.items()}
    median = statistics.median(times["any"]) * 1e3
    rows = [row("FedSplit, one round, any number of clients", ours["any"], 5, "ms", peer="the same with 2 clients",
                peer_value=ours["2"], ratio=ours["any"] / ours["2"], median_ms=median, all_ms=ours)]  # fmt: skip
    for m, target in RATIOS.items():
        theirs = pepit(python, "fedsplit", m, PEPIT_REPETITIONS[m])
        if theirs is not None:
            solver, taken = fastest(theirs)
            ratio = taken / ours[str(m)]
            every = {name: found * 1e3 / ours[str(m)] for name, found in theirs["seconds"].items()}
            rows.append(row(f"FedSplit, {m} clients: times faster than PEPit's fastest solver", ratio, target, "×",
                            at_least=True, peer=f"PEPit with {solver}", peer_value=taken, peer_unit="ms", ratio=ratio,
                            ratio_by_solver=every, pepit=theirs))  # fmt: skip
            notes.append(
                f"PEPit, {m} clients, seconds and value relative to the truth: {told(theirs, Fraction(1, 9))}."
            )
    return rows


def many_steps(python: str | None, notes: list[str]) -> list[dict[str, Any]]:
    """Gradient descent: a program, a proof and a function that attains it."""
    rows = []
    for count, repetitions in STEPS.items():
        found, truth = steps(count), Fraction(1, 4 * count + 2)
        ours = min(interleaved({"ours": lambda n=count: steps(n)}, repetitions)["ours"]) * 1e3
        ends = [float(end / truth) for end in (found.lower, found.upper)]
        notes.append(f"{count} steps: ends of {ends[0]:.9g} and {ends[1]:.9g} times the truth.")
        theirs = pepit(python, f"gradient-descent:{count}", 1, repetitions)
        if theirs is not None:
            solver, taken = fastest(theirs)
            rows.append(row(f"gradient descent, {count} steps: times faster than PEPit's fastest solver", taken / ours,
                            FASTER, "×", at_least=True, peer=f"PEPit with {solver}", peer_value=taken, peer_unit="ms",
                            ratio=taken / ours, pepit=theirs))  # fmt: skip
            notes.append(f"PEPit, {count} steps, seconds and value relative to the truth: {told(theirs, truth)}.")
    return rows


def accuracy(python: str | None, notes: list[str]) -> list[dict[str, Any]]:
    """Certified upper ends against the truth."""
    s, mu = Fraction(10**0.5), Fraction(0.1)
    one = max((1 - s * mu) / (1 + s * mu), (s - 1) / (1 + s)) ** 2
    cases = (
        ("FedSplit, one round", fedsplit("any").upper, Fraction(1, 9), 1e-9, "fedsplit", 2),
        ("Peaceman–Rachford, 8 rounds", peaceman_rachford().upper, one**8, 1e-2, "peaceman-rachford", 2),
    )
    rows = []
    for name, upper, truth, target, case, clients in cases:
        theirs = pepit(python, case, clients, 1)
        nearest = float(truth) if theirs is None else min(theirs["values"].values(), key=lambda v: abs(v - truth))
        peer = "the truth" if theirs is None else "PEPit's nearest value"
        rows.append(row(f"{name}: certified upper end, relative error", error(upper, truth), target, "", peer=peer,
                        peer_value=nearest, ratio=float(upper) / nearest))  # fmt: skip
        if theirs is not None:
            notes.append(f"PEPit, {name}, seconds and value relative to the truth: {told(theirs, truth)}.")
    return rows


def main() -> None:
    """Measure and record."""
    python, notes = interpreter(), list[str]()
    rows = speed(python, notes) + many_steps(python, notes) + accuracy(python, notes)
    found: list[Any] = []
    taken = seconds(lambda: found.extend(descents(SWEEP)))
    once = seconds(lambda: descents(1))
    exact: list[Fraction] = []
    discovered = seconds(lambda: exact.extend(theorem(SWEEP)))
    rows.append(row(f"FedProx's descent, {len(exact)} pairs (μ, B), by a theorem found here", discovered, 2,
                    "s", peer="a program each", peer_value=taken, ratio=discovered / taken))  # fmt: skip
    notes.append(
        f"A program, a proof and an instance for each of the pairs take {taken:.1f} s, for one {once * 1e3:.1f} ms."
    )
    inside = sum(one.lower <= value <= one.upper for one, value in zip(found, exact, strict=True))
    notes.append(f"{inside} of the theorem's {len(exact)} values lie in the interval that the program of each gives.")
    proved = sum(one.certificate is not None for one in found)
    narrow = sum(one.upper - one.lower < 1e-25 for one in found)
    notes.append(f"Of {len(found)} descents {proved} are proved, {narrow} to 25 digits.")
    record("worst_cases", rows, notes=notes)


if __name__ == "__main__":
    main()
