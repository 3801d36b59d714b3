"""One formula in every arithmetic: floats, NumPy, rationals, balls, SymPy and torch agree."""

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy
import torch
from statement_makers import arguments, as_float, ball, dyadic, each, fmpq, of_numbers, rational

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.statements.notation import Shape
from fedconvex.statements.rendering import expression, symbols
from fedconvex.statements.results import parts
from fedconvex.theory import fedprox

FORMULAS = of_numbers()
NAMES = sorted(FORMULAS)
SEEDS = [0, pytest.param(1, marks=pytest.mark.slow)]


def exact_value(name: str, values: dict[str, Any]) -> list[Any]:
    """The value in balls of 200 bits: the yardstick."""
    with flint.ctx.workprec(200):
        return [flint.arb(p) for p in parts(FORMULAS[name](**each(values, ball)))]


def tolerances(name: str, values: dict[str, Any]) -> list[float]:
    """How far floats may be off: what balls of a float's precision cannot tell, with some room."""
    with flint.ctx.workprec(53):
        enclosures = [flint.arb(p) for p in parts(FORMULAS[name](**each(values, ball)))]
    return [64 * float(e.rad()) + 1e-15 * abs(float(e.mid())) for e in enclosures]


def near(values: Any, others: Any, tolerances: list[float]) -> bool:
    triples = zip(values, others, tolerances, strict=True)
    return all(abs(float(value) - float(other)) <= tolerance for value, other, tolerance in triples)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_floats_are_near_the_enclosure(name: str, seed: int) -> None:
    values = each(arguments(FORMULAS[name], seed), dyadic)
    computed = list(parts(FORMULAS[name](**each(values, as_float))))
    assert near(computed, exact_value(name, values), tolerances(name, values))


@pytest.mark.parametrize("name", NAMES)
def test_rationals_are_exact_or_enclosed(name: str) -> None:
    values = each(arguments(FORMULAS[name], 0), Fraction)
    truth = exact_value(name, values)
    for kind in (Fraction, fmpq):
        for value, true in zip(parts(FORMULAS[name](**each(values, kind))), truth, strict=True):
            assert type(value) in (Fraction, flint.fmpq, flint.arb, int), type(value)
            own = value if isinstance(value, flint.arb) else ball(to_fraction(value))
            with flint.ctx.workprec(200):
                assert own.overlaps(true) or (FORMULAS[name].upwards and 0 < own - true < 1e-30 * own)
                if isinstance(value, flint.arb):
                    assert own.rad() < 1e-25 * (1 + abs(own.mid()))


@pytest.mark.sample(90)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", NAMES)
def test_numpy_is_the_loop_over_floats(name: str) -> None:
    exact = [each(arguments(FORMULAS[name], seed), dyadic) for seed in range(4)]
    draws = [each(values, as_float) for values in exact]
    stacked = {
        n: [np.array([d[n][i] for d in draws]) for i in range(len(draws[0][n]))]
        if isinstance(draws[0][n], list)
        else np.array([d[n] for d in draws])
        for n in draws[0]
    }
    together = FORMULAS[name](**stacked)
    for i, draw in enumerate(draws):
        alone = parts(FORMULAS[name](**draw))
        assert near([column[i] for column in parts(together)], alone, tolerances(name, exact[i]))


@pytest.mark.sample(90)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", [n for n in NAMES if not FORMULAS[n].integer])
def test_symbols_give_the_formula(name: str) -> None:
    calculator = FORMULAS[name]
    values = arguments(calculator, 0)
    letters = symbols(calculator.parameters)
    at = {}
    for n, letter in letters.items():
        entries = (
            zip(letter, values[n][: len(letter)], strict=True) if isinstance(letter, tuple) else [(letter, values[n])]
        )
        at |= {symbol: rational(v) for symbol, v in entries}
        values[n] = values[n][: len(letter)] if isinstance(letter, tuple) else values[n]
    for part, true in zip(parts(expression(calculator)), exact_value(name, values), strict=True):
        number = Fraction(str(sympy.N(sympy.sympify(part).subs(at), 40)))
        assert abs(number - Fraction(true.mid().str(40, radius=False))) <= Fraction(1, 10**25) * (1 + abs(number))


def test_symbols_of_an_integer_formula() -> None:
    delta, rho, epsilon = sympy.symbols("delta rho epsilon", positive=True)
    rounds = fedprox.iterations(delta=delta, rho=rho, epsilon=epsilon)
    assert rounds.subs({delta: 7, rho: sympy.Rational(1, 2), epsilon: 4}) == 4


DIFFERENTIABLE = [n for n in NAMES if not FORMULAS[n].integer]


@pytest.mark.sample(90)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_torch_agrees_and_has_the_gradient(name: str) -> None:
    calculator = FORMULAS[name]
    values = each(arguments(calculator, 1), as_float)
    free = [n for n, p in calculator.parameters.items() if p.shape in (Shape.SCALAR, Shape.VECTOR) and not p.integer]
    tensors = {n: torch.tensor(float(values[n]), dtype=torch.float64, requires_grad=True) for n in free}
    if not free:
        tensors = {n: torch.tensor(values[n], dtype=torch.float64, requires_grad=True) for n in list(values)[:1]}
    result = calculator(**{**values, **tensors})
    total = sum(p for p in parts(result) if isinstance(p, torch.Tensor))
    numbers = [p.detach() if isinstance(p, torch.Tensor) else p for p in parts(result)]
    assert near(numbers, parts(calculator(**values)), tolerances(name, each(values, dyadic)))
    total.backward()
    letters = symbols(calculator.parameters)
    at = {letter: rational(dyadic(values[n])) for n, letter in letters.items() if n in free}
    at |= {letter: values[n] for n, letter in letters.items() if calculator.parameters[n].integer}
    if any(isinstance(letter, tuple) for letter in letters.values()):
        return  # with entries of sequences: SymPy's formula has another number of them
    formula = sum(sympy.sympify(p) for p in parts(expression(calculator)))
    for n in free:
        slope = float(sympy.N(sympy.diff(formula, letters[n]).subs(at), 30))
        own = tensors[n].grad
        assert math.isclose(
            0.0 if own is None else float(own), slope, rel_tol=1e-6, abs_tol=1e-9 * abs(slope) + 1e-12
        ), n


@pytest.mark.beyond_core  # takes seconds
def test_the_best_mu_is_found_by_gradient_steps() -> None:
    given = {"L": 1.0, "L_minus": 0.25, "B": 1.2, "gamma": 0.01, "K": 10}
    best = fedprox.best_mu(**given)
    logarithm = torch.tensor(3.5, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([logarithm], max_iter=100, line_search_fn="strong_wolfe", tolerance_grad=1e-14)

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = -1000 * fedprox.rho(mu=logarithm.exp(), **given)
        value.backward()
        return value

    optimiser.step(loss)
    assert math.isclose(float(logarithm.detach().exp()), float(best.mu), rel_tol=1e-4)
