"""FedDynOneGD: verdicts, misprints, wrong steps and formulas, exact runs."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from mutations import survivors
from nonconvex_helpers import drawn, printed, statement, still_proved

import fedconvex as fc
from fedconvex import participation
from fedconvex.proofs_checks import verification
from fedconvex.proofs_checks.feddyn.exact_runs import rational
from fedconvex.proofs_checks.feddyn.nonconvex_measures import of, quantities
from fedconvex.proofs_checks.feddyn.nonconvex_tightness import KNOWN
from fedconvex.theory import feddyn
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

LEMMAS = ["lemma13", "lemma14", "lemma15", "lemma16", "lemma17", "lemma18", "lemma19", "lemma20", "lemma21"]
EQUATIONS = ["equation15", "equation16", "equation17", "equation18", "equation19", "equation20"]
OURS = ["equation18sharper", "lemma19sharper", "equation20sharper"]


@pytest.mark.parametrize("name", [*LEMMAS, *EQUATIONS, "theorem5", *OURS])
def test_proved(name: str) -> None:
    result = verification.verify(statement(name))
    assert result.verdict is Verdict.PROVED, result.reason


def test_what_is_printed_wrongly() -> None:
    assert printed("lemma19") == {"proof of Lemma 19, last line": Verdict.REFUTED}
    assert printed("equation15") == {"(15)": Verdict.REFUTED}
    assert printed("equation20") == {"before (20)": Verdict.REFUTED}


@pytest.mark.parametrize("name", [*(n for n in LEMMAS if n != "lemma13"), "equation19", "lemma19sharper"])
def test_broken_steps_are_noticed(name: str) -> None:
    assert still_proved(name) == []


@pytest.mark.parametrize(
    ("name", "every"),
    [*((n, 1) for n in LEMMAS if n != "lemma20"), ("lemma20", 5), ("equation15", 1), ("equation16", 1),
     ("equation17", 3), ("equation18", 6), ("equation19", 2), ("equation20", 6), ("theorem5", 30),
     ("lemma19sharper", 2), ("equation20sharper", 6), ("equation18sharper", 6)],
)  # fmt: skip
def test_wrong_formulas_are_noticed(name: str, every: int) -> None:
    assert survivors(statement(name), every) == []


def test_the_three_cases_are_needed() -> None:
    """Without a case's hypothesis its steps have no convexity to use."""
    proof = verification.proof_of(feddyn.theorem5)
    assert proof is not None
    convex = next(step for step in proof.steps if step.place == "before (17)" or "Eq. 11" in step.because)
    assert convex.case
    without = replace(convex, case=())
    assert "Convex" in verification._objection(without, feddyn.theorem5, [], (), {})
    assert "the statement does not have" in verification._objection(convex, feddyn.lemma14, [], (), {})


@pytest.mark.parametrize("name", [n for n in [*LEMMAS, *EQUATIONS, *OURS] if n in KNOWN])
def test_tightness(name: str) -> None:
    found = KNOWN[name](statement(name))
    assert 0 < found.quotient <= 1
    assert not found.attained or found.quotient > Fraction(9, 10)


def test_quotients_found() -> None:
    for name in ("lemma17", "lemma18", "lemma21", "equation19", "lemma19sharper"):
        assert KNOWN[name](statement(name)).quotient == 1, name
    assert Fraction(42, 100) < KNOWN["lemma19"](feddyn.lemma19).quotient < Fraction(43, 100)


@pytest.mark.parametrize("number", range(25))
def test_exact_runs_keep_lemma_19_sharper(number: int) -> None:
    found = quantities(drawn(number, 2), True)
    assert found["epsilon"] <= of(feddyn.lemma19sharper.calculator, found)


def test_theorem5_needs_models_that_are_stationary() -> None:
    """With θ_k⁰ read as any models, θ⁰ say, the third case promises 0; two rounds' mean is 1/(2α²)."""
    problem, alpha = fc.Quadratic([[[1]], [[1]]], [[1], [-1]]), Fraction(100)
    method = fc.FedDynOneGD(alpha=alpha)
    averages: list[Any] = []
    for k in (0, 1):
        run = fc.simulate(method, problem, 1, participation.Schedule([[k]]), x0=[Fraction(0)], arithmetic="exact")
        averages.append(rational(run.points[1][0]) + rational(run.state.shared["h"][0]) / alpha)
    squared = [(0 + x**2) / 2 for x in averages]  # ∇ℓ(γ) = γ; γ⁰ = 0
    assert squared == [1 / (2 * alpha**2)] * 2
    given = {"L": 1, "mu": 1, "num_clients": 2, "num_active": 1, "T": 2, "D0": 0, "G": 1, "delta": 0, "spread": 0}
    assert feddyn.theorem5(**given).nonconvex == 0
