"""Targets: numbers to predict or labels of classes, their common form, and the task that they imply."""

from difflib import get_close_matches
from typing import Literal

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.memory import require
from fedconvex.validation import from_torch, is_choice, is_tensor

Task = Literal["regression", "binary", "multiclass"]

TASKS: tuple[Task, ...] = ("regression", "binary", "multiclass")
MOST_CLASSES = 10  # whole numbers with more distinct values are numbers to predict, unless classes are requested …
MANY_CLASSES = 100  # … but up to so many are labels where samples are divided by label
SAMPLES_PER_CLASS = 5
CHARACTER, TEXT = 4, 6  # bytes of a character in NumPy's texts; their copies while data are divided among clients
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
        longest = max(map(len, array), default=0)
        purpose = f"an array of {array.size:,} texts, each in the room of the longest of {longest:,} characters,"
        require(TEXT * CHARACTER * array.size * longest, "targets", "text", purpose, "shorten the labels")
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
    """Guesses the task from targets in the form of `as_targets`; task, class_labels or model override it elsewhere.

    binary: text or whole numbers with exactly 2 distinct values. multiclass: other text, or whole numbers with 3 to 10
    distinct values, at most one for every 5 samples. regression: everything else.
    """
    return _guessed(targets, MOST_CLASSES)


def are_labels(targets: np.ndarray) -> bool:
    """Whether the values can be labels that divide samples among clients: as in `task_of`, with up to 100 classes."""
    return _guessed(targets, MANY_CLASSES) != "regression"


def _guessed(targets: np.ndarray, most_classes: int) -> Task:
    if targets.dtype.kind == "f":
        return "regression"
    distinct = np.unique(targets).size
    if distinct == 2:  # two values are taken for classes, also 0 and 1
        return "binary"
    if targets.dtype.kind == "U" or 3 <= distinct <= min(most_classes, targets.size / SAMPLES_PER_CLASS):
        return "multiclass"
    return "regression"


def check_task(task: object, targets: np.ndarray, argument: str = "task") -> None:
    """Raises InvalidInput where the targets, in the form of `as_targets`, do not fit the task, or it is none."""
    if not is_choice(task, TASKS):
        near = get_close_matches(task, TASKS, 1) if isinstance(task, str) else []
        cure = f"give {near[0]}" if near else f"give {', '.join(TASKS)}"
        raise InvalidInput(argument, task, "is not known", cure)
    distinct = np.unique(targets).size
    if task == "regression" and targets.dtype.kind == "U":
        problem = f"needs numbers, the targets are text with {distinct} distinct values"
        raise InvalidInput(argument, task, problem, "give binary or multiclass, or another target column")
    if task == "binary" and distinct != 2:
        problem = f"needs two classes, the targets have {distinct} distinct values"
        raise InvalidInput(
            argument, task, problem, f"give {'regression' if targets.dtype.kind == 'f' else 'multiclass'}"
        )
    if task == "multiclass" and (targets.dtype.kind == "f" or distinct < 2):
        kind = {"f": "fractional numbers", "i": "whole numbers", "U": "texts"}[targets.dtype.kind]
        raise InvalidInput(
            argument, task, f"needs classes, the targets have {distinct} distinct {kind}", "give regression"
        )


def reason(task: Task, targets: np.ndarray, name: str, why: str = "") -> str:
    """The task and what it was chosen by: regression (target 'age': 70 distinct whole numbers).

    why: what was requested instead of a guess, such as "as requested".
    """
    values = np.unique(targets)
    kind = {"f": "numbers, not all whole", "i": "whole numbers", "U": "texts"}[targets.dtype.kind]
    found = f"{values.size:,} distinct {kind}"
    if values.size == 2:
        found += f", {values.tolist()[0]!r} and {values.tolist()[1]!r}"
    elif task == "regression" and not why and targets.dtype.kind == "i" and 3 <= values.size <= MOST_CLASSES:
        found += f" in {targets.size:,} samples, too few for classes"
    return f"{task} (target {name!r}: {found}{f'; {why}' if why else ''})"


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
