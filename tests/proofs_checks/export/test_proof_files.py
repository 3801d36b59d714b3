"""Proofs as files: what is written is proved from the files alone; a changed or missing file proves nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from slow_layer import some_of

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import number
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import papers_with_proofs
from fedconvex.proofs_checks.claims import builder_of, cited, derivation_of
from fedconvex.proofs_checks.export import proof_files
from fedconvex.proofs_checks.export.json_proofs import LONGEST, to_json
from fedconvex.proofs_checks.export.proof_files import replayed, write_proofs
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Nonnegative, Proved, facts
from fedconvex.proofs_checks.verification import load
from fedconvex.theory import feddyn, fedprox, papers, statement

pytestmark = pytest.mark.beyond_core  # takes seconds

for paper in papers_with_proofs():
    load(paper)
PROVED = {s.identifier: s for name in papers_with_proofs() for s in papers()[name].everything if builder_of(s)}
CITING = {name: cited(derivation_of(of)) for name, of in PROVED.items() if cited(derivation_of(of))}
ONE = "fedprox.equation3"
NOTHING = ClaimSetting()
TRUE, FALSE = at_most(0, 1), at_most(1, 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The proofs of everything."""
    found = tmp_path_factory.mktemp("proofs")
    write_proofs(found, PROVED.values())
    return found


def test_there_is_a_file_for_every_proof(folder: Path) -> None:
    assert {path.stem for path in folder.iterdir()} == set(PROVED)


def proves_its_claim(path: Path) -> bool:
    of, found = PROVED[path.stem], replayed(path)
    return (found.claim, found.setting) == (of.claim, of.setting)


@pytest.mark.parametrize("name", some_of([*list(PROVED)[::5], *list(CITING)[::3]], 9))
def test_a_file_proves_what_the_statement_claims(folder: Path, name: str) -> None:
    assert proves_its_claim(folder / f"{name}.json")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PROVED)
def test_every_file_proves_what_its_statement_claims(folder: Path, name: str) -> None:
    assert proves_its_claim(folder / f"{name}.json")


def test_cited_statements_are_written_too(tmp_path: Path) -> None:
    assert len(CITING) >= 5
    written = write_proofs(tmp_path / "new" / "folder", [feddyn.theorem2])
    names = [path.stem for path in written]
    assert names == sorted(names)
    assert set(names) >= {"feddyn.theorem2", *CITING["feddyn.theorem2"]}
    assert all(path.is_file() for path in written)


def test_what_has_no_proof_is_left_out(tmp_path: Path) -> None:
    assert write_proofs(tmp_path, [fedprox.definition1]) == []
    assert list(tmp_path.iterdir()) == []


def test_a_cited_proof_that_is_missing_is_refused(tmp_path: Path) -> None:
    write_proofs(tmp_path, [feddyn.theorem2])
    missing = CITING["feddyn.theorem2"][0]
    (tmp_path / f"{missing}.json").unlink()
    with pytest.raises(Refused, match=f"{missing} is cited, but {missing}.json is not beside feddyn.theorem2.json"):
        replayed(tmp_path / "feddyn.theorem2.json")


def test_a_cited_proof_of_something_else_is_refused(tmp_path: Path) -> None:
    write_proofs(tmp_path, [feddyn.theorem2, fedprox.equation3])
    cited_file = tmp_path / f"{CITING['feddyn.theorem2'][0]}.json"
    cited_file.write_text((tmp_path / f"{ONE}.json").read_text("utf-8"), "utf-8")
    with pytest.raises(Refused):
        replayed(tmp_path / "feddyn.theorem2.json")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"proof": 1}', "\ufeff{}"])
def test_a_cited_file_that_is_no_proof_is_refused(tmp_path: Path, content: str) -> None:
    write_proofs(tmp_path, [feddyn.theorem2])
    (tmp_path / f"{CITING['feddyn.theorem2'][0]}.json").write_text(content, "utf-8")
    with pytest.raises(Refused):
        replayed(tmp_path / "feddyn.theorem2.json")


# ---- changes


def rewritten(folder: Path, tmp_path: Path, change: Callable[[Any], None], name: str = ONE) -> Path:
    data = json.loads((folder / f"{name}.json").read_text("utf-8"))
    change(data)
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def doubled_multiplier(data: Any) -> None:
    line = data["proof"]["lines"]["of"][0]
    pair = line["facts"]["of"][0]["of"]
    pair[0] = ["N", "*", ["N", "constant", {"kind": "fraction", "is": "2"}], pair[0]]


