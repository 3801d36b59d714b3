"""Any number of local steps, and proofs by cases: what a reader sees of the theorems, and that Rocq refuses mutants."""

from pathlib import Path

import pytest

from fedconvex.claims.terms import number, parameter
from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.cases import Split, split
from fedconvex.proofs_checks.rocq.compiling import Rocq
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.proofs_checks.rocq.steps import theorem_of_statement
from fedconvex.proofs_checks.rocq.substitutions import substitutions
from fedconvex.proofs_checks.verification import load
from fedconvex.theory import statement

from .theorem_folders import WITH_ROCQ, changed, on_standard_axioms, refuses, theorem_of

# One step after the other, the sum of the gradients on the way, a potential along the steps; a case that decides a
# maximum, and one by the number of clients.
THEOREMS = (
    "fedsplit.corollary1", "fedsplit.proposition1", "li_fedavg.drift", "exact_rates.scaffoldroundconvexclients",
    "giselsson_boyd.reflectedproximalstep", "exact_rates.fedproxroundofpclients",
    "exact_rates.scaffoldconvexclientslocalsteps",
)  # fmt: skip
# Changes of the theorem itself, at the last place where the text has them.
MUTANTS = (
    ("fedsplit.corollary1", "(sqrt kappa + 1)) ^ steps)", "(sqrt kappa + 1)) ^ S steps)"),
    ("fedsplit.corollary1", "((1 - 1 / (sqrt kappa + 1)) ^ steps)", "((1 - 3 / (sqrt kappa + 1)) ^ steps)"),
    ("fedsplit.corollary1", "(forall i, (i < steps)%nat -> y (S i)", "(forall i, (S i < steps)%nat -> y (S i)"),
    ("fedsplit.corollary1", "(theta = y steps) ->", "(theta = y (pred steps)) ->"),
    ("fedsplit.proposition1", "(w_next = w) ->", "(w_next = w_next) ->"),
    ("fedsplit.proposition1", "(gradient F (y i))%V) steps)", "(gradient F (y i))%V) (S steps))"),
    ("fedsplit.proposition1", "(theta = y steps) ->", "(theta = y (S steps)) ->"),
    ("li_fedavg.drift", "<= (stepsize ^ 2) *", "<= (stepsize ^ 3) *"),
    ("exact_rates.scaffoldroundconvexclients", "- 2 * stepsize * (", "- 3 * stepsize * ("),
    ("exact_rates.scaffoldconvexclientslocalsteps", "(theta j) = (y j) steps) ->", "(theta j) = (y j) (S steps)) ->"),
    ("exact_rates.scaffoldconvexclientslocalsteps", "(j < rounds)%nat -> (y j) O =", "(S j < rounds)%nat -> (y j) O ="),
    ("exact_rates.scaffoldconvexclientslocalsteps", "/ (2 * stepsize * T).\nProof.", "/ (3 * stepsize * T).\nProof."),
    ("giselsson_boyd.reflectedproximalstep", "((stepsize * L - 1) / (stepsize * L + 1))) * (norm",
     "((stepsize * L - 2) / (stepsize * L + 1))) * (norm"),
    ("giselsson_boyd.reflectedproximalstep", "curvature_at_most L (f k)", "curvature_at_most (2 * L) (f k)"),
    ("giselsson_boyd.reflectedproximalstep", "(Rle_or_lt (mu * L)", "(Rle_or_lt (2 * mu * L)"),
    ("exact_rates.fedproxroundofpclients", "(Rle_or_lt (2) (num_clients))", "(Rle_or_lt (3) (num_clients))"),
)  # fmt: skip


def cases_of(identifier: str) -> Split:
    """The statement's cases."""
    of = statement(identifier)
    load(of.paper.name)
    assert of.claim is not None
    tree = split("a", of.setting, of.claim, derivation_of(of))
    assert isinstance(tree, Split)
    return tree


def test_local_steps_are_a_sequence_and_its_end_is_the_answer() -> None:
    theorem = theorem_of("fedsplit.corollary1")
    assert "(local_steps = INR steps) ->" in theorem
    assert "(y O = (2 * w - z)%V) ->" in theorem
    assert "(forall i, (i < steps)%nat -> y (S i) = ((y i) - " in theorem
    assert "(theta = y steps) ->" in theorem
    assert theorem.rstrip().endswith("<= ((1 - 1 / (sqrt kappa + 1)) ^ steps) * (norm (2 * w - z - exact)).")


