"""A folder's methods, problems, data sets, models and papers are found by reading it, without importing its modules."""

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from program_runner import printed

from fedconvex import data, local_solvers, methods, problems
from fedconvex.deep import datasets, models
from fedconvex.discovery import Members, final_classes, module_names, modules_that_bind, public_functions, run_file
from fedconvex.theory import papers

FILES = {
    "__init__.py": "",
    "base.py": "class Base: ...\nclass Half(Base): ...",
    "direct.py": "@final\nclass Direct(Base): ...\n@final\nclass Other: ...\nclass Open(Base): ...",
    "indirect.py": "import typing\nimport no_such_library\n@typing.final\nclass Indirect(base.Half): ...",
    "functions.py": "PAPER: object = 1\ndef shown(): ...\ndef _hidden(): ...",
    "inner/__init__.py": "from inner.notation import PAPER as PAPER",
    "_private.py": "PAPER = 2\nclass Private(Base): ...",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name, source in FILES.items():
        (tmp_path / "searched" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "searched" / name).write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "searched"
    for name in [name for name in sys.modules if name.split(".")[0] == "searched"]:
        del sys.modules[name]


def test_final_classes_below_a_base_are_found(folder: str) -> None:
    assert final_classes(folder, "Base").modules == {"Direct": "searched.direct", "Indirect": "searched.indirect"}
    assert final_classes(folder, "Half").modules == {"Indirect": "searched.indirect"}


def test_functions_and_constants_are_found(folder: str) -> None:
    assert public_functions(folder).modules == {"shown": "searched.functions"}
    assert modules_that_bind(folder, "PAPER") == ["functions", "inner"]
    assert module_names(folder) == ["base", "direct", "functions", "indirect", "inner"]


@pytest.mark.parametrize("twice", ["@final\nclass Direct(Base): ...", "def shown(): ..."])
def test_a_name_in_two_modules_is_refused(folder: str, tmp_path: Path, twice: str) -> None:
    (tmp_path / "searched" / "second.py").write_text(twice, "utf-8")
    with pytest.raises(ImportError, match=r"is defined in searched\.\w+ and in searched\.\w+: rename one"):
        (final_classes(folder, "Base"), public_functions(folder))


def test_a_module_is_imported_when_its_member_is_used(folder: str) -> None:
    found = final_classes(folder, "Base")
    assert (list(found), len(found), "Indirect" in found, "Base" in found) == (["Direct", "Indirect"], 2, True, False)
    assert "searched.direct" not in sys.modules
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        found["Indirect"]
    with pytest.raises(KeyError):
        found["Lost"]
    with pytest.raises(AttributeError, match="module 'searched' has no attribute 'Lost'"):
        found.attribute(folder, "Lost")


@pytest.mark.parametrize(
    ("package", "members", "base"),
    [
        (methods, methods.METHODS, methods.Method),
        (local_solvers, local_solvers.LOCAL_SOLVERS, local_solvers.LocalSolver),
        (problems, problems.PROBLEMS, problems.Problem),
    ],
)
def test_reading_finds_what_importing_would(package: object, members: Members, base: type) -> None:
    for module in Path(package.__file__).parent.glob("*.py"):
        if module.stem != "__init__" and "from numba" not in module.read_text("utf-8"):
            import_module(f"{package.__name__}.{module.stem}")

    def below(kind: type) -> set[type]:
        return {kind}.union(*(below(one) for one in kind.__subclasses__()))

    inside = {one for one in below(base) if one.__module__.startswith(f"{package.__name__}.")}
    assert set(members.values()) == {one for one in inside if getattr(one, "__final__", False)}
    assert set(members) <= set(package.__all__)


def test_what_there_is_today() -> None:
    assert {"FedProx", "FedSplit", "FedDyn", "Scaffold", "FedPD"} <= methods.METHODS.keys()
    assert {"Exact", "GradientDescent", "SGD", "ToInexactness"} <= local_solvers.LOCAL_SOLVERS.keys()
    assert {"LeastSquares", "Quadratic", "Logistic"} <= problems.PROBLEMS.keys()
    assert {"diabetes", "breast_cancer", "digits"} <= set(data.builtin.names()) <= set(data.__all__)
    assert {"mnist", "cifar10", "shakespeare", "digits"} <= set(datasets.names()) <= set(datasets.__all__)
    assert {"fully_connected", "resnet18", "character_lstm"} <= models.MODELS.keys() < set(models.__all__)
    assert {"fedprox", "fedsplit", "feddyn", "dane", "nesterov"} <= papers().keys()
    assert not {"bounds", "catalogue"} & papers().keys()


def test_a_data_set_may_have_the_name_of_its_module() -> None:
    import_module("fedconvex.data.builtin.diabetes")
    import_module("fedconvex.deep.datasets.mnist")
    assert callable(data.diabetes)
    assert callable(datasets.mnist)


@pytest.mark.beyond_core  # starts a process
def test_the_names_of_solvers_need_no_compiler() -> None:
    printed("import sys\nfrom fedconvex import local_solvers\nlocal_solvers.__all__\nassert 'numba' not in sys.modules")


def test_a_users_file_is_run_as_it_is_now(tmp_path: Path) -> None:
    """Of the same length and the same second, Python itself would run the code that it compiled before."""
    file = tmp_path / "own.py"
    for number in (1, 2):
        file.write_text(f"NUMBER = {number}", "utf-8")
        os.utime(file, (10**9, 10**9))
        assert number == run_file(file, "own_of_a_test").NUMBER
        del sys.modules["own_of_a_test"]
    file.write_text("raise KeyError", "utf-8")
    with pytest.raises(KeyError):
        run_file(file, "own_of_a_test")
    assert "own_of_a_test" not in sys.modules
    assert [path.name for path in tmp_path.iterdir()] == ["own.py"]
