"""The audit's picture: a line for every run, a horizontal line for every error floor above rounding level."""

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.audit import audit
from fedconvex.audit.figure import draw_audit
from fedconvex.drawing import COLOURS, decade

pytestmark = pytest.mark.beyond_core  # draws


@pytest.fixture(scope="module")
def result():
    problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [3, -4]])
    return audit(problem, ["fedgd:local_steps=4", "fedprox", "fedsplit"], rounds=60, source="made up")


@pytest.mark.slow
def test_lines_show_the_relative_gaps_and_the_floors(result):
    axes = draw_audit(result)
    curves = {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}
    assert set(curves) == {method.name for method in result.methods}
    for method in result.methods:
        shown = np.asarray(curves[method.name].get_ydata())
        assert shown[0] == 1
        expected = np.maximum(method.gaps / method.gaps[0], 1e-14)
        np.testing.assert_allclose(shown, expected, rtol=1e-12)
    horizontal = [line.get_ydata()[0] for line in axes.get_lines() if len(set(line.get_ydata())) == 1]
    first = result.methods[0].gaps[0]
    for method in result.methods[:2]:
        assert any(np.isclose(height, method.floor.value / first, rtol=1e-12) for height in horizontal)
    assert len(horizontal) == 3  # two floors and the tolerance: FedSplit has no floor to draw


def test_axes_can_be_given_and_are_labelled(result):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert draw_audit(result, axes) is axes
    assert axes.get_yscale() == "log"
    assert "suboptimality" in axes.get_ylabel()
    assert "rounds" in axes.get_xlabel()
    assert "made up" in axes.get_title()


@pytest.mark.parametrize(("value", "text"), [(1e-14, "10⁻¹⁴"), (1.0, "10⁰"), (1000.0, "10³")])
def test_decades_are_labelled_in_plain_text(value, text):
    assert decade(value) == text


def test_decades_are_labelled_and_nothing_between_them(result):
    axis = draw_audit(result).yaxis
    assert axis.get_major_formatter()(1e-3) == "10⁻³"
    assert axis.get_minor_formatter()(2e-3) == ""


def test_a_run_that_does_not_converge_is_labelled_so():
    problem = fc.LeastSquares(A=[[[2]], [[1]]], b=[[1], [3]])
    axes = draw_audit(audit(problem, ["fedgd:stepsize=5"], rounds=40))
    assert "does not converge" in axes.get_legend().get_texts()[0].get_text()


def test_colours_differ_in_lightness_or_hue():
    assert len(set(COLOURS)) == len(COLOURS) >= 6
