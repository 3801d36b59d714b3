"""Differences of formulas, marked: in LaTeX that compiles, in plain text, and in all that papers print otherwise."""

import re
import unicodedata

import pytest

from fedconvex.claims.display.differences import MARK, marked, marked_plainly, normal, parsed, unmarked
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.display.statements import displayed, printed_and_here, printed_beside
from fedconvex.errors import InvalidInput
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn, fedprox, fedsplit, papers

EVERY = [statement for paper in papers().values() for statement in paper.everything]
BESIDE = [statement for statement in EVERY if printed_and_here(statement) is not None]


@pytest.mark.parametrize(("first", "second", "left", "right"), [
    ("a + b", "a - b", r"a \underline{+} b", r"a \underline{-} b"),
    ("a + b", "a", r"a \underline{+ b}", "a"),
    (r"\frac{\lambda}{2m}\|z\|^2", r"\frac\lambda2\|z\|^2", r"\frac{\lambda}{2\underline{m}}\|z\|^{2}",
     r"\frac{\lambda}{2}\|z\|^{2}"),
    ("w_k^t", "w^t", r"w_{\underline{k}}^{t}", "w^{t}"),  # a script stays where its base is
    ("a b x^{t+1}", "a b x_*", r"a b x^{\underline{t+1}}", r"a b x_{\underline{*}}"),
    (r"\left(a + b\right)c", r"\left(a\right)c", r"\left(a \underline{+ b}\right)c", r"\left(a\right)c"),
    (r"\left[a\right] + c + d", r"\left(a\right) + c + d", r"\underline{\left[a\right]} + c + d",
     r"\underline{\left(a\right)} + c + d"),
    (r"\tilde\theta_k + 1", r"\theta_k + 1", r"\underline{\tilde{\theta}}_{k} + 1", r"\underline{\theta}_{k} + 1"),
    ("24 L B", "4 L B", r"\underline{24} L B", r"\underline{4} L B"),  # a number is one token
    (r"a\text{ for }b", r"a\text{ with }b", r"a\underline{\text{ for }}b", r"a\underline{\text{ with }}b"),
    ("x = y z", r"\sqrt{u}", r"\underline{x = y z}", r"\underline{\sqrt{u}}"),  # little in common: marked as a whole
    (r"a b \sum_{j=1}^m x_j", "a b x_j^m", r"a b \underline{\sum_{j=1}^{m}} x_{j}", r"a b x_{j}^{\underline{m}}"),
    ("{a} b c", "{d} b c", r"{\underline{a}} b c", r"{\underline{d}} b c"),
])  # fmt: skip
def test_what_differs_is_underlined(first: str, second: str, left: str, right: str) -> None:
    assert marked(first, second) == (left, right)
    assert marked(second, first) == (right, left)
    assert (unmarked(left), unmarked(right)) == (normal(first), normal(second))


@pytest.mark.parametrize("same", [
    ("a+b", "a + b"), (r"\frac{1}{T} x^2", r"\frac 1T x^{2}"), (r"\rho\,\|x\|", r"\rho \|x\|"), ("x", "x"), ("", ""),
    (r"\bar\mu", r"\bar{\mu}"),
])  # fmt: skip
def test_equal_formulas_have_no_mark(same: tuple[str, str]) -> None:
    assert all(MARK not in side for side in marked(*same))
    assert all("[-" not in side and "{+" not in side for side in marked_plainly(*same))
    assert parsed(same[0]) == parsed(same[1])


def test_a_difference_of_one_token_is_never_missed() -> None:
    formula = r"E\|\gamma^t - \theta_*\|^2 \le \frac{8 m}{P \alpha} \left(C_{t-1} + \frac{1}{m}\sum_k L_k\right)"
    for old, new in (
        ("8", "9"),
        ("t-1", "t"),
        (r"\le ", "= "),
        ("m}{P", "P}{m"),
        (r"\theta_*", r"\theta^*"),
        ("+", "-"),
    ):
        changed = formula.replace(old, new)
        left, right = marked(formula, changed)
        assert MARK in left + right
        assert (unmarked(left), unmarked(right)) == (normal(formula), normal(changed))
        assert normal(formula) != normal(changed)


