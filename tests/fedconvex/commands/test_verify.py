"""`fedconvex verify` as a user runs it: table, files, one step, refusals, exit status, cached and damaged results."""

import functools
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_runner import running
from program_runner import printed

from fedconvex.proofs_checks import papers_with_proofs, verify
from fedconvex.proofs_checks.evidence import Role
from fedconvex.proofs_checks.reporting import cache, recorded
from fedconvex.proofs_checks.reporting.records import Record, record
from fedconvex.verdicts import Verdict

SOME = ["fedprox.equation6", "fedprox.equation7"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path / "kept"))


run = running("verify")


@functools.cache
def of(identifier: str) -> Record:
    return record(verify(identifier))


@pytest.fixture
def verdicts(tmp_path, monkeypatch):
    """A record of the verdicts that these statements have now: what a run returns does not depend on older ones."""
    path = tmp_path / "verdicts.json"
    path.write_text(recorded.as_text(map(of, [*SOME, "fedprox.corollary7"])))
    monkeypatch.setattr(recorded, "PATH", path)
    return path


# what is printed


@pytest.mark.usefixtures("verdicts")
def test_every_statement_named_has_its_line(run):
    out = run.prints(*SOME)
    lines = out.splitlines()
    for name, line in zip(SOME, lines, strict=False):
        assert line.startswith(name)
        assert "PROVED" in line
    assert "2 statements: 2 proved" in out


def test_a_paper_is_all_its_statements():
    from fedconvex.proofs_checks.reporting.results import chosen
    from fedconvex.theory import papers

    for name in papers_with_proofs():
        paper = papers()[name]
        assert {s.identifier for s in chosen([name])} == {s.identifier for s in paper.everything}
    assert len(chosen(["fedprox", "fedprox.theorem4"])) == len(chosen(["fedprox"]))


def test_a_refuted_statement_is_shown_with_its_program_and_what_holds(run):
    _, out, _ = run("fedsplit.equation17")
    assert "REFUTED" in out
    assert "from fractions import Fraction" in out
    assert "fedsplit.equation17corrected" in out


def test_one_line_is_shown_with_all_that_it_uses(run):
    out = run.prints("fedprox.equation7", "--step", 1)
    lines, shown = of("fedprox.equation7").evidence, out.splitlines()
    assert shown[0] == f"fedprox.equation7, line 1 of {len(lines)}"
    assert shown[2].startswith("  because ")
    assert shown[-1] == f"PROVED by kernel: {lines[0].detail}"
    uses = [line for line in shown if " times: " in line]
    facts, squares = (int(count.split()[0]) for count in lines[0].detail.split(", "))
    assert len(uses) == facts + squares > 0
    assert all(code not in out for code in ("**", "\\", "L_minus", ">=", "<=", "$"))


def test_the_last_line_is_the_statement(run):
    last = len(of("feddyn.lemma1").evidence)
    out = run("feddyn.lemma1", "--step", last)[1]
    assert f"line {last} of {last} (Lemma 1)" in out
    assert "num_clients" not in out


@pytest.mark.parametrize(
    ("identifier", "roles"),
    [("feddyn.equation3", {"proof", "compared", "printed"}), ("fedsplit.equation19corrected", {"proof", "compared"})],
)
def test_comparisons_and_misprints_are_lines_too(run, identifier, roles):
    lines = of(identifier).evidence
    for number, line in enumerate(lines, 1):
        out = run(identifier, "--step", number)[1]
        assert f"{line.verdict.upper()} by {line.engine}: {line.detail}" in out
        assert ("as printed; no verdict rests on it" in out) is (line.role == "printed")
        assert (" times: " in out) <= (line.role == "proof")
    assert {line.role for line in lines} == roles


