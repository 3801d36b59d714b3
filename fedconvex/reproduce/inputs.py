"""The inputs of an experiment's runs: its problems, data and methods from its TOML sections, and its data files."""

import json
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedconvex import data as data_of
from fedconvex import participation
from fedconvex.data.federated import FederatedData
from fedconvex.errors import InvalidInput
from fedconvex.expressions import evaluate
from fedconvex.local_solvers import LOCAL_SOLVERS
from fedconvex.methods import METHODS
from fedconvex.participation import Stragglers
from fedconvex.reproduce.specification import OF_METHODS, Experiment
from fedconvex.reproduce.toml_files import Section

if TYPE_CHECKING:
    from torch import nn

    from fedconvex.problems.base import Problem
    from fedconvex.sweeps import Setting


class Files(NamedTuple):
    """The files of a data set: patterns relative to the data directory, and where to get them."""

    patterns: tuple[str, ...]
    origin: str


MNIST = ("train-images*", "train-labels*", "t10k-images*", "t10k-labels*")
LEAF = "the benchmark LEAF, whose preprocessing writes JSON"
FILES = {
    "mnist": Files(tuple(f"mnist/{name}" for name in MNIST), "fedconvex deep download mnist --data-dir DIR/mnist"),
    "cifar10": Files(("cifar10/*",), "fedconvex deep download cifar10 --data-dir DIR/cifar10"),
    "cifar100": Files(("cifar100/*",), "fedconvex deep download cifar100 --data-dir DIR/cifar100"),
    "emnist": Files(("emnist/*letters-train-images*",), "the EMNIST page of NIST, archive gzip.zip"),
    "femnist": Files(("femnist/*.json*",), LEAF),
    "sent140": Files(("sent140/*.json*", "sent140/glove.6B.300d.txt"), LEAF + "; the word vectors from the GloVe page"),
    "shakespeare": Files(("shakespeare/*",), "fedconvex deep download shakespeare --data-dir DIR/shakespeare"),
    "fedprox_logs": Files(("fedprox_logs/*.csv*",), "curves of the released FedProx code, one CSV file"),
}
SYNTHETIC = {name: getattr(data_of, name) for name in ("synthetic", "synthetic_iid", "feddyn_synthetic")}
FAMILIES = {
    name: getattr(data_of, name)
    for name in ("fedsplit_least_squares", "fedsplit_logistic", "conditioned_least_squares")
}
FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "min": min, "max": max}


class DeepInputs(NamedTuple):
    """The inputs of a deep run: one pair (inputs, targets) for each client, the held-out pair, the model."""

    clients: list[tuple[np.ndarray, np.ndarray]]
    test: tuple[np.ndarray, np.ndarray] | None
    model: "nn.Module"


def missing(experiment: Experiment, data_dir: Path | None) -> str | None:
    """A sentence on the missing data files: which, where they were expected, how to get them. None if all exist."""
    lacking = []
    for name in experiment.needs:
        files = FILES[name]
        absent = [p for p in files.patterns if data_dir is None or not any(data_dir.glob(p))]
        if absent:
            lacking.append(f"{', '.join(absent)} ({files.origin})")
    if not lacking:
        return None
    place = (
        "no data directory was given: --data-dir DIR or FEDCONVEX_DATA" if data_dir is None else f"not in {data_dir}"
    )
    return f"needs {'; '.join(lacking)}; {place}"


def problem_of(experiment: Experiment, label: str, seed: int) -> "Problem":
    """The convex problem of the data entry `label`, generated with this seed."""
    found = _federated(experiment, label, seed)
    if isinstance(found, FederatedData):
        found = found.problem(ridge=experiment.run.get("ridge", 0.0))
    problem: Problem = found
    return problem


def task_of(experiment: Experiment, label: str, seed: int, data_dir: Path | None) -> DeepInputs:
    """The samples of the data entry `label`, with the part that `run.test` holds out, and the initial model.

    Linear models start at 0, unless run.zero is false; networks at PyTorch's default initialisation, from the seed.
    """
    section, options = _plain(experiment.data[label]), experiment.run
    share = {"test": options["test"]} if "test" in options else {}
    if section["name"] in SYNTHETIC:
        whole = _federated(experiment, label, seed)
        kept, held = data_of.train_test_split(whole, share["test"], seed) if share else (whole, None)
        tried = None if held is None else (np.concatenate(held.features), np.concatenate(held.targets))
        pairs = list(zip(kept.features, kept.targets, strict=True))
        task = DeepInputs(pairs, tried, _linear(pairs, int(whole.classes.size)))
    else:
        from fedconvex.deep.config import config_of
        from fedconvex.deep.sources import load

        place = {"data_dir": section.pop("folder")} if "folder" in section else {}
        section = {"seed": seed} | share | section | place
        if "model" in options:
            # config_of requires these sections; the experiment's own methods and rounds come from `setting_of`
            unused = {"method": {"name": "FedGD", "stepsize": 1}, "run": {"rounds": 0}}
            sections = {"data": section, "model": {"seed": seed} | options["model"], **unused}
            ready = config_of(sections, data_dir or Path())
            task = DeepInputs(ready.source.clients, ready.source.test, ready.model)
        else:
            source = load(folder=data_dir or Path(), **section)
            task = DeepInputs(source.clients, source.test, _linear(source.clients, source.num_classes))
    if options.get("zero", "model" not in options):
        import torch

        with torch.no_grad():
            for parameter in task.model.parameters():
                parameter.zero_()
    return task


