"""What the formulas of edits are written in: facts of setups, functions, and the parts of the server's update."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Scalar, nearest_float, to_fmpq
from fedconvex.conformance.batches import first_batch_only, first_epoch_again, full_ones, of_first_round
from fedconvex.conformance.identification.formulas import function_of
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import Averaging, FedNova
from fedconvex.methods.dane import DANE, FedDANE, FedLin, GradientCorrected
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization, FedDyn
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.methods.personal_models import Ditto, PFedMe
from fedconvex.methods.scaffold import Scaffold
from fedconvex.methods.server_optimizer import AdaptiveServerOptimizer, FedAdam, FedAvgM, FedYogi, ServerOptimizer

BETAS, ROOM = (0.9, 0.999), 1e-8  # torch.optim.Adam's defaults
METHODS = (
    AdaptiveServerOptimizer, Averaging, DANE, Ditto, DynamicRegularization, FedADMM, FedAdam, FedAvgM, FedDANE, FedDyn,
    FedLin, FedNova, FedPD, FedSplit, FedYogi, GradientCorrected, PFedMe, RegularizedFedSplit, Scaffold,
    ServerOptimizer,
)  # fmt: skip

# --- facts of a setup, by the names in `where` --------------------------------------------------------------------


def without(name: str) -> Callable[[Setup], bool]:
    """Whether clients take local steps with none of this."""
    return lambda setup: setup.path_length is not None and not getattr(setup.solver, name, None)


def averages(setup: Setup) -> bool:
    """Whether the server's step contains an average over the active clients."""
    method = setup.method
    of_all = (isinstance(method, FedSplit) and method.server == "all") or isinstance(method, RegularizedFedSplit)
    return not of_all and not (isinstance(method, FedADMM) and method.server_stepsize is None)


def of_models(setup: Setup) -> bool:
    """Whether the average is one of the clients' models, not of steps or of z_k."""
    averages_models = isinstance(setup.method, Averaging | DynamicRegularization)
    return averages_models and not isinstance(setup.method, FedNova | ServerOptimizer)


def adds_steps(setup: Setup) -> bool:
    """Whether the server adds the clients' steps to its model, which no other rule of theirs refers to."""
    if isinstance(setup.method, Scaffold):
        return setup.method.option == 2  # option I has a gradient at the server's model
    return isinstance(setup.method, FedNova | ServerOptimizer)


def is_proximal(setup: Setup) -> bool:
    """Whether the method has a proximal term."""
    return bool(setup.method.proximal_weight != 0)


def has(setup: Setup, name: str) -> bool:
    """Whether the method has this parameter, in use and not 0."""
    exists = any(f.name == name for f in fields(setup.method))  # type: ignore[arg-type]
    # with a local solver of its own, a method without a proximal term reads no stepsize
    unused = name == "stepsize" and setup.given is not None and not is_proximal(setup)
    numbers = Fraction | float | int | type(to_fmpq(1.0))  # the last one: of exact setups
    return exists and not unused and isinstance(getattr(setup.method, name) or None, numbers)


FACTS: Mapping[str, Callable[[Setup], Any]] = {
    "adds_steps": adds_steps,
    "averages": averages,
    "given_steps": lambda setup: setup.given is not None and setup.path_length is not None,
    "has": lambda setup: lambda name: has(setup, name),
    "has_memory": lambda setup: isinstance(setup.method, Scaffold | DynamicRegularization | FedPD | FedADMM),
    "has_momentum": lambda setup: isinstance(setup.solver, SGD) and bool(setup.solver.momentum != 0),
    "most_batches": lambda setup: setup.most_batches,
    "no_clip": without("clip"),
    "no_momentum": without("momentum"),
    "no_weight_decay": without("weight_decay"),
    "of_models": of_models,
    "own_solver": lambda setup: setup.given is None,
    "proximal": is_proximal,
    "repeated": lambda setup: setup.path_length is not None and setup.most_steps is not None and setup.most_steps > 1,
    "solver": lambda setup: setup.solver,
    "steps": lambda setup: 0 if setup.path_length is None or setup.effort is None else setup.effort,
    "weighted": lambda setup: setup.weighted or not setup.method.plain,  # averages have weights by samples
    **{kind.__name__: lambda setup, kind=kind: isinstance(setup.method, kind) for kind in METHODS},  # type: ignore[misc]
}


