"""Runs described in TOML: every section reaches its destination, and every mistake is reported with its key."""

import json
import re
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import vector

import fedconvex as fc
from fedconvex import data, participation
from fedconvex.commands.deep import EXAMPLE
from fedconvex.commands.main import main
from fedconvex.deep import models, run
from fedconvex.deep.config import config_of, read_config
from fedconvex.deep.datasets import read_word_vectors, sent140
from fedconvex.errors import InvalidInput

PLAIN = "ignore::fedconvex.errors.PlainAverage"  # with weights of their own and every scheme
pytestmark = [pytest.mark.beyond_core, pytest.mark.filterwarnings(PLAIN)]  # trains networks

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
        measure="heterogeneity", test=(np.concatenate(held.features), np.concatenate(held.targets)), dtype="float64",
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


TWEETS = ["happy day", "sad day", "so happy", "no no", "happy", "sad night", "day !", "unheard sad"]


@pytest.fixture
def tweets(tmp_path: Path) -> dict[str, Any]:
    """The sections of a run on tweets of two accounts, with vectors for five words, of which four are taken."""
    folder = tmp_path / "tweets"
    folder.mkdir()
    rows = [f'"{4 * (i % 2 == 0)}","{i}","d","q","user{i % 4 // 2}","{text}"' for i, text in enumerate(TWEETS)]
    (folder / "tweets.csv").write_text("\n".join(rows) + "\n")
    rng = np.random.default_rng(0)
    lines = [
        " ".join([word, *(f"{x:.6f}" for x in rng.normal(size=3))]) for word in ("day", "happy", "sad", "no", "night")
    ]
    (folder / "glove.txt").write_text("\n".join(lines) + "\n")
    return {
        "data": {"name": "sent140", "data_dir": "tweets/tweets.csv", "options": {"seq_length": 4}},
        "model": {"name": "sentiment_lstm", "vectors": "glove.txt", "max_words": 4, "units": 3, "layers": 1, "seed": 2},
        "method": {"name": "FedProx", "mu": 1},
        "local_solver": {"name": "SGD", "epochs": 1, "batch_size": 2, "stepsize": 0.1},
        "run": {"rounds": 2},
    }


def test_word_vectors_are_read_for_the_model_and_the_tweets(tweets: dict[str, Any], tmp_path: Path) -> None:
    vocabulary, vectors = read_word_vectors(tmp_path / "tweets" / "glove.txt", max_words=4)
    clients = sent140(tmp_path / "tweets" / "tweets.csv", vocabulary, seq_length=4).client_data()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        model = models.sentiment_lstm(vectors, units=3, layers=1)
    solver = fc.SGD(epochs=1, batch_size=2, stepsize=0.1)
    expected = run(fc.FedProx(mu=1), model, clients, rounds=2, local_solver=solver)
    config = config_of(tweets, tmp_path)
    found = config.run()
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))
    assert len(clients) == 2
    before, after = (dict(m.named_parameters())["vectors"].double() for m in (config.model, found.model))
    assert torch.equal(before, after)  # frozen
    assert torch.equal(after, torch.as_tensor(vectors).double())


def test_other_vectors_are_another_run(tweets: dict[str, Any], tmp_path: Path) -> None:
    file, glove = tmp_path / "run.safetensors", tmp_path / "tweets" / "glove.txt"
    config_of(tweets, tmp_path).run(checkpoint=file)
    config_of(tweets, tmp_path).run(checkpoint=file)
    glove.write_text(glove.read_text().replace("happy ", "happy -"))
    with pytest.raises(InvalidInput, match="another model"):
        config_of(tweets, tmp_path).run(checkpoint=file)


@pytest.mark.parametrize(
    ("section", "change", "told"),
    [
        ("model", {"vectors": None}, "model.vectors = None: is missing"),
        ("model", {"vectors": "nowhere.txt"}, "model.vectors"),
        ("model", {"vectors": "tweets.csv"}, "model.vectors"),
        ("model", {"vectors": 5}, "model = "),
        ("model", {"max_words": 0}, "model.max_words"),
        ("model", {"vektors": "glove.txt"}, "did you mean vectors"),
        ("data", {"options": {"vocabulary": "glove.txt"}}, "data.options.vocabulary"),
        ("data", {"options": "seq_length"}, "data.options = seq_length: is not a table"),
        ("data", {"name": "digits", "data_dir": None, "options": None}, "model"),
    ],
)
def test_wrong_vectors(section: str, change: dict[str, Any], told: str, tweets: dict[str, Any], tmp_path: Path) -> None:
    tweets[section] = {key: value for key, value in (tweets[section] | change).items() if value is not None}
    with pytest.raises(InvalidInput, match=re.escape(told)):
        config_of(tweets, tmp_path).run()


