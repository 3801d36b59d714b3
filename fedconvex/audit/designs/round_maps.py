"""One round on the quadratic model as a matrix: the fixed state, and the first round whose suboptimality is small.

The method's own code maps all unit vectors of the state at once. Powers of the matrix then tell how many rounds a
tolerance takes, from the very start of the run: no rate has to stand for the transient.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, log

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State

FORMED = 700  # numbers in a state up to which the matrix of a round is formed
SINGLE = 300  # rounds that are looked at one by one; later ones by powers of the matrix, where the slow modes are left
BLOCK = 32  # of them between two looks
DIVERGED = 1e12  # a multiple of the first gap that no convergent run reaches
SQUARINGS = 21  # of the matrix, to see the late rounds
LOST = -25.0  # a change this much smaller than the first, in logarithms, is rounding
LATE = 60  # rounds, where the matrix is not formed
DRAWN = 2000  # rounds, where clients are drawn
SEEDS = (1, 2, 3)
MOST = 1 << 24  # rounds that are looked ahead


@dataclass(frozen=True)
class ReachedTarget:
    """When the suboptimality falls to a target: after `rounds` (interpolated; inf if never), and the last gap seen."""

    rounds: float
    gap: float


@dataclass(frozen=True, eq=False)
class RoundMap:
    """The affine round s ↦ Ms + q of a method on the model, in coordinates with the minimiser at 0."""

    model: QuadraticModel
    method: Method
    solver: LocalSolver | None = None

    @cached_property
    def first(self) -> State:
        """The state before the first round."""
        return self.model.rounds(self.method, self.solver, np.ones(1)).start(self.model.start)

    @property
    def size(self) -> int:
        """How many numbers the state has."""
        return len(self.first.flat())

    @cached_property
    def augmented(self) -> np.ndarray:
        """[[M, q], [0, 1]]."""
        size = self.size
        columns = np.eye(size, size + 1)  # the unit vectors, then the state 0
        driven = np.append(np.zeros(size), 1.0)
        rounds = self.model.rounds(self.method, self.solver, driven)
        begun = 0

        def part(like: np.ndarray) -> np.ndarray:
            nonlocal begun
            begun += like.size
            return columns[begun - like.size : begun].reshape(*like.shape[:-1], -1)

        with rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            image = rounds.advance(self.first.mapped(part))
        stacked = image.flat().reshape(size, size + 1)
        return np.vstack([stacked, np.append(np.zeros(size), 1.0)])

    def reached(self, target: float, limit: int = MOST) -> ReachedTarget:
        """The first round with a gap <= target, if it is at most `limit`."""
        with arithmetics.get("float").context(), np.errstate(over="ignore", invalid="ignore"):
            if self.size > FORMED:
                return self._by_rounds(target, limit)
            return self._by_matrix(target, limit) if np.isfinite(self.augmented).all() else ReachedTarget(inf, inf)

    def _by_matrix(self, target: float, limit: int) -> ReachedTarget:
        A, d = self.augmented, len(self.model.start)

        def gap(v: np.ndarray) -> float:
            return self.model.gap(v[:d])

        t, last = 0, min(limit, SINGLE)
        v = np.append(self.first.flat(), 1.0)
        first = before = gap(v)
        while t < last:
            states = np.empty((min(BLOCK, last - t), len(v)))
            for i in range(len(states)):
                v = states[i] = A @ v
            gaps = np.append(before, self.model.gaps(states[:, :d]))
            if (hit := np.flatnonzero(gaps[1:] <= target)).size:
                i = int(hit[0])
                return ReachedTarget(t + i + fraction(gaps[i], gaps[i + 1], target), float(gaps[i + 1]))
            if not gaps[-1] < DIVERGED * first:
                return ReachedTarget(inf, inf)
            t, before = t + len(states), float(gaps[-1])
        powers = [A]  # A^(2^j)
        while t + 2 ** (len(powers) - 1) <= limit and not gap(powers[-1] @ v) <= target:
            powers.append(powers[-1] @ powers[-1])
            if not np.isfinite(powers[-1]).all():
                return ReachedTarget(inf, inf)
        for j in reversed(range(len(powers))):  # the last round before the target is reached
            if t + 2**j <= limit and not gap(following := powers[j] @ v) <= target:
                v, t = following, t + 2**j
        if t == limit:
            return ReachedTarget(inf, gap(v))
        after = gap(A @ v)
        return ReachedTarget(t + fraction(gap(v), after, target), after)

    def _by_rounds(self, target: float, limit: int) -> ReachedTarget:
        rounds, state = self.model.rounds(self.method, self.solver, np.ones(1)), self.first
        now = first = self.model.gap(state.server)
        for t in range(limit):
            state = rounds.advance(state)
            before, now = now, self.model.gap(state.server)
            if now <= target:
                return ReachedTarget(t + fraction(before, now, target), now)
            if not now < DIVERGED * first:
                return ReachedTarget(inf, inf)
        return ReachedTarget(inf, now)

    @cached_property
    def contraction(self) -> float:
        """The factor per round of what the start excites, late in the run: below 1 if the rounds converge (NUMERIC)."""
        with arithmetics.get("float").context(), np.errstate(over="ignore", invalid="ignore"):
            if self.size > FORMED:
                return self._late_factor_by_rounds()
            A = self.augmented
            if not np.isfinite(A).all():
                return inf
            s = self.first.flat()
            power, scale = A[:-1, :-1], 0.0  # M^(2^j) is e^scale · power
            change = power @ s + A[:-1, -1] - s  # differences of states: without the fixed and the conserved parts
            lengths = []
            for _ in range(SQUARINGS):
                lengths.append(_log_length(power @ change) + scale)
                power, scale = power @ power, 2 * scale
                largest = float(abs(power).max())
                if not 0 < largest < inf:
                    return 0.0 if largest == 0 else inf
                power, scale = power / largest, scale + log(largest)
            # further on, rounding errors of conserved quantities would be all that is left of the change
            last = max(1, sum(length > lengths[0] + LOST for length in lengths) - 1)
            return float(np.exp((lengths[last] - lengths[last - 1]) / 2 ** (last - 1)))

    def _late_factor_by_rounds(self) -> float:
        rounds, state = self.model.rounds(self.method, self.solver, np.ones(1)), self.first
        lengths = []
        for _ in range(LATE):
            following = rounds.advance(state)
            lengths.append(_log_length(following.flat() - state.flat()))
            state = following
        return float(np.exp((lengths[-1] - lengths[LATE // 2]) / (LATE - 1 - LATE // 2)))

    @cached_property
    def floor(self) -> float:
        """The error floor: the gap at the fixed point, for methods without memory; inf where none is found."""
        d = len(self.model.start)
        A = self.augmented
        try:
            with arithmetics.get("float").context():
                return self.model.gap(np.linalg.solve(np.eye(d) - A[:d, :d], A[:d, -1]))
        except np.linalg.LinAlgError:
            return inf


def _log_length(v: np.ndarray) -> float:
    """log ‖v‖; of 0 that of the least float."""
    return float(np.log(max(float(np.linalg.norm(v)), 1e-300)))


def fraction(before: float, after: float, target: float) -> float:
    """Where between two rounds the gap crosses the target, in logarithms."""
    if after <= 0 or before <= after:
        return 1.0
    return min(1.0, max(0.0, log(before / target) / log(before / after)))
