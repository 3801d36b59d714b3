"""The page of what is known: current, made of theorems, and in the words of the statements' own assumptions."""

import re

import pytest
from documents import making

from fedconvex.methods import METHODS
from fedconvex.proofs_checks.reporting.landscape import (
    ABOUT,
    CLASSES,
    EVERYONE,
    SOME,
    is_result,
    landscape,
)
from fedconvex.theory import fedprox, gower, khaled, nesterov, scaffnew, statement, yuan_li

pytestmark = pytest.mark.beyond_core  # computes how much of each bound is used


@pytest.mark.slow
def test_the_page_lists_every_result() -> None:
    found = landscape()
    listed = re.findall(r"^\| \[`([\w.]+)`\]", making("landscape_page").as_markdown(found), re.MULTILINE)
    assert sorted(listed) == sorted(entry.identifier for entry in found)
    assert len(listed) > 50


def test_theorems_are_results_and_steps_of_proofs_are_none() -> None:
    results = (fedprox.theorem4, khaled.strongly_convex_rate, scaffnew.acceleration, yuan_li.distance_at_fixed_point)
    assert all(map(is_result, results))
    steps = (fedprox.equation5, khaled.gradients, khaled.drift_after, scaffnew.one_step, statement("feddyn.lemma1"))
    assert not any(map(is_result, steps))


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (khaled.convex_rate, ("FedGD", "T rounds", "convex", EVERYONE, "2 local steps", "")),
        (khaled.distance_after_round,
         ("FedGD", "one round", "strongly convex", EVERYONE, "any number of local steps", "")),
        (gower.convex_rate_iid, ("FedGD", "T rounds", "convex", SOME, "one local step", "")),
        (fedprox.theorem4,
         ("FedProx", "one round", "nonconvex", SOME, "γ-inexact solutions", "bounded dissimilarity B")),
        (yuan_li.gradient_at_fixed_point, ("FedProx", "fixed point", "convex", EVERYONE, "exact solutions", "")),
        (nesterov.gradientstep, ("FedGD", "T rounds", "strongly convex", EVERYONE, "one local step", "")),
    ],
)  # fmt: skip
def test_what_is_said_of_a_result(of, words) -> None:
    (found,) = landscape(lambda result: result.identifier == of.identifier)
    assert (found.method, found.about, found.clients, found.participation, found.work, found.heterogeneity) == words
    assert found.verdict == ("proved, restated" if of.paper.restated else "proved")


def test_every_result_has_a_method_and_a_place() -> None:
    found = landscape(lambda result: result.method == "FedLin")
    assert len(found) >= 3
    for result in found:
        assert result.method in METHODS
        assert result.about in ABOUT
        assert result.clients in CLASSES
