"""Numbers u + v√D with rational u, v and D >= 0, whose signs are decided exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, final

DIGITS = 10**18  # of a bound on a root


@final
@dataclass(frozen=True)
class QuadraticNumber:
    """u + v√D."""

    u: Fraction
    v: Fraction
    D: Fraction

    def __add__(self, other: Any) -> "QuadraticNumber":
        other = self._of(other)
        return QuadraticNumber(self.u + other.u, self.v + other.v, self.D)

    def __mul__(self, other: Any) -> "QuadraticNumber":
        other = self._of(other)
        return QuadraticNumber(
            self.u * other.u + self.v * other.v * self.D, self.u * other.v + self.v * other.u, self.D
        )

    @property
    def sign(self) -> int:
        """−1, 0 or 1."""
        of_u, of_v = _sign(self.u), _sign(self.v * self.D)
        if of_u * of_v >= 0:
            return of_u or of_v
        return of_u * _sign(self.u**2 - self.v**2 * self.D)

    @property
    def above(self) -> Fraction:
        """A rational number that is not smaller, by at most |v|·10⁻¹⁸·max(1, √D)."""
        scaled = isqrt(self.D.numerator * self.D.denominator * DIGITS**2)
        low = Fraction(scaled, self.D.denominator * DIGITS)
        is_exact = low**2 == self.D
        high = low if is_exact else Fraction(scaled + 1, self.D.denominator * DIGITS)
        return self.u + self.v * (high if self.v > 0 else low)

    def _of(self, x: Any) -> "QuadraticNumber":
        return x if isinstance(x, QuadraticNumber) else QuadraticNumber(Fraction(x), Fraction(0), self.D)


def evaluated(polynomial: Any, point: Sequence[QuadraticNumber]) -> QuadraticNumber:
    """The value of an element of a SymPy ring over the rationals."""
    D = point[0].D
    total = QuadraticNumber(Fraction(0), Fraction(0), D)
    for powers, c in polynomial.terms():
        term = QuadraticNumber(Fraction(int(c.numerator), int(c.denominator)), Fraction(0), D)
        for x, n in zip(point, powers, strict=True):
            for _ in range(n):
                term = term * x
        total = total + term
    return total


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)
