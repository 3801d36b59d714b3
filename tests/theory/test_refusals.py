"""What calculators refuse: every bound of every parameter and every condition of every statement, just beyond it.

The bounds are found, not listed; for each the nearest number on the wrong side must be refused, and that on the right
side must pass, in every kind of number.
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pandas as pd
import pytest
import sympy
import torch
from statement_makers import arguments, of_numbers, statements

from fedconvex.errors import InvalidInput
from fedconvex.statements import Calculator, Condition
from fedconvex.statements.arrays import CHUNK
from fedconvex.statements.functions import Irrational
from fedconvex.statements.notation import Shape
from fedconvex.theory import feddyn, fedprox, fedsplit, nesterov

FORMULAS = of_numbers()
NAMES = sorted(FORMULAS)
TINY = Fraction(1, 10**24)
DIGITS = 400  # bits of balls
Kind = Callable[[Any], Any]


def ball(value: Any) -> flint.arb:
    return flint.arb(fmpq(value))


def fmpq(value: Any) -> flint.fmpq:
    exact = Fraction(value)
    return flint.fmpq(exact.numerator, exact.denominator)


def rational(value: Any) -> sympy.Rational:
    return sympy.Rational(*Fraction(value).as_integer_ratio())


KINDS: dict[str, Kind] = {"Fraction": Fraction, "fmpq": fmpq, "arb": ball, "sympy": rational}


def each(values: dict[str, Any], convert: Kind) -> dict[str, Any]:
    return {n: [convert(e) for e in v] if isinstance(v, list) else convert(v) for n, v in values.items()}


def dyadic(value: Any) -> Any:
    return value if isinstance(value, int) else Fraction(float(value))


def as_float(value: Any) -> Any:
    return value if isinstance(value, int) else float(value)


def with_first(values: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The argument (of a sequence, its first entry) replaced."""
    return {**values, name: [value, *values[name][1:]] if isinstance(values[name], list) else value}


def bound_of(condition: Condition, values: dict[str, Any]) -> tuple[Fraction, bool]:
    """The bound at rational values, and whether that is exact; where it is irrational, to 1000 bits."""
    try:
        return Fraction(condition.bound_at({n: Fraction(values[n]) for n in condition.names})), True
    except Irrational:
        with flint.ctx.workprec(1000):
            middle = condition.bound_at({n: ball(values[n]) for n in condition.names}).mid()
            mantissa, exponent = (int(part) for part in middle.man_exp())
            return Fraction(mantissa) * Fraction(2) ** exponent, False


def sides(
    calculator: Calculator, condition: Condition, values: dict[str, Any]
) -> tuple[list[Fraction], list[Fraction]]:
    """Values that must be refused, and values that must pass: the bound itself and a step to either side."""
    bound, exact = bound_of(condition, values)
    at = [bound] if exact else []
    below, above = bound - TINY, bound + TINY
    if calculator.parameters[condition.argument].integer:
        below, above = Fraction(math.ceil(bound) - 1), Fraction(math.floor(bound) + 1)
        at = [bound] if bound.denominator == 1 else []
    return {
        ">": ([below, *at], [above]),
        ">=": ([below], [*at, above]),
        "<=": ([above], [below, *at]),
        "<": ([*at, above], [below]),
        "=": ([below, above], at),
    }[condition.relation]


def refusal(calculator: Any, values: dict[str, Any]) -> InvalidInput | None:
    try:
        calculator(**values)
    except InvalidInput as error:
        return error
    return None


def names_all(error: InvalidInput | None, calculator: Calculator, argument: str, value: Any) -> bool:
    """Whether the error is one, and says which statement refuses which argument of which value."""
    if error is None or error.argument != argument:
        return False
    same = error.value is value or bool(error.value == value)
    text = str(error)
    shown = str(value) if isinstance(value, Fraction | flint.fmpq) else repr(value)  # 1/9, not Fraction(1, 9)
    return same and calculator.owner in text and text.startswith(f"{argument} = {' '.join(shown.split())[:60]}")


def argument_of(calculator: Calculator, name: str) -> str:
    sequence = calculator.parameters[name].shape in (Shape.SEQUENCE, Shape.VECTORS)
    return f"{name}[0]" if sequence else name