def test_in_plain_text() -> None:
    assert marked_plainly(r"\frac{\lambda}{2m} x", r"\frac{\lambda}{2} x") == ("(λ/(2[-m-])) x", "(λ/2) x")
    assert marked_plainly("a + b", "a - b") == ("a [-+-] b", "a {+−+} b")
    assert marked_plainly("w_k^t", "w^t") == ("w_{[-k-]}^t", "w^t")
    assert marked_plainly("E[f(w)] + 1 + 2", "f(w) + 1 + 2") == ("[-E[ -]f(w)[- ] -] + 1 + 2", "f(w) + 1 + 2")


@pytest.mark.parametrize("unbalanced", ["{a", "a}", r"\frac{1}", r"\left(a", r"a\right)", "x^", r"\left(a\right"])
def test_unbalanced_latex_is_refused(unbalanced: str) -> None:
    with pytest.raises(InvalidInput, match="balance it"):
        parsed(unbalanced)


def letters_of(text: str) -> str:
    """What a plain formula says, without brackets, spaces and signs of place."""
    return re.sub(r"[\s(){}^_·]", "", unicodedata.normalize("NFKC", text))


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("statement", BESIDE, ids=lambda s: s.identifier)
def test_marks_of_the_catalogue_read_back_to_both_sources(statement: Statement) -> None:
    both, sides = printed_and_here(statement), printed_beside(statement)
    assert both is not None
    assert sides is not None  # nothing is listed as printed otherwise that is the same
    assert any(MARK in side for side in sides)
    assert tuple(map(unmarked, sides)) == tuple(map(normal, both))
    plainly = printed_beside(statement, plain=True)
    assert plainly is not None
    for text, latex, marks in zip(plainly, both, (("[-", "-]"), ("{+", "+}")), strict=True):
        without = text.replace(marks[0], "").replace(marks[1], "")
        assert letters_of(without) == letters_of(from_latex(latex))
        assert text.count(marks[0]) == text.count(marks[1])
        assert "⟦" not in text


def test_known_misprints_are_what_is_marked() -> None:
    remark8 = printed_beside(fedprox.remark8)
    assert remark8 is not None
    assert [side.count(MARK) for side in remark8] == [2, 2]
    assert r"L_{\underline{\alpha}}" in remark8[0]
    assert r"L \underline{\Delta}" in remark8[1]
    step = printed_beside(fedsplit.equation17corrected, plain=True)
    assert step is not None
    assert "[-+-] (u_j − x_j^{(t)})" in step[0]
    assert "{+− α+} (u_j − x_j^{(t)})" in step[1]
    memory = printed_beside(feddyn.equation15)
    assert memory is not None
    assert memory[0].count(r"\underline{\theta}_{k}^{t}") == memory[1].count(r"\underline{\tilde{\theta}}_{k}^{t}") == 1


def test_statements_that_are_as_printed_have_nothing_beside() -> None:
    assert printed_beside(fedprox.theorem4) is None
    assert printed_beside(feddyn.lemma1) is None
    assert printed_beside(fedsplit.equation17) is None  # false, and shown as it is printed
    assert len(BESIDE) < len(EVERY) / 2


def test_what_is_printed_is_of_statements_that_exist() -> None:
    for paper in papers().values():
        assert paper.printed.keys() <= paper.statements.keys()
        for printed in paper.printed.values():
            parsed(printed.formula)
            parsed(printed.here)


def test_the_sum_of_the_weights_has_the_papers_letter() -> None:
    shown = displayed(feddyn.theorem3)
    assert shown.formula.startswith(r"E \ell\left(\frac{1}{R} \sum_{t=1}^T r^{t-1} \gamma^{t-1}\right)")
    assert r"R = \sum_{t=1}^T r^{t-1}" in shown.where
    assert not any(text.startswith("R =") for text in displayed(feddyn.theorem2).where)  # whose weights are 1
    assert "E[E[" not in displayed(feddyn.equation18).formula
