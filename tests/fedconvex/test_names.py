"""Misspelt names get the nearest known one, in Python and on the command line; the other order is understood."""

import copy
import inspect
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from command_runner import running
from hypothesis import given
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex import data, names, participation, strategies, testing
from fedconvex.audit import audit
from fedconvex.audit.methods import FEDAVG, read_method, read_parameters
from fedconvex.audit.report import to_dictionary
from fedconvex.errors import InvalidInput, UnknownKeyword
from fedconvex.local_solvers import LOCAL_SOLVERS
from fedconvex.methods import METHODS
from fedconvex.proofs_checks import SmoothStronglyConvex, worst_case
from fedconvex.theory import bounds_for, fedprox

PAIR = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])
METHOD = fc.FedProx(mu=1)
run = running()


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("fedporx", ["fedavg", "fedprox", "fedsplit"], "fedprox"),
        ("Lminus", ["mu", "L", "L_minus", "B"], "L_minus"),
        ("l-minus", ["L", "L_minus"], "L_minus"),
        ("Mu", ["mu", "gamma"], "mu"),
        ("FEDPROX", ["FedProx", "FedPD"], "FedProx"),
    ],
)
def test_the_nearest_name(name: str, known: list[str], found: str) -> None:
    assert names.nearest(name, known) == [found]


def test_nothing_is_near_what_is_far() -> None:
    assert names.nearest("banana", ["mu", "L"]) == []
    assert names.suggestion("banana", ["mu", "L"]) == ""
    assert names.one_of("banana", ["mu", "L"]) == "give one of mu, L"


@given(st.text(max_size=300), st.lists(st.text(max_size=20)))
def test_only_known_names_are_suggested(name: str, known: list[str]) -> None:
    assert set(names.nearest(name, known, 3)) <= set(known)
    assert len(names.nearest(name, known, 3)) <= 3


def swapped(name: str) -> str:
    """Two letters of it exchanged."""
    return name[0] + name[2] + name[1] + name[3:] if len(name) > 2 else name.swapcase()


CLASSES = {**METHODS, **LOCAL_SOLVERS, "LeastSquares": fc.LeastSquares, "Logistic": fc.Logistic}


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_names_the_nearest_of_its_keywords(name: str) -> None:
    for keyword in inspect.signature(CLASSES[name]).parameters:
        with pytest.raises(UnknownKeyword) as error:
            CLASSES[name](**{f"{keyword}_": 1, "nonsense": 2})
        assert f"did you mean {keyword}?" in str(error.value)
        assert isinstance(error.value, TypeError)  # as Python's own
        assert isinstance(error.value, InvalidInput)


def test_signatures_pickles_and_copies_are_as_before() -> None:
    assert list(inspect.signature(fc.FedGD).parameters) == ["stepsize", "local_steps"]
    assert pickle.loads(pickle.dumps(METHOD)) == METHOD == copy.deepcopy(METHOD)  # noqa: S301 - our own bytes
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'mu'"):
        fc.FedProx()


NEAREST: dict[str, Any] = {
    "^rouns = .*rounds": lambda: fc.simulate(METHOD, PAIR, rouns=3),
    "^arithmetik = .*arithmetic": lambda: fc.fixed_point(METHOD, PAIR, arithmetik="exact"),
    "^solvr = .*solver": lambda: fc.ground_truth(PAIR, solvr="newton"),
    "^tolerence = .*tolerance": lambda: audit(PAIR, tolerence=1),
    "^clints = .*clients": lambda: data.load("diabetes", clints=3),
    "^metrik = .*metric": lambda: worst_case(METHOD, SmoothStronglyConvex(mu=1, L=4), metrik="gap"),
    "^Lminus = .*L_minus": lambda: fedprox.rho(mu=1, L=1, Lminus=0, B=1, gamma=0, K=1),
    "^l_minus = .*L_minus": lambda: bounds_for(METHOD, PAIR, l_minus=0),
    "^progres = .*progress": lambda: fc.sweep(METHOD, PAIR, rounds=1, progres=False),
    "^tolerence = .* tolerance": lambda: fc.recommend(None, tolerence=1),
    "^methd = .*method": lambda: fc.diagnose([], methd=1),
    "^standardise = .*standardize": lambda: data.from_frame(None, standardise=True),
    "exact": lambda: fc.fixed_point(METHOD, PAIR, arithmetic="exakt"),
    "newton": lambda: fc.ground_truth(PAIR, solver="newtn"),
    "distance": lambda: worst_case(METHOD, SmoothStronglyConvex(mu=1, L=4), metric="distanc"),
    "dirichlet": lambda: data.diabetes(partition="dirichlett:1"),
    "diabetes": lambda: data.load("diabetis"),
    "active": lambda: fc.FedSplit(stepsize=1, server="activ"),
    "drop": lambda: participation.Stragglers(0.5, policy="drp"),
    "inexactness": lambda: fc.simulate(METHOD, PAIR, 1, measure="inexactnes"),
    "gradient_norm": lambda: fc.simulate(METHOD, PAIR, 1).to_frame("gradient-norm"),
    "fedprox": lambda: audit(PAIR, ["fedporx:mu=1"]),
    "local_steps": lambda: audit(PAIR, ["fedgd:local_step=3"]),
}


