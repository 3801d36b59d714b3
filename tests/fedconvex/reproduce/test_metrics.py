"""Metrics and claims of experiments against curves written by hand; closed forms against linear algebra."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from experiment_texts import SWEEP

from fedconvex.data import fedsplit_least_squares
from fedconvex.errors import InvalidInput
from fedconvex.reproduce.metrics import ExperimentMetrics, official_curves
from fedconvex.reproduce.pipeline import classes_for, run_experiment
from fedconvex.reproduce.summary import CONTRADICTED, NOT_TESTABLE, REPRODUCED, check, markdown, summarise

CURVES = {
    ("GD, e = 1", 0): [8.0, 4.0, 2.0, 1.0, 1.0], ("GD, e = 1", 1): [8.0, 8.0, 4.0, 2.0, 3.0],
    ("GD, e = 5", 0): [8.0, 1.0, 9.0, 1.0, math.inf], ("GD, e = 5", 1): [8.0, 2.0, 2.0, 2.0, 2.0],
    ("Prox", 0): [8.0] * 5, ("Prox", 1): [8.0] * 5,
}  # fmt: skip


def frame(curves: dict[tuple[str, int], list[float]]) -> pandas.DataFrame:
    rows = [
        {"problem": "small", "method": method, "seed": seed, "round": t, "value": v, "test_accuracy": 1 / v}
        for (method, seed), curve in curves.items()
        for t, v in enumerate(curve)
    ]
    return pandas.DataFrame(rows)


@pytest.fixture
def measured(written: Any) -> ExperimentMetrics:
    return ExperimentMetrics(written(SWEEP), frame(CURVES))


def test_statistics_of_curves(measured: ExperimentMetrics) -> None:
    place = ("value", "small", "GD, e = 1")
    assert measured.first(*place) == 8
    assert measured.last(*place) == 2  # the median of 1 and 3
    assert measured.tail(*place) == 2
    assert measured.lowest(*place) == 1.5
    assert measured.highest(*place) == 8
    assert measured.at(2, *place) == 3
    assert measured.at(99, *place) == 2
    assert measured.roughness(*place) == (0.5 + 1.5) / 2
    assert measured.rounds_to(4.0, *place) == 1.5
    assert measured.of_seed(1).rounds_to(4.0, *place) == 2
    assert measured.rounds_to(0.5, *place) == math.inf
    assert measured.rounds_to(0.25, "test_accuracy", "small", "GD, e = 1") == 1.5
    assert measured.roughness("value", "small", "GD, e = 5") == math.inf
    assert measured.models_to(4.0, *place) == 1.5


def test_what_is_not_there_is_refused(measured: ExperimentMetrics) -> None:
    with pytest.raises(InvalidInput, match="there is no such run"):
        measured.last("value", "small", "GD, e = 2")
    with pytest.raises(InvalidInput, match="there is no such run"):
        measured.last("values", "small", "GD, e = 1")
    with pytest.raises(InvalidInput, match="is no method; known"):
        measured.rounds_to(1, "value", "small", "GD")


def test_rises_as_the_fedprox_paper_defines_divergence(written: Any) -> None:
    flat, jump = [1.0] * 21, [1.0] * 15 + [2.5] * 6
    curves = {"GD, e = 1": flat, "GD, e = 5": jump, "Prox": [*flat[:-1], math.inf]}
    found = ExperimentMetrics(written(SWEEP), frame({(m, s): curve for m, curve in curves.items() for s in (0, 1)}))
    assert found.rises("value", "small", "GD, e = 1") == 0
    assert found.rises("value", "small", "GD, e = 5") == 6 / 11
    assert found.rises("value", "small", "Prox") == 1 / 11


def summary_of(experiment: Any, rows: pandas.DataFrame) -> dict[str, Any]:
    return summarise(ExperimentMetrics(experiment, rows), experiment)


CLAIM = '\n[[claims]]\nclaim = "c"\nsource = "s"\nholds = "{}"\n'


@pytest.mark.parametrize(
    ("holds", "verdict", "number"),
    [
        ("last('value', 'small', 'GD, e = 1') < last('value', 'small', 'Prox')", REPRODUCED, "2 < 8 (in 2 of 2"),
        ("last('value', 'small', 'GD, e = 1') > last('value', 'small', 'Prox')", CONTRADICTED, "2 > 8 (in 0 of 2"),
        ("last('value', 'small', 'GD, e = 1') < 2.5", CONTRADICTED, "2 < 2.5 (in 1 of 2 draws)"),  # no majority
        ("last('value', 'small', 'GD, e = 1') < 1.5", CONTRADICTED, "2 < 1.5 (in 1 of 2 draws)"),
        ("official('fig2_iid_mu0', 'value') < 1", NOT_TESTABLE, "nan < 1, not known"),
        ("1 < 2", REPRODUCED, "1 < 2"),  # says nothing of draws
        ("rounds_to(0, 'value', 'small', 'Prox') < rounds_to(0, 'value', 'small', 'GD, e = 1')", NOT_TESTABLE, "inf"),
    ],
)
def test_verdicts(measured: ExperimentMetrics, written: Any, holds: str, verdict: str, number: str) -> None:
    (claim,) = summary_of(written(SWEEP + CLAIM.format(holds)), measured.frame)["claims"]
    assert claim["verdict"] == verdict
    assert number in claim["number"]


def test_one_case_that_fails_contradicts(measured: ExperimentMetrics, written: Any) -> None:
    text = CLAIM.format("last('value', 'small', method) < 5") + 'each = { method = ["GD, e = 1", "Prox"] }\n'
    (claim,) = summary_of(written(SWEEP + text), measured.frame)["claims"]
    assert claim["verdict"] == CONTRADICTED
    assert claim["number"].startswith("1 of 2 cases: GD, e = 1: 2 < 5 (in 2 of 2 draws); Prox: 8 < 5")


def test_published_numbers_that_differ_are_said_to(measured: ExperimentMetrics, written: Any) -> None:
    row = """
