"""Edits of the server: its average, its step, who takes part, its optimiser, and the initial point."""

from typing import Any

import numpy as np

from fedconvex.conformance.identification.applies import (
    always,
    averages,
    both,
    in_first_round,
    is_weighted,
    of_method,
    of_models,
    other_than,
    server_to,
    shortened,
    takes_steps,
    with_parameters,
)
from fedconvex.conformance.identification.edits import (
    AVERAGE,
    FIRST_POINT,
    PARTICIPANTS,
    SERVER_MEMORY,
    SERVER_STEP,
    Hook,
    Rule,
    UnknownNumber,
)
from fedconvex.conformance.identification.local_edits import previous_end
from fedconvex.conformance.setup import Setup
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.methods.personal_models import Ditto
from fedconvex.methods.server_optimizer import AdaptiveServerOptimizer, FedAdam, FedAvgM, FedYogi, ServerOptimizer


def samples(v: Any) -> Any:
    """(K,): the participants' numbers of samples."""
    return np.array([v.sizes[k] for k in v.active], float)


def by_power(v: Any, x: Any) -> Any:
    """The average with weights proportional to a power of n_k."""
    weights = samples(v) ** v.value
    return weights / weights.sum() @ v.rows


def in_single_precision(v: Any, x: Any) -> Any:
    """The average with weights that are rounded to float32."""
    rows, ones = v.rows, np.eye(len(v.active))[:, :, None] + np.zeros(len(x))
    rest = v.average(0 * rows, but=in_single_precision)  # what another edit adds to the clients' rows
    weights = np.array([(v.average(one, but=in_single_precision) - rest)[0] for one in ones])
    return weights.astype(np.float32).astype(float) @ rows + rest


def with_inactive(v: Any, r: Any) -> Any:
    """The average over all m clients: inactive ones count with the last model that they sent."""
    last = v.all_last.copy()
    last[v.active] = v.answers
    return r.server - v.average(v.answers) + v.all_weights @ last


def everyone(active: Any, efforts: Any, effort: int, m: int) -> Any:
    """All clients; those that the schedule leaves out do the full work."""
    known = dict(zip(active, efforts, strict=True))
    return list(range(m)), [known.get(k) for k in range(m)]


def of_last(v: Any, x: Any) -> Any:
    """The last client's row."""
    return v.rows[-1]


def steps_from_answers(setup: Setup) -> bool:
    """Whether the server's new model is not a mean of memory, which an edit of the step would not last in."""
    return not isinstance(setup.method, FedSplit | RegularizedFedSplit)


WEIGHTS = "weight client k by its number of samples, n_k over the sum of the samples of those who take part"
SUM_TO_ONE = "divide by the sum of the weights of those who take part"
AVERAGED, PRESENT = Rule(AVERAGE, averages), Rule(PARTICIPANTS, of_models)
plain_mean: Any = lambda setup: not is_weighted(setup)  # noqa: E731 - a predicate like the imported ones

