"""What depends on a draw: gradients at such points, lengths in its outcomes; and that Rocq refuses mutants."""

from pathlib import Path

import pytest

from fedconvex.claims.terms import Number, drawn, family, inner, norm, parameter, parts, server
from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.compiling import Rocq
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.proofs_checks.rocq.terms import Missing, factored
from fedconvex.proofs_checks.rocq.theorems import TheoremText
from fedconvex.theory import statement

from .theorem_folders import WITH_ROCQ, on_standard_axioms, refuses, theorem_of

THEOREMS = (
    "fedprox.equation9", "fedprox.equation10", "fedprox.equation11", "fedprox.equation12", "fedprox.equation14",
    "feddyn.lemma21",
)  # fmt: skip
# Changes at the first place where the text of the theorem has them.
MUTANTS = (
    ("fedprox.equation9", "norm (next_ - w)", "norm (next_ - next_)"),
    ("fedprox.equation9", "+ L * (norm (mean theta - w)", "- L * (norm (mean theta - w)"),
    ("fedprox.equation10", "average W (fun o => (norm ((mean_of_all (gradient F w)) o) +",
     "average W (fun o => (norm ((mean_of_all (gradient F w)) o) -"),
    ("fedprox.equation10", "curvature_at_most L (f k)", "curvature_at_most (4 * L) (f k)"),
    ("fedprox.equation11", "+ 2 * L * (norm", "+ 1 * L * (norm"),
    ("fedprox.equation11", "+ L * (inner", "+ L * - (inner"),
    ("fedprox.equation12", "average W (fun o => norm ((w_next", "average W (fun o => 2 * norm ((w_next"),
    ("fedprox.equation12", "<= norm (w_next", "<= - norm (w_next"),
    ("fedprox.equation14", "<= (B * (1 + gamma)", "<= (- B * (1 + gamma)"),
    ("fedprox.equation14", "(norm (mean_of_all (gradient F w))) ^ 2", "(norm (mean_of_all (gradient F w))) ^ 3"),
    ("feddyn.lemma21", "<= (2 * (L ^ 2)", "<= (1 * (L ^ 2)"),
    ("feddyn.lemma21", "gradient F w_next)", "gradient F w)"),
)  # fmt: skip
HEAD = """From Coq Require Import Reals List Lra.
From FedConvex Require Import Spaces Families Functions Normal Steps Draws Random DrawnPoints DrawnLengths.
Open Scope R_scope.
"""
# A vector u that depends on the draw anyhow: one that is drawn, and its parts.
OF_A_DRAW = """forall (V : space) (W C : weighted_set) (P m : R) (d : draw_without_replacement W C P m)
  (u a : random W C V),
  1 <= P -> 1 <= m -> P <= m -> fixed a -> common a ->"""
WITH_A_BASIS = """Proof.
  intros V W C P m d u a P_one m_one P_m a_fixed a_common.
  destruct (@uniform_law W C V P m d P_one m_one P_m) as (sg & _ & _ & _ & _ & law).
  pose proof (is_same_of _ a_fixed a_common) as a_mean.
  destruct (split_drawn u) as (g & h & u_is & g_mean & h_mean).
  assert (vectors : random_basis mean_of_all (mean_of_drawn d) expectation (selected d) (P / m) sg (a :: nil) nil).
  { constructor; [exact law | repeat constructor; apply_conj | repeat constructor]. }
  assert (drawn : drawn_basis mean_of_all (mean_of_drawn d) expectation (selected d) (P / m) sg
    (a :: nil) nil (g :: nil) (h :: nil)).
  { constructor; [exact vectors | repeat constructor; assumption | repeat constructor; assumption]. }
  rewrite u_is. """
MULTIPLE = "forall (V : space) (W C : weighted_set) (u v : random W C V) c,"
BY_MULTIPLE = """Proof.
  intros. apply (multiple_in_draws u v c (fun o => norm (v o))); [reflexivity | assumption | sign].
Qed."""
SHOWN = (
    f"{OF_A_DRAW} inner (mean_of_all u) (u - mean_of_all u) = 0. {WITH_A_BASIS} drawn_expand. ring. Qed.",
    f"{OF_A_DRAW} inner a u = inner a (mean_of_all u). {WITH_A_BASIS} drawn_expand. ring. Qed.",
    f"{OF_A_DRAW} mean_of_all (mean_of_all u + a) = (a + mean_of_all u)%V. {WITH_A_BASIS} "
    "drawn_same_vector; ring. Qed.",
    "forall (V : space) (u v : V), norm (u + v) <= norm u + norm v. Proof. intros. apply triangle_inequality. Qed.",
    "forall (V : space) (W C : weighted_set) (u : random W C V), 0 <= norm u - average W (fun o => norm (u o)). "
    "Proof. intros. apply mean_length. Qed.",
    f"{MULTIPLE} 0 <= c -> u = (c * v)%V -> forall o, norm (u o) = c * norm (v o). {BY_MULTIPLE}",
)
NOT_SHOWN = (
    f"{OF_A_DRAW} inner (mean_of_all u) (u - mean_of_all u) = inner u u. {WITH_A_BASIS} drawn_expand. ring. Qed.",
    f"{OF_A_DRAW} inner (selected d a) u = (P / m) * inner a u. {WITH_A_BASIS} drawn_expand. ring. Qed.",
    # the expectation of a gradient at such a point is another vector, and so is what its drawn part is
    f"{OF_A_DRAW} expectation u = u. {WITH_A_BASIS} drawn_same_vector; ring. Qed.",
    f"{OF_A_DRAW} mean_of_drawn d u = mean_of_all u. {WITH_A_BASIS} drawn_same_vector; ring. Qed.",
    f"{OF_A_DRAW} u = mean_of_all u. {WITH_A_BASIS} drawn_same_vector; ring. Qed.",
    "forall (V : space) (u v : V), norm u + norm v <= norm (u + v). Proof. intros. apply triangle_inequality. Qed.",
    # E|u| is no root of E|u|^2
    "forall (V : space) (W C : weighted_set) (u : random W C V), 0 <= average W (fun o => norm (u o)) - norm u. "
    "Proof. intros. apply mean_length. Qed.",
    f"{MULTIPLE} u = (c * v)%V -> forall o, norm (u o) = c * norm (v o). {BY_MULTIPLE}",
)


