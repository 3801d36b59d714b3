"""Bad arguments of federated runs are refused before the first round, with argument, value and cure."""

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from run_makers import UNEQUAL, M, assert_refused, instance, no_rounds

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.methods import METHODS
from fedconvex.participation import (
    Bernoulli,
    Full,
    Participation,
    Schedule,
    Stragglers,
    Uniform,
    UniformThenWeighted,
    Weighted,
)

NAN, INF = math.nan, math.inf
LOGISTIC = fc.Logistic(UNEQUAL.A, [np.sign(b - 0.5) for b in map(np.asarray, UNEQUAL.b)], ridge=Fraction(1, 10))
BOWLS = fc.Quadratic(H=[np.eye(2)] * M, c=[np.ones(2)] * M)
SADDLE = fc.Quadratic(H=[np.diag([-2.0, 1.0]), np.eye(2)], c=[np.zeros(2)] * 2)
Call = Callable[[], Any]


def simulate(method: Any = None, problem: Any = UNEQUAL, rounds: Any = 3, *rest: Any, **options: Any) -> Call:
    method = fc.FedGD(stepsize=0.1) if method is None else method
    return lambda: fc.simulate(method, problem, rounds, *rest, **options)


# (value, as shown, piece of the cure)
NO_NUMBERS = [("0.1", "0.1", "give an int"), (True, "True", "give a number"), (None, "None", "give an int")]
NOT_FINITE = [(NAN, "nan", "finite"), (INF, "inf", "finite"), (-INF, "-inf", "finite")]
NEGATIVE = [*NO_NUMBERS, *NOT_FINITE, (-1, "-1", ">= 0"), (Fraction(-1, 9), "-1/9", ">= 0")]
NOT_POSITIVE = [(v, shown, cure.replace(">= 0", "> 0")) for v, shown, cure in NEGATIVE] + [(0, "0", "> 0")]
NOT_COUNTS = [*NO_NUMBERS, *NOT_FINITE, (0, "0", ">= 1"), (-2, "-2", ">= 1"), (1.5, "1.5", ">= 1")]
OPTIONAL_COUNTS = [bad for bad in NOT_COUNTS if bad[0] is not None]
NOT_PROBABILITIES = [*NO_NUMBERS, *NOT_FINITE, (-0.1, "-0.1", "give"), (1.1, "1.1", "give")]


def each(make: Callable[..., Any], argument: str, values: list[tuple[Any, str, str]], **others: Any) -> list[tuple]:
    return [(partial(make, **{**others, argument: v}), argument, shown, cure) for v, shown, cure in values]


SCHEMES = [
    *each(Uniform, "K", NOT_COUNTS),
    *each(UniformThenWeighted, "K", NOT_COUNTS),
    *each(Weighted, "K", NOT_COUNTS),
    *each(Bernoulli, "p", [*NOT_PROBABILITIES, (0, "0", "give 0 < p <= 1")]),
    *each(Stragglers, "fraction", NOT_PROBABILITIES),
    (partial(Stragglers, 0.5, "ignore"), "policy", "ignore", "'drop' or 'use'"),
    (partial(Stragglers, 0.5, None), "policy", "None", "'drop' or 'use'"),
    (partial(Schedule, None), "clients", "None", "give [[0, 1]]"),
    (partial(Schedule, 3), "clients", "3", "give [[0, 1]]"),
    (partial(Schedule, []), "clients", "[]", "give [[0, 1]]"),
    (partial(Schedule, "01"), "clients", "01", "give [[0, 1]]"),
    (partial(Schedule, {0: [1]}), "clients", "{0: [1]}", "give [[0, 1]]"),
    (partial(Schedule, np.array(3)), "clients", "3", "give [[0, 1]]"),
    (partial(Schedule, [0, 1]), "clients[0]", "0", "give for example [0, 2]"),
    (partial(Schedule, [[0], None]), "clients[1]", "None", "give for example [0, 2]"),
    (partial(Schedule, [[0], {1}]), "clients[1]", "{1}", "give for example [0, 2]"),
    (partial(Schedule, [[0], np.array(1)]), "clients[1]", "1", "give for example [0, 2]"),
    (partial(Schedule, [[0], [2, 1, 2]]), "clients[1]", "[2, 1, 2]", "every client once"),
    (partial(Schedule, [[0], [1, 1.0]]), "clients[1]", "[1, 1.0]", "every client once"),
    (partial(Schedule, [[0.5]]), "clients[0]", "0.5", "give clients[0] >= 0"),
    (partial(Schedule, [[], [-1]]), "clients[1]", "-1", "give clients[1] >= 0"),
    (partial(Schedule, [["0"]]), "clients[0]", "0", "give an int"),
    (partial(Schedule, [[True]]), "clients[0]", "True", "give a number"),
    (partial(Schedule, [[NAN]]), "clients[0]", "nan", "finite"),
]

