"""Any number of local steps, and proofs by cases: what a reader sees of the theorems."""

import pytest

from fedconvex.claims.terms import number, parameter
from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.cases import Split, split
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.proofs_checks.rocq.steps import theorem_of_statement
from fedconvex.proofs_checks.rocq.substitutions import substitutions
from fedconvex.proofs_checks.verification import load
from fedconvex.theory import statement

from .theorem_folders import theorem_of


def cases_of(identifier: str) -> Split:
    """The statement's cases."""
    of = statement(identifier)
    load(of.paper.name)
    assert of.claim is not None
    tree = split("a", of.setting, of.claim, derivation_of(of))
    assert isinstance(tree, Split)
    return tree


@pytest.mark.parametrize("identifier", ["exact_rates.scaffoldroundconvexclients", "scaffold.acceleration"])
def test_a_cited_theorem_along_local_steps_is_the_one_of_its_statement(identifier: str) -> None:
    """Whoever cites it applies it to the vectors and to the hypotheses that it has."""
    name = identifier.replace(".", "_")
    assert theorem_of_statement(identifier).statement() == f"Theorem {name} :{theorem_of(identifier).rstrip()}"


def test_the_point_before_the_last_of_three_local_steps_is_no_vector_of_its_own() -> None:
    theorem = theorem_of("fedlin.threelocalsteps")
    assert "forall theta w w_next xs : (families C V)," in theorem
    assert theorem.count("gradient F (w - stepsize * (gradient F w + (mean (gradient F w) - gradient F w)))") == 2


def test_a_run_with_local_steps_rests_on_the_theorem_about_one_round() -> None:
    of = exported(statement("exact_rates.scaffoldconvexclientslocalsteps"))
    assert of.cited == ("exact_rates.scaffoldroundconvexclients",)


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
