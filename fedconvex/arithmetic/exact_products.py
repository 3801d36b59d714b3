"""Products of a float64 matrix with balls, by exact products of integers of few bits in floats (Ozaki's splitting).

A float matrix is a sum of integer matrices times powers of two, Σ_s 2^(e − βs) A_s with |A_s| ≤ 2^β, and the balls'
midpoints are integers times a power of two, cut into digits of β bits. With β small enough, every partial sum of a
product of two such parts is an integer below 2^53: BLAS computes it exactly, in whatever order, and as fast as any
product of floats. The balls' radii are multiplied by |A| and rounded up.

The integers have as many bits as the precision, and as many more as A's entries differ in size: the largest entries
times the bits left out are then as small as what the precision leaves of the smallest.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import Array

EXACT_BITS = 53  # integers up to 2^53 are floats
MOST_PARTS = 8  # of a matrix
MOST_SPREAD = 64  # bits by which the entries that are not 0 may differ in size
RANGE = 400  # exponents of entries; far from the limits of floats, where scaling by powers of two loses digits
TINY = 1e-290  # more than all products that underflow can add to a sum


@final
@dataclass(frozen=True, eq=False)
class SplitMatrix:
    """The matrix Σ_s 2^(exponent − bits·s) parts_s, exactly; the parts are integers of size at most 2^bits."""

    parts: tuple[np.ndarray, ...]
    exponent: int
    bits: int
    spread: int  # bits between the sizes of the largest and the smallest entry that is not 0
    absolute: np.ndarray  # |A|

    @staticmethod
    def of(A: np.ndarray) -> "SplitMatrix | None":
        """The parts of A; None where it is no matrix of floats, or its entries differ too much in size."""
        if A.dtype != np.float64 or not A.size or not np.isfinite(A).all():
            return None
        absolute = abs(A)
        largest = float(absolute.max()) or 1.0
        exponent = math.frexp(largest)[1]
        lowest = math.frexp(float(absolute.min(where=absolute > 0, initial=largest)))[1]
        if max(abs(exponent), abs(lowest)) > RANGE or exponent - lowest > MOST_SPREAD:
            return None
        bits = (EXACT_BITS - max(A.shape).bit_length() - MOST_PARTS.bit_length()) // 2
        parts: list[np.ndarray] = []
        rest = np.ldexp(A, bits - exponent)  # |rest| ≤ 2^bits
        while len(parts) < MOST_PARTS:
            part = np.rint(rest)
            parts.append(part)
            rest = np.ldexp(rest - part, bits)  # exact: the fractional part of a float is one
            if not rest.any():
                return SplitMatrix(tuple(parts), exponent - bits, bits, exponent - lowest, absolute)
        return None

    @cached_property
    def T(self) -> "SplitMatrix":
        """The transposed matrix."""
        parts = tuple(part.T for part in self.parts)
        return SplitMatrix(parts, self.exponent, self.bits, self.spread, self.absolute.T)

    def times(self, V: Array) -> Array | None:
        """Balls that contain A V for balls V (p, C), at the working precision; None where floats are too short."""
        precision = flint.ctx.prec + self.spread
        fixed = _fixed(V, precision) if precision <= 2 * RANGE else None
        if fixed is None:
            return None
        numbers, scale, radii = fixed
        digits = _digits(numbers, self.bits, precision)
        side_by_side = np.concatenate(digits, axis=1)  # (p, C · digits): one product for all of them
        levels = [np.zeros((len(self.absolute), V.shape[1])) for _ in range(len(self.parts) + len(digits) - 1)]
        with arithmetics.get("float").context():
            for s, part in enumerate(self.parts):
                for t, product in enumerate(np.split(part @ side_by_side, len(digits), axis=1)):
                    levels[s + t] += product
            # sums of floats ≥ 0 are too small by at most a factor 1 − n·eps
            grown = (self.absolute @ radii) * (1 + 4 * (len(radii) + 1) * np.finfo(float).eps) + TINY * radii.any()
        total: Array = levels[0].astype(np.int64).astype(object)
        for level in levels[1:]:
            total = (total << self.bits) + level.astype(np.int64).astype(object)
        # the last level counts units of 2^(exponent − bits·(parts − 1)) · 2^scale
        unit = self.exponent - self.bits * (len(self.parts) - 1) + scale
        result = np.empty(total.size, dtype=object)
        balls = zip(total.ravel().tolist(), grown.ravel().tolist(), strict=True)
        result[:] = [flint.arb((m, unit), radius) for m, radius in balls]
        return result.reshape(total.shape)


def _fixed(V: Array, precision: int) -> tuple[Array, int, np.ndarray] | None:
    """Integers Q of `precision` bits, an exponent and radii (floats) with V ∈ Q · 2^exponent ± radii.

    None for numbers too large for floats, and for balls that are not finite.
    """
    middles, radii = [], []
    for ball in V.ravel().tolist():
        if not ball.is_finite():
            return None
        mantissa, power = ball.mid().man_exp()
        middles.append((int(mantissa), int(power)))
        radius = float(ball.rad())
        if radius > 2.0**RANGE:
            return None
        radii.append(0.0 if ball.is_exact() else math.nextafter(radius, math.inf))
    top = max((m.bit_length() + e for m, e in middles if m), default=0)
    if abs(top) > RANGE:
        return None
    exponent = top - precision
    numbers = np.empty(len(middles), dtype=object)
    for i, (m, e) in enumerate(middles):
        shift = e - exponent
        if shift >= 0 or not m:
            numbers[i] = m << max(shift, 0)
        else:  # bits below the last one, which the precision leaves out
            numbers[i] = m >> -shift
            radii[i] = math.nextafter(radii[i] + 2.0**exponent, math.inf)
    return numbers.reshape(V.shape), exponent, np.array(radii).reshape(V.shape)


def _digits(numbers: Array, bits: int, precision: int) -> list[np.ndarray]:
    """The integers in base 2^bits, as floats, the highest digit first; that one is negative for negative integers."""
    count = -(-(precision + 1) // bits)
    mask = (1 << bits) - 1
    lower = [(numbers >> (bits * t)) & mask for t in range(count - 1)]
    return [digit.astype(np.float64) for digit in reversed([*lower, numbers >> (bits * (count - 1))])]
