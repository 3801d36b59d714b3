"""Where runs leave the exact trajectory."""

from collections.abc import Iterable, Sequence

import numpy as np

from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Reference
from fedconvex.conformance.report import Deviation

GROSS = 1e-4  # the part of a run's largest deviation that counts as where it begins


def first_deviations(runs: Sequence[ObservedRun], references: Sequence[Reference], bits: int) -> tuple[Deviation, ...]:
    """Where each run leaves the exact trajectory, the largest deviation relative to its tolerance first."""
    found = (first_deviation(run, reference, bits) for run, reference in zip(runs, references, strict=True))
    return grossest_first(deviation for deviation in found if deviation is not None)


def grossest_first(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """The deviations by their sizes relative to their tolerances."""
    return tuple(sorted(deviations, key=lambda deviation: -deviation.size / deviation.tolerance))


def first_deviation(run: ObservedRun, reference: Reference, bits: int) -> Deviation | None:
    """The first gross deviation of a run; within a round clients come before the server."""
    tolerances, found = reference.tolerances(bits), list[Deviation]()
    for t, point in enumerate(run.points):
        pairs: list[tuple[int | None, np.ndarray, np.ndarray]] = []
        if 0 < t <= len(run.clients):
            exact = reference.moments[t - 1].clients
            pairs = [(k, run.clients[t - 1][k], exact[k]) for k in sorted(run.clients[t - 1]) if k in exact]
        for client, seen, expected in [*pairs, (None, point, reference.points[t])]:
            size = float(np.abs(seen - expected).max())
            if not size <= tolerances[t]:  # NaN is a deviation, too
                row, exactly, tolerance = tuple(seen.tolist()), tuple(expected.tolist()), float(tolerances[t])
                found.append(Deviation(reference.scenario.name, t, client, exactly, row, size, tolerance))
    # rounding in single precision may come before a fault that is grosser by far: it is not where to look first
    gross = GROSS * max((deviation.size / deviation.tolerance for deviation in found), default=0.0)
    return next((deviation for deviation in found if not deviation.size / deviation.tolerance < gross), None)
