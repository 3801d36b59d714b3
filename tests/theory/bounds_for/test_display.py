"""The result of `bounds_for`: every statement once, by name, as a frame, as text and as a table."""

import numpy as np
from diagonal_problems import EQUAL, TWINS, bounds
from problem_makers import fraction
from statement_makers import statements

import fedconvex as fc
from fedconvex import participation
from fedconvex.statements import ClaimType
from fedconvex.theory import papers

SHOWN = bounds(EQUAL, fc.FedDyn(alpha=100), participation.Uniform(2))


def test_every_statement_is_there_once() -> None:
    names = [entry.statement.identifier for entry in SHOWN]
    assert sorted(names) == sorted(s.identifier for s in statements())
    assert len(set(names)) == len(names) == sum(len(p.everything) for p in papers().values())
    assert {e.statement for e in SHOWN.applies}.isdisjoint(e.statement for e in SHOWN.does_not)


def test_indexing() -> None:
    assert SHOWN["feddyn.theorem2"] in SHOWN.applies
    assert SHOWN["fedprox.theorem4"] in SHOWN.does_not
    for entry in SHOWN:
        assert SHOWN[entry.statement.identifier] is entry


def test_frame() -> None:
    frame = SHOWN.to_frame()
    assert set(frame["statement"]) == {s.identifier for s in statements()}
    chosen = bounds(TWINS, fc.FedProx(mu=200), participation.Weighted(400))
    rows = chosen.to_frame()[chosen.to_frame()["statement"] == "fedprox.corollary7"]  # two numbers, two rows
    assert len(rows) == 2
    assert rows["quantity"].is_unique
    np.testing.assert_allclose(rows["value"], [float(v) for v in chosen["fedprox.corollary7"].value])
    assert (rows["claim"] == ClaimType.ASYMPTOTIC.value).all()
    assert (rows["as_printed"] == "false for Theorem 4's ρ").all()
    assert (rows["holds"] == "of the algorithm, not of Theorem 4's ρ").all()
    yes, no = frame[frame["applies"]], frame[~frame["applies"]]
    assert np.isfinite(yes["value"]).all()
    assert (yes["reason"] == "").all()
    assert no["value"].isna().all()
    assert (no["assumption"] != "").all()
    assert (no["reason"] != "").all()
    assert len(no) == len(SHOWN.does_not)
    assert len(SHOWN.to_frame()["statement"]) == len(frame)


def test_text_and_table() -> None:
    title, *lines = str(SHOWN).splitlines()
    assert title == f"{len(SHOWN.applies)} statements apply, {len(SHOWN.does_not)} do not"
    two = next(line for line in lines if line.strip().startswith("feddyn.theorem2 "))
    assert f"{float(SHOWN['feddyn.theorem2'].value):.6g}" in two
    assert two.endswith("as printed")
    html = SHOWN._repr_html_()
    assert "feddyn.theorem2" in html
    assert "not: the method is " in html
    assert "NaN" not in html


def test_shown_numbers_are_enclosed() -> None:
    for entry in SHOWN.applies:
        for part in entry.value if isinstance(entry.value, tuple) else (entry.value,):
            assert isinstance(part, int) or float(part.rad()) < 1e-9 * abs(float(part))


def test_the_problem_is_measured_once_for_all_statements() -> None:
    """The same ball, wherever a constant is used."""
    L = [e.parameters["L"] for e in SHOWN.applies if "L" in e.parameters]
    assert len(L) > 3
    assert len({fraction(v) for v in L}) == 1
