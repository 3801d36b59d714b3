"""`fedconvex report` as a user runs it: the file, its contents, refusals, exit status."""

import json
from pathlib import Path

import pytest
from command_runner import running
from page_reader import Read, text_of

from fedconvex.proofs_checks import verification
from fedconvex.proofs_checks.reporting import cache, recorded
from fedconvex.reproduce import experiments, summary

pytestmark = pytest.mark.beyond_core  # takes seconds

ONE = "fedprox.equation6"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path / "kept"))
    monkeypatch.setattr(summary, "PACKAGED", tmp_path / "none")  # those of the package are a test's own matter
    monkeypatch.chdir(tmp_path)


run = running("report")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """What a small run of `fedconvex reproduce` leaves: one full experiment with a picture, one reduced."""
    from matplotlib.figure import Figure

    summary = {
        "id": "fedsplit.figure1", "title": "a < b", "source": "Figure 1", "quick": False, "note": "", "seeds": 1,
        "numbers": [{"what": "rounds", "source": "", "published": 400, "ours": 404.0, "released": None, "theory": 529.0,
                     "why": "", "agrees": True, "within": 2}],
        "claims": [
            {"claim": "it stops above", "source": "section 2", "note": "", "verdict": "reproduced", "cases": [],
             "number": "0.17 > 0.01"},
            {"claim": "it is fast", "source": "section 4", "note": "slow", "verdict": "contradicted", "cases": [],
             "number": "9 < 3"},
        ],
        "choices": [{"open": "stepsize", "choice": "1/L", "alternatives": "", "effect": {"1/(2L)": 0.5}}],
        "date": "2026-01-02T03:04:05+00:00", "processor": "one", "cores": 2, "versions": {},
    }  # fmt: skip
    folder = tmp_path / "reproduced"
    for place, content in (
        (folder / "fedsplit.figure1", summary),
        (folder / "quick" / "fedprox.figure9", {**summary, "id": "fedprox.figure9", "quick": True}),
    ):
        place.mkdir(parents=True)
        (place / "summary.json").write_text(json.dumps(content), "utf-8")
    figure = Figure(figsize=(8, 4))
    figure.subplots().plot([1, 2], [2, 1])
    figure.savefig(folder / "fedsplit.figure1" / "figure.png", dpi=150)
    return folder


def section(read: Read, name: str) -> str:
    (found,) = [s for s in read.all("section") if s[0].get("id") == name]
    return text_of(found)


def test_help(run):
    status, out, _ = run("--help")
    assert status == 0
    assert all(word in out for word in ("--out", "--results", "--audit", "--fresh", "Exit status"))


def test_a_page_is_written(run, tmp_path):
    status, out, error = run(ONE)
    assert status == 0
    assert "saved report.html (0." in out
    assert "1 statements" in error
    read = Read((tmp_path / "report.html").read_text("utf-8"))
    assert read.faults() == []
    assert [one.get("id") for one in read.all("details", class_="statement")] == [ONE]
    assert "fedconvex reproduce all --quick" in section(read, "reproduced")
    assert "as recorded" in text_of(read.all("header")[0])


def test_fresh_runs_the_proof_and_nothing_else_does(run, tmp_path, monkeypatch):
    run(ONE, "--fresh", "--out", "fresh.html")
    text = (tmp_path / "fresh.html").read_text("utf-8")
    assert "1 checked just now" in text
    assert "as recorded" not in text

    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return verified(*arguments)

    verified = verification._verified
    monkeypatch.setattr(verification, "_verified", counted)
    run(ONE)
    assert not calls
    run(ONE, "--fresh")
    assert calls


def test_a_kept_result_is_taken_and_told(run, tmp_path, monkeypatch):
    from fedconvex.proofs_checks import verify
    from fedconvex.proofs_checks.reporting.records import record

    cache.store(record(verify(ONE)))
    run(ONE)
    assert "1 checked on this machine before" in (tmp_path / "report.html").read_text("utf-8")


def test_a_statement_of_a_paper_without_proofs_has_no_verdict_to_change(run, tmp_path, monkeypatch):
    nothing = tmp_path / "verdicts.json"
    nothing.write_text("{}")
    monkeypatch.setattr(recorded, "PATH", nothing)
    for place in ("verification", "reporting.results"):
        monkeypatch.setattr(f"fedconvex.proofs_checks.{place}.papers_with_proofs", lambda: ("fedprox",))
    assert run("nesterov.gradientstep")[0] == 0
    assert run("nesterov.gradientstep")[0] == 0
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "1 more have no proof here" in text


def test_a_change_of_mind_is_noticed(run, tmp_path, monkeypatch):
    path = tmp_path / "verdicts.json"
    path.write_text('{"fedprox.equation6": {"verdict": "refuted", "lines": {"proved": 1}}}')
    monkeypatch.setattr(recorded, "PATH", path)
    out = run.prints(ONE, status=1)
    assert "changed: fedprox.equation6: proved" in out
    (alert,) = Read((tmp_path / "report.html").read_text("utf-8")).all("div", role="alert")
    assert "fedprox.equation6: proved" in text_of(alert)


def test_what_was_there_is_not_replaced_silently(run, tmp_path):
    (tmp_path / "report.html").write_text("notes of my own")
    assert "saved report.html (replaced) (" in run(ONE)[1]
    assert "replaced" not in run(ONE, "--out", "other.html")[1]


