"""`fedconvex verify FILE.json`: proofs of whoever it may be are replayed; what is refused is never called proved."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runner import running

from fedconvex.proofs_checks.export.proof_files import write_proofs
from fedconvex.theory import feddyn, fedprox

Run = Callable[..., tuple[int, str, str]]
run = running("verify")


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    write_proofs(tmp_path, [fedprox.equation3])
    return tmp_path / "fedprox.equation3.json"


def test_certificates_are_written_and_replayed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    status, out, _ = run("feddyn.lemma4", "fedprox.definition1", "--certificates", folder, "--no-cache")
    assert (status, f"saved {folder}" in out) in ((0, True), (1, True))  # 1 where another verdict is recorded
    files = sorted(folder.iterdir())
    assert "feddyn.lemma4.json" in [path.name for path in files]
    assert "fedprox.definition1.json" not in [path.name for path in files]  # it has no proof
    status, out, error = run(*files)
    assert (status, error) == (0, "")
    assert out.count(" is PROVED") == len(files)


def test_a_replayed_file_says_what_it_claims_and_assumes(run: Run, proof: Path) -> None:
    out = run.prints(proof)
    first, *rest = out.splitlines()
    assert first == f"{proof} is PROVED"
    assert [line.split()[0] for line in rest if not line.startswith(" ")] == ["claims", "where", "assumes"]
    assert all(sign not in out for sign in ("\\", "$", "Number("))


@pytest.mark.beyond_core  # takes seconds
def test_a_cited_proof_is_missing(run: Run, tmp_path: Path) -> None:
    files = write_proofs(tmp_path, [feddyn.theorem2])
    whole = tmp_path / "feddyn.theorem2.json"
    assert run(whole)[0] == 0
    for path in files:
        if path != whole:
            path.unlink()
    out = run.prints(whole, status=1)
    assert f"{whole} is UNKNOWN: the kernel refuses it" in out
    assert "is not beside feddyn.theorem2.json" in out


@pytest.mark.parametrize("field", ["claim", "proof"])
def test_a_changed_file_is_refused_and_the_others_are_still_replayed(run: Run, proof: Path, field: str) -> None:
    data = json.loads(proof.read_text("utf-8"))
    if field == "claim":
        data["claim"]["left"], data["claim"]["right"] = data["claim"]["right"], data["claim"]["left"]
    else:
        pair = data["proof"]["lines"]["of"][0]["facts"]["of"][0]["of"]
        pair[0] = ["N", "+", pair[0], pair[0]]
    changed = proof.with_name("changed.json")
    changed.write_text(json.dumps(data), "utf-8")
    out = run.prints(changed, proof, status=1)
    assert f"{changed} is UNKNOWN: the kernel refuses it" in out
    assert f"{proof} is PROVED" in out
    assert f"{changed} is PROVED" not in out


@pytest.mark.parametrize(("content", "words"), [
    (None, "does not exist"), ("", "is no proof"), ("not JSON", "is no proof"), ("[]", "is no proof"),
    ('{"setting": 1, "claim": 2, "proof": 3}', "ClaimSetting is expected"), (" " * 1_000_001, "too long"),
])  # fmt: skip
def test_what_is_no_proof_is_wrong_input(run: Run, tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "some.json"
    if content is not None:
        path.write_text(content, "utf-8")
    assert words in run.refuses(path)


@pytest.mark.parametrize("more", [
    ["fedprox.theorem4"], ["--step", "1"], ["--record"], ["--json", "-"], ["--html", "x.html"], ["--latex", "x.tex"],
    ["--certificates", "x"], ["own.py"],
])  # fmt: skip
def test_a_file_is_verified_alone(run: Run, proof: Path, more: list[str]) -> None:
    error = run.refuses(proof, *more)
    assert "verified alone" in error or "is no JSON file" in error


def test_a_name_that_hides_what_is_claimed_is_not_shown(run: Run, proof: Path) -> None:
    """A stranger's file proves ‖e‖ ≤ γ‖∇F‖ and calls the right side 0: the name is not what is proved."""
    honest = run(proof)[1].partition("\n")[2]
    whole = json.loads(proof.read_text("utf-8"))
    whole["claim"]["right"] = ["N", "named", "L_0", whole["claim"]["right"]]
    whole["claim"]["left"] = ["N", "named", r"\gamma", whole["claim"]["left"]]
    whole["setting"]["inexactness"] = ["N", "named", "B", whole["setting"]["inexactness"]]
    hostile = proof.with_name("hostile.json")
    hostile.write_text(json.dumps(whole), "utf-8")
    status, out, _ = run(hostile)
    assert (status, out.partition("\n")[2]) == (0, honest)
