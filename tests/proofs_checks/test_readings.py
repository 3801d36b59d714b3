"""What a verdict says of the printed words: as data, never without a counterexample, the same in every output."""

import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from fedconvex.proofs_checks import papers_with_proofs, verify
from fedconvex.proofs_checks.evidence import CodeComparison
from fedconvex.proofs_checks.readings import COMPARED, UNDECIDED, Reading, is_ours, words
from fedconvex.proofs_checks.remarks import Remarks, remarks_of
from fedconvex.proofs_checks.reporting.recorded import recorded
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.witnesses import Witness, replay
from fedconvex.statements.statement import ClaimType, Statement
from fedconvex.theory import fedprox, papers, statement
from fedconvex.verdicts import Verdict

for paper in papers_with_proofs():
    load(paper)
SAID = {s.identifier: remarks_of(s) for name in papers_with_proofs() for s in papers()[name]}
READ = {identifier for identifier, said in SAID.items() if said.reading is not None}
REPAIRED = re.compile(
    r"misprint|\bread as\b|[Ww]hat is proved is|\b(is|are) proved as\b|(would be|promise) .*\b(false|where)\b|"
    r"[Tt]wo readings|can be read|[Rr]ead literally|[Pp]rinted with|prints \S+ for"
)
# Notes with such words about something else than the statement; whoever adds one has looked at the paper.
ABOUT_ELSE = {
    "feddyn.equation18": "the brackets in a multiplier of its proof",
    "fedprox.equation16": "≲, which is proved in the stronger sense",
    "fedprox.theorem6": "a set that the text before it names",
    "fedsplit.equation17": "refuted",
}  # fmt: skip


def without_reading(of: Statement, said: Remarks) -> str:
    """Why a statement should have a reading as data and has none; "" where nothing is missing."""
    if said.reading is not None or said.refutation is not None or of.identifier in ABOUT_ELSE:
        return ""
    if found := REPAIRED.search(said.notes):
        return f"its note says “{found.group()}”"
    own = of.number.removeprefix("Equation ")
    return f"a printed line of {own} fails" if any(line.place == own for line in said.misprints) else ""


@pytest.mark.parametrize("identifier", SAID)
def test_a_repaired_reading_is_data(identifier: str) -> None:
    assert not without_reading(statement(identifier), SAID[identifier])


@pytest.mark.parametrize("identifier", sorted(READ))
def test_a_reading_that_is_taken_away_is_missed(identifier: str) -> None:
    assert without_reading(statement(identifier), replace(SAID[identifier], reading=None))


def test_there_are_readings_and_exceptions_to_them() -> None:
    assert len(READ) > 15
    assert not READ & ABOUT_ELSE.keys()
    assert all(REPAIRED.search(SAID[identifier].notes) for identifier in ABOUT_ELSE)


# false only with a counterexample


@pytest.mark.parametrize("identifier", sorted(READ))
def test_false_is_shown(identifier: str) -> None:
    said = SAID[identifier]
    assert said.reading is not None
    lines = [misprint.line().verdict for misprint in said.misprints]
    if "false" in said.reading.as_printed:
        assert said.reading.witness is not None or Verdict.REFUTED.value in lines
    if said.reading.witness is not None:
        assert replay(said.reading.witness).verdict is Verdict.REFUTED


@pytest.mark.parametrize("identifier", sorted(READ))
def test_a_reading_of_what_is_proved_is_recorded(identifier: str) -> None:
    entry, reading = recorded()[identifier], SAID[identifier].reading
    assert reading is not None
    if entry["verdict"] == Verdict.PROVED.value:
        # of a formula with several parts, of which the claim is about one, no more is said
        unused = statement(identifier).stated.unused
        assert entry["as_printed"] == reading.as_printed
        assert entry["holds"] == reading.holds + ("; of fedsplit alone" if unused else "")


HOLDS = Witness("nothing", "left = 1\nright = 2")
FAILS = Witness("a counterexample", "left = 2\nright = 1")


def phrases(
    reading: Reading | None, verdict: Verdict = Verdict.PROVED, line_fails: bool = False, of: Statement | None = None
) -> tuple[str, str, str]:
    return words(of or fedprox.theorem4, Remarks(reading=reading), verdict, corrected=None, line_fails=line_fails)


def test_false_without_a_counterexample_is_not_said() -> None:
    assert phrases(Reading("false", "otherwise"))[0] == UNDECIDED
    assert phrases(Reading("true here, false there", "here", HOLDS))[0] == UNDECIDED
    assert phrases(Reading("false", "otherwise", HOLDS), line_fails=True)[0] == UNDECIDED
    assert phrases(Reading("false", "otherwise", FAILS)) == ("false", "otherwise", "a counterexample: 2 > 1")
    assert phrases(Reading("false", "otherwise"), line_fails=True)[0] == "false"


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.ASSUMED, Verdict.REFUTED])
def test_what_is_not_proved_is_not_said_to_hold(verdict: Verdict) -> None:
    as_printed, holds, _ = phrases(Reading("true", "as printed"), verdict)
    assert "true" not in as_printed
    assert holds in (UNDECIDED, "if the assumed steps do")


