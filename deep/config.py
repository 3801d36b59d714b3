"""Runs described by a TOML file: each section becomes data, model, method, local solver, participation or options.

[data]             name, data_dir, clients, partition, seed, test, standardize … (`fedconvex.deep.sources.load`)
[model]            name and its sizes (`fedconvex.deep.models`); seed of the initial parameters; for sentiment_lstm
                   vectors (a file in GloVe's format, relative to the data's folder) and max_words of them
[method]           name and its parameters (fedconvex.FedProx: mu = 1)
[local_solver]     name and its parameters; without the section the method's default
[participation]    name and its parameters; without the section all clients
[stragglers]       fraction, policy
[run]              rounds, seed, loss, weights, ridge, dtype, device, precision, measure, every, …
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, final

import torch

from fedconvex import participation
from fedconvex.deep import models
from fedconvex.deep.datasets import read_word_vectors
from fedconvex.deep.datasets.choices import unknown_name
from fedconvex.deep.runner import DeepRun, run
from fedconvex.deep.sources import Source, load
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers import LOCAL_SOLVERS
from fedconvex.methods import METHODS
from fedconvex.participation import Participation, Stragglers
from fedconvex.validation import integer_at_least

SECTIONS = ("data", "model", "method", "local_solver", "participation", "stragglers", "run")
# Arguments of `fedconvex.deep.run` that a file may contain; files to write are given on the command line.
OPTIONS = (
    "rounds", "seed", "loss", "weights", "ridge", "dtype", "device", "precision", "local_mode", "buffers", "storage",
    "measure", "every", "lanczos_steps", "draws",
)  # fmt: skip
SCHEMES = {
    name: kind
    for name, kind in vars(participation).items()
    if isinstance(kind, type) and issubclass(kind, Participation) and kind is not Participation
}

Section = Mapping[str, Any]


@final
@dataclass(frozen=True, eq=False)
class Config:
    """A run that is ready to start: all names are known and all parameters valid."""

    source: Source
    model: torch.nn.Module
    method: Any
    options: dict[str, Any]

    def run(self, **more: Any) -> DeepRun:
        """Run it, with `more` as further arguments of `fedconvex.deep.run`; errors name arguments as `section.key`."""
        try:
            return run(self.method, self.model, self.source.clients, test=self.source.test, **(self.options | more))
        except InvalidInput as error:
            # `run` names its own arguments: find the section of the file that they came from.
            key = error.argument.partition("[")[0]
            section = "run" if key in OPTIONS else "participation" if key == "K" else None
            if section is None:
                raise
            raise InvalidInput(f"{section}.{error.argument}", error.value, error.problem, error.cure) from error


def read_config(path: Path, changes: Mapping[str, Section] | None = None) -> Config:
    """Read a run from a TOML file; `changes`, by section and key, take precedence over the file.

    Use it for the experiments of `fedconvex deep run`; in Python, `fedconvex.deep.run` takes the objects themselves.

    Raises:
        InvalidInput: a file that is not TOML, unknown or missing sections and keys, values that are not accepted; keys
            are named as `section.key`, with the values that are allowed.
    """
    try:
        sections = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput("config", path, f"cannot be read: {error.strerror}", "check the path") from None
    except RecursionError:
        raise InvalidInput("config", path, "is nested too deeply", "use fewer nested tables and lists") from None
    except ValueError as error:  # also that of text that is not UTF-8, and of integers of thousands of digits
        raise InvalidInput("config", path, f"is not TOML: {error}", "correct the TOML there") from None
    for name, section in (changes or {}).items():
        given = sections.get(name, {})
        sections[name] = {**given, **section} if isinstance(given, Mapping) else given
    return config_of(sections, path.parent)


def config_of(sections: Mapping[str, Any], folder: Path) -> Config:
    """Build a run from sections as `read_config` finds them; paths are relative to `folder`."""
    for name, section in sections.items():
        if name not in SECTIONS:
            raise unknown_name("section", name, SECTIONS)
        if not isinstance(section, Mapping):
            raise InvalidInput(name, section, "is not a section", f"write [{name}] and its keys below it")
    for name in ("data", "model", "method", "run"):
        if name not in sections:
            raise InvalidInput("config", sorted(sections), f"has no section [{name}]", f"add [{name}]")
    method = _named("method", METHODS, sections["method"])
    options = dict(sections["run"])
    for key in options:
        if key not in OPTIONS:
            raise unknown_name("run", key, OPTIONS)
    if "rounds" not in options:
        raise InvalidInput("run.rounds", None, "is missing", "give the number of rounds: rounds = 100")
    if "local_solver" in sections:
        options["local_solver"] = _named("local_solver", LOCAL_SOLVERS, sections["local_solver"])
    if "participation" in sections:
        options["participation"] = _named("participation", SCHEMES, sections["participation"])
    if "stragglers" in sections:
        options["stragglers"] = construct(Stragglers, sections["stragglers"], "stragglers")
    # The word vectors of the model number the words of the data: the model is built first and fills the vocabulary.
    data, vocabulary = dict(sections["data"]), dict[str, int]()
    model = _model(sections["model"], _data_folder(data, folder), vocabulary)
    if vocabulary and data.get("name") == "sent140":
        given = data.get("options", {})
        if not isinstance(given, Mapping):
            raise InvalidInput("data.options", given, "is not a table", "write options = {seq_length = 25}")
        if "vocabulary" in given:
            problem = "is determined by model.vectors"
            raise InvalidInput("data.options.vocabulary", given["vocabulary"], problem, "leave it out")
        data["options"] = dict(given) | {"vocabulary": vocabulary}
    source = construct(load, data | {"folder": folder}, "data")
    return Config(source, model, method, options)


def _data_folder(data: Section, folder: Path) -> Path:
    """The folder of the data's files: data_dir, or the folder that contains it if it is a file."""
    place = folder / str(data.get("data_dir", "."))
    return place if place.is_dir() else place.parent


