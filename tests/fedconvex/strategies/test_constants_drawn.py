"""Constants satisfy the statements' assumptions: every statement of every paper, checked condition by condition."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedconvex import strategies
from fedconvex.errors import InvalidInput
from fedconvex.strategies.parameters import _of_assumptions
from fedconvex.theory import feddyn, fedprox, fedsplit, nesterov, papers

pytestmark = pytest.mark.beyond_core  # runs Hypothesis inside its tests

STATEMENTS = {statement.identifier: statement for paper in papers().values() for statement in paper.everything}
ABOUT_MATRICES = {"fedsplit.equation8", "fedsplit.equation9", "fedsplit.equation10"}


def offences(statement: Any, values: dict[str, Any]) -> list[str]:
    """The conditions that do not hold, each compared exactly."""
    found = []
    for condition in _of_assumptions(statement):
        own = values[condition.argument]
        each = own if isinstance(own, list) else [own]
        if any(
            condition.check(condition.argument, {**values, condition.argument: value}) is not None for value in each
        ):
            found.append(condition.text(statement.paper.notation))
    return found


@pytest.mark.sample(6)
@pytest.mark.parametrize("identifier", sorted(STATEMENTS.keys() - ABOUT_MATRICES))
def test_every_statement_is_satisfied(identifier: str) -> None:
    statement = STATEMENTS[identifier]

    @settings(max_examples=10, database=None, derandomize=True)
    @given(strategies.satisfying(statement, everything=True))
    def holds(values: dict[str, Any]) -> None:
        assert offences(statement, values) == []
        number = statement(**{name: values[name] for name in statement.calculator.names})  # refuses what it must
        assert not statement.positive or number > 0
        if statement.left is not None:
            statement.left(**{name: values[name] for name in statement.left.names})

    holds()


def test_those_that_cannot_be_are_listed() -> None:
    found = {identifier for identifier, s in STATEMENTS.items() if strategies.unsatisfiable(s) is not None}
    assert found == ABOUT_MATRICES
    with pytest.raises(InvalidInput, match="matrices"):
        strategies.satisfying(fedsplit.equation8)


@pytest.mark.slow
@given(strategies.satisfying(feddyn.theorem3), st.sampled_from(["alpha", "mu", "num_active"]))
def test_constants_that_are_a_little_off_are_noticed(values: dict[str, Any], name: str) -> None:
    statement, least = (
        feddyn.theorem3,
        max(30 * values["L"], Fraction(5 * values["num_clients"] * values["mu"], values["num_active"])),
    )
    off = {
        "alpha": least * (1 - Fraction(1, 10**30)),
        "mu": values["L"] * (1 + Fraction(1, 10**30)),
        "num_active": values["num_clients"] + 1,
    }
    wrong = {**values, name: off[name]}
    assert offences(statement, wrong) != []
    with pytest.raises(InvalidInput):
        statement(**wrong)


def test_the_ends_of_the_intervals_occur(drawn: Any) -> None:
    found = drawn(strategies.satisfying(feddyn.theorem2), 100)
    wanted = {
        "alpha = 25 L": lambda v: v["alpha"] == 25 * v["L"],
        "alpha > 25 L": lambda v: v["alpha"] > 25 * v["L"],
        "everyone": lambda v: v["num_active"] == v["num_clients"],
        "some": lambda v: v["num_active"] < v["num_clients"],
        "fractions": lambda v: v["L"] != int(v["L"]),
    }
    assert found.missing(wanted) == []
    inexact = drawn(strategies.satisfying(fedprox.theorem4, positive=False), 100)
    both = {
        "gamma = 0": lambda v: v["gamma"] == 0,
        "gamma = 1": lambda v: v["gamma"] == 1,
        "B = 1": lambda v: v["B"] == 1,
    }
    signs = {"rho > 0": lambda v: fedprox.rho(**v) > 0, "rho <= 0": lambda v: fedprox.rho(**v) <= 0}
    assert inexact.missing({**both, **signs}, at_least=3) == []


@given(strategies.satisfying(nesterov.theorem2_1_15, everything=True))
def test_equations_hold_exactly(values: dict[str, Any]) -> None:
    assert values["stepsize"] == Fraction(2) / (values["mu"] + values["L"])
    assert values["kappa"] * values["mu"] >= values["L"]


@given(strategies.constants(2, 9))
def test_constants_in_general(values: dict[str, Any]) -> None:
    assert 2 <= values["L"] <= 9
    assert 0 <= values["L_minus"] <= values["L"]
    assert values["mu"] > values["L_minus"]
    assert values["B"] >= 1
    assert 0 <= values["gamma"] <= 1
    assert values["K"] == int(values["K"]) >= 1
    fedprox.rho(**values)


@given(strategies.constants(names=("mu", "L_minus")))
def test_some_constants(values: dict[str, Any]) -> None:
    assert list(values) == ["mu", "L_minus"]