# |P_t| is the number of active clients in round t, m that of all clients.
AVERAGE_EDITS = (
    AVERAGED.broken(
        "only the last client's model counts in the first round",
        "return copies of the local models: a state_dict's entries are the live parameters, not copies",
        average=in_first_round(of_last),
    ),
    AVERAGED.broken(
        "all clients train one live model in the first round, and its end counts for each of them",
        "give each client a copy of the server's model, and return a copy of what it trained",
        where=takes_steps(1),
        start=in_first_round(previous_end),
        average=in_first_round(of_last),
    ),
    AVERAGED.broken("the average is not weighted", WEIGHTS, where=is_weighted, average=lambda v, x: v.rows.mean(0)),
    AVERAGED.broken(
        "the average is weighted by samples",
        "average plainly: the method's paper minimises the plain mean of the clients' functions; or state "
        "weights='samples' where you mean its weighted form",
        where=plain_mean,
        average=lambda v, x: samples(v) / samples(v).sum() @ v.rows,
    ),
    AVERAGED.broken(
        "the average's weights are proportional to n_k to the power of {}",
        WEIGHTS,
        number=UnknownNumber((-1.0, 0.5, 2.0)),
        late=True,
        average=by_power,
    ),
    AVERAGED.broken(
        "weights of dropped clients are lost",
        SUM_TO_ONE,
        where=is_weighted,
        average=lambda v, x: v.all_weights[v.active] @ v.rows,
    ),
    AVERAGED.broken(
        "the average is divided by m instead of |P_t|",
        "divide by the number of those who take part",
        where=plain_mean,
        average=lambda v, x: v.rows.sum(0) / v.m,
    ),
    AVERAGED.broken("the clients' models are summed, not averaged", SUM_TO_ONE, average=lambda v, x: v.rows.sum(0)),
    PRESENT.broken(
        "models of inactive clients are averaged in",
        "average over those who take part only",
        update=server_to(with_inactive),
    ),
    PRESENT.broken(
        "inactive clients count with the server's model",
        "average over those who take part only, with weights that sum to 1",
        average=lambda v, x: v.all_weights[v.active] @ (v.rows - v.w) + v.w,
    ),
    AVERAGED.broken(
        "only the last client's model counts", "collect all local models before you average them", average=of_last
    ),
    AVERAGED.broken(
        "only the first client's model counts",
        "collect all local models before you average them",
        average=lambda v, x: v.rows[0],
    ),
    AVERAGED.broken(
        "the average is the median, entry by entry", WEIGHTS, average=lambda v, x: np.median(v.rows, axis=0)
    ),
    AVERAGED.broken(
        "the server's old model is averaged in as one more client",
        "average over the clients' models only",
        where=of_models,
        average=lambda v, x: (v.rows.sum(0) + v.w) / (len(v.rows) + 1),
    ),
    AVERAGED.broken(
        "the average is divided by the number of clients twice",
        "use weights of sum 1, and do not divide again",
        where=of_models,
        average=lambda v, x: x / len(v.rows),
    ),
    Rule(PARTICIPANTS, always).broken(
        "all clients take part in every round", "let only the clients of `active` work", draw=everyone
    ),
    # the last of them: it rounds the weights of whatever average the others make
    AVERAGED.broken(
        "the weights of the average are rounded to float32",
        "compute the weights in the models' precision",
        harmless=True,
        average=in_single_precision,
    ),
)

STEP = Rule(SERVER_STEP, always)
LENGTHS = UnknownNumber((0.03, 0.1, 0.3, 1.0, 3.0), float("inf"), 0.0)


def moving_average(v: Any, x: Any) -> Any:
    """The exponential moving average of the server's models."""
    shown = v.value * v.keep.get("shown", v.before) + (1 - v.value) * x
    v.keep["shown"] = shown
    return shown


STEP_EDITS = (
    STEP.broken(
        "the server's step is multiplied by {}",
        "go to the average itself, or state the server's stepsize",
        where=steps_from_answers,
        number=UnknownNumber((0.1, 0.5, 1.1), 1.0, 0.0),
        update=server_to(lambda v, r: v.w + v.value * (r.server - v.w)),
    ),
    STEP.broken(
        "the server's new model is multiplied by {}",
        "a stepsize of the server multiplies the average of the steps y_k − w, not that of the models y_k",
        number=UnknownNumber((0.5, 0.9), 1.0, 0.0),
        update=server_to(lambda v, r: v.value * r.server),
    ),
    STEP.broken(
        "the server's step has a momentum of {}",
        "go to the average itself: FedAvgM's momentum is another method",
        where=of_method(Averaging),
        number=UnknownNumber((0.5, 0.9), 0.0, 0.0, 1.0, first_round=1),
        update=server_to(lambda v, r: r.server + v.value * (v.w - v.old)),
    ),
    STEP.broken(
        "the server's step is clipped to a norm of {}",
        "go to the average itself",
        number=LENGTHS,
        update=server_to(lambda v, r: v.w + shortened(r.server - v.w, v.value)),
    ),
    STEP.broken(
        "the server's step is clipped entry by entry to ±{}",
        "go to the average itself",
        number=LENGTHS,
        update=server_to(lambda v, r: v.w + np.clip(r.server - v.w, -v.value, v.value)),
    ),
    STEP.broken(
        "the clients' steps are clipped to a norm of {}",
        "average the clients' steps as they are",
        where=averages,
        number=LENGTHS,
        sent=lambda v, x: v.w + shortened(x - v.w, v.value),
    ),
    STEP.broken(
        "the server's model does not change in the first round",
        "subtract a copy of the server's model: in the first round the clients train the live one",
        where=steps_from_answers,
        update=server_to(lambda v, r: v.w if v.t == 0 else r.server),
    ),
    STEP.broken(
        "the server's step is taken twice",
        "apply the averaged update once",
        update=server_to(lambda v, r: 2 * r.server - v.w),
    ),
    STEP.broken(
        "the server's model never changes",
        "store the average as the server's model",
        update=server_to(lambda v, r: v.w),
    ),
    STEP.broken(
        "the server's step is multiplied by m/|P_t|",
        "the average is over those who take part already; m/|P_t| goes with weights 1/m, not with 1/|P_t|",
        update=server_to(lambda v, r: v.w + (r.server - v.w) * v.m / len(v.active)),
    ),
    STEP.broken(
        "the reported model is the server's of the round before",
        "report the model after the last round, which the clients get next",
        shown=lambda v, x: v.before,
    ),
    STEP.broken(
        "the reported model is a moving average of the server's with a decay of {}",
        "report the model that the clients get next",
        number=UnknownNumber((0.1, 0.5, 0.9), 0.0, 0.0, 1.0),
        shown=moving_average,
    ),
    Rule(FIRST_POINT, always).broken(
        "the run starts at zero instead of x0", "load x0 into the server's model", x0=lambda v, x: 0 * x
    ),
)

