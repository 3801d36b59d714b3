"""Targets: numbers to predict or labels of classes, their common form, and the task that they imply."""

from typing import Literal

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.validation import from_torch, is_tensor

Task = Literal["regression", "binary", "multiclass"]

MAX_CLASSES = 100
SAMPLES_PER_CLASS = 5
EXACT_INTEGERS = 2**53  # up to here float64 represents every integer
TOO_LONG_CURE = "put a letter before class labels; write numbers to predict with a decimal point"


def as_targets(values: object) -> np.ndarray:
    """The targets in one form, whatever file format they come from.

    int64 (n,) where every value is a whole number of at most 2^53 in size (booleans are 0 and 1), float64 (n,) for
    other numbers, str (n,) for text.

    Raises InvalidInput for anything else: arrays that are not one-dimensional, NaN or infinite entries, complex
    numbers, objects, and integers beyond 2^53, where different integers would become the same float.
    """
    try:
        array = np.asarray(from_torch(values, "targets") if is_tensor(values) else values)
    except ValueError:
        raise InvalidInput("targets", values, "is ragged", "give one target per sample") from None
    if array.ndim != 1:
        raise InvalidInput("targets", array.shape, "must be one-dimensional", "give one target per sample")
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
        return array.astype(str)
    if array.dtype.kind == "U":
        return array
    if array.dtype.kind not in "biuf":
        raise InvalidInput("targets", array.dtype, "are neither numbers nor text", "give numbers or strings")
    if (index := too_long(array)) is not None:
        problem = "is an integer beyond 2^53, where floats merge neighbours"
        raise InvalidInput(f"targets[{index}]", int(array[index]), problem, "give labels as text, numbers as floats")
    numbers = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        index = int(bad[0])
        raise InvalidInput(f"targets[{index}]", numbers.tolist()[index], "is not finite", "remove or repair the sample")
    # class labels come as 1 or as 1.0, depending on the file format: both become int64
    whole = np.all((numbers == np.rint(numbers)) & (np.abs(numbers) <= EXACT_INTEGERS))
    return numbers.astype(np.int64) if whole else numbers


def too_long(array: np.ndarray) -> int | None:
    """The index of the first integer beyond 2^53 in an array (n,); None if there is none or the array has floats."""
    if array.dtype.kind not in "iu":
        return None
    found = np.flatnonzero((array > EXACT_INTEGERS) | (array < -EXACT_INTEGERS))
    return int(found[0]) if found.size else None


def written_too_long(text: str) -> bool:
    """Whether the text is a whole number, without point or exponent, beyond 2^53."""
    digits = text.strip().removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        return False
    digits = digits.lstrip("0")
    return len(digits) > len(str(EXACT_INTEGERS)) or int(digits or "0") > EXACT_INTEGERS


def task_of(targets: np.ndarray) -> Task:
    """Guesses the task from targets in the form of `as_targets`; class_labels or model override the guess elsewhere.

    binary: text or whole numbers with exactly 2 distinct values. multiclass: other text, or whole numbers with 3 to 100
    distinct values, at most one for every 5 samples. regression: everything else.
    """
    if targets.dtype.kind == "f":
        return "regression"
    distinct = np.unique(targets).size
    if distinct == 2:  # two values are taken for classes, also 0 and 1
        return "binary"
    if targets.dtype.kind == "U" or 3 <= distinct <= min(MAX_CLASSES, targets.size / SAMPLES_PER_CLASS):
        return "multiclass"
    return "regression"


def as_class_labels(values: object, targets: np.ndarray) -> np.ndarray:
    """The declared classes, sorted: 2 or more distinct whole numbers or texts that include all `targets`.

    targets: in the form of `as_targets`. Raises InvalidInput.
    """
    labels = np.unique(as_targets(values))
    if labels.size < 2 or labels.dtype.kind not in "iU":
        problem = "must be 2 or more distinct whole numbers or texts"
        raise InvalidInput("class_labels", values, problem, "list all classes, or leave it out")
    strange = targets if labels.dtype.kind != targets.dtype.kind else targets[~np.isin(targets, labels)]
    if strange.size:
        problem = f"lacks {strange.tolist()[0]!r}, which is among the targets"
        raise InvalidInput("class_labels", labels.tolist(), problem, "list all classes, or leave it out")
    labels.flags.writeable = False
    return labels
