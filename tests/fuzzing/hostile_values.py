"""Values that nobody should pass, and that somebody will: each is made anew for every call."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pandas as pd
import sympy
import torch

HUGE = 10**400
HOSTILE: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "minus infinity": lambda: -math.inf,
    "minus zero": lambda: -0.0,
    "subnormal": lambda: 5e-324,
    "largest float": lambda: 1.7976931348623157e308,
    "minus one": lambda: -1,
    "half": lambda: 0.5,
    "zero": lambda: 0,
    "a long integer": lambda: 2**63,
    "a huge integer": lambda: HUGE,
    "a huge fraction": lambda: Fraction(HUGE, 3),
    "a tiny fraction": lambda: Fraction(1, HUGE),
    "an unwritable fraction": lambda: Fraction(10**5000 + 1, 3),
    "True": lambda: True,
    "no text": lambda: "",
    "text": lambda: "text",
    "an escape": lambda: "\x1b[2J",
    "a null character": lambda: "a\0b",
    "bytes": lambda: b"bytes",
    "complex": lambda: 1j,
    "Decimal NaN": lambda: Decimal("NaN"),
    "Decimal": lambda: Decimal("0.1"),
    "NumPy NaN": lambda: np.float32("nan"),
    "NumPy truth value": lambda: np.True_,
    "a long double": lambda: np.longdouble(1) / 3,
    "a date": lambda: np.datetime64("2020-01-01"),
    "an empty array": lambda: np.zeros(0),
    "an empty matrix": lambda: np.zeros((0, 2)),
    "a matrix of another shape": lambda: np.ones((3, 5)),
    "a vector": lambda: np.ones(2),
    "a vector with NaN": lambda: np.array([1.0, math.nan]),
    "a vector with infinity": lambda: np.array([1.0, -math.inf]),
    "huge numbers": lambda: np.array([1e308, -1e308]),
    "subnormal numbers": lambda: np.array([5e-324, -5e-324]),
    "objects of text": lambda: np.array(["a", "b"], dtype=object),
    "None in objects": lambda: np.array([None, 1], dtype=object),
    "text in an array": lambda: np.array(["a", "b"]),
    "a masked array": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "records": lambda: np.zeros(2, dtype=[("x", float)]),
    "a ragged list": lambda: [[1], [1, 2]],
    "an empty list": list,
    "a list of None": lambda: [None, None],
    "a nested list": lambda: [[[[1.0]]]],
    "a mapping": lambda: {"x": 1},
    "a set": lambda: {1, 2},
    "a generator": lambda: (i for i in range(2)),
    "a range": lambda: range(2),
    "a slice": lambda: slice(2),
    "a function": lambda: lambda *_: None,
    "a class": lambda: list,
    "an object": object,
    "a path": lambda: Path("nowhere"),
    "a series": lambda: pd.Series([1.0, None], index=[7, 7]),
    "a table": lambda: pd.DataFrame({"x": [1.0]}),
    "an unbounded ball": lambda: flint.arb(0, math.inf),
    "a NaN ball": lambda: flint.arb(math.nan),
    "a ball": lambda: flint.arb(1, 2),
    "a rational of flint": lambda: flint.fmpq(-1, 3),
    "a symbol": lambda: sympy.Symbol("x"),
    "an infinite expression": lambda: sympy.oo,
    "a bfloat16 tensor": lambda: torch.ones(2, dtype=torch.bfloat16),
    "a tensor with a gradient": lambda: torch.ones(2, requires_grad=True),
    "a complex tensor": lambda: torch.ones(2, dtype=torch.complex64),
    "a tensor without values": lambda: torch.ones(2, device="meta"),
    "a tensor with NaN": lambda: torch.tensor([1.0, math.nan]),
    "a sparse tensor": lambda: torch.eye(2).to_sparse(),
    "a tensor of no dimension": lambda: torch.tensor(1.0),
}
