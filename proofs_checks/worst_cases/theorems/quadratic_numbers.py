"""Numbers u + v√D with rational u, v and D >= 0, whose signs are decided exactly."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod
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

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> "QuadraticNumber":
        return prod([self] * exponent, start=self._of(1))

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


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)
