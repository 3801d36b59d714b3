"""Theorems for every number of local steps: replayed, attacked, and against `lyapunov`, hand proofs and federations."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
import sympy
from claim_mutants import refused

import fedconvex as fc
from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import number, parameter
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import Discovered, SmoothStronglyConvex, discover, lyapunov
from fedconvex.proofs_checks.export.json_proofs import from_json, to_json
from fedconvex.proofs_checks.falsification import falsify_claim
from fedconvex.proofs_checks.kernel import theorem as theorem_of
from fedconvex.proofs_checks.kernel.proofs import STEP, AlongSteps, Combine, Derivation
from fedconvex.theory import scaffold
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes seconds

s, mu, L, e = (sympy.Symbol(n, positive=True) for n in ("s", "mu", "L", "e"))


def of_scaffold(s: Any, mu: Any, e: Any) -> dict[str, Any]:
    method = fc.Scaffold(stepsize=s, local_steps=e)
    return {"method": method, "clients": SmoothStronglyConvex(mu, 1 / s), "metric": "lyapunov"}


def of_scaffold_with_any_stepsize(s: Any, mu: Any, L: Any, e: Any) -> dict[str, Any]:
    return of_scaffold(s, mu, e) | {"clients": SmoothStronglyConvex(mu, L)}


def of_fedlin(s: Any, mu: Any, L: Any, e: Any) -> dict[str, Any]:
    return of_scaffold_with_any_stepsize(s, mu, L, e) | {"method": fc.FedLin(stepsize=s, local_steps=e)}


def single(count: int) -> Any:
    def arguments(x: Any) -> dict[str, Any]:
        return of_scaffold(1, x, count)

    return arguments


def below(limit: F) -> Any:
    def where(x: Any) -> tuple[Any, ...]:
        return (x <= sympy.Rational(limit.numerator, limit.denominator),)

    return where


@pytest.fixture(scope="module")
def found() -> Discovered:
    return discover(of_scaffold, lambda s, mu, e: (s * mu < 1,), local_steps="e")


def is_broken(found: Discovered, tries: int = 60) -> bool:
    """Whether a federation breaks a rate that is one percent smaller."""
    assert found.proof is not None
    claim = found.proof.claim
    smaller = at_most(claim.left, number(F(99, 100)) * claim.right)
    return falsify_claim(smaller, found.proof.setting, tries=tries) is not None


def test_scaffold_for_every_number_of_steps(found: Discovered) -> None:
    """The catalogue's theorem, for more numbers of steps: its condition is e²sμ ≤ 3/4, and nobody told the search."""
    assert found.verdict is Verdict.PROVED
    assert found.sharp
    assert sympy.simplify(found.bound - (1 - s * mu) ** (2 * e)) == 0
    assert found.where == (mu * s < 1, e**2 * mu * s <= sympy.Rational(5, 6))
    assert [sympy.simplify(c) for c in found.function.values()] == [1, e**2 * s**2]
    text = str(found)
    assert "for every integer e >= 1" in text
    assert "PROVED" in text
    assert len(text.splitlines()) <= 6
    assert r"e \ge 1" in found._repr_markdown_()
    values = {"stepsize": F(1, 3), "local_steps": 4, "mu": F(1, 9), "L": 3}
    assert found.at(s=F(1, 3), mu=F(1, 9), e=4) == scaffold.accelerated.calculator.formula(**values)


def test_its_multipliers_are_those_of_the_hand_proof(found: Discovered) -> None:
    """Λ_i = 2q^{2(e−i)−1}S_{i+1}, times s; x* against y_i has Λ_i − Λ_{i−1}."""
    step, count, x = 3, 7, sympy.Rational(1, 5)
    i = sympy.Symbol("i", integer=True, nonnegative=True)
    q = 1 - x

    def expected(i: int) -> Any:
        return 2 * q ** (2 * (count - i) - 1) * sum(q**j for j in range(i + 1))

    values = {n: c.subs({s: 1, mu: x, e: count, i: step}) for n, c in found.multipliers.items()}
    assert values["y_i from y_{i+1}"] == expected(step)
    assert values["x* from y_i"] == expected(step) - expected(step - 1)
    assert values["y_i from x*, last step"] == expected(count - 1)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 12, 20])
def test_lyapunov_certifies_the_same_rate_at_numbers(found: Discovered, count: int) -> None:
    """By semidefinite programs for one number of steps, and an attaining federation."""
    least = F(5, 6 * count**2)  # just where the condition ends
    method = fc.Scaffold(stepsize=1, local_steps=count)
    rate = lyapunov(method, SmoothStronglyConvex(least, 1))
    assert rate.upper == rate.lower == found.at(s=1, mu=least, e=count)


