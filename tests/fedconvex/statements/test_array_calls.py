"""Calculators on arrays agree with a loop over single numbers, whatever the shape, layout, type and length."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statement_makers import arguments, as_float, each, of_numbers

from fedconvex.errors import InvalidInput
from fedconvex.statements.calculator import CHUNK
from fedconvex.statements.notation import Shape
from fedconvex.theory import feddyn, fedprox, fedsplit, nesterov

FORMULAS = of_numbers()
NAMES = sorted(n for n, c in FORMULAS.items() if not c.integer)
PLAIN = {"L": 1.0, "L_minus": 0.25, "B": 1.25, "gamma": 0.125, "K": 10}
LAYOUT = {0: (3, 1, 1), 1: (4,), 2: (2, 1), 3: (1, 1)}  # of the arguments in turn; together (3, 2, 4)


def parts_of(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def largest_ulps(ours: Any, theirs: Any) -> float:
    """The difference in units in the last place of the larger."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float((abs(ours - theirs) / np.spacing(np.maximum(abs(ours), abs(theirs)))).max())


@pytest.mark.sample(60)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", NAMES)
def test_broadcasting_is_the_loop(name: str) -> None:
    """Every argument that may vary freely does, each along other axes."""
    calculator = FORMULAS[name]
    base = each(arguments(calculator, 3), as_float)
    bound = {c.argument for c in calculator.conditions} | {n for c in calculator.conditions for n in c.names}
    free = [n for n in calculator.names if n not in bound]
    given: dict[str, Any] = dict(base)
    for place, n in enumerate(free):
        shape = LAYOUT[place % 4]
        steps = np.arange(math.prod(shape)).reshape(shape)
        parameter = calculator.parameters[n]
        spread = steps if parameter.integer else steps / 1024 * (-1 if parameter.most is not None else 1)
        own = base[n]
        if isinstance(own, list):
            given[n] = [own[0] + spread, *own[1:]] if parameter.most is None else [own[0] * (1 + spread), *own[1:]]
        else:
            given[n] = own + spread if parameter.most is None else own * (1 + spread)
    if not free:
        given = each(base, lambda e: np.full(2, e))
    together = parts_of(calculator(**given))
    shape = np.broadcast_shapes(*(np.shape(e) for v in given.values() for e in (v if isinstance(v, list) else [v])))
    assert len(shape) > 0
    assert all(part.shape == shape and part.dtype == np.float64 for part in together)

    for index in np.ndindex(shape):
        single = each(given, lambda e, index=index: np.broadcast_to(e, shape)[index].item())
        for whole, alone in zip(together, parts_of(calculator(**single)), strict=True):
            assert math.isclose(whole[index], alone, rel_tol=1e-12, abs_tol=1e-13)


RHO = {"mu": np.linspace(10, 90, 7)[:, None], "K": np.array([3, 10, 50]), "L": 1.0, "L_minus": 0.5, "B": 1.25}
CONVEX = {"alpha": np.linspace(50, 90, 7)[:, None], "T": np.arange(1, 9), "L": 1.5, "num_clients": 7, "num_active": 3}
DISTANCE = {"t": np.arange(1, 30), "kappa": 7.3, "initial_distance": 0.7, "num_clients": np.array([[3], [4]]), "b": 0.1}


@pytest.mark.parametrize(
    ("calculator", "given", "ulps"),
    [
        (fedprox.rho, {**RHO, "gamma": 0.25}, 1),
        (feddyn.convex_bound, {**CONVEX, "D0": 0.3, "G": 0.7}, 0),
        (fedsplit.contraction, {"kappa": np.geomspace(1, 1e9, 100)}, 0),
        (nesterov.contraction, {"stepsize": np.linspace(0.01, 2, 50), "mu": 0.3, "L": np.array([[0.3], [2], [7]])}, 0),
        (fedsplit.distance_bound, DISTANCE, 2),
    ],
    ids=["rho", "convex_bound", "fedsplit.contraction", "nesterov.contraction", "distance_bound"],
)
def test_bit_for_bit(calculator: Any, given: dict[str, Any], ulps: int) -> None:
    together = calculator(**given)
    alone = np.array([
        calculator(**{n: np.broadcast_to(v, together.shape)[index].item() for n, v in given.items()})
        for index in np.ndindex(together.shape)
    ]).reshape(together.shape)  # fmt: skip
    assert largest_ulps(together, alone) <= ulps
    assert largest_ulps(together, alone * (1 + 1e-15)) > ulps


