"""Methods whose clients take different numbers of local steps, against the papers' pseudo-code in Fractions."""

from fractions import Fraction

import numpy as np
import pseudo_code as paper
import pseudo_code_clients as clients
import pseudo_code_servers as servers
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problem_makers import ball_contains, terms_of
from rational_draws import rationals
from round_cases import server_of

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw
from fedconvex.runs.rounds import rounds_of

S, ETA, BETA, REG = Fraction(1, 16), Fraction(3, 2), Fraction(1, 2), Fraction(2, 3)
ONE = {"server_stepsize": ETA, "option": 1}
A = [[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 0], [2, 1]]]
WEIGHTED = fc.LeastSquares(A=A, b=[[1, 2], [0, 4], [1, 1]], weights=[1, 2, 3])
START = np.array([Fraction(1, 2), Fraction(-1)])
SCHEDULE = ((0, 2), (1,), (0, 1, 2))


# The pseudo-code, its keyword for the number of local steps and its other parameters, and those of the method.
METHODS = {
    "FedGD": (paper.fedavg, "e", {}, {}),
    "FedNova": (paper.fednova, "tau", {}, {}),
    "FedLin": (clients.fedlin, "tau", {}, {}),
    "FedAvgM": (servers.fedavgm, "e", {"beta": BETA, "eta": ETA}, {"momentum": BETA, "server_stepsize": ETA}),
    "Scaffold": (paper.scaffold, "steps", {"server_stepsize": ETA}, {"server_stepsize": ETA}),
    "Scaffold, option 1": (paper.scaffold, "steps", ONE, ONE),
    "Ditto": (server_of(clients.ditto), "e", {"lam": REG}, {"regularization": REG}),
    "PFedMe": (
        server_of(clients.pfedme),
        "R",
        {"lam": REG, "beta": ETA},
        {"server_stepsize": ETA, "regularization": REG},
    ),
}


def method(name, steps):
    return getattr(fc, name.partition(",")[0])(stepsize=S, local_steps=steps, **METHODS[name][3])


def transcribed(name, problem, steps, x0, schedule):
    pseudo_code, number, others, _ = METHODS[name]
    size = "eta" if name == "PFedMe" else "s"
    return pseudo_code(terms_of(problem), x0, schedule, **{size: S, number: steps}, **others)


def run(name, problem, steps, x0, schedule, **options):
    scheme = fc.participation.Schedule(schedule)
    return fc.simulate(method(name, steps), problem, len(schedule), x0=x0, participation=scheme, **options).points


@st.composite
def federations(draw):
    entries = rationals(-2, 2, 3)
    m, d = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    rows = st.lists(st.lists(entries, min_size=d, max_size=d), min_size=1, max_size=2)
    designs = [draw(rows) for _ in range(m)]
    targets = [[draw(entries) for _ in design] for design in designs]
    weights = draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))
    steps = tuple(draw(st.lists(st.integers(1, 4), min_size=m, max_size=m)))
    members = st.sets(st.integers(0, m - 1), min_size=1).map(sorted)
    schedule = draw(st.lists(members, min_size=1, max_size=3))
    return fc.LeastSquares(A=designs, b=targets, weights=weights), steps, schedule


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=15)
@given(drawn=federations())
@example(drawn=(WEIGHTED, (3, 1, 5), SCHEDULE))
def test_every_client_takes_its_own_number_of_steps(name, drawn):
    problem, steps, schedule = drawn
    x0 = START[: problem.dim]
    points = run(name, problem, steps, x0, schedule, arithmetic="exact")
    assert (points == transcribed(name, problem, steps, x0, schedule)).all()


@pytest.mark.parametrize("name", METHODS)
def test_the_number_of_another_client_is_noticed(name):
    points = run(name, WEIGHTED, (3, 1, 5), START, SCHEDULE, arithmetic="exact")
    for wrong in ((1, 3, 5), (5, 1, 3), (3, 3, 3), (3, 1, 4)):
        assert (points[-1] != transcribed(name, WEIGHTED, wrong, START, SCHEDULE)[-1]).any()


@pytest.mark.parametrize("name", METHODS)
def test_all_arithmetics_agree(name):
    exact = run(name, WEIGHTED, (3, 1, 5), START, SCHEDULE, arithmetic="exact")
    for arithmetic in ("float", "torch"):
        found = run(name, WEIGHTED, (3, 1, 5), START.astype(float), SCHEDULE, arithmetic=arithmetic)
        assert np.allclose(found, exact.astype(float), rtol=1e-12)
    balls = run(name, WEIGHTED, (3, 1, 5), START, SCHEDULE, arithmetic="ball")
    for ball, point in zip(balls.ravel(), exact.ravel(), strict=True):
        assert ball_contains(ball, point)