def fact(setup: Setup, name: str) -> Any:
    """What a name in `where` stands for: a fact, or a parameter of the method."""
    return FACTS[name](setup) if name in FACTS else getattr(setup.method, name)


def shown(value: Scalar) -> str:
    """A parameter of the method, as messages have it."""
    return f"{nearest_float(value):.6g}"


# --- who takes part -----------------------------------------------------------------------------------------------


def everyone(active: Any, efforts: Any, effort: int, m: int) -> Any:
    """All clients; those that the schedule leaves out do the full work."""
    known = dict(zip(active, efforts, strict=True))
    return list(range(m)), [known.get(k) for k in range(m)]


def only_full_work(active: Any, efforts: Any, effort: int, m: int) -> Any:
    """The draw without the clients that do less than the full work."""
    kept = [i for i, own in enumerate(efforts) if own is None or own == effort]
    return [active[i] for i in kept], [efforts[i] for i in kept]


def all_of_the_work(active: Any, efforts: Any, effort: int, m: int) -> Any:
    """The draw in which every client does the full work."""
    return active, [None] * len(active)


# --- local work ---------------------------------------------------------------------------------------------------


def velocity(v: Any, x: Any, momentum: float, of: int | None = None) -> Any:
    """Momentum whose velocity begins at 0 in every round, or lasts for each client k, or for all (−1) together."""
    memo = v.local if of is None else v.keep
    moving = memo["velocity", of] = momentum * memo.get(("velocity", of), 0) + x
    return moving


def squares(v: Any, x: Any, old: float, new: float) -> Any:
    """The gradients' squares so far, the old and the new ones with these weights."""
    total = v.local["squares"] = old * v.local.get("squares", 0) + new * x * x
    return total


def adam(v: Any, x: Any, first: int, second: int, largest: int = 0) -> Any:
    """Adam's direction; `first`, `second`: whether the moments are corrected for their start."""
    m, s, most = v.local.get("moments", (0 * x, 0 * x, 0 * x))
    m, s = BETAS[0] * m + (1 - BETAS[0]) * x, BETAS[1] * s + (1 - BETAS[1]) * x * x
    most = np.maximum(most, s)
    v.local["moments"] = (m, s, most)
    used = (most if largest else s) / (1 - BETAS[1] ** (v.j + 1) if second else 1)
    return m / (1 - BETAS[0] ** (v.j + 1) if first else 1) / (np.sqrt(used) + ROOM)


def previous_end(v: Any, x: Any) -> Any:
    """Where the client before this one ended in this round; the first one's own."""
    return x if v.prev is None else v.prev_end


def half(x: Any) -> Any:
    """The vector in float16."""
    return x.astype(np.float16).astype(float)


def shortened(vector: Any, length: float, always: int = 0) -> Any:
    """The vector scaled to this length; only where it is longer, unless `always`."""
    size = float(np.linalg.norm(vector))
    return vector * (length / size) if size > 0 and (always or size > length) else vector


# --- memory -------------------------------------------------------------------------------------------------------


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


def admm_step(v: Any, change: Any) -> Any:
    """By how much FedADMM's server moves, given the participants' changes, (K, d)."""
    stepsize = v.method.server_stepsize
    return mean_over_all(v, change) if stepsize is None else stepsize * v.average(change)


def stored(v: Any, r: Any, rows: Any) -> None:
    """Stores these rows of the clients' memory; the server's step and memory, which read it, follow."""
    name, method = memory_of(v.method), v.method
    change = rows - r.memory[name]
    r.memory[name] = rows
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