[[numbers]]
what = "w"
ours = "last('value', 'small', 'Prox')"
published = {}
within = 2
why = "y"
"""
    for published, agrees in ((8, True), (15, True), (17, False), (3.9, False)):
        summary = summary_of(written(SWEEP + row.format(published)), measured.frame)
        assert summary["numbers"][0]["agrees"] is agrees
        told = "within × 2 (y)" if agrees else "no, not explained; the tolerance is × 2 (y)"
        assert told in markdown({"k": summary})


def test_draws_are_compared_with_themselves(written: Any) -> None:
    """The draws differ more than the methods do: the medians, 5 and 3, have the order of none but one of them."""
    last = {"GD, e = 1": (1.0, 5.0, 9.0), "GD, e = 5": (2.0, 6.0, 3.0), "Prox": (math.nan,) * 3}
    rows = frame({(method, s): [value] for method, values in last.items() for s, value in enumerate(values)})
    text = SWEEP.replace("seeds = 2", "seeds = 3")
    assert text != SWEEP
    for one, other, verdict, number in (
        ("GD, e = 1", "GD, e = 5", REPRODUCED, "5 < 3 (in 2 of 3 draws)"),
        ("GD, e = 5", "GD, e = 1", CONTRADICTED, "3 < 5 (in 1 of 3 draws), no"),
        ("GD, e = 1", "Prox", NOT_TESTABLE, "not known"),
    ):
        holds = f"last('value', 'small', '{one}') < last('value', 'small', '{other}')"
        (claim,) = summary_of(written(text + CLAIM.format(holds)), rows)["claims"]
        assert claim["verdict"] == verdict
        assert number in claim["number"]


@pytest.mark.parametrize("holds", ["lats('value', 'small', 'Prox') < 1", "1 <", "data < 1"])
def test_a_formula_that_cannot_be_read_is_refused_before_the_runs(written: Any, holds: str, tmp_path: Path) -> None:
    experiment = written(SWEEP + CLAIM.format(holds))
    with pytest.raises(InvalidInput, match=r"test.sweep: claims\[0\].holds = "):
        run_experiment(experiment, tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


def test_a_claim_that_compares_nothing_is_refused(measured: ExperimentMetrics, written: Any) -> None:
    experiment = written(SWEEP + CLAIM.format("last('value', 'small', 'Prox')"))
    check(experiment, measured)
    with pytest.raises(InvalidInput, match="compares nothing"):
        summary_of(experiment, measured.frame)


def test_floors_are_the_papers_closed_forms(written: Any) -> None:
    """FedSplit paper, equation (10) and the display before it, in plain linear algebra."""
    measured = ExperimentMetrics(written(SWEEP), pandas.DataFrame(), seed=1)
    problem = fedsplit_least_squares(clients=3, samples=8, features=4, seed=1)
    H, c = [A.T @ A for A in problem.A], [A.T @ b for A, b in zip(problem.A, problem.b, strict=True)]
    L, eye = max(np.linalg.eigvalsh(h)[-1] for h in H), np.eye(4)

    def gap(x: np.ndarray) -> float:
        def F(y: np.ndarray) -> float:
            return sum(float(np.sum((A @ y - b) ** 2)) / 2 for A, b in zip(problem.A, problem.b, strict=True)) / 3

        return F(x) - F(np.linalg.solve(sum(H), sum(c)))

    powers = [sum(np.linalg.matrix_power(eye - h / L, k) for k in range(5)) for h in H]
    gd = np.linalg.solve(
        sum(h @ p for h, p in zip(H, powers, strict=True)), sum(p @ v for p, v in zip(powers, c, strict=True))
    )
    prox = np.linalg.solve(
        sum(eye - np.linalg.inv(eye + h / L) for h in H),
        sum(np.linalg.solve(h + L * eye, v) for h, v in zip(H, c, strict=True)),
    )
    assert np.isclose(measured.floor("small", "GD, e = 5"), gap(gd), rtol=1e-9)
    assert np.isclose(measured.floor("small", "Prox"), gap(prox), rtol=1e-9)
    assert not np.isclose(gap(gd), gap(prox), rtol=0.1)
    assert abs(measured.floor("small", "GD, e = 1")) < 1e-12
    assert np.isclose(measured.constant("L", "small"), L)


def test_released_curves_are_read_and_refused(tmp_path: Path) -> None:
    assert official_curves(None) == {}
    assert official_curves(tmp_path) == {}
    folder = tmp_path / "fedprox_logs"
    folder.mkdir()
    table = "run,round,train_loss,test_acc,train_acc,grad_variance\na,1,2.0,0.5,,\na,0,3.0,0.1,,\n"
    (folder / "curves.csv").write_text(table)
    assert official_curves(tmp_path)["a"]["value"].tolist() == [3.0, 2.0]
    for damaged in (b"run,round\na,1\nb,1,2\n", b"run,round\na,one\n", b"run,\xff\n", b""):
        (folder / "curves.csv").write_bytes(damaged)
        with pytest.raises(InvalidInput, match=r"fedprox_logs = .*is no table of numbers"):
            official_curves(tmp_path)
    (folder / "curves.csv").write_text("run,round\na,1\n")
    with pytest.raises(InvalidInput, match=r"fedprox_logs = .*has columns run, round; give a CSV file with"):
        official_curves(tmp_path)


def test_classes_that_hold_a_share() -> None:
    labels = np.repeat([0, 1, 2, 3], [50, 30, 15, 5])
    assert [classes_for(labels, share) for share in (0.4, 0.5, 0.51, 0.8, 0.95, 1.0)] == [1, 1, 2, 2, 3, 4]
