"""Words with formulas in Unicode become LaTeX with mathematics, and long formulas become several lines."""

import re

import pytest

from fedconvex.claims.display.statements import displayed
from fedconvex.display import latex
from fedconvex.display.html import math
from fedconvex.display.latex import mathematics, prose
from fedconvex.theory import papers, statement

STATEMENTS = {s.identifier: s for paper in papers().values() for s in paper.everything}


def convertible(formula: str) -> bool:
    """Whether a converter of LaTeX can read it: another program than those that wrote it."""
    return not math(formula).startswith("<code")


@pytest.mark.parametrize(("text", "expected"), [
    ("For α ≥ 25L, the gap.", r"For $\alpha\ge 25L$, the gap."),
    ("at least κ₀E[ℓ(γ^{t−1}) − ℓ(θ_*)]", r"at least $\kappa_0E[\ell(\gamma^{t-1}) - \ell(\theta_*)]$"),
    ("a γ-inexact answer (Definition 1)", r"a $\gamma$-inexact answer (Definition 1)"),
    ("with B = √(1 + σ²/ε): at most", r"with $B = \sqrt{1 + \sigma^2/\epsilon}$: at most"),
    ("w̄^{t+1} is the mean of θ̃_k^t", r"$\bar{w}^{t+1}$ is the mean of $\tilde{\theta}_k^t$"),
    ("‖x^(1) − x*‖² is D", r"$\|x^{(1)} - x^*\|^2$ is $D$"),
    ("(λ)-smooth, a list and a > 0", r"$(\lambda)$-smooth, a list and $a > 0$"),
    ("use `rho_sharp`, or num_active", r"use \texttt{rho\_sharp}, or num\_active"),
    ("the 2 is not needed", "the 2 is not needed"),
    ("‖ȳ − x*‖ ≤ ±1, λ-strong", r"$\|\bar{y} - x^*\| \le\pm 1$, $\lambda$-strong"),
    ("mean‖∇F_k(x)‖² is σ*²/(2μ)", r"$\mathrm{mean}\|\nabla F_k(x)\|^2$ is $\sigma_*^2/(2\mu)$"),
    ("a mean (Güler)", r"a mean (G\"uler)"),
])  # fmt: skip
def test_runs_of_mathematics_are_found(text: str, expected: str) -> None:
    assert prose(text, latex.plain) == expected


@pytest.mark.parametrize("formula", ["x^t^2", "a^{b", "w^t²", "x^", "50 %", "a # b"])
def test_what_cannot_be_read_for_certain_is_no_mathematics(formula: str) -> None:
    assert mathematics(formula) is None
    assert "$" not in latex.words(f"the {formula} is") or mathematics(formula) is None


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.sample(69)
@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_the_appendix_has_mathematics_that_can_be_read(name: str) -> None:
    of = STATEMENTS[name]
    for text in (latex.words(of.words), latex.displayed(displayed(of).complete)):
        assert text.count("{") == text.count("}")
        assert text.count("$") % 2 == 0
        assert text.count(r"\left") == text.count(r"\right")
        assert text.isascii()
    for formula in re.findall(r"\$([^$]*)\$", latex.words(of.words)):
        assert convertible(formula), formula
    for formula in (
        *displayed(of).formulas,
        *displayed(of).where,
        displayed(of).conclusion or "x",
        displayed(of).complete,
    ):
        assert convertible(formula), formula


def test_hardly_any_words_are_left_as_typewriter_signs() -> None:
    signs = [name for name, of in STATEMENTS.items() if r"\textasciicircum" in latex.words(of.words)]
    assert len(signs) <= len(STATEMENTS) / 30, signs
    assert r"\textasciicircum" in latex.plain("γ^t")  # which would be noticed


def test_long_formulas_are_cut_outside_brackets() -> None:
    rho = latex.displayed(displayed(statement("fedprox.theorem4")).complete)
    lines = rho.split("\\\\\n")
    assert lines[0].startswith(r"\begin{gather*}\rho = \frac{1}{\mu} - \frac{\gamma B}{\mu}")
    assert lines[1].startswith(r"{}\text{where }\bar{\mu} = \mu - L_{-}")
    assert all(line.count(r"\left") == line.count(r"\right") for line in lines)
    assert latex.displayed("a + b") == r"\begin{gather*}a + b\end{gather*}"
