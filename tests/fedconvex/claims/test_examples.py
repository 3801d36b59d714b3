"""Examples of admissible parameters for conditions of any scale, checked by formulas that are written a second time."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedconvex.claims import ClaimSetting, at_most
from fedconvex.claims.examples import example_of
from fedconvex.claims.terms import free, gradient, number, parameter, square, value
from fedconvex.proofs_checks.kernel.inhabited import require_inhabited
from fedconvex.proofs_checks.kernel.proofs import Upper
from fedconvex.proofs_checks.library import by, lemma

Values = Mapping[str, F]
SIZES = st.builds(lambda n, d, k: F(n, d) * F(10) ** k, st.integers(1, 99), st.integers(1, 9), st.integers(-12, 12))


def bounds(size: F, other: str | None) -> st.SearchStrategy[tuple[Any, Callable[[Values], F]]]:
    """A bound as a term, and what it is at given values; `other` is a parameter that may be in it."""
    c, x = number(size), parameter(other or "unused")
    alone = (c, lambda values: size)
    if other is None:
        return st.just(alone)
    return st.sampled_from([
        alone, (x, lambda v: v[other]), (c * x, lambda v: size * v[other]),
        (1 / (c * x), lambda v: 1 / (size * v[other])),
        (c * (1 + x**2), lambda v: size * (1 + v[other] ** 2)), (c / (x + c), lambda v: size / (v[other] + size)),
    ])  # fmt: skip


@st.composite
def chains(draw: Any) -> tuple[ClaimSetting, list[Callable[[Values], bool]]]:
    """Positive parameters, each bounded by one before it, from below, from above or both; in any order."""
    names = [f"p{i}" for i in range(draw(st.integers(1, 5)))]
    made: list[tuple[Any, Callable[[Values], bool]]] = []
    for place, name in enumerate(names):
        term, at = draw(bounds(draw(SIZES), draw(st.sampled_from(names[:place])) if place else None))
        p, room = parameter(name), 1 + F(1, 10 ** draw(st.integers(0, 6)))
        kinds = {
            "above": [((p, ">", term), lambda v, n=name, at=at: v[n] > at(v))],
            "below": [((term, ">=", p), lambda v, n=name, at=at: v[n] <= at(v))],
            "between": [((p, ">=", term), lambda v, n=name, at=at: v[n] >= at(v)),
                        ((term * number(room), ">", p), lambda v, n=name, at=at, room=room: v[n] < at(v) * room)],
            "equal": [((p, "=", term), lambda v, n=name, at=at: v[n] == at(v))],
        }  # fmt: skip
        made += kinds[draw(st.sampled_from(sorted(kinds)))]
    made = draw(st.permutations(made))
    signs = dict.fromkeys(names, "positive")
    return ClaimSetting(signs=signs, conditions=tuple(c for c, _ in made)), [holds for _, holds in made]


@settings(deadline=None)
@given(chains())
def test_chains_of_conditions_of_any_scale_have_an_example(chain: Any) -> None:
    setting, conditions = chain
    example = example_of(setting)
    assert example.keys() == setting.signs.keys()
    assert all(type(x) is F and x > 0 for x in example.values())
    assert all(holds(example) for holds in conditions)
    require_inhabited(replace(setting, example=example))


@pytest.mark.parametrize("size", [F(10) ** k for k in (-12, -6, 0, 3, 6, 12)])
def test_a_stepsize_may_be_as_short_as_a_paper_wants(size: F) -> None:
    """s ≤ 1/(cL), also in a proof: a gradient step decreases f by at least s(1 − Ls/2)‖∇f‖²."""
    s, L, x = parameter("s"), parameter("L"), free("x")
    setting = ClaimSetting(
        signs={"s": "positive", "L": "positive"}, curvature=(-L, L),
        conditions=((1 / (number(size) * L), ">=", s),),
    )  # fmt: skip
    step = x - s * gradient(x)
    claim = at_most(value(step), value(x) - s * (1 - L * s / 2) * square(gradient(x)), of_client=True)
    found = lemma(setting, claim, by(Upper(step, x)))
    assert 0 < found.setting.example["s"] * found.setting.example["L"] <= 1 / size
    assert found.theorem().claim == claim


def test_numbers_of_clients_and_roots_have_their_scale_too() -> None:
    m, s, T = parameter("num_clients"), parameter("s"), parameter("T")
    conditions = ((T, ">=", 10**9 * m), (m, ">", number(1000)), (1 / (10**10 * T**2).sqrt(), ">=", s))
    setting = ClaimSetting(signs={"s": "positive", "num_clients": "positive", "T": "positive"},
                           counts=frozenset({"num_clients", "T"}), conditions=conditions)  # fmt: skip
    found = example_of(setting)
    assert found["num_clients"].denominator == found["T"].denominator == 1
    assert found["T"] >= 10**9 * found["num_clients"] > 10**12
    assert 0 < found["s"] ** 2 * 10**10 * found["T"] ** 2 <= 1
    require_inhabited(replace(setting, example=found))


def test_what_is_demanded_beside_the_conditions_has_an_example() -> None:
    """Curvatures between two bounds, and a dissimilarity of at least 1, where both have bounds of their own."""
    mu, L, B = parameter("mu"), parameter("L"), parameter("B")
    setting = ClaimSetting(signs=dict.fromkeys(("mu", "L", "B"), "positive"), curvature=(mu, L), dissimilarity=B,
                           conditions=((number(F(1, 10**7)), ">=", L),))  # fmt: skip
    found = example_of(setting)
    assert 0 < found["mu"] <= found["L"] <= F(1, 10**7)
    assert found["B"] >= 1


L = parameter("L")


@pytest.mark.parametrize(
    "conditions",
    [((number(0), ">", L + 1),), ((number(0), ">", number(1)),), ((L, ">", number(1)), (number(1), ">", L)),
     ((number(0), ">=", L),), ((L, ">=", L.exp()),), ((L, "=", 1 / (L - L)),)],
)  # fmt: skip
def test_a_contradiction_has_no_example(conditions: Any) -> None:
    assert example_of(ClaimSetting(signs={"L": "positive"}, conditions=conditions)) == {}