def unrefused(calculator: Calculator, convert: Kind, conditions: tuple[Condition, ...]) -> list[str]:
    """The conditions with a wrong value that is let through, or refused without a word on why."""
    found = []
    for condition in conditions:
        values = arguments(calculator, 0)
        wrong, _ = sides(calculator, condition, values)
        for value in wrong:
            given = each(with_first(values, condition.argument, value), convert)
            first = given[condition.argument]
            first = first[0] if isinstance(first, list) else first
            if not names_all(
                refusal(calculator, given), calculator, argument_of(calculator, condition.argument), first
            ):
                found.append(f"{condition.argument} {condition.relation} {condition.bound}: {value}")
    return found


def closed(
    calculator: Calculator, convert: Kind, conditions: tuple[Condition, ...], enforced: tuple[Condition, ...]
) -> list[str]:
    """The conditions that refuse, as enforced, what is on their right side; another condition may refuse that."""
    found = []
    for condition, real in zip(conditions, enforced, strict=True):
        values = arguments(calculator, 0)
        _, right = sides(calculator, condition, values)
        text = re.compile(rf"needs {re.escape(real.text(calculator.parameters))}( |,|$)")
        for value in right:
            given = each(with_first(values, condition.argument, value), convert)
            if text.search(reason(calculator, given)):
                found.append(f"{condition.argument} {condition.relation} {condition.bound}: {value}")
    return found


def reason(calculator: Calculator, values: dict[str, Any]) -> str:
    """Why the arguments are refused, if they are."""
    try:
        calculator.check(calculator.arguments(values).values)
    except InvalidInput as error:
        return error.problem
    return ""


