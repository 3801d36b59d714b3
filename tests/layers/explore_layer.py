"""The explore layer: Hypothesis draws the same examples in every run, but with `-m explore` new ones.

So a test never fails by chance, and chance is still used: `pytest -m explore` runs all tests that Hypothesis drives,
with a fresh seed. The header names it; `pytest -m explore --hypothesis-seed=…` draws the same again.
"""

import re
import secrets

import pytest
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


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its seed, and before pytest-xdist hands it to its processes
def pytest_configure(config: pytest.Config) -> None:
    if exploring(config):
        settings.load_profile("explore")
        if config.option.hypothesis_seed is None:
            config.option.hypothesis_seed = str(secrets.randbelow(10**9))
    elif hasattr(providers, "_get_local_constants"):
        # Hypothesis draws constants of the modules that are loaded, too: which ones depends on the tests before
        providers._get_local_constants = providers.Constants


def pytest_report_header(config: pytest.Config) -> str | None:
    return f"exploring with --hypothesis-seed={config.option.hypothesis_seed}" if exploring(config) else None


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("explore")
