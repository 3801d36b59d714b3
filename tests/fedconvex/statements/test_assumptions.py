"""Assumptions are PROVED only where they hold and REFUTED only where they fail, decided exactly by other algorithms."""

from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import flint
import pytest
from bound_makers import (
    as_seen_by,
    curved,
    gradient,
    least_eigenvalue,
    mean_square,
    positive_semidefinite,
    positive_weights,
    size_of,
    smooth,
    square,
    starts,
    strongly_convex,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from problem_makers import entries, few, fraction, terms_of
from statement_makers import statements

import fedconvex as fc
from fedconvex import participation
from fedconvex.methods.averaging import Averaging
from fedconvex.statements import Condition
from fedconvex.statements import assumptions as known
from fedconvex.statements.assumptions import Assumption, Given, StepsizeAtMost
from fedconvex.statements.instance import Instance
from fedconvex.verdicts import Verdict

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
HALF = Fraction(1, 2)
FACTORS = st.sampled_from([Fraction(n, 100) for n in (1, 50, 99, 100, 101, 200, 1000)])
METHODS = st.sampled_from([fc.FedProx(mu=2), fc.FedSplit(stepsize=HALF), fc.FedDyn(alpha=3)])


@st.composite
def symmetric(draw: Any) -> fc.Quadratic:
    """Any symmetric H_k, with equal or unequal positive weights."""
    m, d = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    H = [draw(entries(d, d)) for _ in range(m)]
    c = [draw(entries(d)) for _ in range(m)]
    return fc.Quadratic([(H_k + H_k.T) / 2 for H_k in H], c, draw(positive_weights(m)))


def judge(assumption: Assumption, instance: Instance, **values: Any) -> Verdict:
    return assumption.check(instance, values).verdict


def honest(verdict: Verdict, truth: bool) -> bool:
    """Never PROVED when false, never REFUTED when true."""
    return verdict is not (REFUTED if truth else PROVED)


def rounded(number: float) -> Fraction:
    return Fraction(number).limit_denominator(1000)


# ---- the clients' functions ----


def averaged(of_client: Any) -> Any:
    """The weighted mean of the clients' numbers: what is known of the objective."""
    return lambda terms: sum(float(w) * of_client(H_k) for w, H_k in zip(terms.w, terms.H, strict=True))


def of_all(holds: Any) -> Any:
    return lambda terms, asked: all(holds(H_k, asked) for H_k in terms.H)


def of_objective(holds: Any) -> Any:
    return lambda terms, asked: holds(terms.summed()[0], asked)


# The letter, the number that decides about its values, whether the assumption holds at a value.
CURVATURES: list[tuple[Assumption, str, Any, Any]] = [
    (known.Smooth(), "L", lambda terms: max(map(size_of, terms.H)), of_all(smooth)),
    (
        known.BoundedNegativeCurvature(),
        "L_minus",
        lambda terms: max(0.0, -min(map(least_eigenvalue, terms.H))),
        of_all(lambda H_k, L_minus: curved(H_k, -L_minus)),
    ),
    (known.StronglyConvex(), "mu", lambda terms: min(map(least_eigenvalue, terms.H)), of_all(curved)),
    (known.SmoothObjective(), "L", averaged(size_of), of_objective(smooth)),
    (known.StronglyConvexObjective(), "mu", averaged(least_eigenvalue), of_objective(curved)),
]


@pytest.mark.parametrize(("assumption", "letter", "number", "holds"), CURVATURES, ids=lambda v: type(v).__name__)
@few
@given(problem=symmetric() | strongly_convex(), method=METHODS, factor=FACTORS)
def test_curvatures(
    assumption: Any, letter: str, number: Any, holds: Any, problem: Any, method: Any, factor: Fraction
) -> None:
    terms = as_seen_by(method, problem)
    bound = number(terms)
    asked = factor * rounded(max(bound, 0.1) if letter == "mu" else bound)
    verdict = judge(assumption, Instance(problem, method), **{letter: asked})
    assert honest(verdict, holds(terms, asked))
    if asked < bound * 0.995 if letter == "mu" else asked > bound * 1.005:
        assert verdict is PROVED
    if letter == "L_minus" and all(map(positive_semidefinite, terms.H)):
        assert verdict is PROVED
    if isinstance(assumption, known.Smooth) and asked < bound * 0.995:
        assert verdict is REFUTED


@pytest.mark.parametrize("mu", [0, -1])
def test_strong_convexity_is_positive(mu: int) -> None:
    """Every convex function is 0-strongly convex: that is not what the assumption means."""
    assert judge(known.StronglyConvex(), PLAIN, mu=mu) is not PROVED


@few
@given(symmetric() | strongly_convex(), METHODS)
def test_convex(problem: Any, method: Any) -> None:
    truth = all(map(positive_semidefinite, terms_of(problem).H))
    assert judge(known.Convex(), Instance(problem, method)) is (PROVED if truth else REFUTED)


@pytest.mark.parametrize(
    ("least", "verdict"), [(Fraction(1, 10**40), PROVED), (0, PROVED), (Fraction(-1, 10**40), REFUTED)]
)
def test_convex_by_a_hair(least: Any, verdict: Verdict) -> None:
    problem = fc.Quadratic([[[1, 1], [1, 1 + least]]], [[0, 0]])
    assert judge(known.Convex(), Instance(problem, fc.FedDyn(alpha=1))) is verdict


# ---- at the point ----


@few
@given(st.data(), symmetric(), METHODS, FACTORS)
def test_at_the_point(data: Any, problem: Any, method: Any, factor: Fraction) -> None:
    x = data.draw(starts(problem))
    terms, instance = as_seen_by(method, problem), Instance(problem, method, point=x)
    whole, second = square(gradient(terms, x)), mean_square(terms, x)
    stationary = (REFUTED, UNKNOWN)  # balls around rationals that are not dyadic do not tell 0 from what is near
    assert judge(known.NotStationary(), instance) in ((PROVED,) if whole > 0 else stationary)

    variance = factor * (second - whole)
    verdict = judge(known.BoundedVariance(), instance, sigma2=variance)
    assert honest(verdict, factor >= 1 or second == whole)
    if factor != 1 and second > whole:
        assert verdict is (PROVED if factor > 1 else REFUTED)
    assert judge(known.BoundedVariance(), instance, sigma2=instance.gradient_variance) is PROVED

    verdict = judge(known.LargeGradient(), instance, epsilon=factor * whole)
    assert honest(verdict, factor <= 1 or whole == 0)
    if factor != 1 and whole > 0:
        assert verdict is (PROVED if factor < 1 else REFUTED)

    if whole > 0:
        B = Fraction(float(second / whole) ** 0.5)
        verdict = judge(known.Dissimilarity(), instance, B=factor * B)
        assert honest(verdict, (factor * B) ** 2 >= second / whole)
        if factor != 1:
            assert verdict is (PROVED if factor > 1 else REFUTED)
        assert judge(known.Dissimilarity(), instance, B=instance.dissimilarity) is PROVED


def test_dissimilarity_along_the_run() -> None:
    alone = Instance(fc.Quadratic([[[2]]], [[1]]), fc.FedProx(mu=1))
    same = Instance(fc.LeastSquares([[[1, 2]], [[-1, -2]]], [[3], [-3]]), fc.FedProx(mu=1))
    shifted = Instance(fc.Quadratic([[[2]], [[2]]], [[1], [1 + 1e-15]]), fc.FedProx(mu=1))
    logistic = Instance(fc.Logistic([[[1.0]]] * 2, [[1]] * 2), fc.FedProx(mu=1))
    for one in (alone, same):
        assert judge(known.DissimilarityAlongTheRun(), one, B=1) is PROVED
        assert judge(known.DissimilarityAlongTheRun(), one, B=HALF) is UNKNOWN
    for other in (PLAIN, shifted, logistic):
        assert judge(known.DissimilarityAlongTheRun(), other, B=100) is UNKNOWN


# ---- what runs ----

PAIR = fc.Quadratic([[[1]], [[3]]], [[1], [0]])
PLAIN = Instance(PAIR, fc.FedProx(mu=1))


@pytest.mark.parametrize(
    ("assumption", "method", "verdict"),
    [
        (known.Runs("FedProx"), fc.FedProx(mu=1), PROVED),
        (known.Runs("FedProx"), fc.FedDyn(alpha=1), REFUTED),
        (known.Runs("FedDyn"), fc.FedDynOneGD(alpha=1), REFUTED),
        (known.Runs("FedSplit"), fc.RegularizedFedSplit(stepsize=1, regularization=1), REFUTED),
        (known.Runs("FedGD"), fc.FedGD(stepsize=1, local_steps=3), PROVED),
        (known.Runs("FedGD", local_steps=1), fc.FedGD(stepsize=1, local_steps=3), REFUTED),
        (known.Runs("FedGD", local_steps=1), fc.FedGD(stepsize=1), PROVED),
        (known.ExactSolutions(), fc.FedProx(mu=1), PROVED),
        (known.ExactSolutions(), fc.FedGD(stepsize=1), REFUTED),
        (known.ExactSolutions(), fc.FedDynOneGD(alpha=1), REFUTED),
    ],
)
def test_what_runs(assumption: Assumption, method: Any, verdict: Verdict) -> None:
    assert judge(assumption, Instance(PAIR, method)) is verdict


@pytest.mark.parametrize(
    ("fixed", "says"),
    [
        (
            (("server_stepsze", 1),),
            "fixed = server_stepsze: is no parameter of Scaffold; did you mean server_stepsize?",
        ),
        ((("option", 2), ("momentum", 0)), "fixed = momentum: is no parameter of Scaffold; give one of"),
        (
            ("option", 2),
            r"'option' is no pair of a name and a value; give pairs, such as \(\('server_stepsize', 1\),\)",
        ),
        ("option", "fixed = option: is no collection"),
    ],
)
def test_a_parameter_that_the_method_does_not_have_is_refused_at_once(fixed: Any, says: str) -> None:
    with pytest.raises(fc.InvalidInput, match=says):
        known.Runs("Scaffold", fixed=fixed)


@dataclass(frozen=True)
class OwnMethod(Averaging):
    rho: int = 1

    @property
    def local_solver(self) -> Any:
        return fc.Exact()


def test_a_parameter_that_an_own_method_does_not_have_is_refused() -> None:
    setting: Any = SimpleNamespace(method=OwnMethod(), local_solver=fc.Exact())
    assert known.Runs("OwnMethod", fixed=(("rho", 1),)).check(setting, {}).verdict is PROVED
    assert known.Runs("OwnMethod", fixed=(("rho", 2),)).check(setting, {}).verdict is REFUTED
    assert known.Runs("OwnMethod").parameters_of_method == ("rho",)
    with pytest.raises(fc.InvalidInput, match="fixed = rhoo: is no parameter of OwnMethod; did you mean rho"):
        known.Runs("OwnMethod", fixed=(("rhoo", 1),))


@pytest.mark.parametrize(
    ("scheme", "iid", "uniform", "everyone"),
    [
        (participation.Full(), REFUTED, PROVED, PROVED),
        (participation.Uniform(1), REFUTED, PROVED, REFUTED),
        (participation.Uniform(2), REFUTED, PROVED, PROVED),
        (participation.Weighted(2), PROVED, REFUTED, REFUTED),
        (participation.Schedule([[0], [1]]), REFUTED, REFUTED, REFUTED),
        (participation.Schedule([[0, 1], [0, 1]]), REFUTED, PROVED, PROVED),
        (participation.Bernoulli(HALF), REFUTED, REFUTED, REFUTED),
    ],
)
def test_who_takes_part(scheme: Any, iid: Verdict, uniform: Verdict, everyone: Verdict) -> None:
    instance = Instance(PAIR, fc.FedProx(mu=1), scheme)
    assert judge(known.SampledIID(), instance, K=2) is iid
    assert judge(known.SampledUniformly(), instance) is uniform
    assert judge(known.Everyone(), instance) is everyone


@pytest.mark.parametrize(("K", "verdict"), [(1, PROVED), (5, PROVED), (6, REFUTED)])
def test_drawing_more_devices_is_better(K: int, verdict: Verdict) -> None:
    assert judge(known.SampledIID(), Instance(PAIR, fc.FedProx(mu=1), participation.Weighted(5)), K=K) is verdict


@pytest.mark.parametrize(
    ("solver", "gamma", "verdict"),
    [
        (fc.Exact(), 0, PROVED),
        (fc.ToInexactness(HALF), HALF, PROVED),
        (fc.ToInexactness(Fraction(1, 10)), 0.1, PROVED),  # the float 0.1 is a little more than 1/10
        (fc.ToInexactness(Fraction(1, 10)), Fraction(99, 1000), UNKNOWN),
        (fc.ToInexactness([Fraction(1, 10), HALF]), HALF, PROVED),
        (fc.ToInexactness([Fraction(1, 10), HALF]), Fraction(1, 10), UNKNOWN),
        # the subproblems' curvatures are 2 and 4: a step of 1/4 leaves half of the gradient
        (fc.GradientDescent(steps=2, stepsize=Fraction(1, 4)), Fraction(26, 100), PROVED),
        (fc.GradientDescent(steps=2, stepsize=Fraction(1, 4)), Fraction(24, 100), UNKNOWN),
    ],
)
def test_inexactness(solver: Any, gamma: Any, verdict: Verdict) -> None:
    instance = Instance(PAIR, fc.FedProx(mu=1), local_solver=solver)
    assert judge(known.Inexactness(), instance, gamma=gamma) is verdict


@few
@given(strongly_convex(), st.sampled_from([Fraction(1, 20), HALF, Fraction(3)]), FACTORS)
def test_matched_stepsize(problem: Any, s: Fraction, factor: Fraction) -> None:
    """κ = q²: with mu = 1/(sq) and L = q/s the stepsize is 1/√(mu·L), and L/mu = q²."""
    method = fc.FedSplit(stepsize=s)
    H = as_seen_by(method, problem).H
    smallest = max(1 / (float(s) * min(map(least_eigenvalue, H))), float(s) * max(map(size_of, H)))
    q = factor * rounded(smallest)
    verdict = judge(known.MatchedStepsize(), Instance(problem, method), kappa=q**2)
    assert verdict is not PROVED or all(curved(H_k, 1 / (s * q)) and smooth(H_k, q / s) for H_k in H)
    if abs(q - smallest) > smallest / 200:
        assert verdict is (PROVED if q > smallest else REFUTED)


def test_start_at_local_minima() -> None:
    instance = Instance(PAIR, fc.FedDyn(alpha=1))
    assert judge(known.StartsAtLocalMinima(), instance, spread=instance.spread) is PROVED
    assert judge(known.StartsAtLocalMinima(), instance, spread=fraction(instance.spread.mid())) is UNKNOWN


# ---- conditions ----


@given(
    st.sampled_from(["<", "<=", "=", ">=", ">"]),
    st.fractions(-9, 9, max_denominator=9),
    st.fractions(-9, 9, max_denominator=9),
)
def test_conditions_on_numbers(relation: str, mu: Fraction, L: Fraction) -> None:
    truth = {"<": mu < L, "<=": mu <= L, "=": mu == L, ">=": mu >= L, ">": mu > L}[relation]
    finding = Given(Condition("mu", relation, "L")).check(PLAIN, {"mu": mu, "L": L})
    assert finding.verdict is (PROVED if truth else REFUTED)
    assert (finding.reason == "") is truth


def test_conditions_on_balls() -> None:
    wide = flint.arb(1, 0.1)
    condition = Given(Condition("mu", "<=", "L"))
    assert judge(condition, PLAIN, mu=wide, L=2) is PROVED
    assert judge(condition, PLAIN, mu=wide, L=HALF) is REFUTED
    assert judge(condition, PLAIN, mu=wide, L=1) is UNKNOWN


@pytest.mark.parametrize(
    ("stepsize", "verdict"), [(HALF, PROVED), (Fraction(2, 3), PROVED), (0.6666666666666667, REFUTED)]
)
def test_stepsize_at_most(stepsize: Any, verdict: Verdict) -> None:
    """Compared exactly: the float nearest to 2/3 from above is too much."""
    assumption = StepsizeAtMost(lambda L: 2 / L)
    assert assumption.parameters == ("stepsize", "L")
    assert judge(assumption, PLAIN, stepsize=stepsize, L=3) is verdict


# ---- all of them ----

EVERY = {str(a): a for s in statements() for a in s.assumptions}


@pytest.mark.parametrize("text", sorted(EVERY))
def test_in_words(text: str) -> None:
    assert "object at" not in text
    assert "lambda" not in text
    assert text.startswith(tuple("abcdefghijklmnopqrstuvwxyzDLKN"))
    own = (
        known.MatchedStepsize,
        known.StartsAtLocalMinima,
        known.GradientStepsFromCenter,
    )  # say in words what their letters mean
    if not isinstance(EVERY[text], own):
        assert all(name in text for name in EVERY[text].parameters)


def test_other_letters_are_other_words() -> None:
    assert "ell-smooth" in str(known.Smooth("ell"))
    assert str(known.Smooth("ell")) != str(known.Smooth())
    assert str(known.Runs("FedGD", local_steps=1)) != str(known.Runs("FedGD"))
    assert str(Given(Condition("alpha", ">=", lambda L: 25 * L))) == "alpha >= 25*L"


def test_every_assumption_is_used_by_some_statement() -> None:
    used = {type(a) for s in statements() for a in s.assumptions}
    exported = {v for v in vars(known).values() if isinstance(v, type) and issubclass(v, Assumption)}
    # no claim speaks of the last two: they are measured, compared with other constants, and δ has worst cases
    assert exported - {Assumption, StepsizeAtMost, known.ObjectiveGap, known.SimilarHessians} <= used


def test_words_and_parameters_are_those_of_the_copy() -> None:
    """Found once for an assumption, they are not carried over to one with other fields."""
    first = known.Smooth()
    assert (str(first), first.parameters) == ("every client's function is L-smooth", ("L",))
    other = replace(first, L="beta")
    assert (str(other), other.parameters) == ("every client's function is beta-smooth", ("beta",))
    copied = deepcopy(first)
    assert copied == first
    assert hash(copied) == hash(known.Smooth())
    assert repr(copied) == repr(known.Smooth())


@few
@given(strongly_convex())
def test_refusing_says_why(problem: Any) -> None:
    terms = terms_of(problem)
    assume(max(map(size_of, terms.H)) > 1)
    instance = Instance(problem, fc.FedProx(mu=1))
    for assumption, values in [
        (known.Smooth(), {"L": Fraction(1, 2)}),
        (known.StronglyConvex(), {"mu": 10**6}),
        (known.Runs("FedDyn"), {}),
        (known.SampledIID(), {"K": 1}),
    ]:
        finding = assumption.check(instance, values)
        assert finding.verdict is not PROVED
        assert finding.reason
