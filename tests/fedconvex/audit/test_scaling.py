"""Where a condition number comes from the features' scales the audit says so, and nowhere else."""

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.audit.scaling import require_comparable_scales, scaling_of

KINDS = ("least squares", "logistic", "multinomial")


def problem(
    kind: str,
    scales: Sequence[float],
    offsets: Sequence[float] = (0, 0, 0),
    sizes: Sequence[int] = (9, 12),
    standardised: bool = False,
):
    """Clients with three features of these standard deviations and means, nearly, and an intercept.

    Standardised, every feature of the same samples is shifted and scaled to mean 0 and variance 1.
    """
    rng = np.random.default_rng(5)
    A = [rng.standard_normal((n, 3)) * scales + offsets for n in sizes]
    if standardised:
        pooled = np.concatenate(A)
        A = [(a - pooled.mean(axis=0)) / pooled.std(axis=0) for a in A]
    with_ones = [np.column_stack([a, np.ones(len(a))]) for a in A]
    if kind == "least squares":
        return fc.LeastSquares(A=with_ones, b=[rng.standard_normal(len(a)) for a in A])
    if kind == "logistic":
        return fc.Logistic(A=with_ones, y=[rng.choice([-1, 1], len(a)) for a in A], ridge=0.01)
    return fc.MultinomialLogistic(A=A, y=[rng.integers(0, 3, len(a)) for a in A], num_classes=3, ridge=0.01)


def found_and_posed(*given: Any) -> tuple[bool, list[tuple[float, Any]]]:
    """Whether the objective is judged, and each condition number that is found with its problem."""
    raw, standardised = (problem(*given, standardised=is_standardised) for is_standardised in (False, True))
    found = scaling_of(raw)
    assert found is not None
    return found.of_objective, [(found.kappa, raw), (found.standardized, standardised)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("scales", "offsets"), [((1, 300, 1), (0, 0, 0)), ((1, 1, 1), (0, 0, 200)), ((1e-4, 1, 1e3), (0, 9, 0))]
)
def test_both_condition_numbers_are_those_of_the_problems_constants(kind: str, scales, offsets) -> None:
    of_objective, pairs = found_and_posed(kind, scales, offsets)
    assert not of_objective
    for kappa, posed in pairs:
        assert kappa == pytest.approx(posed.L.max() / posed.mu.min(), rel=1e-6)


def test_clients_with_few_samples_are_judged_by_the_objective() -> None:
    of_objective, pairs = found_and_posed("least squares", (1, 300, 1), (0, 0, 0), (3, 3, 3, 3))
    assert of_objective
    for kappa, posed in pairs:
        eigenvalues = np.linalg.eigvalsh(sum(a.T @ a for a in posed.A))
        assert kappa == pytest.approx(eigenvalues[-1] / eigenvalues[0], rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_one_scale_are_not_blamed(kind: str) -> None:
    assert scaling_of(problem(kind, (1, 1, 1))) is None
    require_comparable_scales(problem(kind, (1, 2, 1)), 10)


def test_a_condition_number_that_scaling_does_not_cause_is_not_blamed_on_it() -> None:
    """Two features that are nearly the same make κ large before and after."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((40, 1))
    A = 20 * np.column_stack([a, a + 1e-4 * rng.standard_normal((40, 1)), rng.standard_normal((40, 1))])
    posed = fc.LeastSquares(A=[A[:20], A[20:]], b=[np.ones(20)] * 2)
    assert posed.L.max() / posed.mu.min() > 1e6
    assert scaling_of(posed) is None


@pytest.mark.parametrize(
    "posed",
    [
        fc.Quadratic(H=[np.diag([1, 1e9])] * 2, c=[np.ones(2)] * 2),
        fc.LeastSquares(A=[np.zeros((2, 2))], b=[np.ones(2)]),
        fc.LeastSquares(A=[[[1e200, 1], [-1e200, 2]]], b=[[1, 2]]),
        fc.LeastSquares(A=[[[1, 2]]], b=[[1]]),
    ],
)
def test_problems_without_scales_are_left_alone(posed: object) -> None:
    assert scaling_of(posed) is None  # type: ignore[arg-type]


@given(st.floats(-6, 6), st.floats(-6, 6))
def test_what_is_said_does_not_depend_on_the_unit(first: float, second: float) -> None:
    """Standardised features are the same, whatever the units were."""
    found = scaling_of(problem("least squares", (10.0**first, 10.0**second, 1)))
    assert found is None or found.standardized == pytest.approx(
        scaling_of(problem("least squares", (1, 1e5, 1))).standardized, rel=1e-6
    )  # type: ignore[union-attr]
    assert (found is None) <= (abs(first - second) < 3)


def test_the_features_are_named() -> None:
    posed = problem("logistic", (0.01, 300, 1), (0, 0, 50))
    found = scaling_of(posed, ["rate", "cost", "age"])
    assert found is not None
    assert (found.narrowest[0], found.widest[0], found.offset[0]) == ("'rate'", "'cost'", "'age'")
    assert "(feature 1) to" in str(scaling_of(posed))
    for part in (
        "comes from the features' scales",
        "('rate') to",
        "('cost'), and 'age' has a mean of",
        "--standardize",
    ):
        assert part in str(found)


def test_a_hopeless_audit_is_refused_with_both_ways_out() -> None:
    posed = problem("least squares", (1, 1e4, 1))
    with pytest.raises(
        fc.InvalidInput, match=r"data = LeastSquares.*κ = .*scales.*no method makes much progress in 300 rounds.*"
    ):
        require_comparable_scales(posed, 300)
    require_comparable_scales(problem("least squares", (1, 30, 1)), 300)


@pytest.mark.beyond_core  # an audit
def test_the_audit_and_its_file_have_both_condition_numbers() -> None:
    from rich.console import Console

    from fedconvex.audit import audit
    from fedconvex.audit.display import print_audit
    from fedconvex.audit.report import to_dictionary

    posed = problem("least squares", (1, 30, 1))
    result = audit(posed, ["fedgd"], rounds=5, feature_names=["a", "b", "c"])
    text = io.StringIO()
    print_audit(result, Console(width=200, file=text))
    assert str(result.scaling) in " ".join(text.getvalue().split())
    stored = json.loads(json.dumps(to_dictionary(result)))["scaling"]
    assert stored["kappa"] == pytest.approx(result.constants.kappa, rel=1e-6)
    assert stored["widest"]["feature"] == "'b'"
    assert to_dictionary(audit(problem("least squares", (1, 1, 1)), ["fedgd"], rounds=5))["scaling"] is None
