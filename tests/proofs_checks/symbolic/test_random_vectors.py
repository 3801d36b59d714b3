"""Expected products of vectors that depend on who takes part, against the package's own rounds of every draw."""

from collections import Counter
from fractions import Fraction as F
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from lyapunov_values import fractions_of

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Bernoulli, Draw, Full, Schedule, Uniform, Weighted
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.proofs_checks.search.lyapunov.state_vectors import EVERYONE, any_vectors, state_of, vectors_of
from fedconvex.proofs_checks.symbolic.random_vectors import averaged, expected, if_drawn, replaced, total
from fedconvex.proofs_checks.symbolic.randomness import Draws, draws_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Mixture, family, inner, mean, shared, square
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered
from fedconvex.runs.rounds import rounds_of

SCHEMES = [Full(), Uniform(1), Uniform(2), Weighted(1), Weighted(3), Bernoulli(F(1, 3))]
METHODS = [
    fc.FedGD(stepsize=F(1, 4), local_steps=2), fc.FedProx(mu=2), fc.FedDyn(alpha=2), fc.FedDynOneGD(alpha=12),
    fc.FedSplit(stepsize=F(1, 2)), fc.DANE(mu=6), fc.FedLin(stepsize=F(1, 8), local_steps=2), fc.FedPD(eta=F(1, 4)),
    fc.FedADMM(rho=2), fc.FedAvgM(stepsize=F(1, 8), local_steps=2, momentum=F(1, 2)),
    fc.Scaffold(stepsize=F(1, 8), local_steps=2), fc.Scaffold(stepsize=F(1, 12), local_steps=3, option=1),
    fc.Scaffnew(stepsize=F(1, 4)),
]  # fmt: skip


def numbers(count):
    return np.array([F(int(n), 7) for n in np.random.default_rng(count).integers(-20, 20, count)], dtype=object)


def of_clients(u, known):
    """The clients' vectors, here numbers: a family's means plus its deviations."""
    total = 0 * next(iter(known.values()))
    for (part, name), c in u.parts.items():
        middle = known[name].mean()
        total = total + F(int(c.p), int(c.q)) * (middle if part == "mean" else known[name] - middle)
    return total


def value_of(form, known):
    found = F(0)
    for (a, b), c in form.products.items():
        u, v = (known[name].mean() if part == "mean" else known[name] - known[name].mean() for part, name in (a, b))
        found += F(int(c.p), int(c.q)) * np.mean(u * v)
    return found


@pytest.mark.sample(40)
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("method", METHODS, ids=lambda one: f"{type(one).__name__}{METHODS.index(one)}")
@pytest.mark.parametrize("m", [3, 4])
def test_expected_products_are_those_of_all_draws(method, scheme, m):
    """Of the whole next state, from a state that runs reach, on quadratics of different curvatures."""
    curvatures, draws = np.array([F(k + 1) for k in range(m)], dtype=object), draws_of(scheme, m)
    begun = any_vectors(method, EVERYONE)
    board = Board(2, SmoothStronglyConvex(1, 10), minimiser=False)
    after = vectors_of(answered(method, method.local_solver, board, state_of(method, begun), draws)[0])
    rounds = rounds_of(method, fc.Quadratic([[[a]] for a in curvatures], [[F(0)]] * m), "exact")
    state = rounds.start(rounds.arithmetic.array([F(5)]))
    for chosen in ([0], [1, m - 1]):
        members = None if draws.everyone else np.array(chosen)
        state = rounds.advance(state, Draw(members, None if members is None else np.ones(len(members), dtype=int)))
    known = {name: fractions_of(u).reshape(-1) * np.ones(m, dtype=object) for name, u in vectors_of(state).items()}
    for evaluation in board.evaluations:  # ∇F_k(x) = a_k x, where x may itself depend on the gradient
        (new,) = {name for _, name in evaluation.gradient.parts}
        ahead = {**known, new: 0 * curvatures}
        fixed = of_clients(evaluation.point, ahead)
        slope = of_clients(evaluation.point, {**ahead, new: 0 * curvatures + 1}) - fixed
        known[new] = curvatures * fixed / (1 - curvatures * slope)
    ways = [(F(1), None)] if draws.everyone else list(draws.every())
    assert sum(chance for chance, _ in ways) == 1
    reached = [(p, vectors_of(rounds.advance(state, draw) if draw else rounds.advance(state))) for p, draw in ways]
    for a, b in combinations_with_replacement(after, 2):
        exact = sum(p * np.mean(fractions_of(u[a]).reshape(-1) * fractions_of(u[b]).reshape(-1)) for p, u in reached)
        assert value_of(inner(after[a], after[b]), known) == exact, (a, b)
        # A second way to the same numbers: products of means, and of expected vectors.
        of_means = [(p, np.mean(fractions_of(u[a])), np.mean(fractions_of(u[b]))) for p, u in reached]
        assert value_of(inner(mean(after[a]), mean(after[b])), known) == sum(p * x * y for p, x, y in of_means)
        middle = [sum(p * both[k] for p, *both in of_means) for k in (0, 1)]
        assert value_of(inner(mean(expected(after[a])), mean(expected(after[b]))), known) == middle[0] * middle[1]


