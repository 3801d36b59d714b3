"""Edits of the clients' local work: its data, start, steps, optimiser and proximal term."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.conformance.batches import first_batch_only, first_epoch_again, full_ones, of_first_round
from fedconvex.conformance.findings import FIRST_BATCH, LAST_BATCH
from fedconvex.conformance.identification.applies import (
    always,
    both,
    but,
    has_momentum,
    in_first_round,
    is_proximal,
    last_tensor,
    of_method,
    shortened,
    steps_repeatedly,
    takes_steps,
    without,
)
from fedconvex.conformance.identification.edits import (
    LATE,
    LOCAL_FUNCTION,
    LOCAL_WORK,
    PULL,
    SERVER_STEP,
    START,
    Hook,
    Rule,
    UnknownNumber,
)
from fedconvex.conformance.setup import Setup
from fedconvex.methods.averaging import FedNova
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.methods.scaffold import Scaffold
from fedconvex.methods.server_optimizer import ServerOptimizer

BETAS, ROOM = (0.9, 0.999), 1e-8  # torch.optim.Adam's defaults
LAST_STEP_OF_SCHEDULES = 11  # the run of twelve rounds shows what begins in its round 11, counted from 0


def velocity(where: str, nesterov: bool = False) -> Hook:
    """Momentum whose velocity begins at 0 in every round, or lasts for each client, or for all of them together."""

    def hook(v: Any, x: Any) -> Any:
        memo, name = {"round": (v.local, 0), "own": (v.keep, v.k), "all": (v.keep, -1)}[where]
        moving = (1.0 if v.value is None else v.value) * memo.get(("velocity", name), 0) + x
        memo["velocity", name] = moving
        return x + v.value * moving if nesterov else moving

    return hook


def kept_velocity(shared: bool) -> Hook:
    """The solver's own momentum with a velocity that lasts."""

    def hook(v: Any, x: Any) -> Any:
        name = ("velocity", -1 if shared else v.k)
        moving = float(v.play.setup.solver.momentum) * v.keep.get(name, 0) + v.plain_direction
        v.keep[name] = moving
        return moving

    return hook


def adam(first: bool = True, second: bool = True, largest: bool = False) -> Hook:
    """Adam's direction; `first`, `second`: whether the moments are corrected for their start."""

    def hook(v: Any, x: Any) -> Any:
        m, s, most = v.local.get("moments", (0 * x, 0 * x, 0 * x))
        m, s = BETAS[0] * m + (1 - BETAS[0]) * x, BETAS[1] * s + (1 - BETAS[1]) * x * x
        most = np.maximum(most, s)
        v.local["moments"] = (m, s, most)
        used = (most if largest else s) / (1 - BETAS[1] ** (v.j + 1) if second else 1)
        return m / (1 - BETAS[0] ** (v.j + 1) if first else 1) / (np.sqrt(used) + ROOM)

    return hook


def adagrad(v: Any, x: Any) -> Any:
    """Adagrad's direction."""
    total = v.local.get("squares", 0) + x * x
    v.local["squares"] = total
    return x / (np.sqrt(total) + 1e-10)


def rmsprop(v: Any, x: Any) -> Any:
    """RMSprop's direction."""
    mean = 0.99 * v.local.get("squares", 0) + 0.01 * x * x
    v.local["squares"] = mean
    return x / (np.sqrt(mean) + ROOM)


def previous_end(v: Any, x: Any) -> Any:
    """Where the client before this one ended in this round; the first one's own."""
    return x if v.prev is None else v.prev_end


def in_half(v: Any, x: Any) -> Any:
    """The vector in float16."""
    return x.astype(np.float16).astype(float)


def still(last: bool) -> Hook:
    """The local model whose last tensor, or all others, do not move."""
    return lambda v, x: np.where(last_tensor(v) == last, v.theta, x)


def adds_steps(setup: Setup) -> bool:
    """Whether the server adds the clients' steps to its model, which no other rule of theirs refers to."""
    if isinstance(setup.method, Scaffold):
        return setup.method.option == 2  # option I has a gradient at the server's model
    return isinstance(setup.method, FedNova | ServerOptimizer)


def onto_last(v: Any, r: Any) -> None:
    """The server's step taken from where the last client ended."""
    r.server = r.server + v.answers[-1] - v.w


