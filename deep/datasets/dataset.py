"""A classification data set in memory, and its partition into clients."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from fedconvex.data.federated import FederatedData
from fedconvex.data.partition import partition
from fedconvex.data.train_test_splits import train_test_split
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least

Clients = tuple[tuple[str, np.ndarray], ...]
KINDS = "give uint8 images, int64 tokens or floats"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """N >= 1 samples with labels 0 … num_classes − 1, and which client owns which of them.

    Every loader returns one. Build one yourself for samples in memory; `client_data` is for `fedconvex.deep.run`.

    Args:
        inputs: (N, …), no axis empty: uint8 images (N, channels, height, width), int64 tokens >= 0 (N, length), or
            finite float32 or float64 values. Kept as a read-only view.
        labels: (N,) integers, stored as int64. A class may have no sample: see `require_all_classes`.
        source: the origin of the samples, for reports.
        clients: (name, row numbers) of each client, none empty, no row with two clients; some rows may belong to none.
            None: the data set has no natural clients, `deal` partitions it.

    Raises:
        InvalidInput: lengths that differ, labels out of range, empty clients, rows out of range or used twice.
    """

    inputs: np.ndarray
    labels: np.ndarray
    num_classes: int
    source: str
    clients: Clients | None = None

    def __post_init__(self) -> None:
        num_classes = integer_at_least(self.num_classes, 1, "num_classes")
        inputs, labels = _inputs(self.inputs), _labels(self.labels, num_classes)
        if len(inputs) != len(labels):
            problem = f"is not one label for each of {len(inputs)} samples"
            raise InvalidInput("labels", f"{len(labels)} labels", problem, "give as many labels as samples")
        clients = None if self.clients is None else _clients(self.clients, len(labels))
        # The dataclass is frozen: this replaces the arguments by their checked, read-only versions.
        for name, value in {"inputs": inputs, "labels": labels, "num_classes": num_classes, "clients": clients}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        samples = f"{self.num_samples} × {self.inputs.shape[1:]} {self.inputs.dtype}, {self.num_classes} classes"
        clients = "" if self.clients is None else f", {len(self.clients)} clients"
        return f"Dataset({samples}{clients}, source={self.source!r})"

    @property
    def num_samples(self) -> int:
        """N, the number of samples."""
        return len(self.labels)

    @property
    def sizes(self) -> np.ndarray:
        """The clients' numbers of samples, int64 (m,). Raises InvalidInput if there are no clients."""
        return np.array([len(rows) for _, rows in self._require_clients()], dtype=np.int64)

    def deal(self, num_clients: int, scheme: str = "iid", seed: int = 0) -> "Dataset":
        """Partition all samples among clients named 0, 1, … with `fedconvex.data.partition`, replacing any clients.

        scheme: `iid`, `lognormal:SIGMA`, `dirichlet:ALPHA`, `by-label:D` or `power-law-labels:D`, on the class labels.
        """
        # `partition` bins numeric targets of more than 100 values, as it must for regression; text it takes as labels.
        # Nine digits each, so that the labels' order as text is that of the numbers.
        rows = partition(np.char.mod("%09d", self.labels), num_clients, scheme, seed)
        return replace(self, clients=tuple((str(k), part) for k, part in enumerate(rows)))

    def client_data(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return copies (inputs (n_k, …), labels (n_k,)) for each client, as `fedconvex.deep.run` takes them."""
        return [(self.inputs[rows], self.labels[rows]) for _, rows in self._require_clients()]

    def hold_out(self, test_fraction: float = 0.2, seed: int = 0) -> tuple["Dataset", "Dataset"]:
        """Split every client's samples at random into (train, test), as `fedconvex.data.train_test_split` does."""
        names = tuple(name for name, _ in self._require_clients())
        numbers = tuple(rows[:, None] for _, rows in self._require_clients())
        targets = tuple(self.labels[rows] for _, rows in self._require_clients())
        # Row numbers take the place of features, so that the split is the core's own and images are copied once.
        whole = FederatedData(numbers, targets, names, ("row",), self.source)
        train, test = train_test_split(whole, test_fraction, seed)
        return self._part(train), self._part(test)

    def scaled(
        self, mean: float | Sequence[float] | None = None, std: float | Sequence[float] | None = None
    ) -> "Dataset":
        """Return (x − mean)/std in float32, where x are the inputs, uint8 images divided by 255 first.

        Use it before training on images: networks are slow to train on inputs of 0 … 255.

        mean, std: finite, std > 0; one number, or one per channel, inputs.shape[1]; default 0 and 1.
        Raises InvalidInput, also for tokens.
        """
        if self.inputs.dtype == np.int64:
            raise InvalidInput("inputs", self, "are token numbers, which cannot be scaled", "leave out the scaling")
        channels = self.inputs.shape[1]
        shift, scale = _per_channel(mean, channels, "mean", 0.0), _per_channel(std, channels, "std", 1.0)
        if not (scale > 0).all():
            raise InvalidInput("std", std, "must be positive", "give std > 0")
        shape = (1, -1) + (1,) * (self.inputs.ndim - 2)
        values = self.inputs.astype(np.float32)  # the only copy: the arithmetic below is in place
        values /= np.float32(255 if self.inputs.dtype == np.uint8 else 1)
        values -= shift.reshape(shape)
        values /= scale.reshape(shape)
        return replace(self, inputs=values)

    def require_all_classes(self) -> "Dataset":
        """Return the data set itself, or raise InvalidInput if a class has no sample."""
        lacking = np.flatnonzero(np.bincount(self.labels, minlength=self.num_classes) == 0)
        if lacking.size:
            problem = f"{lacking.size} of them have no sample in {self.source}, the first is class {int(lacking[0])}"
            raise InvalidInput("num_classes", self.num_classes, problem, "give all samples, or fewer classes")
        return self

    def _require_clients(self) -> Clients:
        if self.clients is None:
            raise InvalidInput("clients", None, f"{self.source} has no natural clients", "call deal(num_clients)")
        return self.clients

    def _part(self, chosen: FederatedData) -> "Dataset":
        rows = [numbers[:, 0].astype(np.int64) for numbers in chosen.features]
        every = np.concatenate(rows)
        clients = consecutive_rows(chosen.client_names, [len(own) for own in rows])
        return Dataset(self.inputs[every], self.labels[every], self.num_classes, chosen.source, clients)


def consecutive_rows(names: Sequence[str], counts: Sequence[int]) -> Clients:
    """Return clients for samples stacked client by client: the k-th owns counts[k] rows, after those before it."""
    ends = np.cumsum(counts, dtype=np.int64).tolist()
    return tuple((name, np.arange(end - n, end)) for name, n, end in zip(names, counts, ends, strict=True))


def _inputs(values: np.ndarray) -> np.ndarray:
    array = np.asarray(values)
    kind = f"{array.dtype} of shape {array.shape}"
    if array.dtype not in (np.uint8, np.int64, np.float32, np.float64):
        raise InvalidInput("inputs", kind, "has an unsupported type", KINDS)
    if array.ndim < 2 or array.size == 0:
        raise InvalidInput("inputs", kind, "has no samples, or empty ones", "give (N, …) with N >= 1")
    if array.dtype == np.int64 and array.min() < 0:
        raise InvalidInput("inputs", int(array.min()), "is a token number below 0", "number tokens from 0")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InvalidInput(f"inputs{place}", float(array[tuple(place)]), "is not finite", "repair or drop the sample")
    view = array.view()  # no copy: images can take gigabytes, and data sets that `deal` derives share them
    view.flags.writeable = False
    return view


def _labels(values: np.ndarray, num_classes: int) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        kind = f"{array.dtype} of shape {array.shape}"
        raise InvalidInput("labels", kind, "are not integers of shape (N,)", "number the classes from 0")
    bad = np.flatnonzero((array < 0) | (array >= num_classes))
    if bad.size:
        row = int(bad[0])
        problem = f"is not among the {num_classes} classes 0 … {num_classes - 1}"
        raise InvalidInput(f"labels[{row}]", int(array[row]), problem, "repair the label, or give more classes")
    labels = array.astype(np.int64)
    labels.flags.writeable = False
    return labels


def _clients(clients: Clients, num_samples: int) -> Clients:
    names = [str(name) for name, _ in clients]
    if not names:
        raise InvalidInput("clients", clients, "contains no client", "give at least one, or None")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput("clients", twice, "is the name of two clients", "give every client its own name")
    owner = np.full(num_samples, -1)  # the position of each row's client, −1 as long as it has none
    checked = []
    for k, (name, (_, values)) in enumerate(zip(names, clients, strict=True)):
        rows = np.array(values)
        place = f"clients[{name!r}]"
        if rows.size == 0:
            raise InvalidInput(place, "no rows", "a client without data", "leave the client out")
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise InvalidInput(
                place, f"{rows.dtype} of shape {rows.shape}", "are not row numbers", "give integers (n,)"
            )
        outside = rows[(rows < 0) | (rows >= num_samples)]
        if outside.size:
            problem = f"is not a row number: there are {num_samples} samples"
            raise InvalidInput(place, int(outside[0]), problem, f"give 0 … {num_samples - 1}")
        # A row may be taken by an earlier client, or occur twice in this one.
        taken = rows[owner[rows] >= 0]
        if taken.size or len(np.unique(rows)) < len(rows):
            row = int(taken[0]) if taken.size else int(np.sort(rows)[np.flatnonzero(np.diff(np.sort(rows)) == 0)[0]])
            whose = f"client {names[owner[row]]!r}" if taken.size else "the same client"
            raise InvalidInput(place, row, f"is a row that {whose} has already", "give every row to one client")
        owner[rows] = k
        rows = rows.astype(np.int64)
        rows.flags.writeable = False
        checked.append((name, rows))
    return tuple(checked)


def _per_channel(values: float | Sequence[float] | None, channels: int, name: str, default: float) -> np.ndarray:
    try:
        array = np.asarray(default if values is None else values, dtype=np.float32)
    except (TypeError, ValueError):
        array = np.array(np.nan)  # refused below, with the same message as other wrong values
    if array.shape not in ((), (1,), (channels,)) or not np.isfinite(array).all():
        problem = f"is neither a finite number nor one for each of {channels} channels"
        raise InvalidInput(name, values, problem, f"give 1 or {channels} numbers")
    return np.broadcast_to(array, (channels,))
