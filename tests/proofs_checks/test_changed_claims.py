"""No proof of a claim proves one that differs in one place, and none that differs in one multiplier proves the claim.

What the kernel accepts of a changed claim means the same: E w⁺ is w̄, the mean of SCAFFOLD's c_k is c, the start is the
same before and after a round.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest
from claim_mutants import mutants, mutated_proofs, refused

from fedconvex.claims.claim import Claim
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.terms import number
from fedconvex.proofs_checks import papers_with_proofs
from fedconvex.proofs_checks.claims import builder_of, derivation_of
from fedconvex.proofs_checks.export.json_proofs import to_json
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers

pytestmark = pytest.mark.beyond_core  # replays proofs

for paper in papers_with_proofs():
    load(paper)
EVERY = [s for name in papers_with_proofs() for s in papers()[name].everything]
PROVED = {s.identifier: s for s in EVERY if builder_of(s) is not None}
SOME = 8  # claims of a statement that are tried unless all are
RUNS = {name for name, s in PROVED.items() if s.claim is not None and s.claim.of_run and name.startswith("feddyn.")}
WHOLLY = {"scaffold", "fedsplit"}  # papers whose statements' changed claims are all tried with the slow tests


def means_the_same(of: Statement, changed: Claim) -> bool:
    federations = islice(random_federations(of.setting, of.claim, of.identifier), 20)
    sides = (((on := claim.on(one)).left, on.right) for one in federations for claim in (of.claim, changed))
    found = [tuple(map(str, pair)) for pair in sides]
    return found[::2] == found[1::2]


def none_is_proved(of: Statement, changed: list[Claim]) -> None:
    build: Any = builder_of(of)
    accepted = [claim for claim in changed if not refused(of.setting, claim, build(claim))]
    assert all(means_the_same(of, claim) for claim in accepted), accepted
    of_zero = of.setting.rests or of.claim.right == number(0)  # any multiple of which is 0, too
    assert len(accepted) < len(changed) or of_zero or not changed


@pytest.mark.sample(30)
@pytest.mark.parametrize("of", PROVED.values(), ids=PROVED)
def test_a_claim_that_differs_in_one_place_is_refused(of: Statement) -> None:
    changed = list(mutants(of.claim))
    none_is_proved(of, changed[:: 1 + len(changed) // SOME])


def layer(of: Statement) -> pytest.MarkDecorator:
    return pytest.mark.slow if of.paper.name in WHOLLY else pytest.mark.exhaustive


@pytest.mark.parametrize("of", [pytest.param(s, id=name, marks=layer(s)) for name, s in PROVED.items()])
def test_every_claim_that_differs_in_one_place_is_refused(of: Statement, tried_before: Callable[..., bool]) -> None:
    """Or every second one; of a proof that has not changed since, some are, by default."""
    if tried_before(to_json(of.setting, of.claim, derivation_of(of))):
        return
    changed = list(mutants(of.claim))
    assert len(changed) >= (25 if of.identifier in RUNS else 1) or of.identifier == "feddyn.equation3"
    none_is_proved(of, changed if of.identifier in RUNS or of.paper.name in WHOLLY else changed[::2])


# Equations of vectors that the board knows, and identities: without facts.
WITHOUT_FACTS = {
    *(f"feddyn.equation{n}" for n in (2, 3, 8, 9, 15, 16)), "feddyn.lemma2", "feddyn.lemma13",
    "fedprox.equation4", "fedprox.remark5sharper",
    *(f"fedsplit.equation{n}" for n in (3, 4, 5, 6, 7, 11, 12, 13)), "fedsplit.equation17corrected",
    *(f"fedsplit.proposition{n}" for n in (1, 2, 3)),
}  # fmt: skip
# Multipliers of 0: the claim's constants are those that the potential gives at the start.
IDLE = {"feddyn.theorem2sharper": 2, "feddyn.theorem3sharper": 2, "feddyn.theorem4sharper": 1}
IDLE["fedsplit.corollary1sharper"] = 1  # 0, of what makes the printed factor larger
EXACT = {"fedprox.equation15", "fedprox.equation16", "fedprox.corollary7"}  # the residuals are 0, and need no facts
PROOFS = {name: s for name, s in PROVED.items() if name not in WITHOUT_FACTS
          and s.paper.name in ("feddyn", "fedprox", "fedsplit", "dane", "exact_rates", "scaffold")}  # fmt: skip


@pytest.mark.sample(12)
@pytest.mark.parametrize("of", PROOFS.values(), ids=PROOFS)
def test_a_proof_that_differs_in_one_multiplier_is_refused(of: Statement) -> None:
    """So every fact and every square in it is needed."""
    proof = derivation_of(of)
    wrong = [m for m in mutated_proofs(proof) if of.identifier not in EXACT or m.lines[:-1] == proof.lines[:-1]]
    assert wrong
    tried = wrong[:: 3 if of.paper.name == "exact_rates" else 1]
    assert sum(not refused(of.setting, of.claim, m) for m in tried) == IDLE.get(of.identifier, 0)
