"""One name for one thing in every public signature: method before problem, epsilon, types that say what they take."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import fedconvex as fc
from fedconvex import participation, strategies, testing
from fedconvex.proofs_checks import worst_case
from fedconvex.shown import ShownResult
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox, papers
from fedconvex.types import Real, Reals

OTHER_NAMES_OF_EPSILON = {"accuracy", "eps", "tol", "target_accuracy", "relative_accuracy"}
TYPED = {
    "LeastSquares": fc.LeastSquares, "Quadratic": fc.Quadratic, "Logistic": fc.Logistic,
    "MultinomialLogistic": fc.MultinomialLogistic, "simulate": fc.simulate, "fixed_point": fc.fixed_point,
    "ground_truth": fc.ground_truth, "assert_contracts": testing.assert_contracts,
    "assert_fixed_point": testing.assert_fixed_point, "Weighted": participation.Weighted,
}  # fmt: skip


def public_calls() -> Iterator[tuple[str, Any]]:
    """Every public function and class of the main modules, and every calculator and function of the papers."""
    for module in (fc, testing, strategies, fc.data, participation):
        for name in dir(module):
            if not name.startswith("_") and callable(value := getattr(module, name)):
                yield f"{module.__name__}.{name}", value
    for paper in papers():
        module = getattr(__import__(f"fedconvex.theory.{paper}").theory, paper)
        for name, value in vars(module).items():
            if isinstance(value, Calculator | Statement) or (inspect.isfunction(value) and not name.startswith("_")):
                yield f"{paper}.{name}", value


def names_of(call: Any) -> list[str]:
    try:
        return [*inspect.signature(call).parameters]
    except (TypeError, ValueError):  # classes without a signature, such as protocols
        return []


def wrong_order(names: list[str]) -> bool:
    return {"method", "problem"} <= {*names} and names.index("problem") < names.index("method")


def test_the_method_comes_before_the_problem() -> None:
    calls = dict(public_calls())
    assert {"fedconvex.simulate", "fedconvex.strategies.stepsizes_for", "fedprox.rho"} <= calls.keys()
    made_here = {name for name, call in calls.items() if isinstance(call, type) and issubclass(call, ShownResult)}
    assert [name for name in calls.keys() - made_here if wrong_order(names_of(calls[name]))] == []
    assert wrong_order(["problem", "x", "method"])


def test_an_accuracy_is_called_epsilon() -> None:
    others = {name: OTHER_NAMES_OF_EPSILON & {*names_of(call)} for name, call in public_calls()}
    assert {name: found for name, found in others.items() if found} == {}
    assert "epsilon" in names_of(fedprox.iterations)


@pytest.mark.parametrize("name", TYPED)
def test_parameters_say_what_they_take(name: str) -> None:
    for parameter in inspect.signature(TYPED[name]).parameters.values():
        assert parameter.annotation not in (Any, "Any", inspect.Parameter.empty), parameter


def untyped(call: Any) -> list[str]:
    """The parameters without a type of their own."""
    return [
        p.name for p in inspect.signature(call).parameters.values() if p.annotation in (Any, inspect.Parameter.empty)
    ]


def test_calculators_say_which_numbers_they_take() -> None:
    calculators = {name: call for name, call in public_calls() if isinstance(call, Calculator | Statement)}
    assert len(calculators) > 100
    assert {name: found for name, call in calculators.items() if (found := untyped(call))} == {}
    assert inspect.signature(fedprox.rho).parameters["mu"].annotation is Real
    assert inspect.signature(fedprox.rho_variable).parameters["gammas"].annotation == Reals


def test_a_calculator_takes_its_arguments_by_name() -> None:
    with pytest.raises(
        fc.errors.UnknownKeyword, match=r"fedprox.theorem4 takes its arguments by name; name them: mu, L,"
    ):
        fedprox.rho(50, 1)
    assert issubclass(fc.errors.UnknownKeyword, TypeError)


def test_what_is_any_is_noticed() -> None:
    """The metric of a worst case is a word or a pair of terms, and is left untyped."""
    assert inspect.signature(worst_case).parameters["metric"].annotation is Any
    assert untyped(worst_case) == ["metric"]


def test_mu_range_names_its_bounds() -> None:
    found = fedprox.mu_range(L=1, L_minus=0, B=1.2, gamma=0.01, K=10)
    assert found is not None
    assert fedprox.rho(mu=float(found.low) * (1 - 1e-9), L=1, L_minus=0, B=1.2, gamma=0.01, K=10) < 0
    assert fedprox.rho(mu=float(found.low) * (1 + 1e-9), L=1, L_minus=0, B=1.2, gamma=0.01, K=10) > 0
    assert found.high == float("inf")
    with pytest.raises(fc.InvalidInput, match="did you mean L_minus"):
        fedprox.mu_range(L=1, Lminus=0, B=1.2, gamma=0.01, K=10)


def test_theory_proofs_and_deep_are_there_without_a_second_import() -> None:
    for name in ("theory", "proofs_checks", "deep"):
        assert getattr(fc, name).__name__ == f"fedconvex.{name}"
        assert name in fc.__all__
