"""Rocq checks folders of the export: axioms, interrupted checks, faults that are known to be some."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fedconvex.proofs_checks.rocq.compiling import Checked, Rocq, axioms_of, check_folder, granted
from fedconvex.proofs_checks.rocq.files import LIBRARY, Exported, exported
from fedconvex.theory import statement

from .rocq_mutants import KINDS, mutants_of, shown_wrong, unchanged
from .theorem_folders import WITH_ROCQ, Folders, accepts

pytestmark = WITH_ROCQ


def test_a_theorem_that_rests_on_an_axiom_of_its_own_is_noticed(rocq: Rocq, folder_of: Folders) -> None:
    """In another folder of the project, so that no name tells."""
    of = Exported("a.classic", "Axiom classic : 1 = 2.\nTheorem a_classic : 1 = 2. Proof. exact classic. Qed.\n")
    folder = folder_of("feddyn.equation4")
    (folder / "Statements" / "a_classic.v").write_text(of.text)
    assert rocq.compile(folder, "Statements/a_classic").accepted
    axioms = axioms_of(rocq, folder, [exported(statement("feddyn.equation4")), of])
    assert granted(axioms) == ["a_classic.classic"]


def test_an_interrupted_check_goes_on_and_no_text_is_compiled_twice(
    rocq: Rocq, folder_of: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    shutil.copytree(folder_of("feddyn.equation4"), tmp_path / "theories")
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


def test_faults_of_most_kinds_are_refused(rocq: Rocq, folder_of: Folders) -> None:
    """Two of most kinds, shown to be wrong without Rocq; `benchmarks/rocq_mutants.py` tries 300 of all."""
    tried: dict[str, int] = dict.fromkeys(KINDS, 0)
    for name in ("feddyn.equation5", "fedsplit.proposition2", "yuan_li.trounds"):
        assert accepts(rocq, folder_of(name), unchanged(statement(name))), name
        for mutant in mutants_of(statement(name)):
            if tried[mutant.kind] < 2 and shown_wrong(mutant, 0.5):
                tried[mutant.kind] += 1
                assert not accepts(rocq, folder_of(name), mutant.text), mutant
    assert {kind for kind, number in tried.items() if number} >= set(KINDS) - {"moment", "round"}, tried


def test_a_mutant_that_is_true_is_accepted(rocq: Rocq, folder_of: Folders) -> None:
    """(5) holds without 0 < L, too, which smoothness implies where it says anything: nothing shows this to be wrong."""
    name = "feddyn.equation5"
    dropped = [m for m in mutants_of(statement(name)) if m.kind == "hypothesis" and m.before == "(0 < L)"]
    assert [shown_wrong(m, 0.3) for m in dropped] == [""]
    more = unchanged(statement(name)).replace("(0 < L) ->", "(0 < L) ->\n  (True) ->", 1)
    weaker = more.replace("L_sign", "L_sign more", 1)
    assert accepts(rocq, folder_of(name), weaker)
