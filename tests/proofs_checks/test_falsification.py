"""`falsify` breaks false claims fast and true ones never."""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import count, islice
from typing import Any

import pytest
from claims_of_feddyn import FALSE, NAMES, c1
from quantities_of_rounds import average, gap, lifted_distance, memory_error

import fedconvex as fc
from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.terms import (
    after,
    expected,
    gradient,
    mean,
    mean_of_rounds,
    memory,
    minimiser,
    norm,
    number,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.errors import SearchCutShort
from fedconvex.proofs_checks import falsification, falsify
from fedconvex.proofs_checks.falsification import falsify_claim
from fedconvex.theory import feddyn, fedprox, fedsplit

pytestmark = pytest.mark.beyond_core  # thousands of rounds are played

F = Fraction
FEDERATIONS = 200
TRIES = 600  # federations within which a false claim must break: a few seconds


def fedprox4(factor: Any = 1) -> Claim:
    """Theorem 4: E f(w⁺) ≤ f(w) − ρ‖∇f(w)‖²."""
    calculator = fedprox.theorem4.calculator
    rho = calculator.formula(**{name: parameter(name) for name in calculator.parameters})
    decrease = factor * rho * square(mean(gradient(server(0))))
    return at_most(expected(value(server(1))), value(server(0)) - decrease)


def fedsplit1(rate: Any = 2, error: Any = 2) -> Claim:
    """A round contracts the distance of the z_k to the fixed point by 1 − 2/(√κ + 1), up to 2b."""
    root = parameter("kappa").sqrt()
    before, after = (norm(lifted_distance(1 / (parameter("mu") * root), t)) for t in (0, 1))
    return at_most(after, (1 - rate / (root + 1)) * before + error * parameter("b"))


def over_rounds(setting: ClaimSetting) -> ClaimSetting:
    """The setting with a number T of rounds."""
    return replace(setting, signs={**setting.signs, "T": "positive"}, counts=setting.counts | {"T"})


def theorem2(factor: Any = 1) -> Claim:
    """κ₀T(E ℓ(mean of the γ^t) − ℓ_*) ≤ ‖θ⁰ − θ_*‖² + κC_0, what Theorem 2 of FedDyn rounds up."""
    gamma = average(parameter("alpha"))
    suboptimality = expected(gap(mean_of_rounds(gamma)))
    start = square(gamma - minimiser) + c1.kappa * square(memory_error())
    return at_most(factor * c1.kappa0 * parameter("T") * suboptimality, start, rounds="T")


def linear_rate(rate: Any = 2) -> Claim:
    """Without errors FedSplit's rounds contract T times."""
    root = parameter("kappa").sqrt()
    distance = norm(lifted_distance(1 / (parameter("mu") * root)))
    return at_most(after(distance), (1 - rate / (root + 1)) ** parameter("T") * distance, rounds="T")


EXACT_SPLIT = replace(fedsplit.theorem1.setting, answers="own", inexactness=None)
OTHERS_TRUE = {
    "fedprox 4": (fedprox4(), fedprox.theorem4.setting),
    "fedsplit 1": (fedsplit1(), fedsplit.theorem1.setting),
    "feddyn 2, T rounds": (theorem2(), over_rounds(feddyn.lemma1.setting)),
    "fedsplit 1, T rounds": (linear_rate(), over_rounds(EXACT_SPLIT)),
}
OTHERS_FALSE = {
    "fedprox 4, factor": (fedprox4(3), fedprox.theorem4.setting),
    "fedsplit 1, rate": (fedsplit1(rate=F(21, 10)), fedsplit.theorem1.setting),
    "fedsplit 1, error": (fedsplit1(error=F(19, 10)), fedsplit.theorem1.setting),
    "fedsplit 1, no error": (fedsplit1(error=0), fedsplit.theorem1.setting),
    "feddyn 2, T rounds": (theorem2(factor=40), over_rounds(feddyn.lemma1.setting)),
    "fedsplit 1, T rounds": (linear_rate(rate=F(21, 10)), over_rounds(EXACT_SPLIT)),
}
STATEMENTS = {name: getattr(feddyn, name) for name in NAMES}
TRUE_ONES = {name: (statement.claim, statement.setting) for name, statement in STATEMENTS.items()}
TRUE_ONES |= OTHERS_TRUE
FALSE_ONES = {name: (claim, STATEMENTS[name.partition(",")[0]].setting) for name, claim in FALSE.items()}
FALSE_ONES |= OTHERS_FALSE


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUE_ONES)
def test_true_claims_hold_where_the_search_climbs(name: str) -> None:
    assert falsify_claim(*TRUE_ONES[name], tries=150) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS_TRUE)
