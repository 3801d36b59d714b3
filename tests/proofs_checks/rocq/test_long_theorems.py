"""Long formulas: roots in divisors, divisors in divisors, chosen parameters; what is exported, and refused mutants."""

import re
from pathlib import Path

import pytest

from fedconvex.proofs_checks.rocq.compiling import Rocq
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.theory import statement

from .theorem_folders import WITH_ROCQ, accepted, changed, on_standard_axioms, refuses, theorem_of

# Changes of the theorem itself, at the last place where the text has them.
MUTANTS = (
    ("exact_rates.fedpdround", "(eta * L))) ^ 2) * (inner (w - xs", "(eta * L))) ^ 3) * (inner (w - xs"),
    (
        "exact_rates.fedpdround",
        "(dual + (1 / eta) * (theta - w)))%V) ->",
        "(dual + (1 / eta) * (theta - anchor)))%V) ->",
    ),
    ("exact_rates.fedpdconvexclients", "/ (2 * T).", "/ (3 * T)."),
    ("fedprox.remark8", "/ (T) <= epsilon.", "/ (T) <= epsilon / 2."),
    ("feddyn.lemma1sharper", "- (2 / alpha) * (value F (w", "- (3 / alpha) * (value F (w"),
)
LONGEST = (  # up to half a minute each
    ("feddyn.theorem5convex", "<= 50 * ((sqrt", "<= 49 * ((sqrt"),
    ("feddyn.theorem5stronglyconvex", "<= 151 * (((Rmax", "<= 150 * (((Rmax"),
)


def test_fedpd_without_skipped_rounds_is_anchored_at_the_server() -> None:
    """A method asks whether its parameter is 0, so that constants are numbers to it."""
    theorem = theorem_of("exact_rates.fedpdround")
    assert "(gradient F theta = ((- 1) * (dual + (1 / eta) * (theta - w)))%V) ->" in theorem
    assert "- anchor" not in theorem


def test_a_stepsize_is_written_with_the_parameter_of_the_method() -> None:
    """Not with what the setting chooses the parameter to be: a theorem about any value is cited."""
    theorem = theorem_of("feddyn.theorem5convex")
    assert "(now theta past) = ((now w past) - (1 / alpha) * (" in theorem
    assert "(50 * L * (sqrt (num_clients / num_active)) = alpha) ->" in theorem


def test_what_roots_need_of_the_conditions_is_shown_once() -> None:
    proof = exported(statement("feddyn.theorem1convex")).text.partition("Theorem feddyn_theorem1convex_start_4 :")[2]
    proof = proof.partition("Qed.")[0]
    assert proof.count("assert (asked_1 :") == 1
    assert "asked_2" not in proof
    assert "in_roots. rewrite ?root_1_is" in proof


# ---- with Rocq


@pytest.fixture(scope="module")
def folder(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    theorems = sorted({identifier for identifier, _, _ in MUTANTS})
    return on_standard_axioms(rocq, tmp_path_factory.mktemp("rocq") / "theories", theorems)


@pytest.mark.parametrize(("identifier", "old", "new"), [pytest.param(*mutant, marks=WITH_ROCQ) for mutant in MUTANTS])
def test_a_mutant_is_refused(rocq: Rocq, folder: Path, identifier: str, old: str, new: str) -> None:
    assert refuses(rocq, folder, changed(identifier, old, new))


@pytest.fixture(scope="module")
def cited(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the longest theorems cite, which Rocq accepts."""
    place = tmp_path_factory.mktemp("rocq") / "theories"
    accepted(
        rocq, place, sorted({name for identifier, _, _ in LONGEST for name in exported(statement(identifier)).cited})
    )
    return place


@pytest.mark.parametrize(("identifier", "old", "new"), [pytest.param(*mutant, marks=WITH_ROCQ) for mutant in LONGEST])
def test_a_mutant_of_a_longest_theorem_is_refused_in_its_own_proof(
    rocq: Rocq, cited: Path, identifier: str, old: str, new: str
) -> None:
    """The theorems that stand before it in its file are accepted: the change is what Rocq refuses."""
    text = changed(identifier, old, new)
    (cited / "Statements" / "mutant.v").write_text(text)
    found = rocq.compile(cited, "Statements/mutant")
    assert not found.accepted
    refused_at = re.search(r"mutant.v\", line (\d+)", found.problem)
    assert refused_at is not None, found.problem
    begin = text.index(f"Theorem {identifier.replace('.', '_')} :")
    assert int(refused_at[1]) > text[:begin].count("\n")
