"""Facts about lengths: the vectors must add up, and a length's symbol means one vector."""

import pytest
import sympy

from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import jensen, norm_of_mean, root_of, triangle
from fedconvex.proofs_checks.engines.hilbert import Unsound, family, length, mean, norm, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.hypotheses import ambiguity
from fedconvex.proofs_checks.proof import Proof, Relation, Step
from fedconvex.verdicts import Verdict

u, v = vector("u"), vector("v")
U = family("U")
whole = length("u+v")


def proof(*facts: object) -> Proof:
    by = Combination(facts=tuple((1, fact) for fact in facts))  # type: ignore[arg-type]
    return Proof((Step("", "", Relation(0, "<=", 1), by),))


def test_the_triangle_inequality_is_used() -> None:
    claim = Relation(whole, "<=", norm(u) + norm(v))
    fact = triangle((whole, u + v), (norm(u), u), (norm(v), v))
    assert Combination(facts=((1, fact),)).run(claim).verdict is Verdict.PROVED
    assert fact.defines == ((whole**2, square(u + v)),)


def test_vectors_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(Unsound, match="add up"):
        triangle((whole, u - v), (norm(u), u), (norm(v), v))
    with pytest.raises(Unsound, match="mean"):
        norm_of_mean((norm(u), u), (length("E‖U‖"), U))


def test_a_length_means_one_vector() -> None:
    first = triangle((whole, u + v), (norm(u), u), (norm(v), v))
    assert not ambiguity(proof(first, root_of(whole, square(u + v))))
    assert "two meanings" in ambiguity(proof(first, root_of(whole, square(u - v))))
    families = norm_of_mean((norm(mean(U)), mean(U)), (length("E‖U‖"), U))
    assert not ambiguity(proof(families, jensen((length("√E‖U‖²"), U), length("E‖U‖"))))
    assert "two meanings" in ambiguity(proof(families, jensen((length("√E‖U‖²"), 2 * U), length("E‖U‖"))))


def test_a_factor_must_not_be_negative() -> None:
    s = sympy.Symbol("s", nonnegative=True)
    basic = triangle((norm(u), u), ((1 - s) * norm(u), (1 - s) * u), (s * norm(u), s * u))
    composite = triangle((length("w"), u + v), ((1 - s) * whole, (1 - s) * (u + v)), (s * whole, s * (u + v)))
    assert basic.requires == composite.requires == (sympy.Ge(1 - s, 0, evaluate=False),)
    claim = Relation(length("w"), "<=", whole, Domain())
    assert Combination(facts=((1, composite),)).run(claim).verdict is Verdict.UNKNOWN
    inside = Relation(length("w"), "<=", whole, Domain((sympy.Le(s, 1, evaluate=False),)))
    assert Combination(facts=((1, composite),)).run(inside).verdict is Verdict.PROVED
