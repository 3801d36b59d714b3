"""Mistakes that the comparison with the papers' pseudo-code must reject."""

from fractions import Fraction

import numpy as np
import pseudo_code as paper
import pytest
from problem_makers import terms_of
from round_cases import CASES, EVERYBODY, PARTIAL, PROXIMAL, START, UNEQUAL, run, transcribed

import fedconvex as fc

# Each mistake, and whether it shows only where some clients are absent.
FAULTS = [
    ("FedGD", "weights ignored", False),
    ("FedGD", "weights not renormalised", True),
    ("FedProx", "weights ignored", False),
    ("FedProx", "weights not renormalised", True),
    ("DANE", "no correction", False),
    ("DANE", "wrong sign", False),
    ("DANE", "weights not renormalised", True),
    ("FedDANE", "no correction", False),
    ("FedDANE", "everybody's gradient", True),
    ("FedDANE", "weights not renormalised", True),
    ("FedNova", "weights ignored", False),
    ("FedNova", "weights not renormalised", True),
    ("FedSplit", "half the centering", False),
    ("FedSplit", "weights ignored", False),
    ("FedSplit, Theorem 2", "centred at the origin", False),
    ("FedDyn", "sign of the linear term", False),
    ("FedDyn", "sign of the memory", False),
    ("FedDyn", "divided by the active", True),
    ("FedDynOneGD", "sign of the memory", False),
    ("FedDynOneGD", "divided by the active", True),
    ("SCAFFOLD, option 1", "wrong sign", False),
    ("SCAFFOLD, option 1", "control variate updated first", False),
    ("SCAFFOLD, option 1", "c not scaled by |S|/N", True),
    ("SCAFFOLD, option 2", "wrong sign", False),
    ("SCAFFOLD, option 2", "control variate updated first", False),
    ("SCAFFOLD, option 2", "option 2 without −c", True),
    ("SCAFFOLD, option 2", "c not scaled by |S|/N", True),
    ("FedADMM", "sign of the dual", False),
    ("FedADMM", "from the server's model", False),
    ("FedADMM", "divided by the active", True),
    ("pFedMe", "around the server", False),
    ("pFedMe", "no lambda", False),
    ("FedLin", "no correction", False),
    ("FedLin", "gradients of the active", True),
    ("FedPD", "sign of the dual", False),
]


@pytest.mark.parametrize(("name", "fault", "only_partial"), FAULTS, ids=lambda value: str(value))
def test_the_comparison_rejects(name, fault, only_partial) -> None:
    case, p, e = (CASES | PROXIMAL)[name], Fraction(2, 5), 2
    for schedule in (None, PARTIAL):
        if schedule is PARTIAL and case.needs_everybody:
            continue
        points = run(case.method(p, e), UNEQUAL, START, schedule)
        assert np.array_equal(points, transcribed(case, UNEQUAL, START, schedule, p, e))
        wrong = transcribed(case, UNEQUAL, START, schedule, p, e, fault=fault)
        assert np.array_equal(points, wrong) == (only_partial and schedule is None)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("FedSplit", {"server": "active"}),
        ("FedSplit Act", {"server": "all"}),
        ("SCAFFOLD, option 2", {"option": 1}),
        ("SCAFFOLD, server stepsize", {"server_stepsize": Fraction(1)}),
        ("DANE, eta", {"eta": Fraction(1)}),
    ],
)
def test_the_comparison_rejects_another_variant(name, other) -> None:
    case, p, e = (CASES | PROXIMAL)[name], Fraction(2, 5), 2
    points = run(case.method(p, e), UNEQUAL, START, PARTIAL)
    wrong = case.pseudo_code(terms_of(UNEQUAL), START, PARTIAL, **{**case.arguments(p, e), **other})
    assert not np.array_equal(points, wrong)


@pytest.mark.parametrize("right", ["center", "server", "warm"])
def test_the_comparison_rejects_another_start_of_the_local_work(right) -> None:
    s, e, a = Fraction(2, 5), 2, Fraction(1, 7)
    points = run(fc.FedSplit(stepsize=s, start=right), UNEQUAL, START, PARTIAL, fc.GradientDescent(steps=e, stepsize=a))
    for start in ("center", "server", "warm"):
        expected = paper.fedsplit(terms_of(UNEQUAL), START, PARTIAL, s=s, solve=paper.gradient_steps(e, a), start=start)
        assert np.array_equal(points, expected) == (start == right)


def test_the_comparison_rejects_a_proximal_centre_that_follows_the_iterate() -> None:
    """The pull mu·(w − center) of a centre that is the iterate itself is always zero."""
    mu, a, terms = Fraction(2, 5), Fraction(1, 7), terms_of(UNEQUAL)
    solver, solve = fc.GradientDescent(steps=2, stepsize=a), paper.gradient_steps(2, a)
    points = run(fc.FedProx(mu=mu), UNEQUAL, START, PARTIAL, solver)
    assert np.array_equal(points, paper.fedprox(terms, START, PARTIAL, mu=mu, solve=solve))
    fault = "the centre follows the iterate"
    assert not np.array_equal(points, paper.fedprox(terms, START, PARTIAL, mu=mu, solve=solve, fault=fault))


@pytest.mark.parametrize("schedule", [[EVERYBODY] * 3, PARTIAL], ids=["full", "partial"])
def test_the_comparison_rejects_fednova_without_normalisation(schedule) -> None:
    """It is then FedAvg, which forgets how much work went into an answer."""
    s, work, terms = Fraction(1, 9), [2, 1, 4], terms_of(UNEQUAL)
    points = run(fc.FedNova(stepsize=s, local_steps=4), UNEQUAL, START, schedule, work=work)
    assert np.array_equal(points, paper.fednova(terms, START, schedule, s=s, tau=work))
    wrong = paper.fednova(terms, START, schedule, s=s, tau=work, fault="not normalised")
    assert np.array_equal(wrong, paper.fedavg(terms, START, schedule, s=s, e=work))
    assert not np.array_equal(points, wrong)


def test_the_comparison_rejects_scaffold_with_everybodys_number_of_steps() -> None:
    """Option 2 divides by what the client has done, not by what it was asked to do."""
    s, work, terms = Fraction(1, 9), [2, 1, 4], terms_of(UNEQUAL)
    points = run(fc.Scaffold(stepsize=s, local_steps=4), UNEQUAL, START, PARTIAL, work=work)
    assert np.array_equal(points, paper.scaffold(terms, START, PARTIAL, s=s, steps=work))
    assert not np.array_equal(points, paper.scaffold(terms, START, PARTIAL, s=s, steps=4))
