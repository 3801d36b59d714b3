"""The report's page for the tests of this folder."""

import pytest

from fedconvex.proofs_checks.reporting import cache
from fedconvex.report import contents, report

ASKED = [("feddyn.theorem2", {"alpha": 25, "L": 1, "num_clients": 10, "num_active": 10, "T": T}) for T in (1, 2)]


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the whole catalogue from recorded verdicts, with few pictures and few worst cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path_factory.mktemp("kept")))
        patch.setattr(contents, "NEIGHBOURS", 4)
        patch.setattr(contents, "theorems", lambda: iter(ASKED))
        patch.setattr(contents, "lemmas", lambda: iter(()))
        return report()[0]  # the real settings are back for the other tests