@settings(max_examples=60)
@given(
    draws=st.sampled_from([Draws(1, 3), Draws(2, 4), Draws(3, 4), Draws(2, 3, True), Draws(3, 2, True),
                           draws_of(Bernoulli(F(1, 4)), 3), draws_of(Bernoulli(F(9, 10)), 4)]),
    powers=st.lists(st.integers(0, 3), max_size=4),
)  # fmt: skip
def test_moments_are_those_of_every_draw(draws, powers):
    found = F(0)
    for chance, draw in draws.every():
        shares = dict(zip(draw.members.tolist(), draw.shares.tolist(), strict=True))
        each = [F(shares.get(k, 0), sum(shares.values())) for k in range(draws.clients)]
        if len(powers) > draws.clients:
            continue
        product = chance
        for k, p in enumerate(powers):
            product *= each[k] ** p if p else F(each[k] > 0)
        found += product
    assert draws.moment(powers) == fmpq(found.numerator, found.denominator)
    assert draws.number == len(list(draws.every()))


@pytest.mark.parametrize("classes", [[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 2], [0, 0, 0, 0]])
@pytest.mark.parametrize("draws", [Draws(2, 4), Draws(2, 4, True), Draws(4, 4, True), draws_of(Bernoulli(F(1, 3)), 4)])
def test_draws_up_to_exchanges_are_all_draws(draws, classes):
    def chances(ways):
        found = Counter()
        for chance, draw in ways:
            found[tuple(sorted((classes[k], n) for k, n in zip(draw.members, draw.shares, strict=True)))] += chance
        return found

    every = chances(draws.every())
    assert chances(draws.from_classes(classes)) == every
    assert sum(every.values()) == 1


def test_groups_of_clients_keep_means_and_deviations_of_their_own():
    """Two groups, of one client and of three, against every draw of two."""
    shares, draws = (fmpq(1, 4), fmpq(3, 4)), Draws(2, 4)
    old = Mixture(shares, (family("u 0", 1, "deviation 0"), family("u 1", 2, "deviation 1")))
    new = Mixture(shares, (family("v 0", 1, "deviation 0"), family("v 1", 2, "deviation 1")))
    kept, average = replaced(old, new, draws), averaged(new, draws)
    values = {name: numbers(8)[place : place + 4] for place, name in enumerate("uv")}
    known = {f"{name} {k}": x[:1] if k == 0 else x[1:] for name, x in values.items() for k in (0, 1)}

    def number(form):
        found = F(0)
        for (a, b), c in form.products.items():
            u, v = (known[n].mean() if part == "mean" else known[n] - known[n].mean() for part, n in (a, b))
            found += F(int(c.p), int(c.q)) * np.mean(u * v)
        return found

    squares = products = F(0)
    for chance, draw in draws.every():
        x = values["u"].copy()
        x[draw.members] = values["v"][draw.members]
        squares += chance * np.mean(x * x)
        products += chance * np.mean(x * values["v"][draw.members].mean())
    assert number(square(kept)) == squares
    assert number(inner(kept, average)) == products


