"""The plain methods with faults: edits of their text, which `planted_edits.toml` lists beside what the report says."""

import itertools
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from checking import report_of

import fedconvex as fc
from fedconvex.conformance import Report

Edits = dict[str, tuple[str, ...]]  # what the report says -> the edit


STEPS = fc.GradientDescent(steps=4, stepsize=0.1)
FOUR = {"stepsize": 0.1, "steps": 4}
MOVING: dict[str, Any] = {"stepsize": 0.1, "local_steps": 4}
TUNED: dict[str, Any] = {"server_stepsize": 0.25, "tau": 0.125}
EQUAL_FEDLIN = {"mu": 0, "all_gradients": True, "equal": True, **FOUR}
# method, local solver, its class in `plain_methods`, parameters
CASES: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "FedGD": (fc.FedGD(**MOVING), None, "FedProx", FOUR),
    "FedAvg": (fc.FedAvg(epochs=4, stepsize=0.1), None, "FedProx", FOUR),
    "FedSGD": (fc.FedSGD(stepsize=0.1), None, "FedProx", {"stepsize": 0.1}),
    "FedProx, exact": (fc.FedProx(mu=0.5), None, "FedProx", {"mu": 0.5}),
    "FedProx, steps": (fc.FedProx(mu=0.5), STEPS, "FedProx", {"mu": 0.5, **FOUR}),
    "FedNova": (fc.FedNova(**MOVING), None, "FedNova", FOUR),
    "FedNova, momentum": (
        fc.FedNova(**MOVING),
        fc.SGD(steps=4, batch_size=None, stepsize=0.1, momentum=0.5),
        "FedNova",
        {"momentum": 0.5, **FOUR},
    ),
    "DANE": (fc.DANE(mu=0.5), None, "Dane", {"mu": 0.5, "all_gradients": True}),
    "FedDANE": (fc.FedDANE(mu=0.5), None, "Dane", {"mu": 0.5}),
    "FedDANE, steps": (fc.FedDANE(mu=0.5), STEPS, "Dane", {"mu": 0.5, **FOUR}),
    "FedLin": (fc.FedLin(**MOVING), None, "Dane", EQUAL_FEDLIN),
    "FedDyn, exact": (fc.FedDyn(alpha=0.5), None, "FedDyn", {"alpha": 0.5}),
    "FedDyn, steps": (fc.FedDyn(alpha=0.5), STEPS, "FedDyn", {"alpha": 0.5, **FOUR}),
    "FedDynOneGD": (fc.FedDynOneGD(alpha=2), None, "FedDyn", {"alpha": 2, "stepsize": 0.5}),
    "SCAFFOLD II": (fc.Scaffold(**MOVING), None, "Scaffold", FOUR),
    "SCAFFOLD I": (
        fc.Scaffold(**MOVING, option=1, server_stepsize=0.75),
        None,
        "Scaffold",
        {"option": 1, "server_stepsize": 0.75, **FOUR},
    ),
    "FedSplit, exact": (fc.FedSplit(stepsize=0.5), None, "FedSplit", {"s": 0.5}),
    "FedSplit, steps": (fc.FedSplit(stepsize=0.5), STEPS, "FedSplit", {"s": 0.5, **FOUR}),
    "FedPD": (fc.FedPD(eta=0.5), None, "FedPD", {"eta": 0.5}),
    "FedADMM, exact": (fc.FedADMM(rho=2), None, "FedADMM", {"rho": 2}),
    "FedADMM, steps": (fc.FedADMM(rho=2, server_stepsize=0.75), STEPS, "FedADMM", {"rho": 2, "eta": 0.75, **FOUR}),
    "Ditto": (fc.Ditto(**MOVING, regularization=0.5), None, "Ditto", {"lam": 0.5, **FOUR}),
    "pFedMe, exact": (
        fc.PFedMe(regularization=2, stepsize=0.25, local_steps=3, server_stepsize=0.75),
        None,
        "PFedMe",
        {"lam": 2, "eta": 0.25, "inner": 3, "beta": 0.75},
    ),
    "pFedMe, steps": (
        fc.PFedMe(regularization=2, stepsize=0.25, local_steps=2),
        STEPS,
        "PFedMe",
        {"lam": 2, "eta": 0.25, "inner": 2, **FOUR},
    ),
    "FedAvgM": (
        fc.FedAvgM(**MOVING, momentum=0.5, server_stepsize=0.75),
        None,
        "FedAvgM",
        {"momentum": 0.5, "server_stepsize": 0.75, **FOUR},
    ),
    **{
        f"Fed{kind}": (
            method(**MOVING, beta1=0.5, **second, **TUNED),
            None,
            "Adaptive",
            {"kind": kind, "momentum": 0.5, **second, **TUNED, **FOUR},
        )
        for kind, method, second in (
            ("Adagrad", fc.FedAdagrad, {}),
            ("Adam", fc.FedAdam, {"beta2": 0.75}),
            ("Yogi", fc.FedYogi, {"beta2": 0.75}),
        )
    },
}

