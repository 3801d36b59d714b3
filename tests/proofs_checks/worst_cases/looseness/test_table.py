"""The command on looseness, and that no bound is left out of the guide's page."""

from fractions import Fraction as F
from typing import Any

import pytest
from command_runner import running
from documents import DOCS, making
from scaled_statements import scaled

from fedconvex.proofs_checks.rocq.accepted import accepted
from fedconvex.proofs_checks.worst_cases.looseness.factor import looseness_of
from fedconvex.proofs_checks.worst_cases.looseness.registry import registered
from fedconvex.proofs_checks.worst_cases.looseness.table import lemmas, theorems
from fedconvex.theory import fedprox, papers

pytestmark = pytest.mark.beyond_core  # takes seconds


def test_every_statement_with_a_question_is_in_the_catalogue() -> None:
    from fedconvex.theory import statement

    names = {of.identifier for of in registered()}
    assert {statement(name) for name in names} <= registered().keys()
    assert names <= looseness_of().keys()
    # Of statements with a claim only a mean of products, and those of textbooks on the objective alone, on functions
    # that need not be smooth, or with noise are posed by hand.
    by_hand = {identifier for identifier in names if statement(identifier).claim is not None}
    textbooks = {name for name in by_hand if name.partition(".")[0] in ("nesterov", "rockafellar", "ghadimi_lan")}
    assert by_hand - textbooks <= {"fedprox.equation14"}
    asked = {identifier for identifier, _ in (*theorems(), *lemmas())}
    assert asked <= looseness_of().keys()


def test_every_bound_is_on_the_page() -> None:
    """With numbers, or with what an instance uses; a bound that was refuted is named in words.

    Those whose theorems Rocq has accepted: both records are renewed before a release.
    """
    page = (DOCS / "looseness.md").read_text("utf-8")
    rows, tables = making("recorded_tables").recorded_rows(), making("looseness_tables")
    page += "".join(row[0] for name in tables.TABLES for row in rows[name])
    bounds = [s.identifier for paper in papers().values() for s in paper.everything if s.claim_type in tables.BOUNDS]
    bounds = [identifier for identifier in bounds if identifier in accepted()["theorems"]]
    assert len(bounds) > 50
    assert [identifier for identifier in bounds if f"`{identifier}`" not in page] == []


run = running("bounds", "--worst-case")


def test_the_command(run: Any) -> None:
    dyn = ["--alpha", "25", "--L", "1", "--num-clients", "10", "--num-active", "10", "--T", "1"]
    status, out, _ = run("feddyn.theorem2", *dyn)
    assert status == 0
    assert "bound: 250" in out
    assert "worst: 1/2 = 0.5" in out
    assert "500 times as loose" in out
    status, out, _ = run("feddyn.lemma4")
    assert status == 0
    assert "--alpha" in out
    status, out, _ = run("fedprox.equation14")
    assert status == 0
    assert "--num-clients: number of clients" in out
    status, out, _ = run("feddyn.lemma11", "--alpha", "4", "--L", "1", "--json")
    assert status == 0
    assert '"lower": "3"' in out
    status, _, err = run("fedprox.theorem6", "--epsilon", "1")
    assert status == 2
    assert "fedprox.theorem4" in err
    status, _, err = run("fedsplit.theorem1", "--kappa", "2", "--t", "1")
    assert status == 2
    assert "irrational" in err


def test_where_nothing_is_promised_no_option_is_wrong(run: Any) -> None:
    numbers = ["--L", "1", "--L-minus", "0", "--B", "2", "--gamma", "0", "--K", "1"]
    status, out, err = run("fedprox.theorem4", "--mu", "1", *numbers)
    assert (status, out) == (1, "")
    assert "fedprox.theorem4 guarantees nothing here: it needs rho > 0, and that is -" in err
    status, _, err = run("fedprox.theorem4", "--mu", "-1", *numbers)
    assert status == 2
    assert "mu" in err


def test_the_command_fails_where_the_bound_does(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import fedconvex.proofs_checks.worst_cases.looseness.factor as module

    small = module.question_about(scaled(fedprox.PAPER.find("theorem4convexeveryone"), F(101, 100)))
    monkeypatch.setattr(module, "question_about", lambda *_: small)
    status, out, _ = run("fedprox.theorem4convexeveryone", "--mu", "5", "--L", "1", "--B", "3/2")
    assert status == 1
    assert "REFUTED at these numbers" in out
