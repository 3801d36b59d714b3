"""The words that users read are the field's: no text for them falls back into the project's own expressions.

Texts: README, the guide, what `--help` prints, and the messages of errors and warnings.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import DOCUMENTS, ROOT

FOLDERS = ("fedconvex", "theory", "proofs_checks", "deep")
# an expression that a newcomer to the field would have to guess, and the term that takes its place
INSTEAD = {
    r"\bdeal(s|t|ing)?\b(?!\()": "partition",
    r"\bcome(s)? along\b": "bundled, included",
    r"\b(is|are|be) had (with|as|without|in)\b": "pass, use, obtain",
    r"\b(is|are|was|were|nothing) granted\b": "hypotheses used, axioms",
    r"\bthe first gap\b|\bof the first gap\b": "the initial suboptimality; relative suboptimality",
    r"\bhow (it is|they are|(the |these )?numbers are|a number is|each bound is|each number is) known\b":
        "label: exact, enclosed or numeric",
    r"\bstops? where (it|they) should\b": "converges to the minimiser",
    r"\bwhere (the |a )?methods? (stops?|ends?|rests?)\b": "fixed point",
    r"\b(is|are|was|were) (told|asked)\b": "name who does what",
    r"\bdeterministic twins?\b": "deterministic counterpart",
    r"\b(toss(es)?|flips?) (a|the same|one) coin\b": "at random, with probability",
    r"\blate clients\b|\bclients? that comes? late\b|\bwho comes late\b": "stragglers",
    r"\bkit play(s|ed)\b|\brounds? (is|are|was|were) played\b": "simulate, compute",
    r"\b(let|lets) everyone take part\b|\bwith everyone in every round\b": "full participation",
    r"\bpromises? (nothing|less|half)\b|\bis promised\b": "guarantees nothing, less, half",
    r"\bin the papers?'?s?'? letters\b|\bstandard letters\b|\bassumptions and letters\b": "notation, symbols",
    r"\b(both )?ends of (an|the|these) (interval|answer|intervals)\b": "lower and upper bound; endpoints",
    r"\bpulls? harder\b|\bgoes downhill\b": "effective weight; gradient steps",
    r"\bthe house\b|\bhouse rules\b": "contributors' rules",
    r"\b(watcher|player)s?\b": "monitor, simulator",
    r"\bthis part of\b": "relative",
    r"\bthe worst that (a|this|the) method does\b": "worst case",
    r"\bwhat else there is\b": "related software",
    r"\bnobody's\b|\bsomebody('s)? (has|would|else's)\b": "name who does what",
}  # fmt: skip
CODE = re.compile(r"```.*?```|`[^`\n]*`|<!--.*?-->|\$\$.*?\$\$|“[^”]*”", re.DOTALL)  # and quotations of papers


def offences(text: str) -> Iterator[str]:
    """The expressions in the text that it should not have, each with the term that takes its place."""
    for expression, instead in INSTEAD.items():
        if found := re.search(expression, " ".join(text.split()), re.IGNORECASE):
            yield f"{found[0]!r}: write {instead}"


def written(node: ast.expr) -> str:
    """The text of a string, of a formatted string without its values, or of a sum of those."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return written(node.left) + written(node.right) if isinstance(node, ast.BinOp) else ""


def texts_of(tree: ast.Module, everything: bool) -> Iterator[tuple[int, str]]:
    """The sentences in a module's code with their lines: all strings, or those that go into errors and warnings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if everything:
            parts = [node] if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in docstrings else []
        elif isinstance(node, ast.Call) and is_message(node):
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Assign) and {ast.unparse(target) for target in node.targets} & {"problem", "cure"}:
            parts = [node.value]
        else:
            continue
        for text in map(written, parts):
            if " " in text:
                yield node.lineno, text


def is_message(call: ast.Call) -> bool:
    """Whether the call makes an error, a finding or a warning."""
    name = ast.unparse(call.func).rpartition(".")[2]
    return name in ("InvalidInput", "Finding", "bad_file", "warn", "instance_of") or name.endswith(("Error", "Refused"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_guide(document: Path) -> None:
    assert list(offences(CODE.sub(" ", document.read_text("utf-8")))) == []


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_and_help(folder: str) -> None:
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        if folder == "fedconvex" and path.relative_to(ROOT / folder).parts[0] in FOLDERS:
            continue  # links to the other folders
        is_command = "commands" in path.parts
        for line, text in texts_of(ast.parse(path.read_text("utf-8")), everything=is_command):
            found += [f"{path.relative_to(ROOT)}:{line}: {offence}" for offence in offences(CODE.sub(" ", text))]
    assert found == []


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("The samples are dealt to clients.", "partition"),
        ("Every number says how it is\nknown.", "label"),
        ("It shows where a method stops.", "fixed point"),
        ("In this case ρ promises nothing.", "guarantees"),
        ("The clients are asked for gradients.", "who does what"),
    ],
)
def test_the_words_are_found(text: str, instead: str) -> None:
    assert any(instead in offence for offence in offences(text))


def test_messages_are_found_and_code_is_not_read_as_words() -> None:
    module = ast.parse(
        '"""They are dealt."""\nraise InvalidInput("x", x, f"late clients {x}", "a " + "b c")\nx = "the house"'
    )
    assert [text for _, text in texts_of(module, everything=False)] == ["late clients …", "a b c"]
    assert "the house" in [text for _, text in texts_of(module, everything=True)]
    assert not list(offences(CODE.sub(" ", "call `deal` or ```py\nwatcher = 1\n``` and deal(3)")))
