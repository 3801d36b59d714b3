"""`lyapunov` beside PEPit and AutoLyap on questions that these can pose: seconds, and whether "upper bounds" are any.

    FEDCONVEX_PEERS=pepit=/its/python,autolyap=/its/python python benchmarks/rates.py

Ours searches the Lyapunov function, certifies the rate in rationals for any number of clients and finds clients that
attain it. PEPit gets the function that was found here, and a number of clients; AutoLyap searches, for the two methods
that are no federations. Their fastest solver counts. A value below the truth is no bound, however near: such a peer is
called unsafe. Every truth here is a fraction that quadratics attain.
"""

import json
import os
import subprocess
from fractions import Fraction as F
from typing import Any

from run import FOLDER, interleaved, record, row

import fedconvex as fc
from fedconvex.methods import Method
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov

REPETITIONS = 5
CASES: dict[str, tuple[Method, int, tuple[int, ...]]] = {
    "FedSplit, κ = 100": (fc.FedSplit(stepsize=F(1, 10)), 100, (2, 10)),
    "SCAFFOLD, κ = 4, e = 2": (fc.Scaffold(stepsize=F(1, 4), local_steps=2), 4, (2, 5)),
    "SCAFFOLD, κ = 100, e = 10": (fc.Scaffold(stepsize=F(1, 100), local_steps=10), 100, (2,)),
    "gradient descent, κ = 4": (fc.FedGD(stepsize=F(2, 5)), 4, ()),
    "FedDyn, κ = 4": (fc.FedDyn(alpha=2), 4, ()),
}
NO_FEDERATIONS = {"gradient descent, κ = 4": "fedgd", "FedDyn, κ = 4": "feddyn"}
TARGET = 10  # times faster, or safer


def peer(name: str, *arguments: Any) -> dict[str, Any] | None:
    """What the peer prints; None without it."""
    given = dict(part.split("=", 1) for part in os.environ.get("FEDCONVEX_PEERS", "").split(",") if "=" in part)
    if name not in given:
        return None
    command = [given[name], "-W", "ignore", "-m", f"peers.{name}_rates", *map(str, arguments)]
    finished = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def case_for_pepit(method: Method, kappa: int, found: Any) -> str:
    """The case with the weight of the deviations that was found here."""
    if isinstance(method, fc.FedSplit):
        return "fedsplit"
    assert isinstance(method, fc.Scaffold)
    return f"scaffold:{method.local_steps}:{kappa}:{float(found.function.matrices[1][0][0])!r}"


def compared(name: str, other: str, ours: float, truth: F, theirs: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """A row: how many times faster, and whether the peer's values are bounds."""
    solver = min(theirs["seconds"], key=lambda one: theirs["seconds"][one])
    taken, values = theirs["seconds"][solver] * 1e3, theirs["values"]
    below = [one for one, value in values.items() if value < truth]
    told = ", ".join(
        f"{one} {theirs['seconds'][one]:.3g} s, {(value - float(truth)) / float(truth):+.1e}"
        + " (below the truth: no bound)" * (value < truth)
        for one, value in values.items()
    )
    notes.append(f"{other}, {name}, seconds and relative error: {told}.")
    return row(f"{name}: times faster than {other}", taken / ours, TARGET, "×", at_least=True, peer=f"with {solver}",
               peer_value=taken, peer_unit="ms", ratio=taken / ours, ours_ms=ours, unsafe_solvers=below,
               values=values)  # fmt: skip


def main() -> None:
    """Measure and record."""
    rows, notes = [], list[str]()
    for name, (method, kappa, counts) in CASES.items():
        clients = SmoothStronglyConvex(1, kappa)
        found = lyapunov(method, clients)
        assert found.upper == found.lower, name
        times = interleaved({name: lambda m=method, c=clients: lyapunov(m, c)}, REPETITIONS)
        ours = min(times[name]) * 1e3
        for m in counts:
            theirs = peer("pepit", case_for_pepit(method, kappa, found), m, 2)
            if theirs is not None:  # of FedSplit both measure mean‖z_k − z_k*‖²
                rows.append(compared(f"{name}, {m} clients", "PEPit", ours, found.lower, theirs, notes))
        if name in NO_FEDERATIONS:
            theirs = peer("autolyap", NO_FEDERATIONS[name], 1)
            if theirs is not None:
                rows.append(compared(name, "AutoLyap", ours, found.lower, theirs, notes))
    unsafe = sum(bool(one["unsafe_solvers"]) for one in rows)
    notes.append(f"In {unsafe} of {len(rows)} rows a value of the peer lies below the truth, which is attained; ours "
                 "never, being a proved fraction, and equal to the truth in all rows.")  # fmt: skip
    record("rates", rows, notes=notes)


if __name__ == "__main__":
    main()
