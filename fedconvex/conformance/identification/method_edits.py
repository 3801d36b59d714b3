"""Edits of single methods: their corrections, the memory of clients and server, personal models, and parameters."""

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Scalar, nearest_float, to_fmpq
from fedconvex.conformance.identification.applies import (
    admm_step,
    always,
    both,
    has_momentum,
    in_first_round,
    is_proximal,
    mean_over_all,
    memory_of,
    of_method,
    other_than,
    server_to,
    stored,
    takes_steps,
    with_parameters,
)
from fedconvex.conformance.identification.edits import (
    CORRECTION,
    MEMORY,
    MEMORY_RULE,
    NORMALISED,
    PARAMETERS,
    PERSONAL,
    PULL,
    REFLECTION,
    SERVER_MEMORY,
    SERVER_STEP,
    START,
    Applies,
    Hook,
    Rule,
    UnknownNumber,
)
from fedconvex.conformance.identification.local_edits import ONE_WEIGHT, SCALINGS
from fedconvex.conformance.setup import Setup
from fedconvex.methods.averaging import FedNova
from fedconvex.methods.dane import DANE, FedDANE, FedLin, GradientCorrected
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization, FedDyn
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.methods.personal_models import Ditto, PFedMe
from fedconvex.methods.scaffold import Scaffold

FACTOR = UnknownNumber((-1.0, 0.1, 0.5, 2.0), 1.0)
OF_ALL = of_method(FedSplit, server="all")
WITH_MEMORY = of_method(Scaffold, DynamicRegularization, FedPD, FedADMM)


def of_correction(rows: Callable[[Any, Any], Any]) -> Hook:
    """The hook of `read` and `updates` in which the correction's vector is rows(view, stored one)."""
    return lambda v, memory: {memory_of(v.method): rows(v, memory[memory_of(v.method)])}


# --- what is the same for all methods with a memory ---


def forgotten(v: Any, row: Any) -> Any:
    """0 for a client that was inactive in the last round."""
    return row if v.seen == v.t - 1 else 0 * row


def new_memory(rows: Callable[[Any, Any], Any], follows: bool = True) -> Hook:
    """The update after which the memory is rows(view, right new rows)."""
    return lambda v, r: stored(v, r, rows(v, r.memory[memory_of(v.method)]), follows)


def old_rows(v: Any) -> Any:
    """The participants' memory before the round."""
    return v.memory[memory_of(v.method)]


def wrong_sign(v: Any, r: Any) -> None:
    """The memory that changes the other way."""
    stored(v, r, 2 * old_rows(v) - r.memory[memory_of(v.method)], isinstance(v.method, FedPD | FedADMM))


def shared_linear(v: Any, x: Any) -> Any:
    """The linear term from the one memory that all clients have."""
    name = memory_of(v.method)
    if v.i == 0:
        v.keep["begun"] = []
    one = v.keep.setdefault("memory", 0 * v.w)
    v.keep["begun"].append(one)
    return -one if name == "gradient" else one


def shared_growth(v: Any, x: Any) -> Any:
    """The local model, which also moves the one memory on."""
    method, step = v.method, x - v.w
    growth = (
        -method.alpha * step
        if hasattr(method, "alpha")
        else step * getattr(method, "rho", None)
        if hasattr(method, "rho")
        else step / method.eta
    )
    v.keep["memory"] = v.keep["memory"] + growth
    return x


