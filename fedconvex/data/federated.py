"""`FederatedData`: samples that belong to clients, and the problem of fitting a linear model to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedconvex.data.partition import partition
from fedconvex.data.table import NumberedNames, Table
from fedconvex.data.targets import Task, as_class_labels, as_targets, check_task, reason, task_of
from fedconvex.errors import InvalidInput, short_text
from fedconvex.sparse import Features, is_sparse, read_only_csr, with_ones
from fedconvex.validation import from_torch, instance_of, is_choice, is_tensor, members_of, non_negative, truth_value

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem

Model = Literal["auto", "least-squares", "logistic", "multinomial"]
MODELS: dict[Task, Model] = {"regression": "least-squares", "binary": "logistic", "multiclass": "multinomial"}
DEFAULT_RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class FederatedData:
    """The samples of m clients, to be turned into a problem by `problem()` or split by `train_test_split`.

    `load` and the synthetic generators return it; create it yourself for data that are already in memory, by client.

    Args:
        features: features[k] is (n_k, p) with n_k >= 1, converted to float64; kept as a read-only view. Sparse arrays
            of SciPy are kept as CSR arrays; `load` returns them for files whose dense form would take far more memory.
        targets: targets[k] is (n_k,), numbers or text, converted by `as_targets`; text is always a class label. Copied.
        client_names: m distinct names.
        feature_names: p names.
        source: a description of the origin, for reports.
        class_labels: all classes, 2 or more, if some of them may have no sample here; None: those that occur.
        target_name: what the targets are called, for messages.
        requested_task: regression, binary or multiclass; auto: by class_labels if given, else by `task_of`.
        notes: what was done to the data before, and what is unusual about them, a line each.

    Raises:
        InvalidInput: ragged shapes, NaN, an empty client, names that do not fit, targets outside class_labels, or that
            do not fit the task.
    """

    features: tuple[Features, ...]
    targets: tuple[np.ndarray, ...]
    client_names: tuple[str, ...]
    feature_names: Sequence[str]
    source: str
    class_labels: np.ndarray | None = None
    target_name: str = "target"
    requested_task: Task | Literal["auto"] = "auto"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = tuple(members_of(self.client_names, "client_names", "give one name per client"))
        for argument in ("features", "targets"):
            arrays = tuple(members_of(getattr(self, argument), argument, "give one array per client"))
            object.__setattr__(self, argument, arrays)
        columns: Sequence[str] = self.feature_names
        if not isinstance(columns, NumberedNames):
            columns = tuple(members_of(columns, "feature_names", "give one name per column"))
            for name in columns:
                instance_of(name, str, "feature_names", "text", "give texts")
        for name in names:
            instance_of(name, str, "client_names", "text", "give texts")
        if len(self.features) == 0:
            raise InvalidInput("features", self.features, "has no clients", "give one array per client")
        if not len(self.features) == len(self.targets) == len(names) == len(set(names)):
            counts = f"{len(self.features)}, {len(self.targets)} and {len(set(names))}"
            problem = f"features, targets and distinct client names count {counts} clients"
            raise InvalidInput("client_names", names, problem, "give one array of each kind and one name per client")
        features = tuple(_features(array, k, len(columns)) for k, array in enumerate(self.features))
        rows = [array.shape[0] for array in features]
        targets = _split(as_targets(_joined(self.targets)), rows, self.targets)
        labels = None if self.class_labels is None else as_class_labels(self.class_labels, np.concatenate(targets))
        instance_of(self.target_name, str, "target_name", "text", "give a text")
        notes = tuple(members_of(self.notes, "notes", "give a list of texts"))
        for note in notes:
            instance_of(note, str, "notes", "text", "give texts")
        if not is_choice(self.requested_task, ("auto",)):
            pooled = np.concatenate(targets)
            # with classes declared, a part of the data may lack some
            known = pooled if labels is None or is_choice(self.requested_task, ("regression",)) else labels
            check_task(self.requested_task, known, "requested_task")
        fields = {"features": features, "client_names": names, "feature_names": columns, "notes": notes}
        for name, value in {**fields, "targets": targets, "class_labels": labels}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        size = f"m={self.num_clients}, p={self.num_features}, samples={self.num_samples}"
        return f"FederatedData({size}, task={self.task!r}, source={short_text(self.source)!r})"

    @property
    def num_clients(self) -> int:
        """The number of clients m."""
        return len(self.features)

    @property
    def num_features(self) -> int:
        """The number of features p."""
        return len(self.feature_names)

    @property
    def sizes(self) -> np.ndarray:
        """The number of samples n_k of every client, int64 (m,)."""
        return np.array([array.shape[0] for array in self.features], dtype=np.int64)

    @property
    def num_samples(self) -> int:
        """The number of samples of all clients together."""
        return int(self.sizes.sum())

    @property
    def task(self) -> Task:
        """The kind of problem: `regression`, `binary` or `multiclass`: the requested one, or that of the classes."""
        if self.requested_task != "auto":
            return self.requested_task
        if self.class_labels is not None:
            return "binary" if self.class_labels.size == 2 else "multiclass"
        return task_of(np.concatenate(self.targets))

    @property
    def task_and_reason(self) -> str:
        """The task with what it was chosen by: regression (target 'age': 70 distinct whole numbers)."""
        why = "as requested" if self.requested_task != "auto" else ""
        if not why and self.class_labels is not None:
            why = f"{self.class_labels.size} classes are declared"
        return reason(self.task, np.concatenate(self.targets), self.target_name, why)

    @property
    def classes(self) -> np.ndarray:
        """The class_labels if given, otherwise the distinct targets of all clients, sorted."""
        if self.class_labels is not None:
            return self.class_labels
        return np.unique(np.concatenate(self.targets))

    def problem(
        self,
        model: Model = "auto",
        ridge: float | None = None,
        weights: Literal["pooled", "uniform"] = "pooled",
        intercept: bool = True,
    ) -> "Problem":
        """The federated problem of fitting a linear model to these data.

        Args:
            model: `least-squares`: f_k(x) = ½‖A_k x − b_k‖², a sum over samples; `logistic`: the mean over samples of
                log(1 + exp(−y aᵀx)), plus ridge/2 ‖x‖², the smaller class as y = −1; `multinomial`: the mean softmax
                cross-entropy, plus ridge/2 ‖x‖², classes numbered in the order of `classes`; `auto`: the model for
                `task`.
            ridge: >= 0, default 1e-3; it penalises the intercept too. Least squares has no ridge.
            weights: `pooled`: the objective is proportional to the loss over all clients' samples (1/m each for the
                sums of least squares, n_k/n for the means of the others); `uniform`: 1/m each.
            intercept: append a column of ones to the features. The multinomial model always has one.

        Raises:
            InvalidInput: the targets do not fit the model; an unknown model or weights.
        """
        intercept = truth_value(intercept, "intercept")
        if is_choice(model, ("auto",)):
            model = MODELS[self.task]
        if not is_choice(weights, ("pooled", "uniform")):
            raise InvalidInput("weights", weights, "is not known", "give pooled or uniform")
        if not is_choice(model, tuple(MODELS.values())):
            raise InvalidInput("model", model, "is not known", f"give auto, {', '.join(MODELS.values())}")
        if self.requested_task == "regression" and model != "least-squares":
            words = "fits classes, and the task is given as regression"
            raise InvalidInput("model", model, words, "give least-squares, or leave out one of the two")
        if model == "multinomial" and not intercept:
            raise InvalidInput("intercept", intercept, "the multinomial model always has one", "leave it out")
        if model == "least-squares":
            return self._least_squares(ridge, intercept)
        classes = self.classes
        if classes.size == 1:
            one = classes.tolist()[0]
            problem = "is the target of all samples: there is one class only, and nothing to fit"
            raise InvalidInput("targets", one, problem, "give samples of two classes or more")
        if model == "logistic" and classes.size != 2:
            problem = f"needs 2 classes, the targets have {classes.size} distinct values"
            raise InvalidInput("model", model, problem, _model_cure(self.task))
        if model == "multinomial" and (classes.dtype.kind == "f" or classes.size < 2):
            kind = {"f": "fractional numbers", "i": "whole numbers", "U": "texts"}[classes.dtype.kind]
            problem = f"needs 2 or more classes of whole numbers or text, the targets have {classes.size} {kind}"
            raise InvalidInput("model", model, problem, _model_cure(self.task))
        ridge = DEFAULT_RIDGE if ridge is None else ridge
        shares = self.sizes.tolist() if weights == "pooled" else None  # n_k/n: f_k is a mean over samples
        numbers = [np.searchsorted(classes, targets) for targets in self.targets]
        if model == "logistic":
            from fedconvex.problems import Logistic

            A, y = self._design(intercept), [2 * number - 1 for number in numbers]  # classes 0, 1 to labels −1, +1
            return Logistic(A=A, y=y, ridge=ridge, weights=shares)
        from fedconvex.problems import MultinomialLogistic

        A = list(self.features)  # MultinomialLogistic appends the column of ones itself
        return MultinomialLogistic(A=A, y=numbers, num_classes=int(classes.size), ridge=ridge, weights=shares)

    def coefficient_names(self, problem: "Problem") -> tuple[str, ...]:
        """A name for each unknown of a problem that `problem()` made of these data: features and `intercept`.

        Those of a multinomial model have the class before them, as in `3: age`.
        """
        names = tuple(self.feature_names)
        outputs = getattr(problem, "outputs", 1)
        if problem.dim == outputs * (len(names) + 1):
            names = (*names, "intercept")
        if outputs == 1:
            return names
        return tuple(f"{label}: {name}" for label in self.classes.tolist() for name in names)

    def _least_squares(self, ridge: float | None, intercept: bool) -> "Problem":
        from fedconvex.problems import LeastSquares

        if self.targets[0].dtype.kind == "U":
            raise InvalidInput("model", "least-squares", "needs numbers, the targets are text", _model_cure(self.task))
        if ridge is not None and non_negative(ridge, "ridge") > 0:
            raise InvalidInput("ridge", ridge, "least squares takes no ridge", "leave it out, or choose another model")
        # equal weights also for `pooled`: f_k is a sum over samples, so large clients count more already
        return LeastSquares(A=self._design(intercept), b=list(self.targets))

    def _design(self, intercept: bool) -> list[Features]:
        return [with_ones(array) for array in self.features] if intercept else list(self.features)


def federate(
    table: Table,
    rows: Sequence[np.ndarray],
    client_names: Sequence[str],
    source: str,
    task: Task | Literal["auto"] = "auto",
) -> FederatedData:
    """The table's rows as data of clients: client k has the rows with the indices rows[k]."""
    if task != "auto":
        check_task(task, table.targets)
    return FederatedData(
        features=tuple(table.features[part] for part in rows),
        targets=tuple(table.targets[part] for part in rows),
        client_names=tuple(client_names),
        feature_names=table.feature_names,
        source=source,
        target_name=table.target_name,
        requested_task=task,
        notes=table.notes,
    )


