"""`UnequalSteps` does for client k what `GradientDescent` with steps[k] does: all that a solver answers."""

from fractions import Fraction

import numpy as np
import pytest
from problem_makers import floats

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.audit import audit
from fedconvex.audit.intervals import arithmetic_for
from fedconvex.conformance import check
from fedconvex.errors import InvalidInput
from fedconvex.fingerprints import fingerprint
from fedconvex.local_solvers import GradientDescent, UnequalSteps
from fedconvex.methods.base import State
from fedconvex.parameters import in_arithmetic
from fedconvex.participation import Draw
from fedconvex.problems.subproblem import Subproblem
from fedconvex.runs.rounds import rounds_of
from fedconvex.strategies.stepsizes import admissible

S, STEPS = Fraction(1, 16), (3, 1, 5)
A = [[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 0], [2, 1]]]
SQUARES = fc.LeastSquares(A=A, b=[[1, 2], [0, 4], [1, 1]])
LOGISTIC = fc.Logistic(A=A, y=[[1, -1], [1, 1], [-1, 1]], ridge=0.5)
UNEQUAL = UnequalSteps(steps=STEPS, stepsize=S)
EXACT, FLOATS = arithmetics.get("exact"), arithmetics.get("float")


def alone(k):
    return GradientDescent(steps=STEPS[k], stepsize=S)


def subproblem(rows=3, numbers=EXACT):
    """A start, a linear term and a center of its own for every client, for so many of them."""
    parts = [[[Fraction(k + i, 1 + j) for i in range(2)] for k in range(3)] for j in range(3)]
    start, linear, center = (numbers.array(np.array(part[:rows], dtype=object)) for part in parts)
    return Subproblem(start=start, linear=linear, weight=numbers.scalar(Fraction(1, 2)), center=center)


def test_answers_and_path_lengths():
    clients, solver = SQUARES.clients("exact"), in_arithmetic(UNEQUAL, EXACT)
    found = solver.solve(clients, subproblem())
    for k in range(3):
        single = in_arithmetic(alone(k), EXACT).solve(clients.subset(np.array([k])), subproblem().of(np.array([k])))
        assert (found.points[k] == single.points[0]).all()
        assert found.path_lengths[k] == single.path_lengths[0] == STEPS[k] * EXACT.scalar(S)


def test_participants_keep_their_own_numbers():
    members = np.array([0, 2])
    clients, solver = SQUARES.clients("exact"), in_arithmetic(UNEQUAL, EXACT)
    everyone = solver.solve(clients, subproblem())
    two = solver.solve(clients.subset(members), subproblem().of(members), Draw(members))
    assert (two.points == everyone.points[members]).all()
    assert (two.path_lengths == everyone.path_lengths[members]).all()


def test_the_derivative_is_the_change_of_the_answers():
    """On quadratics the answers are affine; on logistic losses it is compared with a difference quotient."""
    clients, solver = SQUARES.clients("exact"), in_arithmetic(UNEQUAL, EXACT)
    at, there = subproblem(), solver.solve(SQUARES.clients("exact"), subproblem())
    moved = Subproblem(start=2 * at.start, linear=3 * at.linear, weight=at.weight, center=5 * at.center)
    change = Subproblem(start=at.start, linear=2 * at.linear, weight=at.weight, center=4 * at.center)
    derivative = solver.tangent(clients, at, there.points)
    before = change.start + 0
    assert (derivative(change) == solver.solve(clients, moved).points - there.points).all()
    assert (change.start == before).all()  # the argument is not written to
    rounds = rounds_of(fc.FedGD(stepsize=0.5, local_steps=STEPS), LOGISTIC)
    w, v, step = np.array([0.3, -1.0]), np.array([1.0, 2.0]), 1e-6
    after, back = (rounds.advance(State(w + sign * step * v)).server for sign in (1, -1))
    assert np.allclose(rounds.tangent(State(w))(State(v)).server, (after - back) / (2 * step), rtol=1e-7)


