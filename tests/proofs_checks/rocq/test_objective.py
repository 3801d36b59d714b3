"""What theorems assume of the clients' objective, Γ, δ, a single client, and clients that are not drawn."""

from dataclasses import replace
from pathlib import Path

import pytest

from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.rocq.compiling import Rocq
from fedconvex.proofs_checks.rocq.files import exported, script_for
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.verification import load
from fedconvex.theory import statement

from .rocq_mutants import mutants_of, shown_wrong
from .theorem_folders import WITH_ROCQ, changed, on_standard_axioms, refuses, theorem_of

THEOREMS = (
    "li_fedavg.varianceattheminimiser", "li_fedavg.drawnclients", "dane.similarclients",
    "dane.gradientsofsimilarclients", "nesterov.theorem2_1_15", "nesterov.corollary2_1_2", "nesterov.smoothfunctions",
    "ghadimi_lan.corollary2_2convex", "rockafellar.proximalstep",
)  # fmt: skip
# Changes at the last place where the text has them: in the theorem itself.
MUTANTS = (
    ("li_fedavg.varianceattheminimiser", "(gap_at_most Gamma f", "(gap_at_most (2 * Gamma) f"),
    ("li_fedavg.varianceattheminimiser", "<= 2 * L * Gamma.", "<= L * Gamma."),
    ("li_fedavg.drawnclients", "(gap_at_most Gamma f (value F xs)) ->", "(gap_at_most Gamma f (value F w)) ->"),
    ("dane.similarclients", "(similar delta f) ->", "(similar (2 * delta) f) ->"),
    ("dane.similarclients", "curvature_at_least convexity", "curvature_at_least (convexity / 2)"),
    ("dane.gradientsofsimilarclients", "+ delta * (norm (w - xs)).", "+ delta / 2 * (norm (w - xs))."),
    ("nesterov.theorem2_1_15", "curvature_at_most L (objective f)", "curvature_at_most (2 * L) (objective f)"),
    ("nesterov.corollary2_1_2", "/ (t + 4)", "/ (t + 9)"),
    ("nesterov.smoothfunctions", "curvature_at_most L (objective f)", "curvature_at_most (2 * L) (objective f)"),
    ("ghadimi_lan.corollary2_2convex", "(curvature_at_most L (objective f)) ->", "(True) ->"),
    ("rockafellar.proximalstep", "(single C) ->", "(True) ->"),
)
TWO = "(fun k : two_clients => if k then quadratic {} {} else quadratic {} {})"
STEEP, APART = TWO.format(3, 0, "(- 1)", 0), TWO.format(1, 1, 1, "(- 1)")
DIFFERENT = TWO.format(3, 0, 1, 0)
COMPUTED = "unfold norm in *; simpl in *; unfold sub, objective, average, combination, sum in *; simpl in *"
# What the definitions mean of two clients on a line, and what the lemma about idle clients says and does not say.
SHOWN = (
    f"curvature_at_least 1 (objective {STEEP}). Proof. intros x y. {COMPUTED}. lra. Qed.",
    f"~ curvature_at_least 1 ({STEEP} false). Proof. intro H. specialize (H 0 1). {COMPUTED}. lra. Qed.",
    f"gap_at_most (1 / 2) {APART} 0. Proof. intro v. unfold average, sum; simpl. "
    "pose proof (Rle_0_sqr (v true + 1)). pose proof (Rle_0_sqr (v false - 1)). unfold Rsqr in *. lra. Qed.",
    f"~ gap_at_most (1 / 3) {APART} 0. Proof. intro H. specialize (H (fun k => if k then - 1 else 1)). "
    "unfold average, sum in H; simpl in H. lra. Qed.",
    f"similar 1 {DIFFERENT}. Proof. intros k x y. rewrite Rmult_1_l. apply sqrt_le_1_alt. "
    f"destruct k; {COMPUTED}; apply Req_le; field. Qed.",
    f"~ similar (1 / 2) {DIFFERENT}. Proof. intro H. specialize (H true 0 1). {COMPUTED}. "
    "match type of H with sqrt ?a <= _ * sqrt ?b => replace a with 1 in H by field; replace b with 1 in H by ring end. "
    "rewrite sqrt_1 in H. lra. Qed.",
    "single one_client. Proof. intros [] []. reflexivity. Qed.",
    "~ single two_clients. Proof. intro H. discriminate (H true false). Qed.",
)
IDLE = (
    "forall W C V P m (d : draw_without_replacement W C P m) (u : random W C V), 1 <= P -> 1 <= m -> {}"
    "0 <= inner u u - inner u (selected d (expectation u)) - inner (add (mean_of_all (selected d (expectation u))) "
    "(scale (P / m) (sub u (expectation u)))) (sub u (expectation u)). "
    "Proof. intros. apply (idle_square d); assumption. Qed."
)
IS_IDLE = IDLE.format("mean_of_all (sub u (expectation u)) = sub u (expectation u) -> ")
NOT_SHOWN = (IDLE.format(""), IDLE.format("mean_of_all u = u -> "))  # what the draw adds is not shared
HEAD = """From Coq Require Import Reals Lra Psatz.
From FedConvex Require Import Spaces Families Functions Draws Instances Idle Objective.
Open Scope R_scope.
"""


