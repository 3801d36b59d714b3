"""Hundreds of planted faults, one to three at once, and what the report says of each.

`planted_cases` draws the list, which `Federation` plays; `outcome` checks one case and applies the cures that the
report names.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from federation import Federation, report_on

from fedconvex.conformance.report import covered

# what is planted -> what the report says; {} is the number
PROXIMAL = {
    "pull sign": "the proximal gradient has the wrong sign",
    "pull missing": "the proximal term is always zero",
    "pull twice": "the proximal term is not halved",
    "pull half": "the proximal term is halved twice",
    "pull norm": "the norm in the proximal term is not squared",
    "pull on last tensor": "the proximal term covers only the model's last tensor",
    "pull missing at first": "the proximal term is zero in the first round",
    "pull without square": "the proximal term lacks its quadratic part",
    "pull to zero": "the proximal term pulls to zero: this is weight decay",
}
STEPS = {
    "step more": "clients take one local step too many",
    "step less": "clients take one local step too few",
    "frozen": "local gradients are all taken at the server's model",
    "weight decay": "local steps have a weight decay of {}",
    "momentum": "local steps have a momentum of {}",
    "nesterov": "local steps have a Nesterov momentum of {}",
    "clip": "local gradients are clipped to a norm of {}",
    "decay": "the local stepsize is multiplied by {} every round",
    "after ten rounds": "the local stepsize is multiplied by {} after every 10 rounds",
    "after three rounds": "the local stepsize is multiplied by {} after every 3 rounds",
    "1/t": "the local stepsize is divided by the number of the round",
    "adam": "local steps are those of Adam",
}
DATA = {
    "integers": "the targets are truncated to integers",
    "loss twice": "the clients' functions are twice as large",
    "last data": "all clients train on the data of the last one",
}
STARTS = {
    "own start": "clients start at their own last model",
    "chain": "every client starts where the one before it ended",
    "chain at first": "every client starts where the one before it ended, in the first round",
    "stale": "clients get the server's model of the round before",
    "zero": "the run starts at zero instead of x0",
}
SERVER = {
    "twice": "the server's step is taken twice",
    "scaled step": "the server's step is multiplied by {}",
    "scaled model": "the server's new model is multiplied by {}",
    "summed": "the clients' models are summed, not averaged",
    "last model": "only the last client's model counts",
    "last model at first": "only the last client's model counts in the first round",
    "old model too": "the server's old model is averaged in as one more client",
    "everyone": "all clients take part in every round",
}
LIVE = {
    "chain with pull": "every client starts where the one before it ended, and its proximal term pulls there",
    "chain with pull at first": "every client starts where the one before it ended, and its proximal term pulls there, "
    "in the first round",
}
WEIGHTED = {
    "unweighted": "the average is not weighted",
    "lost weights": "weights of dropped clients are lost",
}
PLAIN = {
    "by samples": "the average is weighted by samples",
    "over m": "the average is divided by m instead of |P_t|",
}
LATE = {
    "late dropped": "stragglers are dropped",
    "late go on": "stragglers do all of the work",
}
NOVA = {
    "not normalised": "progress is not divided by the number of local steps: this is FedAvg",
    "no mean work": "normalised progress is not multiplied by the mean number of local steps",
    "weights on models": "FedNova's weights multiply the models, not their changes: they do not sum to 1",
}
DYN = {
    "term sign": "the correction of the local gradient has the wrong sign",
    "memory lost": "the clients' memory is lost in rounds that they skip",
    "memory sign": "the clients' memory is updated with the wrong sign",
    "memory shared": "clients share one memory: each goes on with what the one before it left",
    "last change": "only the last client's change reaches the server's memory",
    "h from last": "server memory measures the changes from the last client's model, not from the server's",
    "memory at new model": "the clients' memory is updated around the server's new model",
    "h over active": "server memory is divided by |P_t| instead of m",
    "h of active": "the server's memory is the mean of those who took part",
    "h summed": "server memory is summed, not divided by m",
    "h sign": "server memory is updated with the wrong sign",
    "h unused": "server memory is not applied",
    "h added": "server memory is applied with the wrong sign",
    "h late": "server memory is applied before it is updated",
}
VARIATES = {
    "term sign": "the correction of the local gradient has the wrong sign",
    "memory lost": "the clients' memory is lost in rounds that they skip",
    "last change": "only the last client's change reaches the server's memory",
    "live": "clients train the server's own model, and the server's step begins where the last of them ended",
    "c unused": "the server's control variate is left out of the correction",
    "c frozen": "the server's control variate is never updated",
    "c over active": "server memory is divided by |P_t| instead of m",
    "c of active": "the server's control variate is the mean of those who took part",
    "path sign": "option II takes the path with the wrong sign",
    "path in steps": "option II does not divide by the stepsize",
    "path one more": "option II divides by one local step too many",
    "own forgotten": "option II forgets the old c_k",
    "eta on models": "the server's stepsize multiplies the average of the models, not of their steps",
}
SPLIT = {
    "reflect once": "the reflection has no factor 2",
    "reflect back": "the reflection goes the wrong way",
    "around x": "the proximal step is taken around x instead of 2x − z_k",
    "around z": "the proximal step is taken around z_k instead of 2x − z_k",
    "mean of points": "the server averages the proximal points instead of the z_k",
    "z reset": "the clients' z_k is reset to the server's model",
}
NUMBERS: dict[str, tuple[float, ...]] = {
    "weight decay": (1e-5, 1e-4, 2e-4, 3e-4, 5e-4, 0.01, 0.07),
    "momentum": (0.9, 0.95, 0.5, 0.37),
    "nesterov": (0.9, 0.95, 0.5),
    "clip": (1, 5, 10, 2.5),
    "decay": (0.9, 0.95, 0.99, 0.998, 0.5),
    "after ten rounds": (0.1, 0.5),
    "after three rounds": (0.1, 0.5),
    "scaled step": (0.5, 0.9, 1.3),
    "scaled model": (0.5, 0.9, 0.99),
}
AVERAGING = {**STEPS, **DATA, **STARTS, **SERVER, **LATE}
KNOWN: dict[str, dict[str, str]] = {
    "FedAvg": {**AVERAGING, **WEIGHTED},
    "FedProx": {**AVERAGING, **WEIGHTED, **PROXIMAL, **LIVE},
    "FedNova": {**STEPS, **DATA, "zero": STARTS["zero"], "twice": SERVER["twice"], **WEIGHTED, **NOVA},
    "FedDyn": {**STEPS, **DATA, "zero": STARTS["zero"], "twice": SERVER["twice"], **PLAIN, **PROXIMAL, **DYN},
    "SCAFFOLD": {
        **STEPS,
        **DATA,
        "zero": STARTS["zero"],
        "twice": SERVER["twice"],
        "by samples": PLAIN["by samples"],
        **VARIATES,
    },
    "FedSplit": {**STEPS, **DATA, "zero": STARTS["zero"], "twice": SERVER["twice"], **PROXIMAL, **SPLIT},
}
# one choice of each row is possible at once, and of others those that hide one another are not planted together
EXCLUSIVE = (
    ("step more", "step less"),
    ("weight decay", "adam"),
    ("momentum", "nesterov", "adam"),
    ("adam", "clip"),
    ("decay", "after ten rounds", "after three rounds", "1/t", "adam"),
    ("adam", "frozen", "loss twice"),  # Adam's steps have one length for functions of any size
    tuple(PROXIMAL),
    ("loss twice", "integers", "last data"),
    ("chain", "chain at first", *LIVE, "own start", "stale", "last data"),
    ("chain at first", "chain with pull at first", "last model at first"),
    (*LIVE, *PROXIMAL),
    ("twice", "scaled step", "scaled model", "eta on models", "live"),
    ("last data", "live"),
    (
        "summed",
        "last model",
        "last model at first",
        "old model too",
        "unweighted",
        "lost weights",
        "by samples",
        "over m",
    ),
    ("not normalised", "no mean work", "weights on models"),
    ("late dropped", "late go on", "everyone"),
    ("last change", *(name for name in DYN if name.startswith("h "))),
    (
        "memory lost",
        "memory shared",
        "memory sign",
        "memory at new model",
        "own forgotten",
        "path sign",
        "path in steps",
        "path one more",
    ),
    ("memory shared", *PROXIMAL, "term sign"),
    ("last change", "c unused", "c frozen", "c over active", "c of active", "term sign"),
    ("reflect once", "reflect back", "z reset"),
    ("around x", "around z", "mean of points"),
    ("clip", *PROXIMAL),
)


# K times the first gradient, divided by the K steps: the very numbers of a single step
HIDING = {"frozen", "no mean work"}


def said(kind: str, planted: str) -> str:
    """What the report says of a planted fault."""
    name, _, number = planted.partition("=")
    return KNOWN[kind][name].format(number)


@dataclass(frozen=True)
class Case:
    """What is planted where."""

    one: Federation
    clients_known: bool

    def __str__(self) -> str:
        how = "torch" if self.one.torch_steps else "numpy"
        return f"{self.one.kind} ({how}{', models known' if self.clients_known else ''}): {' + '.join(self.one.faults)}"


def planted_cases(seed: int = 0, pairs: int = 150, triples: int = 80) -> list[Case]:
    """Every single fault in NumPy, many in torch, and random pairs and triples."""
    draw = np.random.default_rng(seed)
    found: list[Case] = []

    def add(kind: str, faults: Sequence[str], torch_steps: bool) -> None:
        eta = 0.75 if kind == "SCAFFOLD" else 1.0
        one = Federation(kind, tuple(faults), server_stepsize=eta, torch_steps=torch_steps)
        found.append(Case(one, bool(draw.integers(2))))

    def numbered(name: str) -> str:
        return f"{name}={draw.choice(NUMBERS[name]):g}" if name in NUMBERS else name

    for kind, known in KNOWN.items():
        for name in known:
            for number in NUMBERS.get(name, (None,)):
                add(kind, [name if number is None else f"{name}={number:g}"], False)
            if name in STEPS or name in PROXIMAL:
                add(kind, [numbered(name)], name != "frozen" or kind == "FedAvg")
    for count, size in ((pairs, 2), (triples, 3)):
        for i in range(count):
            kind = list(KNOWN)[i % len(KNOWN)]
            while True:
                names = list(draw.choice(list(KNOWN[kind]), size=size, replace=False))
                if not any(sum(name in row for name in names) > 1 for row in EXCLUSIVE):
                    break
            if not set(names) >= HIDING:
                add(kind, [numbered(name) for name in names], bool(draw.integers(2)))
    return found


def outcome(case: Case) -> dict[str, Any]:
    """What the report says of the case, and whether the check passes after the cures of what the report names.

    "exactly": the diagnosis is what was planted, a finding each (faults that compute the same numbers in every run are
    one finding); "named": that, or another set that the numbers cannot tell from it is the diagnosis and the planted
    one is listed. "wrong": something else is named; "unexplained": nothing is.
    """
    report = report_on(case.one, case.clients_known)
    findings = [finding for finding in report.diagnosis if "order of the clients" not in finding.name]
    planted = {said(case.one.kind, fault): fault for fault in case.one.faults}
    sets = [set(names) for names in report.explanations]
    likely = {name for names in report.explanations for name in names}
    cured = tuple(fault for name, fault in planted.items() if name not in likely)
    return {
        "detected": not report.passed,
        "named": set(planted) in sets and report.explained,
        "exactly": covered(findings, list(planted)),
        "unexplained": not report.explained,
        "wrong": report.explained and set(planted) not in sets,
        "passes when cured": not cured and report_on(replace(case.one, faults=cured, numbers={})).passed,
        "said": [sorted(names) for names in report.explanations],
    }
