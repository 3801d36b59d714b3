"""The export to Rocq needs no Rocq: its text, what it says of statements that it cannot write, and bad input."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from fedconvex.claims.terms import free, norm, parameter
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.kernel.scalars import Field
from fedconvex.proofs_checks.kernel.vectors import Vec
from fedconvex.proofs_checks.reporting.recorded import recorded
from fedconvex.proofs_checks.rocq import files, recording
from fedconvex.proofs_checks.rocq.accepted import accepted, checked_by, digest_of
from fedconvex.proofs_checks.rocq.compiling import find_rocq
from fedconvex.proofs_checks.rocq.files import (
    REFUSED_BY_ROCQ,
    exported,
    library,
    refutation,
    without_repeats,
    write_theories,
)
from fedconvex.proofs_checks.rocq.lengths import ratio
from fedconvex.proofs_checks.rocq.recording import digest, record_accepted
from fedconvex.proofs_checks.rocq.script_lines import signs_in
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.theory import papers, statement

from .rocq_mutants import mutants_of, shown_wrong, unchanged
from .theorem_folders import theorem_of

TWO = ("feddyn.equation5", "fedprox.equation5")
GRANTED = re.compile(
    r"\b(Axiom|Axioms|Parameter|Parameters|Admitted|admit|Conjecture|Abort|Unset|bypass_check|give_up)\b"
)


def without_comments(text: str) -> str:
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)


def granted(text: str) -> list[str]:
    """The words that would grant something without proof."""
    return GRANTED.findall(without_comments(text))


def test_the_library_is_the_one_that_rocq_has_accepted() -> None:
    """Whoever changes it lets Rocq check all theorems again: `fedconvex verify --kernel rocq --record`."""
    assert accepted()["library"] == digest_of(*library().values())


@pytest.mark.sample(8)
@pytest.mark.parametrize("identifier", sorted(accepted()["theorems"]))
def test_the_text_of_a_theorem_is_the_one_that_rocq_has_accepted(identifier: str) -> None:
    """No text passes for checked that is not."""
    assert digest(exported(statement(identifier))) == accepted()["theorems"][identifier]
    assert checked_by(identifier, statement(identifier).content) == accepted()["rocq"]


def test_what_rocq_has_not_accepted_is_not_said_to_be_checked() -> None:
    for name in ("feddyn.theorem1", *REFUSED_BY_ROCQ):
        assert checked_by(name, statement(name).content) == ""
        assert "by Rocq" not in str(verify(name))
    assert f"checked by Rocq {accepted()['rocq']} too" in str(verify("feddyn.equation5"))


def test_only_what_is_the_same_stays_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another text, another text of a theorem that is cited, another library or version: no longer accepted."""
    four, lemma = exported(statement("feddyn.equation4")), exported(statement("feddyn.lemma1"))
    assert lemma.cited
    assert digest(lemma) != digest(replace(lemma, cited=()))
    monkeypatch.setattr(recording, "PATH", tmp_path / "accepted.json")
    kept = {"feddyn.equation4": digest(four), "feddyn.equation5": "another text", "no.statement": "a"}
    before = {"rocq": "8.16.1", "library": digest_of(*library().values()), "theorems": kept}
    for known, refused, left in (
        (before, (), ["feddyn.equation4", "feddyn.lemma1"]),
        (before, (four,), ["feddyn.lemma1"]),
        (before | {"library": "another"}, (), ["feddyn.lemma1"]),
        (before | {"rocq": "8.20.0"}, (), ["feddyn.lemma1"]),
    ):
        monkeypatch.setattr(recording, "accepted", cache(lambda known=known: known))
        record_accepted("8.16.1", [lemma], refused)
        assert list(json.loads((tmp_path / "accepted.json").read_text())["theorems"]) == left


def test_nothing_is_granted() -> None:
    for text in (*library().values(), *(exported(statement(name)).text for name in TWO)):
        assert granted(text) == []


def test_a_granted_lemma_would_be_noticed() -> None:
    assert granted("Lemma a : 1 = 2.\nAdmitted.") == ["Admitted"]
    assert granted("(* no Axiom *) Axiom a : False.") == ["Axiom"]


