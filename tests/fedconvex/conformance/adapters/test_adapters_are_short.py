"""An adapter for a code base is short: a user can write one like it in an hour."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

import fedconvex.conformance.adapters as adapters

FOLDER = Path(adapters.__file__).parent
MOST = 60
SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def lines_of_code(program: str, with_imports: bool = True) -> int:
    """The number of lines without docstrings, comments and blank lines."""
    tree = ast.parse(program)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        text = ast.get_docstring(node) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) else None
        if text is not None:
            first = node.body[0]  # type: ignore[attr-defined] # of a module, class or function
            left_out |= set(range(first.lineno, first.end_lineno + 1))
        if not with_imports and isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(program).readline)
    spanned = [range(t.start[0], t.end[0] + 1) for t in tokens if t.type not in SILENT]
    return len({line for lines in spanned for line in lines} - left_out)


def test_what_counts_as_a_line() -> None:
    program = (
        '"""Text."""\nimport ast\n\n# why\ndef double(x):\n    """Twice x."""\n    return (\n        2 * x\n    )\n'
    )
    assert lines_of_code(program) == 5
    assert lines_of_code(program, with_imports=False) == 4


@pytest.mark.parametrize("name", ["pfllib", "flbench", "fluke", "fedml", "nvflare", "fedadmm"])
def test_wrapping_a_code_base_takes_sixty_lines(name: str) -> None:
    assert lines_of_code((FOLDER / f"{name}.py").read_text("utf-8")) <= MOST
