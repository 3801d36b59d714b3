"""The pictures of the README and of the guide equal those that docs/making/pictures.py draws today."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from documents import DOCUMENTS, ROOT, making
from matplotlib.image import imread

pytestmark = pytest.mark.beyond_core  # draws

SHOWN = re.compile(r"!\[[^\]]+\]\(([^)\s]+\.png)\)|<img [^>]*src=\"([^\"]+\.png)\"")


def shown(document: Path, text: str) -> set[Path]:
    """The pictures that a document shows."""
    return {(document.parent / (a or b)).resolve() for a, b in SHOWN.findall(text)}


def changed(one: np.ndarray, other: np.ndarray) -> float:
    """The part of the picture that is not the same: between 0 and 1, which is all of it or another size."""
    return float((np.abs(one - other) > 0.2).any(axis=-1).mean()) if one.shape == other.shape else 1.0


def test_every_picture_that_is_shown_can_be_made_and_the_other_way_round() -> None:
    found = set[Path]().union(*(shown(document, document.read_text("utf-8")) for document in DOCUMENTS))
    assert found == {ROOT / "docs" / f"{name}.png" for name in making("pictures").PICTURES}
    assert found == set((ROOT / "docs").rglob("*.png"))
    assert shown(ROOT / "README.md", '![](a.png) ![x](b.png) <img width="1" src="c/d.png">') == {
        ROOT / "b.png",
        ROOT / "c" / "d.png",
    }


def test_they_are_wide_enough_to_be_read_and_small_enough_to_be_kept() -> None:
    for name in making("pictures").PICTURES:
        file = ROOT / "docs" / f"{name}.png"
        assert 900 <= imread(file).shape[1] <= 1400, name
        assert file.stat().st_size < 400_000, name


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["audit-diabetes", "bounds-theorem4"])
def test_what_is_drawn_in_seconds_is_up_to_date(name: str) -> None:
    kept = imread(ROOT / "docs" / f"{name}.png")
    assert changed(imread(io.BytesIO(making("pictures").PICTURES[name]())), kept) < 0.02
    assert changed(kept[:, ::-1], kept) > 0.02  # another picture
    assert changed(kept[:-1], kept) == 1