@pytest.mark.slow
def test_searches_for_single_numbers_find_the_same_theorem(found: Discovered) -> None:
    for count in (1, 2, 3):
        limit = F(3, 4 * count**2)
        one = discover(single(count), below(min(limit, F(9, 10))))
        assert one.verdict is Verdict.PROVED
        assert one.at(x=F(1, 20)) == found.at(s=1, mu=F(1, 20), e=count)


def test_federations_keep_it_and_break_a_smaller_rate(found: Discovered) -> None:
    assert found.proof is not None
    assert falsify_claim(found.proof.claim, found.proof.setting, tries=40) is None
    assert is_broken(found)


@pytest.mark.slow
def test_the_proof_is_data_that_the_kernel_replays(found: Discovered) -> None:
    assert found.proof is not None
    assert found.proof.proof is not None
    found.proof.theorem()
    back = from_json(to_json(found.proof.setting, found.proof.claim, found.proof.proof))
    theorem_of(*back)


def lines_changed(proof: Derivation) -> Iterator[tuple[str, Derivation]]:
    """Proofs with one thing changed each."""
    for place, line in enumerate(proof.lines):

        def with_line(other: Any, place: int = place) -> Derivation:
            return replace(proof, lines=(*proof.lines[:place], other, *proof.lines[place + 1 :]))

        if isinstance(line, AlongSteps):
            (c, fact), *rest = line.facts
            yield "multiplier", with_line(replace(line, facts=((number(F(101, 100)) * c, fact), *rest)))
            q = 1 - parameter("s") * parameter("mu")
            yield "exponent", with_line(replace(line, facts=((q * c, fact), *rest)))
            i = parameter(STEP)
            yield "potential", with_line(replace(line, potential=line.potential.put(i, i + 1)))
            yield "fewer facts", with_line(replace(line, facts=line.facts[1:]))
            yield "fewer squares", with_line(replace(line, squares=line.squares[1:]))
        if isinstance(line, Combine) and line.facts:
            yield f"{line.name} without a fact", with_line(replace(line, facts=line.facts[:-1]))
    yield "no induction", replace(proof, lines=tuple(x for x in proof.lines if not isinstance(x, AlongSteps)))
    yield "no invariant", replace(proof, invariants=())


@pytest.mark.slow
def test_mutants_are_refused(found: Discovered) -> None:
    lemma = found.proof
    assert lemma is not None
    assert lemma.proof is not None
    changed = list(lines_changed(lemma.proof))
    assert len(changed) >= 10
    for what, proof in changed:
        assert refused(lemma.setting, lemma.claim, proof), what
    q = 1 - parameter("s") * parameter("mu")
    stronger = (q * lemma.claim.right, lemma.claim.right.put(parameter("e"), parameter("e") + 1))
    for right in stronger:
        assert refused(lemma.setting, replace(lemma.claim, right=right), lemma.proof)
    *others, _ = lemma.setting.conditions
    assert refused(replace(lemma.setting, conditions=tuple(others)), lemma.claim, lemma.proof)


def test_bounds_elsewhere_are_refused(found: Discovered) -> None:
    for values in ({"s": 1, "mu": F(1, 4), "e": 2}, {"s": 1, "mu": F(1, 100), "e": F(5, 2)}, {"s": 1, "mu": 2, "e": 1},
                   {"s": 1, "mu": F(1, 100), "e": 0}):  # fmt: skip
        with pytest.raises(InvalidInput):
            found.at(**values)


@pytest.mark.slow
def test_the_exact_condition_where_the_number_of_steps_is_spoken_of() -> None:
    """e²q^{2e} ≥ (e − 1)² + (e − S_e)² + (e − 1)(e − S_{e+1})²/(1 + 2q): beyond the simple condition, but not far."""
    exact = discover(of_scaffold, lambda s, mu, e: (s * mu < 1, e >= 1), local_steps="e")
    assert exact.verdict is Verdict.PROVED
    for count in (2, 3, 8):
        for k in range(60, 130, 5):
            x = F(k, 100 * count**2)
            q = 1 - x
            sums = [sum(q**j for j in range(n)) for n in (count, count + 1)]
            taken = (count - sums[0]) ** 2 + (count - 1) * (count - sums[1]) ** 2 / (1 + 2 * q)
            holds = count**2 * q ** (2 * count) >= (count - 1) ** 2 + taken
            try:
                assert exact.at(s=1, mu=x, e=count) == q ** (2 * count)
            except InvalidInput:
                assert not holds
            else:
                assert holds


