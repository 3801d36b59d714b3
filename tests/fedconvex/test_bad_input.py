"""Bad input is refused before any work, by an error that names the argument, its value and the cure."""

import copy
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import flint
import numpy as np
import pytest
from run_makers import assert_refused

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.validation import non_negative, positive

A, B = [np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, 0.0]])], [np.array([1.0, 2.0]), np.array([3.0])]
SIGNS, CLASSES = [np.array([1, -1]), np.array([1])], [np.array([0, 2]), np.array([1])]
EYES, ZEROS = [np.eye(2), np.eye(2)], [np.zeros(2), np.zeros(2)]
NAN, INF = math.nan, math.inf

LEAST = fc.LeastSquares(A=A, b=B)
LOGISTIC = fc.Logistic(A=A, y=SIGNS, ridge=0.1)
SADDLE = fc.Quadratic(H=[np.diag([-2.0, 1.0]), np.eye(2)], c=ZEROS)
GD, PROX, SPLIT = fc.FedGD(stepsize=0.1, local_steps=2), fc.FedProx(mu=1), fc.FedSplit(stepsize=1)


def with_entry(value: Any) -> list[np.ndarray]:
    changed = copy.deepcopy(A)
    changed[0][1, 0] = value
    return changed


def with_defaults(make: Callable[..., Any], **given: Any) -> Callable[..., Callable[[], Any]]:
    return lambda **changes: partial(make, **{**given, **changes})


least = with_defaults(fc.LeastSquares, A=A, b=B)
logistic = with_defaults(fc.Logistic, A=A, y=SIGNS)
multinomial = with_defaults(fc.MultinomialLogistic, A=A, y=CLASSES, num_classes=3)
quadratic = with_defaults(fc.Quadratic, H=EYES, c=ZEROS)


def simulate(method: Any = GD, problem: Any = LEAST, rounds: Any = 1, **options: Any) -> Callable[[], Any]:
    return lambda: fc.simulate(method, problem, rounds=rounds, **options)


def fixed_point(method: Any, problem: Any = LEAST, **options: Any) -> Callable[[], Any]:
    return lambda: fc.fixed_point(method, problem, **options)