@pytest.mark.parametrize(
    "length", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK + 3]
)
def test_chunks_are_put_together_in_order(length: int) -> None:
    mu = 10 + np.arange(length) / 7
    expected = fedprox.rho.calculator.formula(mu=mu, **PLAIN)
    assert (fedprox.rho(mu=mu, **PLAIN) == expected).all()
    backwards = fedprox.rho(mu=mu[::-1], **PLAIN)
    assert (backwards == expected[::-1]).all()
    assert length == 1 or not (backwards == expected).all()
    terms = fedprox.rho_terms(mu=mu, **PLAIN)
    assert all((a == b).all() for a, b in zip(terms, fedprox.rho_terms.formula(mu=mu, **PLAIN), strict=True))


def test_chunks_of_broadcast_arrays() -> None:
    mu, L = np.linspace(10, 90, 301)[:, None], np.linspace(0, 3, 211)
    assert mu.size * L.size > 3 * CHUNK
    given = {**PLAIN, "L": L}
    assert (fedprox.rho(mu=mu, **given) == fedprox.rho.calculator.formula(mu=mu, **given)).all()
    folded = np.linspace(10, 90, 4 * CHUNK).reshape(2, 2, -1)
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        turned = folded.transpose(order)
        assert (fedprox.rho(mu=turned, **PLAIN) == fedprox.rho(mu=folded, **PLAIN).transpose(order)).all()


LAYOUTS: dict[str, Any] = {
    "strided": np.arange(20.0, 60.0)[::4],
    "backwards": np.arange(20.0, 30.0)[::-1],
    "transposed": np.arange(20.0, 32.0).reshape(3, 4).T,
    "Fortran": np.asfortranarray(np.arange(20.0, 32.0).reshape(3, 4)),
    "broadcast view": np.broadcast_to(np.array([20.0, 30.0]), (3, 2)),
    "big-endian": np.arange(20.0, 30.0).astype(">f8"),
    "float32": np.arange(20, 30, dtype=np.float32),
    "float16": np.arange(20, 30, dtype=np.float16),
    "longdouble": np.arange(20, 30, dtype=np.longdouble),
    "int8": np.arange(20, 30, dtype=np.int8),
    "uint64": np.arange(20, 30, dtype=np.uint64),
    "big-endian int": np.arange(20, 30, dtype=">i4"),
    "unaligned": np.frombuffer(b"x" + np.arange(20.0, 30.0).tobytes(), dtype=np.uint8)[1:].view(np.float64),
    "field of records": np.array([(1, 20.0), (2, 30.0)], dtype=[("a", "i1"), ("b", "f8")])["b"],
    "diagonal": np.diag(np.arange(20.0, 30.0)).diagonal(),
    "one entry": np.array([[[20.0]]]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_and_types(layout: str) -> None:
    mu = LAYOUTS[layout]
    expected = fedprox.rho(mu=np.array(mu.tolist(), dtype=float), **PLAIN)
    result = fedprox.rho(mu=mu, **PLAIN)
    assert result.dtype == np.float64
    assert result.shape == mu.shape
    assert (result == expected).all()
    assert len(np.unique(result)) == len(np.unique(mu))


def test_integers_do_not_wrap_around() -> None:
    count, total = np.array([200, 100], dtype=np.uint8), np.array([200, 2], dtype=np.uint8)
    assert feddyn.lemma6(count=count, total=total).tolist() == [40000.0, 200.0]
    alpha = feddyn.smallest_alpha_convex(L=np.array([100, 127], dtype=np.int8))
    assert alpha.tolist() == [2500.0, 3175.0]
    assert feddyn.lemma18(A_next=np.array([1, 9], dtype=np.int8), alpha=np.array([100, 3], dtype=np.int8))[1] == 1


def test_read_only_arrays_and_inputs_that_stay() -> None:
    mu = np.linspace(20, 60, 3 * CHUNK).reshape(3, CHUNK)
    given = {**PLAIN, "L": np.linspace(0, 2, CHUNK), "K": np.array([[3], [4], [5]])}
    kept = {n: np.copy(v) for n, v in {"mu": mu, **given}.items()}
    for array in (mu, given["L"], given["K"]):
        array.flags.writeable = False
    result = fedprox.rho(mu=mu, **given)
    assert result.flags.writeable
    assert result.base is None or result.base.base is None
    for name, value in {"mu": mu, **given}.items():
        assert (value == kept[name]).all()
    given["L"].flags.writeable = given["K"].flags.writeable = mu.flags.writeable = True
    assert (fedprox.rho(mu=mu, **given) == result).all()
    for name, value in {"mu": mu, **given}.items():
        assert (value == kept[name]).all()


def test_results_share_no_memory_with_the_inputs() -> None:
    """Not even where the formula gives back what it was given."""
    values = np.array([1.0, 2.0])
    for result in (feddyn.lemma3(epsilon=values), feddyn.lemma7(C_next=values), fedsplit.objective(values=[values])):
        assert not np.shares_memory(result, values)
        result[:] = -1
        assert values.tolist() == [1.0, 2.0]


def test_named_tuples_of_arrays() -> None:
    margins = fedprox.necessary_margins(B=np.array([[1.0], [2.0]]), gamma=np.array([0.0, 0.25, 0.5]), K=9)
    assert type(margins).__name__ == "Margins"
    assert margins.inexactness.shape == margins.sampling.shape == (2, 3)
    assert margins.inexactness.tolist() == [[1.0, 0.75, 0.5], [1.0, 0.5, 0.0]]
    np.testing.assert_allclose(margins.sampling, [[2 / 3] * 3, [1 / 3] * 3], rtol=1e-15)
    terms = fedprox.rho_terms(mu=np.linspace(10, 90, CHUNK + 1), **PLAIN)
    assert type(terms) is tuple
    assert [t.shape for t in terms] == [(CHUNK + 1,)] * 6
    one = fedsplit.condition_number(mus=[1.0, 2.0], Ls=[4.0, np.array([3.0, 9.0])])
    assert (one.mu.tolist(), one.L.tolist(), one.kappa.tolist()) == ([1.0, 1.0], [4.0, 9.0], [4.0, 9.0])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)], ids=str)