def test_a_folder_has_library_theorems_and_what_to_read(tmp_path: Path) -> None:
    found = write_theories(tmp_path / "new", [statement(name) for name in (*TWO, "feddyn.theorem1")])
    names = {str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").rglob("*") if path.is_file()}
    assert {"Makefile", "_CoqProject", "README.md", "Assumptions.v", "FedConvex/Spaces.v"} <= names
    assert {name for name in names if name.startswith("Statements")} == {
        "Statements/feddyn_equation5.v", "Statements/fedprox_equation5.v"
    }  # fmt: skip
    assert [one.identifier for one in found if one.missing] == ["feddyn.theorem1"]
    readme = (tmp_path / "new" / "README.md").read_text()
    assert "`feddyn.theorem1`: it has no" in readme
    assumptions = (tmp_path / "new" / "Assumptions.v").read_text()
    assert assumptions.count("Print Assumptions") == 2


def test_what_rocq_refuses_is_not_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "REFUSED_BY_ROCQ", frozenset({"feddyn.equation5"}))
    of = exported(statement("feddyn.equation5"))
    assert (of.text, of.missing) == ("", "Rocq needs more than 20 seconds for the generated proof, or refuses it")


def test_roots_are_named_and_fixed_points_are_hypotheses() -> None:
    root = exported(statement("fedprox.corollary10")).text
    assert "<= (sqrt (1 + sigma2 / epsilon)) * (norm (mean (gradient F w)))." in root
    assert "positive_root_of ((epsilon + sigma2) / epsilon)" in root
    fixed = exported(statement("fedsplit.proposition2")).text
    assert "(w_next = (mean theta)%V) ->\n  (w_next = w) ->" in fixed


def test_an_invariant_is_proved_and_no_hypothesis() -> None:
    assert "h past) = (mean_of_all" not in theorem_of("feddyn.theorem2")


def test_a_parameter_that_equals_a_formula_stays_a_symbol_where_its_bound_is_enough() -> None:
    """The lemmas say less than the condition: α ≥ 30Lm/P; and identities know what α·P is."""
    text = exported(statement("feddyn.theorem1nonconvex")).text
    lemma = text[text.index("Lemma ") : text.index("Proof.")]
    assert "(30 * L * num_clients / num_active <= alpha) ->" in lemma
    assert " = alpha) ->" not in lemma
    assert "assert (chosen_2 : alpha * num_active = 30 * L * num_clients)." in text


@pytest.mark.slow
def test_every_statement_is_written_or_says_what_is_missing() -> None:
    """A statement that the export cannot write must not end that of the others."""
    found = [exported(one) for paper in papers().values() for one in paper.everything]
    assert all(bool(one.text) != bool(one.missing) for one in found)
    assert all(not granted(one.text) for one in found)
    assert sum(bool(one.text) for one in found) >= 130


REFUTED = ("fedprox.corollary9", "fedsplit.equation17", "fedsplit.equation19", "fedsplit.theorem2")


@pytest.mark.parametrize("identifier", REFUTED)
def test_a_refuted_statement_is_a_negation(identifier: str) -> None:
    """Of the claim with all hypotheses, as test_reading_theorems.py reads it."""
    of = exported(statement(identifier))
    assert of.module == f"{identifier.replace('.', '_')}_is_false"
    assert f"Theorem {of.module} :\n  ~ (\n" in of.text
    assert not granted(of.text)


def test_every_refuted_statement_is_exported_as_a_negation() -> None:
    refuted = {name for name, entry in recorded().items() if entry["verdict"] == "refuted"}
    assert refuted == set(REFUTED)


def test_a_statement_that_is_not_refuted_has_no_refutation() -> None:
    with pytest.raises(Missing, match="a refutation"):
        refutation(statement("feddyn.equation5"))


def test_mutants_differ_from_the_theorem_in_one_line() -> None:
    """Those of a claim, a hypothesis and the round; those of a proof keep the theorem."""
    of = statement("feddyn.lemma3")
    right = unchanged(of).splitlines()
    found = list(mutants_of(of))
    assert {mutant.kind for mutant in found} >= {"constant", "sign", "moment", "hypothesis", "round", "multiplier"}
    for mutant in found:
        if mutant.kind == "multiplier":
            assert mutant.text.split("Proof.")[-2].endswith(unchanged(of).split("Proof.")[-2].split("Theorem")[-1])
            assert mutant.text != exported(of).text
        else:
            differ = [pair for pair in zip(right, mutant.text.splitlines(), strict=True) if pair[0] != pair[1]]
            assert 1 <= len(differ) <= 1 + 2 * (mutant.kind == "round"), mutant


