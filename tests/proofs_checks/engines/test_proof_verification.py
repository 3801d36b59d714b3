"""A proof rests on nothing unproved, on no circle, and on no other statement's verdict."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import sympy

from fedconvex.proofs_checks import claims
from fedconvex.proofs_checks import proof as proofs
from fedconvex.proofs_checks.conclusions import part_not_concluded
from fedconvex.proofs_checks.engines.checks import Agreement, Assumed, Combination, Identity, Inequality, Special
from fedconvex.proofs_checks.engines.facts import Fact, called, convex, inexact, named, root_of, smooth, specialised
from fedconvex.proofs_checks.engines.hilbert import Unsound, drawn, family, inner, norm, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.witnesses import Witness
from fedconvex.proofs_checks.proof import Proof, Relation, Role, Step, conclusion
from fedconvex.proofs_checks.verification import verify, verify_all
from fedconvex.statements.assumptions import Convex, ExactSolutions, Inexactness, Runs, Smooth, StronglyConvex
from fedconvex.statements.rendering import symbols
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn, fedprox
from fedconvex.verdicts import Verdict

x = sympy.Symbol("x", nonnegative=True)
TRUE, FALSE = Relation(0, "<=", x, name="true"), Relation(x, "<=", 0, name="false")
FROM_1 = Domain((sympy.Ge(x, 1),))


@pytest.fixture
def provable() -> Iterator[dict[str, Any]]:
    """Builders by identifier, in the place of the real ones; each statement's proof is made anew."""
    verify("fedprox.equation3")  # loads the real ones
    known, made = dict(proofs._BUILDERS), dict(proofs._BUILT)
    derivations = dict(claims._BUILDERS)
    proofs._BUILT.clear()
    claims._BUILDERS.clear()  # the steps alone decide
    yield proofs._BUILDERS
    claims._BUILDERS.update(derivations)
    proofs._BUILDERS.clear()
    proofs._BUILDERS.update(known)
    proofs._BUILT.clear()
    proofs._BUILT.update(made)


def step(claim: Relation, by: Any, **more: Any) -> Step:
    return Step("shown", "because", claim, by, **more)


def with_steps(*steps: Step, ends: str = "a test of the engine", **more: Any) -> Any:
    return lambda statement: Proof(steps, ends=ends, **more)


def verdict_of(provable: dict[str, Any], builder: Any, statement: Statement = fedprox.equation3) -> Verdict:
    provable[statement.identifier] = builder
    return verify(replace(statement)).verdict


def test_one_proved_step_is_enough(provable) -> None:
    assert verdict_of(provable, with_steps(step(TRUE, Inequality()))) is Verdict.PROVED


@pytest.mark.parametrize("steps", [
    (),
    (step(TRUE, Inequality(), role=Role.PRINTED),),
    (step(TRUE, Inequality()), step(FALSE, Inequality())),
    (step(FALSE, Inequality()), step(TRUE, Inequality())),
    (step(TRUE, Inequality()), step(TRUE, Assumed("it"))),
    # resting on what is proved nowhere, later, by assumption, or by instances only
    (step(FALSE, Combination(facts=((1, FALSE.fact),))),),
    (step(FALSE, Combination(facts=((1, FALSE.fact),))), step(FALSE, Inequality())),
    (step(TRUE, Combination(facts=((1, TRUE.fact),))), step(TRUE, Inequality())),
    (step(FALSE, Assumed("it"), role=Role.PRINTED), step(FALSE, Combination(facts=((1, FALSE.fact),)))),
    (step(FALSE, Inequality(), role=Role.PRINTED), step(FALSE, Combination(facts=((1, FALSE.fact),)))),
    (step(FALSE, Agreement(lambda n: (n, n))), step(FALSE, Combination(facts=((1, FALSE.fact),)))),
    # a claim that is another one than what was proved: of another domain, relation, side
    (step(replace(TRUE, right=x + 1), Inequality()), step(TRUE, Combination(facts=((1, TRUE.fact),)))),
    (step(replace(TRUE, domain=FROM_1), Inequality()), step(TRUE, Combination(facts=((1, TRUE.fact),)))),
])  # fmt: skip
def test_not_proved(provable, steps) -> None:
    assert verdict_of(provable, with_steps(*steps)) is not Verdict.PROVED


