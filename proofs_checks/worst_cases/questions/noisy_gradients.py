"""Gradients with unbiased noise of bounded variance: what stochastic gradient steps know of the clients' functions.

The noise is a new unknown vector at every evaluation. Two things are known of it: its mean square, and that in
expectation it is orthogonal to everything that was there before: equations, which a proof may use with any sign.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    Family,
    Form,
    family,
    inner,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board

VARIANCE = "σ²"  # the name of the unknown bound on E‖noise‖²


@final
@dataclass(eq=False)
class NoisyBoard:
    """A board whose gradients have unbiased noise, new at every evaluation."""

    board: Board
    noises: list[Family] = field(default_factory=list)
    equations: list[tuple[str, Form]] = field(default_factory=list)
    is_noisy: ClassVar[bool] = True

    @property
    def functions(self) -> Any:
        """The class of the clients' functions."""
        return self.board.functions

    def gradient(self, point: Any) -> Any:
        """The gradient at the point plus noise, which is orthogonal to all vectors before it."""
        exact, number = self.board.gradient(point), len(self.noises) + 1
        noise = family(f"noise {number}", self.board.clients)
        seen = [point, *self.noises, *(u for e in self.board.evaluations for u in (e.point, e.gradient))]
        for key in sorted({key for u in seen for key in u.parts}):
            mine = Family({(key[0], f"noise {number}"): ONE})
            name = f"noise {number} unrelated to {key[1]} ({key[0]})"
            self.equations.append((name, inner(mine, Family({key: ONE}))))
        self.noises.append(noise)
        return exact + noise

    def sizes(self, shares: list[tuple[tuple[str, ...], Any]]) -> Iterator[tuple[str, Form]]:
        """σ²·share − (the noise's mean square in these parts) >= 0 for every evaluation, and σ² >= 0."""
        yield "variance", value(VARIANCE)
        for number, u in enumerate(self.noises, 1):
            for parts, share in shares:
                size = square(u.only(*parts))
                yield f"size of noise {number} ({' and '.join(parts)})", value(VARIANCE) * share - size


def shares_of(independent: int) -> list[tuple[tuple[str, ...], Any]]:
    """The parts of a client's variance in the mean over so many clients and in the deviations; 0: nothing is known."""
    if not independent:  # the noise may be the same for all clients
        return [((MEAN, DEVIATION), ONE)]
    mean = to_fmpq(1) / independent
    shares: list[tuple[tuple[str, ...], Any]] = [((MEAN,), mean), ((DEVIATION,), 1 - mean)]
    return shares[: 1 + (independent > 1)]
