"""What pickles and copies of problems and results contain: their data, and flint's numbers without a bit lost."""

import copyreg
import sys
from functools import cached_property
from typing import Any

RADIUS_BITS = 30  # of the mantissa of a ball's radius


def without_caches(instance: Any) -> dict[str, Any]:
    """The attributes of an object for its pickle, without its cached properties, which may hold functions."""
    cached = {name for kind in type(instance).__mro__ for name, v in vars(kind).items() if type(v) is cached_property}
    return {name: value for name, value in vars(instance).items() if name not in cached}


def register_flint() -> None:
    """Lets `pickle` and `copy` treat flint's numbers, which have no such support of their own, if flint is loaded."""
    flint = sys.modules.get("flint")
    if flint is not None:
        copyreg.pickle(flint.arb, _parts_of_ball)
        copyreg.pickle(flint.fmpq, lambda number: (_rational, (int(number.p), int(number.q))))
        copyreg.pickle(flint.fmpz, lambda number: (_integer, (int(number),)))


def _parts_of_ball(ball: Any) -> tuple[Any, tuple[Any, Any]]:
    return _ball, (_part(ball.mid()), _part(ball.rad()))


def _part(exact: Any) -> tuple[int, int] | str:
    """Mantissa and exponent; in words what is not finite."""
    if exact.is_finite():
        mantissa, exponent = exact.man_exp()
        return int(mantissa), int(exponent)
    return "nan" if exact.is_nan() else "inf" if exact > 0 else "-inf"


def _ball(middle: tuple[int, int] | str, radius: tuple[int, int] | str) -> Any:
    import flint

    parts = []
    for part in (middle, radius):
        if isinstance(part, str):
            parts.append(flint.arb(part))
        else:
            with flint.ctx.workprec(max(part[0].bit_length(), 2)):
                parts.append(flint.arb(part[0]) * flint.arb(2) ** part[1])
    middle_ball, radius_ball = parts
    made = flint.arb(middle_ball, radius_ball)
    for bits in (RADIUS_BITS, RADIUS_BITS + 1):  # flint rounds a given radius upwards by one unit
        if isinstance(radius, tuple) and made.rad() != radius_ball:
            spare = max(bits - radius[0].bit_length(), 0)
            with flint.ctx.workprec(2 * RADIUS_BITS):
                less = flint.arb((radius[0] << spare) - 1) * flint.arb(2) ** (radius[1] - spare)
            closer = flint.arb(middle_ball, less)
            made = closer if closer.rad() == radius_ball else made
    return made


def _rational(numerator: int, denominator: int) -> Any:
    import flint

    return flint.fmpq(numerator, denominator)


def _integer(value: int) -> Any:
    import flint

    return flint.fmpz(value)
