"""Runs written down as TOML: every section arrives where it belongs, every mistake is named with its key."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import vector

import fedconvex as fc
from fedconvex import data, participation
from fedconvex.cli_deep import EXAMPLE
from fedconvex.deep import models, run
from fedconvex.deep.config import config_of, read_config
from fedconvex.errors import InvalidInput

SECTIONS: dict[str, Any] = {
    "data": {"name": "digits", "clients": 5, "partition": "dirichlet:2", "seed": 3, "test": 0.25},
    "model": {"name": "fully_connected", "sizes": [64, 8, 10], "seed": 4},
    "method": {"name": "FedDyn", "alpha": 0.5},
    "local_solver": {"name": "SGD", "epochs": 1, "batch_size": 50, "stepsize": 0.1, "momentum": 0.5},
    "participation": {"name": "Uniform", "K": 3},
    "stragglers": {"fraction": 0.4, "policy": "drop"},
    "run": {
        "rounds": 2,
        "seed": 5,
        "weights": "samples",
        "ridge": 0.01,
        "dtype": "float64",
        "measure": "heterogeneity",
    },
}


def changed(**changes: Any) -> dict[str, Any]:
    """Keys as section__key; None removes."""
    sections = {name: dict(section) for name, section in SECTIONS.items()}
    for place, value in changes.items():
        section, _, key = place.partition("__")
        if not key:
            sections.pop(section) if value is None else sections.update({section: value})
        elif value is None:
            sections[section].pop(key)
        else:
            sections[section][key] = value
    return sections


def test_a_config_is_the_run_that_one_would_write() -> None:
    table = data.load("digits", clients=5, partition="dirichlet:2", seed=3)
    kept, held = data.train_test_split(table, 0.25, 3)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        model = models.fully_connected([64, 8, 10])
    expected = run(
        fc.FedDyn(alpha=0.5), model, list(zip(kept.features, kept.targets, strict=True)), rounds=2,
        participation=participation.Uniform(3), stragglers=participation.Stragglers(0.4, "drop"),
        local_solver=fc.SGD(epochs=1, batch_size=50, stepsize=0.1, momentum=0.5), seed=5, weights="samples", ridge=0.01,
        measure="heterogeneity", test=(np.concatenate(held.features), np.concatenate(held.targets)),
    )  # fmt: skip
    found = config_of(SECTIONS, Path()).run()
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


def test_sections_that_may_be_left_out() -> None:
    found = config_of(changed(participation=None, stragglers=None, data__test=None), Path())
    assert found.source.test is None
    assert not {"participation", "stragglers"} & found.options.keys()
    assert "local_solver" not in config_of(changed(local_solver=None), Path()).options


def test_files_are_seen_from_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"a": rng.normal(size=12), "b": rng.normal(size=12), "target": ["x", "y"] * 6, "client": [1, 2] * 6}
    )
    table.to_csv(tmp_path / "table.csv", index=False)
    sections = {"data": {"name": "table.csv"}, "model": {"name": "fully_connected", "sizes": [2, 2]}}
    found = config_of(changed(**sections), tmp_path)
    assert [len(X) for X, _ in found.source.clients] == [6, 6]
    assert found.source.num_classes == 2
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(InvalidInput, match=r"data\.path"):
        config_of(changed(**sections), Path())


@pytest.mark.parametrize(
    ("changes", "place", "told"),
    [
        ({"modle": {}}, "section", "did you mean model"),
        ({"model": 5}, "model", "is no section"),
        ({"method": None}, "config", r"has no section \[method\]"),
        ({"method__name": None}, "method.name", "is missing"),
        ({"method__name": "FedDin"}, "method.name", "did you mean FedDyn"),
        ({"method__alpha": None}, "method.alpha", "is missing"),
        ({"method__alpha": -1}, "method.alpha", "positive"),
        ({"method__alfa": 1}, "method", "did you mean alpha"),
        ({"model__name": "mlp"}, "model.name", "fully_connected"),
        ({"model__sizes": [64]}, "model.sizes", "inputs and outputs"),
        ({"model__sizes": "many"}, "model", "sizes"),
        ({"model__seed": -1}, "model.seed", "0"),
        ({"local_solver__name": "Adam"}, "local_solver.name", "SGD"),
        ({"local_solver__epochs": 0}, "local_solver.epochs", "1"),
        ({"local_solver__momentum": 1}, "local_solver.momentum", "momentum < 1"),
        ({"participation__K": 0}, "participation.K", "1"),
        ({"participation__K": None}, "participation.K", "is missing"),
        ({"stragglers__policy": "wait"}, "stragglers.policy", "drop"),
        ({"data__name": "cifar"}, "data.path", "neither a file nor"),
        ({"data__name": "diabetes"}, "data.name", "classification"),
        ({"data__partition": "by-name"}, "data.", "iid"),
        ({"data__test": 1.5}, "data.test_fraction", "samples of both kinds"),
        ({"data__klients": 5}, "data", "did you mean clients"),
        ({"run__rounds": None}, "run.rounds", "how many rounds"),
        ({"run__ruonds": 5}, "run", "did you mean rounds"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], place: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as error:
        config_of(changed(**changes), Path())
    assert error.value.argument.startswith(place)


@pytest.mark.parametrize("content", [b"[data", b"data = 1\n[data]\n", b"\xff\xfe", b"name = 'x'"])
def test_what_is_no_config(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_bytes(content)
    with pytest.raises(InvalidInput):
        read_config(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_config(tmp_path / "nothing.toml")


# ---- the command ----


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from fedconvex.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", program, "deep", *words], cwd=folder, capture_output=True, text=True)


def quick(folder: Path, **changes: Any) -> Path:
    """The example, small."""
    sections = tomllib.loads(EXAMPLE)
    sections["run"] |= {"rounds": 3, "every": 1}
    sections["data"]["clients"] = 3
    sections["participation"]["K"] = 4
    for place, value in changes.items():
        section, _, key = place.partition("__")
        sections[section][key] = value
    lines = []
    for name, section in sections.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in section.items())]
    file = folder / "quick.toml"
    file.write_text("\n".join(lines))
    return file


def test_the_command(tmp_path: Path) -> None:
    quick(tmp_path)
    done = command(tmp_path, "run", "quick.toml")
    assert done.returncode == 0, done.stderr
    assert "round 3 of 3" in done.stderr
    assert "fedprox.theorem4: round" in done.stdout
    folder = tmp_path / "run-quick"
    assert {file.name for file in folder.iterdir()} == {
        "run.csv", "run.safetensors", "model.safetensors", "bounds.csv", "run.png",
    }  # fmt: skip
    assert len(pd.read_csv(folder / "run.csv")) == 4
    import safetensors.torch

    parameters = safetensors.torch.load_file(folder / "model.safetensors")
    models.fully_connected([64, 20, 10]).double().load_state_dict(parameters)
    again = command(tmp_path, "run", "quick.toml", "--rounds", "4", "--json")
    assert again.returncode == 0, again.stderr
    assert "round 3 of 4" in again.stderr  # it went on
    assert json.loads(again.stdout)["last"]["round"] == 4


def test_a_run_that_diverges_exits_with_1(tmp_path: Path) -> None:
    quick(tmp_path, local_solver__stepsize=1e200, run__measure="drift")
    done = command(tmp_path, "run", "quick.toml", "--out", "out")
    assert done.returncode == 1, done.stderr
    assert "not finite" in done.stdout
    assert (tmp_path / "out" / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("changes", "words", "told"),
    [
        ({"method__mu": -1}, ("run", "quick.toml"), "method.mu = -1"),
        ({}, ("run", "none.toml"), "cannot be read"),
        ({}, ("run", "quick.toml", "--device", "cuda:99"), "device"),
        ({}, ("run", "quick.toml", "--rounds", "-1"), "rounds"),
        ({"model__sizes": [64, 5]}, ("run", "quick.toml"), "class 9"),
        ({}, ("run", "quick.toml", "--out", "quick.toml"), "out"),
    ],
)
def test_wrong_input_exits_with_2_and_one_line(
    changes: dict[str, Any], words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    quick(tmp_path, **changes)
    done = command(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert told in done.stderr


def test_the_example_is_a_config() -> None:
    found = config_of(tomllib.loads(EXAMPLE), Path())
    assert found.options["rounds"] == 100
