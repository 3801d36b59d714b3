"""Where the texts of a picture stand, in pixels: which leave it, and which overlap."""

from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

SLACK = 1.0  # pixels


def texts_of(figure: Any) -> list[tuple[str, Any]]:
    """Every visible text with its box, after drawing."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    found = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                inside = low <= tick.get_loc() <= high  # Matplotlib keeps ticks beyond the view, and does not draw them
                found += [tick.label1] if inside and tick.label1.get_visible() else []
            found += [axis.label, axis.get_offset_text()]
        legend = axes.get_legend()
        found += [axes.title, *axes.texts, *(legend.get_texts() if legend else [])]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in found if _is_shown(text)]
    return [(words, box) for words, box in boxes if box.width > 0]


def cut_texts(figure: Any) -> list[str]:
    """The texts that leave the picture."""
    frame = figure.bbox
    return [
        words
        for words, box in texts_of(figure)
        if box.x0 < -SLACK or box.y0 < -SLACK or box.x1 > frame.width + SLACK or box.y1 > frame.height + SLACK
    ]


def overlapping_texts(figure: Any) -> list[tuple[str, str]]:
    """The pairs of texts whose boxes overlap."""
    found = texts_of(figure)
    return [
        (one, other)
        for i, (one, a) in enumerate(found)
        for other, b in found[:i]
        if min(a.x1, b.x1) - max(a.x0, b.x0) > SLACK and min(a.y1, b.y1) - max(a.y0, b.y0) > SLACK
    ]


def _is_shown(text: Text) -> bool:
    return bool(text.get_visible() and text.get_text().strip())