# (call, argument, value as shown, piece of the cure)
DATA = [
    (least(A=[A[0], [[1, 2], [3]]]), "A[1]", "[[1, 2], [3]]", "rows of equal length"),
    (least(A=[A[0], np.ones((1, 3))]), "A[1]", "(1, 3)", "equal columns"),
    (least(A=with_entry(NAN)), "A[0][1, 0]", "nan", "remove or fill"),
    (least(A=with_entry(-INF)), "A[0][1, 0]", "inf", "remove or fill"),
    (least(b=[np.array([1.0, INF]), B[1]]), "b[0][1]", "inf", "remove or fill"),
    (least(A=[[[Fraction(1), NAN]], A[1]], b=[[1], [1]]), "A[0]", "nan", "give a finite number"),
    (least(A=[np.zeros((0, 2)), A[1]], b=[[], [1]]), "A[0]", "(0, 2)", "drop the empty client"),
    (least(A=[np.zeros((1, 0))], b=[[1]]), "A[0]", "(1, 0)", "equal columns"),
    (least(A=[], b=[]), "A", "[]", "at least one client"),
    (least(A=None), "A", "None", "A = [A_1, …]"),
    (least(A="data.csv"), "A", "data.csv", "A = [A_1, …]"),
    (least(A=[[["1", "2"]], A[1]]), "A[0]", "<U1", "give numbers"),
    (least(A=[[[None, 1]], A[1]]), "A[0]", "None", "give an int, Fraction, fmpq or float"),
    (least(A=[np.array([[1j, 0]]), A[1]]), "A[0]", "complex", "give numbers"),
    (least(A=[np.array([[True, False]]), A[1]]), "A[0]", "bool", "give numbers"),
    (least(b=[B[0]]), "b", "1 entries", "one b per client"),
    (least(b=[B[0][:1], B[1]]), "b[0]", "length 1", "one entry a row"),
    (least(weights=[1, -1]), "weights[1]", "-1", "weights >= 0"),
    (least(weights=[0, 0.0]), "weights", "[0, 0.0]", "a positive weight"),
    (least(weights=[1, 2, 3]), "weights", "[1, 2, 3]", "correct its length"),
    (least(weights=[1, NAN]), "weights[1]", "nan", "finite"),
    (least(weights=["1", "2"]), "weights[0]", "1", "give an int"),
    (least(weights=[[1], [1, 2]]), "weights", "[[1], [1, 2]]", "correct"),
    (quadratic(H=[np.array([[1.0, 2.0], [2.5, 1.0]]), EYES[1]]), "H[0][0, 1] = ", "H[0][1, 0] = 2.5", "(H + Hᵀ)/2"),
    (quadratic(H=[EYES[0], np.eye(3)]), "H[1]", "(3, 3)", "one row and one column"),
    (quadratic(H=[np.ones((2, 3)), EYES[1]]), "H[0]", "(2, 3)", "one row and one column"),
    (quadratic(H=[np.diag([NAN, 1]), EYES[1]]), "H[0][0, 0]", "nan", "remove or fill"),
    (quadratic(H=[np.zeros((0, 0))], c=[[]]), "H[0]", "(0, 0)", "one row and one column"),
    (quadratic(c=[np.zeros(3), ZEROS[1]]), "c[0]", "(3,)", "one entry per unknown"),
    (logistic(y=[np.array([1, 0]), SIGNS[1]]), "y[0][1]", "0", "map the two classes to −1 and +1"),
    (logistic(y=[SIGNS[0], np.array([1.5])]), "y[1][0]", "1.5", "map the two classes to −1 and +1"),
    (logistic(y=[SIGNS[0], np.array([NAN])]), "y[1][0]", "nan", "remove or fill"),
    (logistic(y=[["yes", "no"], ["yes"]]), "y[0]", "<U", "give numbers"),
    (logistic(ridge=-0.1), "ridge", "-0.1", "ridge >= 0"),
    (logistic(ridge=NAN), "ridge", "nan", "finite"),
    (logistic(ridge="small"), "ridge", "small", "give an int"),
    (multinomial(y=[np.array([0, 3]), CLASSES[1]]), "y[0][1]", "3", "number the classes from 0"),
    (multinomial(y=[np.array([-1, 1]), CLASSES[1]]), "y[0][0]", "-1", "number the classes from 0"),
    (multinomial(y=[CLASSES[0], np.array([1.5])]), "y[1][0]", "1.5", "number the classes from 0"),
    (multinomial(num_classes=1), "num_classes", "1", "num_classes >= 2"),
    (multinomial(num_classes=2.5), "num_classes", "2.5", "num_classes >= 2"),
    (multinomial(A=[np.zeros((0, 2)), A[1]], y=[[], [1]]), "A[0]", "(0, 2)", "drop the empty client"),
]  # fmt: skip

