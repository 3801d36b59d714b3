"""Designed parameters: optima that are known, the best of a grid by a second route, and what is refused."""

import pickle
from fractions import Fraction as F

import numpy as np
import pytest
from lyapunov_values import one_round_of_scaffold

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Bernoulli, Uniform, Weighted
from fedconvex.proofs_checks import Quadratics, SmoothConvex, SmoothStronglyConvex, design, lyapunov
from fedconvex.proofs_checks.search.lyapunov.closed_forms import root
from fedconvex.proofs_checks.search.lyapunov.design import units
from fedconvex.proofs_checks.search.lyapunov.design_result import fewest_rounds
from fedconvex.proofs_checks.search.lyapunov.lyapunov import is_proved
from fedconvex.proofs_checks.search.lyapunov.parameter_search import simplest
from fedconvex.theory import scaffold

pytestmark = pytest.mark.beyond_core  # takes seconds


@pytest.mark.sample(2)
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "mu", "L", "parameters", "rate", "formula"),
    [
        (fc.FedSGD, 1, 4, {"stepsize": F(2, 5)}, F(9, 25), "2/(μ + L)"),  # (κ − 1)/(κ + 1), of lengths
        (fc.FedSplit, 1, 4, {"stepsize": F(1, 2)}, F(1, 9), "1/√(μL)"),
        (fc.FedDyn, 4, 36, {"alpha": 12}, F(9, 16), "√(μL)"),
        (fc.FedPD, F(1, 9), 1, {"eta": 3}, F(9, 16), "1/√(μL)"),
    ],
)
def test_optima_that_are_known(kind, mu, L, parameters, rate, formula):
    found = design(kind, SmoothStronglyConvex(mu, L))
    assert found.parameters == parameters
    assert found.rate.lower == rate
    assert found.rate.tight
    assert [form.text for form in found.closed_forms.values()] == [formula]
    assert found.before is None
    [(low, high)] = found.flat.values()
    [best] = parameters.values()
    assert low < best < high
    cost = found.rounds()
    for end in (low, high):  # one round less or more where the number of rounds is small
        there = lyapunov(kind(**dict.fromkeys(parameters, end)), SmoothStronglyConvex(mu, L)).upper
        assert fewest_rounds(there, F(1, 10**6)) <= 1.1 * cost + 1


@pytest.mark.slow
def test_an_optimum_that_is_no_formula_of_these_is_called_none():
    found = design(fc.FedDynOneGD, SmoothStronglyConvex(1, 4))
    assert not found.closed_forms
    assert found.rate.upper < lyapunov(fc.FedDynOneGD(alpha=8), SmoothStronglyConvex(1, 4)).lower


@pytest.mark.slow
def test_a_theorem_with_this_rate():
    found = design(fc.FedDyn(alpha=1), SmoothStronglyConvex(1, 4))
    assert found.theorem == "feddyn.linearrate"
    assert found.before.upper > found.rate.upper
    ten = design(fc.FedSplit, SmoothStronglyConvex(1, 4), num_clients=100, participation=Uniform(10))
    assert ten.parameters["stepsize"] == F(1, 2)
    assert ten.theorem is None  # it is proved to be near the theorem's rate, not to be it
    assert abs(ten.rate.upper - (1 - F(1, 10) * (1 - F(1, 9)))) < F(1, 10**6)


def test_local_steps_of_scaffold_are_those_of_the_theorem():
    """`scaffold.accelerated` has e up to √(3κ/4) = 8; the rate goes on a little beyond."""
    found = design(fc.Scaffold(stepsize=F(1, 100)), SmoothStronglyConvex(1, 100), over="local_steps")
    assert found.parameters == {"local_steps": 10}
    assert found.rate.upper == F(99, 100) ** 20 < scaffold.accelerated(stepsize=F(1, 100), local_steps=8, mu=1, L=100)
    assert found.before.upper == F(99, 100) ** 2
    assert found.flat["local_steps"][0] <= 10 <= found.flat["local_steps"][1]
    beyond = {one.value: one.upper for one in found.curve}
    assert beyond[20] == (1 - F(1, 20)) ** 2  # deviations are slower then


