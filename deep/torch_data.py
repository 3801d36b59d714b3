"""Clients' samples as people have them: pairs, dictionaries, data sets and loaders, read once into tensors.

They are held in memory, or written to a file on disk piece by piece (`disk`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from fedconvex import memory
from fedconvex.deep.arrays import as_samples
from fedconvex.deep.dictionaries import InputParts
from fedconvex.deep.disk import PIECE, Disk, SampleFile, array_pieces, stored_rows
from fedconvex.errors import InvalidInput

SAMPLES_AT_ONCE = 4096  # on the way to disk
STREAMED = 2**22  # samples of a stream without a length: one that has more is taken for endless
READ_TWICE = 16  # a mirrored image is the same twice in every other case
TARGETS = ("labels", "label")  # what HuggingFace's models and data sets call them
WEIGHTS = "sample_weight"
KNOWN = (list, tuple, Mapping, Tensor, np.ndarray, str, bytes)  # samples themselves, or what is none


@final
@dataclass(frozen=True, eq=False)
class GivenSamples:
    """The samples of a run: a tuple (inputs, targets), or with the samples' weights, per client and of the test set."""

    clients: Any
    test: Any
    parts: InputParts | None  # of packed inputs, where they were dictionaries
    of_each: bool = False  # whether `test` is a list of test sets, one for each client

    @property
    def tests(self) -> list[Any]:
        """The test sets: none, one, or one for each client."""
        return [] if self.test is None else list(self.test) if self.of_each else [self.test]

    @staticmethod
    def of(
        clients: Any,
        test: Any,
        disk: Disk | None = None,
        dtype: torch.dtype = torch.float64,
        of_each: bool = False,
    ) -> "GivenSamples":
        """Read all data sets, and pack dictionaries of inputs.

        Raises InvalidInput for samples that have no targets or do not stack, for those drawn at random, and for
        streams that are read only once or do not end.

        disk: where the inputs are written; None: they stay in memory. dtype: of floating-point inputs on disk. of_each:
        whether `test` may be a list of one for each client, which it is if that is as long as the clients'.
        """
        if of_each and isinstance(test, list) and isinstance(clients, list | tuple) and len(test) == len(clients):
            every = GivenSamples.of([*clients, *test], None, disk, dtype)
            return GivenSamples(every.clients[: len(clients)], every.clients[len(clients) :], every.parts, True)
        if not isinstance(clients, list | tuple):  # reported where the clients are stacked
            return GivenSamples(clients, test, None)
        places = [f"clients[{k}]" for k in range(len(clients))]
        if disk is not None and clients:
            on_disk, layout = _on_disk(list(zip(clients, places, strict=True)), disk, dtype, None)
            if test is None:
                return GivenSamples(on_disk, None, layout)
            held_out, layout = _on_disk([(test, "test")], disk, dtype, layout)
            return GivenSamples(on_disk, held_out[0], layout)
        read = [
            _several_inputs(_with_targets(_read(one, place), place), place)
            for one, place in zip(clients, places, strict=True)
        ]
        of_test = None if test is None else _several_inputs(_with_targets(_read(test, "test"), "test"), "test")
        if not any(_has_dictionary(one) for one in (*read, of_test)):
            return GivenSamples(read, of_test, None)
        parts: InputParts | None = None
        for i, (one, place) in enumerate(zip((*read, of_test), (*places, "test"), strict=True)):
            if one is None:
                continue
            if not _has_dictionary(one):
                problem = "has no dictionary of inputs, as others have"
                raise InvalidInput(place, type(one).__name__, problem, "make the clients' samples alike")
            inputs = {str(name): _tensor(value, f"{place}[{name!r}]") for name, value in one[0].items()}
            parts = InputParts.of(inputs) if parts is None else parts
            found = (parts.packed(inputs, place), *one[1:])
            if i < len(read):
                read[i] = found
            else:
                of_test = found
        return GivenSamples(read, of_test, parts)


def _on_disk(
    given: "Sequence[tuple[Any, str]]", disk: Disk, dtype: torch.dtype, parts: InputParts | None
) -> tuple[list[Any], InputParts | None]:
    """Clients with their names in errors, as tuples whose inputs are rows of one file, and the inputs' layout."""
    rests, counts = list[Any](), list[int]()
    with SampleFile(disk) as file:
        for one, place in given:
            before, rest = len(file), list[tuple[Any, ...]]()
            for piece in _pieces(one, place):
                inputs, *others = _with_targets(piece, place)
                parts, packed = _packed(inputs, parts, place, first=not len(file))
                file.append(stored_rows(packed, dtype, f"{place}[0]"), place)
                rest.append(tuple(as_samples(other, f"{place}[{i}]") for i, other in enumerate(others, 1)))
            rests.append(tuple(map(torch.cat, zip(*rest, strict=True))))
            counts.append(len(file) - before)
        rows = file.mapped().split(counts)
    return [(own, *rest) for own, rest in zip(rows, rests, strict=True)], parts


