"""Plots: points lie at their values; axes have a few round numbers, in order, within the picture."""

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.report.plots import HEIGHT, WIDTH, Point, Series, list_of, plot, short

NUMBERS = st.floats(min_value=1e-9, max_value=1e9)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12)


def made(points, log=(True, True), **more):
    series = [Series("s", [Point(x, y, f"{x} {y}") for x, y in points], line=True)]
    return ElementTree.fromstring(plot(series, x="x", y="y", about="about", log=log, **more))


def dots(figure):
    return [(float(one.get("cx")), float(one.get("cy"))) for one in figure.iter("circle")]


@given(points=PAIRS, log=st.tuples(st.booleans(), st.booleans()))
def test_points_are_in_the_picture_and_in_order(points, log):
    found = dots(made(points, log))
    assert len(found) == len(points)
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in found)
    for (one, at), (other, there) in pairwise(zip(points, found, strict=True)):
        assert (one[0] - other[0]) * (at[0] - there[0]) >= 0
        assert (one[1] - other[1]) * (at[1] - there[1]) <= 0  # upwards is smaller


def test_the_middle_is_in_the_middle():
    """The other way round: from places to numbers, on both kinds of axes."""
    (a, *_), (b, *_), (c, *_) = dots(made([(1, 1), (10, 10), (100, 100)]))
    assert b == pytest.approx((a + c) / 2, abs=0.11)
    (a, *_), (b, *_), (c, *_) = dots(made([(1, 1), (10, 10), (100, 100)], log=(False, False)))
    assert (b - a) / (c - a) == pytest.approx(9 / 99, abs=1e-3)


@given(points=PAIRS, log=st.tuples(st.booleans(), st.booleans()))
def test_the_numbers_at_the_axes_are_few_and_distinct(points, log):
    texts = [one.text for one in made(points, log).iter("text")]
    across = texts[: texts.index("x")]
    down = texts[texts.index("x") + 1 : -1]
    assert 1 <= len(across) <= 12
    assert 1 <= len(down) <= 12
    assert len(set(across)) == len(across)
    assert len(set(down)) == len(down)


def test_on_the_diagonal_both_axes_are_the_same():
    figure = made([(1, 1), (2, 1)], diagonal="attained")
    texts = [one.text for one in figure.iter("text")]
    assert texts.count("1.2") == texts.count("1.6") == 2
    assert any(one.get("class") == "diagonal" for one in figure.iter("polyline"))
    assert "attained" in "".join(figure.itertext())


def test_every_point_tells_its_numbers():
    assert [one.text for one in made([(1, 2), (3, 4)]).iter("title")] == ["1 2", "3 4"]


@pytest.mark.parametrize("bad", [(0.0, 1.0), (1.0, -1.0), (math.inf, 1.0), (1.0, math.nan)])
def test_what_has_no_place_is_left_out(bad):
    assert len(dots(made([(1.0, 1.0), (2.0, 2.0), bad]))) == 2
    assert plot([Series("s", [Point(*bad, "")])], x="x", y="y", about="") == ""


def test_a_range_is_drawn_as_one():
    figure = plot([Series("s", [Point(1, 1, "", top=3), Point(2, 2, "", top=2)])], x="x", y="y", about="")
    assert figure.count('class="range"') == 1


def test_nothing_is_no_pictures():
    assert list_of([]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.5, "0.5"),
        (12345.6, "1.235e+04"),
        (1e-5, "10⁻⁵"),
        (2.5e7, "2.5·10⁷"),
        (-3e-6, "-3·10⁻⁶"),
        (0.001, "0.001"),
        (5e-324, "4.941·10⁻³²⁴"),
        (999999.9, "10⁶"),
    ],
)
def test_short(value, text):
    assert short(value) == text