def attained_on_a_grid(kappa, steps, between=33):
    """The least rate of SCAFFOLD over stepsizes, each on the slowest of some federations, by NumPy alone.

    Among them are clients that are all alike, of `between` curvatures from 1 to κ: with steps longer than 1/L the
    slowest curvature may lie inside, as 86/9 for κ = 12, e = 3 and s = 3/20.
    """
    federations = [[1.0, kappa], [1.0, 1.0, 1.0, kappa], [1.0, kappa / 2]]
    federations += [[a, a] for a in np.linspace(1.0, kappa, between)]
    found = {}
    for s in np.geomspace(0.1, 2.5, 60) / kappa:
        maps = [one_round_of_scaffold(np.array(a), s, steps) for a in federations]
        found[s] = max(np.abs(np.linalg.eigvals(one)).max() ** 2 for one in maps)
    return min(found.values())


@pytest.mark.slow
def test_no_stepsize_and_number_of_steps_of_a_grid_is_better():
    found = design(fc.Scaffold, SmoothStronglyConvex(1, 6))
    best = min(attained_on_a_grid(6, e) for e in range(1, 13))
    assert found.rate.upper <= best * (1 + 1e-3)
    # and the comparison can fail: one local step is not as good
    assert attained_on_a_grid(6, 1) > best * 1.1


@pytest.mark.slow
def test_nearby_stepsizes_are_proved_to_be_no_better():
    """At κ = 12 the certified rates themselves, on a grid around the designed parameters."""
    found = design(fc.Scaffold, SmoothStronglyConvex(1, 12))
    s = found.parameters["stepsize"]
    for factor in (F(97, 100), F(99, 100), F(995, 1000), F(1005, 1000), F(101, 100), F(103, 100), F(147, 100)):
        for e in (2, 3, 4):
            there = fc.Scaffold(stepsize=s * factor, local_steps=e)
            assert lyapunov(there, SmoothStronglyConvex(1, 12)).upper > found.rate.upper * (1 - F(1, 10**5))


def test_extreme_curvatures_alone_promise_too_much():
    """Why grids with the curvatures 1, κ/2 and κ alone looked better than `design` at κ = 12."""
    some = [[1.0, 1.0], [1.0, 12.0], [12.0, 12.0], [1.0, 1.0, 1.0, 12.0], [1.0, 6.0]]
    maps = [one_round_of_scaffold(np.array(a), 0.15, 3) for a in some]
    assert max(np.abs(np.linalg.eigvals(one)).max() ** 2 for one in maps) < 0.5185
    found = lyapunov(fc.Scaffold(stepsize=F(3, 20), local_steps=3), SmoothStronglyConvex(1, 12))
    assert found.lower > 0.56


@pytest.mark.slow
def test_what_is_saved_matters():
    by_gradient = design(fc.Scaffold, SmoothStronglyConvex(1, 4), per="gradient")
    assert by_gradient.parameters["local_steps"] == 1
    assert by_gradient.theorem == "exact_rates.scaffoldstep"
    assert by_gradient.units == 1


def test_quadratics_of_a_method_that_several_steps_bias():
    found = design(fc.FedGD(stepsize=1), Quadratics(1, 9))  # with more steps the fixed point is biased
    assert found.parameters == {"stepsize": F(1, 5), "local_steps": 1}
    copied = pickle.loads(pickle.dumps(found))  # noqa: S301  its curve is proved where it is read
    assert copied.curve == found.curve == pickle.loads(pickle.dumps(found)).curve  # noqa: S301
    assert {one.value for one in found.curve if one.parameter == "local_steps"} == {1}


@pytest.fixture(scope="module")
def found():
    return design(fc.FedSplit(stepsize=1), SmoothStronglyConvex(1, 4), per="byte")


@pytest.mark.slow
def test_the_result_shows_itself(found):
    frame = found.to_frame()
    assert list(frame.columns) == ["parameter", "value", "exact_value", "lower", "upper", "units", "cost_of_tenfold"]
    assert (frame.lower <= frame.upper).all()
    assert frame.cost_of_tenfold.min() == pytest.approx(2 * np.log(10) / np.log(9))
    text = str(found)
    assert "1/√(μL)" in text
    assert "vectors sent and received" in text
    assert max(map(len, text.splitlines())) <= 100
    axes = found.plot()
    assert axes.get_xlabel() == "value / best value"
    assert found.to_dictionary()["upper"] == "1/9"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("FedSplit", SmoothStronglyConvex(1, 4)), "is not a method"),
        ((int, SmoothStronglyConvex(1, 4)), "is not a method"),
        ((fc.FedSplit, "clients"), "is not a class of functions"),
        ((fc.FedSplit, SmoothConvex(4)), "have no linear rate"),
        ((fc.FedProx, SmoothStronglyConvex(1, 4)), "has a biased fixed point"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), "alpha"), "is no number that FedSplit can be designed in"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), "start"), "is no number that FedSplit can be designed in"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), ()), "names no parameters"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), 3), "names no parameters"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), ("stepsize", "stepsize")), "or one twice"),
        ((fc.Scaffold, SmoothStronglyConvex(1, 4), "local_steps"), "leaves out stepsize"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), None, "rounds"), "is nothing to save; did you mean round"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), None, ["round"]), "is nothing to save"),
        ((fc.FedSplit, SmoothStronglyConvex(1, 4), None, "gradient"), "needs local gradient steps"),
        ((fc.Scaffold(stepsize=9), SmoothStronglyConvex(1, 4), "local_steps"), "hold no parameters"),
        ((fc.Scaffold, SmoothStronglyConvex(1, 4), None, "round", "any", fc.Exact()), "takes the place"),
    ],
)  # fmt: skip
def test_what_cannot_be_designed_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        design(*arguments)