def test_results_are_shown(run, tmp_path, results):
    assert run(ONE, "--results", results)[0] == 0
    read = Read((tmp_path / "report.html").read_text("utf-8"))
    assert read.faults() == []
    told = section(read, "reproduced")
    assert "2 figures and tables, 1 of them run in full" in told
    assert "The claims of these: 1 reproduced, 1 contradicted." in told
    assert all(words in told for words in ("400", "404", "529", "within × 2", "9 < 3", "A full run of 2026-01-02"))
    assert len(read.all("img")) == 1
    assert "a < b" in read.all("img")[0].get("alt", "")


def test_without_a_folder_the_package_s_results_are_shown(run, tmp_path, results, monkeypatch):
    kept = tmp_path / "package"
    kept.mkdir()
    (results / "fedsplit.figure1" / "summary.json").rename(kept / "fedsplit.figure1.json")
    monkeypatch.setattr(summary, "PACKAGED", kept)
    run(ONE)
    assert "1 figures and tables, 1 of them run in full" in (tmp_path / "report.html").read_text("utf-8")


def test_one_s_own_reduced_run_goes_before_the_full_run_of_the_package(run, tmp_path, results, monkeypatch):
    kept = tmp_path / "package"
    kept.mkdir()
    full = (results / "fedsplit.figure1" / "summary.json").read_text("utf-8")
    (kept / "fedprox.figure9.json").write_text(full, "utf-8")
    monkeypatch.setattr(summary, "PACKAGED", kept)
    run(ONE, "--results", results)
    own = section(Read((tmp_path / "report.html").read_text("utf-8")), "reproduced")
    assert "2 figures and tables, 1 of them run in full" in own  # fedprox.figure9 is the reduced one
    run(ONE)
    package = section(Read((tmp_path / "report.html").read_text("utf-8")), "reproduced")
    assert "1 figures and tables, 1 of them run in full" in package
    assert not summary.last_results(experiments(), results)["fedprox.figure9"]["quick"]  # claims are for full runs


def test_a_picture_of_another_run_is_not_shown(run, tmp_path, results):
    """The reduced run's folder has none; a full run's picture is never put beside a reduced run's numbers."""
    (results / "fedsplit.figure1" / "summary.json").rename(results / "quick" / "fedprox.figure9" / "summary.json")
    run(ONE, "--results", results)
    assert not Read((tmp_path / "report.html").read_text("utf-8")).all("img")


def test_audits_are_shown(run, tmp_path):
    from fedconvex.audit.measure import audit
    from fedconvex.audit.report import save
    from fedconvex.data import load

    problem = load("diabetes", clients=3).problem(model="least-squares")
    save(audit(problem, ["fedgd:local_steps=2", "fedsplit"], rounds=5, source="<mine>"), tmp_path / "audit")
    assert run(ONE, "--audit", tmp_path / "audit", "--audit", tmp_path / "audit" / "audit.json")[0] == 0
    read = Read((tmp_path / "report.html").read_text("utf-8"))
    assert read.faults() == []
    assert section(read, "audited").count("<mine>") == 2
    (line,) = {text_of(row) for row in read.all("tr") if text_of(row).startswith("FedSplit")}
    assert line.count("≤") == 2  # it has no bias: that is shown as a bound, not as a number


@pytest.mark.slow
def test_the_whole_page_is_small_enough(run, tmp_path, results):
    """The command without arguments but for results: all pictures, all exact worst cases."""
    status, out, _ = run("--results", results)
    assert status == 0, out
    content = (tmp_path / "report.html").read_bytes()
    assert len(content) <= 5_000_000
    read = Read(content.decode())
    assert read.faults() == []
    assert len(read.all("svg")) > 60
    assert section(read, "looseness").count("α = 25") > 10
    assert len(read.all("details", class_="statement")) > 140


# refusals


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fedprox.theorm4"], ["fedprox.theorm4", "did you mean", "fedprox.theorem4"]),
        ([ONE, "--out", "folder"], ["--out", "no file"]),
        ([ONE, "--out", "none/x.html"], ["--out", "existing folder"]),
        ([ONE, "--results", "none"], ["--results", "no folder"]),
        ([ONE, "--results", "empty"], ["--results", "no results", "fedconvex reproduce"]),
        ([ONE, "--results", "broken"], ["--results = ", "summary.json", "no JSON"]),
        ([ONE, "--results", "other"], ["fedsplit.figure1", "no result of an experiment"]),
        ([ONE, "--results", "nopicture"], ["figure.png", "no picture"]),
        ([ONE, "--audit", "none.json"], ["none.json", "cannot be read"]),
        ([ONE, "--audit", "file"], ["file", "no result of an audit"]),
    ],
)
def test_bad_input_is_refused_before_any_work(run, tmp_path, monkeypatch, results, arguments, words):
    monkeypatch.setattr(
        "fedconvex.proofs_checks.reporting.results.results", lambda *_, **__: pytest.fail("work was done")
    )
    good = json.loads((results / "fedsplit.figure1" / "summary.json").read_text("utf-8"))
    for name, content in (("broken", "{"), ("other", "{}"), ("nopicture", json.dumps(good))):
        (tmp_path / name / "fedsplit.figure1").mkdir(parents=True)
        (tmp_path / name / "fedsplit.figure1" / "summary.json").write_text(content)
    (tmp_path / "nopicture" / "fedsplit.figure1" / "figure.png").write_bytes(b"GIF89a")
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text('{"methods": []}')
    error = run.refuses(*arguments)
    assert all(word in error for word in words), error
    assert not (tmp_path / "report.html").exists()


def test_what_is_no_experiment_of_ours_is_left_out(run, tmp_path, results):
    (results / "stranger").mkdir()
    (results / "stranger" / "summary.json").write_text('{"title": "<b>stranger</b>"}')
    assert run(ONE, "--results", results)[0] == 0
    assert "stranger" not in (tmp_path / "report.html").read_text("utf-8")