def halved_claim(data: Any) -> None:
    data["claim"]["right"] = ["N", "*", ["N", "constant", {"kind": "fraction", "is": "1/2"}], data["claim"]["right"]]


def exchanged_sides(data: Any) -> None:
    data["claim"]["left"], data["claim"]["right"] = data["claim"]["right"], data["claim"]["left"]


def strict_claim(data: Any) -> None:
    data["claim"]["relation"] = "<"


def no_inexactness(data: Any) -> None:
    data["setting"]["answers"], data["setting"]["inexactness"] = "", None


def no_lines(data: Any) -> None:
    data["proof"]["lines"]["of"] = []


def without_the_first_line(data: Any) -> None:
    del data["proof"]["lines"]["of"][0]


CHANGES = [doubled_multiplier, halved_claim, exchanged_sides, strict_claim, no_inexactness, no_lines,
           without_the_first_line]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_proves_nothing(folder: Path, tmp_path: Path, change: Callable[[Any], None]) -> None:
    replayed(rewritten(folder, tmp_path, lambda data: None))
    with pytest.raises((Refused, InvalidInput)):
        replayed(rewritten(folder, tmp_path, change))


# ---- what is no proof


@pytest.mark.parametrize(("content", "problem"), [
    (b"", "is no proof"), (b"{", "is no proof"), (b"[1, 2]", "is no proof"), (b"null", "is no proof"),
    (b'{"setting": {}, "claim": {}, "proof": {}}', "no part of a proof"),
    (b"\xff\xfe\x00", "is no text"), (b"[" * 100_000, r"some\.json: .* is no proof: it is nested too deeply"),
    (b" " * (LONGEST + 1), "too long"), (b" " * (4 * LONGEST + 1), "too long"),
])  # fmt: skip
def test_other_content_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=problem):
        replayed(path)


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(10**12)
    monkeypatch.setattr(Path, "read_text", lambda *_: pytest.fail("it was read"))
    with pytest.raises(InvalidInput, match="too long"):
        replayed(path)


@pytest.mark.parametrize("name", ["missing.json", "", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        replayed(tmp_path / name)


# ---- names in files lead nowhere else


def resting_on(identifier: str, claim: Claim = TRUE) -> Derivation:
    return Derivation((Combine(claim.left, claim.right, facts((1, Proved(identifier)))),))


def from_sign(claim: Claim) -> Derivation:
    return Derivation((Combine(claim.left, claim.right, facts((1, Nonnegative(number(1))))),))


def written(path: Path, claim: Claim, proof: Derivation) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_json(NOTHING, claim, proof), "utf-8")
    return path


@pytest.mark.parametrize(
    "name", ["../other", "/tmp/other", "a/../../other", "..", ".", "", "a/..", "other\x00", "x" * 500]
)
def test_a_name_with_a_path_stays_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A true proof of the same claim one folder above is not found; only files beside the file are looked at."""
    written(tmp_path / "other.json", TRUE, from_sign(TRUE))
    file = written(tmp_path / "inside" / "file.json", TRUE, resting_on(name))
    looked: list[Path] = []
    is_file = Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda path: (looked.append(path), is_file(path))[1])
    with pytest.raises(Refused):
        replayed(file)
    assert {path.parent for path in looked} == {file.parent}


def test_a_proof_beside_it_is_found(tmp_path: Path) -> None:
    written(tmp_path / "other.json", TRUE, from_sign(TRUE))
    assert replayed(written(tmp_path / "file.json", TRUE, resting_on("other"))).claim == TRUE


def test_files_that_rest_on_each_other_prove_nothing(tmp_path: Path) -> None:
    first = written(tmp_path / "first.json", FALSE, resting_on("second", FALSE))
    second = written(tmp_path / "second.json", FALSE, resting_on("first", FALSE))
    for path in (first, second, written(tmp_path / "own.json", FALSE, resting_on("own", FALSE))):
        with pytest.raises(Refused, match="rests on itself"):
            replayed(path)


def test_a_file_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = write_proofs(tmp_path, [statement(ONE)])
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    monkeypatch.setattr(proof_files, "to_json", lambda *_: "another")
    with pytest.raises(KeyboardInterrupt):
        write_proofs(tmp_path, [statement(ONE)])
    assert path.read_bytes() == before
