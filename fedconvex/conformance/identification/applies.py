"""Predicates of setups, which say where an edit can be, and small parts of hooks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fedconvex.conformance.identification.edits import Applies, Hook
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import Averaging, FedNova
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.methods.scaffold import Scaffold
from fedconvex.methods.server_optimizer import ServerOptimizer


def always(setup: Setup) -> bool:
    """True for every method."""
    return True


def of_method(*classes: type, **values: Any) -> Applies:
    """Whether the method is of one of these classes, and has these values of its parameters."""
    return lambda setup: (
        isinstance(setup.method, classes) and all(getattr(setup.method, n) == value for n, value in values.items())
    )


def other_than(**values: Any) -> Applies:
    """Whether the method has these parameters, none of them with this value."""
    return lambda setup: all(getattr(setup.method, name, value) != value for name, value in values.items())


def takes_steps(least: int = 1) -> Applies:
    """Whether clients take at least this many local steps."""
    return lambda setup: setup.path_length is not None and setup.effort is not None and setup.effort >= least


def steps_repeatedly(setup: Setup) -> bool:
    """Whether local work has more than one step: several steps or epochs, or several batches."""
    return setup.path_length is not None and setup.most_steps is not None and setup.most_steps > 1


def both(*predicates: Applies) -> Applies:
    """Whether all of the predicates hold."""
    return lambda setup: all(predicate(setup) for predicate in predicates)


def but(predicate: Applies) -> Applies:
    """Whether the predicate does not hold."""
    return lambda setup: not predicate(setup)


def is_proximal(setup: Setup) -> bool:
    """Whether the method has a proximal term."""
    return bool(setup.method.proximal_weight != 0)


def without(name: str) -> Applies:
    """Whether clients take local steps with none of this: "momentum", "weight_decay", "clip"."""
    return lambda setup: setup.path_length is not None and not getattr(setup.solver, name, None)


def has_momentum(setup: Setup) -> bool:
    """Whether the local steps have momentum."""
    return isinstance(setup.solver, SGD) and bool(setup.solver.momentum != 0)


def averages(setup: Setup) -> bool:
    """Whether the server's step contains an average over the active clients."""
    method = setup.method
    of_all = (isinstance(method, FedSplit) and method.server == "all") or isinstance(method, RegularizedFedSplit)
    return not of_all and not (isinstance(method, FedADMM) and method.server_stepsize is None)


def of_models(setup: Setup) -> bool:
    """Whether the average is one of the clients' models, not of steps or of z_k."""
    averages_models = isinstance(setup.method, Averaging | DynamicRegularization)
    return averages_models and not isinstance(setup.method, FedNova | ServerOptimizer)


def is_weighted(setup: Setup) -> bool:
    """Whether averages have weights by samples."""
    return setup.weighted or not setup.method.plain


def with_parameters(**changed: Any) -> Callable[..., Setup]:
    """The setup with these parameters of the method; a function gives the new value from the old one."""

    def change(setup: Setup, value: float | None = None) -> Setup:
        values = {n: new(getattr(setup.method, n)) if callable(new) else new for n, new in changed.items()}
        return replace(setup, method=replace(setup.method, **values))  # type: ignore[type-var]

    return change


def in_first_round(hook: Hook) -> Hook:
    """The hook in the first round only."""
    return lambda v, x: hook(v, x) if v.t == 0 else x


def server_to(point: Callable[[Any, Any], Any]) -> Hook:
    """The hook of `update` after which the server is at point(view, state)."""

    def change(v: Any, r: Any) -> None:
        r.server = point(v, r)

    return change


def memory_of(method: Any) -> str:
    """The entry of the clients' memory that is in the subproblem's linear term, or FedSplit's z_k."""
    if isinstance(method, Scaffold):
        return "c"
    if isinstance(method, FedSplit | RegularizedFedSplit):
        return "z"
    return "gradient" if isinstance(method, DynamicRegularization) else "dual"


def mean_over_all(v: Any, rows: Any) -> Any:
    """The mean over all m clients of rows that are 0 for those who are inactive."""
    if v.play.setup.weighted:
        return v.all_weights[v.active] @ rows
    return rows.sum(0) / v.m


def stored(v: Any, r: Any, rows: Any, follows: bool = True) -> None:
    """Stores these rows of the clients' memory; the server's step and memory, which read it, follow."""
    name, method = memory_of(v.method), v.method
    change = rows - r.memory[name]
    r.memory[name] = rows
    if not follows:
        return
    if isinstance(method, Scaffold):
        r.shared["c"] = r.shared["c"] + mean_over_all(v, change)
    elif isinstance(method, DynamicRegularization):
        r.shared["h"] = r.shared["h"] + mean_over_all(v, change)
        r.server = r.server - mean_over_all(v, change) / method.alpha
    elif isinstance(method, FedPD):
        r.server = r.server + method.eta * v.average(change)
    elif isinstance(method, FedADMM):
        r.server = r.server + admm_step(v, change / method.rho)
    elif getattr(method, "server", "all") == "all":
        r.server = r.server + mean_over_all(v, change)
    else:
        r.server = r.server + v.average(change)


def admm_step(v: Any, change: Any) -> Any:
    """By how much FedADMM's server moves, given the participants' changes, (K, d)."""
    stepsize = v.method.server_stepsize
    return mean_over_all(v, change) if stepsize is None else stepsize * v.average(change)


def shortened(vector: Any, length: float, always: bool = False) -> Any:
    """The vector scaled to this length; only where it is longer, unless `always`."""
    size = float(np.linalg.norm(vector))
    return vector * (length / size) if size > 0 and (always or size > length) else vector


def last_tensor(v: Any) -> Any:
    """Which entries of the model belong to its last tensor: its bias."""
    classes = getattr(v.play.scenario.base, "num_classes", 1)
    return np.arange(v.play.dim) >= v.play.dim - classes
