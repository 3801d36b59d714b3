"""The strategies without Hypothesis installed, through its entry point, and in its printed examples."""

from fractions import Fraction
from importlib.metadata import entry_points
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.vendor import pretty
from program_runner import printed, ran

import fedconvex as fc
from fedconvex import strategies
from fedconvex.methods import METHODS

pytestmark = pytest.mark.beyond_core  # runs Hypothesis inside its tests

WITHOUT = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "hypothesis":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
import fedconvex
try:
    import fedconvex.strategies
except ImportError as error:
    print(type(error).__name__, error)
"""
BY_TYPE = """
import sys
import fedconvex as fc
from hypothesis import given, settings, strategies as st
assert not {"fedconvex.strategies.quadratic", "flint"} & set(sys.modules)  # the entry point alone
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
@settings(max_examples=20)
@given(st.from_type(fc.LeastSquares), st.from_type(fc.FedProx), st.from_type(fc.participation.Uniform))
def test(problem, method, scheme):
    assert fc.fixed_point(method, problem, arithmetic="exact").unique is not None
test()
"""


def test_without_hypothesis_the_error_has_the_cure() -> None:
    said = printed(WITHOUT)
    assert said.startswith("MissingLibrary")
    assert "pip install 'fedconvex[testing]'" in said


def test_types_are_known_without_importing_the_strategies() -> None:
    (entry,) = entry_points(group="hypothesis", name="fedconvex")
    assert callable(entry.load())
    printed(BY_TYPE)


def test_without_the_entry_point_they_are_not() -> None:
    assert ran(BY_TYPE, HYPOTHESIS_NO_PLUGINS="1").returncode != 0


@pytest.mark.parametrize(
    "name", ["LeastSquares", "Quadratic", "Logistic", "MultinomialLogistic", "Trajectory", *METHODS]
)
def test_every_type_has_its_strategy(name: str, drawn: Any) -> None:
    kind = getattr(fc, name)
    assert all(type(example) is kind for example in drawn(st.from_type(kind), 5).examples)


def test_schemes_and_abstract_types_have_strategies(drawn: Any) -> None:
    from fedconvex.methods import Method
    from fedconvex.participation import SCHEMES, Participation
    from fedconvex.problems.base import Problem

    kinds: list[type] = [Method, Problem, Participation, *SCHEMES]
    for kind in kinds:
        assert all(isinstance(example, kind) for example in drawn(st.from_type(kind), 10).examples)


@given(
    strategies.least_squares_problems()
    | strategies.quadratic_problems(mu=0, L=3)
    | strategies.logistic_problems()
    | strategies.multinomial_problems()
    | strategies.quadratic_problems(exact=False)
)
def test_what_is_printed_makes_the_same_problem(problem: Any) -> None:
    printed = pretty.pretty(problem)
    same = eval(printed, {**vars(fc), **{kind: getattr(fc, kind) for kind in dir(fc)}, "Fraction": Fraction})  # noqa: S307
    assert pretty.pretty(same) == printed
    assert same.exact_weights == problem.exact_weights
    first, second = (p.H if isinstance(p, fc.Quadratic) else p.A for p in (problem, same))
    assert all((one == other).all() for one, other in zip(first, second, strict=True))
