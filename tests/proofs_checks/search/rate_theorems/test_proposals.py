"""The parts of the search: rounds with functions of parameters, programs at numbers, simple formulas, units."""

from fractions import Fraction as F
from itertools import islice
from typing import Any

import pytest
import sympy
from flint import fmpq

import fedconvex as fc
from fedconvex.arithmetic.linear_systems import echelon, kernel, solution
from fedconvex.proofs_checks import SmoothStronglyConvex
from fedconvex.proofs_checks.search.rate_theorems.rates import between
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import SampledRound, posed, specification
from fedconvex.proofs_checks.search.rate_theorems.supports import few_inequalities, suffice
from fedconvex.proofs_checks.search.rate_theorems.valued_rounds import units_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form, Indefinite, square, squares
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, at

s, mu, L, a = (sympy.Symbol(name, positive=True) for name in ("s", "mu", "L", "a"))


def parameters_at(**values: F) -> Parameters:
    return Parameters({sympy.Symbol(name, positive=True): value for name, value in values.items()})


def scaffold(s: Any, mu: Any, L: Any) -> dict[str, Any]:
    return {"method": fc.Scaffold(stepsize=s, local_steps=2), "clients": SmoothStronglyConvex(mu, L)}


def feddyn(a: Any, mu: Any, L: Any) -> dict[str, Any]:
    return {"method": fc.FedDyn(alpha=a), "clients": SmoothStronglyConvex(mu, L)}


def fedpd(s: Any, mu: Any, L: Any) -> dict[str, Any]:
    return {"method": fc.FedPD(eta=s), "clients": SmoothStronglyConvex(mu, L)}


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (scaffold, {"s": F(1, 9), "mu": F(1, 2), "L": F(7, 3)}),
        (feddyn, {"a": F(5, 2), "mu": F(1, 2), "L": F(7, 3)}),
        (fedpd, {"s": F(2, 5), "mu": F(1, 2), "L": F(7, 3)}),
    ],
)
def test_a_round_with_symbols_is_the_round_with_numbers(arguments: Any, values: dict[str, F]) -> None:
    symbolic = posed(specification(arguments(**parameters_at(**values).numbers)))
    for scale in (F(1), F(8, 7)):
        there = {name: value * scale for name, value in values.items()}
        numeric = posed(specification(arguments(**there)))
        assert {*symbolic.before} == {*numeric.before}
        one = {pair: fmpq(1) for pair in symbolic.pairs}
        pairs = [(symbolic.form(one, after), numeric.form(one, after)) for after in (False, True)]
        pairs += [(f, dict(numeric.inequalities)[name]) for name, f in symbolic.inequalities]
        # The coordinates' names have the symbols, or the numbers.
        names = {(place[0], name): (place[0], numeric.names[place]) for place, name in symbolic.names.items()}
        here = list(map(_exact, there.values()))
        for left, right in pairs:
            put_in = {frozenset(names.get(k, k) for k in keys): at(c, here) for keys, c in left.products.items()}
            expected = {frozenset(keys): c for keys, c in right.products.items() if c}
            assert {keys: c for keys, c in put_in.items() if c} == expected


def _exact(x: F) -> Any:
    return fmpq(x.numerator, x.denominator)


def test_spans_of_functions_are_those_of_numbers() -> None:
    parameters = parameters_at(s=F(1, 3), mu=F(2))
    p, q = parameters.numbers.values()
    rows = [[p, q, fmpq(1)], [p * p, q * p, p], [fmpq(0), q - 1, p]]
    here = [_exact(F(1, 3)), _exact(F(2))]
    numbers = [[at(c, here) for c in row] for row in rows]
    (found, pivots), (known, places) = echelon(rows, 3), echelon(numbers, 3)
    assert pivots == places == [0, 1]
    assert [[at(c, here) for c in row] for row in found] == known
    (vector,) = kernel(rows, 3)
    assert all(not sum((c * x for c, x in zip(row, vector, strict=True)), start=fmpq(0)) for row in rows)
    assert solution(rows, [p, p * p + 1, fmpq(0)], 3) is None  # the first two rows are multiples


def test_no_function_contracts_faster_than_what_is_attained() -> None:
    found = SampledRound.at(scaffold(F(1, 10), F(1), F(10)))
    names = [name for name, _ in found.posed.inequalities]
    assert found.factors == (fmpq(81, 100),)
    assert suffice([found], names)
    assert not suffice([found], [])
    support = few_inequalities([found])
    assert suffice([found], support)
    assert not any(suffice([found], [name for name in support if name != left]) for left in support)
    first = found.posed.pairs[0]
    assert found.program.solve(names, {first: 1.0, found.posed.pairs[1]: 1.0}) is None  # (es)² = 1/25


def test_simple_formulas_lie_between_the_bounds_and_have_the_unit() -> None:
    samples = [(1.0, 4.0), (0.5, 10.0), (2.0, 3.0)]
    exact = [(3 * p * p * 0.9, 3 * p * p * 1.1) for p, _ in samples]
    assert next(between(exact, samples, lambda powers: True)) == (3, (2, 0))
    assert not [1 for _, powers in between(exact, samples, lambda powers: powers[1] != 0) if powers == (2, 0)]
    for c, powers in islice(between(exact, samples, lambda powers: True), 20):
        for (low, high), (p, q) in zip(exact, samples, strict=True):
            assert low * 0.999 <= float(c) * p ** powers[0] * q ** powers[1] <= high * 1.001
    assert list(between([(0.0, 0.03)], [(1.0,)], lambda powers: True))  # smaller than all listed numbers
    assert not list(between([(0.0, 1e-3)], [(1.0,)], lambda powers: True))
    assert not list(between([(0.0, 0.0)], [(1.0,)], lambda powers: True))
    assert not list(between([(1.0, 1.1), (5.0, 5.1), (1.0, 1.1)], [(1.0,), (1.0,), (1.0,)], lambda powers: True))


def test_units_of_parameters_and_memories() -> None:
    parameters = parameters_at(s=F(1, 9), mu=F(1, 2), L=F(7, 3))
    round_ = posed(specification(scaffold(**parameters.numbers)))
    found = units_of(round_, parameters)
    assert found is not None
    assert found.parameters in ((-1, 1, 1), (1, -1, -1))
    controls = round_.pairs[1]
    assert abs(found.of_entry(controls, round_)) == 2  # c_k is a gradient
    only = parameters_at(mu=F(1, 2))
    assert units_of(posed(specification(scaffold(s=F(1, 9), L=F(7, 3), **only.numbers))), only) is None


def test_a_form_as_squares() -> None:
    from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN, Family

    u, v = (Family({(MEAN, name): fmpq(1)}) for name in ("u", "v"))
    form = square(u + v * 2) * 3 + square(v) * -5
    found = squares(form)
    total: Form = sum((square(w) * c for c, w in found), start=Form())
    assert not (total - form).products
    assert min(c for c, _ in found) < 0  # signs are the caller's to judge
    mixed = square(u + v) - square(u) - square(v)
    with pytest.raises(Indefinite, match="has no square"):
        squares(mixed)
