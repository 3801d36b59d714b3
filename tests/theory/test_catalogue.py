"""Every numbered statement of the papers is in the catalogue, renders, and is on the generated page of the guide."""

import re

import pytest
import sympy
from documents import making
from statement_makers import modules, statements

from fedconvex import theory
from fedconvex.errors import InvalidInput
from fedconvex.statements import ClaimType, Statement
from fedconvex.statements.assumptions import Assumption
from fedconvex.statements.rendering import assumptions_of, parameters_of, text
from fedconvex.statements.results import parts
from fedconvex.theory import feddyn, fedprox
from fedconvex.theory.feddyn.assumptions import ACTIVE

# What is numbered in the papers, read off their pages.
NUMBERED = {
    "fedprox": [
        *(f"definition{i}" for i in (1, 2, 3)), "assumption1", "theorem4", "remark5", "theorem6", "corollary7",
        "remark8", "corollary9", "corollary10", "theorem11", *(f"equation{i}" for i in range(1, 17)),
    ],
    "fedsplit": [
        *(f"proposition{i}" for i in (1, 2, 3)), "theorem1", "corollary1", "theorem2",
        *(f"equation{i}" for i in range(1, 23)),
    ],
    "feddyn": [
        *(f"theorem{i}" for i in range(1, 6)), *(f"lemma{i}" for i in range(1, 22)),
        *(f"equation{i}" for i in range(1, 21)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_statement_is_there(paper: str) -> None:
    assert set(theory.papers()[paper].statements) == set(NUMBERED[paper])


@pytest.mark.parametrize("paper", NUMBERED)
def test_statements_are_attributes_by_number(paper: str) -> None:
    module = modules()[paper]
    for name in NUMBERED[paper]:
        assert getattr(module, name).identifier == f"{paper}.{name}"
    with pytest.raises(AttributeError, match="theorem99"):
        module.theorem99  # noqa: B018 - the access is the test


def test_identifiers_find_statements() -> None:
    for s in statements():
        assert theory.statement(s.identifier) is s
    assert theory.statement(" FedProx.Theorem4 ") is fedprox.theorem4
    with pytest.raises(InvalidInput, match=r"fedprox\.theorem4"):
        theory.statement("fedprox.theorm4")


@pytest.mark.parametrize("statement", statements(), ids=lambda s: s.identifier)
def test_statement_is_complete(statement: Statement) -> None:
    assert isinstance(statement.claim_type, ClaimType)
    assert all(isinstance(a, Assumption) for a in statement.assumptions)
    assert statement.words.endswith((".", ":", "‖²", "ε")) or len(statement.words) > 20
    assert len(statement.symbol) == len(list(parts(statement.expression)))
    assert (statement.symbol == ("",)) == (statement.left is not None)
    for assumption in statement.assumptions:
        assert set(assumption.parameters) <= statement.paper.notation.keys() | statement.calculator.parameters.keys()


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("statement", statements(), ids=lambda s: s.identifier)
def test_statement_renders(statement: Statement) -> None:
    markdown = statement._repr_markdown_()
    assert statement.latex in markdown
    assert statement.identifier in markdown
    assert statement.identifier in str(statement)
    for name, parameter in statement.calculator.parameters.items():
        assert f"`{name}`" in markdown
        assert parameter.meaning in text(statement)
    assert statement.latex.count("{") == statement.latex.count("}")
    assert statement.latex.count(r"\left") == statement.latex.count(r"\right")


def names_outside_formulas(phrase: str, statement: Statement) -> set[str]:
    """Parameters that the phrase calls by their Python names."""
    known = set(parameters_of(statement)).union(*(assumption.parameters for assumption in statement.assumptions))
    return set(re.findall(r"\w+", re.sub(r"\$[^$]*\$", "", phrase))) & known


@pytest.mark.parametrize("statement", statements(), ids=lambda s: s.identifier)
def test_assumptions_are_told_in_the_letters_of_the_paper(statement: Statement) -> None:
    for phrase in assumptions_of(statement):
        assert names_outside_formulas(phrase, statement) == set()


def test_a_name_in_place_of_a_letter_would_be_noticed() -> None:
    named = [str(assumption) for assumption in feddyn.theorem3.assumptions]
    found = set.union(*(names_outside_formulas(phrase, feddyn.theorem3) for phrase in named))
    assert {"num_active", "num_clients", "mu", "L"} <= found


def test_latex_is_the_formula_that_runs() -> None:
    assert sympy.latex(sympy.Symbol("mu")) == r"\mu"
    assert r"\mu" in fedprox.theorem4.latex
    assert fedprox.theorem4.expression.has(sympy.sqrt(sympy.Symbol("K", integer=True, positive=True, real=True)))


def test_the_page_lists_every_statement() -> None:
    found = re.findall(r"^### `([\w.]+)`", making("statement_page").as_markdown(), re.MULTILINE)
    assert sorted(found) == sorted(s.identifier for s in statements())
    for paper, names in NUMBERED.items():
        assert {f"{paper}.{name}" for name in names} <= set(found)


@pytest.mark.beyond_core  # takes seconds
def test_a_missing_statement_would_be_noticed() -> None:
    text = making("statement_page").as_markdown().replace("### `fedprox.theorem4`", "")
    assert "fedprox.theorem4" not in re.findall(r"^### `([\w.]+)`", text, re.MULTILINE)


# Conditions that a calculator cannot refuse, since it is not told one of their letters: on the method or the scheme,
# which are no argument of the formula. Those on an argument itself are only these.
LONG_AND_SHORT = {
    "L <= 1/stepsize", "L >= 1/stepsize - sqrt(N)*sqrt(sigma2)/D", "D >= sqrt(N)*sqrt(sigma2)*stepsize",
}  # fmt: skip
NOT_TOLD = {
    "feddyn.equation13": {"mu <= L"},  # mu is no argument
    "feddyn.theorem1convex": {"alpha = 30*L*sqrt(num_clients)/sqrt(num_active)"},  # α is not in the bound
    "feddyn.theorem1nonconvex": {"alpha = 30*L*num_clients/num_active"},
    "feddyn.theorem1stronglyconvex": {"alpha = Max(30*L, 5*mu*num_clients/num_active)"},
    "feddyn.theorem5convex": {"alpha = 50*L*sqrt(num_clients)/sqrt(num_active)"},
    "feddyn.theorem5nonconvex": {"alpha = 50*L*num_clients/num_active"},
    "feddyn.theorem5stronglyconvex": {"alpha = Max(50*L, 50*mu*num_clients/num_active)"},
    "fedprox.equation15": {"K >= 4*B**2"},
    "fedprox.equation16": {"K >= 4*B**2"},
    "fedprox.remark8": {"K >= 4 + 4*sigma2/epsilon"},
    "fedprox.remark8sharper": {"K >= 4*sqrt(1 + sigma2/epsilon)"},
    "fedprox.theorem6": {"mu > L_minus", "rho <= ρ of Theorem 4"},  # rho is what the user has shown
    "fedsplit.theorem2": {"regularizer < epsilon/(num_clients*squared_distance)"},
    "ghadimi_lan.corollary2_2nonconvex": LONG_AND_SHORT,  # the stepsize is no argument
    "ghadimi_lan.corollary2_2convex": LONG_AND_SHORT,
    "nesterov.theorem2_1_15": {"mu <= L", "stepsize = 2/(L + mu)", "kappa >= L/mu"},  # kappa is L/mu, or more
    "nesterov.corollary2_1_2": {"stepsize = 1/L"},
}


@pytest.mark.parametrize("statement", statements(), ids=lambda s: s.identifier)
def test_calculators_refuse_what_their_statement_excludes(statement: Statement) -> None:
    checked = {c for side in (statement.calculator, statement.left) if side is not None for c in side.conditions}
    conditions = {c for a in statement.assumptions for c in a.conditions} - checked
    told = {c.text(statement.paper.notation) for c in conditions if c != ACTIVE}
    told = {"rho <= ρ of Theorem 4" if text.startswith("rho <= ") else text for text in told}
    assert told == NOT_TOLD.get(statement.identifier, set())
    if ACTIVE in conditions:
        assert "num_active" not in statement.calculator.parameters
