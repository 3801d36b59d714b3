"""Every displayed formula is made of terms: of a claim, or of the formula that the statement is about."""

import math
from dataclasses import replace

import pytest
from program_runner import printed

from fedconvex import InvalidInput
from fedconvex.claims.display.formulas import formula
from fedconvex.claims.display.statements import displayed
from fedconvex.claims.statements import without_claim
from fedconvex.claims.terms import IllFormed, Number, parameter
from fedconvex.statements import Statement
from fedconvex.statements.functions import ceil
from fedconvex.theory import fedprox, papers

# Everything that shows formulas, where SymPy cannot be imported.
WITHOUT_SYMPY = """
import sys
sys.modules["sympy"] = None
from fedconvex.commands.bounds.formulas import entries
from fedconvex.theory import papers
shown = 0
for paper in papers().values():
    for entry in entries(paper):
        assert entry.latex
        shown += 1
        if entry.statement is not None:
            entry.statement._repr_markdown_()
print(shown)
"""


def everything() -> list[Statement]:
    return [s for paper in papers().values() for s in paper.everything]


@pytest.mark.beyond_core
def test_formulas_are_displayed_where_there_is_no_sympy() -> None:
    assert int(printed(WITHOUT_SYMPY)) > len(everything())


def test_statements_make_claims_or_say_why_they_cannot() -> None:
    why = {s.identifier: without_claim(s) for s in everything()}
    assert {s.identifier for s in everything() if s.claim is None} == {name for name, reason in why.items() if reason}
    kinds = ("matrices", "its parts", "it defines")
    found = {kind: {name for name, reason in why.items() if kind in reason} for kind in kinds}
    assert found["its parts"] == {"feddyn.theorem1", "feddyn.theorem5"}
    assert found["matrices"] == {f"fedsplit.equation{n}" for n in (8, 9, 10)}
    assert len(found["it defines"]) == 16


def test_a_formula_that_terms_cannot_express_is_an_error() -> None:
    """No second way to display it steps in."""
    of = fedprox.theorem6
    in_floats = replace(of.calculator, formula=lambda *, delta, rho, epsilon: math.log(delta))
    with pytest.raises(InvalidInput, match="cannot be called with terms"):
        displayed(replace(of, calculator=in_floats))


def test_integer_parts_are_terms() -> None:
    rounded: Number = ceil(parameter("delta") / 2)
    assert rounded == Number("ceil", (parameter("delta") / 2,))
    with pytest.raises(IllFormed):
        Number("ceil", (parameter("delta"), parameter("delta")))
    made = formula(fedprox.theorem6.calculator, fedprox.PAPER.letters, fedprox.PAPER.notation)
    assert made.latex == (r"\max\left(\left\lceil \frac{\Delta}{\rho \epsilon}\right\rceil, 1\right)",)
