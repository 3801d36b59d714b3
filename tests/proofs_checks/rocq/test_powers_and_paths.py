"""Powers of twice the number of rounds, values of exp, proximal points, and potentials that rest on earlier lines."""

from dataclasses import replace

import pytest

from fedconvex.claims.terms import free, inner, named, norm, number, parameter, value
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.along_steps import lines_under
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.proofs_checks.rocq.run_terms import Exponentials, RunTerms, squared_length
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.theory import statement

from .theorem_folders import theorem_of

EXP, ROUND_BY_ROUND, CORRECTED = (
    f"fedsplit.{key}" for key in ("equation22", "theorem2roundbyround", "theorem2corrected")
)
STEPS, RESTS = "khaled.anynumberoflocalsteps", "malinovskiy.fixedpoint"


def run_terms() -> RunTerms:
    """Terms of runs of t rounds."""
    setting = statement(EXP).setting
    roots = (parameter("kappa").sqrt(), *((-c / parameter("kappa").sqrt()).exp() for c in (1, 2)))
    return RunTerms(setting, SettingParameters(setting, roots, "t"), "t")


@pytest.mark.parametrize("identifier", [ROUND_BY_ROUND, CORRECTED])
def test_a_proximal_point_is_where_the_mean_of_the_gradients_leads_back_to_the_start(identifier: str) -> None:
    """One point for all rounds, and the start of the run is its center; the maximum is the claim's own."""
    theorem = theorem_of(identifier)
    assert "forall anchor prox xs : families C V," in theorem
    assert theorem.count("(mean (gradient F prox) = (regularizer * (anchor - prox))%V) ->") == 1
    assert "(anchor = ((w O))%V) ->" in theorem
    assert "Rmax (1 / (stepsize * regularizer)) (stepsize * (L + regularizer))" in theorem
    assert "^ (2 * rounds)" in theorem


@pytest.mark.parametrize("identifier", [STEPS, RESTS])
def test_the_lines_under_a_potential_stand_in_the_lemma_about_one_step(identifier: str) -> None:
    """What follows from any points y is shown there, and nothing of the round is assumed."""
    text = exported(statement(identifier)).text
    step = text.partition(f"Theorem {identifier.replace('.', '_')}_step :")[2].partition("Qed.")[0]
    assert "forall w xs y : (families C V)," in step
    assert "line_4" in step
    assert "w_next" not in step
    theorem = theorem_of(identifier)
    assert "(forall i, (i < steps)%nat -> y (S i) = ((y i) - stepsize * gradient F (y i))%V) ->" in theorem
    assert "power" not in theorem


def test_a_multiplier_with_the_power_has_a_lemma() -> None:
    text = exported(statement(RESTS)).text
    lemma = text.partition("Lemma malinovskiy_fixedpoint_multiplier :")[2].partition("Proof.")[0]
    assert lemma.rstrip().endswith("(power <= 1 - stepsize * mu) ->\n  0 <= (1 / (1 - power)) * 1.")
    assert "curvature" not in lemma


def test_twice_the_rounds_is_a_power_of_the_square() -> None:
    terms, (q, t) = run_terms(), map(parameter, ("kappa", "t"))
    once, twice = terms.rewritten(q ** (t + 1)), terms.rewritten(q ** (2 * t))
    first, second = terms.ratios
    assert (first.ratio, second.ratio) == (q, q**2)
    assert (once, twice) == (first.power(1), 1 + (q**2 - 1) * parameter("S2"))
    assert terms.rewritten((q**2) ** t) == twice
    assert not terms.is_doubled(t + 1)
    assert terms.is_doubled(t * 2)


@pytest.mark.parametrize("times", [3, -1, -2])
def test_other_multiples_of_the_rounds_are_missing(times: int) -> None:
    with pytest.raises(Missing, match="power of"):
        run_terms().rewritten(parameter("kappa") ** (times * parameter("t")))


def test_one_more_than_twice_the_rounds_is_missing() -> None:
    with pytest.raises(Missing, match="of this form"):
        run_terms().rewritten(parameter("kappa") ** (2 * parameter("t") + 1))


def test_values_of_exp_are_one_where_their_exponents_are() -> None:
    terms = run_terms()
    root = parameter("kappa").sqrt()
    first, again, other = (terms.rewritten(x.exp()) for x in (-1 / root, 1 / (-root), -2 / root))
    assert first == again == parameter("exp_1")
    assert other == parameter("exp_2")
    assert terms.value(first * other) == terms.parameters.value((-1 / root).exp() * (-2 / root).exp())
    known = terms.setting_for(first)
    assert known.signs["exp_1"] == "positive"
    assert "exp_2" not in known.signs
    assert known.conditions[-1] == (first, ">=", 1 + -1 / root)
    ratio = terms.ratio(other**2)  # a sum of powers is known with what its ratio is made of
    assert "exp_2" in terms.setting_for(ratio.sum).signs


def test_a_parameter_with_the_name_of_an_exponential_is_refused() -> None:
    setting = statement(EXP).setting
    parameters = SettingParameters(replace(setting, signs={**setting.signs, "exp_1": "positive"}))
    with pytest.raises(Missing, match="called exp_1"):
        Exponentials().named(parameter("kappa"), parameters)


def test_the_square_of_a_multiple_of_a_length() -> None:
    u, c = free("u"), parameter("num_clients").sqrt()
    length = squared_length(named("a", c * norm(u)) ** 2)
    assert length == (c**2, inner(u, u))
    for other in ((norm(u) + 1) ** 2, value(u) ** 2, norm(u) ** 3, c**2, norm(u) * norm(u)):
        assert squared_length(other) is None


def test_the_lines_that_facts_rest_on() -> None:
    """Those behind roots and products, too, in the order of the proof; none that only others cite."""
    one, zero = number(1), number(0)

    def line(name: str, *facts: object) -> proofs.Combine:
        return proofs.Combine(zero, one, tuple((one, fact) for fact in facts), (), name=name)

    a, b, d = line("a"), line("b", proofs.Earlier("a")), line("d", proofs.Product("c", "a"))
    c, e = proofs.Root(zero, one, "b", "c"), line("e", proofs.Earlier("d"))
    lines = (a, b, c, d, e)
    assert lines_under(((one, proofs.Earlier("d")), (one, proofs.Nonnegative(one))), lines) == (a, b, c, d)
    assert lines_under(((one, proofs.Earlier("b")), (one, proofs.Earlier("elsewhere"))), lines) == (a, b)
    assert lines_under((), lines) == ()
