"""Names as an attacker writes them, and what must be true of anything that shows them."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from unicodedata import category

import pytest

from fedconvex.commands import main as cli

Run = Callable[..., tuple[int, str, str]]

NAMES = {
    "terminal": "\x1b[31mred\x1b]0;title\x07",
    "8-bit terminal": "a\x9b2Jb\x85",
    "overwriting": "good\r\x08\x08bad",
    "markup": "[/bold][red]x[/nothing]",
    "emoji": ":warning: [link=file:x]",
    "a formula": "$\\frac{1}$",
    "dollars": "a$b$c$",
    "script": "<script>alert(1)<script>",
    "an attribute": '"><img src=x onerror=alert(1)>',
    "an entity": "&lt;b&gt; ]]> <!--",
    "undecodable": "caf\udce9",
    "long": "n" * 200,
    "lines": "a\nb\n\nfedconvex: done",
    "right to left": "\u202etxt.exe\u2066",
    "no width": "a\u200bb\ufeffc\u2060",
    "other lines": "a\u2028b\u2029c",
    "tags": "a\U000e0041\U000e007f",
    "a table": "a|b\\|c `d` _e_ %f #g",
    "hidden": "_nolegend_",
    "a brace": "}{ {0} %s %(x)s",
}
every_name = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())


def names(*kinds: str) -> pytest.MarkDecorator:
    """These names in every run, the others where time is no matter."""
    rest = pytest.mark.exhaustive
    found = [pytest.param(name, id=kind, marks=() if kind in kinds else rest) for kind, name in NAMES.items()]
    return pytest.mark.parametrize("name", found)


def unsafe(text: str, lines: bool = True) -> list[str]:
    """The characters that a terminal would obey, or that nobody would see."""
    allowed = "\n\t" if lines else ""
    return [c for c in text if not (c.isprintable() or category(c) == "Zs" or c in allowed)]


def run_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command; no output may hold an unsafe character.

    A status of 3 would blame fedconvex for what the user gave it.
    """
    monkeypatch.setattr(sys, "argv", ["fedconvex", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    assert unsafe(captured.out + captured.err) == []
    assert "fault of fedconvex" not in captured.err
    status = int(stop.value.code or 0)
    assert status != 3, captured.err
    return status, captured.out, captured.err


def elements(page: str) -> list[str]:
    """The elements of a page or of a part of it, which must be well-formed."""
    from xml.etree import ElementTree

    plain = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", page, flags=re.DOTALL).removeprefix("<!DOCTYPE html>\n")
    return sorted(one.tag for one in ElementTree.fromstring(plain).iter())


def file_named(folder: Path, name: str, ending: str = "") -> Path:
    """A path with the name, as far as a file system takes it."""
    return folder / (name.replace("/", "∕") + ending)
