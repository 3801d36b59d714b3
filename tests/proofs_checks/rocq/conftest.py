"""Rocq, for all tests here, and folders of exported theorems that it has accepted."""

from functools import cache

import pytest

from fedconvex.proofs_checks.rocq.compiling import Rocq, find_rocq

from .theorem_folders import Folders, on_standard_axioms


@pytest.fixture(scope="session")
def rocq() -> Rocq:
    return find_rocq()


@pytest.fixture(scope="session")
def folder_of(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """Each made once."""
    return cache(lambda name: on_standard_axioms(rocq, tmp_path_factory.mktemp("rocq") / "theories", [name]))
