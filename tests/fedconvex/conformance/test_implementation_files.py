"""Implementations from files: classes, objects and dicts are found and checked; other files are refused."""

import sys
from pathlib import Path

import pytest

import fedconvex as fc
from fedconvex.conformance.implementation_files import check_file
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

FILE = Path(__file__).parent / "wrapped_fedprox.py"
SOLVER = fc.GradientDescent(steps=2, stepsize=0.1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["FedProx", "OBJECT", "DICTIONARY"])
def test_every_shape_of_an_implementation_is_checked_against_its_own_method(name: str) -> None:
    report = check_file(f"{FILE}:{name}")
    assert report.passed
    assert report.method == repr(fc.FedProx(mu=0.5))


def test_what_the_caller_gives_replaces_what_the_implementation_says() -> None:
    assert check_file(f"{FILE}:Static", fc.FedProx(mu=0.5), local_solver=SOLVER).passed
    assert not check_file(f"{FILE}:FedProx", "FedProx(mu=1/4)").passed
    assert not check_file(f"{FILE}:FedProx", local_solver="GradientDescent(steps=1, stepsize=0.1)").passed


def test_a_wrong_one_does_not_conform() -> None:
    assert [finding.name for finding in check_file(f"{FILE}:Repelled").diagnosis] == [
        "the proximal gradient has the wrong sign"
    ]


def test_an_implementation_that_ends_the_program_does_not_conform() -> None:
    report = check_file(f"{FILE}:Leaves")
    assert not report.passed
    assert "SystemExit: 0" in report.report()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "names no implementation"),
        ("FedProx", "names no implementation"),
        (f"{FILE}", "names no implementation"),
        (f"{FILE}:", "names no implementation"),
        (f"{FILE}:FedProx()", "names no implementation"),
        (f"{FILE}:no.name", "names no implementation"),
        (f"{FILE.parent}:FedProx", "is no Python file"),
        ("nowhere.py:FedProx", "is no Python file"),
        ("null\0.py:FedProx", "is no Python file"),
        (f"{FILE}:Nothing", "name one of FedProx, Repelled"),
        (f"{FILE}:NeedsArguments", r"NeedsArguments\(\) fails: TypeError"),
        (f"{FILE}:Static", "is given neither with Static nor in it; pass --method"),
        (None, "names no implementation"),
    ],
)
def test_what_cannot_be_checked_is_refused(target: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_file(target)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import nothing_of_this_name", r"ModuleNotFoundError: No module named 'nothing_of_this_name' \(line 1\)"),
        ("x = 1\nx = 1 / 0", r"ZeroDivisionError: division by zero \(line 2\)"),
        ("raise SystemExit(0)", r"SystemExit: 0 \(line 1\)"),
        ("import os\nos._exit(0)", r"SystemExit: 0 \(line 2\)"),
        ("def f(:", r"SyntaxError: .* \(line 1\)"),
        ("class A:\n    pass", "has none of the functions"),
        ("A = 3", "has none of the functions"),
        (
            "def A(model, data, state):\n    pass\nA.method = 'FedGD(stepsize=1)'\nA.loss = len",
            "is no value of that option",
        ),
        ("def A(model, data, state):\n    pass\nA.method = len", "is not a method"),
        ("while True:\n    pass", r"cannot be run: it takes longer than its time limit \(line [12]\)"),
        (
            "class A:\n    def __init__(self):\n        while True:\n            pass\n"
            "    def round(self, problem, state, active):\n        return state",
            r"A\(\) fails: it takes longer than its time limit \(line [34]\)",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_error(source: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "wrapper.py").write_text(source, "utf-8")
    with pytest.raises(InvalidInput, match=message):
        check_file(f"{tmp_path / 'wrapper.py'}:A", time_limit=0.05 if "while" in source else 60)


def test_files_of_two_folders_each_get_the_module_beside_them(tmp_path: Path) -> None:
    """The second of two namesakes would else be checked with the first one's code."""
    before = list(sys.path)
    for folder, chosen in (("right", "FedProx"), ("wrong", "Repelled")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "parts.py").write_text(f"{FILE.read_text('utf-8')}\nOurs = {chosen}\n", "utf-8")
        (tmp_path / folder / "wrapper.py").write_text("from parts import Ours\n", "utf-8")
    assert check_file(f"{tmp_path / 'right' / 'wrapper.py'}:Ours").passed
    assert not check_file(f"{tmp_path / 'wrong' / 'wrapper.py'}:Ours").passed
    assert sys.path == before
    assert "parts" not in sys.modules


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(InvalidInput, match="seed = 3: is no option"):
        check_file(f"{FILE}:FedProx", seed=3)
