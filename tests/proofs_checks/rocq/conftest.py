"""Rocq, for all tests here."""

import pytest

from fedconvex.proofs_checks.rocq.compiling import Rocq, find_rocq


@pytest.fixture(scope="session")
def rocq() -> Rocq:
    return find_rocq()
