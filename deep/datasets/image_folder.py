"""JPEG and PNG files in one folder per class, read with Pillow."""

import os
from pathlib import Path

import numpy as np

from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.reading import missing
from fedconvex.errors import InvalidInput, MissingLibrary

SUFFIXES = (".jpg", ".jpeg", ".png")
MODES = {"RGB": 3, "L": 1}
ORIGIN = "wherever the data set is published"


def image_folder(folder: str | os.PathLike[str], split: str | None = None, *, mode: str = "RGB") -> Dataset:
    """Read JPEG and PNG files FOLDER/CLASS/NAME as uint8 images (N, channels, height, width).

    Use it for your own images, brought to one size beforehand; all of them are held in memory, at most 4 GiB.

    Classes are numbered in the order of their folders' names, images sorted by name within them.
    split: the name of a folder in `folder` to read instead, such as train or test.
    mode: RGB (3 channels) or L (grey, 1).
    A damaged PNG is refused, for it has checksums; JPEG has none, so that damage there may only change the picture.
    Raises InvalidInput, and MissingLibrary without Pillow.
    """
    place = Path(folder) if split is None else Path(folder) / split
    channels = MODES[one_of(mode, MODES, "mode")]
    if not place.is_dir():
        raise missing(place, "there is no such folder", "the images", ORIGIN)
    classes = sorted(path for path in place.iterdir() if path.is_dir())
    files = [(k, path) for k, inside in enumerate(classes) for path in _images(inside)]
    if not files:
        raise missing(place, "has no images CLASS/*.jpg, *.jpeg or *.png", "the images", ORIGIN)
    first = _decoded(files[0][1], mode)
    shape = (len(files), channels, *first.shape[:2])
    if len(files) * first.size > MAX_BYTES:
        raise bad_file(
            place, f"its images take {len(files) * first.size / 2**30:.1f} GiB", "give fewer or smaller ones"
        )
    images = np.empty(shape, dtype=np.uint8)
    for row, (_, path) in enumerate(files):
        image = _decoded(path, mode, first.shape[:2])
        images[row] = image[None] if image.ndim == 2 else image.transpose(2, 0, 1)
    return Dataset(images, np.array([k for k, _ in files]), len(classes), f"images in {place.name}")


def _images(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    if not found:
        raise bad_file(folder, "has no images, so its class would have no samples", "add some or remove the folder")
    return found


def _decoded(path: Path, mode: str, size: tuple[int, ...] | None = None) -> np.ndarray:
    """Return the pixels, (height, width) or (height, width, 3)."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingLibrary("Pillow", "reading image files", "deep") from None
    try:
        with Image.open(path, formats=("JPEG", "PNG")) as image:
            image.verify()  # a PNG's checksums, to its last chunk; decoding alone takes a file without the last rows
        with Image.open(path, formats=("JPEG", "PNG")) as image:
            # Image.open reads the header alone: a wrong or enormous size is refused before any pixel is decoded.
            found = image.size[::-1]
            if size is not None and found != size:
                problem = f"is {found[0]} × {found[1]} pixels, the first image {size[0]} × {size[1]}"
                raise bad_file(path, problem, "bring all images to one size")
            if found[0] * found[1] > MAX_BYTES // 64:
                raise bad_file(path, f"is {found[0]} × {found[1]} pixels", "give smaller images")
            return np.asarray(image.convert(mode))
    except InvalidInput:
        raise
    except Exception as error:  # on damaged bytes the decoders raise nearly any exception
        raise bad_file(path, f"is not a readable JPEG or PNG image ({str(error)[:80]})", "replace it") from None


LOADERS = (Loader(image_folder, "a folder with a folder of images for each class", ORIGIN),)
