"""Every experiment's file is valid: it can be read, its methods exist, its formulas refer to existing runs."""

import math
import re
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas
import pytest
from experiment_texts import DEEP, SWEEP

from fedconvex.errors import InvalidInput
from fedconvex.reproduce import execution, inputs
from fedconvex.reproduce.execution import fingerprint_of
from fedconvex.reproduce.metrics import ExperimentMetrics
from fedconvex.reproduce.specification import RUNNERS, choose, experiments
from fedconvex.reproduce.summary import summarise

pytestmark = pytest.mark.beyond_core  # takes seconds

COLUMNS = ("value", "gap", "accuracy", "test_value", "test_accuracy", "gradient_variance")
WHOLE, QUICK = experiments(), experiments(quick=True)
ALL = [pytest.param(e, id=f"{k}{'-quick' if e.quick else ''}") for known in (WHOLE, QUICK) for k, e in known.items()]
AT_LEAST = (
    "fedsplit.figure1", "fedsplit.figure2a", "fedsplit.figure3", "fedprox.figure1_synthetic", "fedprox.figure1_mnist",
    "fedprox.figure2", "fedprox.figure3", "fedprox.figure4", "fedprox.figure5", "fedprox.figure9",
    "fedprox.figure9_mnist", "fedprox.figure12", "feddyn.table6", "feddyn.figure3", "feddyn.table2_mnist_10",
    "feddyn.table2_mnist_100", "feddyn.table5_mnist",
)  # fmt: skip


def pretended(experiment: Any) -> pandas.DataFrame:
    """Runs that never happened: every number is what the formulas may ask for, and is not the same twice."""
    rng = np.random.default_rng(0)

    def values(t: int) -> dict[str, float]:
        gap = 1.0 if t == 0 else 10 ** rng.uniform(-8, -5)
        return {**{column: rng.uniform(0.1, 0.9) if t else 0.01 for column in COLUMNS}, "gap": gap}

    rows = [
        {"problem": data, "method": method, "seed": seed, "round": t, **values(t)}
        for data in experiment.data
        for method, entry in experiment.methods.items()
        if data in entry.get("only", [data])
        for seed in range(experiment.run.get("seeds", 1))
        for t in range(25)
    ]
    return pandas.DataFrame(rows)


