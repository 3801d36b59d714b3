"""The explore layer: Hypothesis draws the same examples in every run, but with `-m explore` new ones.

So a test never fails by chance, and chance is still used: `pytest -m explore` runs all tests that Hypothesis drives,
with a fresh seed. The header names it; `pytest -m explore --hypothesis-seed=…` draws the same again. `--examples` takes
the place of the profile's hundred and of what a test sets for itself; with `--explored` a long exploration can end and
go on another day.
"""

import faulthandler
import re
import secrets
from contextlib import ExitStack
from itertools import compress
from operator import not_
from pathlib import Path
from typing import Any

import pytest
from explored_record import is_explored, read, recording
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

# A test asserts what is true on any machine, not how fast it is. A hundred examples are for the exploration, where they
# are new ones.
# To explain a failure Hypothesis traces every line, which took minutes in false properties that tests plant.
PHASES = [phase for phase in Phase if phase is not Phase.explain]
QUIET = [HealthCheck.too_slow]
FIXED = settings(deadline=None, derandomize=True, max_examples=30, phases=PHASES, suppress_health_check=QUIET)
settings.register_profile("fixed", FIXED)
settings.register_profile("explore", FIXED, derandomize=False, max_examples=100, phases=list(Phase), print_blob=True)
settings.load_profile("fixed")  # before the tests are imported, whose own settings take the rest from here

CHOSEN = re.compile(r"(?<!not )\bexplore\b")


def exploring(config: pytest.Config) -> bool:
    return CHOSEN.search(config.option.markexpr) is not None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--examples", type=int, help="with -m explore: examples of each property, instead of a hundred")
    told = "with --examples, after `=`: leave out what FILE says has passed with as many, add what passes"
    parser.addoption("--explored", type=Path, metavar="FILE", help=told)


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its seed, and before pytest-xdist hands it to its processes
def pytest_configure(config: pytest.Config) -> None:
    count = config.option.examples
    if count is not None and count < 1:
        raise pytest.UsageError(f"--examples {count}: of each property there is at least one example; give 1 or more")
    if count is not None and not exploring(config):
        raise pytest.UsageError(f"--examples {count}: only an exploration draws as many as asked for; add -m explore")
    if config.option.explored is not None and count is None:
        raise pytest.UsageError(f"--explored {config.option.explored}: of what is not said; add --examples 20000")
    if exploring(config):
        settings.load_profile("explore")
        if config.option.hypothesis_seed is None:
            config.option.hypothesis_seed = str(secrets.randbelow(10**9))
        if config.option.explored is not None and not hasattr(config, "workerinput"):
            held = ExitStack()
            config.add_cleanup(held.close)
            record = held.enter_context(recording(config.option.explored, config.option.hypothesis_seed))
            config.pluginmanager.register(record)
    elif hasattr(providers, "_get_local_constants"):
        # Hypothesis draws constants of the modules that are loaded, too: which ones depends on the tests before
        providers._get_local_constants = providers.Constants


def pytest_report_header(config: pytest.Config) -> str | None:
    return f"exploring with --hypothesis-seed={config.option.hypothesis_seed}" if exploring(config) else None


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test):
            item.add_marker("explore")
            if exploring(config) and config.option.examples is not None:
                examples_of(test, config.option.examples)
    if config.option.explored is not None:
        count, record = config.option.examples, read(config.option.explored)
        old = [is_explored(record.get(item.nodeid), count) for item in items]
        config.hook.pytest_deselected(items=[*compress(items, old)])
        items[:] = compress(items, map(not_, old))


def examples_of(test: Any, count: int) -> None:
    """Let the test draw so many, fresh ones, whatever it sets for itself: only the inner name can change that."""
    function = getattr(test, "__func__", test)
    own = function._hypothesis_internal_use_settings
    function._hypothesis_internal_use_settings = settings(own, max_examples=count, derandomize=False, database=None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.config.option.examples is not None:
        faulthandler.cancel_dump_traceback_later()  # the limit is for a test with few examples
