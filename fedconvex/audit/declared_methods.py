"""Whether recorded numbers are those of the declared method, played from the same start, and which method has them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf, isfinite, log

import numpy as np

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.audit.designs.measured_runs import PlayedRun
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.trials import with_number
from fedconvex.audit.methods import describe
from fedconvex.audit.run_series import RunSeries
from fedconvex.audit.twins import longest_run
from fedconvex.errors import FedconvexError
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.base import Method
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.scaffold import Scaffold

SEEDS = 8  # runs of a method with draws
ALIKE, DRIFT = 0.005, 0.003  # in logarithms: how far numbers of the same run may be apart, at first and per e-fold
SPREAD = 0.3  # the same for runs with draws, beyond which their own range counts once more
FEW, LATE = 0.1, 3  # a run differs if more than this part of its rounds does, or the last ones do
LEAST, MOST = 1e-13, 1e12  # of the first number: what is below or above is the same
LOCAL_STEPS = (1, 2, 3, 4, 5, 8, 10, 20, 50)  # that are tried
GRID, SCALE, LEAST_STEP = 13, 1e3, 1e-4  # parameters that are tried, and how far from the curvature they are
EXACT, FIRST = 1e-3, 4  # of logarithms: how near all numbers must be; so many are compared before the others
PARAMETERS, WEIGHTS = ("stepsize", "mu", "alpha", "rho", "eta", "server_stepsize"), ("mu", "alpha", "rho")

Make = Callable[[float], tuple[Method, LocalSolver | None]]


@dataclass(frozen=True, eq=False)
class DeclaredMethod:
    """The method that a run is said to be of, and its rounds."""

    method: Method
    series: RunSeries
    run: PlayedRun

    def played(self, seeds: int) -> np.ndarray:
        """(seeds, n) the numbers after the recorded rounds, or after as many of them as are played."""
        return np.array([self._one(seed, seeds) for seed in range(seeds)])

    def _one(self, seed: int, seeds: int) -> np.ndarray:
        longest = longest_run(self.run.problem, self.run.solver or self.method.local_solver) // seeds
        return _at(self.series, replace(self.run, seed=seed), self.method, longest)

    def difference(self, seeds: int) -> tuple[int, float, float, float] | None:
        """The round in which the recorded number and the played ones differ most, with the two and their ratio.

        None where the recorded ones may be the method's own.
        """
        played = self.played(seeds)
        n = played.shape[1]
        first = float(self.series.values[0])
        low, high = _logarithms(played.min(0), first), _logarithms(played.max(0), first)
        recorded, rounding = self.series.values[:n], self.series.resolution[:n]
        least, most = _logarithms(recorded - rounding, first), _logarithms(recorded + rounding, first)
        margin = ALIKE + DRIFT * np.abs((low + high) / 2 - log(first)) + (high - low) + SPREAD * (seeds > 1)
        beyond = np.maximum(least - high, low - most) - margin
        if np.mean(beyond > 0) <= FEW and not (n >= LATE and (beyond[-LATE:] > 0).all()):
            return None
        i = int(np.argmax(beyond))
        middle = float(np.exp((low[i] + high[i]) / 2))
        ratio = float(np.exp((least[i] + most[i]) / 2)) / middle
        return int(self.series.places[i]), float(recorded[i]), middle, ratio


def reproducing(declared: DeclaredMethod, model: QuadraticModel) -> str | None:
    """A method with one fitted parameter that gives all recorded numbers, the simplest that is found.

    The parameter is the one with the number after the first recorded round; the other rounds then decide.
    """
    L = model.curvatures[1]
    steps, weights = np.geomspace(LEAST_STEP / L, 4 / L, GRID), np.geomspace(L / SCALE, L * SCALE, GRID)
    found = (_fitted(declared, *family) for family in _families(declared.method, steps, weights))
    return next((words for words in found if words is not None), None)


def _families(method: Method, steps: np.ndarray, weights: np.ndarray) -> Iterator[tuple[Make, np.ndarray]]:
    """Functions from a positive number to a method and its solver, with the numbers that are tried."""
    for name in PARAMETERS:
        if hasattr(method, name):
            grid = weights if name in WEIGHTS else steps if "stepsize" in name else 1 / weights
            yield lambda p, name=name: (with_number(method, name, p), None), grid  # type: ignore[misc]
    local = LOCAL_STEPS if isinstance(method.local_solver, Exact) else ()
    yield from ((lambda p, e=e: (FedGD(stepsize=p, local_steps=e), None), steps) for e in LOCAL_STEPS)
    yield from ((lambda p, e=e: (method, GradientDescent(steps=e, stepsize=p)), steps) for e in local)
    yield lambda p: (FedProx(mu=p), None), weights
    yield lambda p: (FedDyn(alpha=p), None), weights
    yield lambda p: (FedSplit(stepsize=1 / p), None), weights
    yield from ((lambda p, e=e: (Scaffold(stepsize=p, local_steps=e), None), steps) for e in LOCAL_STEPS)


def _fitted(declared: DeclaredMethod, make: Make, grid: np.ndarray) -> str | None:
    """The family's member with the first recorded number, if it has all others, too."""
    from scipy.optimize import brentq

    series, first = declared.series, float(declared.series.values[0])
    wanted = _logarithms(series.values, first)
    allowed = EXACT * (1 + np.abs(wanted - log(first))) + series.resolution / np.maximum(series.values, 1e-300)

    def off(p: float, recorded: int) -> np.ndarray:
        """The differences to the first so many recorded logarithms after the start."""
        try:
            method, solver = make(p)
            values = _at(series, replace(declared.run, solver=solver), method, int(series.places[recorded]))
        except FedconvexError:
            return np.full(recorded, np.nan)
        difference: np.ndarray = _logarithms(values, first)[1:] - wanted[1 : recorded + 1]
        return difference

    def gives(p: float, recorded: int) -> bool:
        return bool((np.abs(off(p, recorded)) <= allowed[1 : recorded + 1]).all())

    signs = [float(off(p, 1)[0]) for p in grid]
    for low, high, before, after in zip(grid, grid[1:], signs, signs[1:], strict=False):
        if not (isfinite(before) and isfinite(after) and before * after <= 0):
            continue
        fitted = float(brentq(lambda p: float(off(p, 1)[0]), low, high, xtol=1e-300, rtol=1e-13))
        if not gives(fitted, FIRST) or not gives(fitted, len(wanted) - 1):
            continue
        p = float(significant(fitted, 6, Rounding.NEAREST))
        method, solver = make(p)
        steps = f" with {solver.steps} gradient steps of size {p:g}" if isinstance(solver, GradientDescent) else ""
        return describe(method) + steps
    return None


def _at(series: RunSeries, run: PlayedRun, method: Method, longest: int) -> np.ndarray:
    """The numbers after the recorded rounds up to `longest`; those after a divergence are infinite."""
    places = series.places[series.places <= longest]
    values = run.values(method, int(places[-1]))
    values += [inf] * (int(places[-1]) + 1 - len(values))
    found: np.ndarray = np.nan_to_num(np.array(values)[places], nan=inf)
    return found


def _logarithms(values: np.ndarray, first: float) -> np.ndarray:
    return np.asarray(np.log(np.clip(values, LEAST * first, MOST * first)))
