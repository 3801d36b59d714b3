"""How tight FedDyn's bounds for convex devices are: exact runs of the worst instances known, by statement.

Most instances are quadratic devices, simulated by the package. With one device FedDyn is the proximal point method.
There the Huber function (|θ|, but θ²/(2δ) + δ/2 for |θ| ≤ δ), which is 1/δ-smooth, attains bounds that quadratics do
not attain (`Kink`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, final

from fedconvex.proofs_checks.feddyn.exact_runs import Federation
from fedconvex.proofs_checks.tightness import Tightness
from fedconvex.statements.statement import Statement

Sides = tuple[Any, Any]


def of_quadratics(statement: Statement, instance: Any) -> Sides | None:
    """Both sides of a lemma for one round; the instance is (curvatures, linear terms, α, P, θ⁰, round)."""
    *parts, number = instance
    federation = Federation(*parts)
    if not 1 <= federation.active <= federation.devices or min(federation.curvatures) < 0 or federation.alpha <= 0:
        return None
    found = federation.round(number)
    known = {"alpha": Fraction(federation.alpha), "L": federation.smoothness, "mu": federation.convexity}
    known |= {"num_clients": Fraction(federation.devices), "num_active": Fraction(federation.active)} | found

    happens = {"lemma3": "move", "lemma5": "C_next", "lemma7": "h"}
    name = statement.identifier.partition(".")[2]
    if name == "lemma9":
        return -_side(statement.calculator, known), found["virtual_distance"]
    left = _side(statement.left, known) if statement.left is not None else found[happens[name]]
    return left, _side(statement.calculator, known)


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


def of_curvature(statement: Statement, instance: Any) -> Sides | None:
    """Both sides of (4) to (6) and (11) for Lθ²/2; the instance is (L, x, y, z)."""
    L, x, y, z = map(Fraction, instance)
    known = {
        "L": L, "mu": L, "value": L * x**2 / 2, "value_y": L * y**2 / 2, "value_z": L * z**2 / 2,
        "inner": L * x * (y - x), "gap": L * x**2 / 2, "mean_square": (L * x) ** 2, "separation": (x - y) ** 2,
        "square": (z - x) ** 2,
    }  # fmt: skip
    match statement.identifier.partition(".")[2]:
        case "equation4":
            linear = known["value"] + known["inner"]
            return known["value_y"] - linear, _side(statement.calculator, known | {"square": (y - x) ** 2}) - linear
        case "equation5":
            return _side(statement.left, known), _side(statement.calculator, known)
    return -L * x * (z - y), _side(statement.calculator, known)


def of_vectors(statement: Statement, instance: Any) -> Sides:
    """Both sides of Lemma 6 for numbers."""
    return sum(instance) ** 2, statement.calculator.formula(count=len(instance), total=sum(v**2 for v in instance))


OPPOSED = ((1, Fraction(1, 4)), (1, -1), 25, 1, 3, 2)
FLAT = Fraction(1, 10**6)
ONE_CURVED = ((1, *[FLAT] * 7), (Fraction(-7, 16), *[Fraction(1, 16)] * 7), 10**6, 1, 1, 1)
ONE_CURVED_MORE = ((1, *[FLAT] * 7), (Fraction(-7, 8), *[Fraction(1, 8)] * 7), 10**6, 1, 1, 1)
FAR, KINK_ROUND = "approached as the start moves away from the rounded kink of one device", (1, 0, 25, 1000, 1)
QUADRATIC = "approached by a quadratic device as μ/L goes to 1"
DRAWN_ALONE = "an equality for P = 1"
INSTANCES: dict[str, tuple[Any, Any, str, bool]] = {
    "equation4": (of_curvature, (1, 1, 3, 0), "an equality for quadratics of curvature L", True),
    "equation5": (of_curvature, (1, 1, 0, 0), "an equality for one quadratic of curvature L", True),
    "equation6": (of_curvature, (1, 1, 1, 0), "an equality for quadratics of curvature L and y = x", True),
    "equation11": (of_curvature, (1, 1, 1, 0), "an equality for quadratics of curvature L and y = x", True),
    "equation10": (of_kink, KINK_ROUND, f"the decrease: {FAR}", True),
    "equation12": (of_kink, (10**6, 1, 30, 1, 1), f"the decrease: {QUADRATIC}", True),
    "equation13": (of_kink, (10**6, 1, 30, 1, 1), f"the decrease: {QUADRATIC}", True),
    "lemma1": (of_kink, (1, 0, 10**6, 1000, 1), f"the decrease, with α/L growing: {FAR}; with α = 25L 0.1405", True),
    "lemma1sharper": (of_kink, (1, 0, 5, 1000, 1), f"the decrease, for every α ≥ 5L: {FAR}", True),
    "lemma3": (of_quadratics, OPPOSED, DRAWN_ALONE, True),
    "lemma4": (of_quadratics, ONE_CURVED, "a search; one device of eight is curved, α is large. It tends to 3/8 as "
               "there are more", False),
    "lemma4sharper": (of_quadratics, ONE_CURVED_MORE, "the same devices with twice the memories: it tends to 2/3",
                      False),
    "lemma5": (of_quadratics, ((1, 1), (1, -1), 1000, 1, 0, 1), "approached as α grows, from θ⁰ = θ_*", True),
    "lemma6": (of_vectors, (1, 1, 1), "an equality for equal vectors", True),
    "lemma7": (of_quadratics, ((1, 1), (1, 1), 25, 2, 3, 2), "an equality for equal devices", True),
    "lemma8": (of_kink, (1, Fraction(1, 1000), 10**6, 1000, 1), f"the decrease, with α/L growing: {FAR}", True),
    "lemma8sharper": (of_kink, (1, Fraction(1, 10**6), 31, 1000, 1), f"the decrease, with μ/L falling: {FAR}", True),
    "lemma9": (of_quadratics, OPPOSED, DRAWN_ALONE, True),
    "theorem2": (of_kink, (1, 0, 25, 40, 1000), "one device, a rounded kink, as many rounds as it takes to come near "
                 "it; from ever further away this tends to 1/20", False),
    "theorem2sharper": (of_kink, (1, 0, 5, 40, 200), "approached by one device with a rounded kink from ever further "
                        "away, after as many rounds as it takes to come near it, for every α ≥ 5L", True),
    "theorem3": (of_kink, (2, Fraction(1, 2), 30, Fraction(1, 2), 1), "one quadratic device, T = 1, α = 30L: 1/1200. "
                 "The sharper theorem shows that with G = 0 nothing exceeds 1/34 of it", False),
    "theorem3sharper": (of_kink, (1, Fraction(1, 10**5), 31, 8, 240), "approached by one device with a rounded kink, "
                        "as in the sharper Theorem 2, as μ/L goes to 0", True),
}  # fmt: skip


def tightness(statement: Statement) -> Tightness:
    """The largest quotient found for the statement."""
    measure, instance, how, attained = INSTANCES[statement.identifier.partition(".")[2]]
    return Tightness(partial(measure, statement), instance, how, attained)
