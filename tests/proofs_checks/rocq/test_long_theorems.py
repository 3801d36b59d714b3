"""Long formulas: roots in divisors, divisors in divisors, chosen parameters: what is exported."""

from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.theory import statement

from .theorem_folders import theorem_of


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