def test_scaffold_is_exported_for_every_number_of_local_steps() -> None:
    """Nothing but the setting is assumed: no potential, and no lemma about one step."""
    theorem = theorem_of("scaffold.acceleration")
    assert "(mu <= 3 / (4 * stepsize * (local_steps ^ 2))) ->" in theorem
    assert "(theta = y steps) ->" in theorem
    assert "power" not in theorem
    assert "bernoulli" not in theorem
    assert "(((1 - stepsize * mu) ^ steps) ^ 2) * (" in theorem


def test_every_round_of_a_run_has_its_own_local_steps() -> None:
    """The run rests on the theorem about one round, whose points are `y j`."""
    theorem = theorem_of("exact_rates.scaffoldconvexclientslocalsteps")
    assert "forall (steps : nat) (y : nat -> nat -> families C V)," in theorem
    assert theorem.count("(local_steps = INR steps) ->") == 1
    assert "(forall j, (j < rounds)%nat -> (y j) O = ((w j))%V) ->" in theorem
    assert "(forall j, (j < rounds)%nat -> (theta j) = (y j) steps) ->" in theorem
    assert exported(statement("exact_rates.scaffoldconvexclientslocalsteps")).cited == (
        "exact_rates.scaffoldroundconvexclients",
    )


@pytest.mark.parametrize("identifier", ["exact_rates.scaffoldroundconvexclients", "scaffold.acceleration"])
def test_a_cited_theorem_along_local_steps_is_the_one_of_its_statement(identifier: str) -> None:
    """Whoever cites it applies it to the vectors and to the hypotheses that it has."""
    name = identifier.replace(".", "_")
    assert theorem_of_statement(identifier).statement() == f"Theorem {name} :{theorem_of(identifier).rstrip()}"


def test_the_point_before_the_last_of_three_local_steps_is_no_vector_of_its_own() -> None:
    theorem = theorem_of("fedlin.threelocalsteps")
    assert "forall theta w w_next xs : (families C V)," in theorem
    assert theorem.count("gradient F (w - stepsize * (gradient F w + (mean (gradient F w) - gradient F w)))") == 2


def test_a_theorem_by_cases_has_its_maximum_and_no_case() -> None:
    theorem = theorem_of("fedsplit.theorem1sharper")
    assert "Rmax (1 / (stepsize * mu)) (stepsize * L)" in theorem
    assert "1 / (stepsize ^ 2)" not in theorem  # what the cases compare with mu * L
    text = exported(statement("fedsplit.theorem1sharper")).text
    for case in (1, 2):
        assert f"Theorem fedsplit_theorem1sharper_case_{case} :" in text
        assert "Rmax" not in text.partition(f"Theorem fedsplit_theorem1sharper_case_{case} :")[2].partition("Proof.")[0]


def test_a_case_knows_what_follows_without_roots() -> None:
    """From mu·L <= 1/s² and mu <= L follows mu <= 1/s, and not the contrary."""
    tree = cases_of("fedsplit.theorem1sharper")
    mu, L, s = parameter("mu"), parameter("L"), parameter("stepsize")
    assert [one.condition for case in tree.cases for one in case.derived] == [(1 / s, ">=", mu), (L, ">=", 1 / s)]
    below = SettingParameters(tree.cases[1].setting, [])
    assert not below.field.is_nonnegative(below.value(1 / s - L))


def test_the_one_client_of_a_case_is_a_number() -> None:
    text = exported(statement("exact_rates.fedproxroundofpclients")).text
    one = text.partition("Theorem exact_rates_fedproxroundofpclients_case_2 :")[2].partition("Proof.")[0]
    assert "draw_without_replacement W C 1 1," in one
    assert "num_clients" not in one
    assert "draw_without_replacement W C num_active num_clients," in theorem_of("exact_rates.fedproxroundofpclients")


def test_a_strict_sign_is_seen_where_one_is() -> None:
    """n - 1 > 0 is no sign of n >= 1, but of n >= 2: with both conditions, the second one is used."""
    tree = cases_of("exact_rates.fedproxroundofpclients")
    parameters = SettingParameters(tree.cases[0].setting, [])
    value = parameters.value(parameter("num_clients") - number(1))
    found = substitutions(parameters.field, value, strictly=True)
    assert found is not None
    assert str(found[1].above - found[1].field.one).startswith("x")  # the slack of n >= 2, plus 1
    assert substitutions(parameters.field, -value) is None


# ---- with Rocq


@pytest.fixture(scope="module")
def folder(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return on_standard_axioms(rocq, tmp_path_factory.mktemp("rocq") / "theories", THEOREMS)


@pytest.mark.parametrize(("identifier", "old", "new"), [pytest.param(*mutant, marks=WITH_ROCQ) for mutant in MUTANTS])
def test_a_mutant_is_refused(rocq: Rocq, folder: Path, identifier: str, old: str, new: str) -> None:
    assert refuses(rocq, folder, changed(identifier, old, new))