CORRECTED = Rule(CORRECTION, WITH_MEMORY)
KEPT = Rule(MEMORY, WITH_MEMORY)
UPDATED = Rule(
    MEMORY_RULE,
    WITH_MEMORY,
    "SCAFFOLD: c_k − c + (w − y_k)/(Ks); FedDyn: g_k − alpha(θ_k − w); FedPD: λ_k + (θ_k − w)/eta",
)
EARLIER = "correct the local steps with the values that the client had at the beginning of the round"
SERVER = Rule(
    SERVER_MEMORY,
    lambda setup: of_method(Scaffold, DynamicRegularization)(setup) or OF_ALL(setup),
    "add (1/m)·Σ of the clients' changes, m counting all clients",
)
NOT_SPLIT = of_method(Scaffold, DynamicRegularization)
MEMORY_EDITS = (
    CORRECTED.broken(
        "the correction of the local gradient has the wrong sign",
        "SCAFFOLD: gradient − c_k + c; FedDyn: gradient − g_k; FedPD: gradient + λ_k",
        linear=lambda v, x: -x,
    ),
    CORRECTED.broken(
        "the correction of the local gradient is left out",
        "add the linear term where gradients flow: of the parameters, not of detached copies (.data)",
        linear=lambda v, x: 0 * x,
    ),
    CORRECTED.broken(
        "the correction of the local gradient is multiplied by {}",
        "add the linear term as it is",
        number=FACTOR,
        late=True,
        linear=lambda v, x: v.value * x,
    ),
    KEPT.broken(
        "the clients' memory is never stored",
        "write the new value back to where the next round reads it",
        update=new_memory(lambda v, rows: old_rows(v), follows=False),
    ),
    KEPT.broken(
        "clients share one memory: each goes on with what the one before it left",
        "keep a vector for each client, by its number: one trainer that plays all of them has only one",
        where=of_method(DynamicRegularization, FedPD, FedADMM),
        linear=shared_linear,
        answer=shared_growth,
        updates=lambda v, memory: {memory_of(v.method): v.keep["begun"][v.i]},
    ),
    KEPT.broken(
        "the clients' memory is lost in rounds that they skip",
        "keep the memory of every client for the whole run, whoever takes part",
        read=of_correction(forgotten),
        updates=of_correction(forgotten),
    ),
    SERVER.broken(
        "server memory is divided by |P_t| instead of m", where=NOT_SPLIT, population=lambda v, x: 0 * x + len(v.active)
    ),
    SERVER.broken(
        "server memory is divided by |P_t| instead of m",
        where=OF_ALL,
        update=server_to(lambda v, r: v.w + (r.memory["z"] - v.memory["z"]).sum(0) / len(v.active)),
    ),
    SERVER.broken("server memory is summed, not divided by m", where=NOT_SPLIT, population=lambda v, x: 0 * x + 1),
    SERVER.broken(
        "only the last client's change reaches the server's memory", where=NOT_SPLIT, total=lambda v, x: v.rows[-1]
    ),
    SERVER.broken(
        "the change of the server's memory is multiplied by {}",
        where=NOT_SPLIT,
        number=FACTOR,
        late=True,
        total=lambda v, x: v.value * x,
    ),
    UPDATED.broken("the clients' memory is updated with the wrong sign", update=wrong_sign),
    *(
        UPDATED.broken(
            f"the change of the clients' memory is multiplied by {{}}{how}",
            number=FACTOR,
            late=True,
            update=new_memory(lambda v, rows: old_rows(v) + v.value * (rows - old_rows(v)), follows),
        )
        for follows, how in ((True, ", the server's with it"), (False, ""))
    ),
)

# --- SCAFFOLD ---

SCAFFOLD = of_method(Scaffold)
WITH_C = Rule(CORRECTION, SCAFFOLD, "correct every local step with − c_k + c")
C = Rule(SERVER_MEMORY, SCAFFOLD)
OPTION_I = Rule(MEMORY_RULE, of_method(Scaffold, option=1))
OPTION_II = Rule(
    MEMORY_RULE,
    of_method(Scaffold, option=2),
    "use c_k − c + (w − y_k)/(K·s): K local steps of size s, w and c as they were when the round began",
)
own_solver: Applies = lambda setup: setup.given is None  # noqa: E731 - a predicate, as the imported ones


def server_variate(c: Callable[[Any, Any], Any]) -> Hook:
    """The update with another c."""

    def change(v: Any, r: Any) -> None:
        r.shared["c"] = c(v, r)

    return change


def variate_without_newcomers(v: Any, r: Any) -> None:
    """c changes by newcomers alone: for the others old and new c_k are one buffer, and cancel."""
    change = (r.memory["c"] - v.memory["c"]) * np.array([[v.play.seen[k] < 0] for k in v.active])
    r.shared["c"] = v.shared["c"] + mean_over_all(v, change)


def first_step(v: Any) -> Any:
    """The server's model after the first local step of the first client, before anything corrects that step."""
    return v.w - float(v.method.stepsize) * v.gradients[0]