def test_a_claim_that_names_residuals_changes_with_the_round() -> None:
    """FedProx's (4) with 2μ in the method: its residuals have 2μ, too. With μ in them it would be true."""
    (changed,) = (m for m in mutants_of(statement("fedprox.equation4"), {"round"}) if m.kind == "round")
    assert changed.after.count("(2 * mu) *") == 3


def test_what_shows_a_mutant_to_be_wrong() -> None:
    """An exact federation, or the kernel; nothing shows it of the right statement and of a weaker one."""
    of = statement("feddyn.equation5")
    found = list(mutants_of(of))
    (smoother,) = (m for m in found if m.kind == "hypothesis" and "curvature_at_most" in m.before)
    assert "exact; expectation over every draw" in shown_wrong(smoother, 1)
    assert shown_wrong(replace(smoother, setting=of.setting), 0.2) == ""
    (weaker,) = (m for m in found if m.kind == "constant" and "/ (3 * L)" in m.after)
    assert shown_wrong(weaker, 0.2) == ""
    multiplier = next(m for m in found if m.kind == "multiplier")
    assert shown_wrong(multiplier).startswith("the kernel: ")
    assert shown_wrong(replace(multiplier, derivation=derivation_of(of))) == ""


def test_signs_that_a_multiplier_with_lengths_needs() -> None:
    """Formulas of parameters with differences, in any summand; no lengths, and no sums that show their sign."""
    a, b, n = parameter("a"), parameter("b"), norm(free("u"))
    assert list(signs_in((a - b) * n + a * (n + (b - a) / a * n))) == [a - b, (b - a) / a]
    assert list(signs_in(a * n + (a + b) * n)) == []
    assert list(signs_in((a - b) * a)) == [a - b]  # a product of parameters has factors, too


def test_lengths_of_equal_vectors_are_equal_where_a_coefficient_may_be_zero() -> None:
    """a − b has no sign in the field, so that nothing is divided by it."""
    field = Field({"a": "positive", "b": "positive"})
    unclear, one = field.parameter("a") - field.parameter("b"), field.scalar(1)
    u, v = Vec({("same", "x"): unclear, ("same", "y"): one}), Vec({("same", "x"): one, ("same", "y"): one})
    assert ratio(u, u) == one
    assert ratio(u * 2, u) == field.scalar(2)
    assert ratio(u, v) is None
    only = Vec({("same", "x"): unclear})
    assert ratio(only, only) is None  # it may be 0, and so may the other


def test_a_lemma_that_says_what_an_earlier_one_says_cites_it() -> None:
    """Only where it has the variables and the hypotheses of the earlier one, and the same conclusion."""
    first = "Lemma a_sign_1 : forall x y : R,\n  (0 < x) -> (0 < y) -> 0 < x * y.\nProof.\n  sign.\nQed."
    same = "Lemma b_sign_1 : forall x y z : R,\n  (0 < x) -> (x < z) -> (0 < y) -> 0 < x * y.\nProof.\n  sign.\nQed."
    weaker, other = same.replace("(0 < y) -> ", ""), same.replace("0 < x * y.", "0 <= x * y.")
    assert without_repeats(f"{first}\n\n{same}").endswith("Proof. intros. apply (a_sign_1 x y); assumption. Qed.")
    for kept in (weaker, other, same.replace("x y z", "x z t")):
        assert without_repeats(f"{first}\n\n{kept}") == f"{first}\n\n{kept}"
    assert without_repeats(f"{same}\n\n{first}") == f"{same}\n\n{first}"


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(InvalidInput, match="not an empty folder"):
        write_theories(tmp_path, [])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_without_rocq_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="apt install coq"):
        find_rocq()


@pytest.mark.beyond_core
def test_an_old_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "coqc").write_text("#!/bin/sh\necho The Coq Proof Assistant, version 8.9.1\n")
    (tmp_path / "coqc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(InvalidInput, match=r"8\.16 is the oldest"):
        find_rocq()
