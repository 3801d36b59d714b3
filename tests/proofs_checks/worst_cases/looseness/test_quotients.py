"""The looseness of FedDyn's lemmas, against one-dimensional states computed here in fractions."""

from collections.abc import Callable
from fractions import Fraction as F
from itertools import combinations
from random import Random
from typing import Any

import pytest
from scaled_statements import mean

from fedconvex.proofs_checks import looseness


class Line:
    """A state of FedDyn on a line: F_k = h_k x²/2 − c_k x, memories, and θ; everything by hand, in fractions."""

    def __init__(self, random: Random, alpha: F, lowest: F, one_gradient: bool) -> None:
        m = random.choice([1, 2, 3])
        self.m, self.alpha = m, alpha

        def number() -> F:
            return F(random.randint(-6, 6), random.randint(1, 3))

        self.h = [lowest + (1 - lowest) * F(random.randint(0, 6), 6) for _ in range(m)]
        c = [number() for _ in range(m)]
        self.c = [x - mean(c) for x in c] if lowest >= 0 else c  # then the minimiser is 0
        self.theta, self.memories = number(), [number() for _ in range(m)]
        self.average = self.theta + mean(self.memories) / alpha
        if one_gradient:
            self.new = self.slopes(self.theta)
            pairs = zip(self.memories, self.new, strict=True)
            self.virtual = [self.theta - (g - old) / alpha for old, g in pairs]
        else:
            rows = zip(self.h, self.c, self.memories, strict=True)
            self.virtual = [(alpha * self.theta + old + b) / (a + alpha) for a, b, old in rows]
            self.new = [a * x - b for a, b, x in zip(self.h, self.c, self.virtual, strict=True)]

    def slopes(self, x: F) -> list[F]:
        return [a * x - b for a, b in zip(self.h, self.c, strict=True)]

    def value(self, x: F) -> F:
        return mean(a * x * x / 2 - b * x for a, b in zip(self.h, self.c, strict=True))

    @property
    def epsilon(self) -> F:
        return mean((x - self.average) ** 2 for x in self.virtual)

    @property
    def error(self) -> F:
        """To the minimiser, where the gradients are −c."""
        return mean((g + b) ** 2 for g, b in zip(self.memories, self.c, strict=True))

    @property
    def gap(self) -> F:
        return self.value(self.average) - self.value(F(0))

    @property
    def gradient_square(self) -> F:
        return mean(self.slopes(self.average)) ** 2

    @property
    def models(self) -> list[F] | None:
        """Points whose gradients are the memories; None where a client has none."""
        if not all(self.h):
            return None
        return [(g + b) / a for a, b, g in zip(self.h, self.c, self.memories, strict=True)]

    @property
    def spread(self) -> F | None:
        return None if self.models is None else mean((x - self.average) ** 2 for x in self.models)

    def after_draws(self, active: int, what: Callable[[tuple[int, ...]], F]) -> F:
        return mean(what(drawn) for drawn in combinations(range(self.m), active))

    def averaged(self, drawn: tuple[int, ...]) -> F:
        return mean(self.virtual[k] for k in drawn)


def lemma4(line: Line) -> tuple[F, F] | None:
    a = line.alpha
    return (1 - 4 / a**2) * line.epsilon, 8 / a**2 * line.error + 8 / a**2 * line.gap


def lemma11(line: Line) -> tuple[F, F] | None:
    a, spread = line.alpha, line.spread
    if spread is None:
        return None
    return (1 - 4 / a**2) * line.epsilon, 8 / a**2 * spread + 4 / a**2 * line.gradient_square


def lemma14(line: Line) -> tuple[F, F] | None:
    a = line.alpha
    return line.epsilon, (8 / a**2 + 4 / a**4) * line.error + 8 / a**2 * line.gap


def lemma19(line: Line) -> tuple[F, F] | None:
    a, now = line.alpha, line.slopes(line.average)
    B = mean((g - x) ** 2 for g, x in zip(line.memories, now, strict=True))
    return line.epsilon, (4 / a**2 + 8 / a**4) * (B + line.gradient_square)


def lemma10(line: Line) -> tuple[F, F] | None:
    """For m = P: κ₀‖∇ℓ‖² against the decrease."""
    spread, a = line.spread, line.alpha
    if spread is None:
        return None
    m = P = F(line.m)
    z = a**2 * P**2 - 32 * m**2 + 16 * P * m - 20 * P**2
    kappa = 4 * P * (a + 1) / a * (2 * m - P) / z
    kappa0 = (a**2 * P**2 - 4 * a * P**2 - 32 * m**2 - 16 * P * m - 24 * P**2) / (2 * a * z)
    after = mean(line.virtual)
    left = mean((x - after) ** 2 for x in line.virtual)
    return kappa0 * line.gradient_square, line.value(line.average) + kappa * (spread - left) - line.value(after)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize(
    ("name", "alpha", "lowest", "one_gradient", "sides"),
    [
        ("lemma4", 4, 0, False, lemma4), ("lemma4", 25, 0, False, lemma4), ("lemma11", 4, -1, False, lemma11),
        ("lemma10", 25, -1, False, lemma10), ("lemma14", 4, 0, True, lemma14), ("lemma19", 4, -1, True, lemma19),
    ],
)  # fmt: skip
def test_no_state_uses_more_of_a_lemma(name, alpha, lowest, one_gradient, sides) -> None:  # type: ignore[no-untyped-def]
    numbers: dict[str, Any] = {
        "alpha": alpha,
        "L": 1,
        **({"num_clients": 3, "num_active": 3} if name == "lemma10" else {}),
    }
    found = looseness(f"feddyn.{name}", **numbers)
    assert found.factor[0] > 1
    random, largest = Random(3), F(0)
    for _ in range(400):
        measured = sides(Line(random, F(alpha), F(lowest), one_gradient))
        if measured is not None:
            happens, promised = measured
            assert happens <= found.worst.upper * promised
            if promised > 0:
                largest = max(largest, happens / promised)
    assert largest > found.worst.upper / 4  # the states are not all harmless


@pytest.mark.parametrize("active", [1, 2])
def test_no_draw_uses_more_of_a_lemma(active: int) -> None:
    """Lemmas 15 and 16, with all draws of two of three devices, and of one."""
    numbers = {"alpha": 4, "num_clients": 3, "num_active": active}
    fifteen, sixteen = looseness("feddyn.lemma15", L=1, **numbers), looseness("feddyn.lemma16", **numbers)
    random, part = Random(5), F(active, 3)
    for _ in range(300):
        line = Line(random, F(4), F(0), True)
        if line.m != 3:
            continue
        old, new = line.error, mean((g + b) ** 2 for g, b in zip(line.new, line.c, strict=True))
        promised = (1 - part + part * F(2, 16)) * old + 4 * part * line.gap
        assert (1 - part) * old + part * new <= fifteen.worst.upper * promised
        after = line.after_draws(active, lambda drawn, line=line: line.averaged(drawn) ** 2)  # type: ignore[misc]
        move = line.after_draws(active, lambda d, line=line: (line.averaged(d) - line.average) ** 2)  # type: ignore[misc]
        assert after / 3 <= sixteen.worst.upper * (move + line.theta**2 + old / 16)
