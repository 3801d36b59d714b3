"""`fedconvex verify FILE.py`: the verdict on every lemma of a file, exit status, and files that are refused."""

from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fedconvex.claims import ClaimSetting, at_most
from fedconvex.claims.display.letters import symbol_of
from fedconvex.claims.terms import free, gradient, number, parameter, square, value
from fedconvex.commands.errors import WRONG_INPUT, run
from fedconvex.commands.main import app
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import falsification
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.proofs import Derivation, Nonnegative, Upper
from fedconvex.proofs_checks.library import Lemma, by, concluding, lemma, with_example
from fedconvex.proofs_checks.own_lemmas import checked, lemmas_in
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core

HEAD = '''"""Gradient descent on one smooth function."""

from fedconvex.claims import ClaimSetting, at_most
from fedconvex.claims.terms import free, gradient, mean, minimiser, number, parameter, square, value
from fedconvex.proofs_checks.kernel.proofs import Upper
from fedconvex.proofs_checks.library import by, lemma

L, x = parameter("L"), free("x")
step = x - gradient(x) / L
smooth = ClaimSetting(signs={"L": "positive"}, curvature=(-L, L))
convex = ClaimSetting(signs={"L": "positive"}, curvature=(number(0), L), minimiser=True)


def falls(by_how_much):
    return at_most(value(step), value(x) - square(gradient(x)) / by_how_much, of_client=True)


'''
PROVED = "descent = lemma(smooth, falls(2 * L), by(Upper(step, x)))\n"
WRONG_PROOF = "half = lemma(smooth, falls(4 * L), by(Upper(step, x)))\n"
REFUTED = "too_good = lemma(smooth, falls(L), by(Upper(step, x)))\n"
FOUND = "found = lemma(convex, at_most(square(mean(gradient(x))) / (2 * L), value(x) - value(minimiser)))\n"

L, x = parameter("L"), free("x")
step = x - gradient(x) / L
SMOOTH = ClaimSetting(signs={"L": "positive"}, curvature=(-L, L))
TRIES = 40


def falls(by_how_much: Any) -> Any:
    return at_most(value(step), value(x) - square(gradient(x)) / by_how_much, of_client=True)


