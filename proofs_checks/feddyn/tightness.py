"""How tight FedDyn's bounds are: the worst federations known, by statement; both sides come from the claims.

`DEVICES` instances are (curvatures, linear terms, α, P, θ⁰, t): devices a_k θ²/2 − c_k θ and round t, or t rounds for
a claim about a run. Most were found by random starts and small changes, up to three devices and three rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, final

import fedconvex as fc
from fedconvex.claims.on_runs.draws import every_draw
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import expected, minimiser, parameter, square
from fedconvex.proofs_checks.tightness import Measure, Tightness, of_claim
from fedconvex.statements.assumptions import Runs
from fedconvex.statements.statement import Statement
from fedconvex.theory.feddyn.vectors import average

# FedDyn with one device, which is the proximal point method, on a rounded kink: it attains what quadratics do not.
# The Huber function |θ|, but θ²/(2δ) + δ/2 for |θ| ≤ δ, is 1/δ-smooth.

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


Of = Callable[[Statement], Measure]
F = Fraction


def devices(statement: Statement, instance: Any) -> ExactFederation | None:
    """Quadratic devices in one dimension, whose models are at first their own minimisers."""
    curvatures, linear, alpha, active, start, t = instance
    a, c, m = [F(x) for x in curvatures], [F(x) for x in linear], len(curvatures)
    if not (1 <= active <= m and alpha > 0):
        return None
    problem = fc.Quadratic([[[x]] for x in a], [[x] for x in c])
    scheme = fc.participation.Uniform(active) if active < m else fc.participation.Full()
    outcomes = every_draw(scheme, problem)
    assert outcomes is not None
    earlier = 0 if statement.claim is None or statement.claim.of_run else t - 1
    numbers = {"alpha": alpha, "L": max(map(abs, a)), "mu": min(a), "num_clients": m, "num_active": active, "T": t}
    method = fc.FedDynOneGD if Runs("FedDynOneGD") in statement.assumptions else fc.FedDyn
    return ExactFederation(
        problem, method(alpha=F(alpha)), [F(start)], scheme, {name: F(x) for name, x in numbers.items()},
        earlier=(outcomes[0][1],) * earlier, first_models=[[y / x] for x, y in zip(a, c, strict=True)],
    )  # fmt: skip


def equal_devices(instance: tuple[Any, Any, Any]) -> ExactFederation:
    """Two devices ½μx² + ½Ly² from (1, 0), where stored gradients are 0; the instance is (μ, L, α)."""
    mu, L, alpha = map(F, instance)
    problem = fc.Quadratic([[[mu, F(0)], [F(0), L]]] * 2, [[F(0)] * 2] * 2)
    return ExactFederation(
        problem, fc.FedDyn(alpha=alpha), [F(1), F(0)], fc.participation.Full(), {"mu": mu, "L": L, "alpha": alpha}
    )


def curved(instance: Any) -> ExactFederation:
    """One device Lθ²/2, and three points; the instance is (L, x, y, z)."""
    L, *points = map(F, instance)
    free = {name: [at] for name, at in zip("xyz", points, strict=True)}
    problem = fc.Quadratic([[[L]]], [[F(0)]])
    return ExactFederation(problem, fc.FedDyn(alpha=1), [F(0)], parameters={"L": L, "mu": L}, free=free)


def vectors(instance: Any) -> ExactFederation:
    """Numbers v_j, for Lemma 6."""
    m = len(instance)
    problem = fc.Quadratic([[[F(1)]]] * m, [[F(0)]] * m)
    free = {"v": [[F(x)] for x in instance]}
    return ExactFederation(problem, fc.FedDyn(alpha=1), [F(0)], parameters={"count": F(m)}, free=free)


def memory_beyond(statement: Statement, instance: tuple[Any, Any]) -> tuple[Any, Any]:
    """Lemma 19 for one round from a chosen state: one device with −(L/2)θ² and ∇ℓ(γ) = 1.

    Its memory is 1 + L/(α + L), the worst value. An instance is (L, α).
    """
    L, alpha = map(F, instance)
    memory = 1 + L / (alpha + L)
    new_gradient = 1 + L * memory / alpha  # at θ^{t−1}, which is memory/α before γ^{t−1}
    found = {"B": (memory - 1) ** 2, "gradient_square": F(1), "alpha": alpha, "L": L}
    calculator = statement.calculator
    return (new_gradient / alpha) ** 2, calculator.formula(**{name: found[name] for name in calculator.names})


def of_devices(statement: Statement) -> Measure:
    """What the claim bounds, on devices; for (17) with what is known of the distances on the left."""
    kept = None
    if statement.number == "Equation (17)":
        before, after = (expected(square(average(time) - minimiser)) for time in (0, 1))
        kept = (1 + parameter("mu") / (3 * parameter("alpha"))) * after - before
    return of_claim(statement, partial(devices, statement), kept)


def of_points(statement: Statement) -> Measure:
    return of_claim(statement, curved)


def of_numbers(statement: Statement) -> Measure:
    return of_claim(statement, vectors)


def of_one_kink(statement: Statement) -> Measure:
    return partial(of_kink, statement)


def of_one_memory(statement: Statement) -> Measure:
    return partial(memory_beyond, statement)


MANY = 16
SIGNS = tuple((-1) ** k for k in range(MANY))
ALONE: Any = ((1,), (0,))  # ½θ²
CONCAVE: Any = ((-1,), (0,))
OPPOSED = ((1, F(1, 4)), (1, -1), 25, 1, 3, 2)
FLAT = F(1, 10**6)
ONE_CURVED = ((1, *[FLAT] * 7), (F(-7, 16), *[F(1, 16)] * 7), 10**6, 1, 1, 1)
ONE_CURVED_MORE = ((1, *[FLAT] * 7), (F(-7, 8), *[F(1, 8)] * 7), 10**6, 1, 1, 1)
FAR, KINK_ROUND = "approached as the start moves away from the rounded kink of one device", (1, 0, 25, 1000, 1)
QUADRATIC = "approached by a quadratic device as μ/L goes to 1"
DRAWN_ALONE = "an equality for P = 1"
SEARCH = "random starts and small changes, up to three devices, all draws of up to three rounds"
LARGE_ALPHA = "1/2, in the limit of a large α, one device, ½θ²"
LONG = "one device, ½θ², over many rounds; " + SEARCH + " found less"
INSTANCES: dict[str, tuple[Of, Any, str, bool]] = {
    "equation4": (of_points, (1, 1, 3, 0), "an equality for quadratics of curvature L", True),
    "equation5": (of_points, (1, 1, 0, 0), "an equality for one quadratic of curvature L", True),
    "equation6": (of_points, (1, 1, 1, 2), "an equality for quadratics of curvature L and y = x", True),
    "equation11": (of_points, (1, 1, 1, 2), "an equality for quadratics of curvature L and y = x", True),
    "equation10": (of_one_kink, KINK_ROUND, f"the decrease: {FAR}", True),
    "equation12": (of_one_kink, (10**6, 1, 30, 1, 1), f"the decrease: {QUADRATIC}", True),
    "equation13": (of_one_kink, (10**6, 1, 30, 1, 1), f"the decrease: {QUADRATIC}", True),
    "lemma1": (of_one_kink, (1, 0, 10**6, 1000, 1), f"the decrease, with α/L growing: {FAR}; with α = 25L 0.1405",
        True),
    "lemma1sharper": (of_one_kink, (1, 0, 5, 1000, 1), f"the decrease, for every α ≥ 5L: {FAR}", True),
    "lemma3": (of_devices, OPPOSED, DRAWN_ALONE, True),
    "lemma4": (of_devices, ONE_CURVED, "a search; one device of eight is curved, α is large. It tends to 3/8 as there "
        "are more", False),
    "lemma4sharper": (of_devices, ONE_CURVED_MORE, "the same devices with twice the memories: it tends to 2/3", False),
    "lemma5": (of_devices, ((1, 1), (1, -1), 1000, 1, 0, 1), "approached as α grows, from θ⁰ = θ_*", True),
    "lemma6": (of_numbers, (1, 1, 1), "an equality for equal vectors", True),
    "lemma7": (of_devices, ((1, 1), (1, 1), 25, 2, 3, 2), "an equality for equal devices", True),
    "lemma8": (of_one_kink, (1, F(1, 1000), 10**6, 1000, 1), f"the decrease, with α/L growing: {FAR}", True),
    "lemma8sharper": (of_one_kink, (1, F(1, 10**6), 31, 1000, 1), f"the decrease, with μ/L falling: {FAR}", True),
    "lemma9": (of_devices, OPPOSED, DRAWN_ALONE, True),
    "theorem2": (of_one_kink, (1, 0, 25, 40, 1000), "one device, a rounded kink, as many rounds as it takes to come "
        "near it; from ever further away this tends to 1/20", False),
    "theorem2sharper": (of_one_kink, (1, 0, 5, 40, 200), "approached by one device with a rounded kink from ever "
        "further away, after as many rounds as it takes to come near it, for every α ≥ 5L", True),
    "theorem3": (of_one_kink, (2, F(1, 2), 30, F(1, 2), 1), "one quadratic device, T = 1, α = 30L: 1/1200. The "
        "sharper theorem shows that with G = 0 nothing exceeds 1/34 of it", False),
    "theorem3sharper": (of_one_kink, (1, F(1, 10**5), 31, 8, 240), "approached by one device with a rounded kink, as "
        "in the sharper Theorem 2, as μ/L goes to 0", True),
    "lemma10": (of_devices, (*ALONE, 10**6, 1, 1, 2), LARGE_ALPHA, False),
    "lemma10assummed": (of_devices, (*ALONE, 10**6, 1, 1, 2), LARGE_ALPHA, False),
    "lemma10sharper": (of_devices, (*ALONE, 10**6, 1, 1, 2), LARGE_ALPHA, False),
    "lemma11": (of_devices, (*CONCAVE, 4, 1, 1, 2), "one device, −½θ², α = 4L; by Lemma 11, sharper, no more where "
        "C_{t−1} = 0", False),
    "lemma11sharper": (of_devices, (*CONCAVE, 4, 1, 1, 2), "one device, −(L/2)θ², any α > L, from the second round "
        "on", True),
    "lemma12": (of_devices, ((F(1, 1000),) * MANY, tuple(F(k, 1000) for k in SIGNS), 1, 1, 0, 1), "m devices with "
        "curvature e and minimisers ±1, from θ⁰ = 0, P = 1: 1 − 1/(2m) in the limit e → 0", True),
    "lemma12sharper": (of_devices, ((1, 2), (3, -1), 3, 2, 1, 1), "every run in which all take part", True),
    "equation14": (of_devices, ((1, F(-999, 1000)), (-5, 3), 4, 2, 0, 1), "two devices, both take part, with "
        "curvatures 1 and −1 + e and θ⁰ such that γ stays: in the limit e → 0", True),
    "theorem4": (of_devices, (*ALONE, 20, 1, 1, 40), LONG, False),
    "theorem4sharper": (of_devices, (*ALONE, 20, 1, 1, 40), LONG, False),
    "linearrate": (lambda statement: of_claim(statement, equal_devices), (1, 4, 2),
        "two equal devices; μ is the slower curvature for α ≥ √(μL)", True),
    "lemma14": (of_devices, ((F(1, 1000), 1), (F(-56, 100), F(44, 100)), 90000, 2, -2, 1), SEARCH, False),
    "lemma15": (of_devices, ((1, 1), (1, -1), 1000, 1, 0, 1), "from θ⁰ = θ_*, in the limit of a large α", True),
    "lemma16": (of_devices, (*ALONE, F(273, 100), 1, 1, 2), SEARCH + ", for an ℓ with a minimiser; with a maximiser "
        "for θ_*, of which the proof uses only ∇ℓ(θ_*) = 0, −½θ² and α = 1 give 2/3", False),
    "lemma17": (of_devices, (*ALONE, 2, 1, 1, 1), "one device", True),
    "lemma18": (of_devices, (*ALONE, 2, 1, 1, 1), "one device", True),
    "lemma19": (of_one_memory, (5, 7), "(2 + √2)/8 at α = √2 L by Lemma 19, sharper, which is attained; runs from "
        "memories 0 reach 4/13, with −½θ² and α = 4", False),
    "lemma19sharper": (of_one_memory, (1, 4), "one device, −(L/2)θ², a memory of 1 + L/(α + L) times ∇ℓ, any α; runs "
        "from memories 0 reach 144/169", True),
    "lemma20": (of_devices, ((1,) * MANY, SIGNS, 1000, 1, 0, 1), "from θ⁰ = θ_*, P = 1: 1 − 1/(2m) in the limit of a "
        "large α", True),
    "lemma21": (of_devices, (*ALONE, 2, 1, 1, 1), "one device, ½θ², α = 2, after one round", True),
    "equation17": (of_devices, ((1, 1), (1, -1), 1000, 1, 0, 1), "from θ⁰ = θ_*, P = 1, in the limit of a large α. "
        "What is known of the distances is on the left", True),
    "equation18": (of_devices, (*ALONE, 50, 1, 1, 40), LONG, False),
    "equation18sharper": (of_devices, (*ALONE, 50, 1, 1, 40), LONG, False),
    "equation19": (of_devices, (*ALONE, 2, 1, 1, 2), "one device, ½θ², α = 2, the second round", True),
    "equation20": (of_devices, (*ALONE, 50, 1, 1, 40), LONG, False),
    "equation20sharper": (of_devices, (*ALONE, 50, 1, 1, 40), LONG, False),
}  # fmt: skip


def tightness(statement: Statement, key: str) -> Tightness | None:
    """The largest quotient found for the statement."""
    if key not in INSTANCES:
        return None
    of, instance, how, attained = INSTANCES[key]
    return Tightness(of(statement), instance, how, attained)
