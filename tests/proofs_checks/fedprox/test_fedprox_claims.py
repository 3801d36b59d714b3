"""FedProx's and DANE's claims about one round, proved by the kernel; claims and proofs with a mistake are refused."""

import importlib
from dataclasses import replace
from fractions import Fraction
from operator import attrgetter

import pytest
from claim_mutants import refused
from hypothesis import given
from hypothesis import strategies as st
from rational_draws import rationals

from fedconvex.claims.claim import ClaimSetting, at_most, equal
from fedconvex.claims.examples import evaluated
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.on_runs.draws import every_draw
from fedconvex.claims.terms import answers, free, gradient, inner, norm, number, parameter, server, square
from fedconvex.proofs_checks.claims import builder_of, theorem_of
from fedconvex.proofs_checks.fedprox.remarks import only_the_exact_device_is_drawn
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Lower, Nonnegative, facts
from fedconvex.proofs_checks.library import rooted, squared
from fedconvex.statements.statement import Statement
from fedconvex.theory import dane, fedprox

pytestmark = pytest.mark.beyond_core

importlib.import_module("fedconvex.proofs_checks.dane")  # registers the proofs
importlib.import_module("fedconvex.proofs_checks.fedprox")
REFUTED = fedprox.corollary9
ROUNDS = tuple(
    s for s in (*fedprox.PAPER.everything, *dane.PAPER.everything) if s.claim is not None and s is not REFUTED
)
IDS = attrgetter("identifier")


@pytest.mark.parametrize("statement", ROUNDS, ids=IDS)
def test_it_needs_what_it_assumes(statement: Statement) -> None:
    """Without the bounds of curvature, of the residuals and of the heterogeneity nothing of this holds."""
    if statement in (fedprox.equation4, fedprox.equation11, fedprox.equation12):  # of any vectors
        return
    weaker = replace(statement.setting, curvature=(None, None), dissimilarity=None, variance=None, similarity=None)
    if not weaker.method:
        weaker = replace(weaker, conditions=())
    if statement is fedprox.equation3:
        weaker = replace(weaker, inexactness=2 * parameter("gamma"))
    assert refused(weaker, statement.claim, builder_of(statement)(statement.claim))  # type: ignore[misc]


# What the kernel needs for these claims


L, L_minus = parameter("L"), parameter("L_minus")
WEAKLY_CONVEX = ClaimSetting(
    curvature=((-L_minus).max(-L), L), signs={"L": "positive", "L_minus": "positive"},
    example={"L": Fraction(1), "L_minus": Fraction(1)},
)  # fmt: skip
x, y = free("x"), free("y")


@pytest.mark.parametrize(("least", "known"), [(-L, True), (-L_minus, True), (-L - L_minus, True),
                                              (-L / 2, False), (number(0), False)])  # fmt: skip
def test_a_maximum_bounds_the_curvature(least, known) -> None:
    tangents = Lower(x, y, least), Lower(y, x, least)
    claim = at_most(least * square(x - y), inner(gradient(x) - gradient(y), x - y))
    proof = Derivation((Combine(claim.left, claim.right, facts(*((1, fact) for fact in tangents))),))
    assert refused(WEAKLY_CONVEX, claim, proof) is not known


def test_one_client_does_not_tell_the_next_point() -> None:
    setting = fedprox.equation3.setting
    about = {"of_client": True}
    known = equal(answers, answers, **about)
    assert not refused(setting, known, Derivation((Combine(answers, answers, relation="="),)))
    unknown = equal(server(1), server(1), **about)
    assert refused(setting, unknown, Derivation((Combine(server(1), server(1), relation="="),)))


def test_the_root_of_a_sum() -> None:
    setting = ClaimSetting(signs={"L": "positive"}, example={"L": Fraction(1)})
    root = (1 + L).sqrt()
    right = at_most(norm(root * x), root * norm(x))
    assert not refused(setting, right, Derivation(rooted(right.left, right.right, 0 * squared(x), "root")))
    for wrong in (root - Fraction(1, 7), (1 + L / 2).sqrt(), number(1)):
        claim = at_most(norm(root * x), wrong * norm(x))
        assert refused(setting, claim, Derivation(rooted(claim.left, claim.right, 0 * squared(x), "root")))
    sign = at_most(number(0), root)
    assert not refused(setting, sign, Derivation((Combine(sign.left, sign.right, facts((1, Nonnegative(root)))),)))
    maybe = ClaimSetting(signs={"L": "real"}, example={"L": Fraction(1)})
    assert refused(maybe, sign, Derivation((Combine(sign.left, sign.right, facts((1, Nonnegative(root)))),)))


# Corollary 9, and the numbers of rounds


def test_corollary_9_is_broken_for_a_possible_draw() -> None:
    federation = only_the_exact_device_is_drawn()
    with federation.player.rounds.arithmetic.context():
        assert not offences(REFUTED.setting, federation)
    assert REFUTED.claim.on(federation).holds is False
    # The draw is possible, and its only device answers exactly; ρ^t is positive for every draw.
    assert every_draw(federation.participation, federation.problem)[0][0] == Fraction(1, 2**128)
    assert federation.deviations[0][1].size == 0
    others = {name: federation.parameters[name] for name in ("mu", "L", "L_minus", "B", "K")}
    assert all(REFUTED(**others, gammas=[gamma]) > 0 for gamma in (Fraction(0), Fraction(1, 2)))
    # For the largest inexactness of all devices the same federation satisfies the claim, as the corrected form says.
    assert REFUTED.claim.on(federation, gamma_drawn=Fraction(1, 2)).holds is True
    assert fedprox.PAPER.find("corollary9corrected").claim.on(federation).holds is True


def test_corollary_9_has_no_theorem() -> None:
    with pytest.raises(Refused):
        theorem_of(REFUTED)
    corrected = builder_of(fedprox.PAPER.find("corollary9corrected"))
    assert refused(REFUTED.setting, REFUTED.claim, corrected(REFUTED.claim))


ROUNDS_OF = {"theorem6": 1, "remark8": 24, "remark8sharper": 1}
numbers = rationals(Fraction(1, 9), 9, 9)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ROUNDS_OF)
@given(sizes=st.fixed_dictionaries(dict.fromkeys(("delta", "epsilon", "rho", "L", "sigma2"), numbers)),
       rounds=st.integers(1, 2000))  # fmt: skip
def test_the_condition_on_the_rounds_is_the_formula(name: str, sizes: dict[str, Fraction], rounds: int) -> None:
    statement = fedprox.PAPER.find(name)
    more = sizes["sigma2"]  # 1 + σ²/ε is the square of a rational number
    sizes = {**sizes, "sigma2": sizes["epsilon"] * (more**2 + 2 * more)}
    taken = {n: x for n, x in sizes.items() if n in statement.calculator.parameters}
    left, relation, right = statement.stated.conditions[0]
    values = {**sizes, "T": Fraction(rounds)}
    holds = evaluated(left, values) >= evaluated(right, values)
    assert relation == ">="
    assert holds is (rounds >= ROUNDS_OF[name] * statement(**taken))
