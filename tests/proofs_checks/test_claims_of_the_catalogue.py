"""Every claim of the catalogue on random federations of its setting: none is broken, and a stronger one soon is."""

from collections.abc import Callable, Iterator
from inspect import getsource
from itertools import islice

import pytest

from fedconvex.claims.content import content_of
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.settings import NotASetting
from fedconvex.methods import Method
from fedconvex.proofs_checks import falsify
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core  # thousands of rounds are played

FEDERATIONS = [3, pytest.param(60, marks=pytest.mark.slow)]


def claimed() -> Iterator[Statement]:
    """The statements with a claim and a setting."""
    everything = [s for paper in papers().values() for s in paper.everything]
    corrected = {s.identifier.removesuffix("corrected") for s in everything if s.identifier.endswith("corrected")}
    for statement in everything:
        if statement.claim is None or statement.identifier in corrected:  # these are false as printed
            continue
        try:
            statement.setting  # noqa: B018 - whether it has one
        except NotASetting:
            continue
        yield statement


def played(statement: Statement) -> tuple[str, str]:
    """What is claimed, and the code of the method of which it is."""
    method = Method.named(statement.setting.method)
    return content_of(statement), "" if method is None else getsource(method)


CLAIMED = list(claimed())


def test_there_are_claims() -> None:
    assert len(CLAIMED) >= 110


@pytest.mark.parametrize("federations", FEDERATIONS)
@pytest.mark.parametrize("statement", CLAIMED, ids=lambda s: s.identifier)
def test_a_claim_holds_on_random_federations(
    statement: Statement, federations: int, tried_before: Callable[..., bool]
) -> None:
    """On many, where the claim and its method's code are not those that have been tried."""
    claim = statement.claim
    assert claim is not None
    if federations >= 60 and tried_before(*played(statement)):
        return
    runs = list(islice(random_federations(statement.setting, claim), federations))
    for federation in runs:
        found = claim.on(federation)
        assert found.holds is not False, f"{found}\n{federation}"
    setting = statement.setting  # of ten thousand draws only one client's outcomes can be enumerated
    alone = setting.equal_weights or setting.single_client or setting.example.get("K", 1) > 100
    if federations >= 60 and not alone:
        assert not all(run.problem.is_equally_weighted for run in runs)


@pytest.mark.exhaustive
@pytest.mark.parametrize("statement", CLAIMED, ids=lambda s: s.identifier)
def test_a_claim_is_not_falsified(statement: Statement, tried_before: Callable[..., bool]) -> None:
    assert tried_before(*played(statement)) or falsify(statement, tries=40, seed=1) is None