@pytest.mark.sample(10)
@pytest.mark.parametrize("experiment", [p for p in ALL if p.values[0].runner != "partition"])  # tested with their runs
def test_formulas_and_labels_fit(experiment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("floor", "distance", "constant", "contraction", "official"):
        monkeypatch.setattr(ExperimentMetrics, name, _half(name))
    measured = ExperimentMetrics(experiment, pretended(experiment)) if experiment.runner != "none" else None
    summary = summarise(measured, experiment)
    assert len(summary["claims"]) == len(experiment.claims)
    for row in summary["numbers"]:
        assert row["ours"] is not None


def _half(name: str) -> Any:
    def number(self: ExperimentMetrics, *labels: str) -> float:
        known = {*self.experiment.data, *self.experiment.methods}
        assert name in ("official", "constant") or known.issuperset(labels)
        return 0.5

    number.__name__ = name
    return number


@pytest.mark.sample(24)
@pytest.mark.parametrize("experiment", ALL)
def test_methods_can_be_made(experiment: Any) -> None:
    if experiment.runner == "sweep":
        experiment = QUICK[experiment.id]  # formulas need a problem; a small one
        problem = inputs.problem_of(experiment, next(iter(experiment.data)), 0)
        for label in experiment.methods:
            inputs.setting_of(experiment, label, problem)
    elif experiment.runner == "deep":
        for label in experiment.methods:
            inputs.setting_of(experiment, label)


@pytest.mark.parametrize("experiment", ALL)
def test_the_file_says_where_things_stand(experiment: Any) -> None:
    assert experiment.runner in RUNNERS
    assert set(experiment.needs) <= set(inputs.FILES)
    assert experiment.claims or experiment.numbers
    assert all(claim["source"] for claim in experiment.claims)
    assert all("source" in row for row in experiment.numbers if isinstance(row.get("published"), int | float))
    assert all(row.get("why") for row in experiment.numbers if row.get("within", 1) > 1.01)
    if experiment.runner == "deep" and not experiment.quick:
        assert experiment.needs or all(e["name"] in inputs.SYNTHETIC for e in experiment.data.values())


def test_all_that_was_asked_for_is_there() -> None:
    assert set(AT_LEAST) <= WHOLE.keys() == QUICK.keys()
    assert {e.paper for e in WHOLE.values()} == {"fedsplit", "fedprox", "feddyn"}
    order = list(WHOLE)
    assert order.index("fedprox.figure2") < order.index("fedprox.figure12")


def test_quick_versions_of_the_named_ones_need_no_files() -> None:
    assert all(not QUICK[key].needs for key in AT_LEAST)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rounds = 40", "round = 40"), r"paper/test.toml: run.round = 40: is unknown; did you mean rounds\?"),
        (('runner = "sweep"', 'runner = "swep"'), "test.toml: runner = swep: is unknown; give one of sweep"),
        (("seconds = 1\n", "", 1), "test.toml: seconds = None: is missing; add it"),
        (("rounds = 40", ""), "run.rounds = None: is missing; say how many rounds"),
        (('name = "fedsplit_least_squares"', ""), "data.small = .*: has no name; say what it is"),
        (("title =", "titel ="), r"titel = two methods.*: is unknown; did you mean title\?"),
        (("[data.small]", "[[data]]"), r"paper/test.toml: data is a list, no object"),
        (("clients = 3", "clients = [[3], [[4]]]"), r'data\["small"\]\["clients"\] is a list, no number'),
        (("clients = 3", "clients = 1979-05-27"), r'\["clients"\] is "1979-05-27", no number'),
        (("rounds = 40", "rounds = inf"), "run.rounds is Infinity, no integer"),
        (("seeds = 2", "seeds = 0"), "run.seeds = 0: is no number of runs"),
        (("seeds = 2", f"seeds = {10**40}"), "run.seeds = 10{40}: is no number of runs or rounds; give 1 to"),
        (("rounds = 40", 'rounds = 40\nlocal_solver = [["SGD"]]'), "run.local_solver is a list, no object"),
        (("rounds = 40", f"rounds = {'[' * 3000}{']' * 3000}"), "is nested too deeply"),
        (("rounds = 40", f"rounds = {'9' * 5000}"), "is not TOML"),
        (('about = "small"', "about ="), "is not TOML"),
        (("", '\n[figure]\nkind = "pie"\n'), "figure.kind = pie: is unknown; give one of curves"),
        (("", '\n[[claims]]\nclaim = "a"\nsource = "b"\n'), r"claims\[0\] = a: has not exactly one of holds"),
        (("", '\n[[claims]]\nclaim = "a"\nholds = "1 < 2"\n'), r"claims\[0\].source = None: is missing; add it"),
        (("", '\n[[numbers]]\nwhat = "a"\nour = "1"\n'), r"numbers\[0\].our = 1: is unknown; did you mean ours\?"),
        (("", "\n[quick]\nround = 1\n"), "quick.round = 1: is unknown"),
    ],
)
def test_faults_of_files_are_refused_by_key(written: Any, change: Any, message: str) -> None:
    text = SWEEP.replace(*change) if change[0] else SWEEP + change[1]
    assert text != SWEEP
    with pytest.raises(InvalidInput, match=message):
        written(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name = "FedGD"', 'name = "FedDG"'), r"methods.GD, e = 1.name = FedDG: is unknown"),
        (("local_steps = 5", "local_step = 5"), r"methods.GD, e = 5.local_step = 5: is unknown; known: stepsize"),
        (('"=1/L"', '"=1/M"'), r"methods.GD, e = 1.stepsize = 1/M: M is not known there; did you mean m\? known:"),
        (('mu = "=L"', "mu = -1"), "methods.Prox = .*mu = -1"),
    ],
)
def test_faults_of_methods_are_refused(written: Any, change: Any, message: str) -> None:
    experiment = written(SWEEP.replace(*change))
    problem = inputs.problem_of(experiment, "small", 0)
    faulty = next(label for label in experiment.methods if label in message)
    with pytest.raises(InvalidInput, match=message):
        inputs.setting_of(experiment, faulty, problem)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("clients = 3", f"clients = {10**40}"), "data.small = .*clients = .*numbers takes .* GiB"),
        (("features = 4", "features = 10000000000"), "data.small = .*features = .*numbers takes .* GiB"),
        (("features = 4", "features = [4]"), "data.small = .*features"),
        (("seeds = 2", "seeds = 2\n[data.other]\nname = 'synthetic'\nalpha = 1\nbeta = 1\nclients = 10000000000"),
         "clients = .*numbers takes .* GiB"),
    ],
)  # fmt: skip
def test_sizes_that_no_memory_holds_are_refused(written: Any, change: Any, message: str) -> None:
    experiment = written(SWEEP.replace(*change))
    with pytest.raises(InvalidInput, match=message):
        inputs.problem_of(experiment, next(iter(experiment.data)), 0)


