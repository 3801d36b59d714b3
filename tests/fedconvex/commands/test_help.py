"""`COMMAND --help` is the command's whole help, and loads nothing that it does not need."""

import pytest
from loaded_modules import loaded_by
from typer.testing import CliRunner

from fedconvex.commands.main import COMMANDS, HELP_WORDS, app, command_line

GROUPS = {"deep": ("example", "run", "download")}
PATHS = [[], *([name] for name in COMMANDS), *([group, name] for group, names in GROUPS.items() for name in names)]
HEAVY = {"numpy", "scipy", "pandas", "sklearn", "matplotlib", "cvxpy", "flint", "sympy", "torch", "z3"}
PARSERS = {"pydantic"}  # typer converts types with it


# The data options of another command; without a name, all of them are listed.
SHARED = {"recommend": {"audit"}, "diagnose": {"audit"}, "": {name.replace("-", "_") for name in COMMANDS}}


@pytest.mark.sample(4)
@pytest.mark.beyond_core  # starts a process
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_loads_no_heavy_library_and_no_other_command(name: str) -> None:
    loaded = loaded_by(*filter(None, [name]), "--help")
    assert loaded & (HEAVY | PARSERS) == set()
    others = {other.replace("-", "_") for other in COMMANDS} - {name.replace("-", "_")}
    assert {other for other in others if f"fedconvex.commands.{other}" in loaded} == SHARED.get(name, set())


@pytest.mark.beyond_core  # starts a process
def test_what_a_command_loads_is_noticed() -> None:
    loaded = loaded_by("bounds", "fedprox.rho", "--mu", "50", "--L", "1", "--L-minus", "0", "--B", "1", "--gamma", "0",
                       "--K", "10")  # fmt: skip
    assert {"flint", "pydantic", "fedconvex.commands.bounds.command"} <= loaded


@pytest.mark.sample(10)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("word", HELP_WORDS)
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_without_parsing_is_the_parsers_help(path: list[str], word: str) -> None:
    """An empty word after `--help` leaves both to the parser."""
    runner = CliRunner()
    fast, parsed = (runner.invoke(app, [*path, word, *more]) for more in ([], [""]))
    assert fast.exit_code == parsed.exit_code == 0
    assert fast.output == parsed.output
    assert " ".join(["Usage: root", *path]) in " ".join(fast.output.split())


@pytest.mark.parametrize("words", ["nobody --help", "audit nobody --out", "deep nobody --help", "--nothing --help"])
def test_words_that_are_no_command_are_left_to_the_parser(words: str) -> None:
    assert CliRunner().invoke(app, words.split()).exit_code == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_a_named_command_stands_alone(name: str) -> None:
    for words in ([name], ["--traceback", name, "--help"]):
        alone = command_line(words)
        assert len(alone.registered_commands) + len(alone.registered_groups) == 1
    for words in ([], ["--help"], ["nobody"]):
        whole = command_line(words)
        assert len(whole.registered_commands) + len(whole.registered_groups) == len(COMMANDS)