def test_a_reduction_is_a_part(found):
    assert found.rounds(F(1, 81)) == 2
    assert found.rounds(F(1, 82)) == 3
    for wrong in (0, 1, -1, 2):
        with pytest.raises(InvalidInput, match="is no part of the first error"):
            found.rounds(wrong)


@pytest.mark.parametrize(
    ("rate", "reduction"),
    [(F(1, 10), F(1, 1000)), (F(1, 10), F(1, 1001)), (F(1, 2), F(1, 1024) + F(1, 10**60)), (F(1, 2), F(1, 1024)),
     (F(2, 3), F(1, 10**30)), (F(999, 1000), F(1, 10)), (F(1, 10**9), F(1, 2))],
)  # fmt: skip
def test_the_fewest_rounds(rate, reduction):
    T = fewest_rounds(rate, reduction)
    assert rate**T <= reduction < rate ** (T - 1)


@pytest.mark.parametrize("method", [fc.FedSplit, fc.FedGD(stepsize=1)])
def test_of_one_curvature_a_round_ends_at_the_minimiser(method):
    assert design(method, SmoothStronglyConvex(2, 2), over="stepsize").rate.upper == 0


def test_what_is_proved_of_many_local_steps_is_asked_too():
    """With more points than are compared with each other, neighbours still are."""
    method, clients = fc.Scaffold(stepsize=F(1, 40), local_steps=20), SmoothStronglyConvex(1, 10)
    least = lyapunov(method, clients).upper
    assert is_proved(least * F(101, 100), method, clients, "any", None, None)
    assert not is_proved(least * F(99, 100), method, clients, "any", None, None)


def test_no_error_is_left_after_a_round():
    assert fewest_rounds(F(0), F(1, 10)) == 1


@pytest.mark.parametrize(
    ("low", "high"), [(F(1, 3), F(2, 5)), (F(7), F(8)), (F(314, 100), F(315, 100)), (F(2, 7),) * 2]
)
def test_the_simplest_fraction(low, high):
    found = simplest(low, high)
    assert low <= found <= high
    for q in range(1, found.denominator):
        assert not any(low <= F(p, q) <= high for p in range(int(low * q), int(high * q) + 2))


def test_roots():
    assert root(F(4, 9)) == F(2, 3)
    assert abs(root(F(2)) ** 2 - 2) < F(1, 10**7)


@pytest.mark.parametrize(
    ("participation", "share"),
    [(None, 1), (Uniform(2), F(1, 2)), (Bernoulli(F(1, 4)), F(1, 4) / (1 - F(3, 4) ** 4)),
     (Weighted(2), 1 - F(9, 16))],
    ids=str,
)  # fmt: skip
def test_vectors_are_counted_for_those_who_take_part(participation, share):
    """Of four clients: the chance of each; none taking part is drawn again by Bernoulli."""
    method = fc.FedSplit(stepsize=F(1, 2))
    assert units(method, "byte", 4, None, participation) == share * (method.vectors_down + method.vectors_up)
    assert units(fc.Scaffold(stepsize=F(1, 8), local_steps=3), "gradient", 4, None, participation) == 3 * share


def test_vectors_of_drawn_clients_need_their_number():
    assert units(fc.FedSplit(stepsize=F(1, 2)), "round", "any", None, Weighted(2)) == 1
    with pytest.raises(InvalidInput, match="num_clients"):
        units(fc.FedSplit(stepsize=F(1, 2)), "byte", "any", None, Weighted(2))