ADAM = " (Adam's correction is not in the paper's algorithm)"
MOMENTUM = Rule(
    SERVER_MEMORY, of_method(FedAvgM), "m ← momentum·m + Δ; w ← w + server_stepsize·m, with Δ the average of θ_k − w"
)
MOMENTS = Rule(
    SERVER_MEMORY,
    of_method(AdaptiveServerOptimizer),
    "m ← beta1·m + (1 − beta1)·Δ and v by the method's rule, with Δ the average of θ_k − w, Δ² entry by entry",
)
ADAPTIVE = Rule(
    SERVER_STEP,
    of_method(AdaptiveServerOptimizer),
    "w ← w + server_stepsize·m/(√v + tau), with the m and v of this round, without further factors",
)


def progress(v: Any) -> Any:
    """Δ, (d,): the average of the participants' θ_k − w."""
    return v.average(v.answers - v.w)


def momentum(kept: Any = None, step: Any = None) -> Hook:
    """FedAvgM's update with m = kept(momentum, old m, Δ), or another step: step(momentum, old m, m, Δ)."""

    def change(v: Any, r: Any) -> None:
        b, old, delta = v.method.momentum, v.shared["momentum"], progress(v)
        m = b * old + delta if kept is None else kept(b, old, delta)
        right = b * m + delta if v.method.nesterov else m
        r.shared["momentum"] = m
        r.server = v.w + v.method.server_stepsize * (right if step is None else step(b, old, m, delta))

    return change


def moments(first: Any = None, second: Any = None, step: Any = None) -> Hook:
    """An adaptive update with other moments, or another step of (view, m, v)."""

    def change(v: Any, r: Any) -> None:
        own, old, delta = v.method, v.shared, progress(v)
        m, s = r.shared["first_moment"], r.shared["second_moment"]
        m = m if first is None else first(own, old["first_moment"], delta)
        s = s if second is None else second(v, old["second_moment"], delta)
        r.shared["first_moment"], r.shared["second_moment"] = m, s
        move = m / (np.sqrt(s) + own.tau) if step is None else step(v, m, s)
        r.server = v.w + own.server_stepsize * move

    return change


def corrected(first: bool = True, second: bool = True, in_the_stepsize: bool = False) -> Any:
    """Adam's correction of moments that start at 0: of each, or in the stepsize, so that τ is not divided."""

    def step(v: Any, m: Any, s: Any) -> Any:
        own, t = v.method, v.t + 1
        share = 1 - own.beta2**t if second else 1.0
        tau = own.tau / np.sqrt(share) if in_the_stepsize else own.tau
        return m / (1 - own.beta1**t if first else 1) / (np.sqrt(s / share) + tau)

    return step


class _Signs:
    """What `second_moment` needs of a cohort."""

    sign = staticmethod(np.sign)


def rule_of(kind: Any) -> Any:
    """The second moment by another method's rule."""
    return lambda v, old, delta: kind.second_moment(v.method, old, delta * delta, _Signs)


def shrunk(v: Any, old: Any, delta: Any) -> Any:
    """OpenFL's Yogi: v is multiplied by β₂, as in Adam, before its own rule."""
    own, square = v.method, delta * delta
    return own.beta2 * old - (1 - own.beta2) * square * np.sign(old - square)


