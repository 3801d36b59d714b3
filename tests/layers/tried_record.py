"""What slow tests have tried before, with the very same texts: mutants of a proof that has not changed, for example.

A test gives `tried_before` all texts that decide how it ends, and need not go on where it has passed with these. The
record, `tests/tried.json`, is renewed by `pytest --try-again`, which tries everything.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fedconvex.atomic_files import write_atomically

RECORD = Path(__file__).parent.parent / "tried.json"
NAME = "tried"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--try-again", type=Path, nargs="?", const=RECORD, help="try what a record has, too, and renew it")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.try_again is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Renewed(config.option.try_again))


class Renewed:
    """The plugin of the process that hears of every test: it writes what has passed."""

    def __init__(self, path: Path) -> None:
        self.path, self.found = path, read(path)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.found |= {digest(report.nodeid): str(texts) for name, texts in report.user_properties if name == NAME}

    def pytest_sessionfinish(self) -> None:
        write_atomically(self.path, (json.dumps(dict(sorted(self.found.items())), indent=0) + "\n").encode())


def read(path: Path) -> dict[str, str]:
    """The texts with which every test has passed, in short."""
    found: dict[str, str] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


@pytest.fixture
def tried_before(request: pytest.FixtureRequest) -> Callable[..., bool]:
    """Whether this test has passed with just these texts."""

    def before(*texts: str) -> bool:
        made = digest(*texts)
        request.node.user_properties.append((NAME, made))
        return request.config.option.try_again is None and read(RECORD).get(digest(request.node.nodeid)) == made

    return before
