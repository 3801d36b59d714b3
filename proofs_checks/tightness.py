"""How tight a bound is: the quotient of the two sides on the worst instance that is known, computed exactly.

The two sides are read off the statement's claim wherever the instance is a federation (`of_claim`).
This proves nothing about all instances: it is evidence for how much of a bound is used (`Tightness`).
"""

from collections.abc import Callable
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