def shared_linear(v: Any, x: Any) -> Any:
    """The linear term from the one memory that all clients have."""
    if v.i == 0:
        v.keep["begun"] = []
    one = v.keep.setdefault("memory", 0 * v.w)
    v.keep["begun"].append(one)
    return -one if memory_of(v.method) == "gradient" else one


def shared_growth(v: Any, x: Any) -> Any:
    """The local model, which also moves the one memory on."""
    method, step = v.method, x - v.w
    if hasattr(method, "alpha"):
        growth = -method.alpha * step
    else:
        growth = step * method.rho if hasattr(method, "rho") else step / method.eta
    v.keep["memory"] = v.keep["memory"] + growth
    return x


def variate_without_newcomers(v: Any, x: Any) -> Any:
    """c changes by newcomers alone: for the others old and new c_k are one buffer, and cancel."""
    newcomers = np.array([[v.play.seen[k] < 0] for k in v.active])
    return v.shared["c"] + mean_over_all(v, (v.r.memory["c"] - v.memory["c"]) * newcomers)


# --- the server ---------------------------------------------------------------------------------------------------


def in_single_precision(v: Any, x: Any) -> Any:
    """The average with weights that are rounded to float32."""
    rows, ones = v.rows, np.eye(len(v.active))[:, :, None] + np.zeros(len(x))
    rest = v.average(0 * rows, but=in_single_precision)  # what another edit adds to the clients' rows
    weights = np.array([(v.average(one, but=in_single_precision) - rest)[0] for one in ones])
    return weights.astype(np.float32).astype(float) @ rows + rest


def with_inactive(v: Any, x: Any) -> Any:
    """The average over all m clients: inactive ones count with the last model that they sent."""
    last = v.all_last.copy()
    last[v.active] = v.answers
    return x - v.average(v.answers) + v.all_weights @ last


