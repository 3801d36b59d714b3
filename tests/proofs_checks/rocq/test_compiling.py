"""Rocq accepts what the export writes, and refuses mutants of it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fedconvex.proofs_checks.rocq.compiling import Checked, Rocq, axioms_of, check_folder, granted
from fedconvex.proofs_checks.rocq.files import LIBRARY, Exported, exported
from fedconvex.theory import statement

from .rocq_mutants import KINDS, mutants_of, shown_wrong, unchanged
from .theorem_folders import WITH_ROCQ, accepted

pytestmark = WITH_ROCQ
# In the theorem, or in the proof: a constant, a sign, a hypothesis, a multiplier.
MUTANTS = (
    ("feddyn.equation5", "/ (2 * L) <= value F x - value F xs.", "/ (3 / 2 * L) <= value F x - value F xs."),
    ("feddyn.equation5", "/ (2 * L) <= value F x - value F xs.", "/ (2 * L) <= value F xs - value F x."),
    ("feddyn.equation5", "curvature_at_most L (f k)", "curvature_at_most (2 * L) (f k)"),
    ("feddyn.equation5", "(mean (gradient F xs) = zero) ->", "(mean (gradient F x) = zero) ->"),
    ("feddyn.equation5", "by_identity _ _ (1 * (", "by_identity _ _ (2 * ("),
    ("feddyn.equation4", "curvature_at_most L f", "curvature_at_least L f"),
)
# With roots, at a fixed point, in a proof whose signs need a condition with a quotient, and over T rounds,
# with everyone and with drawn clients.
FURTHER = (
    "fedprox.corollary10", "fedsplit.proposition2", "malinovskiy.localstep", "yuan_li.trounds",
    "gower.troundspofmclients", "fedprox.theorem4convexeveryone",
)  # fmt: skip
FURTHER_MUTANTS = (
    (
        "fedprox.corollary10",
        "norm (gradient F w) <= (sqrt (1 + sigma2 / epsilon))",
        "norm (gradient F w) <= (sqrt (1 + sigma2 / (2 * epsilon)))",
    ),
    ("fedprox.corollary10", "(epsilon <= inner", "(epsilon / 2 <= inner"),
    ("fedsplit.proposition2", "(w_next = w) ->", "(w_next = w_next) ->"),
    ("fedsplit.proposition2", "(w_next = (mean theta)%V) ->", "(w_next = (2 * mean theta)%V) ->"),
    ("malinovskiy.localstep", "(stepsize <= 2 / (mu + L)) ->", "(stepsize <= 3 / (mu + L)) ->"),
    (
        "malinovskiy.localstep",
        "<= (1 - stepsize * mu) * (norm (y - z)).",
        "<= (1 - 2 * stepsize * mu) * (norm (y - z)).",
    ),
    ("yuan_li.trounds", "(1 / ((1 + stepsize * mu) ^ rounds)) *", "(1 / ((1 + stepsize * mu) ^ (S rounds))) *"),
    ("yuan_li.trounds", "(j < rounds)%nat -> (w (S j)) = (mean", "(S j < rounds)%nat -> (w (S j)) = (mean"),
    ("gower.troundspofmclients", "(length past < rounds)%nat -> (next", "(S (length past) < rounds)%nat -> (next"),
    ("gower.troundspofmclients", "after rounds", "after (S rounds)"),
    ("fedprox.theorem4convexeveryone", "(sqrt (L * L / 2) <= mu) ->", "(sqrt (L * L / 8) <= mu) ->"),
    ("fedprox.theorem4convexeveryone", "(root2 * root2 = 2)", "(root2 * root2 = 3)"),
)
# What the tactics of the library show, and what they must not.
SHOWN = (
    "forall a b, 0 < a -> 0 <= b -> 0 < a * (2 + b) / (a ^ 2 + b). Proof. intros. seen. Qed.",
    "forall a b, 0 < a - b -> 0 <= 3 * (a - b) ^ 2. Proof. intros. seen. Qed.",
    "forall a b t : R, 0 < (a - b) / 2 * t -> a - b <> 0. Proof. intros a b t H. apply (factor_of H); intro zero; "
    "rewrite zero; unfold Rdiv; ring. Qed.",
    "forall a b : R, a - b <> 0 -> (b - a) / (a - b) = - 1. Proof. intros. field; nonzero. Qed.",
    "forall a b, 0 <= a -> 0 <= b -> 0 < a + b -> 0 < 2 * a + 3 * b. Proof. intros. repeat one_of_two; seen. Qed.",
    "forall n x, x = INR n -> x < 2 -> x <= 2 - 1. Proof. intros. apply (at_most_one_less n _ _); assumption. Qed.",
    # a divisor that is positive once it is multiplied out, and one whose opposite is
    "forall a m s : R, 0 < m -> 0 < s -> a + (a + m - a) * s - a <> 0. Proof. intros. nonzero. Qed.",
    "forall a m s : R, 0 < m -> 0 < s -> a - (a + m) * s + a * s - a <> 0. Proof. intros. nonzero. Qed.",
)
NOT_SHOWN = (
    "forall a b, 0 <= a -> 0 <= b -> 0 < a * b. Proof. intros. seen. Qed.",
    "forall a b, 0 <= a -> 0 <= b -> 0 <= a - b. Proof. intros. sign. Qed.",
    "forall a : R, 0 <= a. Proof. intros. seen. Qed.",
    "0 <= - 1. Proof. seen. Qed.",
    "forall a b, 0 <= a -> 0 <= b -> 0 < a + b -> 0 < a * b. Proof. intros. repeat one_of_two; seen. Qed.",
    "forall n x, 2 * x = INR n -> x < 2 -> x <= 2 - 1. Proof. intros. apply (at_most_one_less n _ _); assumption. Qed.",
    "forall a b t : R, 0 < (a - b) / 2 * t -> a + b <> 0. Proof. intros a b t H. apply (factor_of H); intro zero; "
    "rewrite zero; unfold Rdiv; ring. Qed.",
    "forall a b : R, a <> 0 -> a / b * b = a. Proof. intros. field; nonzero. Qed.",
    "forall a m s : R, 0 <= m -> 0 < s -> a + (a + m - a) * s - a <> 0. Proof. intros. nonzero. Qed.",
    "forall a m s : R, 0 < m -> 0 < s -> a - (a + m) * s + a <> 0. Proof. intros. nonzero. Qed.",
)


@pytest.fixture(scope="module")
def folder(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two theorems, which Rocq accepts."""
    place = tmp_path_factory.mktemp("rocq") / "theories"
    assert len(accepted(rocq, place, ("feddyn.equation4", "feddyn.equation5"))) == 2
    return place


