"""One statement on a screen: what it shows, in how many lines, and its formulas as mathematics."""

from dataclasses import replace

import pytest

from fedconvex.claims.display.plain_text import from_latex, mixed
from fedconvex.claims.display.statements import displayed
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.evidence import EvidenceLine
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.reporting.records import record
from fedconvex.proofs_checks.reporting.views import screen
from fedconvex.proofs_checks.verification import load
from fedconvex.shown import LINES
from fedconvex.statements.rendering import assumptions_of
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers

STATEMENTS = [s for paper in papers().values() for s in paper.everything]


def formulas(of: Statement) -> list[str]:
    """Those that are shown beside the lines of its proof, of which there are tests in `reporting`."""
    load(of.paper.name)
    said = remarks_of(of)
    assumed = [piece for a in assumptions_of(of) for piece in a.split("$")[1::2]]
    beside = [line.shown for line in (*said.compared, *said.misprints)]
    return [displayed(of).defined, displayed(of).conclusion, *assumed, *beside]


@pytest.mark.parametrize("of", STATEMENTS, ids=lambda of: of.identifier)
def test_every_formula_becomes_one_line_without_commands(of: Statement) -> None:
    for formula in formulas(of):
        line = from_latex(formula)
        assert "\\" not in line, formula
        assert "\n" not in line
        assert line.count("(") == line.count(")") or formula.count("(") != formula.count(")"), formula


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        (r"\tfrac mP\tfrac1\alpha", "(m/P)(1/α)"),
        (r"\frac{a + b}{2 c}", "(a + b)/(2 c)"),
        (r"\frac{1}{x^{2}}", "1/x²"),
        (r"\sqrt{K}\,\sqrt{2K}", "√K √(2K)"),
        (r"w^{t+1}-w^t \le \bar\mu", "w^{t+1}−w^t ≤ μ̄"),
        (r"\|\nabla f(w)\|^2", "‖∇f(w)‖²"),
        (r"x \unknown y", r"x \unknown y"),  # nothing is lost, and the test above would see it
    ],
)
def test_from_latex(formula: str, line: str) -> None:
    assert from_latex(formula) == line


def test_the_screen_of_corollary7() -> None:
    text = str(verify("fedprox.corollary7"))
    assert text == screen(record(verify("fedprox.corollary7")))
    for part in ("is PROVED", "false for Theorem 4's ρ", "of the algorithm", "K ≥ 4 B²", "1/96 >", "tightness", "note"):
        assert part in text
    assert len(text.splitlines()) < LINES


def test_a_failing_line_stands_beside_the_corrected_one() -> None:
    lines = str(verify("feddyn.equation3")).splitlines()
    fails = next(i for i, line in enumerate(lines) if line.startswith("fails"))
    assert "∇ℓ(θ^t)" in lines[fails]
    assert lines[fails + 1].startswith("corrected")
    assert "∇L_k(θ_*)" in lines[fails + 1]


def test_a_long_result_is_cut_and_says_so() -> None:
    found = record(verify("fedprox.corollary9"))
    assert len(screen(found).splitlines()) <= LINES
    longer = screen(replace(found, notes="word " * 2000)).splitlines()
    assert len(longer) == LINES
    assert "more lines: fedconvex verify fedprox.corollary9 --json -" in longer[-1]


def test_a_notebook_shows_what_the_report_shows() -> None:
    html = verify("feddyn.equation3")._repr_html_()
    for part in ("<math", "As printed", "false: two misprints", "verdict refuted", "kernel"):
        assert part in html


def test_text_with_formulas() -> None:
    assert mixed(r"for $\alpha \ge 25 L$ and $m$") == "for α ≥ 25 L and m"


@pytest.mark.parametrize(
    "name", ["fedprox.equation7", "fedsplit.equation17", "fedprox.definition1", "feddyn.equation3"]
)
def test_what_was_done_is_counted(name: str) -> None:
    found = record(verify(name))
    text = screen(found)
    assert f"is {found.verdict.upper()}" in text
    for role, word in (("proof", "replayed by the kernel"), ("compared", "with the running code"), ("printed", "fail")):
        number = sum(line.role == role for line in found.evidence)
        assert (word in text) >= (number > 0), (role, text)
    assert ("proved from" in text) is (found.verdict == "proved")
    assert ("program" in text) is (found.witness is not None)


def test_a_line_that_does_not_fail_is_not_said_to_fail() -> None:
    found = record(verify("fedprox.equation6"))
    line = EvidenceLine("a = b", "why", "(6)", "printed", "unknown", "exact numbers", "not seen to fail")
    assert "\nfails" not in screen(replace(found, evidence=(*found.evidence, line)))
    assert "\nfails" in screen(replace(found, evidence=(*found.evidence, replace(line, verdict="refuted"))))
