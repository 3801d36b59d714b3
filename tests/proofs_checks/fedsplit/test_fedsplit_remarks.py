"""FedSplit: how much of its bounds is used, what its counterexamples show, and what they do not."""

from fractions import Fraction

import pytest

from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.verification import load
from fedconvex.theory import fedsplit

load("fedsplit")
REFUTED = {
    "equation17": "fedsplit.equation17corrected",
    "equation19": "fedsplit.equation19corrected",
    "theorem2": "fedsplit.theorem2corrected",
}
REACHED = {
    "theorem1": 1, "equation16": 1, "theorem1sharper": 1, "corollary1sharper": 1, "equation22": 1,
    "corollary1": Fraction(999, 1000), "equation18": Fraction(999, 1000),
}  # fmt: skip


@pytest.mark.parametrize("name", REACHED)
def test_bounds_that_are_reached(name: str) -> None:
    sharpness = remarks_of(fedsplit.PAPER.find(name)).tightness
    assert sharpness.attained
    assert sharpness.quotient == REACHED[name]


def test_bounds_that_are_nearly_reached() -> None:
    gap, rounds = (
        remarks_of(fedsplit.PAPER.find(name)).tightness for name in ("theorem2roundbyround", "theorem2corrected")
    )
    assert Fraction(99999, 100000) < gap.quotient <= 1
    quotients = [needed / promised for needed, promised in map(rounds.measure, ((20, 300), (45, 1900), (100, 9000)))]
    assert quotients[0] < quotients[1] < quotients[2] < 1  # nearer 1 for smaller λ and ε
    assert quotients[2].overlaps(rounds.quotient)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", REFUTED)
def test_the_witness_does_not_refute_what_is_corrected(name: str) -> None:
    """With the misprint corrected, the same program gives what the statement says."""
    said = remarks_of(fedsplit.PAPER.find(name))
    assert said.corrected == REFUTED[name]
    assert said.refutation is not None
    program = said.refutation.program
    changes = {
        "equation17": ("+ (u - x)\n", "- alpha * (u - x)\n"),
        "equation19": ("(2 * m)", "2"),
        "theorem2": ("range(300)", "range(1500)"),  # more than Theorem 2, corrected, asks for
    }
    before, after = changes[name]
    last = program.rpartition(before)
    space: dict[str, Fraction] = {}
    exec("".join((last[0], after, last[2])), space)  # noqa: S102 - our own program
    left, right = space["left"], space["right"]
    assert left == right if name == "equation17" else left <= right


def test_the_count_of_the_witness() -> None:
    """1500 rounds are enough there, by Theorem 2, corrected; the printed count is below 3."""
    n, m, epsilon = 200, 4999, Fraction(1, 8)
    strength = Fraction(1, n**2 - 1)
    away = m * (1 - strength / (1 + strength)) ** 2  # ‖z^(1) − z_λ*‖², squared
    s = Fraction(n**2 - 1, n)
    enough = fedsplit.regularized_rounds(
        stepsize=float(s),
        L=1.0,
        regularizer=float(strength),
        epsilon=float(epsilon),
        initial_distance=float(away) ** 0.5,
        num_clients=m,
        squared_distance=1.0,
    )
    assert fedsplit.theorem2(L=1.0, squared_distance=1.0, epsilon=0.125) < 3
    assert 300 < enough < 1500


def test_a_wide_matrix_of_full_rank() -> None:
    """The other reading of "full rank" in (9): A = [1 0] has full rank, and F has two minimisers."""
    A, b = [[[1, 0]]], [[1]]
    values = [fedsplit.least_squares_objective(A=A, b=b, x=x) for x in ([1, 0], [1, 1], [0, 0])]
    assert values == [0, 0, Fraction(1, 2)]
    with pytest.raises(ValueError, match="singular"):
        fedsplit.least_squares_solution(A=A, b=b)
