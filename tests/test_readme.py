"""The README's examples run as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=["script", "property test", "notebook"])
def test_example_runs(block, capsys):
    names = {}
    exec(compile(block, str(README), "exec"), names)  # noqa: S102  our own README
    for name, value in list(names.items()):
        if name.startswith("test_"):
            value()
    capsys.readouterr()