@pytest.mark.parametrize("name", METHODS)
def test_equal_numbers_are_one_number(name):
    several = run(name, WEIGHTED, (2, 2, 2), START, SCHEDULE, arithmetic="exact")
    assert (several == run(name, WEIGHTED, 2, START, SCHEDULE, arithmetic="exact")).all()


@pytest.mark.parametrize("kind", [fc.FedAdagrad, fc.FedAdam, fc.FedYogi])
def test_the_first_step_of_adaptive_servers(kind):
    """With v = τ² and m = 0 at first, w moves by η(1 − β₁)Δ/(√v + τ), Δ the progress of FedGD."""
    server = kind(stepsize=S, local_steps=(3, 1, 5), beta1=BETA)
    found = fc.simulate(server, WEIGHTED, 1, x0=START.astype(float)).points[-1]
    delta = (transcribed("FedGD", WEIGHTED, (3, 1, 5), START, [(0, 1, 2)])[-1] - START).astype(float)
    tau, start = float(server.tau), float(server.initial)
    square = delta**2
    later = {
        "FedAdagrad": start + square,
        "FedAdam": start + (1 - float(getattr(server, "beta2", 0))) * (square - start),
        "FedYogi": start - (1 - float(getattr(server, "beta2", 0))) * square * np.sign(start - square),
    }[kind.__name__]
    expected = START.astype(float) + float(server.server_stepsize) * float(1 - BETA) * delta / (np.sqrt(later) + tau)
    assert np.allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((3, 1), "local_steps.*has 2 numbers for 3 clients"),
        ((3, 1, 5, 1), "local_steps.*has 4 numbers for 3 clients"),
        ((), "local_steps.*is empty"),
        ((3, 0, 5), r"local_steps\[1\] = 0: must be an integer >= 1"),
        ((3, 1.5, 5), r"local_steps\[1\] = 1.5"),
        ((3, None, 5), r"local_steps\[1\]"),
        ("315", "local_steps"),
        ({3, 1, 5}, "local_steps"),
        (0, "local_steps"),
    ],
)
def test_bad_numbers_are_refused(name, steps, message):
    with pytest.raises(InvalidInput, match=message):
        fc.fixed_point(method(name, steps), WEIGHTED)
    with pytest.raises(InvalidInput, match=message):
        fc.simulate(method(name, steps), WEIGHTED, 1)


@pytest.mark.parametrize("name", METHODS)
def test_lists_and_arrays_become_tuples(name):
    made = [method(name, steps) for steps in ((3, 1, 5), [3, 1, 5], np.array([3, 1, 5]), (3.0, Fraction(1), 5))]
    assert len(set(made)) == 1
    assert "local_steps=(3, 1, 5)" in repr(made[0])
    assert made[0] != method(name, (5, 1, 3))


def personal_models(name, steps):
    """The clients' personal models after a round of clients 0 and 2 from START."""
    rounds = rounds_of(method(name, steps), WEIGHTED, "exact")
    before = rounds.start(rounds.arithmetic.array(START))
    return rounds.arithmetic.publish(rounds.advance(before, Draw(np.array([0, 2]))).memory["personal"])


def test_personal_models_take_as_many_steps():
    terms, steps, rounds = terms_of(WEIGHTED), (3, 1, 5), [(0, 2)]
    expected = {
        "Ditto": clients.ditto(terms, START, rounds, s=S, e=steps, lam=REG)[1],
        "PFedMe": clients.pfedme(terms, START, rounds, eta=S, R=steps, lam=REG)[1],
    }
    found = {name: personal_models(name, steps) for name in expected}
    for name, models in found.items():
        assert (models == np.stack(expected[name])).all()
        assert (models[1] == START).all()  # absent
        assert (models != personal_models(name, (3, 1, 4))).any()


def test_stragglers_are_refused_unless_they_are_dropped():
    with pytest.raises(InvalidInput, match="the same for all clients"):
        fc.simulate(method("FedGD", (3, 1, 5)), WEIGHTED, 2, stragglers=fc.participation.Stragglers(Fraction(1, 2)))
    dropping = fc.participation.Stragglers(Fraction(1, 3), policy="drop")
    points = fc.simulate(method("FedGD", (3, 1, 5)), WEIGHTED, 1, x0=START, stragglers=dropping, arithmetic="exact")
    pairs = ((0, 1), (0, 2), (1, 2))
    possible = [transcribed("FedGD", WEIGHTED, (3, 1, 5), START, [two])[-1].tolist() for two in pairs]
    assert points.points[-1].tolist() in possible
