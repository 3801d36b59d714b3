"""Rocq accepts what the export writes, and refuses mutants of it."""

import shutil
from pathlib import Path

import pytest

from fedconvex.proofs_checks.rocq.compiling import Rocq, check_folder, find_rocq
from fedconvex.proofs_checks.rocq.files import write_theories
from fedconvex.theory import statement

pytestmark = [
    pytest.mark.beyond_core,
    pytest.mark.skipif(
        shutil.which("coqc") is None and shutil.which("rocq") is None,
        reason="neither coqc nor rocq is on the path (Debian: apt install coq)",
    ),
]
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
    "gower.troundspofmclients",
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
)


@pytest.fixture(scope="module")
def rocq() -> Rocq:
    return find_rocq()


@pytest.fixture(scope="module")
def folder(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two theorems, which Rocq accepts."""
    place = tmp_path_factory.mktemp("rocq") / "theories"
    written = write_theories(place, [statement(name) for name in ("feddyn.equation4", "feddyn.equation5")])
    found = list(check_folder(rocq, place, written))
    assert [(one.accepted, one.problem) for one in found] == [(True, "")] * 2
    return place


def test_the_theorems_rest_on_the_axioms_of_the_real_numbers_alone(rocq: Rocq, folder: Path) -> None:
    """The standard library's axioms, and what its function spaces need; none of ours."""
    printed = rocq.printed(folder, "Assumptions")
    axioms = {line.split(" ")[0].split(":")[0] for line in printed.splitlines() if line[:1].isalpha()} - {"Axioms"}
    assert {name.rpartition(".")[2] for name in axioms} <= {
        "sig_forall_dec", "sig_not_dec", "functional_extensionality_dep", "classic"
    }  # fmt: skip
    assert axioms


@pytest.mark.sample(2)
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
    written = write_theories(place, [statement(name) for name in FURTHER])
    found = list(check_folder(rocq, place, written))
    assert [(one.accepted, one.problem) for one in found] == [(True, "")] * len(written)
    return place


@pytest.mark.slow
@pytest.mark.parametrize(("identifier", "old", "new"), FURTHER_MUTANTS)
def test_a_mutant_with_roots_or_of_a_fixed_point_is_refused(
    rocq: Rocq, further: Path, identifier: str, old: str, new: str
) -> None:
    test_a_mutant_is_refused(rocq, further, identifier, old, new)