CALLS = [
    (simulate(rounds=-1), "rounds", "-1", "rounds >= 0"),
    (simulate(rounds=1.5), "rounds", "1.5", "rounds >= 0"),
    (simulate(seed=-1), "seed", "-1", "seed >= 0"),
    (simulate(participation="everyone"), "participation", "everyone", "participation.Full()"),
    (simulate(local_solver="exact"), "local_solver", "exact", "Exact()"),
    (simulate(x0=np.zeros(3)), "x0", "(3,)", "reshape"),
    (simulate(x0=np.zeros((1, 2))), "x0", "(1, 2)", "reshape"),
    (simulate(x0=[NAN, 0]), "x0", "nan", "finite"),
    (simulate(x0=[0, INF], arithmetic="exact"), "x0", "inf", "finite"),
    (simulate(x0=[0, NAN], arithmetic="ball"), "x0", "nan", "finite"),
    (simulate(x0=["a", "b"]), "x0", "a", "give"),
    (simulate(x0=[[1], [1, 2]]), "x0", "[[1], [1, 2]]", "give"),
    (simulate(x0=[1j, 0]), "x0", "1j", "give"),
    (simulate(arithmetic="rational"), "arithmetic", "rational", "float, exact, ball, torch"),
    (simulate(arithmetic="exact", problem=LOGISTIC), "arithmetic", "exact", "arithmetic='ball'"),
    (fixed_point(PROX, LOGISTIC, arithmetic="exact"), "arithmetic", "exact", "arithmetic='ball'"),
    (fixed_point(PROX, local_solver="exact"), "local_solver", "exact", "Exact()"),
    (simulate(LEAST, LEAST), "method", "LeastSquares", "FedProx(mu=1)"),
    (fixed_point(LEAST, LEAST), "method", "LeastSquares", "FedProx(mu=1)"),
    (simulate(PROX, "diabetes"), "problem", "diabetes", "LeastSquares("),
    (lambda: fc.ground_truth(PROX), "problem", "FedProx(mu=1)", "LeastSquares("),
    (lambda: fc.ground_truth(LEAST, solver="sgd"), "solver", "sgd", "newton, cvxpy"),
    (lambda: fc.dissimilarity(np.zeros(2), LEAST), "problem", "array([0., 0.])", "LeastSquares("),
    (lambda: fc.dissimilarity(LEAST, np.zeros(3)), "x", "(3,)", "reshape"),
    (lambda: fc.gradient_variance(LEAST, np.zeros((2, 2))), "x", "(2, 2)", "reshape"),
    (lambda: LEAST.value(np.zeros(3)), "x", "(3,)", "reshape"),
    (lambda: LEAST.gradient(np.zeros((2, 2))), "x", "(2, 2)", "must have shape (2,)"),
    (lambda: LEAST.client_values(np.zeros((3, 2))), "x", "(3, 2)", "must have shape (2,) or (2, 2)"),
    (lambda: LEAST.client_gradients(np.zeros((3, 2))), "x", "(3, 2)", "reshape"),
    (simulate(PROX, SADDLE), "mu", "1.0", "raise it above 2"),
    (fixed_point(fc.FedProx(mu=2), SADDLE), "mu", "2.0", "raise it above 2"),
    (simulate(SPLIT, SADDLE), "1/stepsize", "1.0", "raise it above 2"),
    (simulate(PROX, SADDLE, arithmetic="exact"), "mu", "1.0", "client 0"),
    (simulate(GD, fc.LeastSquares(A=[[[1, 1]]], b=[[1]]), local_solver=fc.Exact()), "weight", "0.0", "client 0"),
]


@pytest.mark.parametrize(("call", "argument", "shown", "cure"), [*DATA, *CALLS])
def test_bad_input_is_refused(call: Callable[[], Any], argument: str, shown: str, cure: str) -> None:
    assert_refused(call, argument, shown, cure)


@pytest.mark.parametrize("endless", [flint.arb("inf"), flint.arb("nan"), flint.arb(0, "inf")], ids=str)
def test_a_ball_that_is_not_finite_is_no_parameter(endless: flint.arb) -> None:
    for check in (positive, non_negative):
        with pytest.raises(InvalidInput, match=r"mu = .*; give mu >"):
            check(endless, "mu")
        assert check(flint.arb(2), "mu") == 2


@pytest.mark.parametrize(
    "call", [simulate(rounds=10**5000), simulate(seed=10**5000), lambda: positive([10**5000], "x")]
)
def test_integers_of_thousands_of_digits_are_refused_in_errors_that_show_themselves(call: Callable[[], Any]) -> None:
    """Python does not write them: its own error must come neither from a message nor from an error's `repr`."""
    with pytest.raises(InvalidInput, match="= a number of thousands of digits: is") as caught:
        call()
    assert repr(caught.value) == f"InvalidInput({str(caught.value)!r})"


def test_long_values_are_shortened() -> None:
    with pytest.raises(InvalidInput, match=r"^weights = .{,90}…: must") as caught:
        fc.LeastSquares(A=A, b=B, weights=list(range(1000)))
    assert len(str(caught.value)) < 250