ZERO_ALLOWED = {"mu", "weight_decay", "momentum", "beta1", "beta2", "initial"}
NONE_ALLOWED = {("FedADMM", "server_stepsize"), *((name, "initial") for name in ("FedAdagrad", "FedAdam", "FedYogi"))}


def numbers_of(kind: type) -> list[tuple]:
    """Every number that a method or local solver takes, each with all that it must not be."""
    names = [f.name for f in fields(kind) if f.metadata.get("number")]
    required = dict.fromkeys((f.name for f in fields(kind) if f.metadata.get("number") and f.default is MISSING), 1)
    required |= {"steps": 1} if kind in (fc.SGD, fc.GradientDescent) else {}
    cases = []
    for name in names:
        free = name in ZERO_ALLOWED or (kind is fc.Ditto and name == "regularization")
        bad = NEGATIVE if free else NOT_POSITIVE
        cases += each(
            kind,
            name,
            [case for case in bad if case[0] is not None or (kind.__name__, name) not in NONE_ALLOWED],
            **required,
        )
    return cases


KINDS = {name: kind for name, kind in METHODS.items() if is_dataclass(kind)}  # a test below says: all of them
METHOD_NUMBERS = [case for kind in KINDS.values() for case in numbers_of(kind)]
METHOD_OPTIONS = [
    *each(fc.FedGD, "local_steps", NOT_COUNTS, stepsize=1),
    *each(fc.FedNova, "local_steps", NOT_COUNTS, stepsize=1),
    *each(fc.Scaffold, "local_steps", NOT_COUNTS, stepsize=1),
    *each(fc.Scaffold, "option", [(v, str(v), "give 1") for v in (3, 0, -1, "1", None, 1.5)], stepsize=1),
    *each(fc.AdaptiveFedProx, "falls", NOT_COUNTS, mu=1),
    *each(fc.FedAvg, "epochs", [*OPTIONAL_COUNTS, (None, "None", "give epochs")], stepsize=1),
    *each(fc.FedAvg, "batch_size", OPTIONAL_COUNTS, stepsize=1),
    *each(fc.FedAvg, "clip", [bad for bad in NOT_POSITIVE if bad[0] is not None], stepsize=1),
    *each(fc.FedSGD, "batch_size", OPTIONAL_COUNTS, stepsize=1),
    *each(fc.FedPD, "skip", [*NOT_PROBABILITIES, (1, "1", "0 <= skip < 1")], eta=1),
    *each(fc.Scaffnew, "probability", [(v, str(v), "0 < probability <= 1") for v in (2, Fraction(3, 2))], stepsize=1),
    *each(fc.FedSplit, "start", [(v, str(v), "'center', 'server' or 'warm'") for v in ("zero", None, 1)], stepsize=1),
    *each(fc.FedSplit, "server", [(v, str(v), "'all' or 'active'") for v in ("none", None, 1)], stepsize=1),
]

NOT_GAMMAS = [*NOT_FINITE, (2, "2", "gamma <= 1"), (-0.1, "-0.1", "gamma <= 1"), ("x", "x", "give an int")]
NOT_GAMMAS += [
    ([0.5, 2], "2", "gamma <= 1"),
    ([0.5, "x"], "x", "give an int"),
    ([[0.5], [0.5]], "[0.5]", "give an int"),
]
SOLVERS = [
    *numbers_of(fc.SGD),
    *numbers_of(fc.GradientDescent),
    *each(fc.GradientDescent, "steps", NOT_COUNTS, stepsize=1),
    *each(fc.SGD, "epochs", OPTIONAL_COUNTS, stepsize=1),
    *each(fc.SGD, "steps", OPTIONAL_COUNTS, stepsize=1),
    *each(fc.SGD, "batch_size", OPTIONAL_COUNTS, epochs=1, stepsize=1),
    *each(fc.SGD, "momentum", [(v, str(v), "give 0 <= momentum < 1") for v in (1, 1.5)], epochs=1, stepsize=1),
    *each(fc.SGD, "clip", [bad for bad in NOT_POSITIVE if bad[0] is not None], epochs=1, stepsize=1),
    (partial(fc.SGD, stepsize=1), "epochs", "None", "give epochs or steps"),
    (partial(fc.SGD, epochs=2, steps=3, stepsize=1), "epochs", "2", "give epochs or steps"),
    *each(fc.ToInexactness, "gamma", [*NOT_GAMMAS, (None, "None", "give an int"), (True, "True", "give a number")]),
    *each(fc.ToInexactness, "max_steps", NOT_COUNTS, gamma=0.5),
    *each(fc.AcceleratedGradient, "tolerance", NOT_POSITIVE),
    *each(fc.AcceleratedGradient, "max_steps", NOT_COUNTS),
    *each(fc.Newton, "tolerance", NOT_POSITIVE),
    *each(fc.Newton, "max_steps", NOT_COUNTS),
]