@pytest.mark.parametrize("words", NEAREST)
def test_functions_name_the_nearest_of_their_keywords_and_choices(words: str) -> None:
    *argument, meant = words.rpartition(".*")
    with pytest.raises(InvalidInput, match=rf"{''.join(argument)}did you mean {meant.strip()}\?"):
        NEAREST[words]()


def test_attributes_name_the_nearest() -> None:
    for module, name, meant in (
        (fc, "Fedprox", "FedProx"),
        (fc, "simulat", "simulate"),
        (data, "diabetis", "diabetes"),
    ):
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; did you mean {meant}\?"):
            getattr(module, name)
    with pytest.raises(AttributeError, match=r"has no attribute '__paths__'$"):  # what Python asks for by itself
        fc.__paths__  # noqa: B018


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("audit diabetes --method fedporx", "fedprox"),
        ("worst-case fedporx --L 1", "fedprox"),
        ("audit diabetes --method fedgd:localsteps=3", "local_steps"),
        ("audit diabetis", "diabetes"),
        ("audit diabetes --model logistik", "logistic"),
        ("worst-case fedgd --L 1 --metric gapp", "gap"),
        ("bounds fedprox.theorem4 --Lminus 0", "--L-minus"),
        ("bounds fedprox.theorm4", "fedprox.theorem4"),
        ("verify fedporx", "fedprox"),
    ],
)
def test_the_command_line_names_the_nearest(run: Any, words: str, meant: str) -> None:
    assert f"did you mean {meant}" in run.refuses(*words.split())


def test_the_other_order_of_method_and_problem_is_understood() -> None:
    half = fc.FedGD(stepsize=Fraction(1, 20))
    np.testing.assert_array_equal(fc.simulate(METHOD, PAIR, 3).points, fc.simulate(PAIR, METHOD, 3).points)  # type: ignore[arg-type]
    np.testing.assert_array_equal(fc.fixed_point(METHOD, PAIR).point, fc.fixed_point(PAIR, METHOD).point)  # type: ignore[arg-type]
    assert str(bounds_for(METHOD, PAIR)) == str(bounds_for(PAIR, METHOD)) == str(bounds_for(PAIR, method=METHOD))
    assert strategies.admissible(fc.FedGD, PAIR) == strategies.admissible(PAIR, half)
    point = fc.fixed_point(METHOD, PAIR, arithmetic="exact").point
    testing.assert_fixed_point(METHOD, PAIR, point)
    testing.assert_fixed_point(PAIR, METHOD, point)
    testing.assert_contracts(PAIR, METHOD, 1)
    with pytest.raises(InvalidInput, match="sweep\\(methods, problems"):
        fc.sweep(PAIR, METHOD, rounds=1)


@pytest.mark.beyond_core  # takes seconds
def test_fedavg_is_fedgd_by_name_and_says_so(run: Any) -> None:
    found = audit(PAIR, ["fedavg:epochs=3,stepsize=1/30"], rounds=5)
    same = audit(PAIR, [fc.FedGD(stepsize=Fraction(1, 30), local_steps=3)], rounds=5)
    assert found.methods[0].name == same.methods[0].name == "FedGD(stepsize=0.0333333, local_steps=3)"
    assert found.notes == (FEDAVG,)
    assert same.notes == ()
    assert to_dictionary(found)["notes"] == [FEDAVG]
    assert read_method("FedAvg")[1] == {"local_steps": 10}
    with pytest.raises(InvalidInput, match="has epochs and local_steps"):
        read_method("fedavg:epochs=2,local_steps=3")
    assert FEDAVG in run("worst-case", "fedavg:epochs=1", "--L", "4", "--mu", "1")[1]


@pytest.mark.parametrize("text", ["fedprox:mu=1/2", "FedProx(mu=1/2)", "fed-prox:mu=0.5", "FEDPROX( mu = 0.5 )"])
def test_a_method_is_written_as_a_name_or_as_its_results_print_it(text: str) -> None:
    assert read_method(text) == ("fedprox", {"mu": Fraction(1, 2)})


@pytest.mark.parametrize("text", ["", "fedprox)", "fedprox(mu=1", "FedProx(mu=1))", "fed prox", "\x1b[31m", None, 3])
def test_a_method_that_is_not_written_so_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInput):
        read_method(text)


@pytest.mark.parametrize(
    "method", [fc.AdaptiveFedProx(mu=1), fc.FedAvg(stepsize=0.01, batch_size=1), "adaptivefedprox"]
)
def test_methods_without_a_fixed_point_are_run_all_the_same(method: Any) -> None:
    (found,) = audit(PAIR, [method], rounds=40).methods
    assert (found.bias, found.floor, found.attracting) == (None, None, None)
    assert found.outcome in ("no fixed point", str(found.rounds_to_tolerance))
    assert found.gaps[-1] < found.gaps[0]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_name_on_every_command(name: str) -> None:
    kind, given = read_parameters(name.lower())
    assert kind is (fc.FedGD if name == "FedAvg" else METHODS[name])
    assert given == ({"local_steps": 10} if name == "FedAvg" else {})


def test_two_problems_or_two_methods_are_still_refused() -> None:
    for wrong in ((PAIR, PAIR), (METHOD, METHOD)):
        with pytest.raises(InvalidInput):
            fc.fixed_point(*wrong)
    with pytest.raises(TypeError):
        fc.simulate(PAIR, METHOD, 3, method=METHOD)