def _model(section: Section, place: Path, vocabulary: dict[str, int]) -> torch.nn.Module:
    """The model; the words of its word vectors, a file relative to `place`, are added to the vocabulary."""

    # A file cannot contain the matrix of word vectors, so this model is made from their file; as a function with a
    # signature, its keys are checked like those of the other models.
    def sentiment_lstm(
        vectors: str, max_words: int | None = None, classes: int = 2, units: int = 256, layers: int = 2
    ) -> torch.nn.Module:
        try:
            words, matrix = read_word_vectors(place / vectors, max_words=max_words)
        except InvalidInput as error:
            argument = "vectors" if error.argument == "path" else error.argument
            raise InvalidInput(argument, error.value, error.problem, error.cure) from None
        vocabulary.update(words)
        return models.sentiment_lstm(matrix, classes, units, layers)

    given = dict(section)
    seed = integer_at_least(given.pop("seed", 0), 0, "model.seed")
    if seed >= 2**64:
        raise InvalidInput("model.seed", seed, "is more than PyTorch takes", "give a seed below 2^64")
    choices = {**models.MODELS, "sentiment_lstm": sentiment_lstm}
    with torch.random.fork_rng(devices=[]):  # the caller's generator is restored afterwards
        torch.manual_seed(seed)
        model: torch.nn.Module = _named("model", choices, given)
    return model


def _named(where: str, choices: Mapping[str, Callable[..., Any]], section: Section) -> Any:
    """Call the function or class that the section's `name` names, with the section's other keys."""
    given = dict(section)
    name = given.pop("name", None)
    if name is None:
        raise InvalidInput(f"{where}.name", None, "is missing", f"give one of {', '.join(sorted(choices))}")
    if not isinstance(name, str) or name not in choices:
        raise unknown_name(f"{where}.name", name, sorted(choices))
    return construct(choices[name], given, where)


def construct(call: Callable[..., Any], given: Section, where: str) -> Any:
    """Return call(**given) for a class or function, after a check of the keys; errors name the key as `where.key`."""
    # Keys are compared first: a TypeError from the call would not tell a misspelt key from an error inside.
    takes = signature(call).parameters
    for key in given:
        if key not in takes:
            raise unknown_name(where, key, [name for name in takes if name != "folder"])
    missing = [name for name, p in takes.items() if p.default is Parameter.empty and name not in given]
    if missing:
        raise InvalidInput(f"{where}.{missing[0]}", None, "is missing", f"add it: {call.__name__} requires it")
    try:
        return call(**given)
    except InvalidInput as error:
        raise InvalidInput(f"{where}.{error.argument}", error.value, error.problem, error.cure) from None
    except (TypeError, ValueError, AttributeError) as error:
        text = ", ".join(f"{key} = {value!r}" for key, value in given.items() if key != "folder")
        raise InvalidInput(where, text, f"is not accepted: {error}", f"see the help of {call.__name__}") from None
