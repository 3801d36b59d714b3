"""A search for instances on which a bound is tight, or that refute it; and how they are made simple."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

from fedconvex.proofs_checks.tightness import Measure


def search(
    measure: Measure, draw: Callable[[Random], Any], change: Callable[[Random, Any], Any], seed: int = 0,
    starts: int = 200, steps: int = 2000,
) -> tuple[Any, Any]:  # fmt: skip
    """The worst instance that random starts and small changes find, and its quotient: (instance, quotient).

    Use it to find the instance of a `Tightness`. `draw` makes a random instance, `change` a neighbour; the result is
    determined by `seed`. A quotient above 1 refutes the bound: simplify the instance (`shrunk`) and make it a witness.
    """
    random = Random(seed)
    best, reached = None, Fraction(-1)
    for number in range(starts + steps):
        if number >= starts and best is None:
            break
        instance = draw(random) if number < starts else change(random, best)
        found = measure(instance)
        if found is not None and found[1] > 0 and found[0] / found[1] > reached:
            best, reached = instance, found[0] / found[1]
    return best, reached


def counterexample(
    measure: Measure, draw: Callable[[Random], Any], change: Callable[[Random, Any], Any], seed: int = 0,
    starts: int = 200, steps: int = 2000,
) -> Any:  # fmt: skip
    """An instance that violates the bound, made as simple as possible; None where the search finds none."""
    instance, quotient = search(measure, draw, change, seed, starts, steps)
    return None if instance is None or quotient <= 1 else shrunk(lambda other: _breaks(measure, other), instance)


def shrunk(breaks: Callable[[Any], bool], instance: Any) -> Any:
    """The instance with numbers replaced by simpler ones, one at a time, as long as it still violates the bound."""
    simpler = True
    while simpler:
        simpler = False
        for candidate in _simpler(instance):
            if breaks(candidate):
                instance, simpler = candidate, True
                break
    return instance


def _breaks(measure: Measure, instance: Any) -> bool:
    try:
        found = measure(instance)
    except (ArithmeticError, ValueError):  # no instance at all
        return False
    return found is not None and bool(found[1] > 0 and found[0] > found[1])


def _simpler(instance: Any) -> Iterator[Any]:
    """The same literal with one number replaced by a simpler one: nearer to 0, with a smaller denominator."""
    if isinstance(instance, tuple):
        for place, part in enumerate(instance):
            for other in _simpler(part):
                yield (*instance[:place], other, *instance[place + 1 :])
    elif isinstance(instance, int | Fraction) and not isinstance(instance, bool):
        size = _size(instance)
        halves = (instance // 2, -(-instance // 2)) if instance >= 0 else (-(-instance // 2), instance // 2)
        rounded = Fraction(instance).limit_denominator(max(1, Fraction(instance).denominator // 2))
        for other in (0, 1, -1, *halves, rounded):
            if _size(other) < size:
                yield int(other) if Fraction(other).denominator == 1 else other


def _size(number: Any) -> tuple[int, int, bool]:
    fraction = Fraction(number)
    return fraction.denominator, abs(fraction.numerator), fraction < 0