GROUPS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FEDAVG = ("the server", "weighted averages", "FedAvg")
WORK = ("local steps", "local functions", "starts", "stragglers")
DANE = ("the server", "corrected gradients", "DANE and FedDANE", "proximal terms")
FEDDYN = ("the server", "plain averages", "FedDyn")
SCAFFOLD = ("the server", "local steps", "SCAFFOLD")
SPLITTING = ("the server", "proximal terms")
SERVERS = ("the server", "weighted averages", "local steps")
# the groups of faults that are planted in each case
FAULTS: dict[str, tuple[str, ...]] = {
    "FedGD": (*FEDAVG, *WORK),
    "FedAvg": (*FEDAVG, "stragglers"),
    "FedSGD": FEDAVG,
    "FedProx, exact": (*FEDAVG, "proximal terms"),
    "FedProx, steps": (
        *FEDAVG,
        *WORK,
        "proximal terms",
        "proximal terms in steps",
        "FedProx",
        "FedProx in steps",
    ),
    "FedNova": ("the server", "weighted averages", "local steps", "FedNova"),
    "FedNova, momentum": ("weighted averages", "FedNova with momentum"),
    "DANE": (*DANE, "DANE"),
    "FedDANE": (*DANE, "FedDANE"),
    "FedDANE, steps": (*DANE, "FedDANE", "local steps"),
    "FedLin": ("the server", "corrected gradients", "FedLin", "local steps"),
    "FedDyn, exact": (*FEDDYN, "proximal terms"),
    "FedDyn, steps": (*FEDDYN, "proximal terms", "proximal terms in steps", "local steps", "FedDyn in steps"),
    "FedDynOneGD": FEDDYN,
    "SCAFFOLD II": (*SCAFFOLD, "SCAFFOLD, option II"),
    "SCAFFOLD I": (*SCAFFOLD, "SCAFFOLD, option I"),
    "FedSplit, exact": (*SPLITTING, "FedSplit"),
    "FedSplit, steps": (*SPLITTING, "FedSplit", "local steps"),
    "FedPD": (*SPLITTING, "FedPD"),
    "FedADMM, exact": (*SPLITTING, "FedADMM", "FedADMM over m"),
    "FedADMM, steps": (*SPLITTING, "FedADMM", "local steps"),
    "Ditto": ("weighted averages", "local steps", "Ditto"),
    "pFedMe, exact": ("the server", "pFedMe", "pFedMe with a server stepsize"),
    "pFedMe, steps": ("the server", "pFedMe", "local steps"),
    "FedAvgM": (*SERVERS, "FedAvgM"),
    "FedAdagrad": (*SERVERS, "adaptive servers"),
    "FedAdam": (*SERVERS, "adaptive servers", "bias corrections", "FedAdam"),
    "FedYogi": (*SERVERS, "adaptive servers", "bias corrections", "FedYogi"),
}
EDITS = {case: {name: edit for group in FAULTS[case] for name, edit in GROUPS[group].items()} for case in CASES}
PLANTED = [(case, name) for case, edits in EDITS.items() for name in edits]
HAVING = {fault: [case for case, name in PLANTED if name == fault] for _, fault in PLANTED}
# each in about a third of the methods that may have it, by turns, and in one at least
IN_SOME = [
    (case, name) for turn, (name, cases) in enumerate(HAVING.items()) for case in cases[turn % 3 :: 3] or cases[:1]
]


# Without the averaged gradient clients stay where they start, whatever their steps.
STANDS_STILL = "FedDANE, steps", "the averaged gradient is left out of the correction"


def pairs() -> list[tuple[str, str, str]]:
    """Of methods with local steps every third fault of their own, each beside one of the local steps."""
    local, work = GROUPS["local steps"], {name for group in WORK for name in GROUPS[group]}
    steady = [case for case in CASES if "local steps" in FAULTS[case] and not case.startswith("pFedMe")]
    own = [(case, name) for case in steady for name in EDITS[case] if name not in work]
    both = [(case, name, other) for (case, name), other in zip(own[::3], itertools.cycle(local), strict=False)]
    return [one for one in both if one[:2] != STANDS_STILL and edited(*one) is not None]


@cache
def text_of(class_name: str) -> str:
    """The text of a class of `plain_methods` with that of those that it inherits from."""
    head, *parts = re.split(r"\n\n\n(?=@dataclass\n)", Path(__file__).with_name("plain_methods.py").read_text("utf-8"))
    classes = {re.findall(r"class (\w+)", part)[0]: part for part in parts}
    found = [classes[class_name]]
    while parent := re.findall(r"class \w+\((\w+)\)", found[0]):
        found.insert(0, classes[parent[0]])
    return "\n\n\n".join([head, *found])


def edited(case: str, *names: str) -> str | None:
    """The case's text with these faults; None where one changes what another one needs."""
    text = text_of(CASES[case][2])
    for name in names:
        edit = EDITS[case][name]
        for old, new in zip(edit[::2], edit[1::2], strict=True):
            if old not in text:
                return None
            text = text.replace(old, new)
    return text


def planted(case: str, *names: str, **more: Any) -> Any:
    """The case's implementation with these faults, and with other parameters where `more` has them."""
    _, _, class_name, parameters = CASES[case]
    text = edited(case, *names)
    assert text is not None, (case, names)
    found: dict[str, Any] = {}
    exec(compile(text, f"{case}: {' + '.join(names)}", "exec"), found)  # noqa: S102 - edits of our own text
    return found[class_name](**parameters | more)


def report_on(case: str, *names: str, dtype: Any = np.float64, clients_known: bool = True) -> Report:
    """What `check` says of it."""
    made, (method, solver, *_) = planted(case, *names, dtype=dtype), CASES[case]
    clients_known = clients_known or method.personal is not None
    return report_of(method, made, clients_known, local_solver=solver)