@pytest.mark.parametrize(
    ("changes", "place", "told"),
    [
        ({"modle": {}}, "section", "did you mean model"),
        ({"model": 5}, "model", "is not a section"),
        ({"method": None}, "config", r"has no section \[method\]"),
        ({"method__name": None}, "method.name", "is missing"),
        ({"method__name": "FedDynn"}, "method.name", "did you mean FedDyn"),
        ({"method__alpha": None}, "method.alpha", "is missing"),
        ({"method__alpha": -1}, "method.alpha", "positive"),
        ({"method__alfa": 1}, "method", "did you mean alpha"),
        ({"model__name": "mlp"}, "model.name", "fully_connected"),
        ({"model__sizes": [64]}, "model.sizes", "inputs and outputs"),
        ({"model__sizes": "many"}, "model", "sizes"),
        ({"model__seed": -1}, "model.seed", "0"),
        ({"local_solver__name": "RMSprop"}, "local_solver.name", "SGD"),
        ({"local_solver__epochs": 0}, "local_solver.epochs", "1"),
        ({"local_solver__momentum": 1}, "local_solver.momentum", "momentum < 1"),
        ({"participation__K": 0}, "participation.K", "1"),
        ({"participation__K": None}, "participation.K", "is missing"),
        ({"stragglers__policy": "wait"}, "stragglers.policy", "drop"),
        ({"data__name": "cifar"}, "data.path", "neither a file nor"),
        ({"data__name": "diabetes"}, "data.name", "classification"),
        ({"data__partition": "by-name"}, "data.", "iid"),
        ({"data__test": 1.5}, "data.test", "samples for training and for testing"),
        ({"data__test": -0.1}, "data.test", "samples for training and for testing"),
        ({"data__test": "some"}, "data.test", "is not a number"),
        ({"data__standardize": "no"}, "data.standardize", "neither true nor false"),
        ({"data__standardize": 1}, "data.standardize", "neither true nor false"),
        ({"data__klients": 5}, "data", "did you mean clients"),
        ({"model__name": ["fully_connected"]}, "model.name", "fully_connected"),
        ({"model": {"name": "two_layer_cnn", "channels": -1}}, "model.channels", ">= 1"),
        ({"model": {"name": "two_layer_cnn", "filters": [3]}}, "model.filters", "pair"),
        ({"model": {"name": "two_layer_cnn", "hidden": [3, 0]}}, r"model.hidden[1]", ">= 1"),
        ({"model": {"name": "resnet18", "groups": 3}}, "model.groups", "does not divide the width 64"),
        ({"model": {"name": "character_lstm", "units": 0}}, "model.units", ">= 1"),
        ({"model": {"name": "character_lstm", "layers": "2"}}, "model.layers", "is not a number"),
        ({"run__rounds": None}, "run.rounds", "number of rounds"),
        ({"run__ruonds": 5}, "run", "did you mean rounds"),
        ({"model__seed": 2**64}, "model.seed", "below 2\\^64"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], place: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as error:
        config_of(changed(**changes), Path())
    assert error.value.argument.startswith(place)


@pytest.mark.parametrize(
    ("changes", "place", "told"),
    [
        ({"run__rounds": "ten"}, "run.rounds", "is not a number"),
        ({"run__rounds": 2.5}, "run.rounds", "integer"),
        ({"run__weights": "sample"}, "run.weights", "give 'samples'"),
        ({"run__weights": [1, 2, 3, 4, -1]}, "run.weights[4]", "negative"),
        ({"run__weights": [1, 2]}, "run.weights", "5 clients"),
        ({"run__dtype": "float16"}, "run.dtype", "float32"),
        ({"run__measure": "curv"}, "run.measure", "curvature"),
        ({"run__loss": "hinge"}, "run.loss", "cross_entropy"),
        ({"participation__K": 9}, "participation.K", "K <= 5"),
        ({"model__sizes": [64, 3]}, "model", "class 9"),
    ],
)
def test_mistakes_that_the_run_finds_are_named_as_well(changes: dict[str, Any], place: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as error:
        config_of(changed(**changes), Path()).run()
    assert error.value.argument == place


def test_changes_to_what_is_no_section(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('run = 5\n[data]\nname = "digits"\n')
    with pytest.raises(InvalidInput, match="run = 5: is not a section"):
        read_config(file, {"run": {"rounds": 3}})


@pytest.mark.parametrize(
    "content",
    [b"[data", b"data = 1\n[data]\n", b"\xff\xfe", b"name = 'x'", b"a = " + b"[" * 3000, b"a = " + b"9" * 5000],
)
def test_what_is_no_config(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_bytes(content)
    with pytest.raises(InvalidInput):
        read_config(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_config(tmp_path / "nothing.toml")


# ---- the command ----


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """`fedconvex deep` in a folder, without the seconds that a process takes to load torch: status, output, errors."""

    def run(*words: str) -> tuple[Any, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["fedconvex", "deep", *words])
        with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


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


def test_the_command(command: Any, tmp_path: Path) -> None:
    quick(tmp_path)
    code, out, err = command("run", "quick.toml")
    assert code == 0, err
    assert "round 3 of 3" in err
    assert "fedprox.theorem4: round" in out
    folder = tmp_path / "run-quick"
    assert {file.name for file in folder.iterdir()} == {
        "run.csv", "run.safetensors", "model.safetensors", "bounds.csv", "run.png",
    }  # fmt: skip
    assert len(pd.read_csv(folder / "run.csv")) == 4
    import safetensors.torch

    parameters = safetensors.torch.load_file(folder / "model.safetensors")
    models.fully_connected([64, 20, 10]).double().load_state_dict(parameters)
    code, out, err = command("run", "quick.toml", "--rounds", "4", "--json")
    assert code == 0, err
    assert "round 3 of 4" in err  # it went on
    assert json.loads(out)["last"]["round"] == 4


@pytest.mark.slow
def test_a_run_that_diverges_exits_with_1(command: Any, tmp_path: Path) -> None:
    quick(tmp_path, local_solver__stepsize=1e200, run__measure="drift")
    code, out, err = command("run", "quick.toml", "--out", "out")
    assert code == 1, err
    assert "not finite" in out
    assert (tmp_path / "out" / "model.safetensors").exists()


@pytest.mark.sample(1)
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
    changes: dict[str, Any], words: tuple[str, ...], told: str, command: Any, tmp_path: Path
) -> None:
    quick(tmp_path, **changes)
    code, _, err = command(*words)
    assert code == 2
    assert err.count("\n") == 1
    assert told in err


def test_the_example_is_a_config() -> None:
    found = config_of(tomllib.loads(EXAMPLE), Path())
    assert found.options["rounds"] == 100
