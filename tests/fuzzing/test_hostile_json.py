"""Every JSON that commands read, mutated: a sensible result or wrong input, never a fault; nothing unsafe is shown."""

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Callable
from copy import deepcopy
from functools import cache as once
from pathlib import Path
from typing import Any

import pytest
import typer
from hostile_json import mutated
from hostile_names import elements, unsafe
from hypothesis import HealthCheck, given, seed, settings
from kinds_of_files import picture
from kinds_of_results import AUDIT, INTERVAL

from fedconvex.display.html import tag
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.export.proof_files import write_proofs
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.reporting import cache, recorded
from fedconvex.proofs_checks.reporting.records import Record, record
from fedconvex.report import audits, contents, experiments
from fedconvex.reproduce.summary import last_results, markdown
from fedconvex.statements import recorded as phrases
from fedconvex.theory import statement

ONE = "fedprox.equation6"
KEY = "fedsplit.figure1"
SUMMARY = {
    "id": KEY, "title": "a < b", "source": "Figure 1", "quick": False, "note": "with $x^2$", "seeds": 1,
    "numbers": [{"what": "rounds", "source": "", "published": 400, "ours": 404.0, "released": None, "theory": "none",
                 "why": "", "agrees": True, "within": 2}],
    "claims": [{"claim": "it stops", "source": "section 2", "note": "slow", "verdict": "reproduced", "cases": [],
                "number": "0.17 > 0.01"}],
    "choices": [{"open": "stepsize", "choice": "1/L", "alternatives": "2/L", "effect": {"1/(2L)": 0.5}}],
    "date": "2026-01-02T03:04:05+00:00",
}  # fmt: skip
USUAL, THOROUGH = 60, 2000
counts = pytest.mark.parametrize("count", [USUAL, pytest.param(THOROUGH, marks=pytest.mark.exhaustive)])
pytestmark = pytest.mark.beyond_core


def repeated(count: int) -> Callable[[Any], Any]:
    """The same examples in every run."""
    quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return lambda test: seed(27)(settings(max_examples=count, database=None, suppress_health_check=quiet)(test))


def well_formed(*parts: str) -> None:
    for part in parts:
        assert unsafe(part) == []
        assert not {"script", "link", "iframe", "object"} & set(elements(part))


def one_safe_line(error: Exception) -> None:
    assert unsafe(str(error), lines=False) == []


def show_audit(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "audit.json"
        file.write_text(text, "utf-8")
        try:
            well_formed(audits.section(file))
        except InvalidInput as error:
            one_safe_line(error)


def show_summary(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / KEY / "summary.json"
        file.parent.mkdir()
        file.write_text(text, "utf-8")
        try:
            found = last_results({KEY: None}, Path(folder))  # type: ignore[dict-item]
        except InvalidInput as error:
            one_safe_line(error)
            return
        well_formed(tag("div", *experiments.section(found, Path(folder))))
        shown = markdown(found)
        assert unsafe(shown) == []
        tables = shown.split("\n\n")
        for table in tables:  # every row has its table's number of cells
            assert len({line.replace("\\|", "").count("|") for line in table.splitlines()}) == 1


@once
def known_record() -> Record:
    return record(verify(ONE))


def load_from_cache(text: str) -> None:
    file = cache.folder() / f"{ONE}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    found = cache.load(ONE)
    assert found is None or found == known_record()


def load_content_from_cache(text: str) -> None:
    """An attacker can make the digest right, too."""
    try:
        cache.store_content(ONE, json.loads(text))
    except (ValueError, RecursionError):  # our own process could not have written it
        return
    found = cache.load(ONE)
    assert found is None or isinstance(found, Record)


def load_verdicts(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        file = Path(folder) / "verdicts.json"
        file.write_text(text, "utf-8")
        patch.setattr(recorded, "PATH", file)
        patch.setattr(phrases, "file", lambda: file)
        phrases._entries.cache_clear()
        with contextlib.suppress(FedconvexError):
            found = recorded.recorded()
            for entry in found.values():
                recorded.as_recorded(statement(ONE), entry)
            recorded.differences([known_record()])
        for entry in phrases._entries.__wrapped__().values():
            assert all(isinstance(entry.get(name, ""), str) for name in ("as_printed", "holds"))


@once
def proof() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        (file,) = write_proofs(Path(folder), [statement(ONE)])
        return json.loads(file.read_text("utf-8"))


def replay(text: str) -> None:
    from fedconvex.commands.terminal import say
    from fedconvex.commands.verify_file import replay_files

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        file = Path(folder) / "proof.json"
        file.write_text(text, "utf-8")
        try:
            replay_files([str(file)])
        except (InvalidInput, Refused) as error:
            say(str(error))
        except typer.Exit:  # of a proof that is refused
            pass
    assert unsafe(out.getvalue()) == []


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path / "kept"))
    yield
    phrases._entries.cache_clear()


def kept() -> Any:
    return {"fingerprint": cache.fingerprint(), "digest": "0", "content": known_record().to_dictionary()}


def verdicts() -> Any:
    return {ONE: recorded.entry(known_record()), "fedprox.lemma9": {"verdict": "proved", "lines": {"proved": 2}}}


ATTACKED: dict[str, tuple[Callable[[], Any], Callable[[str], None]]] = {
    "audit.json": (lambda: AUDIT, show_audit),
    "summary.json": (lambda: SUMMARY, show_summary),
    "the verify cache": (kept, load_from_cache),
    "the verify cache, with a right digest": (lambda: known_record().to_dictionary(), load_content_from_cache),
    "a proof": (proof, replay),
    "verdicts": (verdicts, load_verdicts),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("which", ATTACKED)
@counts
def test_mutated_files_are_shown_or_refused(which: str, count: int) -> None:
    good, use = ATTACKED[which]
    use(json.dumps(good()))

    @repeated(count)
    @given(mutated(good()))
    def run(text: str) -> None:
        use(text)

    run()


@counts
def test_damaged_pictures_are_shown_or_refused(count: int, tmp_path: Path) -> None:
    rng, file, whole = random.Random(27), tmp_path / "figure.png", picture("PNG")
    shown = 0
    for _ in range(count):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        file.write_bytes(content[: rng.randrange(len(content)) if rng.random() < 0.3 else len(content)])
        with contextlib.suppress(InvalidInput):
            assert experiments._thumbnail(file).startswith("data:image/png;base64,")
            shown += 1
    assert shown < count  # some are refused


@pytest.mark.parametrize("content", [[[1, 2]], {"larger": 1}, [{"larger": "1", "smaller": 2}], [{}], "text", [None]])
def test_cached_runs_of_another_shape_are_computed_again(content: Any) -> None:
    good = [{"larger": 2.0, "smaller": 1.0}]
    cache.store_content("runs", content)
    assert contents._computed("runs", contents.POINTS, True, lambda: good) == good
    assert cache.load_content("runs") == good
    assert contents._computed("runs", contents.POINTS, True, list) == good


def test_a_good_file_is_shown_and_a_wrong_type_is_refused(tmp_path: Path) -> None:
    """The checks above can fail: the good texts are accepted, and one wrong value is not."""
    file = tmp_path / "audit.json"
    file.write_text(json.dumps(AUDIT))
    assert "FedProx(mu=2)" in audits.section(file)
    wrong = deepcopy(AUDIT)
    wrong["methods"][1]["bias"] = {**INTERVAL, "lower": 10**400}  # type: ignore[index]
    file.write_text(json.dumps(wrong))
    with pytest.raises(InvalidInput, match="401 digits"):
        audits.section(file)
