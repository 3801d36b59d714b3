"""FedDyn's federations without convexity, drawn at random; shared by the tests of both algorithms."""

from fractions import Fraction
from random import Random
from typing import Any


def drawn(number: int, smallest: int) -> Any:
    """Curvatures of both signs with a positive mean, α at least `smallest` L m/P."""
    random = Random(number)
    m = random.randint(1, 3)
    P = random.randint(1, m)
    a = [Fraction(random.choice([-3, -2, -1, 1, 2, 3]), 2) for _ in range(m)]
    while sum(a) <= 0:
        a[random.randrange(m)] += 2
    a = [x if x else Fraction(1, 3) for x in a]
    c = tuple(Fraction(random.randint(-6, 6), 2) for _ in range(m))
    alpha = smallest * max(map(abs, a)) * Fraction(m, P) * Fraction(random.randint(10, 15), 10)
    return tuple(a), c, alpha, P, Fraction(random.randint(-4, 4)), random.randint(1, 2)
