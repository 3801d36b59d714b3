"""Wide least squares without (d, d) matrices: the same minimisers, fixed points and rates as with them."""

import numpy as np
import pytest

import fedconvex as fc
from fedconvex import memory
from fedconvex.audit.measure import predicted_contraction
from fedconvex.certainty import Certainty
from fedconvex.errors import TooLarge
from fedconvex.ground_truths.low_rank import nearest_minimizer
from fedconvex.methods.base import Method, State
from fedconvex.problems import quadratics
from fedconvex.problems.row_space import RowSpace

DEPENDENT = "dependent"
METHODS = [
    fc.FedGD(stepsize=0.02, local_steps=1),
    fc.FedGD(stepsize=0.02, local_steps=6),
    fc.FedProx(mu=2),
    fc.FedSplit(stepsize=0.3),
    fc.FedDyn(alpha=2),
]


def problem(kind: str = "", weights: list[int] | None = None) -> fc.LeastSquares:
    """Seven samples in eleven unknowns; dependent and contradictory ones on request."""
    random = np.random.default_rng(5)
    A, b = [random.normal(size=(n, 11)) for n in (2, 4, 1)], [random.normal(size=n) for n in (2, 4, 1)]
    if kind == DEPENDENT:
        A = [random.integers(-3, 4, size=(n, 11)) for n in (2, 4, 1)]  # whole numbers: exactly dependent
        A[2] = A[0][:1] - A[1][2:3]
    return fc.LeastSquares(A, b, weights)


@pytest.fixture
def never_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every problem with fewer samples than unknowns counts as too large for matrices."""
    monkeypatch.setattr(quadratics, "FORMED_ENTRIES", 0)


class TestMinimisers:
    @pytest.mark.parametrize("weights", [None, [1, 2, 3], [1, 0, 2]])
    def test_lie_within_the_certified_distance(self, weights: list[int] | None, never_formed: None) -> None:
        wide = problem(weights=weights)
        truth = fc.ground_truth(wide)
        exact = np.array([float(v) for v in truth.exact_point])  # of the (d, d) equations, in rationals
        assert truth.solver == "least norm in balls"
        assert truth.certainty is Certainty.ENCLOSED
        assert np.linalg.norm(truth.point - exact) <= truth.distance_bound + 1e-15 < 1e-14
        assert np.linalg.norm(wide.gradient(truth.point)) <= truth.gradient_bound + 1e-14
        assert 0 <= truth.value <= truth.gap_bound * (1 + 1e-6) + 1e-30

    def test_dependent_samples_are_not_certified(self, never_formed: None) -> None:
        wide = problem(DEPENDENT, [1, 2, 3])
        truth = fc.ground_truth(wide)
        assert truth.certainty is Certainty.NUMERIC
        assert np.isinf([truth.distance_bound, truth.gap_bound, truth.gradient_bound]).all()
        assert np.allclose(truth.point, [float(v) for v in truth.exact_point], atol=1e-12)

    def test_the_nearest_to_a_point(self) -> None:
        wide, anchor = problem(DEPENDENT), np.arange(11.0)
        found = nearest_minimizer(wide, anchor)
        assert np.allclose(wide.gradient(found), 0, atol=1e-12)
        away = RowSpace.of(wide)
        assert np.allclose(away.point(away.coordinates(found - anchor)), found - anchor, atol=1e-12)  # no detour

    def test_client_bounds_are_those_of_the_matrices(self, monkeypatch: pytest.MonkeyPatch) -> None:
        formed = problem().client_bounds
        monkeypatch.setattr(quadratics, "FORMED_ENTRIES", 0)
        for (low, high), (other_low, other_high) in zip(problem().client_bounds, formed, strict=True):
            assert low == other_low == 0
            assert float(high.upper()) == pytest.approx(float(other_high.upper()), rel=1e-8)


class TestFixedPoints:
    @pytest.mark.parametrize("kind", ["", DEPENDENT])
    @pytest.mark.parametrize("method", METHODS, ids=str)
    def test_are_those_of_the_equations(self, method: Method, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        formed = fc.fixed_point(method, problem(kind))
        assert formed.analysis.row_space is None
        bias = formed.bias_norm
        monkeypatch.setattr(quadratics, "FORMED_ENTRIES", 0)
        wide = fc.fixed_point(method, problem(kind))
        assert wide.analysis.row_space is not None
        assert np.allclose(wide.point, formed.point, atol=1e-9)
        assert wide.bias_norm == pytest.approx(bias, abs=1e-9)
        assert (wide.unique, wide.attracting, wide.certainty) == (False, False, Certainty.NUMERIC)

    def test_the_bias_is_seen(self, never_formed: None) -> None:
        assert fc.fixed_point(METHODS[2], problem(DEPENDENT)).bias_norm > 1e-3

    def test_rates_leave_out_what_no_round_moves(self, never_formed: None) -> None:
        wide, method = problem(), METHODS[0]
        stop = fc.fixed_point(method, wide)
        rate, place = predicted_contraction(stop, State(stop.point), settled=True)
        H = np.einsum("k,kij->ij", wide.weights, wide.client_hessians(np.zeros(11)))
        eigenvalues = np.linalg.eigvalsh(H)
        assert rate == pytest.approx(1 - 0.02 * min(eigenvalues[eigenvalues > 1e-9]), rel=1e-9)
        assert place == "fixed point"

    @pytest.mark.parametrize("arithmetic", ["exact", "ball"])
    def test_rigorous_arithmetic_is_refused_where_it_does_not_fit(
        self, arithmetic: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(memory, "available", lambda: 200 * 2**20)
        random = np.random.default_rng(0)
        large = fc.LeastSquares([random.normal(size=(3, 20_000))], [random.normal(size=3)])
        with pytest.raises(TooLarge, match="use arithmetic='float'"):
            fc.fixed_point(fc.FedProx(mu=1), large, arithmetic=arithmetic)
        assert np.isfinite(fc.fixed_point(fc.FedProx(mu=1), large).bias_norm)
