"""Discovered theorems, against closed forms, worst cases at numbers, and exact simulations."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy

import fedconvex as fc
from fedconvex.claims.terms import number, parameter
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import (
    Discovered,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
    discover,
    verify,
    worst_case,
)
from fedconvex.proofs_checks.dane import one_round_of_dane
from fedconvex.proofs_checks.export.json_proofs import from_json, to_json
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel import theorem as theorem_of
from fedconvex.proofs_checks.worst_cases.theorems.parametric_theorem import question_at, theorem
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, at
from fedconvex.theory import dane, fedprox, fedsplit
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

r, s, m, L, mu, B, e = (sympy.Symbol(name, positive=True) for name in ("r", "s", "m", "L", "mu", "B", "e"))


def fedsplit_at_its_best(r: Any) -> dict[str, Any]:
    """κ = r²."""
    method = fc.FedSplit(stepsize=1 / r)
    return {"method": method, "clients": SmoothStronglyConvex(1, r * r), "metric": "lifted_distance"}


def fedsplit_at_any(m: Any, L: Any, s: Any) -> dict[str, Any]:
    return {"method": fc.FedSplit(stepsize=s), "clients": SmoothStronglyConvex(m, L), "metric": "lifted_distance"}


def fedprox_descent(mu: Any, B: Any) -> dict[str, Any]:
    return {"method": fc.FedProx(mu=mu), "clients": SmoothConvex(1), "metric": "descent", "dissimilarity": B}


@pytest.fixture(scope="module")
def split() -> Discovered:
    return discover(fedsplit_at_its_best, lambda r: (r > 1,))


@pytest.fixture(scope="module")
def prox() -> Discovered:
    return discover(fedprox_descent, lambda mu, B: (B >= 1,))


def is_same(left: Any, right: Any) -> bool:
    return bool(sympy.cancel(left - right) == 0)


def test_fedsplit_contracts_for_all_condition_numbers_and_any_number_of_clients(split: Discovered) -> None:
    assert split.verdict is Verdict.PROVED
    assert split.sharp
    assert is_same(split.bound, ((r - 1) / (r + 1)) ** 2)
    kappa = Fraction(25, 9)
    assert split.at(r=Fraction(5, 3)) == fedsplit.contraction(kappa=kappa) ** 2


@pytest.mark.slow
def test_fedsplit_with_any_stepsize_has_two_regimes_of_which_one_is_found() -> None:
    found = discover(fedsplit_at_any, lambda m, L, s: (m < L, L * m * s**2 <= 1))
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, ((1 - s * m) / (1 + s * m)) ** 2)
    other = discover(fedsplit_at_any, lambda m, L, s: (m < L, L * m * s**2 >= 1))
    assert is_same(other.bound, ((1 - s * L) / (1 + s * L)) ** 2)


@pytest.mark.slow
def test_where_it_holds_is_found(prox: Discovered) -> None:
    """One regime of two, without being told: the other would need negative weights."""
    found = discover(fedsplit_at_any, lambda m, L, s: (m < L,))
    assert found.verdict is Verdict.PROVED
    assert {sympy.simplify(relation.lhs) for relation in found.where} & {L * m * s**2 - 1, 1 - L * m * s**2}
    assert {relation.lhs for relation in prox.where} == {B, 2 * mu**2 - 1}


def test_fedprox_decreases_as_the_theorem_for_convex_clients_says(prox: Discovered) -> None:
    assert prox.verdict is Verdict.PROVED
    assert prox.sharp
    known = fedprox.rho_convex_everyone.calculator.formula(mu=mu, L=sympy.Integer(1), B=B)
    assert is_same(prox.bound, known)


def test_the_formula_is_the_worst_case_at_other_numbers(prox: Discovered) -> None:
    for chosen_mu, chosen_B in ((Fraction(37, 10), Fraction(1)), (Fraction(13, 7), Fraction(17, 11))):
        there = worst_case(**fedprox_descent(chosen_mu, chosen_B))
        assert there.lower <= prox.at(mu=chosen_mu, B=chosen_B) <= there.upper


def test_dane_needs_no_dissimilarity() -> None:
    found = discover(
        lambda mu, L: {"method": fc.DANE(mu=mu), "clients": SmoothConvex(L), "metric": "descent"},
        lambda mu, L: (mu >= L,),
    )
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, (2 * mu + L) / (2 * (mu + L) ** 2))
    assert verify("dane.oneround").verdict is Verdict.PROVED
    with_B = worst_case(fc.DANE(mu=2), SmoothConvex(1), "any", metric="descent", dissimilarity=3)
    assert with_B.lower == dane.decrease(mu=Fraction(2), eta=1, L=1, L_minus=0) == Fraction(5, 18)


@pytest.mark.parametrize("seed", range(20))
def test_dane_on_random_clients(seed: int) -> None:
    """Quadratic clients with curvatures of both signs, in exact arithmetic."""
    random = Random(seed)
    clients, dim = random.randint(1, 4), random.randint(1, 3)
    L_minus, eta = Fraction(random.randint(0, 4), 4), Fraction(random.randint(1, 4), 4)
    weight = 1 + 2 * L_minus + Fraction(random.randint(0, 6), 3)
    H = [np.diag([random.choice((-L_minus, Fraction(1), Fraction(1, 3))) for _ in range(dim)]) for _ in range(clients)]
    c = [[Fraction(random.randint(-9, 9)) for _ in range(dim)] for _ in range(clients)]
    problem = fc.Quadratic(H=H, c=c, weights=[random.randint(1, 3) for _ in range(clients)])
    start = [Fraction(random.randint(-5, 5)) for _ in range(dim)]
    run = fc.simulate(fc.DANE(mu=weight, eta=eta), problem, 1, x0=start, arithmetic="exact")
    before, after = (problem.value(point) for point in run.points)
    slope = problem.gradient(np.array(start, dtype=object))
    assert before - after >= dane.decrease(mu=weight, eta=eta, L=1, L_minus=L_minus) * (slope @ slope)


RHO = (2 * mu + 1) / (2 * (mu + 1) ** 2)  # one round of DANE's, for L = 1 and η = 1
SHARE = mu / (mu + 1)
MULTIPLIERS = {"1 from 0": SHARE, "2 from 1": SHARE, "0 from 2": SHARE + 1}
LARGE = (mu >= 1,)


def dane_replayed(t: Any = -RHO, multipliers: dict[str, Any] = MULTIPLIERS, where: Any = LARGE) -> Any:
    asked = {"eta": 1, "L": 1, "L_minus": 0}
    made = theorem(lambda mu: one_round_of_dane(mu=mu, **asked), {mu: Fraction(2)}, t, multipliers)
    return made.lemma(where).theorem()


def test_a_right_theorem_is_proved_by_the_kernel() -> None:
    found = dane_replayed()
    assert found.setting.method == "DANE"
    assert found.setting.conditions == ((parameter("mu"), ">=", number(1)),)


@pytest.mark.parametrize(
    "wrong",
    [
        {"t": -RHO * Fraction(101, 100)},
        {"multipliers": {name: number + 1 for name, number in MULTIPLIERS.items()}},
        {"where": ()},  # for small μ one weight is negative
        {"where": (mu >= Fraction(1, 2),)},
    ],
)
def test_a_wrong_theorem_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((Refused, ValueError), match=r"may be negative|no sum of squares|outside the domain"):
        dane_replayed(**wrong)


def test_inequalities_that_the_question_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="no inequalities"):
        dane_replayed(multipliers=MULTIPLIERS | {"7 from 1": SHARE})


def test_with_function_values_that_do_not_cancel_there_is_no_proof() -> None:
    made = theorem(fedprox_descent, {mu: Fraction(2), B: Fraction(2)}, 0, {"1 from 0": 1})
    with pytest.raises(ValueError, match="values"):
        made.lemma(())


def test_the_proof_as_a_file_says_what_was_found_and_is_replayed(split: Discovered) -> None:
    assert split.proof is not None
    text = to_json(split.proof.setting, split.proof.claim, split.proof.proof)
    assert theorem_of(*from_json(text)) == split.proof.theorem()
    with pytest.raises(Refused, match="is left"):
        theorem_of(
            *from_json(
                text.replace(
                    '"constant", {"kind": "fraction", "is": "2"}', '"constant", {"kind": "fraction", "is": "3"}'
                )
            )
        )


@pytest.mark.parametrize(
    ("ask", "points"),
    [
        (fedsplit_at_any, {"m": Fraction(1, 3), "L": Fraction(5, 2), "s": Fraction(3, 7)}),
        (fedprox_descent, {"mu": Fraction(7, 3), "B": Fraction(9, 8)}),
        (lambda mu, e: one_round_of_dane(mu, e, 2, Fraction(1, 2)), {"mu": Fraction(7, 3), "e": Fraction(1, 8)}),
        (lambda a, h: {"method": fc.FedDyn(alpha=a), "clients": WeaklyConvex(0, 1), "metric": "gap", "rounds": 2,
                       "heterogeneity": h}, {"a": Fraction(5), "h": Fraction(2, 3)}),
        (lambda s, L: {"method": fc.Scaffold(stepsize=s, local_steps=2), "clients": SmoothStronglyConvex(1, L),
                       "rounds": 2}, {"s": Fraction(1, 9), "L": Fraction(11, 4)}),
    ],
)  # fmt: skip
def test_a_method_played_with_symbols_is_the_method_played_with_numbers(ask: Any, points: dict[str, Fraction]) -> None:
    sample = {sympy.Symbol(name, positive=True): value for name, value in points.items()}
    symbolic = question_at(ask, Parameters(sample).numbers).program
    for scale in (Fraction(1), Fraction(10, 9)):
        values = {name: value * scale for name, value in points.items()}
        numeric = question_at(ask, values).program
        assert [name for name, _ in symbolic.inequalities] == [name for name, _ in numeric.inequalities]
        for left, right in zip(symbolic.forms, numeric.forms, strict=True):
            for of_left, of_right in ((left.products, right.products), (left.values, right.values)):
                put_in = {key: at(c.value, values.values()) if hasattr(c, "value") else c for key, c in of_left.items()}
                assert {key: c for key, c in put_in.items() if c} == dict(of_right)


def test_what_is_no_rational_function_is_not_found() -> None:
    found = discover(
        lambda a, L: {"method": fc.DANE(mu=a), "clients": SmoothStronglyConvex(1, L)}, lambda a, L: (L > 1,), samples=12
    )
    assert found.verdict is Verdict.UNKNOWN
    assert found.proof is None
    with pytest.raises(InvalidInput, match="not proved"):
        found.at(a=1, L=2)


def test_outside_of_the_domain_nothing_is_said(prox: Discovered) -> None:
    with pytest.raises(InvalidInput, match="outside"):
        prox.at(mu=Fraction(1, 2), B=2)
    with pytest.raises(InvalidInput, match="outside"):
        prox.at(mu=2, B=Fraction(1, 2))
    with pytest.raises(InvalidInput, match="give mu, B"):
        prox.at(mu=2)


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="no parameters"):
        discover(lambda: fedprox_descent(2, 2))
    with pytest.raises(InvalidInput, match="none of many"):
        discover(fedprox_descent, lambda mu, B: (B < 1, B > 2))
    with pytest.raises(InvalidInput, match="samples"):
        discover(fedprox_descent, samples=1)


def test_it_can_be_shown(split: Discovered) -> None:
    assert r"\le \frac{\left(r - 1\right)^{2}}{\left(r + 1\right)^{2}}" in split._repr_markdown_()


def test_the_descent_lemma_is_found_on_both_sides_of_the_best_stepsize() -> None:
    def ask(L: Any, s: Any) -> dict[str, Any]:
        method = fc.FedGD(stepsize=s, local_steps=1)
        return {"method": method, "clients": WeaklyConvex(L, L), "metric": "descent"}

    for where in (lambda L, s: (s * L < 1,), lambda L, s: (s * L > 1,), None):
        found = discover(ask, where)
        assert found.verdict is Verdict.PROVED
        assert is_same(found.bound, s - L * s**2 / 2)
        assert found.where  # at s = 1/L the squares are others


def test_two_rounds_of_gradient_descent() -> None:
    """f(w_2) − f* ≤ ‖w_0 − x*‖²/(2(1 + 4s)) for L = 1, as Drori and Teboulle (2014) have it."""
    found = discover(
        lambda s: {"method": fc.FedGD(stepsize=s), "clients": SmoothConvex(1), "metric": "gap", "rounds": 2},
        lambda s: (s <= 1,),
    )
    assert found.verdict is Verdict.PROVED
    assert is_same(found.bound, 1 / (2 * (1 + 4 * s)))
    assert found.proof is not None
    assert found.proof.claim.rounds_played == 2


def test_signs_that_a_condition_of_third_degree_shows_with_others() -> None:
    found = discover(
        lambda a: {"method": fc.FedDyn(alpha=a), "clients": SmoothStronglyConvex(1, 2), "heterogeneity": 1}
    )
    assert found.verdict is Verdict.PROVED
    assert found.at(a=1) == Fraction(1, 9)
    with pytest.raises(InvalidInput, match="outside"):
        found.at(a=Fraction(3, 2))


def descent_by(s: Any) -> dict[str, Any]:
    return {"method": fc.FedGD(stepsize=s), "clients": SmoothConvex(1), "metric": "gap"}


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ([s <= 1], "where = .* is no function of the parameters; give lambda s:"),
        (lambda mu: (mu <= 1,), "does not have the parameters s"),
        (lambda s: s <= 1, "where = s <= 1: is not a collection of relations"),
        (lambda s: "s <= 1", "is not a collection of relations"),
        (lambda s: (s,), "is no inequality"),
    ],
)
def test_a_domain_that_is_no_function_of_the_parameters_is_refused(where: Any, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        discover(descent_by, where)


def test_arguments_that_are_no_function_are_refused() -> None:
    given: Any = descent_by(1)
    with pytest.raises(InvalidInput, match=r"arguments = .* is no function of parameters"):
        discover(given)


def test_what_was_found_shows_itself() -> None:
    found = discover(descent_by, lambda s: (s <= 1,))
    first, second, *rest = str(found).splitlines()
    assert (first, second) == (f"gap <= {found.bound} · N", "where s <= 1")
    assert " ".join(" ".join(rest).split()) == f"PROVED: {found.says}"
    assert repr(found) == f"<PROVED: gap bound {found.bound}>"
    assert len(repr(Discovered((s,), "gap", Verdict.UNKNOWN, "nothing fits", ()))) < 60
