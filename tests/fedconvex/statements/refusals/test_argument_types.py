"""Arguments of wrong types, missing and unknown arguments are refused, for every argument of every calculator."""

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pandas as pd
import pytest
import sympy
import torch
from refusal_makers import (
    FORMULAS,
    NAMES,
    argument_of,
    names_all,
    reason,
    refusal,
    with_first,
)
from slow_layer import some_of
from statement_makers import arguments, as_float, ball, each, fmpq, rational

from fedconvex.errors import InvalidInput
from fedconvex.statements.notation import Shape
from fedconvex.theory import fedprox


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", NAMES)
def test_halves_are_no_integers(name: str) -> None:
    calculator = FORMULAS[name]
    values = arguments(calculator, 0)
    for argument in (n for n in calculator.names if calculator.parameters[n].integer):
        halves = [v + Fraction(1, 2) for v in np.atleast_1d(values[argument])]
        half = halves if isinstance(values[argument], list) else halves[0]
        for convert in (Fraction, fmpq, ball, rational, float, np.float32, lambda v: np.array(float(v))):
            error = refusal(calculator, each({**values, argument: half}, convert))
            assert error is not None
            assert error.argument.partition("[")[0] == argument  # of a sequence, an entry is named
            assert calculator.owner in str(error)
            assert "integer" in str(error)
        if isinstance(values[argument], list):  # arrays of sequences are no arguments
            continue
        error = refusal(calculator, {**each(values, as_float), argument: np.array([values[argument], float(half)])})
        assert names_all(error, calculator, f"{argument}[1]", float(half))
        assert reason(calculator, {**values, argument: float(values[argument])}) == ""
        assert "integer" not in reason(calculator, {**values, argument: flint.arb(values[argument], 0.25)})


NO_NUMBERS: dict[str, Any] = {
    "NaN": math.nan, "inf": math.inf, "-inf": -math.inf, "NaN of numpy": np.float32("nan"),
    "inf of numpy": np.float64("inf"),
    "NaN as a ball": flint.arb("nan"), "inf as a ball": flint.arb("inf"), "True": True, "False": False,
    "numpy.bool": np.bool_(True), "string": "50", "None": None, "complex": 50 + 0j, "numpy.complex": np.complex128(50),
    "acb": flint.acb(50), "sympy oo": sympy.oo, "sympy zoo": sympy.zoo, "sympy I": sympy.I, "dict": {1: 2}, "set": {50},
    "array with NaN": np.array([math.nan]), "array with inf": np.array([-math.inf]), "array of bool": np.array([True]),
    "array of str": np.array(["50"]), "array of complex": np.array([50j]), "tensor of bool": torch.tensor([True]),
    "tensor of complex": torch.tensor([50j]), "tensor with NaN": torch.tensor([math.nan]),
    "tensor inf": torch.tensor(math.inf),
    "datetime": np.array(["2020-01-01"], dtype="M8"), "Series of bool": pd.Series([True]),
    "object": object(),
    "bytes": b"50", "function": abs, "list of str": ["50"], "list of bool": [True], "0-d array of bool": np.array(True),
}  # fmt: skip


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_number_is_refused(kind: str) -> None:
    """In the place of every argument of many calculators."""
    value = NO_NUMBERS[kind]
    for calculator in some_of(list(FORMULAS.values()), 40):
        values = each(arguments(calculator, 0), as_float)
        for name in calculator.names:
            with pytest.raises(InvalidInput) as caught:
                calculator(**with_first(values, name, value))
            assert caught.value.argument.startswith(argument_of(calculator, name)), calculator


def test_the_same_values_pass_where_they_are_numbers() -> None:
    at = {"L": 1, "L_minus": 0, "B": 1.2, "gamma": 0, "K": 10}
    expected = fedprox.rho(mu=50.0, **at)
    assert expected > 0
    for value in (50, np.float32(50), np.int64(50), np.array(50.0), np.array(50), Fraction(50)):
        assert fedprox.rho(mu=value, **at) == pytest.approx(expected, rel=1e-14)
    for value in ([50.0], (50,), np.array([50]), pd.Series([50.0]), np.array([50], dtype=np.int8)):
        np.testing.assert_allclose(fedprox.rho(mu=value, **at), [expected], rtol=1e-14)


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", NAMES)
def test_names_must_be_known_and_complete(name: str) -> None:
    calculator = FORMULAS[name]
    values = arguments(calculator, 0)
    with pytest.raises(TypeError, match="nonsense"):
        calculator(**values, nonsense=1)
    for missing in calculator.names:
        rest = {n: v for n, v in values.items() if n != missing}
        if missing in calculator.defaults:
            calculator(**rest)
            continue
        with pytest.raises(TypeError, match=f"missing.*'{missing}'"):
            calculator(**rest)
    with pytest.raises(TypeError):
        calculator(*values.values())


@pytest.mark.parametrize("name", [n for n in NAMES if any(p.shape in (Shape.SEQUENCE, Shape.VECTORS) for p in FORMULAS[n].parameters.values())])  # fmt: skip  # noqa: E501
def test_sequences_must_have_entries(name: str) -> None:
    calculator = FORMULAS[name]
    values = arguments(calculator, 0)
    for argument, value in values.items():
        if not isinstance(value, list):
            continue
        for wrong in ([], (), np.array([]), torch.tensor([]), np.empty((3, 0)), 1.0, 3, "abc", None, np.float64(1), np.array(1.0)):  # fmt: skip  # noqa: E501
            if getattr(wrong, "shape", None) == (3, 0) and calculator.parameters[argument].shape is Shape.VECTORS:
                continue  # three vectors of no entries
            with pytest.raises(InvalidInput) as caught:
                calculator(**{**values, argument: wrong})
            assert caught.value.argument == argument
            assert "is not a list of several" in str(caught.value)
        passed = calculator(**{**values, argument: tuple(value)})
        assert str(passed) == str(calculator(**values))
