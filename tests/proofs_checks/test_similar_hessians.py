"""δ-similar Hessians, which three modules decide and one measures, against eigenvalues that NumPy computes."""

from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.claims import ClaimSetting
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import parameter
from fedconvex.proofs_checks import SimilarClients
from fedconvex.statements.assumptions import heterogeneity as of_statement

METHOD = fc.FedGD(stepsize=1)
SIMILAR = ClaimSetting(signs={"delta": "positive"}, similarity=parameter("delta"))


def in_a_federation(problem: Any, delta: F) -> bool:
    run = ExactFederation(problem, METHOD, [0] * problem.dim, parameters={"delta": delta})
    return offences(SIMILAR, run) == []


DECIDE: dict[str, Callable[[Any, F], bool | None]] = {
    "a federation's": in_a_federation,
    "a statement's": lambda problem, delta: of_statement.are_similar(problem, METHOD.scale(problem), delta),
    "a class's": lambda problem, delta: SimilarClients(F(1, 100), 1000, delta).contains(problem),
}


@st.composite
def hessians(draw: Any) -> list[Any]:
    """Positive definite integer matrices: an integer matrix and its transpose, plus 20."""
    m, d = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    entries = st.lists(st.lists(st.integers(-2, 2), min_size=d, max_size=d), min_size=d, max_size=d)
    drawn = [np.array(draw(entries), dtype=object) for _ in range(m)]
    return [A + A.T + 20 * np.eye(d, dtype=int) for A in drawn]


def farthest(H: list[Any]) -> float:
    """The largest |eigenvalue| of a client's Hessian minus the mean."""
    floats = np.array(H, dtype=float)
    return float(np.abs(np.linalg.eigvalsh(floats - floats.mean(0))).max())


ABOVE = [[[F(1, 2)]], [[F(1, 2)]], [[F(3, 2)]]]  # the last is 2/3 above the mean, the others 1/3 below
BELOW = [[[F(3, 2)]], [[F(3, 2)]], [[F(1, 2)]]]


@pytest.mark.parametrize("whose", DECIDE)
@given(H=hessians())
@example(H=ABOVE)
@example(H=BELOW)
@example(H=[np.diag([20, 26, 20]), np.diag([20, 20, 20])])
def test_clients_are_similar_where_no_eigenvalue_is_farther(whose: str, H: list[Any]) -> None:
    """A δ that is a thousandth too small is refused, whether a client is above the mean or below."""
    problem, away = fc.Quadratic(H, [[0] * len(H[0])] * len(H)), farthest(H)
    assert DECIDE[whose](problem, F(away) * F(1001, 1000) + F(1, 10**9))
    if away > 1e-6:
        assert not DECIDE[whose](problem, F(away) * F(999, 1000))
    measured = float(of_statement.similarity(problem, METHOD.scale(problem), None, None))
    assert measured == pytest.approx(away, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("whose", DECIDE)
@pytest.mark.parametrize("H", [ABOVE, BELOW])
def test_the_least_delta_is_exact(whose: str, H: Any) -> None:
    problem = fc.Quadratic(H, [[0]] * 3)
    assert DECIDE[whose](problem, F(2, 3))
    assert not DECIDE[whose](problem, F(2, 3) - F(1, 10**30))
    assert not DECIDE[whose](problem, F(1, 2))
