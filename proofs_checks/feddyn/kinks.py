"""FedDyn with one device, which is the proximal point method, on a rounded kink: it attains what quadratics do not.

The Huber function |θ|, but θ²/(2δ) + δ/2 for |θ| ≤ δ, is 1/δ-smooth.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.statements.statement import Statement

Sides = tuple[Any, Any]


@final
@dataclass(frozen=True)
class Kink:
    """One device with the Huber function of this width plus μθ²/2; the minimiser is 0."""

    width: Any
    mu: Any
    alpha: Any
    start: Any

    @property
    def smoothness(self) -> Any:
        return 1 / Fraction(self.width) + self.mu

    def value(self, x: Any) -> Any:
        far = abs(x) > self.width
        return (abs(x) if far else x * x / (2 * Fraction(self.width)) + Fraction(self.width) / 2) + self.mu * x * x / 2

    def gap(self, x: Any) -> Any:
        return self.value(x) - self.value(0)

    def gradient(self, x: Any) -> Any:
        return max(-1, min(1, x / Fraction(self.width))) + self.mu * x

    def argmin(self, slope: Any) -> Any:
        """The θ with L'(θ) + αθ = slope: the device's answer."""
        near = slope / Fraction(self.smoothness + self.alpha)
        sign = 1 if slope > 0 else -1
        return near if abs(near) <= self.width else (slope - sign) / Fraction(self.mu + self.alpha)

    def averages(self, rounds: int) -> list[Any]:
        """γ⁰, …, γ^rounds, by Algorithm 1 with m = P = 1."""
        server, stored, h = Fraction(self.start), Fraction(0), Fraction(0)
        found = [server]
        for _ in range(rounds):
            model = self.argmin(stored + self.alpha * server)
            moved = self.alpha * (model - server)
            stored, h = stored - moved, h - moved
            server = model - h / self.alpha
            found.append(model)
        return found


def of_kink(statement: Statement, instance: Any) -> Sides | None:
    """The gap after T rounds and its bound; for a lemma or (10), the promised and the actual decrease in round T.

    The instance is (width, μ, α, θ⁰, T).
    """
    *parts, rounds = instance
    device = Kink(*parts)
    if min(device.width, device.alpha) <= 0 or device.mu < 0 or rounds < 1:
        return None
    averages = device.averages(rounds)
    known = {
        "alpha": Fraction(device.alpha), "L": device.smoothness, "mu": device.mu, "num_clients": Fraction(1),
        "num_active": Fraction(1), "T": rounds, "D0": Fraction(device.start) ** 2, "G": 0,
    }  # fmt: skip
    name = statement.identifier.partition(".")[2]
    if name.startswith("theorem"):
        r = 1 + device.mu / known["alpha"] if name.startswith("theorem3") else Fraction(1)
        weights = [r**t for t in range(rounds)]
        mean = sum(w * x for w, x in zip(weights, averages, strict=False)) / sum(weights)
        return device.gap(mean), _side(statement.calculator, known)
    before, after = averages[-2:]
    known |= {
        "distance": before**2, "distance_next": after**2, "gap": device.gap(before),
        "C": device.gradient(before) ** 2, "C_next": device.gradient(after) ** 2,
        "epsilon": (after - before) ** 2, "move": (after - before) ** 2,
    }  # fmt: skip
    # The decrease is that of the statement's potential: the squared distance, plus κC where it contains C.
    start = before**2
    if "C" in statement.calculator.names:
        start = _side(statement.calculator, known | {"gap": Fraction(0)})
    left = after**2 if statement.left is None else _side(statement.left, known)
    return start - _side(statement.calculator, known), start - left


def _side(calculator: Any, known: dict[str, Any]) -> Any:
    return calculator.formula(**{name: known[name] for name in calculator.names})
