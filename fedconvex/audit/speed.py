"""Asymptotic contraction factors: predicted by the derivative of one round, and measured on a run."""

from typing import Literal

import numpy as np

from fedconvex.arithmetic.rationals import float_array
from fedconvex.fixed_points import FixedPoint
from fedconvex.fixed_points.convergence_rates import slowest
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.fixed_points.result import SameFixedPoints
from fedconvex.fixed_points.smooth_clients import SmoothFixedPoints
from fedconvex.methods.base import State
from fedconvex.problems.composite import without_term
from fedconvex.runs.rounds import rounds_of

Place = Literal["fixed point", "last round"]


def predicted_contraction(stop: FixedPoint, last: State, settled: bool) -> tuple[float | None, Place | None]:
    """The spectral radius of one round's derivative (NUMERIC), and the state at which it was computed.

    That is the fixed point, the clients' memory included, if it is known, else the last state of the run. Directions in
    which no round moves (if there are many minimisers) do not count: they do not slow a run down. None for methods that
    are not linear in their state.

    Args:
        last: the last state of a run.
        settled: whether that run has converged to the fixed point.
    """
    place: Place = "fixed point"
    if isinstance(stop.analysis, SameFixedPoints) or stop.method.skip != 0:
        return None, None  # the rounds' rate depends on the path that led there
    space = stop.analysis.row_space if isinstance(stop.analysis, QuadraticFixedPoints) else None
    if space is not None:  # outside the span of the samples no round moves anything
        rounds = rounds_of(stop.method, space.problem)
        with rounds.arithmetic.context():
            state = rounds.start(space.coordinates(float_array(stop.point)))
        return slowest(rounds, state).value, place
    rounds = rounds_of(stop.method, without_term(stop.problem))
    if stop.method.is_stateless or not isinstance(stop.analysis, SmoothFixedPoints):
        with rounds.arithmetic.context():
            state = rounds.start(float_array(stop.point))  # on quadratics the derivative is the same everywhere
    elif settled:
        state = last
    else:
        known = stop.analysis.state
        state, place = (last, "last round") if known is None else (known, "fixed point")
    if not np.isfinite(state.flat()).all():
        return None, None
    return slowest(rounds, state).value, place


def measured_contraction(distances: np.ndarray) -> float | None:
    """The factor per round: exp of the slope of log distance, fitted to the later half of the rounds above rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        usable = np.flatnonzero(np.isfinite(distances) & (distances > 1e-9 * distances[0]))
    last = int(usable[-1]) if len(usable) else 0
    rounds = np.arange(last // 2, last + 1)
    if len(rounds) < 4 or not np.isfinite(distances[rounds]).all() or (distances[rounds] <= 0).any():
        return None
    return float(np.exp(np.polyfit(rounds, np.log(distances[rounds]), 1)[0]))