def only_full_work(active: Any, efforts: Any, effort: int, m: int) -> Any:
    """The draw without the clients that do less than the full work."""
    kept = [i for i, own in enumerate(efforts) if own is None or own == effort]
    return [active[i] for i in kept], [efforts[i] for i in kept]


STEPS, SEVERAL = Rule(LOCAL_WORK, takes_steps(1)), Rule(LOCAL_WORK, steps_repeatedly)
SAME = Rule(LOCAL_WORK, takes_steps(1), "use the same stepsize in every round: switch the scheduler off")
STATED = "use the same stepsize in every round, or state the decay"
BEGINNING = Rule(
    START, takes_steps(1), "load the server's model into the client at the beginning of each of its rounds"
)
ONE_MODEL = "give each client a copy of the server's model: they train one and the same object"
OWN_FUNCTION, STRAGGLERS = Rule(LOCAL_FUNCTION, always), Rule(LATE, takes_steps(2))
SWITCH_OFF = "switch the optimiser's {0} off, or state it: local_solver=SGD(…, {0}=…)"
PLAIN = "take plain gradient steps: torch.optim.SGD without momentum"
MOMENTUM = UnknownNumber((0.1, 0.5, 0.9, 0.95), 0.0, 0.0, 1.0)
FACTOR = UnknownNumber((0.1, 0.5, 0.9, 0.99), 1.0, 0.0)
NORMS = UnknownNumber((0.3, 1.0, 2.0, 4.0, 7.0, 12.0, 20.0, 40.0, 100.0), float("inf"), 0.0)
EPOCH = Rule(LOCAL_WORK, lambda setup: setup.most_batches > 1)
NO_ZERO_GRAD = "set the gradients to zero before each backward pass: optimiser.zero_grad()"
plain_solver = both(without("momentum"), without("weight_decay"))

