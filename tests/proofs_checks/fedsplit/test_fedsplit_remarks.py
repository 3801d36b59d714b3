"""The verdict on every statement of the FedSplit paper and on this project's own; bounds are attained, not exceeded."""

import subprocess
import sys
from fractions import Fraction

import pytest

from fedconvex.proofs_checks import proof_of, verify
from fedconvex.proofs_checks.proof import Role
from fedconvex.theory import fedsplit
from fedconvex.theory import statement as find
from fedconvex.verdicts import Verdict

REFUTED = {
    "fedsplit.equation17": "fedsplit.equation17corrected",
    "fedsplit.equation19": "fedsplit.equation19corrected",
    "fedsplit.theorem2": "fedsplit.theorem2corrected",
}
ALL = [s.identifier for s in (*fedsplit.PAPER, *fedsplit.PAPER.ours.values())]
# that fail as printed, or under a reading that the notes name
PRINTED_AND_WRONG = {
    "fedsplit.equation17": 1,
    "fedsplit.equation19": 1,
    "fedsplit.theorem2": 1,
    "fedsplit.equation22": 1,
}
REACHED = {
    "theorem1": 1, "equation16": 1, "theorem1sharper": 1, "corollary1sharper": 1, "equation22": 1,
    "corollary1": Fraction(999, 1000), "equation18": Fraction(999, 1000),
}  # fmt: skip


@pytest.mark.parametrize("identifier", ALL)
def test_every_statement_is_decided(identifier: str) -> None:
    found = verify(identifier)
    assert found.verdict is (Verdict.REFUTED if identifier in REFUTED else Verdict.PROVED), found.reason
    assert (found.corrected.identifier if found.corrected else None) == REFUTED.get(identifier)
    needed = [r for r in found.evidence if r.step.role is Role.PROOF]
    assert all(r.outcome.verdict is Verdict.PROVED for r in needed)
    wrong = [r for r in found.evidence if r.outcome.verdict is Verdict.REFUTED]
    assert len(wrong) == PRINTED_AND_WRONG.get(identifier, 0)


@pytest.mark.parametrize("identifier", [i for i in ALL if i.split(".")[1] in REACHED])
def test_bounds_that_are_reached(identifier: str) -> None:
    sharpness = verify(identifier).tightness
    assert sharpness.attained
    assert sharpness.quotient == REACHED[identifier.split(".")[1]]


def test_bounds_that_are_nearly_reached() -> None:
    gap, rounds = (verify(f"fedsplit.{name}").tightness for name in ("theorem2roundbyround", "theorem2corrected"))
    assert Fraction(99999, 100000) < gap.quotient <= 1
    quotients = [needed / promised for needed, promised in map(rounds.measure, ((20, 300), (45, 1900), (100, 9000)))]
    assert quotients[0] < quotients[1] < quotients[2] < 1  # nearer 1 for smaller λ and ε
    assert quotients[2].overlaps(rounds.quotient)


@pytest.mark.beyond_core  # starts a process
@pytest.mark.parametrize("identifier", sorted(REFUTED))
def test_anyone_can_run_the_witness(identifier: str) -> None:
    witness = verify(identifier).witness
    assert witness is not None
    code = f"{witness.program}\nprint(left, right, sep=';')"
    printed = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    left, right = map(Fraction, printed.split(";"))
    assert left != right if witness.relation == "=" else left > right


@pytest.mark.parametrize("identifier", sorted(REFUTED))
def test_the_witness_does_not_refute_what_is_corrected(identifier: str) -> None:
    """With the misprint corrected, the same program gives what the statement says."""
    program = verify(identifier).witness.program
    changes = {
        "fedsplit.equation17": ("+ (u - x)\n", "- alpha * (u - x)\n"),
        "fedsplit.equation19": ("(2 * m)", "2"),
        "fedsplit.theorem2": ("range(300)", "range(1500)"),  # more than Theorem 2, corrected, asks for
    }
    before, after = changes[identifier]
    last = program.rpartition(before)
    space: dict[str, Fraction] = {}
    exec("".join((last[0], after, last[2])), space)  # noqa: S102 - our own program
    left, right = space["left"], space["right"]
    assert left == right if identifier == "fedsplit.equation17" else left <= right


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


def test_every_displayed_formula_has_a_step() -> None:
    places = " ".join(step.place for name in ALL for step in proof_of(find(name)).steps)  # type: ignore[union-attr]
    missing = [n for n in range(1, 23) if f"({n})" not in places and n not in (4, 6, 13)]
    assert not missing, missing
    assert "between (9) and (10)" in places
