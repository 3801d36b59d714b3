"""The pytest plugin: `pytest --conform FILE.py:NAME`, and calls that make the problem of a failing test again.

pytest loads it in every test run of an environment with fedconvex, so it imports nothing of the package at the top.
"""

import inspect
import sys
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

SECTION = "fedconvex: calls that make what the test failed with"
LONGEST_CALL = 5000  # characters

# pytest rewrites the asserts of every module that is installed together with a plugin: here of hundreds, seconds where
# they are not cached, and no assert among them is a test's. The set has been the rewriting finder's in every pytest.
for _finder in sys.meta_path:
    if isinstance(_marked := getattr(_finder, "_must_rewrite", None), set):
        _marked.discard(__name__.partition(".")[0])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Documents and reads `--conform`."""
    parser.getgroup("fedconvex").addoption(
        "--conform",
        action="append",
        default=[],
        metavar="FILE.py:NAME[=METHOD(…)]",
        help="Check this implementation as one more test: the class, object or function NAME in the file, against "
        "METHOD(…), as in wrapper.py:FedDyn='FedDyn(alpha=0.1)', or its attribute `method`. May be repeated.",
    )


@pytest.hookimpl(tryfirst=True)  # before -k and the like choose among the tests
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds a test for every `--conform`."""
    for text in config.getoption("--conform"):
        file, _, rest = text.rpartition(":")  # a path may contain =, too
        name, _, method = rest.partition("=")
        target = f"{file}:{name}"
        items.append(ConformTest.from_parent(session, name=f"conform {target}", target=target, method=method or None))


class ConformTest(pytest.Item):
    """The check of one implementation as a test; it fails with the report as its message."""

    def __init__(self, target: str, method: str | None, **named: Any) -> None:
        super().__init__(**named)
        self.target, self.method = target, method

    def runtest(self) -> None:
        """Checks the implementation."""
        from fedconvex.conformance.decorator import DoesNotConform
        from fedconvex.conformance.implementation_files import check_file

        report = check_file(self.target, self.method)
        if not report.passed:
            raise DoesNotConform(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report, or what is wrong with the input; the traceback only of an error that is none of these."""
        from fedconvex.conformance.decorator import DoesNotConform
        from fedconvex.errors import InvalidInput

        if isinstance(excinfo.value, DoesNotConform | InvalidInput):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The file, and the test's name."""
        return Path(self.target.rpartition(":")[0]), None, self.name


@pytest.hookimpl(hookwrapper=True)  # old pytests know it, too: this module is loaded whatever the version
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
    """Adds a section with the problems, methods and participation schemes of a failing test, as calls to paste."""
    report = (yield).get_result()
    # a test that has any of these has loaded the package
    if report.failed and call.excinfo is not None and "fedconvex.problems" in sys.modules:
        try:
            calls = _calls(getattr(item, "obj", None), call.excinfo.value)
        except Exception:  # a problem that cannot be printed must not hide the failure itself
            calls = []
        if calls:
            report.sections.append((SECTION, "\n".join([*_imports(calls), *calls])))


def _imports(calls: list[str]) -> list[str]:
    fractions = any("Fraction(" in one for one in calls)
    return ["from fractions import Fraction"] * fractions + ["import fedconvex as fc"]


def _calls(test: Any, error: BaseException) -> list[str]:
    """`name = call` for everything of the package among the local variables of the test function, where it failed."""
    inner = getattr(getattr(test, "hypothesis", None), "inner_test", test)
    code = getattr(inspect.unwrap(getattr(inner, "__func__", inner)), "__code__", None)
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code is code)
    if (frame := next(frames, None)) is not None:
        own = {name: value for name, value in frame.f_locals.items() if name.isidentifier()}  # not pytest's @py_assert8
        return [f"{name} = {text}" for name, value in own.items() if (text := _call(value)) is not None]
    if isinstance(error, BaseExceptionGroup):  # Hypothesis found several failures
        return list(dict.fromkeys(line for one in error.exceptions for line in _calls(test, one)))
    return []


def _call(value: Any) -> str | None:
    """The call that makes the value again; None for what is not the package's, or too long to paste."""
    from fedconvex import participation, problems
    from fedconvex.local_solvers.base import LocalSolver
    from fedconvex.methods.base import Method
    from fedconvex.problems.constructor_calls import ARGUMENTS, constructor_call

    if any(type(value) is getattr(problems, name) for name in ARGUMENTS):
        text = f"fc.{constructor_call(value)}"
    elif isinstance(value, Method | LocalSolver):
        text = f"fc.{value!r}"
    elif isinstance(value, participation.Participation):
        text = f"fc.participation.{value!r}"
    else:
        return None
    return text if len(text) <= LONGEST_CALL else None
