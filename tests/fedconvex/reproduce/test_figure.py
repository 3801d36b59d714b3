"""Figures of experiments: named axes, published values beside ours, and a note on what is cut off."""

import math
from typing import Any

import numpy as np
import pandas
import pytest
from experiment_texts import SWEEP

from fedconvex.reproduce import figure
from fedconvex.reproduce.metrics import ExperimentMetrics

pytestmark = pytest.mark.beyond_core  # draws

PICTURES = """
[figure]
kind = "{}"
y = ["value", "test_accuracy"]
level = 0.5
x = "features"

[[numbers]]
what = "the end"
ours = "last('value', 'small', 'Prox')"
published = 7
source = "nowhere"

[[numbers]]
what = "never"
ours = "rounds_to(-1, 'value', 'small', 'Prox')"
published = 3
source = "nowhere"
"""


@pytest.fixture
def measured(written: Any) -> Any:
    """Of a kind of picture, with the last loss of `Prox`."""

    def make(kind: str, last: float = 1.0) -> ExperimentMetrics:
        experiment = written(SWEEP + PICTURES.format(kind))
        rows = [
            {"problem": "small", "method": method, "seed": seed, "round": t, "value": value, "gap": value,
             "test_accuracy": 1 / (1 + value)}
            for method in experiment.methods for seed in (0, 1)
            for t, value in enumerate((2.0, 1.0, 0.25, last if method == "Prox" else 0.25))
        ]  # fmt: skip
        return ExperimentMetrics(experiment, pandas.DataFrame(rows))

    return make


def test_curves_have_a_panel_per_column_and_a_line_per_method(measured: Any) -> None:
    top, bottom = figure.curves(measured("curves")).axes
    assert (top.get_ylabel(), bottom.get_ylabel()) == ("training loss", "test accuracy")
    assert bottom.get_xlabel() == "communication rounds"
    assert [line.get_label() for line in top.lines] == ["GD, e = 1", "GD, e = 5", "Prox"]
    assert top.lines[2].get_ydata().tolist() == [2, 1, 0.25, 1]
    assert bottom.get_ylim() == (0, 1)


def test_what_does_not_fit_is_cut_off_and_said_to_be(measured: Any) -> None:
    for last, cut in ((1.0, False), (7.0, True), (math.inf, True)):
        axes = figure.curves(measured("curves", last)).axes[0]
        assert ("cut off" in [text.get_text() for text in axes.texts]) is cut
        assert axes.lines[2].get_ydata()[-1] == min(last, 6.0)


def test_bars_stand_beside_what_is_published(measured: Any) -> None:
    axes = figure.bars(measured("bars")).axes[0]
    published, ours = ([bar.get_width() for bar in bars] for bars in axes.containers)
    assert published == [7, 3]
    assert ours == [1, 0]
    assert [text.get_text() for text in axes.texts] == [" 1", " not reached"]
    assert axes.get_xlabel() == "features"


def test_rounds_are_drawn_against_the_data_they_belong_to(measured: Any) -> None:
    axes = figure.rounds(measured("rounds")).axes[0]
    first = axes.lines[0]
    assert np.allclose(first.get_xdata(), [4])
    assert np.allclose(first.get_ydata(), [2])
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert "published, about 7" in [text.get_text() for text in axes.texts]
