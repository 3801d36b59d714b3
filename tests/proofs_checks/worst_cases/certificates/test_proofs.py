"""A certificate as a proof in the catalogue's form: checked by another engine, with another identity."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction as F

import pytest

import fedconvex as fc
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case
from fedconvex.proofs_checks.standalone_checker import check
from fedconvex.verdicts import Verdict

QUESTIONS = {
    "fedsplit": (fc.FedSplit(stepsize=F(1, 2)), SmoothStronglyConvex(1, 4), {"metric": "lifted_distance", "rounds": 8}),
    "fedprox": (fc.FedProx(mu=2), SmoothConvex(1), {"metric": "descent", "dissimilarity": F(3, 2)}),
    "weakly": (fc.FedProx(mu=3), WeaklyConvex(F(1, 2), 1), {"metric": "descent", "dissimilarity": F(11, 10)}),
    "feddyn": (fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 2), {"heterogeneity": 1, "metric": "gap"}),
    "one curvature": (fc.FedProx(mu=1), SmoothStronglyConvex(2, 2), {"heterogeneity": 1}),
    "drawn": (
        fc.FedGD(stepsize=F(1, 2)),
        SmoothStronglyConvex(1, 2),
        {"heterogeneity": F(1, 9), "num_clients": 5, "participation": fc.participation.Uniform(2)},
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_certificates_are_proofs(name):
    method, clients, how = QUESTIONS[name]
    found = worst_case(method, clients, **how)
    (step,) = found.proof().steps
    outcome = step.by.run(step.claim)
    assert outcome.verdict is Verdict.PROVED, outcome.detail
    check(outcome.certificate)
    changed = deepcopy(outcome.certificate)
    changed["facts"][0]["multiplier"] = "1/1000"
    with pytest.raises((AssertionError, ValueError), match="differ"):
        check(changed)
    slightly_more = replace(step.claim, right=step.claim.right * F(999, 1000))
    assert step.by.run(slightly_more).verdict is not Verdict.PROVED


def test_what_is_not_proved_has_no_proof():
    found = worst_case(fc.FedGD(stepsize=F(1, 2), local_steps=2), SmoothStronglyConvex(1, 2))
    with pytest.raises(ValueError, match="nothing was proved"):
        found.proof()