OPTIMISER_EDITS = (
    Rule(SERVER_STEP, of_method(ServerOptimizer)).broken(
        "the server moves against the clients' progress",
        "add server_stepsize times the progress θ_k − w, or subtract w − θ_k",
        update=server_to(lambda v, r: 2 * v.w - r.server),
    ),
    *MOMENTUM.each(
        "update",
        {
            "the server's momentum is left out": momentum(kept=lambda b, old, delta: delta),
            "the server's momentum multiplies new progress by 1 − momentum": momentum(
                kept=lambda b, old, delta: b * old + (1 - b) * delta
            ),
        },
        cure=MOMENTUM.cure + "; or divide server_stepsize by 1 − momentum",
        where=other_than(momentum=0),
    ),
    MOMENTUM.broken(
        "the server's momentum is Nesterov's",
        "state FedAvgM(nesterov=True) where you read the paper so",
        where=both(other_than(momentum=0), of_method(FedAvgM, nesterov=False)),
        update=momentum(step=lambda b, old, m, delta: b * m + delta),
    ),
    MOMENTUM.broken(
        "the server's momentum is the heavy ball's, not Nesterov's",
        "state FedAvgM(nesterov=False) where you read the paper so",
        where=both(other_than(momentum=0), of_method(FedAvgM, nesterov=True)),
        update=momentum(step=lambda b, old, m, delta: m),
    ),
    Rule(SERVER_STEP, of_method(FedAvgM), MOMENTUM.cure).broken(
        "the server moves by the momentum of the round before", update=momentum(step=lambda b, old, m, delta: old)
    ),
    Rule(SERVER_STEP, of_method(FedAvgM), MOMENTUM.cure).broken(
        "the server's stepsize is ignored",
        where=other_than(server_stepsize=1),
        setup=with_parameters(server_stepsize=1),
    ),
    MOMENTS.broken(
        "the first moment is left out", where=other_than(beta1=0), update=moments(first=lambda own, m, delta: delta)
    ),
    MOMENTS.broken(
        "the first moment does not multiply new progress by 1 − beta1",
        where=other_than(beta1=0),
        update=moments(first=lambda own, m, delta: own.beta1 * m + delta),
    ),
    MOMENTS.broken(
        "the second moment starts at 0 instead of tau²",
        "start v at tau², the least that the paper allows; or check with initial=0",
        where=other_than(initial=0),
        setup=with_parameters(initial=0),
    ),
    MOMENTS.broken(
        "the second moment averages the squares of the clients' steps, not the square of their average",
        update=moments(second=lambda v, old, _: v.method.second_moment(old, v.average((v.answers - v.w) ** 2), _Signs)),
    ),
    MOMENTS.broken(
        "the second moment is multiplied by beta2 before FedYogi's rule: v ← beta2·v − (1 − beta2)·Δ²·sign(v − Δ²)",
        "v ← v − (1 − beta2)·Δ²·sign(v − Δ²)",
        where=of_method(FedYogi),
        update=moments(second=shrunk),
    ),
    *ADAPTIVE.each(
        "update",
        {
            "the second moment is that of the round before": moments(
                step=lambda v, m, s: m / (np.sqrt(v.shared["second_moment"]) + v.method.tau)
            ),
            "the second moment's root is not taken": moments(step=lambda v, m, s: m / (s + v.method.tau)),
            "tau is added under the root": moments(step=lambda v, m, s: m / np.sqrt(s + v.method.tau)),
        },
    ),
    *ADAPTIVE.each(
        "update",
        {
            "the moments are corrected for their start, each by itself": moments(step=corrected()),
            "the moments are corrected for their start, in the stepsize": moments(step=corrected(in_the_stepsize=True)),
            "only the first moment is corrected for its start": moments(step=corrected(second=False)),
            "only the second moment is corrected for its start": moments(step=corrected(first=False)),
        },
        cure=ADAPTIVE.cure + ADAM,
        where=of_method(FedAdam, FedYogi),
    ),
    MOMENTS.broken(
        "the second moment is FedYogi's",
        "v ← beta2·v + (1 − beta2)·Δ²",
        where=of_method(FedAdam),
        update=moments(second=rule_of(FedYogi)),
    ),
    MOMENTS.broken(
        "the second moment is FedAdam's",
        "v ← v − (1 − beta2)·Δ²·sign(v − Δ²)",
        where=of_method(FedYogi),
        update=moments(second=rule_of(FedAdam)),
    ),
    Rule(SERVER_STEP, of_method(Ditto)).broken(
        "the server averages the personal models",
        "average the clients' trained copies of the server's model",
        update=server_to(lambda v, r: v.average(r.memory["personal"])),
    ),
)

EDITS = (*AVERAGE_EDITS, *STEP_EDITS, *OPTIMISER_EDITS)