def test_grids_are_spelled_out_and_quick_changes_what_it_names(written: Any) -> None:
    quick = '\n[quick]\nrun = { rounds = 1, participation = { K = 3 } }\nmethods = ["FedAvg"]\n'
    whole, reduced = written(DEEP + quick), written(DEEP + quick, quick=True)
    assert list(whole.methods) == ["FedAvg", "FedProx (mu=0.1)", "FedProx (mu=1)"]
    assert [entry["family"] for entry in whole.methods.values()] == ["FedAvg", "FedProx", "FedProx"]
    assert list(reduced.methods) == ["FedAvg"]
    assert reduced.run["participation"] == {"name": "UniformThenWeighted", "K": 3}
    assert (whole.run["rounds"], reduced.run["rounds"], reduced.run["seeds"]) == (3, 1, 2)


def test_runs_are_marked_by_what_they_depend_on(written: Any) -> None:
    plain = fingerprint_of(written(SWEEP))
    assert fingerprint_of(written(SWEEP + '\n[[claims]]\nclaim = "a"\nsource = "b"\nholds = "1 < 2"\n')) == plain
    assert fingerprint_of(written(SWEEP.replace("[methods.Prox]", '[methods.Prox]\nline = "P"'))) == plain
    assert fingerprint_of(written(SWEEP.replace("rounds = 40", "rounds = 41"))) != plain
    assert fingerprint_of(written(SWEEP.replace("features = 4", "features = 5"))) != plain


@pytest.mark.parametrize(("library", "changed"), [("torch", {"deep"}), ("numpy", {"deep", "sweep"})])
def test_runs_are_marked_by_the_libraries_that_compute_them(
    library: str, changed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [WHOLE["feddyn.table2_mnist_10"], WHOLE["fedsplit.figure1"]]
    before = [fingerprint_of(experiment) for experiment in some]
    monkeypatch.setattr(execution, "version_of", lambda name: "0" if name == library else version(name))
    after = [fingerprint_of(experiment) for experiment in some]
    assert {e.runner for e, old, new in zip(some, before, after, strict=True) if old != new} == changed


def test_an_unknown_id_suggests_the_nearest() -> None:
    with pytest.raises(InvalidInput, match=r"id = fedprox.figur2: is not known; did you mean fedprox.figure2\?"):
        choose(["fedprox.figur2"], WHOLE)
    assert [e.id for e in choose(["fedsplit"], WHOLE)] == [k for k in WHOLE if k.startswith("fedsplit")]
    assert len(choose(["all", "fedsplit.figure1"], WHOLE)) == len(WHOLE)


def test_figures_that_stand_in_another_experiment_are_found() -> None:
    """Every figure and table that the files' sources name can be asked for."""
    assert [e.id for e in choose(["fedprox.figure6"], WHOLE)] == ["fedprox.figure2"]
    assert {e.id for e in choose(["fedprox.figure7"], WHOLE)} == {e.id for e in choose(["fedprox.figure1"], WHOLE)}
    table2 = {key for key, e in WHOLE.items() if e.paper == "feddyn" and re.search(r"Tables? (1 and )?2", e.source)}
    assert {e.id for e in choose(["feddyn.table2"], WHOLE)} == table2 > {"feddyn.table1_cifar10"}
    for experiment in WHOLE.values():
        for kind, first, second in re.findall(r"(Figure|Table)s? (\d+)(?: and (\d+))?", experiment.source):
            for number in filter(None, (first, second)):
                assert experiment in choose([f"{experiment.paper}.{kind.lower()}{number}"], WHOLE), experiment.source
    assert math.isfinite(sum(e.seconds for e in WHOLE.values()))
