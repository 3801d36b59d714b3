"""The appendix fits on the page: by what stays of a formula that is cut, and by TeX where there is one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fedconvex.claims.display.differences import MARK, normal, parsed, unmarked
from fedconvex.claims.display.statements import displayed as displayed_statement
from fedconvex.claims.display.statements import printed_beside
from fedconvex.display import latex
from fedconvex.display.documents import Heading
from fedconvex.display.line_breaks import LINE, in_lines, width
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core

MOST = 20.0  # points over the margin


def formulas() -> list[str]:
    """All displays of the catalogue, those with marks among them."""
    statements = [s for paper in papers().values() for s in paper.everything]
    marked = [both for s in statements if (both := printed_beside(s)) is not None]
    return [*(displayed_statement(s).complete for s in statements), *(side for both in marked for side in both)]


def in_one(lines: list[str]) -> str:
    """The formula that was cut: without the signs that cutting adds."""
    text = " ".join(line.removeprefix("{}").removeprefix(r"\cdot ") for line in lines)
    return re.sub(r"\\Big[lr]", "", re.sub(r"\\(?:left|right)(?![a-z])", "", unmarked_pieces(text))).replace(" ", "")


def unmarked_pieces(text: str) -> str:
    return unmarked(re.sub(r"\\Big[lr]", "", text))


@pytest.mark.parametrize("formula", sorted(set(formulas()), key=len)[-120:], ids=len)
def test_nothing_is_lost_and_each_line_is_a_formula(formula: str) -> None:
    lines = in_lines(formula)
    for line in lines:
        parsed(line)  # raises where braces, or brackets that grow, are cut
    assert in_one(lines) == in_one([normal(formula)])


def test_lines_are_short_where_there_is_a_place_to_cut() -> None:
    long = [lines for f in formulas() if len(lines := in_lines(f)) > 1]
    assert len(long) > 40
    widest = max(width(parsed(line)) for lines in long for line in lines)
    assert widest < 1.15 * LINE
    assert max(width(parsed(f)) for f in formulas()) > 3 * LINE  # uncut they are far wider


@pytest.mark.parametrize(
    ("formula", "lines"),
    [
        ("a = b", ["a = b"]),
        ("a + b" * 40, None),
        (r"\frac{a}{b" * 60, [r"\frac{a}{b" * 60]),  # unreadable: whole
        (" + ".join("x" * 30) + " = y", None),
    ],
)
def test_short_and_unreadable_formulas_stay_whole(formula: str, lines: list[str] | None) -> None:
    assert lines is None or in_lines(formula) == lines
    assert lines is not None or len(in_lines(formula)) > 1


def test_lines_begin_at_the_outermost_sign() -> None:
    inside = " + ".join(["x"] * 10)
    assert in_lines(rf"y = (a + {inside}) + (b + {inside}) + (c + {inside})") == [
        rf"y = (a + {inside}) + (b + {inside})", rf"{{}}+ (c + {inside})",
    ]  # fmt: skip
    (first, second) = in_lines(rf"y = {MARK}{{{inside} + {inside} + {inside} + {inside}}}")
    assert first.count(MARK) == second.count(MARK) == 1
    assert in_lines(rf"y = \left({inside} + {inside} + {inside} + {inside}\right)")[0].startswith(r"y = \Bigl(")


def overfull(body: list[str], folder: Path) -> tuple[list[float], int]:
    """By how many points lines are too wide, and the number of errors, of a document with these displays."""
    (folder / "page.tex").write_text("\n\n".join([latex.HEAD, *body, r"\end{document}"]), "utf-8")
    subprocess.run(["pdflatex", "-interaction=nonstopmode", "page.tex"], cwd=folder, capture_output=True, check=False)
    log = (folder / "page.log").read_text("latin-1")
    return [float(x) for x in re.findall(r"^Overfull \\hbox \(([\d.]+)pt", log, re.M)], len(re.findall("^!", log, re.M))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here: no width was measured")
def test_tex_sets_every_heading_and_display_within_the_margin(tmp_path: Path) -> None:
    statements = [s for paper in papers().values() for s in paper.everything]
    headings = [latex.block_as_latex(Heading(f"{s.source} (`{s.identifier}`): COMPARED")) for s in statements]
    wide, errors = overfull([*headings, *(latex.displayed(f) for f in formulas())], tmp_path)
    assert errors == 0
    assert max(wide, default=0) <= MOST
    whole, _ = overfull([rf"\begin{{gather*}}{f}\end{{gather*}}" for f in formulas()], tmp_path)
    assert max(whole) > 300  # what the measurement would notice