def test_a_length_in_a_draw_is_that_of_every_outcome() -> None:
    """E‖u‖ is the mean over the outcomes, the root of E‖u‖² the length of the random vector."""
    theorem = theorem_of("fedprox.equation12")
    mean_length = "average W (fun o => norm ((w_next - mean_of_all theta) o))"
    assert theorem.rstrip().endswith(f"{mean_length} <= norm (w_next - mean_of_all theta).")


def test_nothing_is_assumed_of_a_gradient_at_a_point_that_depends_on_the_draw() -> None:
    theorem = theorem_of("feddyn.lemma21")
    assert "gradient F w_next" in theorem
    assert not [line for line in theorem.splitlines() if line.startswith("  (fixed") and "next" in line]


def test_a_gradient_step_has_the_stepsize_of_the_method() -> None:
    """Also where a condition chooses the parameter: α = 50Lm/P."""
    theorem = theorem_of("feddyn.theorem5nonconvex")
    assert "(50 * L * num_clients / num_active = alpha) ->" in theorem
    assert "(now theta past) = ((now w past) - (1 / alpha) * (gradient EF (now w past) +" in theorem


def test_a_quotient_is_written_in_factors_of_known_sign() -> None:
    """One for every factor of numerator and denominator, and the value is the same."""
    of = statement("feddyn.theorem5nonconvex")
    parameters = SettingParameters(of.setting, [])
    P, m = parameter("num_active"), parameter("num_clients")
    value = parameters.value((P * P - m * m) / (m * (2 * m - P)))
    made = factored(value)
    assert parameters.value(made) == value
    assert made.head == "*"
    assert all(p.head != "^" for p in parts(made))


def test_only_theorems_that_need_them_load_the_files_about_draws() -> None:
    loaded = {n: exported(statement(n)).text.partition("Open Scope")[2] for n in (*THEOREMS, "fedprox.equation5")}
    assert {n for n, text in loaded.items() if "Require Import DrawnLengths." in text} == set(THEOREMS[:5])
    assert {n for n, text in loaded.items() if "Require Import DrawnPoints." in text} == {"feddyn.lemma21"}


def test_a_length_in_a_draw_outside_an_expectation_and_one_with_other_numbers_are_not_written() -> None:
    of = statement("fedprox.equation12")
    assert of.claim is not None
    round_ = TheoremText("a", of.setting, of.claim, derivation_of(of)).round
    moved = drawn(family("u")) - server(0)
    with pytest.raises(Missing, match="the length of a vector in a draw"):
        round_.number(norm(moved))
    with pytest.raises(Missing, match="an expectation of lengths with other numbers"):
        round_.number(Number("expected", (norm(moved) * inner(moved, moved),)))
    assert round_.number(Number("expected", (norm(server(0)),))).head == "norm"  # it is the same in every outcome


# ---- with Rocq


@pytest.fixture(scope="module")
def folder(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return on_standard_axioms(rocq, tmp_path_factory.mktemp("rocq") / "theories", THEOREMS)


@pytest.mark.parametrize(("identifier", "old", "new"), [pytest.param(*mutant, marks=WITH_ROCQ) for mutant in MUTANTS])
def test_a_mutant_is_refused(rocq: Rocq, folder: Path, identifier: str, old: str, new: str) -> None:
    before, begin, theorem = exported(statement(identifier)).text.rpartition("\nTheorem ")
    assert old in theorem.partition("Proof.")[0]
    assert refuses(rocq, folder, before + begin + theorem.replace(old, new, 1))


@pytest.mark.parametrize("lemma", [pytest.param(lemma, marks=WITH_ROCQ) for lemma in (*SHOWN, *NOT_SHOWN)])
def test_the_tactics_about_draws_show_what_holds_and_no_more(rocq: Rocq, folder: Path, lemma: str) -> None:
    (folder / "Statements" / "tactic.v").write_text(f"{HEAD}Lemma shown : {lemma}\n")
    assert rocq.compile(folder, "Statements/tactic").accepted == (lemma in SHOWN)