def test_a_proof_of_something_else(provable) -> None:
    """Of 0 = 0, say; or of the formula in a step that is not the last."""
    nothing = step(Relation(sympy.Integer(0), "=", sympy.Integer(0)), Identity())
    instances = step(Relation(0, "=", 0), Agreement(lambda n: (n, n)))

    def formula_first(statement: Statement) -> Proof:
        found = statement.calculator.formula(gamma=x, client_gradient=x)
        return Proof((step(Relation(0, "<=", found), Inequality()), nothing))

    def formula_last(statement: Statement) -> Proof:
        return Proof(tuple(reversed(formula_first(statement).steps)))

    for builder in (with_steps(nothing, ends=""), with_steps(instances, ends=""), formula_first):
        provable["fedprox.equation3"] = builder
        found = verify(replace(fedprox.equation3))
        assert found.verdict is Verdict.UNKNOWN
        assert "the same with another formula" in found.reason
    assert verdict_of(provable, formula_last) is Verdict.PROVED


def test_every_case_is_proved(provable) -> None:
    cases = ((StronglyConvex(),), (Convex(),), (Smooth(),))

    def of_some(number: int) -> Any:
        def builder(statement: Statement) -> Proof:
            letters = symbols(statement.calculator.parameters)
            found = statement.calculator.formula(**letters)
            some = list(zip(found, statement.cases, strict=True))[:number]
            return Proof(tuple(step(Relation(part, "=", part + 0), Assumed("it"), case=case) for part, case in some))

        return builder

    statement = replace(feddyn.theorem1, cases=cases)
    assert not part_not_concluded(statement, of_some(3)(statement))
    provable["feddyn.theorem1"] = of_some(2)
    assert "part 3" in part_not_concluded(statement, of_some(2)(statement))


u, v = vector("u"), vector("v")
V, W, root = (sympy.Symbol(name, nonnegative=True) for name in ("V", "W", "√r"))
ZERO = sympy.Integer(0)
NAMED = Relation(square(u), "<=", V, name="named")
IS_NAMED = step(NAMED, Combination(facts=((-1, named(V, square(u))),)))
VANISHES = Relation(square(u), "<=", ZERO, name="u = 0")


def by(*facts: tuple[int, Fact]) -> Combination:
    return Combination(facts=facts)


@pytest.mark.parametrize("steps", [
    # a letter with a meaning, and something else put in for it
    (IS_NAMED, step(VANISHES, Special(NAMED, ((V, ZERO),)))),
    (IS_NAMED, step(VANISHES, by((1, specialised(NAMED.fact, {V: 0}))))),
    # two meanings of one letter: two lengths, a length and a number, a letter and its square, in a circle
    (step(Relation(square(u), "=", square(v)), by((1, root_of(root, square(u))), (-1, root_of(root, square(v))))),),
    (step(Relation(ZERO, "=", square(u)), by((-1, named(V, ZERO)), (1, named(V, square(u))))),),
    (step(Relation(square(u) ** 2, "=", square(u)), Combination(facts=(
        (-1, root_of(V, square(u))), (V + square(u), named(V, square(u)))))),),
    (step(Relation(ZERO, "=", sympy.Integer(1)), by((1, named(V, V + 1)))),),
    (step(Relation(ZERO, "=", sympy.Integer(1)), by((1, named(V, W + 1)), (1, named(W, V)))),),
    (step(Relation(square(u), "=", 2 * square(u)), by(
        (-1, named(V, square(u))), (1, named(V, 2 * square(v))), (-2, called(u, v)))),),
])  # fmt: skip
def test_a_letter_has_one_meaning(provable, steps) -> None:
    found = [s.by.run(s.claim).verdict for s in steps]
    assert found.count(Verdict.PROVED) >= len(steps) - 1  # it is the letters' meanings that the proof founders on
    assert verdict_of(provable, with_steps(*steps)) is Verdict.UNKNOWN