def moved_to_first_step(v: Any, r: Any) -> None:
    """The server's step from the model that the first local step left."""
    there = first_step(v) - v.w
    r.server = r.server + there


SCAFFOLD_EDITS = (
    *WITH_C.each(
        "linear",
        {
            "the server's control variate is left out of the correction": lambda v, x: x - v.shared["c"],
            "the client's control variate is left out of the correction": lambda v, x: 0 * x + v.shared["c"],
        },
    ),
    C.broken(
        "the server's control variate is never updated",
        "add the mean over all m clients of the changes c_k⁺ − c_k to c, in every round",
        update=server_variate(lambda v, r: v.shared["c"]),
    ),
    C.broken(
        "the server's control variate is the mean of those who took part",
        "add the changes to the old c: the others' control variates stay in the mean",
        update=server_variate(lambda v, r: r.memory["c"].mean(0)),
    ),
    UPDATED.broken(
        "control variates are updated before they are used, and by another rule after it",
        EARLIER,
        where=of_method(Scaffold, option=2),
        read=lambda v, memory: {"c": v.gradients[v.i]},
    ),
    UPDATED.broken(
        "control variates are updated before they are used",
        EARLIER,
        where=SCAFFOLD,
        setup=with_parameters(option=1),
        read=lambda v, memory: {"c": v.gradients[v.i]},
    ),
    OPTION_II.broken(
        "option I is used instead of option II",
        "II takes c_k⁺ from the path of the local steps, I from the gradient at the server's model",
        setup=with_parameters(option=1),
    ),
    OPTION_I.broken(
        "option II is used instead of option I",
        "I takes c_k⁺ from the gradient at the server's model, II from the path of the local steps",
        where=takes_steps(1),
        setup=with_parameters(option=2),
    ),
    *OPTION_II.each(
        "update",
        {
            "option II does not subtract c": new_memory(lambda v, rows: rows + v.shared["c"]),
            "option II adds c instead of subtracting it": new_memory(lambda v, rows: rows + 2 * v.shared["c"]),
            "option II forgets the old c_k": new_memory(lambda v, rows: rows - old_rows(v)),
        },
    ),
    OPTION_II.broken("option II takes the path with the wrong sign", paths=lambda v, x: -x),
    *OPTION_II.each(
        "paths",
        {
            "option II does not divide by the stepsize": lambda v, x: x / float(v.method.stepsize),
            "option II does not divide by the local steps": lambda v, x: 0 * x + float(v.method.stepsize),
            "option II divides by one local step too many": lambda v, x: x + float(v.method.stepsize),
        },
        where=own_solver,
    ),
    OPTION_II.broken(
        "option II divides by the full number of local steps for stragglers, too",
        "K is the number of steps that the client took",
        where=both(own_solver, takes_steps(2)),
        paths=lambda v, x: 0 * x + float(v.method.stepsize) * v.full,
    ),
    OPTION_II.broken("option II multiplies the path by {}", number=FACTOR, late=True, paths=lambda v, x: x / v.value),
    OPTION_II.broken(
        "option II measures the path from the server's new model",
        update=lambda v, r: stored(v, r, r.memory["c"] + (r.server - v.w) / v.lengths),
    ),
    Rule(SERVER_STEP, SCAFFOLD, "w ← w + server_stepsize · mean(y_k − w)").broken(
        "the server's stepsize is ignored",
        where=other_than(server_stepsize=1),
        setup=with_parameters(server_stepsize=1),
    ),
    Rule(SERVER_STEP, SCAFFOLD).broken(
        "the server's stepsize multiplies the average of the models, not of their steps",
        "w ← w + server_stepsize · mean(y_k − w), or the same with models: (1 − stepsize)·w + stepsize·mean(y_k)",
        where=other_than(server_stepsize=1),
        update=server_to(lambda v, r: v.method.server_stepsize * v.average(v.answers)),
    ),
    Rule(START, SCAFFOLD).broken(
        "the server's model keeps the first local step of the first client, in the first round",
        "send copies of the server's model: `param.data = …` ends the sharing only after that step",
        where=takes_steps(1),
        start=in_first_round(lambda v, x: first_step(v) if v.i > 0 else x),
        points=in_first_round(lambda v, x: first_step(v) if v.i > 0 else x),
        update=lambda v, r: moved_to_first_step(v, r) if v.t == 0 else None,
    ),
    Rule(MEMORY, of_method(Scaffold, option=1)).broken(
        "the stored control variates are overwritten before they are used",
        "store a copy of c_k: the tensor that was stored is a buffer into which the next gradient is written",
        read=lambda v, memory: {"c": v.gradients[v.i] if v.seen >= 0 else memory["c"]},
        update=variate_without_newcomers,
    ),
)

