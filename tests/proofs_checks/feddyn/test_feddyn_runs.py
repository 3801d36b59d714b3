"""Theorems over T rounds: another bound, or another potential, gain, ratio or multiplier in the proof, is refused."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from operator import attrgetter
from typing import Any

import pytest
from claim_mutants import refused
from slow_layer import some_of

from fedconvex.claims.terms import mean, memory, minimiser, number, parameter
from fedconvex.proofs_checks import feddyn as _proofs  # noqa: F401 # registers the proofs
from fedconvex.proofs_checks.claims import LIBRARY, _entry, builder_of
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, During, Telescope
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn
from fedconvex.theory import statement as statement_of

pytestmark = pytest.mark.beyond_core

RUNS = [feddyn.theorem2, feddyn.theorem3, feddyn.theorem4, feddyn.theorem4sharper, feddyn.equation18, feddyn.equation20]
IDS = attrgetter("identifier")
FEW = 5  # wrong proofs of a statement in every run
LARGER = Fraction(9, 8)


def proof_of(statement: Statement) -> Derivation:
    return builder_of(statement)(statement.claim)


# ---- other proofs


def larger_pairs(pairs: Any) -> Iterator[tuple[Any, Any]]:
    """The facts or squares with one multiplier an eighth larger, here or inside a fact about some time of the run."""
    for k, (multiplier, what) in enumerate(pairs):
        changed = [(multiplier * LARGER, what)]
        if type(what) is During:
            changed += [(multiplier, other) for other in in_one_field(what, "facts", "squares")]
        yield from ((*pairs[:k], one, *pairs[k + 1 :]) for one in changed)


def in_one_field(of: Any, *names: str) -> Iterator[Any]:
    for name in names:
        yield from (replace(of, **{name: pairs}) for pairs in larger_pairs(getattr(of, name)))


def changed_lines(line: Telescope | Combine) -> Iterator[Any]:
    yield from in_one_field(line, "facts", "squares")
    if type(line) is Telescope:
        yield from (replace(line, **{name: getattr(line, name) * LARGER}) for name in ("potential", "gain", "ratio"))
        yield replace(line, error=number(1))


def changed_proofs(proof: Derivation) -> Iterator[Derivation]:
    for place, line in enumerate(proof.lines):
        for other in changed_lines(line):
            yield replace(proof, lines=(*proof.lines[:place], other, *proof.lines[place + 1 :]))


def accepted_proofs(statement: Statement, every: int) -> list[Derivation]:
    found = islice(changed_proofs(proof_of(statement)), 0, None, every)
    return [proof for proof in found if not refused(statement.setting, statement.claim, proof)]


# Changes of multipliers that are 0: the claim's constants are those that the potential gives at the start, for all of
# it in theorem4sharper (the multiplier of what is left, and the two inside), for the first term in equation20.
IDLE = {"feddyn.theorem4sharper": 3, "feddyn.equation20": 1}


@pytest.mark.parametrize("statement", some_of(RUNS, 3), ids=IDS)
def test_a_proof_that_differs_in_one_place_is_refused(statement: Statement) -> None:
    number_of = sum(1 for _ in changed_proofs(proof_of(statement)))
    accepted = accepted_proofs(statement, every=1 + number_of // FEW)
    assert len(accepted) <= IDLE.get(statement.identifier, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("statement", RUNS, ids=IDS)
def test_every_proof_that_differs_in_one_place_is_refused(statement: Statement) -> None:
    assert sum(1 for _ in changed_proofs(proof_of(statement))) >= 12
    assert len(accepted_proofs(statement, every=1)) == IDLE.get(statement.identifier, 0)


@pytest.mark.parametrize("statement", RUNS, ids=IDS)
def test_every_line_is_needed(statement: Statement) -> None:
    proof = proof_of(statement)
    for lines in (proof.lines[1:], proof.lines[:1], proof.lines[::-1], ()):
        assert refused(statement.setting, statement.claim, replace(proof, lines=lines))


@pytest.mark.parametrize("statement", RUNS, ids=IDS)
def test_invariants_are_needed(statement: Statement) -> None:
    """In the lemmas, which are about any round that a run reaches. The theorem may do without them."""

    def without(identifier: str) -> Any:
        setting, claim, proof = _entry(statement_of(identifier))
        return setting, claim, replace(proof, invariants=())

    with pytest.raises(Refused):
        theorem(statement.setting, statement.claim, proof_of(statement), without)


@pytest.mark.parametrize("statement", RUNS, ids=IDS)
def test_an_invariant_that_the_method_breaks_is_refused(statement: Statement) -> None:
    proof = proof_of(statement)
    for wrong in ((("server", minimiser),), (("shared h", mean(memory("gradient", 0)) * 2),)):
        assert refused(statement.setting, statement.claim, replace(proof, invariants=wrong))


@pytest.mark.parametrize("statement", RUNS, ids=IDS)
def test_a_theorems_proof_proves_no_other(statement: Statement) -> None:
    assert all(refused(other.setting, other.claim, proof_of(statement)) for other in RUNS if other is not statement)


@pytest.mark.parametrize("statement", RUNS, ids=IDS)
def test_assumptions_are_needed(statement: Statement) -> None:
    setting = statement.setting
    weaker = [replace(setting, curvature=(None, None)), replace(setting, conditions=())]
    weaker += [replace(setting, minimiser=False)] if setting.minimiser else []
    weaker += [replace(setting, bounded_below=False)] if setting.bounded_below else []
    for other in weaker:
        with pytest.raises(Refused):
            LIBRARY.theorem("", other, statement.claim, proof_of(statement))


def test_one_round_less_is_refused() -> None:
    """T + 1 in the place of T in the bound: it is smaller."""
    claim, T = feddyn.theorem2.claim, parameter("T")
    fewer = replace(claim, right=claim.right * T / (T + 1))
    assert refused(feddyn.theorem2.setting, fewer, builder_of(feddyn.theorem2)(fewer))