@pytest.mark.parametrize("weight", [0, Fraction(1, 2)])
def test_responses_roundings_and_contractions(weight):
    for name in ("exact", "float", "ball"):
        numbers = arithmetics.get(name)
        with numbers.context():
            clients, solver = SQUARES.quadratic_clients(numbers), in_arithmetic(UNEQUAL, numbers)
            RH, Rc = solver.response(numbers, clients.H, clients.c, numbers.scalar(weight))
            for k in range(3):
                single = in_arithmetic(alone(k), numbers).response(
                    numbers, numbers.stack([clients.H[k]]), clients.c[[k]], numbers.scalar(weight)
                )
                assert str(RH[k]) == str(single[0][0])
                assert str(Rc[k]) == str(single[1][0])
    least, largest = np.array([0.5, 1.0, 1.5]), np.array([3.0, 4.0, 5.0])
    found = UNEQUAL.rounding(least, largest, float(weight))
    for k in range(3):
        single = alone(k).rounding(least[[k]], largest[[k]], float(weight))
        assert [part[k] for part in found] == [part[0] for part in single]
    balls = arithmetics.get("ball")
    with balls.context():
        for k in range(3):
            both = (in_arithmetic(solver, balls) for solver in (UNEQUAL, alone(k)))
            factors = [solver.contraction(LOGISTIC, k, balls.scalar(weight)) for solver in both]
            assert str(factors[0]) == str(factors[1])


def test_descent_and_averaged_maps_depend_on_the_size_of_a_step_alone():
    long = UnequalSteps(steps=STEPS, stepsize=1)
    for problem in (SQUARES, LOGISTIC):
        for solver in (UNEQUAL, long):
            single = GradientDescent(steps=max(STEPS), stepsize=solver.stepsize)
            assert solver.descends(problem, None, 0) == single.descends(problem, None, 0)
            assert solver.is_averaged(problem, 0) == single.is_averaged(problem, 0)
    assert UNEQUAL.descends(SQUARES, None, 0)
    assert not long.descends(SQUARES, None, 0)


@pytest.mark.parametrize("steps", [(), (3, 0, 1), (1, 2.5, 1), 3, "abc", None])
def test_bad_numbers_are_refused(steps):
    with pytest.raises(InvalidInput, match=r"^steps"):
        UnequalSteps(steps=steps, stepsize=S)


def test_what_is_for_equal_steps_refuses_others():
    for method, solver in (
        (fc.FedGD(stepsize=S, local_steps=STEPS), None),
        (fc.FedNova(stepsize=S, local_steps=STEPS), None),
        (fc.PFedMe(stepsize=S, local_steps=STEPS, regularization=1), None),
        (fc.FedProx(mu=1), UNEQUAL),
    ):
        with pytest.raises(InvalidInput, match="a number of local steps for every client, which is not checked"):
            check(method, init=lambda p, x: x, round=lambda p, s, a: s, server_model=lambda s: s, local_solver=solver)
    for kind in (fc.FedNova, fc.Scaffold):
        assert admissible(kind(stepsize=S, local_steps=(2, 2, 2)), SQUARES) == admissible(
            kind(stepsize=S, local_steps=2), SQUARES
        )
        with pytest.raises(InvalidInput, match="convergence"):
            admissible(kind(stepsize=S, local_steps=STEPS), SQUARES)
    assert admissible(fc.FedGD(stepsize=S, local_steps=STEPS), SQUARES) == admissible(fc.FedGD, SQUARES)
    drifting = fc.Quadratic(H=[[[0]], [[0]]], c=[[1], [-1]])  # every point is a minimiser
    admissible(fc.FedGD(stepsize=S, local_steps=2), drifting)
    with pytest.raises(InvalidInput, match="unequal local steps"):
        admissible(fc.FedGD(stepsize=S, local_steps=(2, 1)), drifting)


@pytest.mark.parametrize(
    "text", ["fedgd:local_steps=(3,1,5)", "FedGD(local_steps=[3, 1, 5])", "fedgd:local_steps=3,1,5"]
)
def test_texts_give_one_number_for_all(text):
    with pytest.raises(InvalidInput, match="method"):
        audit(SQUARES, [text], rounds=1)


def test_an_audit_of_methods_with_unequal_steps():
    many = (100_000, 1, 1)
    assert arithmetic_for(fc.FedGD(stepsize=S, local_steps=many), LOGISTIC) == "float"
    assert arithmetic_for(fc.FedGD(stepsize=S, local_steps=STEPS), LOGISTIC) == "ball"
    method = fc.FedNova(stepsize=S, local_steps=STEPS)
    found = audit(SQUARES, [method], rounds=3).methods[0]
    stop = fc.fixed_point(method, SQUARES, "exact")
    truth = floats(fc.ground_truth(SQUARES).point)
    assert np.isclose(found.bias.value, np.linalg.norm(floats(stop.point) - truth))
    assert "local_steps=(3, 1, 5)" in found.name


def test_fingerprints_tell_numbers_apart():
    methods = [fc.FedGD(stepsize=S, local_steps=steps) for steps in (3, (3,), (3, 3), (31, 5), (3, 15), (15, 3))]
    assert len({fingerprint(method, "method") for method in methods}) == len(methods)