@pytest.mark.slow
def test_what_the_arguments_compare_becomes_a_condition() -> None:
    """Two methods, of which the theorem is about one, and says where."""

    def two(s: Any, mu: Any, e: Any) -> dict[str, Any]:
        step = s if s * mu < F(1, 8) else s / 2
        return of_scaffold(s, mu, e) | {"method": fc.Scaffold(stepsize=step, local_steps=e)}

    found = discover(two, lambda s, mu, e: (s * mu < 1,), local_steps="e")
    assert found.verdict is Verdict.PROVED
    outside = 0
    for x in (F(1, 9), F(1, 7)):
        try:
            assert found.at(s=1, mu=x, e=2) == (1 - (x if x < F(1, 8) else x / 2)) ** 4
        except InvalidInput:
            outside += 1
    assert outside == 1  # the other method's part of the domain


@pytest.mark.slow
def test_scaffold_with_any_smaller_stepsize() -> None:
    """By the inequalities of the larger class with L = 1/s."""
    where = lambda s, mu, L, e: (s * L <= 1, mu < L, 4 * e**2 * s * mu <= 3)  # noqa: E731
    general = discover(of_scaffold_with_any_stepsize, where, local_steps="e")
    assert general.verdict is Verdict.PROVED
    assert general.at(s=F(1, 8), mu=F(1, 20), L=3, e=10) == (1 - F(1, 160)) ** 20
    assert is_broken(general)


@pytest.mark.slow
def test_fedlin_for_every_number_of_steps() -> None:
    found = discover(of_fedlin, lambda s, mu, L, e: (s * L <= 1, mu < L), local_steps="e")
    assert found.verdict is Verdict.PROVED
    for count in (1, 2, 3, 5, 9):
        values = {"s": F(1, 4 * count**2), "mu": F(1, 10), "L": 1}
        rate = lyapunov(fc.FedLin(stepsize=values["s"], local_steps=count), SmoothStronglyConvex(F(1, 10), 1))
        assert rate.upper == rate.lower == found.at(e=count, **values)
    with pytest.raises(InvalidInput, match="outside"):
        found.at(s=1, mu=F(1, 10), L=1, e=9)
    assert found.proof is not None
    assert falsify_claim(found.proof.claim, found.proof.setting, tries=30) is None
    assert is_broken(found)


@pytest.mark.slow
def test_what_is_not_proved_says_so() -> None:
    def half(s: Any, mu: Any, e: Any) -> dict[str, Any]:
        method = fc.Scaffold(stepsize=s, local_steps=e, server_stepsize=F(1, 2))
        return of_scaffold(s, mu, e) | {"method": method}

    def smaller(s: Any, mu: Any, e: Any) -> dict[str, Any]:
        return of_scaffold(s, mu, e) | {"method": fc.Scaffold(stepsize=s / e, local_steps=e)}

    def fixed(s: Any, mu: Any, e: Any) -> dict[str, Any]:
        return of_scaffold(s, mu, 2)

    def later(s: Any, mu: Any, e: Any) -> dict[str, Any]:
        return of_scaffold(s if e < 9 else s / 2, mu, e)

    cases = ((half, "no closed form"), (smaller, "depends on e"), (fixed, "not the number"), (later, "depends on e"))
    for arguments, says in cases:
        found = discover(arguments, lambda s, mu, e: (s * mu < 1,), local_steps="e")
        assert found.verdict is Verdict.UNKNOWN
        assert says in found.says
        assert found.proof is None
        with pytest.raises(InvalidInput, match="not proved"):
            found.at(s=1, mu=F(1, 100), e=2)


def test_wrong_arguments_are_named() -> None:
    where = lambda s, mu, e: (s * mu < 1,)  # noqa: E731
    with pytest.raises(InvalidInput, match="none of the parameters"):
        discover(of_scaffold, where, local_steps="steps")
    with pytest.raises(InvalidInput, match="linear rates"):
        discover(lambda s, mu, e: of_scaffold(s, mu, e) | {"metric": "distance"}, where, local_steps="e")
    with pytest.raises(InvalidInput, match="no parameter but"):
        discover(lambda e: of_scaffold(1, F(1, 100), e), local_steps="e")
    with pytest.raises(InvalidInput, match="biased"):
        discover(
            lambda s, mu, e: of_scaffold(s, mu, e) | {"method": fc.FedGD(stepsize=s, local_steps=e)}, where,
            local_steps="e",
        )  # fmt: skip