def test_the_class_of_the_objective_alone_is_no_assumption_about_the_clients() -> None:
    theorem = theorem_of("nesterov.gradientstep")
    assert "(curvature_at_least mu (objective f)) ->" in theorem
    assert "(curvature_at_most L (objective f)) ->" in theorem
    assert "(f k)" not in theorem


def test_what_is_assumed_of_the_clients_stays_theirs() -> None:
    """Convex clients with a smooth objective."""
    theorem = theorem_of("nesterov.corollary2_1_2")
    assert "(forall k, curvature_at_least 0 (f k)) ->" in theorem
    assert "(curvature_at_most L (objective f)) ->" in theorem


def test_gamma_is_the_gap_below_the_value_at_the_minimiser() -> None:
    for name in ("li_fedavg.varianceattheminimiser", "li_fedavg.drawnclients"):
        assert "(gap_at_most Gamma f (value F xs)) ->" in theorem_of(name)
    assert "(gap_at_most Gamma f (value EF (always xs))) ->" in theorem_of("li_fedavg.drawnclientstrounds")


def test_delta_is_a_bound_for_every_client() -> None:
    theorem = theorem_of("dane.similarclients")
    assert "(similar delta f) ->" in theorem
    assert "everywhere" not in theorem  # the objective's gradients at the answers are the proof's alone


def test_a_single_client_is_a_hypothesis() -> None:
    """A proximal step contracts for a single client alone: without that the theorem would be another."""
    for name in ("proximalstep", "convexfunctions"):
        assert "(single C) ->" in theorem_of(f"rockafellar.{name}")


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


# ---- with Rocq


@pytest.fixture(scope="module")
def folder(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return on_standard_axioms(rocq, tmp_path_factory.mktemp("rocq") / "theories", THEOREMS)


@pytest.mark.parametrize(("identifier", "old", "new"), [pytest.param(*mutant, marks=WITH_ROCQ) for mutant in MUTANTS])
def test_a_mutant_is_refused(rocq: Rocq, folder: Path, identifier: str, old: str, new: str) -> None:
    assert refuses(rocq, folder, changed(identifier, old, new))


@pytest.mark.parametrize("lemma", [pytest.param(x, marks=WITH_ROCQ) for x in (*SHOWN, IS_IDLE, *NOT_SHOWN)])
def test_the_definitions_mean_what_they_say(rocq: Rocq, folder: Path, lemma: str) -> None:
    (folder / "Statements" / "meaning.v").write_text(f"{HEAD}Lemma shown : {lemma}\n")
    assert rocq.compile(folder, "Statements/meaning").accepted == (lemma not in NOT_SHOWN)
