"""The tests' tree follows the package's, and every helper module is found by its name."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Folders of tests about one subject, where the package has a module, or several, but no folder.
SUBJECTS = {
    "theory/bounds_for", "theory/design", "theory/promises_on_runs", "theory/reference_feddyn",
    "fedconvex/statements/refusals",
}  # fmt: skip


def strays(tests: Path, package: Path) -> set[str]:
    """Folders of tests to which neither a folder nor a module of the package corresponds."""
    folders = {str(file.parent.relative_to(tests)) for file in tests.rglob("*.py")} - {"."}
    return {name for name in folders if not ((package / name).is_dir() or (package / f"{name}.py").is_file())}


def test_folders_of_tests_are_those_of_the_package() -> None:
    assert strays(ROOT / "tests", ROOT) == SUBJECTS | {"layers", "fuzzing"}


def test_a_folder_that_was_left_behind_is_noticed(tmp_path: Path) -> None:
    for file in ("tests/audit/test_a.py", "tests/cli/test_b.py", "tests/errors/test_c.py", "audit/a.py", "errors.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert strays(tmp_path / "tests", tmp_path) == {"cli"}


def test_helper_modules_have_names_of_their_own(request: pytest.FixtureRequest) -> None:
    """They share one path, on which a second module of a name would never be found."""
    plugins = {str(getattr(plugin, "__file__", "")): plugin for plugin in request.config.pluginmanager.get_plugins()}
    names = [path.stem for path in plugins[str(ROOT / "tests" / "conftest.py")].helper_modules()]
    assert len(names) == len(set(names)) > 20
