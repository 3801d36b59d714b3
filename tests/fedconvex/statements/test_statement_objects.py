"""Statements and calculators as Python objects: documented, picklable, callable with keywords alone."""

import copy
import inspect
import pickle

import pytest
from statement_makers import calculators, modules, statements

from fedconvex.errors import InvalidInput
from fedconvex.statements import Calculator, Sign, Statement
from fedconvex.theory import fedprox, fedsplit, statement
from fedconvex.verdicts import Verdict


@pytest.mark.sample(25)
@pytest.mark.parametrize("statement", statements(), ids=lambda s: s.identifier)
def test_statement_survives_pickling(statement: Statement) -> None:
    assert pickle.loads(pickle.dumps(statement)) is statement  # noqa: S301 - our own bytes
    assert copy.deepcopy(statement) is statement
    assert pickle.loads(pickle.dumps(statement.calculator)).name == statement.calculator.name  # noqa: S301 - the same


def test_calculator_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(fedprox.rho_terms)) is fedprox.rho_terms  # noqa: S301 - our own bytes


@pytest.mark.parametrize("name", sorted(calculators()))
def test_calculator_is_documented(name: str) -> None:
    calculator = calculators()[name]
    assert list(inspect.signature(calculator).parameters) == list(calculator.parameters)
    if not name.endswith(".left"):
        assert len(inspect.getdoc(calculator) or "") > 20
    assert calculator.owner
    for parameter in calculator.parameters.values():
        assert parameter.meaning
        assert parameter.latex


def test_every_calculator_is_an_attribute_of_its_paper() -> None:
    for name, module in modules().items():
        exported = {id(value) for value in vars(module).values() if isinstance(value, Statement)}
        numbered = [
            s for s in module.PAPER if not any(s is not t and s.calculator is t.calculator for t in module.PAPER)
        ]
        assert {id(s) for s in numbered} <= exported, name


def test_signature_is_that_of_the_formula() -> None:
    assert str(inspect.signature(fedprox.rho)).startswith("(*, mu: fedconvex.types.Real, L: fedconvex.types.Real,")
    assert fedprox.rho.__doc__ == f"{inspect.getdoc(fedprox.rho.calculator)}\n\n{fedprox.rho.phrases}"
    with pytest.raises(TypeError, match="'K'"):
        fedprox.rho(mu=1, L=1, L_minus=0, B=1, gamma=0)
    with pytest.raises(TypeError, match="nu"):
        fedprox.rho(mu=1, L=1, L_minus=0, B=1, gamma=0, K=1, nu=2)
    with pytest.raises(TypeError):
        fedprox.rho(1, 1, 0, 1, 0, 1)  # type: ignore[misc]


def test_aliases_are_the_same_formula() -> None:
    assert fedsplit.theorem1.calculator is fedsplit.equation16.calculator
    assert fedsplit.theorem1.identifier != fedsplit.equation16.identifier


def test_signs_and_verdicts_have_no_truth_value() -> None:
    for member in (*Sign, *Verdict):
        with pytest.raises(TypeError, match="truth value"):
            bool(member)
        assert member is type(member)(member.value)


def test_a_formula_of_several_parts_has_no_sign() -> None:
    with pytest.raises(InvalidInput, match="several parts"):
        fedprox.rho_terms.sign(mu=1, L=1, L_minus=0, B=1, gamma=0, K=1)
    with pytest.raises(InvalidInput, match="several parts"):
        fedprox.necessary_margins.sign(B=1, gamma=0, K=3)
    assert isinstance(fedprox.rho_terms, Calculator)


def test_a_letter_means_what_it_means_in_its_statement() -> None:
    """FedSplit's s is of proximal steps, but of gradient steps where FedGD takes them."""
    for identifier, steps in (("equation10", "gradient"), ("equation3", "gradient"), ("equation7", "proximal")):
        assert steps in statement(f"fedsplit.{identifier}").calculator.parameters["stepsize"].meaning