def _linear(pairs: list[tuple[np.ndarray, np.ndarray]], classes: int) -> "nn.Module":
    from fedconvex.deep.models import logistic_regression

    return logistic_regression(int(np.prod(pairs[0][0].shape[1:])), classes)


def setting_of(experiment: Experiment, label: str, problem: "Problem | None" = None) -> "Setting":
    """The method `label` with its local solver, participation and stragglers; `problem` evaluates formulas in them."""
    from fedconvex.sweeps import Setting

    section, where = experiment.methods[label], f"{experiment.id}: methods.{label}"
    own = {key: value for key, value in section.items() if key not in OF_METHODS or key == "name"}
    # a method's own section takes precedence over the run's, key by key
    parts: dict[str, Any] = {}
    for part, classes in (("local_solver", LOCAL_SOLVERS), ("participation", vars(participation))):
        given = dict(experiment.run.get(part, {})) | dict(section.get(part, {}))
        if given:
            parts[part] = _instance(classes, given, f"{where}.{part}", problem)
    late = dict(experiment.run.get("stragglers", {})) | dict(section.get("stragglers", {}))
    if late:
        parts["stragglers"] = _called(Stragglers, late, f"{where}.stragglers", problem)
    return Setting(_instance(METHODS, own, where, problem), **parts)


@lru_cache(maxsize=1)  # the methods of a sweep ask for the same data one after the other
def _data(name: str, options: str, where: str) -> Any:
    """options: as JSON, since lists have no hash."""
    return _made((SYNTHETIC | FAMILIES)[name], json.loads(options), where)


def _federated(experiment: Experiment, label: str, seed: int) -> Any:
    """The data of a synthetic entry, which need no files."""
    section = {"seed": seed} | _plain(experiment.data[label])
    name, where = section.pop("name"), f"{experiment.id}: data.{label}"
    known = SYNTHETIC | FAMILIES
    if name not in known:
        raise InvalidInput(f"{where}.name", name, "is no synthetic data set", f"give one of {', '.join(known)}")
    _require_taken(known[name], section, where)
    return _data(name, json.dumps(section, sort_keys=True), where)


def _plain(section: Section) -> dict[str, Any]:
    return {key: value for key, value in section.items() if key != "family"}


def _instance(classes: Mapping[str, Any], section: Section, where: str, problem: "Problem | None") -> Any:
    """The object that a section describes: the class of its `name`, called with its other keys."""
    given = dict(section)
    name = given.pop("name", None)
    if not isinstance(classes.get(str(name)), type):
        raise InvalidInput(f"{where}.name", name, "is unknown", "give the name of a class of fedconvex")
    return _called(classes[str(name)], given, where, problem)


def _called(function: Callable[..., Any], given: Section, where: str, problem: "Problem | None") -> Any:
    _require_taken(function, given, where)
    return _made(function, {key: _number(value, problem, f"{where}.{key}") for key, value in given.items()}, where)


def _made(function: Callable[..., Any], values: Section, where: str) -> Any:
    """The function's result; what it refuses becomes an error that names the place in the file."""
    try:
        return function(**values)
    except MemoryError:
        raise InvalidInput(where, dict(values), "takes more memory than there is", "give smaller sizes") from None
    except (InvalidInput, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise InvalidInput(where, dict(values), str(error), f"see the help of {function.__name__}") from None


def _require_taken(function: Callable[..., Any], given: Section, where: str) -> None:
    """Raises InvalidInput for a key that is no argument of the function."""
    takes = signature(function).parameters
    for key in given:
        if key not in takes:
            raise InvalidInput(f"{where}.{key}", given[key], "is unknown", f"known: {', '.join(takes)}")


def _number(value: Any, problem: "Problem | None", where: str) -> Any:
    """The value; a string "=…" is a formula in L, mu, kappa, m, and L_here, mu_here (see `constants`)."""
    if not (isinstance(value, str) and value.startswith("=")):
        return value
    if problem is None:
        raise InvalidInput(where, value, "is a formula, which only convex problems can evaluate", "give a number")
    return float(evaluate(value[1:], FUNCTIONS | constants(problem, "_here" in value), where))


def constants(problem: "Problem", here: bool = False) -> dict[str, float]:
    """L = max_k L_k, mu = min_k mu_k, kappa, m; `here`: also the clients' extreme curvatures at x*."""
    L, mu = float(problem.L.max()), float(problem.mu.min())
    found = {"L": L, "mu": mu, "kappa": L / mu if mu > 0 else math.inf, "m": problem.num_clients}
    if here:
        from fedconvex.ground_truths import ground_truth

        point = np.asarray(ground_truth(problem).point)
        curvatures = np.linalg.eigvalsh(problem.client_hessians(point))
        found |= {"L_here": float(curvatures.max()), "mu_here": float(curvatures.min())}
    return found