def test_a_corrected_statement_holds_only_if_it_is_proved() -> None:
    of = statement("fedsplit.equation17")
    for verdict, holds in ((Verdict.PROVED, "the corrected statement fedsplit.equation17corrected"),
                           (Verdict.UNKNOWN, UNDECIDED), (None, UNDECIDED)):  # fmt: skip
        found = words(of, SAID[of.identifier], Verdict.REFUTED, corrected=verdict, line_fails=True)
        assert found[:2] == ("false", holds)


def test_what_is_compared_is_not_said_to_hold() -> None:
    """A definition is one; of every other formula its truth is not decided by instances."""
    definition, theorem = fedprox.definition1, fedprox.theorem4
    assert definition.claim_type is ClaimType.DEFINITION
    assert phrases(None, Verdict.COMPARED, of=definition) == ("a definition", COMPARED, "")
    assert phrases(None, Verdict.COMPARED, of=theorem) == (UNDECIDED, COMPARED, "")
    assert phrases(Reading("true", "as printed"), Verdict.COMPARED, of=theorem) == (UNDECIDED, COMPARED, "")
    reading = Reading("true here, false there", "here", FAILS)
    assert phrases(reading, Verdict.COMPARED, of=theorem)[:2] == (UNDECIDED, COMPARED)
    assert phrases(Reading("false", "otherwise", FAILS), Verdict.COMPARED, of=theorem)[0] == "false"
    assert phrases(Reading("false", "otherwise"), Verdict.COMPARED, of=theorem)[0] == UNDECIDED


def test_what_is_proved_without_a_reading_is_true_as_printed() -> None:
    assert phrases(None) == ("true", "as printed", "")
    assert phrases(None, of=fedprox.theorem4sharper) == ("not in the paper", "as stated", "")
    asymptotic = replace(fedprox.theorem4, claim_type=ClaimType.ASYMPTOTIC)
    assert phrases(None, of=asymptotic) == ("true", "as printed, up to constants", "")


def test_a_misprint_that_does_not_show_makes_no_reading_false() -> None:
    same = CodeComparison("a", "b", "(1)", lambda n: (n, n), as_printed=True)
    assert same.line().verdict == Verdict.UNKNOWN.value
    assert phrases(Reading("false: a misprint", "otherwise"), line_fails=False)[0] == UNDECIDED


@pytest.mark.parametrize(
    ("as_printed", "holds"), [("", "x"), ("maybe", "x"), ("true", ""), ("true", "a\nb"), ("true", 101 * "x")]
)
def test_a_reading_is_two_short_phrases(as_printed: str, holds: str) -> None:
    with pytest.raises(AssertionError):
        Reading(as_printed, holds)


# Corollary 7, by another route than the program's


def test_corollary7_is_false_for_theorem4() -> None:
    result = verify("fedprox.corollary7")
    assert result.verdict is Verdict.PROVED
    assert (result.as_printed, result.holds) == ("false for Theorem 4's ρ", "of the algorithm, not of Theorem 4's ρ")
    chosen = fedprox.corollary7(L=Fraction(1), B=2, K=16)
    rho = fedprox.rho(mu=chosen.mu, L=1, L_minus=0, B=2, gamma=0, K=16)
    reading = SAID["fedprox.corollary7"].reading
    assert reading is not None
    assert reading.witness is not None
    program = replay(reading.witness)
    assert program.left == chosen.rho == Fraction(1, 96)
    bound = flint.arb(flint.fmpq(program.right.numerator, program.right.denominator))
    assert rho < bound < 0  # the program's √2 is a little too small, its ρ a little too large
    assert float(bound - rho) < 1e-4
    assert f"{float(rho):.5f}" == "-0.00052"


def test_ours_and_definitions_are_not_called_true() -> None:
    entries = recorded()
    for name in papers_with_proofs():
        for of in papers()[name].everything:
            entry = entries[of.identifier]
            assert (entry["as_printed"] == "not in the paper") == is_ours(of), of.identifier
            assert (entry["as_printed"] == "false") == (entry["verdict"] == "refuted"), of.identifier


# only the statement's paper


def loaded_by(identifier: str) -> set[str]:
    program = (
        f"import sys; from fedconvex.proofs_checks import verify; verify({identifier!r})\n"
        "print(*[m for m in sys.modules if m.startswith('fedconvex.')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


@pytest.mark.slow
@pytest.mark.beyond_core  # starts processes
def test_a_statement_loads_no_other_papers_proofs() -> None:
    others = {
        f"fedconvex.{folder}.{paper}" for folder in ("theory", "proofs_checks") for paper in ("feddyn", "fedsplit")
    }
    loaded = loaded_by("fedprox.equation6")
    assert "fedconvex.proofs_checks.fedprox" in loaded
    assert not others & loaded
    assert others & loaded_by("feddyn.equation6")  # the check sees what is loaded
