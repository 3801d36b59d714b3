"""Errors inside an array name the index in the user's own array; arrays of incompatible shapes are refused."""

import math
from typing import Any

import flint
import numpy as np
import pandas as pd
import pytest
import sympy
import torch

from fedconvex.errors import InvalidInput
from fedconvex.statements.calculator import CHUNK
from fedconvex.theory import feddyn, fedprox

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


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1.0, 1e150, 1e200])
def test_bounds_that_leave_the_range_of_floats_are_compared_exactly(scale: float) -> None:
    """μ >= L/√2, whose L² is 0 or infinite in floats where L is extreme."""
    enough, too_little = 0.71 * scale, 0.70 * scale
    given: dict[str, Any] = {"L": scale, "B": 1, "K": 4}
    for kind in (np.array, torch.tensor):
        for place in (0, 1):
            mus = [enough, enough]
            mus[place] = too_little
            with pytest.raises(InvalidInput) as caught:
                fedprox.rho_convex(mu=kind(np.array(mus)), **given)
            assert caught.value.argument == f"mu[{place}]"
    with pytest.raises(InvalidInput, match="needs mu >="):
        fedprox.rho_convex(mu=too_little, **given)
    alone = fedprox.rho_convex(mu=enough, **given)
    assert fedprox.rho_convex(mu=np.array([enough, 3 * scale]), **given)[0] == pytest.approx(alone, rel=1e-12)
    with pytest.raises(InvalidInput, match=r"mu\[0\]"):
        fedprox.rho_convex(mu=np.array([too_little]), **{**given, "L": np.array([[scale], [scale]])})


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
