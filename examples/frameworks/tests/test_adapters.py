"""An adapter is short, and says what is missing: a user can write one like it in an hour."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.conformance.adapters import MissingFramework
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

FILES = sorted(Path(__file__).parents[1].glob("*_adapter.py"))
MOST = 60


def lines_of_code(program: str) -> int:
    """The number of lines on which code begins, without docstrings."""
    nodes = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.expr | ast.stmt)]
    texts = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    return len({node.lineno for node in nodes} - {text.lineno for text in texts})


def test_what_counts_as_a_line() -> None:
    program = '"""Text."""\nimport ast\n\n# why\ndef same(x):\n    """x."""\n    return (\n        x\n    )\n'
    assert lines_of_code(program) == 4


@pytest.mark.parametrize("name", ["pfllib", "flbench", "fluke", "fedml", "nvflare", "fedadmm"])
def test_wrapping_a_code_base_takes_sixty_lines(name: str) -> None:
    (file,) = (file for file in FILES if file.stem == f"{name}_adapter")
    assert lines_of_code(file.read_text("utf-8")) <= MOST


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_framework_that_is_missing_is_named_with_the_version(file: Path) -> None:
    adapter: Any = import_module(file.stem)
    try:
        adapter.wrap(fc.FedSplit(stepsize=1), fc.GradientDescent(steps=1, stepsize=1))
    except MissingFramework as error:
        assert f"=={adapter.TESTED}" in str(error) or "PYTHONPATH" in str(error)  # noqa: PT017 - either error will do
    except InvalidInput as error:
        assert "is not one that" in str(error)  # noqa: PT017
    else:
        pytest.fail("no framework has FedSplit")