PROX, SKIPPING = fc.FedProx(mu=1), fc.FedPD(eta=1, skip=0.5)
USE, DROP = Stragglers(0.5, "use"), Stragglers(0.5, "drop")
SGD = fc.SGD(epochs=1, stepsize=0.1)
CALLS = [
    (simulate(participation=Uniform(M + 1)), "K", "5", "give K <= 4"),
    (simulate(participation=UniformThenWeighted(99)), "K", "99", "give K <= 4"),
    (simulate(participation=Uniform(5), rounds=0), "K", "5", "give K <= 4"),
    (simulate(participation=Schedule([[0], [0, 4]]), rounds=2), "clients[1]", "[0, 4]", "name only these"),
    (simulate(participation=Schedule([[0], [4]]), rounds=1), "clients[1]", "[4]", "name only these"),
    (simulate(participation=Schedule([[0], [1]])), "rounds", "3", "add to the schedule, or run 2 rounds"),
    (simulate(participation=Uniform), "participation", "Uniform", "give participation.Full()"),
    (simulate(participation=[[0], [1], [2]]), "participation", "[[0], [1], [2]]", "give participation.Full()"),
    (simulate(participation=2), "participation", "2", "give participation.Full()"),
    (simulate(participation=DROP), "participation", "Stragglers", "give participation.Full()"),
    (simulate(stragglers=0.5), "stragglers", "0.5", "Stragglers(fraction=…)"),
    (simulate(stragglers=Stragglers), "stragglers", "Stragglers", "Stragglers(fraction=…)"),
    (simulate(stragglers="drop"), "stragglers", "drop", "Stragglers(fraction=…)"),
    (simulate(stragglers=Uniform(2)), "stragglers", "Uniform(K=2)", "Stragglers(fraction=…)"),
    (simulate(PROX, stragglers=USE), "local_solver", "Exact()", "policy='drop'"),
    (simulate(PROX, stragglers=USE, local_solver=fc.Newton()), "local_solver", "Newton", "policy='drop'"),
    (simulate(measure="loss"), "measure", "loss", "inexactness, drift, control_error"),
    (simulate(measure="gap"), "measure", "gap", "to_frame()"),
    (simulate(measure=["drift", "value"]), "measure", "value", "to_frame()"),
    (simulate(measure=["drift", 3]), "measure", "3", "inexactness, drift, control_error"),
    (simulate(measure=["all"]), "measure", "all", "inexactness, drift, control_error"),
    (simulate(measure=3), "measure", "3", "inexactness, drift, control_error"),
    (simulate(measure=True), "measure", "True", "inexactness, drift, control_error"),
    (simulate(checkpoint=3), "checkpoint", "3", "give such as 'run.npz'"),
    (simulate(checkpoint=b"run.npz"), "checkpoint", "run.npz", "give such as 'run.npz'"),
    (simulate(checkpoint="a\0b"), "checkpoint", "a", "give"),
    (simulate(checkpoint=""), "checkpoint", "is a folder", "give the path of a file"),
    *[(simulate(checkpoint_every=v), "checkpoint_every", shown, cure) for v, shown, cure in NOT_COUNTS],
    *[(simulate(seed=v), "seed", shown, "give") for v, shown, _ in NEGATIVE],
    *[(simulate(rounds=v), "rounds", shown, "give") for v, shown, _ in NEGATIVE],
    *[(simulate(arithmetic="ball", precision=v), "precision", shown, "give") for v, shown, _ in NOT_COUNTS],
    (simulate(local_solver=fc.SGD), "local_solver", "SGD", "give for example fedconvex.Exact()"),
    (simulate(local_solver=SGD, problem=BOWLS), "local_solver", "SGD", "use GradientDescent"),
    (simulate(fc.FedAvg(stepsize=1), problem=BOWLS), "local_solver", "SGD", "use GradientDescent"),
    (simulate(fc.FedSGD(stepsize=1, batch_size=2), problem=BOWLS), "local_solver", "SGD", "use GradientDescent"),
    (simulate(fc.FedNova(stepsize=1), local_solver=fc.Exact()), "local_solver", "Exact()", "GradientDescent(…)"),
    (simulate(fc.Scaffold(stepsize=1), local_solver=fc.Newton()), "local_solver", "Newton", "GradientDescent(…)"),
    (simulate(PROX, local_solver=fc.ToInexactness([0.5, 0.5])), "gamma", "(0.5, 0.5)", "give one number, or 4"),
    (simulate(PROX, local_solver=fc.ToInexactness([])), "gamma", "()", "give one number, or 4"),
    (simulate(PROX, SADDLE, local_solver=fc.ToInexactness(0.5)), "proximal", "1.0", "raise it above 2"),
    (simulate(PROX, SADDLE, local_solver=fc.Newton()), "proximal", "1.0", "raise it above 2"),
    (simulate(PROX, SADDLE, local_solver=fc.AcceleratedGradient()), "proximal", "1.0", "raise it above 2"),
    (simulate(fc.FedDyn(alpha=1), SADDLE), "proximal", "1.0", "raise it above 2"),
    (simulate(fc.FedPD(eta=1), SADDLE), "proximal", "1.0", "raise it above 2"),
    (simulate(fc.DANE(mu=1), SADDLE), "proximal", "1.0", "raise it above 2"),
    (simulate(SKIPPING, participation=Uniform(2)), "participation", "2", "give participation.Full()"),
    (simulate(SKIPPING, participation=Bernoulli(0.9)), "participation", "", "give participation.Full()"),
    (simulate(SKIPPING, stragglers=DROP), "", "", "skip=0"),
    (simulate(PROX, local_solver=fc.Newton(), arithmetic="exact"), "local_solver", "Newton", "use Exact()"),
    (simulate(PROX, local_solver=fc.AcceleratedGradient(), arithmetic="exact"), "local_solver", "Acc", "use Exact()"),
    (simulate(PROX, local_solver=fc.ToInexactness(0.5), arithmetic="ball"), "arithmetic", "ball", "'exact' or 'float'"),
]


