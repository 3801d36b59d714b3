"""The documents, and the modules of docs/making that make them."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
DOCUMENTS = [ROOT / "README.md", *PAGES]


def making(name: str, folder: Path = DOCS / "making") -> ModuleType:
    """That module of docs/making, or of another folder of programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        return importlib.import_module(name)