@pytest.fixture
def verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Exit status, standard output and standard error for a file with these lines."""

    def once(*lines: str, options: str = f"--tries {TRIES}", head: str = HEAD) -> tuple[int, str, str]:
        file = tmp_path / "mypaper.py"
        file.write_text(head + "".join(lines), "utf-8")
        status = run(app, ["verify", str(file), *options.split()])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return once


# ---- verdicts


def test_a_proved_lemma(verified) -> None:
    status, out, err = verified(PROVED)
    assert (status, err) == (0, "")
    assert out.startswith("descent is PROVED: the kernel replayed its proof; no federation breaks it\n")
    assert "claims" in out
    assert "assumes" in out
    assert "broken by" not in out


def test_greek_parameters_are_shown_as_letters(verified) -> None:
    head = HEAD.replace('"L"', '"alpha_0"')
    _, out, _ = verified(PROVED, head=head)
    claims = next(line for line in out.splitlines() if line.startswith("claims"))
    assert "‖∇F_k(x)‖²/(2 α₀)" in claims
    assert "alpha" not in out
    symbols = [r"\mu", "L", r"\mathrm{num\_clients}", r"\mathrm{muon}"]
    assert [symbol_of(name) for name in ("mu", "L", "num_clients", "muon")] == symbols


def test_a_false_lemma_has_a_federation(verified) -> None:
    status, out, err = verified(REFUTED)
    assert (status, err) == (1, "")
    assert out.startswith("too_good is REFUTED: a federation breaks it\n")
    assert "broken by\n" in out


def test_a_limit_of_seconds_that_hides_a_federation_is_told(verified, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = (3600 * number for number in count())
    monkeypatch.setattr(falsification.time, "monotonic", lambda: next(hours))
    status, out, _ = verified(REFUTED, options="--seconds 1")  # the second federation breaks it
    assert (status, "REFUTED" in out) == (1, False)
    assert "cut short after 1 s and 1 of 500 federations" in " ".join(out.split())
    status, out, _ = verified(REFUTED, options="")  # no clock decides without a limit
    assert "too_good is REFUTED" in out


def test_a_true_lemma_with_a_wrong_proof_is_unknown(verified) -> None:
    status, out, _ = verified(WRONG_PROOF)
    assert status == 1
    assert out.startswith("half is UNKNOWN: its proof is refused: line 1: the sum of the facts is not the claim: ")
    assert "; no federation breaks it" in " ".join(out.split())


def test_a_lemma_without_proof_is_proved_by_a_search(verified) -> None:
    status, out, _ = verified(FOUND)
    assert status == 0
    assert out.startswith("found is PROVED: the kernel replayed its proof, which was found by a search; ")


def test_every_lemma_of_a_file_has_a_verdict(verified) -> None:
    status, out, _ = verified(PROVED, REFUTED, WRONG_PROOF)
    assert status == 1
    verdicts = [shown.partition(":")[0] for shown in out.strip().split("\n\n")]
    assert verdicts == ["descent is PROVED", "too_good is REFUTED", "half is UNKNOWN"]


def test_no_proof_is_found_of_a_lemma_that_the_search_does_not_reach() -> None:
    """A product of lengths: true by the inequality of Cauchy and Schwarz twice, which no combination of facts gives."""
    u, v = free("u"), free("v")
    hard = lemma(ClaimSetting(), at_most(square(u) * square(v) * 2, square(u) ** 2 + square(v) ** 2))
    result = checked("hard", hard, tries=TRIES)
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason == "no proof was found; no federation breaks it"


def test_a_false_lemma_without_proof_is_refuted() -> None:
    result = checked("wrong", lemma(SMOOTH, falls(L)), tries=TRIES)
    assert result.verdict is Verdict.REFUTED
    assert result.counterexample is not None
    assert result.counterexample.found.holds is False


def test_a_setting_without_federations_proves_nothing() -> None:
    """1 ≤ 0 under contradictory conditions."""
    signs = {"L": "positive"}
    empty = ClaimSetting(signs=signs, conditions=((number(0), ">", L + 1),), example={"L": Fraction(1)})
    claim = at_most(number(1), number(0))
    proof = Derivation((concluding(claim, by(Nonnegative(-L - 1)) + by(Nonnegative(L))),))
    result = checked("absurd", Lemma(empty, claim, proof), tries=TRIES)
    assert result.verdict is Verdict.UNKNOWN
    assert "the example is outside the domain" in result.reason
    assert "no federation was tried" in result.reason


def test_a_lemma_says_itself_whether_it_is_proved() -> None:
    assert lemma(SMOOTH, falls(2 * L), by(Upper(step, x))).theorem().claim == falls(2 * L)
    with pytest.raises(Refused, match="there is no proof"):
        lemma(SMOOTH, falls(2 * L)).theorem()
    with pytest.raises(Refused, match="the sum of the facts is not the claim"):
        lemma(SMOOTH, falls(L), by(Upper(step, x))).theorem()


def test_a_lemma_finds_its_example_and_keeps_a_given_one() -> None:
    found = lemma(SMOOTH, falls(L)).setting
    assert found == with_example(SMOOTH)
    assert found.example["L"] > 0
    assert lemma(found, falls(L)).setting is found


# ---- files


def test_the_lemmas_of_a_file_have_their_names(tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(HEAD + PROVED + REFUTED + "nothing = 3\nkind = type(descent)\n", "utf-8")
    assert list(lemmas_in(file)) == ["descent", "too_good"]


def test_another_class_of_this_name_is_no_lemma(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class Lemma:\n    proof = None\n\nmine = Lemma()\n", "utf-8")
    with pytest.raises(InvalidInput, match="defines no lemma"):
        lemmas_in(file)


def refused(outcome: tuple[int, str, str], words: str) -> None:
    """The exit status of wrong input, and one line that says what is wrong."""
    status, out, err = outcome
    assert (status, out) == (WRONG_INPUT, "")
    assert err.startswith("fedconvex: ")
    assert err.count("\n") == 1
    assert words in err


BAD_FILES = {
    "a syntax error": ("descent = lemma(\n", "cannot be run: SyntaxError"),
    "a file that raises": ("1 / 0\n", "cannot be run: ZeroDivisionError"),
    "an unknown name": ("descent = lemme(smooth)\n", "cannot be run: NameError"),
    "a missing module": ("import no_such_module\n", "cannot be run: ModuleNotFoundError"),
    "a float in a claim": ("lemma(smooth, at_most(value(x), 0.5))\n", "cannot be run: IllFormed"),
    "no lemma": ("statement = 1\n", "defines no lemma"),
    "null bytes": ("\0", "cannot be run: "),
    "a file that leaves Python": ("raise SystemExit(0)\n", "cannot be run: SystemExit"),
    "a claim about an unknown parameter": (
        'other = lemma(smooth, at_most(parameter("M"), parameter("M")))\n', "parameters that the setting does not"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "words"), BAD_FILES.values(), ids=list(BAD_FILES))
def test_a_bad_file_is_refused(verified, lines: str, words: str) -> None:
    refused(verified(lines), words)


def test_an_empty_file_has_no_lemma(verified) -> None:
    refused(verified(head=""), "defines no lemma")


def test_a_file_that_does_not_exist(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("nowhere.py", "."):
        where = str(tmp_path / name) if name != "." else str(tmp_path / "folder.py")
        (tmp_path / "folder.py").mkdir(exist_ok=True)
        status = run(app, ["verify", where])
        refused((status, *capsys.readouterr()), "does not exist")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("fedsplit.proposition1", "is verified alone"),
        ("fedsplit", "is verified alone"),
        ("nobody", "is verified alone"),
        ("--step 1", "is verified alone"),
        ("--seconds 0", "must be positive"),
        ("--seconds -1", "must be positive"),
        ("--seconds nan", "--seconds"),
        ("--seconds inf", "--seconds"),
        ("--seconds many", "--seconds"),
        ("--tries 0", "--tries = 0: must be an integer"),
    ],
)
def test_bad_options_are_refused(verified, options: str, words: str) -> None:
    refused(verified(PROVED, options=options), words)


@pytest.mark.parametrize("option", ["--json", "--html", "--latex", "--certificates"])
def test_a_file_is_not_written_where_lemmas_are_only_shown(verified, tmp_path: Path, option: str) -> None:
    """An option that would be ignored is refused."""
    refused(verified(PROVED, options=f"{option} {tmp_path / 'out'}"), "is verified alone")
    assert not (tmp_path / "out").exists()


def test_two_files_are_verified_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = []
    for name, lines in (("one", PROVED), ("two", WRONG_PROOF)):
        (tmp_path / f"{name}.py").write_text(HEAD + lines, "utf-8")
        names.append(str(tmp_path / f"{name}.py"))
    assert run(app, ["verify", *names, "--tries", str(TRIES)]) == 1
    out = capsys.readouterr().out
    assert "descent is PROVED" in out
    assert "half is UNKNOWN" in out


def test_a_second_file_that_is_wrong_is_refused_before_the_first_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.py").write_text(HEAD + PROVED, "utf-8")
    status = run(app, ["verify", str(tmp_path / "one.py"), str(tmp_path / "nowhere.py")])
    refused((status, *capsys.readouterr()), "does not exist")