def name_of(value: Any) -> str | None:
    if isinstance(value, partial):
        given = ", ".join([*map(repr, value.args), *(f"{k}={v!r}" for k, v in value.keywords.items())])
        return f"{value.func.__name__}({given})"
    return None if isinstance(value, str) else "run"


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize(
    ("call", "argument", "shown", "cure"), [*SCHEMES, *METHOD_NUMBERS, *METHOD_OPTIONS, *SOLVERS], ids=name_of
)
def test_values_are_refused_where_they_are_given(call, argument, shown, cure) -> None:
    assert argument in assert_refused(call, shown, cure).argument


@pytest.mark.parametrize(("call", "argument", "shown", "cure"), CALLS, ids=name_of)
def test_runs_are_refused_before_a_round_is_played(call, argument, shown, cure, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    with no_rounds():
        assert argument in assert_refused(call, shown, cure).argument
    assert list(tmp_path.iterdir()) == []


def test_the_watch_sees_rounds() -> None:
    with no_rounds(), pytest.raises(pytest.fail.Exception, match="a round was played"):
        simulate()()


def test_every_method_and_every_number_is_tried() -> None:
    tried = {(call.func.__name__, argument) for call, argument, *_ in METHOD_NUMBERS}
    assert {name for name, _ in tried} == set(METHODS)
    assert {("FedDyn", "alpha"), ("Scaffold", "server_stepsize"), ("FedAvg", "decay"), ("DANE", "eta")} <= tried


@pytest.mark.beyond_core  # starts a process
def test_also_where_assertions_are_off() -> None:
    """python -O leaves them out."""
    text = "import fedconvex as fc; fc.FedSGD(stepsize=-1)"
    ran = subprocess.run([sys.executable, "-O", "-c", text], capture_output=True, text=True, check=False)
    assert "InvalidInput: stepsize = -1: must be positive; give stepsize > 0" in ran.stderr


ACCEPTED = [
    partial(Uniform, 2.0),
    partial(Weighted, np.int64(9)),
    partial(UniformThenWeighted, Fraction(2)),
    partial(Bernoulli, Fraction(1, 10**6)),
    partial(Bernoulli, 1),
    partial(Bernoulli, np.float32(0.5)),
    partial(Schedule, [[]]),
    partial(Schedule, [range(3), (1, 0), np.array([2.0])]),
    partial(Schedule, np.eye(2, dtype=int)),
    partial(Stragglers, 0),
    partial(Stragglers, 1, "drop"),
    partial(Stragglers, Fraction(1, 3)),
    partial(fc.FedProx, mu=0),
    partial(fc.FedPD, eta=1, skip=0),
    partial(fc.FedPD, eta=1, skip=Fraction(99, 100)),
    partial(fc.FedAvg, stepsize=1, batch_size=None, clip=0.5, weight_decay=0),
    partial(fc.Scaffold, stepsize=1, option=1),
    partial(fc.ToInexactness, 0),
    partial(fc.ToInexactness, [0, 1, Fraction(1, 2)]),
    partial(fc.ToInexactness, np.array(0.5)),
    partial(fc.SGD, steps=1, batch_size=None, stepsize=1e-300),
    partial(fc.SGD, epochs=2.0, stepsize=1),
    simulate(participation=Weighted(M + 1)),
    simulate(participation=Uniform(M)),
    simulate(participation=Schedule([[0]] * 9)),
    simulate(participation=Schedule([[]] * 3)),
    simulate(participation=Schedule([[0]]), rounds=1),
    simulate(measure=[]),
    simulate(measure=("drift", "drift")),
    simulate(measure="all"),
    simulate(checkpoint_every=10.0),
    simulate(seed=2**200),
    simulate(stragglers=USE),
    simulate(PROX, stragglers=DROP),
    simulate(PROX, stragglers=USE, local_solver=SGD),
    simulate(SKIPPING),
    simulate(SKIPPING, participation=Schedule([range(M)] * 3)),
    simulate(fc.Scaffold(stepsize=1, option=1), local_solver=fc.Exact(), problem=BOWLS),
    simulate(problem=LOGISTIC),
    simulate(fc.FedAvg(stepsize=0.1), LOGISTIC, participation=Uniform(2)),
    simulate(fc.FedDyn(alpha=3), SADDLE),
    simulate(PROX, local_solver=fc.ToInexactness([0.5] * M), participation=Uniform(2)),
    simulate(PROX, local_solver=fc.ToInexactness(Fraction(1, 2)), arithmetic="exact"),
    *[simulate(instance(name)) for name in KINDS],
]


@pytest.mark.parametrize("call", ACCEPTED, ids=name_of)
def test_good_input_next_to_it_is_not(call) -> None:
    call()


class TestSchemesOfOnesOwn:
    def test_arrays_that_are_used_again(self) -> None:
        """A scheme may overwrite and hand out the same array in every round."""

        class Rotating(Participation):
            def __init__(self, fresh: bool) -> None:
                self.members, self.fresh = np.zeros(1, dtype=np.int64), fresh

            def draw(self, problem: Any, seed: int, round: int, purpose: Any = None) -> Any:
                self.members[0] = round % M
                return fc.participation.Draw(
                    self.members.copy() if self.fresh else self.members, round=round, seed=seed
                )

        runs = [fc.simulate(fc.FedGD(stepsize=0.1), UNEQUAL, 4, Rotating(fresh)).points for fresh in (True, False)]
        assert np.array_equal(*runs)
        schedule = Schedule([[0], [1], [2], [3]])
        assert np.array_equal(runs[0], fc.simulate(fc.FedGD(stepsize=0.1), UNEQUAL, 4, schedule).points)

    def test_without_fields_no_checkpoint(self, tmp_path) -> None:
        """What determines the draws cannot be read off an object that is no dataclass."""

        class Mine(Participation):
            def draw(self, problem: Any, seed: int, round: int, purpose: Any = None) -> Any:
                return Full().draw(problem, seed, round)

        fc.simulate(fc.FedGD(stepsize=0.1), UNEQUAL, 2, Mine())
        with pytest.raises(InvalidInput) as caught:
            fc.simulate(fc.FedGD(stepsize=0.1), UNEQUAL, 2, Mine(), checkpoint=tmp_path / "run")
        assert "participation" in caught.value.argument
        assert "dataclass" in str(caught.value)