@pytest.mark.usefixtures("verdicts")
def test_one_statement_is_shown_on_one_screen(run):
    out = run.prints("fedprox.corollary7")
    assert len(out.splitlines()) <= 40
    assert "as printed  false for Theorem 4's ρ" in out
    assert "holds       of the algorithm, not of Theorem 4's ρ" in out
    assert "as printed" not in run("fedprox.theorem4", "fedprox.equation6")[1]


def test_a_table_names_what_is_proved_in_another_reading(run):
    out = run("fedprox.corollary7", "fedprox.theorem4")[1]
    assert "fedprox.corollary7: as printed false for Theorem 4's ρ; holds of the algorithm" in out
    assert "fedprox.theorem4: as printed" not in out


@pytest.mark.usefixtures("verdicts")
def test_json_on_the_terminal_is_nothing_else(run):
    status, out, _ = run("fedprox.equation6", "--json", "-")
    content = json.loads(out)
    assert status == 0
    assert content["statements"][0]["verdict"] == "proved"
    assert content["totals"]["statements"]["proved"] == 1


# files


class Page(HTMLParser):
    """What a page opens and closes, and where it points to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.identifiers: set[str] = set()
        self.links: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "id" in found:
            self.identifiers.add(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        self.sources += [value for name, value in attrs if name in ("src", "srcset") or (tag == "link")]


@pytest.mark.beyond_core  # starts a process
@pytest.mark.usefixtures("verdicts")
def test_all_files_are_written(run, tmp_path):
    names = {option: tmp_path / f"file{option}" for option in ("--json", "--html", "--latex")}
    out = run.prints(*SOME, *(word for pair in names.items() for word in pair), "--certificates", tmp_path / "c")
    page = Page()
    page.feed(names["--html"].read_text("utf-8"))
    assert set(SOME) <= page.identifiers
    assert not page.sources, "the page must not load anything"
    assert all(link.removeprefix("#") in page.identifiers for link in page.links)
    latex = names["--latex"].read_text("ascii")
    assert latex.count(r"\begin{gather*}") == latex.count(r"\end{gather*}") > len(SOME)
    assert latex.count("{") == latex.count("}")
    assert len(json.loads(names["--json"].read_text("utf-8"))["statements"]) == len(SOME)
    proofs = sorted((tmp_path / "c").iterdir())
    assert {path.name for path in proofs} == {f"{name}.json" for name in SOME}
    replayed = printed("from fedconvex.commands.main import main; main()", "verify", *proofs)
    assert replayed.count(" is PROVED") == len(SOME)
    assert all(str(path) in out for path in names.values())


# refusals


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fedprox.theorm4"], ["fedprox.theorm4", "did you mean", "fedprox.theorem4"]),
        (["fedprx"], ["fedprx", "did you mean fedprox"]),
        (["xyz"], [f"did you mean {', '.join(papers_with_proofs())}?"]),
        ([*SOME, "--step", "1"], ["--step", "2 statements", "name one"]),
        (["fedprox.equation6", "--step", "99"], ["--step = 99", "fedprox.equation6 has 4 lines"]),
        (["fedprox.equation4", "--step", "3"], ["--step = 3", "has 1 line;"]),
        (["fedprox.equation4", "--step", "-1"], ["--step = -1", "count from 1"]),
        (["fedprox.equation7", "--step", "0"], ["--step = 0", "count from 1"]),
        (["fedprox.equation7", "--html", "{folder}"], ["--html", "no file"]),
        (["fedprox.equation7", "--html", "{folder}/none/x.html"], ["--html", "existing folder"]),
        (["fedprox.equation7", "--certificates", "{file}"], ["--certificates", "{file}"]),
        (["fedprox.equation7", "--html", "{file}", "--latex", "{file}"], ["--latex = ", "is the file of --html"]),
        (
            ["fedprox.equation7", "--json", "{new}", "--latex", "{folder}/./new"],
            ["--latex = ", "is the file of --json"],
        ),
        (
            ["fedprox.equation7", "--html", "{new}", "--certificates", "{new}"],
            ["--certificates", "is the file of --html"],
        ),
    ],
)
def test_bad_input_is_refused_before_any_work(run, tmp_path, monkeypatch, arguments, words):
    (tmp_path / "file").write_text("x")

    if "--step" not in arguments:
        monkeypatch.setattr("fedconvex.proofs_checks.verification._verified", lambda *_: pytest.fail("work was done"))
    places = {"folder": str(tmp_path), "file": str(tmp_path / "file"), "new": str(tmp_path / "new")}
    error = run.refuses(*(word.format(**places) for word in arguments))
    for word in words:
        assert word.format(**places) in error
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# verdicts that were recorded


def test_a_change_of_mind_is_noticed(run, verdicts):
    assert run(*SOME)[0] == 0
    before = '"fedprox.equation6": {"verdict": '
    verdicts.write_text(verdicts.read_text().replace(f'{before}"proved"', f'{before}"refuted"'))
    out = run.prints(*SOME, status=1)
    assert "changed: fedprox.equation6: proved" in out


def test_a_statement_without_a_recorded_verdict_is_noticed(run, verdicts):
    verdicts.write_text("{}")
    assert run(*SOME)[0] == 1


def test_recorded_verdicts_that_cannot_be_read(run, verdicts):
    verdicts.write_text("{")
    status, _, error = run(*SOME)
    assert status == 1
    assert "recorded verdicts cannot be read" in error


# results that are kept


@pytest.mark.usefixtures("verdicts")
def test_what_was_kept_is_taken(run, monkeypatch):
    run(*SOME)

    def never(*_):
        raise AssertionError("verified again")

    monkeypatch.setattr("fedconvex.proofs_checks.verification._verified", never)
    assert run(*SOME)[0] == 0
    status, _, error = run(*SOME, "--no-cache")
    assert status not in (0, 1, 2)
    assert "verified again" in error


def test_a_kept_result_says_the_same(run):
    first = run("fedprox.equation7", "--json", "-")[1]
    assert run("fedprox.equation7", "--json", "-")[1] == first


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-5],
        lambda text: text.replace('"verdict": "proved"', '"verdict": "refuted"', 1),
        lambda _: "{}",
        lambda text: text.replace(cache.fingerprint(), "0" * 64),
    ],
    ids=["cut off", "another verdict", "empty", "older sources"],
)
def test_a_damaged_or_outdated_result_is_computed_again(damage):
    cache.store(of("fedprox.equation3"))
    path = cache.folder() / "fedprox.equation3.json"
    assert cache.load("fedprox.equation3") is not None
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    assert cache.load("fedprox.equation3") is None


def test_the_fingerprint_sees_every_source(monkeypatch):
    names = {path.name for path in cache._sources()}
    assert {"replay.py", "remarks.py", "evidence.py", "calculator.py", "fedprox.py", "rounds.py"} <= names
    assert not any("deep" in Path(path).parts[-2:] for path in cache._sources())


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path / "file"))
    cache.store(of("fedprox.equation3"))
    assert cache.load("fedprox.equation3") is None


def test_a_record_survives_json():
    found = of("fedprox.equation7")
    assert Record.from_dictionary(json.loads(json.dumps(found.to_dictionary()))) == found
    with pytest.raises(ValueError, match="fields"):
        Record.from_dictionary({})
    assert len(found.lines(Role.PROOF, Verdict.PROVED)) == len(found.evidence) > 0


def test_a_paper_without_proofs_has_no_verdicts(run, monkeypatch):
    """As while a paper is being added."""
    monkeypatch.setattr("fedconvex.proofs_checks.verification.papers_with_proofs", lambda: ("fedprox", "fedsplit"))
    for names in (["nesterov"], ["fedprox", "nesterov.gradientstep"]):
        error = run.refuses(*names)
        assert "paper = nesterov: has no proofs here" in error
        assert "name one of fedprox, fedsplit" in error