def test_any_number_of_clients_has_averages_alone():
    any_number = Draws(3, 0, replaced=True)
    average = averaged(family("u", 2), any_number)
    assert square(average).products == {(("mean", "u"),) * 2: 1, (("deviation", "u"),) * 2: fmpq(1, 3)}
    assert mean(average).terms == average.terms
    for needs_a_number in (total, lambda u, draws: replaced(u, 2 * u, draws)):
        with pytest.raises(InvalidInput, match="num_clients"):
            needs_a_number(family("u", 2), any_number)


def test_what_depends_on_others_is_not_a_clients_own():
    draws = Draws(1, 3)
    u, v = family("u", 2), family("v", 2)
    assert if_drawn(replaced(u, v, draws)).parts == v.parts
    with pytest.raises(ValueError, match="who else"):
        if_drawn(averaged(u, draws))
    # What all share stays the same whoever takes part.
    assert averaged(shared("w"), draws).terms == {(None, None, ()): shared("w")}


@pytest.mark.parametrize(
    ("scheme", "m", "words"),
    [(Schedule([[0]]), 3, "no draw in which all clients are alike"), (Uniform(4), 3, "more than 3"),
     (Uniform(2), "any", "needs"), (Bernoulli(F(1, 2)), "any", "needs"), (Bernoulli(F(1, 2)), 501, "too many")],
)  # fmt: skip
def test_what_has_no_moments_is_refused(scheme, m, words):
    with pytest.raises(InvalidInput, match=words):
        draws_of(scheme, m)


@pytest.mark.parametrize(
    "sizes",
    [{1: F(3, 2), 2: F(-1, 2)}, {1: F(1, 2)}, {0: 1}, {F(1): 1}, {True: 1}, {"1": 1}, {1: "a half"}, {}, [1], "1", 2],
    ids=repr,
)
def test_chances_that_are_none_are_refused(sizes):
    """With {1: 3/2, 2: −1/2} expected squares may be negative, and a bound a lie."""

    class Odd(Bernoulli):
        def sizes(self, num_clients):
            return sizes

    with pytest.raises(InvalidInput, match="participation"):
        lyapunov(fc.FedProx(mu=2), SmoothStronglyConvex(1, 4), 3, participation=Odd(F(1, 2)))


def test_numbers_of_clients_may_be_numpys():
    class Pairs(Bernoulli):
        def sizes(self, num_clients):
            return {np.int64(2): 1}

    given = fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4)
    found = lyapunov(*given, np.int64(3), participation=Pairs(F(1, 2)))
    assert found.upper == lyapunov(*given, 3, participation=Uniform(2)).upper
    assert type(found.num_clients) is int
    assert worst_case(*given, np.int64(3), np.int64(2)).upper == worst_case(*given, 3, 2).upper


@pytest.mark.parametrize(("K", "m"), [(200, 1000), (1, 10**6)])
def test_moments_of_many_draws_are_those_of_a_multinomial(K, m):
    """E λ_i² and E λ_i λ_j of K independent draws, in closed form; a sum over all m^K draws would not end."""
    draws = Draws(K, m, replaced=True)
    single, pair = draws.moment([2]), draws.moment([1, 1])
    assert single == fmpq(K * m + K * (K - 1), (K * m) ** 2)
    assert pair == fmpq(K - 1, K * m**2)
    assert m * single + m * (m - 1) * pair == 1  # shares sum to 1
    assert draws.moment([0]) == 1 - (1 - fmpq(1, m)) ** K


def test_a_memory_that_depends_on_others_is_measured_where_it_is():
    """Scaffnew's clients remember the average they helped to make: the rate is that of V without their points."""
    found = lyapunov(fc.Scaffnew(stepsize=F(1, 8)), SmoothStronglyConvex(1, 4), 4, participation=Bernoulli(F(1, 2)))
    assert 0 < found.lower <= found.upper