def test_a_letter_may_be_told_twice(provable) -> None:
    """As a number and as its root, of a vector and of its name."""
    moved = drawn(family("w"), sympy.Symbol("σ", nonnegative=True))
    steps = (
        step(Relation(V, "=", square(moved)), by((1, named(V, square(moved))))),
        step(Relation(V, "=", square(u)), by((1, named(V, square(moved))), (-1, called(u, moved)))),
        step(Relation(V, "=", root**2), by((1, root_of(root, V)))),
        step(Relation(norm(u) ** 2, "=", root**2), by((1, called(u, moved)), (1, root_of(root, square(moved))))),
    )
    assert verdict_of(provable, with_steps(*steps)) is Verdict.PROVED


def test_a_vector_of_every_client_has_no_common_name() -> None:
    with pytest.raises(Unsound, match="client to client"):
        called(u, family("w"))


def test_what_a_case_shows_is_not_used_outside(provable) -> None:
    f, g = sympy.symbols("f_y f_x", real=True)
    tangent = Relation(g + inner(u, v), "<=", f, name="tangent")
    twice = Relation(2 * g + 2 * inner(u, v), "<=", 2 * f, name="twice")
    inside = step(tangent, by((1, convex(f, g, u, v))), case=(Convex(),))
    after = step(twice, by((2, tangent.fact)))
    statement = replace(feddyn.theorem1, cases=((StronglyConvex(),), (Convex(),), (Convex(), Smooth())))
    for case, expected in (
        ((Convex(),), Verdict.PROVED),
        ((Convex(), Smooth()), Verdict.PROVED),
        ((), Verdict.UNKNOWN),
        ((StronglyConvex(),), Verdict.UNKNOWN),
        ((Smooth(),), Verdict.UNKNOWN),  # no case of the statement
    ):
        steps = with_steps(inside, replace(after, case=case))
        assert verdict_of(provable, steps, statement) is expected
    for_all = step(tangent, by((1, convex(f, g, u, v))))
    assert verdict_of(provable, with_steps(for_all, after), replace(feddyn.theorem1, assumptions=(Convex(),))) is (
        Verdict.PROVED
    )


gamma, small = (symbols(fedprox.PAPER.notation)[name] for name in ("gamma", "L"))
g, h = vector("∇F_k"), vector("e_k")
f_y, f_x = sympy.symbols("f_y f_x", real=True)
DESCENT = {k: Relation(f_y, "<=", f_x + inner(u, v) + k * small * square(v) / 2, name=f"{k}L") for k in (0, 1, 2)}


def is_smooth(k: Any, **more: Any) -> Step:
    return step(DESCENT[k], by((1, smooth(f_y, f_x, u, v, k * small))), **more)


@pytest.mark.parametrize(("steps", "statement", "expected"), [
    # every client's answer is gamma-inexact: with 2·gamma, not with 0 or gamma/2
    ((step(Relation(square(h), "<=", 4 * gamma**2 * square(g)), by((1, inexact(h, g, 2 * gamma)))),), fedprox.equation3,
     Verdict.PROVED),
    ((step(Relation(square(h), "<=", ZERO), by((1, inexact(h, g, 0)))),), fedprox.equation3, Verdict.UNKNOWN),
    ((step(Relation(square(h), "<=", gamma**2 * square(g) / 4), by((1, inexact(h, g, gamma / 2)))),), fedprox.equation3,
     Verdict.UNKNOWN),
    # L-smooth: with a larger constant, not with a smaller one, and not by putting 0 in for L afterwards
    ((is_smooth(1),), fedprox.theorem4, Verdict.PROVED),
    ((is_smooth(2),), fedprox.theorem4, Verdict.PROVED),
    ((is_smooth(0),), fedprox.theorem4, Verdict.UNKNOWN),
    ((is_smooth(1), step(DESCENT[0], Special(DESCENT[1], ((small, ZERO),)))), fedprox.theorem4, Verdict.UNKNOWN),
    ((is_smooth(1), step(DESCENT[0], by((1, specialised(DESCENT[1].fact, {small: 0}))))), fedprox.theorem4,
     Verdict.UNKNOWN),
])  # fmt: skip
def test_an_assumption_is_used_with_its_constant(provable, steps, statement, expected) -> None:
    assert all(s.by.run(s.claim).verdict is Verdict.PROVED for s in steps)
    assert verdict_of(provable, with_steps(*steps), statement) is expected