def test_no_entries(shape: tuple[int, ...]) -> None:
    result = fedprox.rho(mu=np.empty(shape), **PLAIN)
    assert result.shape == shape
    assert result.dtype == np.float64
    assert fedprox.rho(mu=np.empty(shape), **{**PLAIN, "L": np.ones(shape[-1])}).shape == shape
    with pytest.raises(InvalidInput, match="shapes that do not broadcast"):
        fedprox.rho(mu=np.empty(shape), **{**PLAIN, "L": np.ones(7)})


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 40, 63, 64, 65, 100])
def test_sequences_of_many_arrays(count: int) -> None:
    random = np.random.default_rng(count)
    rows = random.uniform(1, 5, (count, 6))
    largest = fedprox.bounded_dissimilarity(dissimilarities=list(rows))
    assert (largest == rows.max(axis=0)).all()
    assert (fedprox.bounded_dissimilarity(dissimilarities=rows.T) == largest).all()
    weights = random.integers(1, 64, (count, 6)) / 64
    values = random.integers(-50, 50, (count, 1)) / 8
    total = fedprox.objective(weights=list(weights), values=list(values))
    assert (total == (weights * values).sum(axis=0)).all()
    mixed = [row if i % 2 else float(row[0]) for i, row in enumerate(rows)]
    if count > 1:
        assert fedprox.bounded_dissimilarity(dissimilarities=mixed).shape == (6,)
    rows[count // 2, 4] = 0.5
    with pytest.raises(InvalidInput, match=rf"^dissimilarities\[{count // 2}\]\[4\] = 0\.5: .*dissimilarities >= 1"):
        fedprox.bounded_dissimilarity(dissimilarities=list(rows))


def test_many_arrays_of_many_entries() -> None:
    rows = np.random.default_rng(0).uniform(1, 5, (40, CHUNK + 3))
    assert (fedprox.bounded_dissimilarity(dissimilarities=list(rows)) == rows.max(axis=0)).all()
    column = rows[:, :5, None]
    assert fedprox.bounded_dissimilarity(dissimilarities=[*column, np.ones((1, 4))]).shape == (5, 4)


def test_a_list_and_the_last_axis_are_the_same_sequence() -> None:
    gammas = np.array([[0.0, 0.5, 0.25], [0.125, 0.0, 0.0]])
    given = {"mu": 50.0, "L": 1.0, "L_minus": 0.0, "B": 1.25, "K": 10}
    expected = [fedprox.rho(gamma=g, **given) for g in (0.5, 0.125)]
    assert fedprox.rho_variable(gammas=gammas, **given).tolist() == expected
    assert fedprox.rho_variable(gammas=list(gammas.T), **given).tolist() == expected
    assert fedprox.rho_variable(gammas=list(gammas), **given).tolist() != expected
    assert fedprox.rho_variable(gammas=gammas[0], **given) == expected[0]
    assert fedprox.rho_variable(gammas=pd.Series(gammas[0]), **given) == expected[0]


def test_the_first_axis_of_vectors() -> None:
    points = np.array([[1.0, 2.0, 4.0], [3.0, 6.0, 8.0]])
    assert FORMULAS["fedsplit.equation4"].parameters["points"].shape is Shape.VECTORS
    assert fedsplit.fedgd_round(points=points).tolist() == [2.0, 4.0, 6.0]
    assert fedsplit.fedgd_round(points=list(points)).tolist() == [2.0, 4.0, 6.0]
    assert fedsplit.fedprox_residual(x=points[0], points=points, stepsize=0.5).tolist() == [-4.0, -8.0, -8.0]
    assert fedsplit.gradient_map(x=points[0], stepsize=0.5, gradient=points[1]).tolist() == [-0.5, -1.0, 0.0]


# Floats that leave their range.


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("place", [0, 3, CHUNK - 1, CHUNK, 2 * CHUNK + 5])
def test_overflow_is_no_silent_infinity(place: int) -> None:
    total = np.full(3 * CHUNK, 1.0)
    total[place] = total[-1] = 1e308
    with pytest.raises(InvalidInput, match=rf"\({place},\).*feddyn\.lemma6 leaves the range of float64"):
        feddyn.lemma6(count=3, total=total)
    assert (feddyn.lemma6(count=1, total=total) == total).all()
    with pytest.raises(InvalidInput, match=r"\(1, 0\).*leaves the range of float64"):
        feddyn.lemma6(count=np.array([[1], [3]]), total=np.array([1e308, 1.0]))
    assert feddyn.lemma6(count=3, total=Fraction(10**400)) == 3 * 10**400
    with pytest.raises(InvalidInput, match=r"lemma6 leaves the range"):
        feddyn.lemma6(count=3, total=1e308)


def test_no_warning_and_no_nan() -> None:
    """Warnings are errors here: an overflow on the way must be one of ours."""
    steps = fedsplit.optimal_stepsize(mu=np.array([1.0, 1e-200]), L=np.array([1.0, 1e-200]))  # μL is 0 in floats
    np.testing.assert_allclose(steps, [1, 1e200])
    with pytest.raises(InvalidInput, match="leaves the range"):
        fedsplit.complexities(kappa=np.array([1e308]), epsilon=1e-300)
    with pytest.raises(InvalidInput, match="leaves the range"):
        fedprox.convex_choice(L=np.array([1.0, 1e200]), B=np.array([1.0, 1e100]), K=10**300)
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(InvalidInput, match=r"^total\[1\] = -?(nan|inf): is not a finite real number"):
            feddyn.lemma6(count=3, total=np.array([1.0, value]))


# Integers are exact.


def test_integer_results_are_exact_in_arrays() -> None:
    delta = np.arange(1, 200) * 0.1
    rho = np.array([[0.1], [0.3], [0.7]])
    rounds = fedprox.iterations(delta=delta, rho=rho, epsilon=1)
    assert rounds.shape == (3, 199)
    assert rounds.dtype == np.int64
    expected = [[math.ceil(Fraction(d) / Fraction(r)) for d in delta.tolist()] for r in rho[:, 0].tolist()]
    assert rounds.tolist() == expected
    assert (np.ceil(delta / rho) != rounds).any()


def test_integer_results_beyond_64_bits() -> None:
    rounds = fedprox.iterations(delta=np.array([1.0, 1e300]), rho=0.1, epsilon=np.array([0.3, 1e-10]))
    assert [type(r) for r in rounds] == [int, int]
    exact = [Fraction(d) / (Fraction(0.1) * Fraction(e)) for d, e in ((1.0, 0.3), (1e300, 1e-10))]
    assert rounds.tolist() == [math.ceil(value) for value in exact]
    border = fedprox.iterations(delta=np.array([2.0**63, 2.0**63 - 1024]), rho=1, epsilon=1)
    assert border.tolist() == [2**63, 2**63 - 1024]


def test_integer_results_of_mixed_arguments() -> None:
    third = Fraction(1, 3)
    assert fedprox.iterations(delta=np.array([1, 2, 3]), rho=third, epsilon=3).tolist() == [1, 2, 3]
    assert fedprox.iterations(delta=np.array([1.0, 2.0]), rho=third - Fraction(1, 10**40), epsilon=3).tolist() == [2, 3]
    narrow = np.array([1, 2, 3], dtype=np.float32) / np.float32(10)
    expected = [math.ceil(Fraction(float(d)) / Fraction(float(narrow[0]))) for d in narrow]
    assert fedprox.iterations(delta=narrow, rho=float(narrow[0]), epsilon=1).tolist() == expected
    with pytest.raises(InvalidInput, match=r"^rho\[1\] = -0\.5: fedprox\.theorem6 needs rho > 0"):
        fedprox.iterations(delta=1, rho=np.array([0.5, -0.5]), epsilon=1)


def test_the_makers_really_vary_the_arguments() -> None:
    assert len(NAMES) > 100
    assert np.broadcast_shapes(*LAYOUT.values()) == (3, 2, 4)