def test_the_theorems_rest_on_the_axioms_of_the_real_numbers_alone(rocq: Rocq, folder: Path) -> None:
    """The standard library's axioms, and what its function spaces need; none of ours."""
    axioms = axioms_of(rocq, folder, [exported(statement(name)) for name in ("feddyn.equation4", "feddyn.equation5")])
    assert axioms
    assert granted(axioms) == []


def test_a_theorem_that_rests_on_an_axiom_of_its_own_is_noticed(rocq: Rocq, folder: Path) -> None:
    """In another folder of the project, so that no name tells."""
    of = Exported("a.classic", "Axiom classic : 1 = 2.\nTheorem a_classic : 1 = 2. Proof. exact classic. Qed.\n")
    (folder / "Statements" / "a_classic.v").write_text(of.text)
    assert rocq.compile(folder, "Statements/a_classic").accepted
    axioms = axioms_of(rocq, folder, [exported(statement("feddyn.equation4")), of])
    assert granted(axioms) == ["a_classic.classic"]


def test_an_interrupted_check_goes_on_and_no_text_is_compiled_twice(
    rocq: Rocq, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second check compiles the one theorem that is new; a changed text is compiled again."""
    compiled: list[str] = []
    compile_it = Rocq.compile

    def counted(self: Rocq, place: Path, name: str) -> Checked:
        compiled.append(name)
        if name.endswith("equation5"):
            return compile_it(self, place, name)
        (place / f"{name}.vo").write_bytes(b"compiled")  # what is kept is not looked at
        return Checked(name, True, 0.0)

    monkeypatch.setattr(Rocq, "compile", counted)
    shutil.copytree(folder, tmp_path / "theories")
    for path in (tmp_path / "theories").rglob("*.vo"):
        path.unlink()
    four, five = (exported(statement(f"feddyn.equation{n}")) for n in (4, 5))
    first = list(check_folder(rocq, tmp_path / "theories", [four], kept=tmp_path / "kept"))
    assert [(one.accepted, one.before) for one in first] == [(True, False)]
    assert compiled == [f"FedConvex/{name}" for name in LIBRARY] + ["Statements/feddyn_equation4"]
    compiled.clear()
    again = list(check_folder(rocq, tmp_path / "theories", [four], kept=tmp_path / "kept"))
    assert [(one.accepted, one.before) for one in again] == [(True, True)]
    assert compiled == []
    changed = replace(four, text=four.text + "\n")
    assert not next(check_folder(rocq, tmp_path / "theories", [changed], kept=tmp_path / "kept")).before
    refused = replace(five, text="Theorem feddyn_equation5 : 1 = 2.")
    (tmp_path / "theories" / "Statements" / "feddyn_equation5.v").write_text(refused.text)
    for _ in range(2):  # what was refused is tried again
        assert not next(check_folder(rocq, tmp_path / "theories", [refused], kept=tmp_path / "kept")).accepted


@pytest.mark.parametrize("lemma", [*SHOWN, *NOT_SHOWN])
def test_the_tactics_show_signs_and_divisors_and_no_more(rocq: Rocq, folder: Path, lemma: str) -> None:
    head = "From Coq Require Import Reals.\nFrom FedConvex Require Import Steps.\nOpen Scope R_scope.\n"
    (folder / "Statements" / "tactic.v").write_text(f"{head}Lemma shown : {lemma}\n")
    assert rocq.compile(folder, "Statements/tactic").accepted == (lemma in SHOWN)


@pytest.mark.parametrize(("identifier", "old", "new"), MUTANTS)
def test_a_mutant_is_refused(rocq: Rocq, folder: Path, identifier: str, old: str, new: str) -> None:
    name = identifier.replace(".", "_")
    text = (folder / "Statements" / f"{name}.v").read_text()
    assert old in text
    (folder / "Statements" / "mutant.v").write_text(text.replace(old, new, 1))
    assert not rocq.compile(folder, "Statements/mutant").accepted


@pytest.fixture(scope="module")
def further(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rocq") / "further"
    accepted(rocq, place, FURTHER)
    return place


@pytest.mark.parametrize(("identifier", "old", "new"), FURTHER_MUTANTS)
def test_a_mutant_with_roots_or_of_a_fixed_point_is_refused(
    rocq: Rocq, further: Path, identifier: str, old: str, new: str
) -> None:
    test_a_mutant_is_refused(rocq, further, identifier, old, new)


REFUTED_MUTANTS = (  # claims that hold, with the same instances: the instance breaks nothing, and Rocq says so
    ("fedsplit.equation17", " + (u - (2 * w - z)))%V).", " - local_stepsize * (u - (2 * w - z)))%V)."),
    ("fedsplit.equation19", "(regularizer / 8) * (num_clients *", "(regularizer / 8) * (1 *"),
    ("fedprox.corollary9", "(gamma_drawn <= 1) ->", "(gamma_drawn = gamma) ->"),
    ("fedsplit.theorem2", "((z O) = ((w O))%V) ->", "((z O) = (2 * (w O))%V) ->"),
    ("fedsplit.theorem2", "Rmax (num_clients", "Rmax (1 + num_clients"),
)


def test_refutations_are_accepted_and_mutants_of_them_refused(rocq: Rocq, tmp_path: Path) -> None:
    place = tmp_path / "refuted"
    written = accepted(rocq, place, list(dict.fromkeys(m[0] for m in REFUTED_MUTANTS)))
    assert len(written) == 4
    assert granted(axioms_of(rocq, place, written)) == []
    for identifier, old, new in REFUTED_MUTANTS:
        text = exported(statement(identifier)).text
        assert old in text
        (place / "Statements" / "mutant.v").write_text(text.replace(old, new, 1))
        assert not rocq.compile(place, "Statements/mutant").accepted, (identifier, old)


def test_faults_of_most_kinds_are_refused(rocq: Rocq, folder: Path, further: Path) -> None:
    """Two of most kinds, shown to be wrong without Rocq; `benchmarks/rocq_mutants.py` tries 300 of all."""
    tried: dict[str, int] = dict.fromkeys(KINDS, 0)
    places = {"feddyn.equation5": folder} | dict.fromkeys(("fedsplit.proposition2", "yuan_li.trounds"), further)
    for name, place in places.items():
        (place / "Statements" / "mutant.v").write_text(unchanged(statement(name)))
        assert rocq.compile(place, "Statements/mutant").accepted, name
        for mutant in mutants_of(statement(name)):
            if tried[mutant.kind] < 2 and shown_wrong(mutant, 0.5):
                tried[mutant.kind] += 1
                (place / "Statements" / "mutant.v").write_text(mutant.text)
                assert not rocq.compile(place, "Statements/mutant").accepted, mutant
    assert {kind for kind, number in tried.items() if number} >= set(KINDS) - {"moment", "round"}, tried


def test_a_mutant_that_is_true_is_accepted(rocq: Rocq, folder: Path) -> None:
    """(5) holds without 0 < L, too, which smoothness implies where it says anything: nothing shows this to be wrong."""
    name = "feddyn.equation5"
    dropped = [m for m in mutants_of(statement(name)) if m.kind == "hypothesis" and m.before == "(0 < L)"]
    assert [shown_wrong(m, 0.3) for m in dropped] == [""]
    more = unchanged(statement(name)).replace("(0 < L) ->", "(0 < L) ->\n  (True) ->", 1)
    weaker = more.replace("L_sign", "L_sign more", 1)
    (folder / "Statements" / "mutant.v").write_text(weaker)
    assert rocq.compile(folder, "Statements/mutant").accepted
