"""The worst instances known for the bounds for smooth devices and for FedDynOneGD, by statement."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from fedconvex.proofs_checks.feddyn.nonconvex_measures import (
    Quantities,
    decrease,
    memory_beyond,
    of,
    slopes,
    used,
    weighted_gaps,
)
from fedconvex.proofs_checks.tightness import Tightness
from fedconvex.statements.statement import Statement

MANY = 16
SIGNS = tuple((-1) ** k for k in range(MANY))
ALONE: Any = ((1,), (0,))  # ½θ²
CONCAVE: Any = ((-1,), (0,))
SEARCH = "random starts and small changes, up to three devices, all draws of up to three rounds"
LARGE_ALPHA = "in the limit of a large α, one device, ½θ²"
LONG = "one device, ½θ², over many rounds; " + SEARCH + " found less"


def start_of_14(q: Quantities) -> Any:
    return q["gradient_square"] / (2 * q["alpha"])


def right_of_17(q: Quantities) -> Any:
    return (1 + q["mu"] / (3 * q["alpha"])) * q["distance_next"] - q["distance"]


def name(quantity: str) -> Callable[[Quantities], Any]:
    return lambda q: q[quantity]


def left(statement: Statement) -> Callable[[Quantities], Any]:
    return lambda q: of(statement.left, q)


KNOWN: dict[str, Callable[[Statement], Tightness]] = {
    "lemma10": lambda s: Tightness(decrease(s), (*ALONE, 10**6, 1, 1, 2), f"1/2, {LARGE_ALPHA}"),
    "lemma10assummed": lambda s: Tightness(decrease(s), (*ALONE, 10**6, 1, 1, 2), f"1/2, {LARGE_ALPHA}"),
    "lemma10sharper": lambda s: Tightness(decrease(s), (*ALONE, 10**6, 1, 1, 2), f"1/2, {LARGE_ALPHA}"),
    "lemma11": lambda s: Tightness(
        used(s, left(s)), (*CONCAVE, 4, 1, 1, 2), "one device, −½θ², α = 4L; by Lemma 11, sharper, no more where "
        "C_{t−1} = 0"),
    "lemma11sharper": lambda s: Tightness(
        used(s, left(s)), (*CONCAVE, 4, 1, 1, 2), "one device, −(L/2)θ², any α > L, from the second round on", True),
    "lemma12": lambda s: Tightness(
        used(s, name("C_next")), ((Fraction(1, 1000),) * MANY, tuple(Fraction(k, 1000) for k in SIGNS), 1, 1, 0, 1),
        "m devices with curvature e and minimisers ±1, from θ⁰ = 0, P = 1: 1 − 1/(2m) in the limit e → 0", True),
    "lemma12sharper": lambda s: Tightness(
        used(s, name("C_next")), ((1, 2), (3, -1), 3, 2, 1, 1), "every run in which all take part", True),
    "equation14": lambda s: Tightness(
        used(s, lambda q: q["loss_next"] - q["loss"] - q["L"] / 2 * q["move"], start_of_14),
        ((1, Fraction(-999, 1000)), (-5, 3), 4, 2, 0, 1), "two devices, both take part, with curvatures 1 and −1 + e "
        "and θ⁰ such that γ stays: in the limit e → 0. (1/(2α))E‖∇ℓ‖² is added on both sides", True),
    "theorem4": lambda s: Tightness(slopes(s), (*ALONE, 20, 1, 1, 40), LONG),
    "theorem4sharper": lambda s: Tightness(slopes(s), (*ALONE, 20, 1, 1, 40), LONG),
    "lemma14": lambda s: Tightness(
        used(s, name("epsilon")), ((Fraction(1, 1000), 1), (Fraction(-56, 100), Fraction(44, 100)), 90000, 2, -2, 1),
        SEARCH),
    "lemma15": lambda s: Tightness(
        used(s, name("A_next")), ((1, 1), (1, -1), 1000, 1, 0, 1), "from θ⁰ = θ_*, in the limit of a large α", True),
    "lemma16": lambda s: Tightness(
        used(s, lambda q: -q["server_distance"], lambda q: q["server_distance"] + q["distance_next"] / 3),
        (*ALONE, Fraction(273, 100), 1, 1, 2), SEARCH + ", for an ℓ with a minimiser; with a maximiser for θ_*, of "
        "which the proof uses only ∇ℓ(θ_*) = 0, −½θ² and α = 1 give 2/3. E‖θ^{t−1} − θ_*‖² and the third of "
        "E‖γ^t − θ_*‖² are added on both sides"),
    "lemma17": lambda s: Tightness(used(s, name("h_next")), (*ALONE, 2, 1, 1, 1), "one device", True),
    "lemma18": lambda s: Tightness(used(s, name("lag_next")), (*ALONE, 2, 1, 1, 1), "one device", True),
    "lemma19": lambda s: Tightness(
        memory_beyond(s), (5, 7), "(2 + √2)/8 at α = √2 L by Lemma 19, sharper, which is attained; runs from memories "
        "0 reach 4/13, with −½θ² and α = 4"),
    "lemma19sharper": lambda s: Tightness(
        memory_beyond(s), (1, 4), "one device, −(L/2)θ², a memory of 1 + L/(α + L) times ∇ℓ, any α; runs from "
        "memories 0 reach 144/169", True),
    "lemma20": lambda s: Tightness(
        used(s, name("B_next")), ((1,) * MANY, SIGNS, 1000, 1, 0, 1), "from θ⁰ = θ_*, P = 1: 1 − 1/(2m) in the limit "
        "of a large α", True),
    "lemma21": lambda s: Tightness(
        used(s, name("gradients_apart_next")), (*ALONE, 2, 1, 1, 1), "one device, ½θ², α = 2, after one round", True),
    "equation17": lambda s: Tightness(
        used(s, lambda q: 2 / q["alpha"] * q["gap"], right_of_17), ((1, 1), (1, -1), 1000, 1, 0, 1),
        "from θ⁰ = θ_*, P = 1, in the limit of a large α. What is known of the distances is on the left", True),
    "equation18": lambda s: Tightness(weighted_gaps(s), (*ALONE, 50, 1, 1, 40), LONG),
    "equation18sharper": lambda s: Tightness(weighted_gaps(s), (*ALONE, 50, 1, 1, 40), LONG),
    "equation19": lambda s: Tightness(
        used(s, lambda q: q["loss_next"] - q["loss"], start_of_14), (*ALONE, 2, 1, 1, 2),
        "one device, ½θ², α = 2, the second round. (1/(2α))E‖∇ℓ‖² is added on both sides", True),
    "equation20": lambda s: Tightness(slopes(s, True), (*ALONE, 50, 1, 1, 40), LONG),
    "equation20sharper": lambda s: Tightness(slopes(s, True), (*ALONE, 50, 1, 1, 40), LONG),
}  # fmt: skip