# --- FedDyn ---

DYN = of_method(DynamicRegularization)
H = Rule(SERVER_MEMORY, DYN, "h ← h − (alpha/m)·Σ(θ_k − w) over those who take part, m counting all clients")
STEP = Rule(SERVER_STEP, DYN, "w ← mean(θ_k) − h/alpha, with the h of this round")
ALPHA = Rule(PARAMETERS, both(of_method(FedDyn), takes_steps(1)), ONE_WEIGHT.format("alpha"))


def applied(h: Callable[[Any, Any], Any]) -> Hook:
    """The update with w ← mean θ_k + h(view, state) in the place of −h/α."""
    return server_to(lambda v, r: v.average(v.answers) + h(v, r))


def newcomers_start(v: Any, x: Any) -> Any:
    """The mean of the last local models for clients that take part for the first time."""
    return x if v.seen >= 0 else v.last_mean


def own_alpha(by: Any, follows: bool) -> Hook:
    """g_k ← g_k − α_k(θ_k − w), while the server divides by α."""

    def change(v: Any, r: Any) -> None:
        factors = []
        for k in v.active:
            v.k = k
            factors.append([by(v)])
        more = v.method.alpha * (1 - np.array(factors)) * (v.answers - v.w)
        stored(v, r, r.memory["gradient"] + more, follows)

    return change


DYN_EDITS = (
    Rule(START, DYN).broken(
        "clients that take part for the first time start at the mean of the local models, without −h/alpha",
        "send the model from which all others start: mean(θ_k) − h/alpha",
        start=newcomers_start,
        center=newcomers_start,
        points=newcomers_start,
    ),
    Rule(CORRECTION, DYN).broken(
        "the correction of the local gradient is multiplied by alpha",
        "the memory has the factor alpha already: the loss has −⟨g_k, θ⟩",
        linear=lambda v, x: x * float(v.method.alpha),
    ),
    Rule(PULL, DYN).broken(
        "the regulariser has no gradient",
        "form its terms of the parameters themselves: serialised or detached copies (.data) have no gradient",
        linear=lambda v, x: 0 * x,
        weight=lambda v, x: 0 * x,
    ),
    *H.each(
        "total",
        {
            "the server's memory is the mean of those who took part": lambda v, x: (
                v.m * ((v.memory["gradient"] + v.rows).mean(0) - v.shared["h"])
            ),
            "server memory is updated without alpha": lambda v, x: x / float(v.method.alpha),
            "server memory is updated with the wrong sign": lambda v, x: -x,
        },
    ),
    H.broken(
        "server memory measures the changes from the last client's model, not from the server's",
        "keep a copy of the model that the server sent: the one that clients train has moved on",
        total=lambda v, x: (v.rows - v.rows[-1]).sum(0),
    ),
    H.broken(
        "server memory subtracts the server's model once, not from every client's",
        "h ← h − (alpha/m)·Σ(θ_k − w): the bracket that the paper leaves open goes around the difference",
        total=lambda v, x: x - float(v.method.alpha) * (len(v.rows) - 1) * v.w,
    ),
    *STEP.each(
        "update",
        {
            "server memory is applied before it is updated": applied(lambda v, r: -v.shared["h"] / v.method.alpha),
            "server memory is not divided by alpha": applied(lambda v, r: -r.shared["h"]),
            "server memory is applied with the wrong sign": applied(lambda v, r: r.shared["h"] / v.method.alpha),
            "server memory is not applied": applied(lambda v, r: 0),
        },
    ),
    STEP.broken(
        "server memory is applied {} times",
        number=UnknownNumber((-1.0, 0.5, 2.0), 1.0),
        late=True,
        update=applied(lambda v, r: -v.value * r.shared["h"] / v.method.alpha),
    ),
    Rule(SERVER_STEP, DYN).broken(
        "the server adds the mean memory of those who take part, instead of −h/alpha",
        "w ← mean(θ_k) − h/alpha, with h ← h − (alpha/m)·Σ(θ_k − w), m counting all clients",
        update=applied(lambda v, r: r.memory["gradient"].mean(0)),
    ),
    Rule(MEMORY_RULE, DYN, "g_k ← g_k − alpha(θ_k − w) with the w that the client started from").broken(
        "the clients' memory is updated around the server's new model",
        update=lambda v, r: stored(v, r, old_rows(v) - float(v.method.alpha) * (v.answers - r.server), follows=False),
    ),
    *(
        ALPHA.broken(f"alpha is {how}{where}", weight=lambda v, x, by=by: x * by(v), update=own_alpha(by, follows))
        for how, by in SCALINGS
        for follows, where in ((True, ""), (False, " in the clients alone"))
    ),
)

