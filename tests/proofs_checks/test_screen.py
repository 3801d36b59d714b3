"""One statement on a screen: what it shows, in how many lines, and its formulas as mathematics."""

from dataclasses import replace

import pytest
import sympy

from fedconvex.claims.display.statements import displayed
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.engines.hilbert import vector
from fedconvex.proofs_checks.reporting.mathematics import from_expression, from_latex, mixed
from fedconvex.proofs_checks.reporting.records import record
from fedconvex.proofs_checks.reporting.screen import LINES, screen
from fedconvex.proofs_checks.verification import proof_of
from fedconvex.statements.rendering import assumptions_of, symbols
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox, papers

STATEMENTS = [s for paper in papers().values() for s in paper.everything]


def formulas(of: Statement) -> list[str]:
    proof = proof_of(of)
    assumed = [piece for a in assumptions_of(of) for piece in a.split("$")[1::2]]
    return [
        displayed(of).defined,
        displayed(of).conclusion,
        *assumed,
        *(step.shown for step in (proof.steps if proof else ())),
    ]


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


def test_claims_have_the_papers_letters_and_no_code() -> None:
    names = symbols(fedprox.PAPER.notation)
    K, mu, L_minus = names["K"], names["mu"], names["L_minus"]
    line = from_expression(1 / (mu - L_minus) ** 2 + 3 * sympy.sqrt(K) * mu, fedprox.PAPER.notation)
    assert set(line) >= {"μ", "₋", "√", "·", "²"}
    assert "**" not in line
    assert "*" not in line
    assert "L_minus" not in line
    assert from_expression(sympy.Symbol("θ*") * 2, {}) == "2·θ*"  # a star in a name is no product
    assert from_expression(2 * vector("u") - vector("v"), {}) == "(2)·[u] + (−1)·[v]"


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
    assert "∇ℓ(θ_*)" in lines[fails + 1]


def test_a_long_result_is_cut_and_says_so() -> None:
    found = record(verify("fedprox.corollary9"))
    assert len(screen(found).splitlines()) <= LINES
    longer = screen(replace(found, notes="word " * 2000)).splitlines()
    assert len(longer) == LINES
    assert "more lines: fedconvex verify fedprox.corollary9 --json -" in longer[-1]


def test_a_notebook_shows_what_the_report_shows() -> None:
    html = verify("feddyn.equation3")._repr_html_()
    for part in ("<math", "As printed", "false: two misprints", "The proof, step by step", "verdict refuted"):
        assert part in html


def test_text_with_formulas() -> None:
    assert mixed(r"for $\alpha \ge 25 L$ and $m$") == "for α ≥ 25 L and m"