def test_there_is_something_to_refuse() -> None:
    assert sum(len(c.all_conditions) for c in FORMULAS.values()) > 300
    assert {c.relation for f in FORMULAS.values() for c in f.all_conditions} >= {">", ">=", "<=", "<"}
    assert sum(callable(c.bound) for f in FORMULAS.values() for c in f.all_conditions) > 15
    assert {s.identifier for s in statements()} - FORMULAS.keys() == {f"fedsplit.equation{i}" for i in (8, 9, 10)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_step_beyond_the_bound_is_refused(name: str, kind: str) -> None:
    with flint.ctx.workprec(DIGITS):
        assert unrefused(FORMULAS[name], KINDS[kind], FORMULAS[name].all_conditions) == []


@pytest.mark.parametrize("kind", ["Fraction", "fmpq", "sympy"])  # balls cannot tell that numbers are equal
@pytest.mark.parametrize("name", NAMES)
def test_the_bound_itself_passes_where_it_may(name: str, kind: str) -> None:
    conditions = FORMULAS[name].all_conditions
    assert closed(FORMULAS[name], KINDS[kind], conditions, conditions) == []


STRICTER = {">=": ">", "<=": "<", ">": ">", "<": "<"}


@pytest.mark.parametrize(
    "name", ["fedprox.theorem4", "feddyn.theorem2", "feddyn.theorem3", "fedsplit.optimal_stepsize"]
)
def test_a_lost_condition_would_be_noticed(name: str) -> None:
    calculator = FORMULAS[name]
    lost = calculator.conditions[-1]
    lax = replace(calculator, conditions=calculator.conditions[:-1])
    assert unrefused(calculator, Fraction, (lost,)) == []
    assert len(unrefused(lax, Fraction, (lost,))) > 0


@pytest.mark.parametrize(
    "name", ["feddyn.theorem2", "feddyn.theorem3", "fedsplit.optimal_stepsize", "fedprox.definition3"]
)
def test_a_condition_that_is_too_strict_would_be_noticed(name: str) -> None:
    calculator = FORMULAS[name]
    strict = tuple(replace(c, relation=STRICTER[c.relation]) for c in calculator.conditions)
    assert closed(calculator, Fraction, calculator.conditions, calculator.conditions) == []
    assert len(closed(replace(calculator, conditions=strict), Fraction, calculator.conditions, strict)) > 0


def next_to(bound: Fraction, wrong: bool, relation: str) -> float:
    """The float next to the bound on that side."""
    upwards = (relation[0] == ">") != wrong
    value = float(bound)
    holds = {">": Fraction.__gt__, ">=": Fraction.__ge__, "<": Fraction.__lt__, "<=": Fraction.__le__}[relation]
    while holds(Fraction(value), bound) == wrong:
        value = math.nextafter(value, math.inf if upwards else -math.inf)
    back = math.nextafter(value, -math.inf if upwards else math.inf)
    return back if holds(Fraction(back), bound) != wrong else value


def passes(calculator: Calculator, values: dict[str, Any]) -> bool:
    try:
        calculator.check(calculator.arguments(values).values)
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_the_float_next_to_the_bound(name: str) -> None:
    """Alone and in an array, where the first of two wrong entries is named."""
    calculator = FORMULAS[name]
    values = each(each(arguments(calculator, 0), dyadic), as_float)
    for condition in calculator.all_conditions:
        if calculator.parameters[condition.argument].integer or condition.relation == "=":
            continue
        bound, _ = bound_of(condition, {n: v for n, v in values.items() if n in condition.names})
        value = next_to(bound, True, condition.relation)
        argument = argument_of(calculator, condition.argument)
        error = refusal(calculator, with_first(values, condition.argument, value))
        assert names_all(error, calculator, argument, value), (condition, value, error)
        own = values[condition.argument]
        own = own[0] if isinstance(own, list) else own
        near = next_to(bound, False, condition.relation)
        for right in (own,) if condition.by_definition else (own, near):  # near 0, other conditions may not hold
            if right == near != own and not passes(calculator, with_first(values, condition.argument, right)):
                continue  # another condition is the sharper one
            array = np.array([right, right, value, right, value])
            error = refusal(calculator, with_first(values, condition.argument, array))
            if right == own or error.argument.startswith(argument):
                assert names_all(error, calculator, f"{argument}[2]", value), (condition, value, error)


@pytest.mark.parametrize("name", NAMES)
def test_halves_are_no_integers(name: str) -> None:
    calculator = FORMULAS[name]
    values = arguments(calculator, 0)
    for argument in (n for n in calculator.names if calculator.parameters[n].integer):
        half = values[argument] + Fraction(1, 2)
        for convert in (Fraction, fmpq, ball, rational, float, np.float32, lambda v: np.array(float(v))):
            error = refusal(calculator, {**each(values, convert), argument: convert(half)})
            assert error is not None
            assert error.argument == argument
            assert calculator.owner in str(error)
            assert "integer" in str(error)
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


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_number_is_refused(kind: str) -> None:
    """In the place of every argument of every calculator."""
    value = NO_NUMBERS[kind]
    for calculator in FORMULAS.values():
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


# The thresholds that floats hide.

ACAR = {"num_clients": 4, "num_active": 2, "T": 10, "D0": 1, "G": 1}


@pytest.mark.parametrize(
    ("alpha", "L"),
    [
        (27.5, 1.1), (np.float64(27.5), 1.1), (Fraction(55, 2), 1.1),
        (Fraction(55, 2) - Fraction(1, 10**24), Fraction(11, 10)),
        (25 - Fraction(1, 10**24), 1), (25 - Fraction(1, 10**24), 1.0), (math.nextafter(25, 0), 1),
        (np.float32(27.5), np.float64(1.1)),
        (27.5, np.nextafter(np.float32(1.1), np.float32(2))), (np.longdouble(25) - np.longdouble(2) ** -58, 1),
        (24, 1), (flint.arb(25) - flint.arb(2) ** -40, 1), (sympy.Rational(25) - sympy.Rational(1, 10**30), 1),
        (25 * sympy.sqrt(2) - sympy.Rational(1, 10**30), sympy.sqrt(2)),
    ],
    ids=repr,
)  # fmt: skip
def test_alpha_below_its_threshold(alpha: Any, L: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^alpha = .*feddyn\.theorem2 needs alpha >= 25\*L"):
        feddyn.convex_bound(alpha=alpha, L=L, **ACAR)


@pytest.mark.parametrize(
    ("alpha", "L"),
    [
        (27.500000000000004, 1.1), (Fraction(55, 2), Fraction(11, 10)), (25 + Fraction(1, 10**24), 1),
        (25, 1), (25.0, 1.0),
        (27.5, Fraction(11, 10)), (math.nextafter(25, 26), 1), (np.float32(27.5), Fraction(11, 10)), (flint.arb(25), 1),
        (flint.arb(25), flint.arb(1)), (25 * sympy.sqrt(2), sympy.sqrt(2)), (25 * Fraction(1.1), 1.1),
        (np.longdouble(25) + np.longdouble(2) ** -58, 1),
    ],
    ids=repr,
)  # fmt: skip
def test_alpha_at_its_threshold_or_above(alpha: Any, L: Any) -> None:
    assert feddyn.convex_bound(alpha=alpha, L=L, **ACAR) is not None


def test_the_thresholds_inside_arrays() -> None:
    good = np.array([[28.0, 27.500000000000004], [30.0, 27.500000000000007]])
    assert feddyn.convex_bound(alpha=good, L=1.1, **ACAR).shape == (2, 2)
    bad = good.copy()
    bad[1, 1] = bad[0, 1] = 27.5
    for L in (1.1, np.array([1.1]), np.full((2, 2), 1.1), Fraction(1.1)):
        with pytest.raises(InvalidInput, match=r"^alpha\[0, 1\] = 27\.5: feddyn\.theorem2 needs alpha >= 25\*L"):
            feddyn.convex_bound(alpha=bad, L=L, **ACAR)
    assert feddyn.convex_bound(alpha=bad, L=Fraction(11, 10), **ACAR).shape == (2, 2)
    with pytest.raises(InvalidInput, match=r"^alpha\[0, 1\] = 27\.5"):
        feddyn.convex_bound(alpha=bad, L=Fraction(11, 10) + Fraction(1, 10**24), **ACAR)
    with pytest.raises(InvalidInput, match=r"^alpha\[1\] = 27\.5"):
        feddyn.convex_bound(alpha=torch.tensor([28.0, 27.5], dtype=torch.float64), L=1.1, **ACAR)
    assert len(feddyn.convex_bound(alpha=torch.tensor([28.0, 27.5]), L=Fraction(11, 10), **ACAR)) == 2
    with pytest.raises(InvalidInput, match=r"^alpha\[1\] = 27\.5"):
        feddyn.convex_bound(alpha=np.array([28, 27.5], dtype=np.float32), L=1.1, **ACAR)


def test_one_scalar_against_an_array_of_bounds() -> None:
    with pytest.raises(
        InvalidInput, match=r"^alpha = 27\.5: feddyn\.theorem2 needs alpha >= 25\*L = 27\.5|^alpha = 27\.5"
    ):
        feddyn.convex_bound(alpha=27.5, L=np.array([1.0, 1.1, 1.2]), **ACAR)
    assert len(feddyn.convex_bound(alpha=27.5, L=np.array([1.0, np.nextafter(1.1, 0)]), **ACAR)) == 2


def test_thresholds_of_several_roundings_inside_arrays() -> None:
    """20Lm/P rounds three times: what floats say of α beside it is checked against rational numbers."""
    random = np.random.default_rng(3)
    count = 4000
    L, m = random.uniform(0.1, 9, count), random.integers(1, 60, count)
    P = random.integers(1, m + 1)
    alpha = 20 * L * m / P
    alpha = np.choose(random.integers(0, 3, count), [np.nextafter(alpha, 0), alpha, np.nextafter(alpha, 1e9)])
    numbers = zip(*(v.tolist() for v in (alpha, L, m, P)), strict=True)
    holds = np.array([Fraction(a) * p >= 20 * Fraction(l) * n for a, l, n, p in numbers])
    wrong_in_floats = (alpha >= 20 * L * m / P) & ~holds & (alpha > 20 * L * m / P)
    assert wrong_in_floats.sum() > 10
    rest = {"T": 1, "delta": 1, "spread": 1}
    assert len(
        feddyn.nonconvex_bound(alpha=alpha[holds], L=L[holds], num_clients=m[holds], num_active=P[holds], **rest)
    )
    for start in range(0, count, 100):
        left = ~holds[start:]
        with pytest.raises(InvalidInput, match=rf"^alpha\[{left.argmax()}\] = .*needs alpha >= 20\*L"):
            feddyn.nonconvex_bound(
                alpha=alpha[start:], L=L[start:], num_clients=m[start:], num_active=P[start:], **rest
            )


ON_THE_EDGE = [
    (fedprox.rho, {"mu": 1, "L": 0, "L_minus": 0, "B": 1, "gamma": 0, "K": 1}),
    (fedprox.rho, {"mu": 1, "L": 0, "L_minus": 0, "B": 1, "gamma": 1, "K": 1}),
    (fedprox.rho_bounded_variance, {"mu": 1, "L": 0, "L_minus": 0, "sigma2": 0, "epsilon": 1, "gamma": 0, "K": 1}),
    (fedprox.iterations, {"delta": 0, "rho": 1, "epsilon": 1}),
    (fedprox.convex_choice, {"L": 1, "B": 2, "K": 16}),
    (fedprox.dissimilarity, {"mean_square": 1, "square": 1}),
    (fedprox.inexactness, {"residual": 0, "client_gradient": 1}),
    (fedsplit.distance_bound, {"t": 1, "kappa": 1, "initial_distance": 0, "num_clients": 1, "b": 0}),
    (fedsplit.optimal_stepsize, {"mu": 2, "L": 2}),
    (fedsplit.complexities, {"kappa": 1, "epsilon": 1}),
    (feddyn.convex_bound, {"alpha": 25, "L": 1, "num_clients": 1, "num_active": 1, "T": 1, "D0": 0, "G": 0}),
    (feddyn.strongly_convex_bound,
     {"alpha": 30, "L": 1, "mu": 1, "num_clients": 6, "num_active": 1, "T": 1, "D0": 0, "G": 0}),
    (feddyn.nonconvex_bound, {"alpha": 40, "L": 1, "num_clients": 2, "num_active": 1, "T": 1, "delta": 0, "spread": 0}),
    (feddyn.convex_rounds, {"alpha": 25, "L": 1, "num_clients": 1, "num_active": 1, "D0": 0, "G": 0, "epsilon": 1}),
    (nesterov.distance_after, {"t": 0, "stepsize": 1, "mu": 1, "L": 1, "initial_distance": 0}),
    (nesterov.decrease, {"stepsize": 2, "L": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("calculator", "given"), ON_THE_EDGE, ids=lambda value: getattr(value, "owner", None))
def test_everything_on_the_edge(calculator: Any, given: dict[str, Any]) -> None:
    """Values that the papers allow, read off their pages: zeros, ones, everyone takes part, thresholds met exactly."""
    for convert in (int, float, Fraction, np.array, lambda v: np.array([float(v)])):
        assert calculator(**{n: convert(v) for n, v in given.items()}) is not None


def test_an_irrational_threshold() -> None:
    """Lemma 1 of the FedDyn paper: α > (10 + √140)L, in floats one ulp apart."""
    with flint.ctx.workprec(200):
        threshold = 10 + flint.arb(140).sqrt()
        below = float(threshold.mid())
        if flint.arb(below) > threshold:
            below = math.nextafter(below, 0)
    above = math.nextafter(below, 99)
    given = {"L": 1, **ACAR}
    assert feddyn.convex_bound_of_lemma(alpha=above, **given) > 0
    with pytest.raises(InvalidInput, match=f"^alpha = {below!r}"):
        feddyn.convex_bound_of_lemma(alpha=below, **given)
    with pytest.raises(InvalidInput, match=rf"^alpha\[1\] = {below!r}"):
        feddyn.convex_bound_of_lemma(alpha=np.array([above, below, below]), **given)
    digits = 10**200
    exact = Fraction(math.isqrt(140 * digits**2), digits) + 10
    with pytest.raises(InvalidInput, match=r"needs alpha > "):
        feddyn.convex_bound_of_lemma(alpha=exact, **given)
    assert feddyn.convex_bound_of_lemma(alpha=exact + Fraction(1, digits), **given) > 0


def test_just_beyond_in_fractions() -> None:
    at = {"mu": 50, "L": 1, "L_minus": 0, "gamma": 0, "K": 10}
    assert float(1 - Fraction(1, 10**20)) == 1
    with pytest.raises(InvalidInput, match=r"^B = 99999999999999999999/10+: .*theorem4 needs B >= 1"):
        fedprox.rho(B=1 - Fraction(1, 10**20), **at)
    assert fedprox.rho(B=Fraction(1), **at) > 0
    with pytest.raises(InvalidInput, match=r"^mu = 2: fedprox\.theorem4 needs mu > L_minus = 2"):
        fedprox.rho(B=1, **{**at, "mu": 2, "L_minus": 2})
    with pytest.raises(InvalidInput, match=r"^gamma = .*needs gamma <= 1"):
        fedprox.rho(B=1, **{**at, "gamma": 1 + Fraction(1, 10**30)})
    beyond = 2 + Fraction(1, 10**30)
    assert fedprox.rho(B=1, **{**at, "mu": beyond, "L_minus": 2}) < 0
    with pytest.raises(InvalidInput, match=r"^K = 0: .*needs K >= 1"):
        fedprox.rho(B=1, **{**at, "K": 0})
    with pytest.raises(InvalidInput, match=r"^K = -3: "):
        fedprox.rho(B=1, **{**at, "K": -3})


def test_balls_that_do_not_decide() -> None:
    """A theorem's condition must be certain; a letter's own range need not."""
    at = {"mu": 50, "L": 1, "L_minus": 0, "B": flint.arb(1.2), "gamma": 0, "K": 10}
    for letter, wide, outside in (
        ("B", flint.arb(1, 1e-3), flint.arb(0.9, 1e-3)),
        ("gamma", flint.arb(0, 1e-3), flint.arb(-0.1, 1e-3)),
        ("gamma", flint.arb(1, 1e-3), flint.arb(1.1, 1e-3)),
        ("L_minus", flint.arb(0, 1e-3), flint.arb(-1, 1e-3)),
        ("K", flint.arb(1, 0.1), flint.arb(0.5, 0.1)),
    ):
        assert fedprox.rho(**{**at, letter: wide}).is_finite()
        with pytest.raises(InvalidInput, match=f"^{letter} = .*fedprox.theorem4 needs"):
            fedprox.rho(**{**at, letter: outside})
    with pytest.raises(
        InvalidInput, match=r"mu > L_minus = 49\.9.* which this ball does not decide; give a narrower ball"
    ):
        fedprox.rho(**{**at, "L_minus": flint.arb(49.9375), "mu": flint.arb(50, 0.125)})
    with pytest.raises(InvalidInput, match=r"needs mu > L_minus.*; give mu > L_minus"):
        fedprox.rho(**{**at, "L_minus": flint.arb(51), "mu": flint.arb(50, 0.125)})
    with pytest.raises(InvalidInput, match="which this ball does not decide"):
        feddyn.convex_bound(alpha=flint.arb(25, 1e-9), L=1, **ACAR)
    with pytest.raises(InvalidInput, match="which this ball does not decide"):
        feddyn.convex_bound(alpha=flint.arb(25), L=flint.arb(1, 1e-9), **ACAR)


# Arrays: the index is that of the user's own array.

AT = {"L": 1.0, "L_minus": 0.0, "B": 1.25, "gamma": 0.0, "K": 10}


def located(**given: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        fedprox.rho(**{"mu": 50.0, **AT, **given})
    assert "fedprox.theorem4" in str(caught.value) or "finite" in str(caught.value)
    return caught.value.argument


def spoilt(shape: tuple[int, ...], *places: tuple[int, ...], value: float = -1.0) -> np.ndarray:
    array = np.full(shape, 50.0)
    for place in places:
        array[place] = value
    return array


def test_the_first_wrong_entry_is_named() -> None:
    assert located(mu=spoilt((5,), (3,), (4,))) == "mu[3]"
    assert located(mu=spoilt((2, 3), (1, 0), (0, 2))) == "mu[0, 2]"
    assert located(mu=spoilt((2, 3), (1, 0)).T) == "mu[0, 1]"
    assert located(mu=np.asfortranarray(spoilt((2, 3), (1, 0), (0, 2)))) == "mu[0, 2]"
    assert located(mu=spoilt((10,), (6,), (1,))[::2]) == "mu[3]"
    assert located(mu=spoilt((5,), (3,))[::-1]) == "mu[1]"
    assert located(mu=spoilt((2, 3, 4), (1, 2, 3))) == "mu[1, 2, 3]"
    assert located(mu=pd.Series(spoilt((5,), (3,)), index=list("abcde"))) == "mu[3]"
    assert located(mu=spoilt((5,), (3,)).tolist()) == "mu[3]"
    assert located(mu=torch.from_numpy(spoilt((2, 5), (1, 3)))) == "mu[1, 3]"
    assert located(mu=spoilt((5,), (3,), value=math.nan)) == "mu[3]"
    assert located(mu=spoilt((5,), (2,), value=math.inf)) == "mu[2]"
    assert located(mu=spoilt((5,), (2,)).astype(int)) == "mu[2]"


def test_the_index_belongs_to_the_array_that_was_given() -> None:
    column, row = np.ones((4, 1)), np.full(3, 50.0)
    wrong_column, wrong_row = column.copy(), row.copy()
    wrong_column[2, 0], wrong_row[1] = -1, -1
    assert located(mu=row, L=wrong_column) == "L[2, 0]"
    assert located(mu=wrong_row, L=column) == "mu[1]"
    assert located(mu=row, K=np.array([[10.0], [2.5]])) == "K[1, 0]"
    assert located(mu=np.full((2, 1, 3), 50.0), B=np.array([[1.0], [1.5], [0.5]])) == "B[2, 0]"
    assert located(mu=np.array([50.0, 1.0]), L_minus=np.array([[0.0], [2.0]])) == "mu[1]"
    assert located(mu=np.array([[50.0], [1.0]]), L_minus=np.array([0.0, 2.0])) == "mu[1, 0]"
    assert located(mu=row, gamma=np.array([[0.0], [2.0]])) == "gamma[1, 0]"


@pytest.mark.parametrize(
    "place", [0, CHUNK - 1, CHUNK, CHUNK + 7, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 17, 3 * CHUNK + 3]
)
def test_entries_of_every_chunk(place: int) -> None:
    length = 3 * CHUNK + 5
    assert located(mu=spoilt((length,), (place,), (length - 1,))) == f"mu[{place}]"
    assert located(mu=np.full(length, 50.0), K=np.where(np.arange(length) >= place, 2.5, 4.0)) == f"K[{place}]"
    folded = spoilt((5, length // 5), divmod(place, length // 5)) if place < length // 5 * 5 else None
    if folded is not None:
        i, j = divmod(place, length // 5)
        assert located(mu=folded) == f"mu[{i}, {j}]"
        assert located(mu=np.ascontiguousarray(folded.T).T) == f"mu[{i}, {j}]"
    assert located(mu=spoilt((length,), (place,)).reshape(-1, 1), L=np.ones(1)) == f"mu[{place}, 0]"


def test_a_broadcast_longer_than_a_chunk() -> None:
    rows, columns = 200, 300
    assert rows * columns > 3 * CHUNK
    for i, j in ((0, 299), (150, 0), (199, 299)):
        assert located(mu=spoilt((rows, 1), (i, 0)), L=np.ones(columns)) == f"mu[{i}, 0]"
        wrong = np.ones(columns)
        wrong[j] = -1
        assert located(mu=np.full((rows, 1), 50.0), L=wrong) == f"L[{j}]"
    minus = np.zeros(columns)
    minus[7] = 50
    assert located(mu=np.linspace(100, 45, rows)[:, None], L_minus=minus).startswith("mu[")


def test_entries_of_sequences_in_arrays() -> None:
    def of(gammas: Any) -> str:
        with pytest.raises(InvalidInput, match=r"fedprox\.corollary9 needs gammas <= 1") as caught:
            fedprox.rho_variable(mu=50.0, L=1.0, L_minus=0.0, B=1.25, gammas=gammas, K=10)
        return caught.value.argument

    assert of([0.1, 1.5, 2.0]) == "gammas[1]"
    assert of([0.1, np.array([0.5, 1.5])]) == "gammas[1][1]"
    assert of([np.array([0.1, 0.2]), 1.5]) == "gammas[1]"
    assert of(np.array([[0.1, 0.2, 0.3], [0.1, 1.5, 0.2]])) == "gammas[1][1]"
    assert of([np.zeros(2 * CHUNK + 2), np.where(np.arange(2 * CHUNK + 2) > 2 * CHUNK, 2.0, 0.5)]) == (
        f"gammas[1][{2 * CHUNK + 1}]"
    )


def test_the_wrong_entry_is_shown() -> None:
    with pytest.raises(InvalidInput, match=r"^mu\[1, 0\] = -2\.5: fedprox\.theorem4 needs mu > 0; give mu > 0$"):
        fedprox.rho(mu=np.array([[50.0], [-2.5]]), **AT)
    with pytest.raises(InvalidInput, match=r"^mu\[1\] = 1\.0: fedprox\.theorem4 needs mu > L_minus = 2 here"):
        fedprox.rho(mu=np.array([50.0, 1.0]), **{**AT, "L_minus": np.array([0.0, 2.0])})
    with pytest.raises(InvalidInput, match=r"^num_active\[0\] = 3(\.0)?: .*num_active <= num_clients = 2"):
        feddyn.smallest_alpha_nonconvex(L=1.0, num_clients=np.array([2, 3]), num_active=np.array([3, 3]))


@pytest.mark.parametrize(
    "shapes", [((3,), (2,)), ((2, 3), (2,)), ((2, 3), (3, 2)), ((4, 1, 2), (3, 3))], ids=str
)  # fmt: skip
def test_shapes_that_do_not_broadcast(shapes: Any) -> None:
    first, second = (np.ones(shape) for shape in shapes)
    with pytest.raises(InvalidInput, match="shapes that do not broadcast"):
        fedprox.rho(**{**AT, "mu": 50 * first, "L": second})
    with pytest.raises(InvalidInput, match="shapes that do not broadcast"):
        fedprox.rho(**{**AT, "mu": 50 * first, "L_minus": second})
    with pytest.raises(InvalidInput, match="shapes that do not broadcast"):
        fedprox.iterations(delta=first, rho=second, epsilon=1)
    with pytest.raises(InvalidInput, match="shapes that do not broadcast"):
        fedprox.rho_variable(mu=50, L=1, L_minus=0, B=1, gammas=[first, second], K=10)


def test_kinds_that_cannot_be_combined() -> None:
    for other in (flint.arb(1), sympy.Integer(1)):
        with pytest.raises(InvalidInput, match="cannot be combined"):
            fedprox.rho(mu=torch.tensor([50.0]), **{**AT, "L": other})


def test_tensors_on_different_devices() -> None:
    """The device "meta" is always there; it has no numbers, which nobody gets to ask for."""
    elsewhere = torch.tensor(50.0, device="meta")
    with pytest.raises(InvalidInput, match=r"'mu': 'meta', 'L': 'cpu'.*fedprox\.theorem4 needs tensors on one device"):
        fedprox.rho(**{**AT, "mu": elsewhere, "L": torch.tensor(1.0)})
    assert float(fedprox.rho(**{**AT, "mu": torch.tensor(50.0), "L": torch.tensor(1.0)})) == pytest.approx(
        fedprox.rho(**{**AT, "mu": 50.0, "L": 1.0}), rel=1e-4
    )


def test_other_statements_of_other_papers() -> None:
    with pytest.raises(InvalidInput, match=r"^kappa = 0\.99.*fedsplit\.theorem1 needs kappa >= 1"):
        fedsplit.distance_bound(t=1, kappa=0.99, initial_distance=1, num_clients=1)
    with pytest.raises(InvalidInput, match=r"^mu = 2: fedsplit: Theorem 1 needs mu <= L = 1"):
        fedsplit.optimal_stepsize(mu=2, L=1)
    with pytest.raises(InvalidInput, match=r"^stepsize = 0\.5: nesterov\.smoothfunctions needs stepsize < 2/L"):
        nesterov.gradient_bound(T=1, stepsize=0.5, L=4, delta=1)
    assert nesterov.gradient_bound(T=1, stepsize=math.nextafter(0.5, 0), L=4, delta=1) > 0