STEP_EDITS = (
    STEPS.broken("clients take one local step too many", "count the local steps from 1", count=lambda v, x: x + 1),
    STEPS.broken(
        "clients take one local step too few",
        "count the local steps from 1",
        where=takes_steps(2),
        count=lambda v, x: x - 1,
    ),
    STEPS.broken(
        "clients take only one local step",
        "let the training loop run through all local steps",
        where=takes_steps(3),
        count=lambda v, x: 0 * x + 1,
    ),
    STEPS.broken(
        "the client with the most samples takes one local step too many",
        "give every client the prescribed number of local steps",
        count=lambda v, x: x + (v.n == max(v.sizes) > min(v.sizes)),
    ),
    SEVERAL.broken(
        "local gradients are all taken at the server's model",
        "compute a new gradient, at the local model, in every local step",
        point=lambda v, x: v.start,
    ),
    SEVERAL.broken(
        "local gradients are taken one local step late, at the iterate before",
        "compute the gradient at the current local model, after the last step",
        point=lambda v, x: v.previous,
    ),
    STEPS.broken(
        "local steps have a weight decay of {}",
        SWITCH_OFF.format("weight_decay"),
        where=without("weight_decay"),
        number=UnknownNumber((0.001, 0.1, 1.0), 0.0, 0.0),
        decayed=lambda v, x: x + v.value * v.theta,
    ),
    SEVERAL.broken(
        "local steps have a momentum of {}",
        SWITCH_OFF.format("momentum"),
        where=without("momentum"),
        number=MOMENTUM,
        direction=velocity("round"),
    ),
    STEPS.broken(
        "local steps have a Nesterov momentum of {}",
        "switch the optimiser's Nesterov momentum off: SGD(nesterov=False, momentum=0)",
        where=without("momentum"),
        number=MOMENTUM,
        direction=velocity("round", nesterov=True),
    ),
    STEPS.broken(
        "local steps have a momentum of {} that is kept from round to round",
        "give each client a new optimiser in every round, without momentum",
        where=without("momentum"),
        number=MOMENTUM,
        direction=velocity("own"),
    ),
    SEVERAL.broken(
        "gradients add up over the local steps of a round",
        NO_ZERO_GRAD,
        where=without("momentum"),
        direction=velocity("round"),
    ),
    STEPS.broken(
        "gradients add up over all local steps of a client, from round to round",
        NO_ZERO_GRAD,
        where=without("momentum"),
        direction=velocity("own"),
    ),
    STEPS.broken(
        "gradients add up over all local steps of all clients",
        NO_ZERO_GRAD,
        where=without("momentum"),
        direction=velocity("all"),
    ),
    STEPS.broken(
        "momentum is shared between clients",
        "give each client an optimiser of its own, a new one in every round",
        where=has_momentum,
        direction=kept_velocity(shared=True),
    ),
    STEPS.broken(
        "momentum is kept from round to round",
        "give each client a new optimiser in every round",
        where=has_momentum,
        direction=kept_velocity(shared=False),
    ),
    STEPS.broken(
        "local gradients are clipped to a norm of {}",
        "switch the clipping of gradients off",
        where=without("clip"),
        number=NORMS,
        whole=lambda v, x: shortened(x, v.value),
    ),
    STEPS.broken(
        "local gradients are scaled to a norm of {}",
        "take steps along the gradients as they are",
        where=without("clip"),
        number=UnknownNumber((1.0,), float("nan"), 0.0),
        whole=lambda v, x: shortened(x, v.value, always=True),
    ),
    STEPS.broken(
        "local gradients are clipped entry by entry to ±{}",
        "switch the clipping of gradients off",
        where=without("clip"),
        number=NORMS,
        whole=lambda v, x: np.clip(x, -v.value, v.value),
    ),
    SAME.broken(
        "the local stepsize is multiplied by {} every round",
        f"{STATED}: local_solver=SGD(…, decay=…)",
        number=UnknownNumber((0.1, 0.5, 0.99), 1.0, 0.0, first_round=1),
        stepsize=lambda v, x: x * v.value**v.t,
    ),
    *(
        SAME.broken(
            f"the local stepsize is multiplied by {{}} after every {rounds} rounds",
            number=UnknownNumber((0.1, 0.5, 0.9), 1.0, 0.0, first_round=rounds),
            stepsize=lambda v, x, rounds=rounds: x * v.value ** (v.t // rounds),
        )
        for rounds in range(2, LAST_STEP_OF_SCHEDULES + 1)
    ),
    SAME.broken(
        "the local stepsize is divided by 1 + {}·t in round t",
        number=UnknownNumber((0.01, 0.3), 0.0, 0.0, first_round=1),
        stepsize=lambda v, x: x / (1 + v.value * v.t),
    ),
    SEVERAL.broken(
        "the local stepsize is multiplied by {} after every local step",
        "use the same stepsize in every local step",
        number=FACTOR,
        stepsize=lambda v, x: x * v.value**v.j,
    ),
    STEPS.broken(
        "the local stepsize is divided by the number of the round", STATED, stepsize=lambda v, x: x / (v.t + 1)
    ),
    STEPS.broken(
        "the local stepsize is divided by the square root of the number of the round",
        STATED,
        stepsize=lambda v, x: x / (v.t + 1) ** 0.5,
    ),
    *STEPS.each(
        "direction",
        {
            "local steps are those of Adam": adam(),
            "local steps are those of AMSGrad": adam(largest=True),
            "local steps are those of Adam, of whose moments only the first is corrected for its start": adam(
                second=False
            ),
            "local steps are those of Adam without a correction of the moments for their start": adam(False, False),
            "local steps are those of Adagrad": adagrad,
            "local steps are those of RMSprop": rmsprop,
            "local steps go along the signs of the gradients": lambda v, x: np.sign(x),
        },
        cure=PLAIN,
        where=plain_solver,
    ),
    *STEPS.each(
        "moved",
        {"the model's last tensor does not move": still(True), "of the model only the last tensor moves": still(False)},
        cure="train all parameters: requires_grad, and the optimiser's list of them",
    ),
    STEPS.broken(
        "local models are rounded to float16", "train and send models in the precision that is stated", answer=in_half
    ),
    Rule(SERVER_STEP, always).broken(
        "the server gets local models that are rounded to float16",
        "send models in the precision that is stated",
        sent=in_half,
    ),
)

START_EDITS = (
    *BEGINNING.each(
        "start",
        {
            "clients start at their own last model": lambda v, x: v.own,
            "clients start at their own last model, where they have one": lambda v, x: v.own if v.seen >= 0 else x,
            "clients start at zero": lambda v, x: 0 * x,
        },
        where=but(of_method(FedPD)),  # whose local work starts there
    ),
    BEGINNING.broken("every client starts where the one before it ended", ONE_MODEL, start=previous_end),
    BEGINNING.broken(
        "every client starts where the one before it ended, in the first round",
        "send copies of the server's model: in the first round it is the live one (a state_dict has no copies)",
        start=in_first_round(previous_end),
    ),
    *(
        BEGINNING.broken(
            f"every client starts where the one before it ended, and its proximal term pulls there{when}",
            "give each client a copy of the server's model: they train the object that the server sends",
            where=is_proximal,
            start=hook,
            center=hook,
        )
        for when, hook in (("", previous_end), (", in the first round", in_first_round(previous_end)))
    ),
    BEGINNING.broken(
        "clients train the server's own model, and the server's step begins where the last of them ended",
        "send copies of the server's model: a state_dict has the live parameters, also in later rounds",
        where=adds_steps,
        start=previous_end,
        points=lambda v, x: v.starts[v.i],
        update=onto_last,
    ),
    Rule(START, always).broken(
        "clients get the server's model of the round before",
        "send the model after the last round's average",
        received=lambda v, x: v.old,
    ),
)


def with_batches(change: Any) -> Hook:
    """The mini-batches change(solver, work, right ones)."""
    return lambda v, batches: change(v.local["solver"], v.local["work"], batches)


LOSS = Rule(
    LOCAL_FUNCTION,
    always,
    "the clients' loss is another one: choose check's loss= (sums or means over samples, halved or not)",
)
# how the loss is described, its factor, and the power of the number of samples that multiplies it
LOSSES: tuple[tuple[str, Fraction, int], ...] = (
    ("twice as large", Fraction(2), 0),
    ("half as large", Fraction(1, 2), 0),
    ("divided by the number of samples", Fraction(1), -1),
    ("multiplied by the number of samples", Fraction(1), 1),
    ("divided by half the number of samples", Fraction(2), -1),
    ("multiplied by half the number of samples", Fraction(1, 2), 1),
    ("multiplied by twice the number of samples", Fraction(2), 1),
    ("divided by twice the number of samples", Fraction(1, 2), -1),
)
DATA_EDITS = (
    OWN_FUNCTION.broken(
        "the targets are truncated to integers",
        "pass the targets as they are: labels.long() or astype(int) drops what follows the point",
        targets=lambda v, x: np.trunc(x),
    ),
    OWN_FUNCTION.broken(
        "all clients train on the data of the last one",
        "bind each client's data when it is made: a closure over the loop's variable sees its last value",
        data=lambda v, k: v.active[-1],
    ),
    OWN_FUNCTION.broken(
        "every client trains on the data of the next one",
        "count clients and their data alike: from 0, or from 1",
        data=lambda v, k: (k + 1) % v.m,
    ),
    *(
        LOSS.broken(
            f"the clients' functions are {how}",
            convention=True,
            scale=lambda v, x, factor=float(factor), power=power: factor * float(v.n) ** power,
        )
        for how, factor, power in LOSSES
    ),
    LOSS.broken(
        "the clients' functions are multiplied by {}",
        convention=True,
        number=UnknownNumber((0.1, 0.7, 1.5, 10.0), 1.0, 0.0),
        scale=lambda v, x: v.value,
    ),
    STRAGGLERS.broken("stragglers are dropped", "average the partial work of stragglers, too", draw=only_full_work),
    STRAGGLERS.broken(
        "stragglers do all of the work",
        "stop a client after its own number of local steps",
        draw=lambda active, efforts, effort, m: (active, [None] * len(active)),
    ),
    *EPOCH.each(
        "batches", {LAST_BATCH: with_batches(full_ones)}, cure="set drop_last=False: every epoch visits all samples"
    ),
    *EPOCH.each("batches", {FIRST_BATCH: with_batches(first_batch_only)}, cure="loop over all batches of an epoch"),
    EPOCH.broken(
        "every epoch has the batches of the first",
        "visit the batches that were given for this epoch",
        where=takes_steps(2),
        batches=with_batches(first_epoch_again),
    ),
    EPOCH.broken(
        "every round has the batches of the first round",
        "draw new batches in every round: a generator that is seeded anew repeats them",
        batches=with_batches(of_first_round),
    ),
)


def unsquared(factor: float) -> Hook:
    """The gradient of factor·weight·‖θ − center‖; 0 at the centre, as automatic differentiation has it."""

    def hook(v: Any, x: Any) -> Any:
        size = float(np.linalg.norm(v.theta - v.center))
        return factor * x / size if size > 0 else 0 * x

    return hook


# n_k and m·n_k/Σn, which is 1 on average
SCALINGS = (
    ("divided by the client's number of samples", lambda v: 1 / v.n),
    ("multiplied by the client's number of samples", lambda v: v.n),
    ("divided by the client's relative number of samples, m·n_k/Σn", lambda v: sum(v.sizes) / (v.m * v.n)),
    ("multiplied by the client's relative number of samples, m·n_k/Σn", lambda v: v.m * v.n / sum(v.sizes)),
)
ONE_WEIGHT = "pass one {} on to all clients: their numbers of samples count in the average, and in sums over samples"
TERM = Rule(PULL, is_proximal, "use (weight/2)·‖θ − w‖², whose gradient is weight·(θ − w)")
STEPWISE = both(is_proximal, takes_steps(2))
CENTRED = Rule(
    PULL,
    both(is_proximal, but(of_method(FedSplit, RegularizedFedSplit))),
    "centre the term on the model that the server sent in this round",
)

PROXIMAL_EDITS = (
    TERM.broken(
        "the proximal gradient has the wrong sign",
        "add weight·(θ − w) to the local gradient: the term pulls back to the server's model",
        weight=lambda v, x: -x,
    ),
    TERM.broken(
        "the proximal term is always zero",
        "keep a copy of the server's model for the term: a reference to the model that trains is the model itself",
        weight=lambda v, x: 0 * x,
    ),
    TERM.broken(
        "the proximal term is zero in the first round",
        "keep a copy of the server's model for the term: in the first round it is the live model that trains",
        weight=in_first_round(lambda v, x: 0 * x),
    ),
    *TERM.each(
        "pull",
        {
            f"the proximal term covers only the model's {which} tensor": (
                lambda v, x, last=which == "last": x * (last_tensor(v) == last)
            )
            for which in ("last", "first")
        },
        cure="sum the term over all parameters of the model",
        where=STEPWISE,
    ),
    TERM.broken(
        "the proximal term lacks its quadratic part",
        "(weight/2)·‖θ − w‖² has (weight/2)·‖θ‖² beside −weight·⟨w, θ⟩: add it to the loss, or as weight decay",
        linear=lambda v, x: x - v.weight * v.center,
        weight=lambda v, x: 0 * x,
    ),
    TERM.broken(
        "the proximal term pulls to zero: this is weight decay",
        "use (weight/2)·‖θ − w‖², with the w that the server sent in this round",
        center=lambda v, x: 0 * x,
    ),
    *TERM.each(
        "weight",
        {
            "the proximal term is not halved": lambda v, x: 2 * x,
            "the proximal term is halved twice": lambda v, x: x / 2,
        },
    ),
    *TERM.each(
        "pull",
        {
            "the norm in the proximal term is not squared": unsquared(0.5),
            "the norm in the proximal term is neither squared nor halved": unsquared(1.0),
            "the proximal term's gradient is taken one local step late, at the iterate before": (
                lambda v, x: v.weight_now * (v.previous - v.center)
            ),
        },
        where=STEPWISE,
    ),
    TERM.broken(
        "the proximal term is applied after the gradient step, at the new model",
        "add the term's gradient to the local one, both at the same model",
        where=both(is_proximal, takes_steps(1)),
        pull=lambda v, x: 0 * x,
        moved=lambda v, x: x - v.local["stepsize"] * v.weight_now * (x - v.center),
    ),
    TERM.broken(
        "the proximal term's weight is multiplied by {}",
        number=UnknownNumber((0.1, 0.7, 1.5, 10.0), 1.0),
        late=True,
        weight=lambda v, x: v.value * x,
    ),
    *CENTRED.each(
        "center",
        {
            "the proximal term pulls to the client's own last model": lambda v, x: v.own,
            "the proximal term pulls to the client's own last model, where it has one": (
                lambda v, x: v.own if v.seen >= 0 else x
            ),
        },
        where=but(of_method(FedPD)),
    ),
    CENTRED.broken("the proximal term pulls to the server's model of the round before", center=lambda v, x: v.old),
    *TERM.each(
        "weight",
        {f"the proximal term's weight is {how}": (lambda v, x, by=by: x * by(v)) for how, by in SCALINGS},
        cure=ONE_WEIGHT.format("weight"),
        where=STEPWISE,
    ),
)

EDITS = (*STEP_EDITS, *START_EDITS, *DATA_EDITS, *PROXIMAL_EDITS)
