"""`fedconvex bounds` without values: lists of statements, a statement with its options, LaTeX, help, start-up."""

import json

import pytest
from bounds_runner import invoke
from command_runner import running

from fedconvex import theory
from fedconvex.commands.bounds.formulas import entries, find
from fedconvex.statements.rendering import text
from fedconvex.theory import fedprox

run = running("bounds")


@pytest.mark.beyond_core  # takes seconds
def test_all_statements_are_listed_by_paper():
    printed = invoke()
    for paper in theory.papers().values():
        assert paper.reference in printed
        for statement in paper:
            assert f" {statement.identifier} " in printed


def test_one_paper_is_listed_with_its_calls_and_calculators():
    printed = invoke("fedprox")
    assert "rho(mu, L, L_minus, B, gamma, K)" in printed
    assert "fedprox.rho_terms" in printed
    assert "fedsplit.theorem1" not in printed
    listed = json.loads(invoke("fedprox", "--json"))["statements"]
    assert [s["statement"] for s in listed] == [e.identifier for e in entries(fedprox.PAPER)]
    assert listed[4]["parameters"]["K"]["range"] == "an integer, >= 1"


def test_a_statement_without_values_is_shown_with_its_options():
    printed = invoke("fedprox.theorem4")
    assert printed.strip() == text(fedprox.theorem4).strip()
    assert "--L-minus" in printed
    assert "--mu μ: weight of the proximal term (> 0)" in invoke("fedprox.rho_terms")
    assert json.loads(invoke("fedprox.rho_terms", "--json"))["claim"] == "calculator"


def test_latex_is_printed_alone():
    lemma = theory.statement("feddyn.lemma10")
    assert invoke("feddyn.lemma10", "--latex").strip().startswith(lemma.latex + r"\quad\text{where }\kappa = ")
    assert all(meaning in invoke("feddyn.lemma10", "--latex") for meaning in lemma.where)
    assert invoke("fedprox.rho_terms", "--latex").startswith(r"\frac{1}{\mu},\qquad")


@pytest.mark.beyond_core  # takes seconds
def test_every_formula_can_be_shown_and_no_parameter_is_called_like_an_option():
    for paper in theory.papers().values():
        for entry in entries(paper):
            assert entry.identifier in entry.text
            assert entry.latex
            assert find(entry.identifier).calculator is entry.calculator
            assert not {"sweep", "out", "plot", "json", "latex", "help"} & entry.parameters.keys()


@pytest.mark.beyond_core  # takes seconds
def test_help_is_written_for_humans(run):
    code, out, _ = run("--help")
    words = " ".join(out.split())
    assert code == 0
    assert "List, show, compute, sweep and draw" in words
    assert "--sweep mu=5:80:200" in words
    assert "1 the statement guarantees nothing at these values" in words
