"""Parameters and functions that are taken otherwise than in the paper: how to map one to the other."""

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.moves import always, scaled
from fedconvex.conformance.faults.properties import LOCAL_FUNCTION, PARAMETERS
from fedconvex.conformance.setup import Setup
from fedconvex.rationals import Scalar

TIMES: tuple[tuple[str, Callable[[Scalar], Scalar], str], ...] = (
    ("2·{0}", lambda value: 2 * value, "give it {0}/2, or change its formula"),
    ("{0}/2", lambda value: value / 2, "give it 2·{0}, or change its formula"),
    ("1/{0}", lambda value: 1 / value, "give it 1/{0}, or change its formula"),
)
PARAMETERS_OF = ("mu", "alpha", "eta", "stepsize", "server_stepsize", "regularization")
LOSSES: tuple[tuple[str, Fraction, int], ...] = (
    ("twice as large", Fraction(2), 0),
    ("half as large", Fraction(1, 2), 0),
    ("divided by the number of samples", Fraction(1), -1),
    ("multiplied by the number of samples", Fraction(1), 1),
    ("divided by half the number of samples", Fraction(2), -1),
    ("multiplied by half the number of samples", Fraction(1, 2), 1),
    ("multiplied by twice the number of samples", Fraction(2), 1),
    ("divided by twice the number of samples", Fraction(1, 2), -1),
)


def has(name: str) -> Callable[[Setup], bool]:
    """The method has that parameter, which is not 0, or its local solver has."""

    def applies(setup: Setup) -> bool:
        return any(f.name == name and getattr(part, name) != 0 for part in _parts(setup) for f in fields(part))

    return applies


def with_parameter(name: str, change: Callable[[Scalar], Scalar]) -> Callable[[Setup], Setup]:
    """That parameter changed, in the method or else in its local solver."""

    def changed(setup: Setup) -> Setup:
        def new(part: Any) -> Any:
            return replace(part, **{name: change(getattr(part, name))})

        if any(f.name == name for f in fields(setup.method)):  # type: ignore[arg-type]
            return Setup(new(setup.method), setup.given)
        return Setup(setup.method, new(setup.given))

    return changed


def _parts(setup: Setup) -> list[Any]:
    return [setup.method] if setup.given is None else [setup.method, setup.given]


FAULTS = (
    *(
        Fault(
            name=f"it agrees with {name} replaced by {how.format(name)}",
            cure=f"the implementation's {name} is another one than the method's: {cure.format(name)}",
            breaks=PARAMETERS,
            applies=has(name),
            parameters=with_parameter(name, change),
            convention=True,
        )
        for name in PARAMETERS_OF
        for how, change, cure in TIMES
    ),
    *(
        Fault(
            name=f"the clients' functions are {how}",
            cure="the clients' loss is another one: choose check's loss= (sums or means over samples, halved or not)",
            breaks=LOCAL_FUNCTION,
            applies=always,
            scale=scaled(factor, power),
            convention=True,
        )
        for how, factor, power in LOSSES
    ),
)