ACCEPTED = [
    least(weights=[0, 1e-300]), least(A=with_entry(1e300)), least(A=np.ones((2, 1, 2)), b=np.ones((2, 1))),
    least(A=[[[1, 2]], A[1]], b=[(1,), [Fraction(1, 3)]]), quadratic(H=[np.diag([1, Fraction(-1, 3)]), EYES[1]]),
    logistic(y=[[1.0, -1.0], [1]]), logistic(ridge=0), multinomial(num_classes=np.int64(3)), multinomial(num_classes=7),
    partial(fc.FedGD, stepsize=1e-300, local_steps=np.int64(3)), partial(fc.FedProx, mu=Fraction(1, 10**400)),
    simulate(rounds=0), simulate(rounds=np.int32(2)), simulate(x0=[1, 2]), simulate(GD, SADDLE),
    simulate(participation=fc.participation.Full()), simulate(fc.FedProx(mu=2 + 1e-9), SADDLE),
    simulate(fc.FedGD(stepsize=0.1, local_steps=2.0)), fixed_point(fc.FedGD(stepsize=0.1, local_steps=Fraction(2))),
    fixed_point(fc.FedGD(stepsize=10)),
]  # fmt: skip


@pytest.mark.parametrize("call", ACCEPTED)
def test_good_input_next_to_it_is_not(call: Callable[[], Any]) -> None:
    call()


X = np.array([0.5, -1.0])
PROBLEMS = {
    "least squares": (fc.LeastSquares, {"A": A, "b": B}),
    "quadratic": (fc.Quadratic, {"H": [2 * EYES[0], EYES[1]], "c": [np.ones(2), np.arange(2)]}),
    "exact": (fc.Quadratic, {"H": [np.diag([Fraction(1, 3), 1])], "c": [np.array([Fraction(1), 1])]}),
    "logistic": (fc.Logistic, {"A": A, "y": SIGNS, "ridge": 0.1}),
    "multinomial": (fc.MultinomialLogistic, {"A": A, "y": CLASSES, "num_classes": 3, "ridge": 0.1}),
}


def facts(problem: Any) -> list[Any]:
    x = np.resize(X, problem.dim)
    weights = problem.weights.tolist()
    return [problem.value(x), *problem.gradient(x), *problem.L, *problem.mu, *weights, *problem.hessian(x).ravel()]


@pytest.mark.parametrize("kind", PROBLEMS)
def test_problems_do_not_share_the_users_arrays(kind: str) -> None:
    make, given = PROBLEMS[kind]
    given = copy.deepcopy(given)
    given["weights"] = np.array([1.0, 2.0][: len(given.get("A", given.get("H", [])))])
    kept = copy.deepcopy(given)
    problem, expected = make(**given), facts(make(**kept))
    assert str(given) == str(kept)  # the constructor changes nothing
    for value in given.values():
        for array in value if isinstance(value, list) else []:
            array += 1
    given["weights"] *= [3.0, 1.0][: len(given["weights"])]
    assert facts(problem) == expected
    assert kind == "exact" or facts(make(**{**kept, "weights": given["weights"]})) != expected  # it would be noticed


@pytest.mark.parametrize("kind", PROBLEMS)
def test_answers_can_be_changed_without_changing_the_problem(kind: str) -> None:
    make, given = PROBLEMS[kind]
    problem = make(**given)
    expected, x = facts(problem), np.resize(X, problem.dim)
    for answer in (problem.L, problem.mu, problem.weights, problem.client_hessians(x), problem.client_gradients(x)):
        if answer.flags.writeable:
            answer += 1
    assert facts(problem) == expected
    for call in (lambda: fc.ground_truth(problem).point, lambda: fc.fixed_point(PROX, problem).point):
        point = call()
        kept = point.copy()
        if point.flags.writeable:
            point += 1
        assert np.array_equal(call(), kept)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_calls_change_no_argument(kind: str) -> None:
    make, given = PROBLEMS[kind]
    kept = copy.deepcopy(given)
    problem = make(**given)
    expected, x = facts(problem), np.resize(X, problem.dim)
    for method in (GD, PROX, SPLIT):
        fc.simulate(method, problem, rounds=2, x0=x)
        fc.fixed_point(method, problem)
    fc.dissimilarity(problem, x)
    fc.gradient_variance(problem, x)
    assert np.array_equal(x, np.resize(X, problem.dim))
    assert str(given) == str(kept)
    assert facts(problem) == expected


def test_values_are_shown_as_numbers_not_as_machine_types() -> None:
    with pytest.raises(InvalidInput) as caught:
        fc.Logistic(A=[[[1.0]]], y=[[0]])
    assert str(caught.value).startswith("y[0][0] = 0: ")