def _packed(inputs: Any, parts: InputParts | None, place: str, first: bool) -> tuple[InputParts | None, Any]:
    """Inputs as one array, and how a dictionary of them lies in it; first: whether no other inputs came before."""
    if not isinstance(inputs, Mapping):
        if parts is not None:
            problem = "has no dictionary of inputs, as others have"
            raise InvalidInput(place, type(inputs).__name__, problem, "make the clients' samples alike")
        return None, inputs
    if parts is None and not first:
        problem = "has a dictionary of inputs, as others do not have"
        raise InvalidInput(place, type(inputs).__name__, problem, "make the clients' samples alike")
    columns = {str(name): _tensor(value, f"{place}[{name!r}]") for name, value in inputs.items()}
    parts = InputParts.of(columns) if parts is None else parts
    return parts, parts.packed(columns, place)


def _pieces(given: Any, place: str) -> "Iterator[Any]":
    """A client's samples in pieces: tuples (inputs, targets), or with weights, or dictionaries of columns."""
    data, collate = _data_set(given, place)
    if data is None:
        yield from array_pieces(given, place)
        return
    left = _samples(data, place, held=False)
    first = list(islice(left, READ_TWICE))
    if not first:
        raise InvalidInput(place, type(data).__name__, "has no samples", "leave the client out")
    taken = sum(x.numel() * x.element_size() for x in _tensors(first[0]))
    size = max(1, min(PIECE // max(1, taken), SAMPLES_AT_ONCE))
    samples = first
    while samples:
        yield _collated(samples, data, collate, place)
        samples = list(islice(left, size))
    _require_fixed(first, data, place)  # at the end: a stream that goes on where it was left would pass before


def _has_dictionary(given: Any) -> bool:
    return isinstance(given, list | tuple) and len(given) > 0 and isinstance(given[0], Mapping)


def _with_targets(given: Any, place: str) -> Any:
    """A dictionary of samples as the tuple (inputs, targets), with the weights if it has some; others as they are."""
    if not isinstance(given, Mapping):
        return given
    names = [name for name in TARGETS if name in given]
    if len(names) != 1:
        problem = "has both 'labels' and 'label'" if names else "has no 'labels' among its columns"
        raise InvalidInput(place, sorted(map(str, given)), problem, "call the targets 'labels'")
    inputs = {name: value for name, value in given.items() if name not in (*names, WEIGHTS)}
    if not inputs:
        raise InvalidInput(place, sorted(map(str, given)), "has no inputs beside the targets", "add such as input_ids")
    return (inputs, given[names[0]], *([given[WEIGHTS]] if WEIGHTS in given else []))


def _several_inputs(given: Any, place: str) -> Any:
    """((a, b), targets), of which a and b have a row for each target, with the inputs named by their places, "0", "1".

    Raises InvalidInput for a tuple of as many arrays as there are targets, which may be inputs or samples.
    """
    if not isinstance(given, tuple | list) or not given or not isinstance(given[0], tuple | list) or len(given[0]) < 2:
        return given
    inputs, number = given[0], len(given[1]) if len(given) > 1 and hasattr(given[1], "__len__") else None
    arrays = all(isinstance(part, Tensor | np.ndarray) and part.ndim and len(part) == number for part in inputs)
    if not arrays or (len(inputs) == number and isinstance(inputs, list)):
        return given
    if len(inputs) == number:
        problem = f"is a tuple of {number} arrays with {number} rows, for {number} targets: inputs, or samples?"
        raise InvalidInput(f"{place}[0]", tuple(inputs[0].shape), problem, "give a dictionary of inputs, or one array")
    return ({str(i): part for i, part in enumerate(inputs)}, *given[1:])


def _tensor(values: Any, where: str) -> Tensor:
    try:
        found: Tensor = values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))
    except (TypeError, ValueError, RuntimeError):
        kind = "text" if any(isinstance(x, str) for x in np.ravel(np.asarray(values, dtype=object))[:1]) else "no array"
        cure = "leave it out, after its tokens are in another column" if kind == "text" else "give an array of numbers"
        raise InvalidInput(where, type(values).__name__, f"is {kind}", cure) from None
    if found.ndim == 0:
        raise InvalidInput(where, found.item(), "is a single number", "give one for each sample")
    return found.detach()


def _read(given: Any, place: str) -> Any:
    """A data set's or a loader's samples, stacked; anything else as it is."""
    data, collate = _data_set(given, place)
    if data is None:
        return given
    samples = list(_samples(data, place))
    if not samples:
        raise InvalidInput(place, type(data).__name__, "has no samples", "leave the client out")
    _require_fixed(samples, data, place)
    return _collated(samples, data, collate, place)


def _data_set(given: Any, place: str) -> tuple[Any, Any]:
    """A data set, of a loader or given as such, and the function that stacks its samples; None for anything else."""
    if isinstance(given, DataLoader):
        if given.batch_sampler is None:
            problem = "has no batch size, and may give samples or batches"
            raise InvalidInput(place, type(given).__name__, problem, "give it one, or give its data set")
        # Its data set and `collate_fn` count: the local solver makes the batches.
        return given.dataset, given.collate_fn
    if isinstance(given, list | tuple) and given and all(isinstance(sample, Mapping) for sample in given):
        return given, default_collate  # a row each, as `list` of a data set gives them
    map_style = hasattr(given, "__getitem__") and hasattr(given, "__len__")
    if isinstance(given, Dataset) or (not isinstance(given, KNOWN) and (map_style or hasattr(given, "__iter__"))):
        return given, default_collate
    return None, None