def test_true_claims_hold_on_random_federations(name: str) -> None:
    claim, setting = OTHERS_TRUE[name]
    for federation in islice(random_federations(setting, claim), FEDERATIONS):
        found = claim.on(federation)
        assert found.holds is not False, f"{found}\n{federation}"


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", FALSE_ONES)
def test_false_claims_are_broken_by_an_exact_federation_of_the_setting(name: str) -> None:
    claim, setting = FALSE_ONES[name]
    broken = falsify_claim(claim, setting, tries=TRIES)
    assert broken is not None
    assert offences(setting, broken.federation) == []
    assert claim.on(broken.federation).holds is False  # the witness stands without the search
    assert broken.found.excess > 0


def test_statements_are_falsified_through_their_own_claim_and_setting() -> None:
    assert falsify(feddyn.lemma3, tries=100) is None
    wrong = replace(feddyn.lemma3, states=2 * feddyn.vectors.move)
    broken = falsify(wrong, tries=TRIES)
    assert broken is not None
    assert "does not hold" in str(broken)
    assert "client 0: weight" in str(broken)


def test_the_search_is_the_same_each_time_and_another_for_another_seed() -> None:
    claim, setting = FALSE_ONES["equation10, gap"]
    first, again, other = (falsify_claim(claim, setting, tries=TRIES, seed=seed) for seed in (0, 0, 1))
    assert first is not None
    assert again is not None
    assert (str(first), first.tried) == (str(again), again.tried)
    assert str(first) != str(other)


@pytest.mark.slow
def test_climbing_finds_what_random_federations_do_not() -> None:
    """Theorem 4's ρ is nearly attained where L is much smaller than μ, B near 1 and γ near 0."""
    claim, setting = fedprox4(F(12, 10)), fedprox.theorem4.setting
    found = [claim.on(federation).holds for federation in islice(random_federations(setting, claim, seed="other"), 100)]
    broken = falsify_claim(claim, setting, tries=1500)
    assert broken is not None
    assert found.count(False) < 5


@pytest.mark.slow
def test_a_vector_claim_and_a_claim_about_each_client_are_falsified() -> None:
    setting = feddyn.lemma1.setting
    assert falsify_claim(Claim(server(1), "=", average(parameter("alpha"))), setting, tries=TRIES) is not None
    everyone = at_most(square(memory("gradient", 1)), 10**9 * square(shared("h", 1)), of_client=True)
    broken = falsify_claim(everyone, setting, tries=TRIES)
    assert broken is not None
    assert broken.found.client is not None


def faster(clock: Callable[[], float]) -> Callable[[], float]:
    return lambda: 1000 * clock()


def test_the_search_is_the_same_by_a_faster_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a slower machine: of a false claim, of a true one, and of one that takes a climb."""
    several = [FALSE_ONES["equation10, gap"], TRUE_ONES["lemma3"], (fedprox4(F(12, 10)), fedprox.theorem4.setting)]
    before = [str(falsify_claim(*one, tries=60)) for one in several]
    for name in ("monotonic", "perf_counter", "process_time", "time"):
        monkeypatch.setattr(time, name, faster(getattr(time, name)))
    assert [str(falsify_claim(*one, tries=60)) for one in several] == before


def test_a_search_that_a_limit_of_seconds_ends_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = (3600 * number for number in count())
    monkeypatch.setattr(falsification.time, "monotonic", lambda: next(hours))
    with pytest.warns(SearchCutShort, match="cut short after 10000 s and 3 of 500 federations") as told:
        assert falsify(feddyn.lemma3, 10_000) is None
    assert told[0].filename == __file__
    assert falsify(feddyn.lemma3, 10_000, tries=3) is None  # all were tried
    nothing = replace(BASE, conditions=((number(0), ">", number(1)),))
    with pytest.raises(NoFederation, match=r"none of 1 federations .* cut short after 1 s and 1 of 9"):
        falsify_claim(at_most(1, 2), nothing, seconds=1, tries=9)


BASE = feddyn.lemma3.setting


@pytest.mark.parametrize(
    ("claim", "setting", "error", "word"),
    [
        (at_most(parameter("beta"), 1), BASE, fc.InvalidInput, "beta"),
        (at_most(square(shared("k", 0)), 1), BASE, NoFederation, "not in the method's state"),
        (at_most(1, 2), replace(BASE, conditions=((number(0), ">", number(1)),)), NoFederation, "does not hold"),
    ],
)  # fmt: skip
def test_a_claim_without_a_value_and_an_empty_setting_are_errors(
    claim: Claim, setting: ClaimSetting, error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word):
        falsify_claim(claim, setting, tries=50)


def test_what_makes_no_claim_is_refused() -> None:
    with pytest.raises(fc.InvalidInput, match="no claim"):
        falsify(fedprox.definition1, 1)
    with pytest.raises(fc.InvalidInput, match="statement"):
        falsify("feddyn.lemma1", 1)  # type: ignore[arg-type]
    with pytest.raises(fc.InvalidInput, match="seconds"):
        falsify(feddyn.lemma3, 0)
