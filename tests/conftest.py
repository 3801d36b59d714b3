"""What all tests share: the modules beside them can be imported, processes run this checkout, tests have layers."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def helper_modules() -> list[Path]:
    """The modules that several tests share: neither tests, nor fixtures, nor parts of a helper package."""
    files = sorted(HERE.rglob("*.py"))
    packages = {file.parent for file in files if file.name == "__init__.py"}
    modules = [file for file in files if not file.name.startswith("test_") and file.parent not in packages]
    return [*sorted(packages), *(file for file in modules if file.name != "conftest.py")]


# With --import-mode=importlib, pytest adds no folder to the path. `tests` itself must stay off it: it has a folder
# `fedconvex`, which would be taken for the package.
for folder in sorted({str(module.parent) for module in helper_modules()}):
    sys.path.insert(0, folder)

# A process that a test starts in another folder would else import whatever fedconvex is installed, which in a second
# checkout is not the one under test.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")]))

pytest_plugins = ("core_layer", "slow_layer", "explore_layer", "tried_record", "pytester")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Without looking for cycles among a million objects that stay: that took a fifth of the time, in every process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()  # nor later, whenever a test makes many objects
        gc.enable()