def divide_among_clients(
    table: Table, num_clients: int, scheme: str, seed: int, source: str, task: Task | Literal["auto"] = "auto"
) -> FederatedData:
    """The table's rows, divided among clients named 0, 1, … by a scheme of `fedconvex.data.partition`."""
    rows = partition(table.targets, num_clients, scheme, seed, task_of(table.targets) if task == "auto" else task)
    return federate(table, rows, [str(k) for k in range(len(rows))], source, task)


def _model_cure(task: Task) -> str:
    return f"these targets call for {MODELS[task]}"


def _features(values: Features, client: int, width: int) -> Features:
    name = f"features[{client}]"
    array: Any = read_only_csr(values) if is_sparse(values) and values.dtype.kind in "biuf" else _as_array(values, name)
    if array.dtype.kind not in "biuf" or array.ndim != 2 or 0 in array.shape or array.shape[1] != width:
        problem = f"must be numbers of shape (n_k, {width}) with n_k >= 1 and one column per feature name"
        raise InvalidInput(name, f"{array.dtype} of shape {array.shape}", problem, "repair it, drop empty clients")
    if is_sparse(array):
        if not np.isfinite(array.data).all():
            raise InvalidInput(name, array, "has entries that are not finite", "remove or repair the samples")
        return array
    array = array.astype(np.float64, copy=False).view()  # a view: read-only here, not for its owner
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        row, column = map(int, bad[0])
        place = f"{name}[{row}, {column}]"
        raise InvalidInput(place, float(array[row, column]), "is not finite", "remove or repair the sample")
    array.flags.writeable = False
    return np.asarray(array)