def test_another_statement_is_used_with_the_constants_that_it_is_given(provable) -> None:
    """(3) for γ = 0, under γ-inexactness; and with an inexactness that is shown, but not the one that (3) assumes."""
    three = conclusion(fedprox.equation3)
    none = Relation(norm(h), "<=", ZERO, three.domain, name="no residual")
    of_none = step(none, Special(three, ((gamma, ZERO),)))
    assert verdict_of(provable, with_steps(of_none), fedprox.equation5) is Verdict.UNKNOWN
    exact = replace(fedprox.equation5, assumptions=(Runs("FedProx"), ExactSolutions()))
    assert verdict_of(provable, with_steps(of_none), exact) is Verdict.PROVED
    loose = Relation(square(h), "<=", 25 * gamma**2 * square(g), three.domain, name="loose")
    shown = step(loose, by((1, inexact(h, g, 5 * gamma))))
    by_loose = step(replace(three, source=""), Special(three, (), shown=((inexact(h, g, 5 * gamma), loose),)))
    statement = replace(fedprox.equation5, assumptions=(Runs("FedProx"), Inexactness("L")))
    assert verdict_of(provable, with_steps(shown, by_loose), statement) is Verdict.UNKNOWN


def test_a_false_claim_in_the_name_of_another_statement(provable) -> None:
    forged = replace(FALSE, source="fedprox.equation9")  # which assumes nothing
    assert verdict_of(provable, with_steps(step(FALSE, Combination(facts=((1, forged.fact),))))) is Verdict.UNKNOWN
    real = conclusion(fedprox.equation5)
    scaled = replace(real, right=real.right / 2)
    by = Combination(facts=((1, scaled.fact),))
    assert verdict_of(provable, with_steps(step(replace(scaled, source=""), by))) is Verdict.UNKNOWN


def test_a_proof_that_rests_on_itself(provable) -> None:
    def circular(statement: Statement) -> Proof:
        claim = conclusion(fedprox.equation3)
        return Proof((step(replace(claim, source=""), Combination(facts=((1, claim.fact),))),))

    provable["fedprox.equation3"] = circular
    found = verify(fedprox.equation3)
    assert found.verdict is Verdict.UNKNOWN
    assert "rests on itself" in found.reason


def test_two_proofs_that_rest_on_each_other(provable) -> None:
    def resting_on(other: Statement) -> Any:
        def builder(statement: Statement) -> Proof:
            claim = conclusion(other)
            return Proof((step(replace(claim, source=""), Combination(facts=((1, claim.fact),))),))

        return builder

    provable["fedprox.equation3"] = resting_on(fedprox.equation5)
    provable["fedprox.equation5"] = resting_on(fedprox.equation3)
    for found in verify_all([fedprox.equation3, fedprox.equation5]):
        assert found.verdict is Verdict.UNKNOWN
        assert "rests on itself" in found.reason


def test_a_changed_statement_does_not_get_the_verdict_of_the_real_one() -> None:
    def formula(*, gamma: Any, client_gradient: Any) -> Any:
        return gamma * client_gradient / 2

    wrong = replace(fedprox.equation3, calculator=replace(fedprox.equation3.calculator, formula=formula))
    verdicts = [found.verdict for found in verify_all([fedprox.equation3, wrong, fedprox.equation3])]
    assert verdicts == [Verdict.PROVED, Verdict.UNKNOWN, Verdict.PROVED]


def test_a_refutation_needs_its_witness(provable) -> None:
    refuted = with_steps(refutation=Witness("2 > 1", "left, right = 2, 1"))
    assert verdict_of(provable, refuted) is Verdict.REFUTED
    assert verdict_of(provable, with_steps(refutation=Witness("1 > 2", "left, right = 1, 2"))) is Verdict.UNKNOWN
    both = with_steps(step(TRUE, Inequality()), refutation=Witness("1 > 2", "left, right = 1, 2"))
    assert verdict_of(provable, both) is Verdict.UNKNOWN
