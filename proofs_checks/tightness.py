"""How tight a bound is: the quotient of the two sides on the worst instance that is known, computed exactly.

The two sides are read off the statement's claim wherever the instance is a federation (`of_claim`).
This proves nothing about all instances: it is evidence for how much of a bound is used (`Tightness`), and a search for
such instances, or for ones that refute the bound (`search`, `counterexample`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any, final

from flint import arb

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.claims.on_runs.claim_on import sides_on
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import Number
from fedconvex.errors import InvalidInput
from fedconvex.statements.statement import Statement

Measure = Callable[[Any], "tuple[Any, Any] | None"]
"""A function from an instance to (what happens, what is promised), or None where the instance is not admissible.

Both are positive, exact numbers or flint balls. For an upper bound left ≤ right with left ≥ 0 this is (left, right).
For a promised decrease it is (promised decrease, decrease), so that here, too, the quotient is at most 1.
"""


def of_claim(
    statement: Statement, federation: Callable[[Any], ExactFederation | None], added: Number | None = None
) -> Measure:
    """The ratio that the statement's claim bounds by 1, where it is largest in the rounds of the instance's federation.

    V⁺ ≤ V − gain bounds the gain by V − V⁺, as in `looseness`. With `added`, a term that is added to both sides as they
    are written, so that they are positive.
    """

    def measure(instance: Any) -> tuple[Any, Any] | None:
        from fedconvex.proofs_checks.worst_cases.looseness.sums import ratio_of

        made, claim = federation(instance), statement.claim
        if made is None or claim is None:
            return None
        if added is None:
            left, right = ratio_of(claim, made.parameters).terms
        else:
            left, right = claim.left + added, claim.right + added
        found = [(side.left, side.right) for side in sides_on(replace(claim, left=left, right=right), made)]
        # A ball divides fmpq, not Fraction.
        sides = [(to_fmpq(x) if isinstance(y, arb) else x, y) for x, y in found]
        return max((s for s in sides if s[1] > 0), key=lambda s: s[0] / s[1], default=None)

    return measure


@final
@dataclass(frozen=True)
class Tightness:
    """The largest known quotient, recomputed from its instance on every access.

    `how` describes the instance. `attained` says that the quotient 1 is reached, or approached along the family of
    instances that `how` describes.
    """

    measure: Measure
    instance: Any  # literals: integers, Fractions, tuples of them
    how: str = ""
    attained: bool = False

    @property
    def quotient(self) -> Any:
        """What happens / what is promised, at most 1 where the bound holds."""
        found: Any = self.measure(self.instance)
        if found is None:
            raise InvalidInput("instance", self.instance, "is not admissible", "give one that meets the assumptions")
        happens, promised = found
        if not promised > 0:
            raise InvalidInput(
                "instance", self.instance, "has a bound that guarantees nothing", "give one with a positive bound"
            )
        return happens / promised


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


def neighbours(tightness: Tightness, tries: int, seed: int = 0) -> list[tuple[float, float]]:
    """(promised, happens) on instances near the worst one, those of so many that are admissible; for pictures."""
    random = Random(seed)
    found: list[tuple[float, float]] = []
    for _ in range(tries):
        try:
            measured = tightness.measure(perturbed(random, tightness.instance))
        except Exception:  # the neighbour is no valid instance: leave it out of the picture
            continue
        if measured is not None:
            happens, promised = map(float, measured)
            if happens > 0 and promised > 0:
                found.append((promised, happens))
    return found


def perturbed(random: Random, instance: Any) -> Any:
    """The same literal with one of its numbers changed a little."""
    if isinstance(instance, tuple):
        if not instance:
            return instance
        place = random.randrange(len(instance))
        return (*instance[:place], perturbed(random, instance[place]), *instance[place + 1 :])
    if isinstance(instance, int) and not isinstance(instance, bool):
        return instance + random.choice((-1, 1, max(1, abs(instance) // 4)))
    if isinstance(instance, Fraction):
        return instance * random.choice((Fraction(3, 4), Fraction(7, 8), Fraction(9, 8), Fraction(5, 4)))
    return instance