def counted(v: Any, x: Any) -> Any:
    """The path as a number of steps, without what momentum repeats."""
    solver = v.play.setup.solver
    size = float(solver.stepsize) * float(solver.decay) ** v.t
    batches = 1 if solver.steps is not None or solver.batch_size is None else -(-v.n // solver.batch_size)
    return 0 * x + size * v.work * batches


def moving_average(v: Any, x: Any) -> Any:
    """The exponential moving average of the server's models."""
    average = v.keep["shown"] = v.value * v.keep.get("shown", v.before) + (1 - v.value) * x
    return average


class _Signs:
    """What `second_moment` needs of a cohort."""

    sign = staticmethod(np.sign)


def second_by(v: Any, old: Any, square: Any, kind: Any = None) -> Any:
    """The second moment by the method's rule, or by another method's."""
    return (kind or type(v.method)).second_moment(v.method, old, square, _Signs)


def corrected(v: Any, s: Any, first: int, second: int, in_the_stepsize: int = 0) -> Any:
    """Adam's correction of moments that start at 0: of each, or in the stepsize, so that τ is not divided."""
    own, t = v.method, v.t + 1
    share = 1 - own.beta2**t if second else 1.0
    tau = own.tau / np.sqrt(share) if in_the_stepsize else own.tau
    return v.first / (1 - own.beta1**t if first else 1) / (np.sqrt(s / share) + tau)


FUNCTIONS: Mapping[str, Any] = {
    **{
        function.__name__: function
        for function in (
            adam, admm_step, all_of_the_work, corrected, counted, everyone, first_batch_only, first_epoch_again,
            full_ones, half, in_single_precision, len, max, min, moving_average, of_first_round, only_full_work,
            previous_end, second_by, shared_growth, shared_linear, shortened, squares, sum, variate_without_newcomers,
            velocity, with_inactive,
        )
    },
    **{name: getattr(np, name) for name in ("clip", "median", "sign", "sqrt", "trunc", "where")},
    "norm": np.linalg.norm, "FedAdam": FedAdam, "FedYogi": FedYogi,
}  # fmt: skip


# --- the parts of the server's update, by the names that stand for its site: (view, state after it, formulas) -----


def after_rows(v: Any, r: Any, given: Mapping[str, Any]) -> None:
    """New rows of the clients' memory; `rows_alone`: nothing that the server computes follows."""
    name = memory_of(v.method)
    if "rows" in given:
        stored(v, r, given["rows"](v, r.memory[name]))
    else:
        r.memory[name] = given["rows_alone"](v, r.memory[name])


def after_momentum(v: Any, r: Any, given: Mapping[str, Any]) -> None:
    """FedAvgM's update with another m, a formula of the old one, or another move, a formula of the new one."""
    b, old = v.method.momentum, v.shared["momentum"]
    m = r.shared["momentum"] = given["momentum"](v, old) if "momentum" in given else b * old + v.delta
    right = b * m + v.delta if v.method.nesterov else m
    r.server = v.w + v.method.server_stepsize * (given["move"](v, m) if "move" in given else right)


def after_moments(v: Any, r: Any, given: Mapping[str, Any]) -> None:
    """An adaptive update with other moments, formulas of the old ones, or another move, a formula of the second one."""
    for name in ("first_moment", "second_moment"):
        if name in given:
            r.shared[name] = given[name](v, v.shared[name])
    v.first, second = r.shared["first_moment"], r.shared["second_moment"]
    right = v.first / (np.sqrt(second) + v.method.tau)
    move = given["adaptive_move"](v, second) if "adaptive_move" in given else right
    r.server = v.w + v.method.server_stepsize * move


def after_server(v: Any, r: Any, given: Mapping[str, Any]) -> None:
    """Another server's model, a formula of the right one."""
    r.server = given["server"](v, r.server)


def after_variate(v: Any, r: Any, given: Mapping[str, Any]) -> None:
    """SCAFFOLD's c, a formula of the right one."""
    r.shared["c"] = given["c"](v, r.shared["c"])


UPDATES: Mapping[str, Callable[[Any, Any, Mapping[str, Any]], None]] = {
    "rows": after_rows,
    "rows_alone": after_rows,
    "c": after_variate,
    "momentum": after_momentum,
    "move": after_momentum,
    "first_moment": after_moments,
    "second_moment": after_moments,
    "adaptive_move": after_moments,
    "server": after_server,
}


def of_memory(formula: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The hook of `read` and `updates` in which the correction's vector is a formula of the stored one."""

    def hook(v: Any, memory: Any) -> Any:
        name = memory_of(v.method)
        return {name: formula(v, memory[name])}

    return hook


def of_personal(parts: Mapping[str, Any]) -> Callable[[Any, Any], Any]:
    """The hook of a personal model's subproblem, with formulas of its start, centre and weight."""
    formulas = [parts.get(f"own_{name}", lambda v, x: x) for name in ("start", "center", "weight")]
    return lambda v, x: tuple(formula(v, one) for formula, one in zip(formulas, x, strict=True))


def of_update(given: Mapping[str, Any]) -> Callable[[Any, Any], None]:
    """The hook of the update with these formulas in it, which see the state after it as `r`."""
    parts = list(dict.fromkeys(UPDATES[name] for name in UPDATES if name in given))

    def hook(v: Any, r: Any) -> None:
        v.r = r
        for part in parts:
            part(v, r, given)

    return hook


def with_parameters(method: Mapping[str, Any], solver: Mapping[str, Any]) -> Callable[..., Setup]:
    """Other parameters of the method, and of the solver that the user passed: values, or formulas after a sign =.

    In these x is the unknown number, and other names are the parameters.
    """

    def of(given: Mapping[str, Any], owner: Any, value: float | None) -> Any:
        number = None if value is None else to_fmpq(value)
        changed = {
            name: function_of(one[2:], {})(owner, number) if isinstance(one, str) and one.startswith("= ") else one
            for name, one in given.items()
        }
        return replace(owner, **changed)

    def change(setup: Setup, value: float | None = None) -> Setup:
        given = of(solver, setup.solver, value) if solver else setup.given
        return replace(setup, method=of(method, setup.method, value) if method else setup.method, given=given)

    return change