def _collated(samples: Sequence[Any], data: Any, collate: Any, place: str) -> Any:
    """Samples as one tuple (inputs, targets), or with weights, or as one dictionary of columns."""
    kind = type(data).__name__
    try:
        # Lists of numbers, as in columns of tokens, would be stacked entry by entry.
        rows = [_lists_as_tensors(sample) for sample in samples] if collate is default_collate else samples
        found: Any = collate(rows)
    except (RuntimeError, TypeError, ValueError) as error:
        problem = f"has samples that do not stack: {str(error).splitlines()[0]}"
        raise InvalidInput(place, kind, problem, "give samples of one shape") from error
    if isinstance(found, Mapping):
        return found
    if not isinstance(found, tuple | list) or len(found) not in (2, 3):
        made = f"{len(found)} parts" if isinstance(found, tuple | list) else f"a {type(found).__name__}"
        raise InvalidInput(place, kind, f"has samples of {made}", "let each be a pair (input, target)")
    return tuple(found)


def _samples(data: Any, place: str, held: bool = True) -> Iterator[Any]:
    """All samples, by their numbers or one after the other; where they are held, raises TooLarge before memory ends."""
    kind = type(data).__name__
    if isinstance(data, IterableDataset) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        if not hasattr(data, "__iter__"):
            raise InvalidInput(place, kind, "has no length", "give a data set with len(), or tensors (inputs, targets)")
        if iter(data) is data:
            raise InvalidInput(place, kind, "can be read only once", "give a data set that starts anew, or tensors")
        return _bounded(data, place, kind, held, None if hasattr(data, "__len__") else STREAMED)
    try:
        number = len(data)
    except Exception as error:  # of the user's code
        cure = "give a data set with len(), or tensors (inputs, targets)"
        raise InvalidInput(place, kind, f"has no length: {str(error) or type(error).__name__}", cure) from error
    return _bounded((data[i] for i in range(number)), place, kind, held)


def _bounded(samples: Iterable[Any], place: str, kind: str, held: bool, most: int | None = None) -> Iterator[Any]:
    taken, left, i = 0, iter(samples), -1
    while True:
        try:
            sample = next(left)
        except StopIteration:
            return
        except Exception as error:  # of the user's code
            problem = f"cannot be read, sample {i + 1}: {type(error).__name__}: {str(error) or 'no reason given'}"
            cure = "give a data set, or tensors (inputs, targets)"
            raise InvalidInput(place, kind, problem, cure) from error
        i += 1
        if i == most:
            cure = "let it end, or give it a length, __len__"
            raise InvalidInput(place, kind, f"did not end after {most} samples", cure)
        if held:
            taken += sum(x.numel() * x.element_size() for x in _tensors(sample))
        if held and i % 1024 == 1023:  # twice: the samples, and the tensor that they are stacked into
            cure = "let it end, give the clients a part of it each, or give storage='disk'"
            memory.require(2 * taken, place, kind, f"reading the first {i + 1} samples", cure)
        yield sample


def _lists_as_tensors(sample: Any) -> Any:
    """A sample with lists of numbers as tensors."""
    if isinstance(sample, Mapping):
        return {name: _list_as_tensor(value) for name, value in sample.items()}
    return tuple(map(_list_as_tensor, sample)) if isinstance(sample, tuple) else sample


def _list_as_tensor(value: Any) -> Any:
    return torch.as_tensor(np.asarray(value)) if isinstance(value, list) else value


def _require_fixed(samples: Sequence[Any], data: Any, place: str) -> None:
    """Raise InvalidInput if one of the first samples changes from one reading to the next: by a random transform."""
    whole = isinstance(data, IterableDataset) or not hasattr(data, "__getitem__") or not hasattr(data, "__len__")
    few = min(READ_TWICE, len(samples))
    second = islice(data, few) if whole else (data[i] for i in range(few))
    once, again = ([x for sample in part for x in _tensors(sample)] for part in (samples[:few], second))
    if len(once) != len(again):
        problem = f"gives {'other' if again else 'no'} samples when it is read again"
        raise InvalidInput(place, type(data).__name__, problem, "give a data set that starts anew, or tensors")
    if not all(map(torch.equal, once, again)):
        problem = "draws at random: a sample changes each time it is read"
        cure = "leave its random transform out, and give transform=… with local_mode='training'"
        raise InvalidInput(place, type(data).__name__, problem, cure)


def _tensors(sample: Any) -> Sequence[Tensor]:
    found = []
    for part in tree_flatten(sample)[0]:
        with suppress(TypeError, ValueError, RuntimeError):  # what is no number does not stack, which is reported later
            found.append(torch.as_tensor(part))
    return found