# --- FedNova, FedPD, FedADMM, FedSplit ---

NORMALISING = Rule(
    NORMALISED,
    both(of_method(FedNova), takes_steps(2)),
    "w ← w + (Σ w_k τ_k)·Σ w_k (θ_k − w)/τ_k, τ_k being the number of client k's local steps",
)


def counted(v: Any, x: Any) -> Any:
    """The path as a number of steps, without what momentum repeats."""
    solver = v.play.setup.solver
    size = float(solver.stepsize) * float(solver.decay) ** v.t
    batches = 1 if solver.steps is not None or solver.batch_size is None else -(-v.n // solver.batch_size)
    return 0 * x + size * v.work * batches


def normalised(v: Any, effective: Any) -> Any:
    """w + effective·Σ w_k (θ_k − w)/ℓ_k."""
    return v.w + effective * (v.average((v.answers - v.w) / v.lengths))


to_average = server_to(lambda v, r: v.average(v.answers))
SENT = Rule(
    SERVER_STEP,
    of_method(FedADMM),
    "send u_k⁺ − u_k with u_k = θ_k + y_k/rho and θ_k the client's own last answer, and add (1/m)·their sum to w",
)
FEDPD = Rule(SERVER_STEP, of_method(FedPD), "w ← mean of θ_k + eta·λ_k")
SPLIT = of_method(FedSplit, RegularizedFedSplit)
Z_STEP = "z_k ← z_k + 2(prox(2x − z_k) − x)"
REFLECTED = Rule(REFLECTION, of_method(FedSplit), Z_STEP)
Z_KEPT = Rule(MEMORY, SPLIT)


def sent_change(change: Callable[[Any], Any]) -> Hook:
    """FedADMM's update by the mean of other changes."""
    return server_to(lambda v, r: v.w + admm_step(v, change(v)))


def around(what: Callable[[Any], Any]) -> dict[str, Any]:
    """The hooks of a proximal step around this point; local work moves along where it starts at the centre."""
    return {
        "start": lambda v, x: what(v) if getattr(v.method, "start", "center") == "center" else x,
        "center": lambda v, x: what(v),
    }


def z_reset(v: Any, r: Any) -> None:
    """Every z_k at the server's new point."""
    r.memory["z"] = 0 * r.memory["z"] + r.server


def z_kept(v: Any, r: Any) -> None:
    """Every z_k as it was."""
    r.memory["z"] = v.memory["z"]


SPLITTING_EDITS = (
    NORMALISING.broken(
        "FedNova's weights multiply the models, not their changes: they do not sum to 1",
        update=server_to(lambda v, r: v.average(v.lengths) * v.average(v.answers / v.lengths)),
    ),
    NORMALISING.broken("progress is not divided by the number of local steps: this is FedAvg", update=to_average),
    NORMALISING.broken(
        "normalised progress is not multiplied by the mean number of local steps",
        where=lambda setup: setup.given is None,
        update=server_to(lambda v, r: normalised(v, float(v.method.stepsize))),
    ),
    NORMALISING.broken(
        "normalised progress is multiplied by the largest number of local steps instead of the mean",
        update=server_to(lambda v, r: normalised(v, v.lengths.max(0))),
    ),
    NORMALISING.broken(
        "normalised progress is multiplied by the plain mean number of local steps instead of the weighted one",
        where=lambda setup: not setup.method.plain,
        update=server_to(lambda v, r: normalised(v, v.lengths.mean(0))),
    ),
    NORMALISING.broken(
        "progress is weighted by n_k/τ_k, and the weights are scaled to sum 1",
        update=server_to(
            lambda v, r: v.w + (v.weights / v.lengths[:, 0]) / (v.weights / v.lengths[:, 0]).sum() @ (v.answers - v.w)
        ),
    ),
    NORMALISING.broken(
        "progress is divided by the number of local steps, although momentum repeats gradients",
        "divide by ‖a_k‖₁, how often all gradients count: (τ_k − ρ(1 − ρ^τ_k)/(1 − ρ))/(1 − ρ) for momentum ρ",
        where=has_momentum,
        paths=counted,
    ),
    FEDPD.broken("the server averages the local models without their dual variables", update=to_average),
    FEDPD.broken(
        "clients send w + eta·λ_k instead of θ_k + eta·λ_k",
        update=server_to(lambda v, r: v.w + float(v.method.eta) * v.average(r.memory["dual"])),
    ),
    *SENT.each(
        "update",
        {
            "changes are measured from the server's model instead of the client's last answer": sent_change(
                lambda v: 2 * (v.answers - v.w)
            ),
            "clients send their changes without the dual variables": sent_change(
                lambda v: v.answers - v.memory["answer"]
            ),
            "clients send the change of the dual variables alone": sent_change(lambda v: v.answers - v.w),
            "the server averages the local models of those who take part": to_average,
            "the server averages θ_k + y_k/rho of those who take part: this is FedPD": server_to(
                lambda v, r: v.average(v.answers + r.memory["dual"] / float(v.method.rho))
            ),
        },
    ),
    SENT.broken(
        "the changes are divided by |P_t| instead of m: server_stepsize is 1",
        SENT.cure + "; with server_stepsize=1 the limit depends on the start",
        where=of_method(FedADMM, server_stepsize=None),
        population=lambda v, x: 0 * x + len(v.active),
    ),
    *Rule(MEMORY_RULE, SPLIT, Z_STEP).each(
        "update",
        {
            "the reflection has no factor 2": new_memory(lambda v, rows: (rows + old_rows(v)) / 2),
            "the reflection goes the wrong way": new_memory(lambda v, rows: 2 * old_rows(v) - rows),
        },
    ),
    Rule(MEMORY_RULE, SPLIT, Z_STEP).broken(
        "the reflection has a factor of {} times 2",
        number=FACTOR,
        late=True,
        update=new_memory(lambda v, rows: old_rows(v) + v.value * (rows - old_rows(v))),
    ),
    REFLECTED.broken("the proximal step is taken around x instead of 2x − z_k", **around(lambda v: v.w)),
    REFLECTED.broken(
        "the proximal step is taken around z_k instead of 2x − z_k", **around(lambda v: v.memory["z"][v.i])
    ),
    Z_KEPT.broken(
        "the clients' z_k is reset to the server's model", "keep every client's z_k for the whole run", update=z_reset
    ),
    Z_KEPT.broken(
        "the clients' z_k is never stored", "write the new z_k back to where the next round reads it", update=z_kept
    ),
    Rule(SERVER_STEP, SPLIT).broken(
        "the server averages the proximal points instead of the z_k",
        "x ← mean of the z_k after their reflection",
        update=server_to(lambda v, r: v.answers.mean(0)),
    ),
    Rule(SERVER_MEMORY, OF_ALL).broken(
        "only the z_k of those who take part are averaged",
        "average all m clients' z_k, or state FedSplit(server='active')",
        setup=with_parameters(server="active"),
    ),
    Rule(SERVER_MEMORY, of_method(FedSplit, server="active")).broken(
        "the z_k of all clients are averaged",
        "average those of the clients that take part, or state FedSplit(server='all')",
        setup=with_parameters(server="all"),
    ),
)

# --- DANE, FedDANE, FedLin ---

DANES = Rule(CORRECTION, of_method(GradientCorrected), "minimise f_k(θ) − ⟨∇f_k(w) − g, θ⟩ + (mu/2)‖θ − w‖²")


def average_gradient(gradient: Callable[[Any], Any]) -> Hook:
    """The linear term with this g in the place of the averaged gradient."""
    return lambda v, x: gradient(v) - v.gradients[v.i]


def of_sample(v: Any) -> Any:
    """The participants' mean gradient."""
    return v.weights @ v.gradients


def of_all(v: Any) -> Any:
    """The mean gradient of all clients."""
    return v.all_weights @ v.all_gradients


DANE_EDITS = (
    *(
        DANES.broken(
            f"the gradient correction is left out: this is {other}",
            cure,
            where=of_method(*methods),
            linear=lambda v, x: 0 * x,
        )
        for other, cure, methods in (
            ("FedProx", "", (DANE, FedDANE)),
            ("FedAvg", "take steps along ∇F_k(θ) − ∇F_k(w) + ∇f(w)", (FedLin,)),
        )
    ),
    DANES.broken("the gradient correction has the wrong sign", linear=lambda v, x: -x),
    DANES.broken("the client's own gradient is left out of the correction", linear=lambda v, x: x + v.gradients[v.i]),
    DANES.broken("the averaged gradient is left out of the correction", linear=average_gradient(lambda v: 0 * v.w)),
    DANES.broken(
        "the averaged gradient is not weighted",
        "weight client k's gradient by its number of samples",
        where=of_method(FedDANE),
        linear=average_gradient(lambda v: v.gradients.mean(0)),
    ),
    DANES.broken(
        "the gradients are summed, not averaged",
        "divide by the sum of the weights of the clients that send one",
        where=of_method(FedDANE),
        linear=average_gradient(lambda v: v.gradients.sum(0)),
    ),
    DANES.broken(
        "the gradient of all clients is used instead of that of the sample",
        "average the gradients of the clients that take part",
        where=of_method(FedDANE),
        linear=average_gradient(of_all),
    ),
    DANES.broken(
        "only the gradients of those who take part are averaged",
        "ask every client for its gradient",
        where=of_method(DANE, FedLin),
        linear=average_gradient(of_sample),
    ),
    Rule(CORRECTION, of_method(DANE)).broken(
        "eta is ignored",
        "multiply the gradient of all clients by eta",
        where=other_than(eta=1),
        linear=average_gradient(of_all),
    ),
)

# --- personal models ---

OF_DITTO = Rule(
    PERSONAL,
    of_method(Ditto),
    "start at the client's own v_k, and add regularization·(v − w) to its gradient, w as the round began",
)
LOCAL_STEP = "w_k ← w_k − stepsize·regularization·(w_k − v_k), v_k the proximal point around this w_k"
OF_PFEDME = Rule(PERSONAL, of_method(PFedMe), LOCAL_STEP)
PFEDME = Rule(SERVER_STEP, of_method(PFedMe), "w ← w + server_stepsize·mean(w_k − w), w_k after its last step")
SEVERAL_STEPS = other_than(local_steps=1)


PERSONAL_EDITS = (
    *OF_DITTO.each(
        "own",
        {
            "personal models start at the server's model in every round": lambda v, x: (x[1], x[1], x[2]),
            "personal models start at the client's trained copy of the server's model": (
                lambda v, x: (v.trained, x[1], x[2])
            ),
            "personal models are pulled to the client's trained copy instead of the server's model": (
                lambda v, x: (x[0], v.trained, x[2])
            ),
        },
    ),
    OF_DITTO.broken(
        "personal models are not pulled to the server's model",
        where=other_than(regularization=0),
        own=lambda v, x: (x[0], x[1], 0 * x[2]),
    ),
    PFEDME.broken(
        "the server goes to the mean of the personal models",
        update=server_to(lambda v, r: v.average(r.memory["personal"])),
    ),
    PFEDME.broken(
        "server_stepsize is ignored: the server goes to the mean of the local models",
        where=other_than(server_stepsize=1),
        setup=with_parameters(server_stepsize=1),
    ),
    Rule(PARAMETERS, of_method(PFedMe)).broken(
        "local steps lack the factor regularization",
        LOCAL_STEP,
        setup=lambda setup: with_parameters(stepsize=lambda stepsize: stepsize / setup.method.regularization)(setup),
    ),
    OF_PFEDME.broken(
        "all proximal points of a round lie around the server's model",
        where=SEVERAL_STEPS,
        own=lambda v, x: (x[0], v.w, x[2]),
    ),
    OF_PFEDME.broken(
        "clients take only one local step on their envelope", where=SEVERAL_STEPS, setup=with_parameters(local_steps=1)
    ),
)

# --- parameters that mean something else ---

SUBSTITUTES: tuple[tuple[str, Callable[[Scalar], Scalar], str], ...] = (
    ("2·{0}", lambda value: 2 * value, "give it {0}/2, or change its formula"),
    ("{0}/2", lambda value: value / 2, "give it 2·{0}, or change its formula"),
    ("1/{0}", lambda value: 1 / value, "give it 1/{0}, or change its formula"),
)
PARAMETERS_OF = ("mu", "alpha", "rho", "eta", "stepsize", "server_stepsize", "regularization")
STATED = Rule(PARAMETERS, always)
ANY = UnknownNumber((0.01, 0.1, 1.0, 10.0), float("nan"), 0.0)


def shown(value: Scalar) -> str:
    """A parameter of the method, as messages have it."""
    return f"{nearest_float(value):.6g}"


def has(name: str) -> Applies:
    """Whether the method has this parameter, in use and not 0."""

    def applies(setup: Setup) -> bool:
        exists = any(f.name == name for f in fields(setup.method))  # type: ignore[arg-type]
        # with a local solver of its own, a method without a proximal term reads no stepsize
        unused = name == "stepsize" and setup.given is not None and not is_proximal(setup)
        return (
            exists and not unused and isinstance(getattr(setup.method, name) or None, Fraction | float | int | Number)
        )

    return applies


Number = type(to_fmpq(1.0))  # of exact setups


def with_local_stepsize(change: Callable[[Scalar], Scalar]) -> Callable[..., Setup]:
    """The setup with `change` applied to the stepsize of the local solver that the user passed."""
    return lambda setup: replace(setup, given=replace(setup.solver, stepsize=change(setup.solver.stepsize)))


def with_given_steps(setup: Setup) -> bool:
    """Whether the user passed a local solver that takes steps."""
    return setup.given is not None and setup.path_length is not None


def changes(name: str, change: Callable[[Scalar], Scalar]) -> Applies:
    """Whether the change changes the parameter."""
    return lambda setup: change(getattr(setup.method, name, 0)) != getattr(setup.method, name, 0)


PARAMETER_EDITS = (
    *(
        STATED.broken(
            f"it agrees with {name} replaced by {how.format(name)}",
            f"the implementation's {name} is another one than the method's: {cure.format(name)}",
            where=both(has(name), changes(name, change)),
            setup=with_parameters(**{name: change}),
            convention=True,
        )
        for name in PARAMETERS_OF
        for how, change, cure in SUBSTITUTES
    ),
    *(
        STATED.broken(
            f"it agrees with the local stepsize replaced by {how.format('stepsize')}",
            f"the implementation's stepsize is another one: {cure.format('stepsize')}",
            where=with_given_steps,
            setup=with_local_stepsize(change),
            convention=True,
        )
        for how, change, cure in SUBSTITUTES
    ),
    *(
        STATED.broken(
            f"{name} is {{}} instead of {{}}",
            f"pass the stated {name} on to where it is used",
            where=has(name),
            setup=lambda setup, value, name=name: with_parameters(**{name: to_fmpq(value)})(setup),
            given=lambda setup, name=name: shown(getattr(setup.method, name)),
            number=ANY,
            convention=True,
        )
        for name in PARAMETERS_OF
    ),
    STATED.broken(
        "the local stepsize is {} instead of {}",
        "pass the stated stepsize on to where it is used",
        where=with_given_steps,
        setup=lambda setup, value: with_local_stepsize(lambda _: to_fmpq(value))(setup),
        given=lambda setup: shown(setup.solver.stepsize),
        number=ANY,
        convention=True,
    ),
)

EDITS = (*MEMORY_EDITS, *SCAFFOLD_EDITS, *DYN_EDITS, *SPLITTING_EDITS, *DANE_EDITS, *PERSONAL_EDITS, *PARAMETER_EDITS)
