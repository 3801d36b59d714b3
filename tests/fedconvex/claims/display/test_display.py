"""Vectors, claims and settings in the papers' letters, compared with what the papers print."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from quantities_of_rounds import average, distance, gap, memory_error

from fedconvex.claims import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.display.formulas import symbols_of
from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.phrases import phrases
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.display.statements import displayed
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    IllFormed,
    after,
    answers,
    drawn,
    expected,
    family,
    free,
    gradient,
    inner,
    last_answers,
    later,
    mean,
    mean_of_rounds,
    memory,
    minimiser,
    named,
    next_round,
    norm,
    number,
    parameter,
    residuals,
    server,
    solutions,
    square,
    sum_of_rounds,
    value,
)
from fedconvex.statements import Statement
from fedconvex.theory import papers, statement

pytestmark = pytest.mark.beyond_core

mu, L, B, alpha = map(parameter, ("mu", "L", "B", "alpha"))


def display_of(paper: str, **changes: Any) -> Display:
    found = papers()[paper]
    return replace(Display.of(found.letters, symbols_of(found.notation)), **changes)


FEDPROX, FEDDYN, FEDSPLIT = (display_of(name) for name in ("fedprox", "feddyn", "fedsplit"))

PRINTED = [
    (FEDPROX, value(server(1)), "f(w^{t+1})"),
    (FEDPROX, expected(value(server(1))), r"\mathbb{E}_{S_t}[f(w^{t+1})]"),
    (FEDPROX, square(mean(gradient(server(0)))), r"\|\nabla f(w^t)\|^2"),
    (FEDPROX, square(gradient(server(0))), r"\mathbb{E}_k \|\nabla F_k(w^t)\|^2"),
    (FEDPROX, norm(gradient(server(0))), r"\sqrt{\mathbb{E}_k \|\nabla F_k(w^t)\|^2}"),
    (FEDPROX, norm(server(1) - server(0)), r"\|w^{t+1} - w^t\|"),
    (FEDPROX, norm(server(1) - server(0)) ** 2, r"\|w^{t+1} - w^t\|^2"),
    (FEDPROX, mean(answers), r"\mathbb{E}_k w_k^{t+1}"),
    (FEDPROX, mean(gradient(answers)), r"\mathbb{E}_k \nabla F_k(w_k^{t+1})"),
    (FEDPROX, mean(answers - server(0)), r"\mathbb{E}_k [w_k^{t+1} - w^t]"),
    (FEDPROX, drawn(answers), r"\frac{1}{K}\sum_{k\in S_t} w_k^{t+1}"),
    (FEDPROX, gradient(answers) + (answers - server(0)) * mu - residuals,
     r"\nabla F_k(w_k^{t+1}) + \mu (w_k^{t+1} - w^t) - e_k^{t+1}"),
    (FEDPROX, solutions - server(0), r"\hat w_k^{t+1} - w^t"),
    (FEDPROX, value(family("v")), r"\mathbb{E}_k F_k(v_k)"),
    (FEDPROX, inner(mean(gradient(server(0))), free("u")), r"\langle \nabla f(w^t), u\rangle"),
    (FEDPROX, inner(gradient(server(0)), answers), r"\mathbb{E}_k \langle \nabla F_k(w^t), w_k^{t+1}\rangle"),
    (FEDPROX, mean_of_rounds(square(mean(gradient(server(0))))),
     r"\frac{1}{T} \sum_{t=0}^{T-1} \mathbb{E}\|\nabla f(w^t)\|^2"),
    (FEDPROX, after(gap(server(0))), r"\mathbb{E}[f(w^T) - f(w^*)]"),
    (FEDDYN, expected(square(memory_error(1))),
     r"\frac{1}{m}\sum_k E\|\nabla L_k(\theta_k^t) - \nabla L_k(\theta_*)\|^2"),
    (FEDDYN, average(alpha), r"\theta^{t-1} + \frac{h^{t-1}}{\alpha}"),
    (FEDDYN, expected(value(server(0))), r"E \ell(\theta^{t-1})"),
    (FEDDYN, last_answers(0), r"\theta_k^{t-1}"),
    (FEDDYN, -server(0) + server(1), r"-\theta^{t-1} + \theta^t"),
    (FEDDYN, value(mean_of_rounds(server(0))), r"\ell\left(\frac{1}{T} \sum_{t=1}^T \theta^{t-1}\right)"),
    (FEDDYN, sum_of_rounds(value(server(0)), parameter("mu")), r"\sum_{t=1}^T \mu^{t-1} E \ell(\theta^{t-1})"),
    (FEDDYN, mean_of_rounds(server(0), 1 + alpha),
     r"\frac{1}{\sum_{t=1}^T (1 + \alpha)^{t-1}} \sum_{t=1}^T (1 + \alpha)^{t-1} \theta^{t-1}"),
    (FEDSPLIT, value(server(1)), r"\frac{1}{m} F(x^{(t+1)})"),
    (FEDSPLIT, value(server(1)) * 2, r"2 \frac{1}{m} F(x^{(t+1)})"),
    (FEDSPLIT, square(memory("z", 0) - family("v")), r"\frac{1}{m}\sum_{j=1}^m \|z_j^{(t)} - v_j\|^2"),
]  # fmt: skip


ARITHMETIC = [
    (8 / alpha**2 * B, r"\frac{8}{\alpha^2} B"),
    (1 / (alpha / mu), r"\frac{\mu}{\alpha}"),
    (1 / (1 / mu), r"\mu"),
    (1 / mu - B * L / mu + -L, r"\frac{1}{\mu} - \frac{B L}{\mu} - L"),
    (L - (-B), "L + B"),
    (L - (B - mu), r"L - (B - \mu)"),
    (L + (B - mu), r"L + (B - \mu)"),
    (-(L + B), "-(L + B)"),
    (2 * L**2 * (mu / alpha) * B, r"2 L^2 \frac{\mu}{\alpha} B"),
    ((2 * L) ** 2 / alpha, r"\frac{4 L^2}{\alpha}"),
    (L * 2 * 3, "6 L"),
    (4 * B * B * B**2, "4 B^4"),
    (Fraction(1, 2) * L, r"\frac{1}{2} L"),
    (-Fraction(3, 2) * L + 1, r"-\frac{3}{2} L + 1"),
    (L**2 / alpha**2 * 4 * B, r"\frac{L^2}{\alpha^2} \cdot 4 B"),
    ((L / mu + 1) / alpha, r"\frac{1}{\alpha} \left(\frac{L}{\mu} + 1\right)"),
    (1 / (1 + L / mu), r"\frac{1}{1 + L/\mu}"),
    (1 / (1 + 1 / (L * mu)), r"\frac{1}{1 + 1/(L \mu)}"),
    ((1 + L / mu) ** alpha, r"\left(1 + \frac{L}{\mu}\right)^{\alpha}"),
    ((L / mu).sqrt(), r"\sqrt{\frac{L}{\mu}}"),
    (L * (2 / mu).sqrt() / B, r"\frac{L \sqrt{2}}{\sqrt{\mu} B}"),
    (L.max(B).max(mu), r"\max(L, B, \mu)"),
    (abs(1 - L), r"\left|1 - L\right|"),
    (-((-L).max(-B)), r"\min(L, B)"),
    (L**2**2 * (B**2) ** 3, r"L^4 (B^2)^3"),
]


FEDPROX_AND_ALPHA = display_of("fedprox", symbols={"mu": r"\mu", "L": "L", "B": "B", "alpha": r"\alpha"})
SHOWN = [*PRINTED, *((FEDPROX_AND_ALPHA, *pair) for pair in ARITHMETIC)]


@pytest.mark.parametrize(("display", "term", "latex"), SHOWN, ids=[latex for _, _, latex in SHOWN])
def test_terms_are_written_as_in_the_papers(display: Display, term: Any, latex: str) -> None:
    """Arithmetic keeps its order and has no nested fractions."""
    assert display.latex(term) == latex


def test_plain_text_is_one_line_in_unicode() -> None:
    assert FEDPROX_AND_ALPHA.text((1 + L / mu) / alpha) == "(1 + L/μ)/α"
    assert FEDPROX.text(at_most(norm(server(1) - server(0)), mu**2)) == "‖w^{t+1} − w^t‖ ≤ μ²"
    assert from_latex(r"\frac{1}{m}\sum_k \tilde\theta_k^{t-1}") == "(1/m)Σ_k θ̃_k^{t−1}"


def test_a_claim_of_a_run_counts_from_its_start() -> None:
    claim = at_most(after(gap(server(0))), distance(0), rounds="T")
    assert FEDDYN.latex(claim) == r"E[\ell(\theta^T) - \ell(\theta_*)] \le \|\theta^0 - \theta_*\|^2"
    steps = at_most(norm(server(0) - minimiser), after(norm(server(0) - minimiser)), rounds="t")
    assert FEDSPLIT.latex(steps) == r"\|x^{(1)} - x^*\| \le \|x^{(t+1)} - x^*\|"
    start = named("D_@", distance(0))
    assert FEDDYN.where(at_most(start, start, rounds="T")) == [r"D_t = \|\theta^t - \theta_*\|^2"]
    one = Claim(norm(answers - server(0)), "<=", norm(server(0)), of_client=True)
    assert r"\text{for every } k" in FEDPROX.latex(one)


def test_a_claim_of_each_client_has_no_means() -> None:
    formula = r"L_k(\theta_*) - \langle \nabla L_k(\theta_*), \theta^t\rangle"
    term = value(minimiser) - inner(gradient(minimiser), server(1))
    assert FEDDYN.latex(at_most(term, term, of_client=True)) == rf"{formula} \le {formula}\quad\text{{for every }} k"
    assert "L_k" not in FEDDYN.latex(at_most(value(minimiser), 0))


def test_what_has_a_letter_of_the_paper_is_said_in_words() -> None:
    assert FEDDYN.where(named("h_#^@", memory("gradient", 1))) == [r"h_k^t\text{ is client k's memory gradient}"]
    assert FEDDYN.where(0 * free("x")) == []
    assert FEDDYN.where(named("d_@", 2 * server(0))) == [r"d_t = 2 \theta^t"]
    assert FEDDYN.where(named("d", 2 * server(0))) == [r"d = 2 \theta^{t-1}"]


def test_symbols_have_the_time_of_what_they_mean() -> None:
    before = named(r"\gamma^@", average(alpha))
    assert FEDDYN.latex(before) == r"\gamma^{t-1}"
    assert FEDDYN.latex(later(before)) == FEDDYN.latex(next_round(before)) == r"\gamma^t"
    assert FEDDYN.latex(after(square(before))) == r"E\|\gamma^T\|^2"
    assert FEDDYN.latex(sum_of_rounds(square(before))) == r"\sum_{t=1}^T E\|\gamma^{t-1}\|^2"
    assert FEDPROX.latex(named("Q_{@-1}", square(server(1) - server(0)))) == "Q_t"
    said = [r"\gamma^t = \theta^t + \frac{h^t}{\alpha}", r"h^t\text{ is the server's vector h}"]
    assert FEDDYN.where(equal(later(before), before)) == said
    with pytest.raises(IllFormed, match="write @ in the place of the time"):
        named(r"\gamma^{(t)}", average(alpha))


def test_a_symbol_is_defined_before_those_that_its_meaning_needs() -> None:
    lemma = statement("feddyn.lemma1")
    symbols = [meaning.partition(" = ")[0] for meaning in lemma.where if " = " in meaning]
    assert symbols == [r"\gamma^t", r"\kappa", "C_t", r"\kappa_0"]
    rounds = statement("fedsplit.theorem2roundbyround").where
    symbols = [meaning.partition(" = ")[0] for meaning in rounds if " = " in meaning]
    assert symbols == [r"z_{\lambda,j}^*", r"x_\lambda^*", "q", r"L_\lambda^*"]


def test_a_factor_is_shown_with_what_is_claimed_of_it() -> None:
    theorem = statement("fedprox.theorem4")
    decrease = square(mean(gradient(server(0))))
    states = lambda rho: at_most(expected(value(server(1))), value(server(0)) - rho * decrease)  # noqa: E731
    shown = displayed(claiming(theorem, states))
    assert shown.formula.startswith(r"\rho = \frac{1}{\mu} - \frac{\gamma B}{\mu} - \frac{B (1 + \gamma) \sqrt{2}}")
    assert shown.where == (r"\bar\mu = \mu - L_{-}",)
    assert shown.conclusion == r"\mathbb{E}_{S_t}[f(w^{t+1})] \le f(w^t) - \rho \|\nabla f(w^t)\|^2"
    plain = displayed(claiming(theorem, states), plain=True)
    assert plain.conclusion == "E_{S_t}[f(w^{t+1})] ≤ f(w^t) − ρ ‖∇f(w^t)‖²"


def claiming(of: Statement, states: Any) -> Statement:
    return replace(of, states=states)


def test_settings_are_told_in_phrases() -> None:
    setting = ClaimSetting(
        method="FedDyn", method_parameters={"alpha": alpha}, signs={"L": "positive", "num_active": "positive"},
        counts=frozenset({"num_active"}), conditions=((alpha, ">=", 25 * L), (number(1), ">=", mu)),
        curvature=(number(0), L), draws=DrawScheme("uniform", parameter("num_active"), parameter("num_clients")),
        minimiser=True,
    )  # fmt: skip
    told = phrases(setting, FEDDYN)
    for phrase in (
        r"the method is FedDyn with $\alpha$", "every client's function is convex",
        "every client's function is $L$-smooth", r"the objective has a minimiser $\theta_*$",
        "$P$ of $m$ clients take part in a round, every set equally likely", r"$\alpha \ge 25 L$", r"$\mu \le 1$",
        "$P$ is a positive integer", "$L > 0$",
    ):  # fmt: skip
        assert phrase in told
    assert "α ≥ 25 L" in phrases(setting, FEDDYN, plain=True)


@pytest.mark.parametrize(("changes", "phrase"), [
    ({"curvature": (-L, L)}, "every client's function is $L$-smooth"),
    ({"curvature": (mu, L)}, r"every client's function is $\mu$-strongly convex"),
    ({"curvature": (-mu, L)}, r"every client's function has curvatures of at least $-\mu$"),
    ({"curvature": (-mu, L)}, "every client's function has curvatures of at most $L$"),
    ({"objective": (number(0), None)}, "the objective is convex"),
    ({"answers": "inexact", "inexactness": B},
     "every answer is $B$-inexact: its subproblem's gradient is at most $B$ times that at the start"),
    ({"answers": "error", "inexactness": B}, "every answer is at most $B$ from the subproblem's solution"),
    ({"draws": DrawScheme("independent", L)},
     "$L$ clients are drawn independently with probabilities $p_k$, and averaged plainly"),
    ({"dissimilarity": B}, "the clients' functions are $B$-dissimilar at the server's point before a round"),
    ({"starts_at_own_minima": True}, "each client's first model is a stationary point of its own function"),
    (running("FedSplit", stepsize=1 / L),
     r"the method is FedSplit with server 'all', start 'center', stepsize $\frac{1}{L}$"),
])  # fmt: skip
def test_every_assumption_of_a_setting_is_told(changes: dict[str, Any], phrase: str) -> None:
    assert phrase in phrases(ClaimSetting(**changes), FEDPROX)
    assert phrase not in phrases(ClaimSetting(), FEDPROX)
