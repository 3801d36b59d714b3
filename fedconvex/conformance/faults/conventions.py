"""Conventions: parameters and loss functions defined otherwise than in the paper, and how to convert them."""

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import Scalar, nearest_float, to_fmpq
from fedconvex.conformance.faults.base import LOCAL_FUNCTION, PARAMETERS, Rule
from fedconvex.conformance.faults.building_blocks import always, scaled, with_parameters, with_solver
from fedconvex.conformance.setup import Setup

SUBSTITUTES: tuple[tuple[str, Callable[[Scalar], Scalar], str], ...] = (
    ("2·{0}", lambda value: 2 * value, "give it {0}/2, or change its formula"),
    ("{0}/2", lambda value: value / 2, "give it 2·{0}, or change its formula"),
    ("1/{0}", lambda value: 1 / value, "give it 1/{0}, or change its formula"),
)
PARAMETERS_OF = ("mu", "alpha", "rho", "eta", "stepsize", "server_stepsize", "regularization")
# how the loss is described, its factor, and the power of the number of samples that multiplies it
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


def shown(value: Scalar) -> str:
    """A parameter of the method, as messages have it."""
    return f"{nearest_float(value):.6g}"


def has(name: str) -> Callable[[Setup], bool]:
    """Whether the method has this parameter, in use and not 0."""

    def applies(setup: Setup) -> bool:
        exists = any(f.name == name for f in fields(setup.method))  # type: ignore[arg-type]
        # with a local solver of its own, a method without a proximal term reads no stepsize
        unused = name == "stepsize" and setup.given is not None and setup.method.proximal_weight == 0
        return exists and not unused and getattr(setup.method, name) not in (None, 0)

    return applies


def with_local_stepsize(change: Callable[[Scalar], Scalar]) -> Callable[[Setup], Setup]:
    """The setup with `change` applied to the stepsize of the local solver that the user passed."""
    return with_solver(lambda solver: replace(solver, stepsize=change(solver.stepsize)))


def with_given_steps(setup: Setup) -> bool:
    """Whether the user passed a local solver that takes steps."""
    return setup.given is not None and setup.path_length is not None


def changes_parameter(name: str, change: Callable[[Scalar], Scalar]) -> Callable[[Setup], bool]:
    """Whether the method has this parameter, and the change changes it."""
    return lambda setup: has(name)(setup) and change(getattr(setup.method, name)) != getattr(setup.method, name)


STATED = Rule(PARAMETERS, always)
LOSS = Rule(
    LOCAL_FUNCTION,
    always,
    "the clients' loss is another one: choose check's loss= (sums or means over samples, halved or not)",
)
NUMBER: dict[str, Any] = {"starts": (0.1, 1.0, 10.0), "neutral": float("nan"), "convention": True}

FAMILIES = (
    *(
        STATED.broken_by(
            f"{name} is {{}} instead of {{}}",
            f"pass the stated {name} on to where it is used",
            where=has(name),
            changes=lambda number, name=name: {"parameters": with_parameters(**{name: to_fmpq(number)})},
            given=lambda setup, name=name: shown(getattr(setup.method, name)),
            **NUMBER,
        )
        for name in PARAMETERS_OF
    ),
    STATED.broken_by(
        "the local stepsize is {} instead of {}",
        "pass the stated stepsize on to where it is used",
        where=with_given_steps,
        changes=lambda number: {"parameters": with_local_stepsize(lambda value: to_fmpq(number))},
        given=lambda setup: shown(setup.solver.stepsize),
        **NUMBER,
    ),
    LOSS.broken_by(
        "the clients' functions are multiplied by {}",
        changes=lambda number: {"scale": scaled(number)},
        starts=(1.5, 0.7, 0.1, 10.0),
        neutral=1.0,
        convention=True,
    ),
)

FAULTS = (
    # a loss without its ½ is more common than a stepsize other than the one stated, which can be the same numbers
    *(
        LOSS.broken(f"the clients' functions are {how}", scale=scaled(factor, power), convention=True)
        for how, factor, power in LOSSES
    ),
    *(
        STATED.broken(
            f"it agrees with {name} replaced by {how.format(name)}",
            f"the implementation's {name} is another one than the method's: {cure.format(name)}",
            where=changes_parameter(name, change),
            parameters=with_parameters(**{name: change}),
            convention=True,
        )
        for name in PARAMETERS_OF
        for how, change, cure in SUBSTITUTES
    ),
    *(
        STATED.broken(
            f"it agrees with the local stepsize replaced by {how.format('stepsize')}",
            f"the implementation's stepsize is another one: {cure.format('stepsize')}",
            where=with_given_steps,
            parameters=with_local_stepsize(change),
            convention=True,
        )
        for how, change, cure in SUBSTITUTES
    ),
)