def _as_array(values: object, argument: str) -> np.ndarray:
    try:
        return np.asarray(from_torch(values, argument) if is_tensor(values) else values)
    except ValueError:
        raise InvalidInput(argument, values, "is ragged", "give rows of equal length") from None


def _joined(targets: Sequence[np.ndarray]) -> np.ndarray:
    arrays = [_as_array(array, f"targets[{k}]") for k, array in enumerate(targets)]
    if len({array.dtype.kind in "USO" for array in arrays}) > 1:
        raise InvalidInput("targets", targets, "are text for some clients and numbers for others", "make them alike")
    if any(array.ndim != 1 for array in arrays):
        raise InvalidInput("targets", [array.shape for array in arrays], "must have shapes (n_k,)", "flatten them")
    for array in arrays:  # before concatenating, which would turn integers beside floats into rounded floats
        if array.dtype.kind in "iu":
            as_targets(array)
    return np.concatenate(arrays)


def _split(pooled: np.ndarray, sizes: Sequence[int], given: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    for k, (array, size) in enumerate(zip(given, sizes, strict=True)):
        if len(array) != size:
            problem = f"has another length than features[{k}], which has {size} rows"
            raise InvalidInput(f"targets[{k}]", f"{len(array)} values", problem, "give one target per row")
    pooled.flags.writeable = False
    ends = np.cumsum([0, *sizes])
    return tuple(pooled[start:end] for start, end in pairwise(ends))
