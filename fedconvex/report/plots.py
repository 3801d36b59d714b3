"""Small SVG plots in the page: readable on a phone, in dark mode and in print; every point shows its numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import final

from fedconvex.arithmetic.decimals import Rounding, significant, without_trailing_zeros
from fedconvex.display.html import Html, joined, tag

WIDTH, HEIGHT = 340, 230
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 10, 40  # margins
APART_X, APART_Y = 46, 16  # the least distance of the numbers at an axis
MOST_TICKS = 6
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@final
@dataclass(frozen=True)
class Point:
    """A point with the text that a reader sees who points at it; `top` is the upper end of a range of y."""

    x: float
    y: float
    says: str
    top: float | None = None


@final
@dataclass(frozen=True)
class Series:
    """The points of one legend entry, joined by a line if `line`."""

    label: str
    points: Sequence[Point]
    line: bool = False


def plot(
    series: Sequence[Series], *, x: str, y: str, about: str, log: tuple[bool, bool] = (True, True),
    diagonal: str = "",
) -> Html:  # fmt: skip
    """An SVG figure. `about` describes it for screen readers; `diagonal` names the line y = x, drawn if it is given.

    Points that are not finite, or not positive on a logarithmic axis, are left out.
    """
    drawn = [Series(s.label, [p for p in s.points if _fits(p, log)], s.line) for s in series]
    points = [point for s in drawn for point in s.points]
    if not points:
        return Html("")
    xs, ys = [p.x for p in points], [end for p in points for end in (p.y, p.top if p.top is not None else p.y)]
    if diagonal:
        xs = ys = xs + ys
    across, down = _scale(xs, log[0], LEFT, WIDTH - RIGHT), _scale(ys, log[1], HEIGHT - BOTTOM, TOP)
    parts = [*_axis_x(across, x), *_axis_y(down, y)]
    if diagonal:
        low, high = across.ends
        parts.append(_line([(across(low), down(low)), (across(high), down(high))], "diagonal"))
    for number, one in enumerate(drawn):
        parts += _series(one, number, across, down)
    picture = tag(
        "svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", tabindex=0, aria_label=about, class_="plot"
    )
    legend = [tag("span", s.label, class_=f"key s{i}") for i, s in enumerate(drawn) if s.points and s.label]
    legend += [tag("span", diagonal, class_="key diagonal")] if diagonal else []
    hint = tag("output", "Point, tap or use the arrow keys: each dot tells its numbers.")
    return tag("figure", picture, tag("p", *legend, class_="legend"), tag("figcaption", hint))


@final
@dataclass(frozen=True)
class Scale:
    """One axis: maps numbers to coordinates."""

    place: Callable[[float], float]
    ends: tuple[float, float]
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        return self.place(value)


def _scale(values: Sequence[float], log: bool, start: float, end: float) -> Scale:
    to: Callable[[float], float] = log10 if log else float
    low, high = to(min(values)), to(max(values))
    # the alternatives are for a single value, which has no range
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - margin, high + margin

    def place(value: float) -> float:
        # one decimal: a tenth of a pixel, and a much shorter file
        return round(start + (end - start) * (to(value) - low) / (high - low), 1)

    ends = (10**low, 10**high) if log else (low, high)
    return Scale(place, ends, tuple(_log_ticks(*ends) if log else _ticks(*ends)))


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, at most `MOST_TICKS`."""
    unit = 10 ** floor(log10((high - low) / MOST_TICKS))
    step = next(k * unit for k in (1, 2, 5, 10, 20, 50) if (high - low) / (k * unit) <= MOST_TICKS)
    return [k * step for k in range(ceil(low / step), floor(high / step) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten; if there are few, also 2 and 5 times them; if these are few, too, round numbers."""
    first, last = ceil(log10(low)), floor(log10(high))
    if last - first >= 2:
        step = ceil((last - first + 1) / MOST_TICKS)
        return [10.0**k for k in range(first, last + 1, step)]
    finer = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5) if low <= m * 10.0**k <= high]
    return finer if len(finer) > 2 else _ticks(low, high)


def _axis_x(scale: Scale, label: str) -> list[Html]:
    bottom = HEIGHT - BOTTOM
    parts = [_line([(LEFT, bottom), (WIDTH - RIGHT, bottom)], "axis")]
    for value, words in _apart(scale, APART_X):
        parts.append(_line([(scale(value), bottom), (scale(value), TOP)], "grid"))
        parts.append(tag("text", words, x=scale(value), y=bottom + 15, text_anchor="middle"))
    return [*parts, tag("text", label, x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 6, text_anchor="middle")]


def _axis_y(scale: Scale, label: str) -> list[Html]:
    parts = [_line([(LEFT, TOP), (LEFT, HEIGHT - BOTTOM)], "axis")]
    for value, words in _apart(scale, APART_Y):
        parts.append(_line([(LEFT, scale(value)), (WIDTH - RIGHT, scale(value))], "grid"))
        parts.append(tag("text", words, x=LEFT - 5, y=scale(value) + 4, text_anchor="end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = tag("text", label, x=11, y=middle, text_anchor="middle", transform=f"rotate(-90 11 {middle})")
    return [*parts, turned]


def _apart(scale: Scale, least: float) -> list[tuple[float, str]]:
    """The ticks that are `least` apart, with their labels: as many digits as are needed to make them distinct."""
    kept: list[float] = []
    for value in scale.ticks:
        if not kept or abs(scale(value) - scale(kept[-1])) >= least:
            kept.append(value)
    words = ([short(value, digits) for value in kept] for digits in range(4, 18))
    return list(zip(kept, next(some for some in words if len(set(some)) == len(kept)), strict=True))


def _series(one: Series, number: int, across: Scale, down: Scale) -> list[Html]:
    parts = []
    if one.line and len(one.points) > 1:
        parts.append(_line([(across(p.x), down(p.y)) for p in one.points], "curve"))
    for p in one.points:
        if p.top is not None and p.top > p.y:
            parts.append(_line([(across(p.x), down(p.y)), (across(p.x), down(p.top))], "range"))
        parts.append(tag("circle", tag("title", p.says), cx=across(p.x), cy=down(p.y), r=3))
    return [tag("g", *parts, class_=f"s{number}")]


def _line(places: Sequence[tuple[float, float]], class_: str) -> Html:
    return tag("polyline", points=" ".join(f"{x},{y}" for x, y in places), class_=class_)


def _fits(point: Point, log: tuple[bool, bool]) -> bool:
    values = (point.x, point.y, point.y if point.top is None else point.top)
    return all(map(isfinite, values)) and (not log[0] or point.x > 0) and (not log[1] or point.y > 0)


def short(value: float, digits: int = 4) -> str:
    """The number with a few digits, with a power of ten if it is very small or large."""
    if value and not 1e-4 <= abs(value) < 1e5:
        rounded = without_trailing_zeros(significant(value, digits, Rounding.NEAREST))
        exponent = rounded.adjusted()
        front = str(rounded.scaleb(-exponent))
        power = f"10{str(exponent).translate(SUPERSCRIPTS)}"
        return power if front == "1" else f"{front}·{power}"
    return f"{value:.{digits}g}"


def list_of(parts: Sequence[Html]) -> Html:
    """Plots side by side, or below each other on narrow screens."""
    found = [part for part in parts if part]
    return tag("div", joined(found), class_="pictures") if found else Html("")
