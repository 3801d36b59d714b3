"""What theorems assume of the clients' objective, Γ, δ, a single client, and clients that are not drawn."""

from dataclasses import replace

import pytest

from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.rocq.files import exported, script_for
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.verification import load
from fedconvex.theory import statement

from .rocq_mutants import mutants_of, shown_wrong
from .theorem_folders import theorem_of


def test_the_objectives_gradients_at_the_answers_are_the_proofs_alone() -> None:
    assert "everywhere" not in theorem_of("dane.similarclients")


def test_other_theorems_do_not_take_the_definitions() -> None:
    assert "Objective" not in exported(statement("feddyn.equation5")).text
    assert "Idle" not in exported(statement("feddyn.lemma12")).text
    assert "From FedConvex Require Import Idle.\n" in exported(statement("feddyn.lemma12sharper")).text
    assert "From FedConvex Require Import Objective.\n" in exported(statement("li_fedavg.drawnclients")).text


@pytest.mark.parametrize(
    ("identifier", "changes", "missing"),
    [
        ("li_fedavg.varianceattheminimiser", {"minimiser": False, "bounded_below": True}, "without a minimiser"),
        ("rockafellar.proximalstep", {"rests": True}, "a fixed point of a single client"),
    ],
)
def test_what_cannot_be_written_is_said(identifier: str, changes: dict[str, bool], missing: str) -> None:
    of = statement(identifier)
    load(of.paper.name)
    assert of.claim is not None
    with pytest.raises(Missing, match=missing):
        script_for("a", replace(of.setting, **changes), of.claim, derivation_of(of))


def test_weaker_assumptions_are_mutants_and_a_federation_shows_that_they_are_faults() -> None:
    """Γ, δ and the smoothness of the objective twice as large, and many clients in the place of one."""
    for name, before in (
        ("li_fedavg.varianceattheminimiser", "(gap_at_most Gamma f"),
        ("dane.gradientsofsimilarclients", "(similar delta f)"),
        ("rockafellar.proximalstep", "(single C)"),
        ("nesterov.theorem2_1_15", "(curvature_at_most L (objective f))"),
    ):
        (mutant,) = (m for m in mutants_of(statement(name), {"hypothesis"}) if m.before.startswith(before))
        assert shown_wrong(mutant, 2), name
