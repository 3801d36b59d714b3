"""Certificates as lemmas: the kernel replays them and refuses changed ones; their claims are those of worst cases."""

from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import gradient, mean, minimiser, number, parts, server, square, value
from fedconvex.participation import Uniform, Weighted
from fedconvex.proofs_checks import (
    ClientGroup,
    ClientGroups,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
    worst_case,
)
from fedconvex.proofs_checks.export.json_proofs import to_json
from fedconvex.proofs_checks.export.proof_files import replayed
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.worst_cases.certificates.question_terms import MOST_BITS, written
from fedconvex.proofs_checks.worst_cases.result import WorstCase

CONVEX, STRONGLY = SmoothConvex(1), SmoothStronglyConvex(1, 2)
WITH_G: dict[str, Any] = {"heterogeneity": 1}
QUESTIONS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "any state": (fc.FedSplit(stepsize=F(1, 2)), SmoothStronglyConvex(1, 4),
                  {"metric": "lifted_distance", "rounds": 8}),
    "any state, with squares": (fc.FedSplit(stepsize=F(1, 4)), SmoothStronglyConvex(1, 4),
                                {"metric": "lifted_distance"}),
    "dissimilarity": (fc.FedProx(mu=2), CONVEX, {"metric": "descent", "dissimilarity": F(3, 2)}),
    "weakly convex": (fc.FedProx(mu=3), WeaklyConvex(F(1, 2), 1), {"metric": "descent", "dissimilarity": F(11, 10)}),
    "first round": (fc.FedDyn(alpha=2), STRONGLY, {**WITH_G, "metric": "gap"}),
    "first round of FedSplit": (fc.FedSplit(stepsize=F(1, 2)), STRONGLY, WITH_G),
    "control variates": (fc.Scaffold(stepsize=F(1, 9), local_steps=2), STRONGLY, WITH_G),
    "local steps": (fc.FedGD(stepsize=F(1, 4), local_steps=2), STRONGLY, WITH_G),
    "other local steps": (fc.FedProx(mu=2), STRONGLY,
                          {**WITH_G, "local_solver": fc.GradientDescent(steps=2, stepsize=F(1, 4))}),
    "inexact answers": (fc.FedProx(mu=2), STRONGLY, {**WITH_G, "local_solver": fc.ToInexactness(F(1, 10))}),
    "drawn": (fc.FedGD(stepsize=F(1, 2)), STRONGLY,
              {"heterogeneity": F(1, 9), "num_clients": 5, "participation": Uniform(2)}),
    "drawn, with replacement": (fc.FedGD(stepsize=F(1, 2)), STRONGLY,
                                {"heterogeneity": F(1, 9), "num_clients": 5, "participation": Weighted(2)}),
    "values where clients are drawn": (fc.FedGD(stepsize=F(1, 2)), STRONGLY,
        {"heterogeneity": F(1, 9), "num_clients": 500, "metric": "gap", "participation": Uniform(2)}),
    "first models": (fc.FedDyn(alpha=20), CONVEX,
                     {"num_clients": "any", "rounds": 2, "metric": "mean_gradient_norm", "spread": F(1, 40)}),
    "an infimum": (fc.FedDyn(alpha=20), WeaklyConvex(1, 1),
                   {"num_clients": "any", "rounds": 2, "metric": "mean_gradient_norm", "spread": F(1, 40)}),
    "a mean of gaps": (fc.FedGD(stepsize=F(1, 2)), CONVEX, {"rounds": 2, "metric": "mean_gap", "weights": [1, 2]}),
    "the gap of a mean": (fc.FedGD(stepsize=F(1, 2)), CONVEX, {"rounds": 2, "metric": "average_gap"}),
    "two rounds": (fc.FedGD(stepsize=F(1, 2)), CONVEX, {"rounds": 2, "metric": "gap"}),
    "two rounds with memory": (fc.Scaffold(stepsize=F(1, 9), local_steps=2), STRONGLY, {**WITH_G, "rounds": 2}),
    "three rounds of exact answers": (fc.FedDyn(alpha=2), STRONGLY, {**WITH_G, "rounds": 3, "metric": "gap"}),
    "a mean over four points": (fc.FedDyn(alpha=20), WeaklyConvex(1, 1),
                                {"num_clients": "any", "rounds": 4, "metric": "mean_gradient_norm",
                                 "spread": F(1, 40)}),
    "a ratio after two rounds": (fc.FedSGD(stepsize=F(1, 4)), SmoothStronglyConvex(1, 4), {"rounds": 2, "metric": (
        value(server(1)) - value(minimiser), value(server(0)) - value(minimiser))}),
    "a ratio of terms": (fc.FedDyn(alpha=2), STRONGLY, {"metric": (
        value(server(1)) - value(minimiser), square(server(0) - minimiser) + square(gradient(minimiser)))}),
    "all": (fc.DANE(mu=2, eta=F(1, 2)), CONVEX, {"metric": (
        value(server(1)) - value(server(0)), square(mean(gradient(server(0)))))}),
}  # fmt: skip


def found(name: str) -> WorstCase:
    method, clients, how = QUESTIONS[name]
    return worst_case(method, clients, **how)


def with_line(proof: Derivation, **changes: Any) -> Derivation:
    return replace(proof, lines=(replace(proof.lines[0], **changes),))


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.sample(2)
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_kernel_replays_a_certificate_and_refuses_changed_ones(name: str) -> None:
    worst = found(name)
    lemma = worst.proof()
    assert lemma.proof is not None
    assert worst.certificate is not None
    proved = lemma.theorem()
    assert (proved.setting, proved.claim) == (lemma.setting, lemma.claim)
    t, N = lemma.claim.right.args
    assert t == number(worst.certificate.t)
    line = lemma.proof.lines[0]
    less = replace(lemma.claim, right=number(worst.certificate.t - F(1, 10**6)) * N)
    for claim, proof in (
        (less, lemma.proof),  # not the claim of the last line
        (less, with_line(lemma.proof, right=less.right)),
        (lemma.claim, with_line(lemma.proof, facts=line.facts[1:])),
        (lemma.claim, with_line(lemma.proof, facts=((line.facts[0][0] * 2, line.facts[0][1]), *line.facts[1:]))),
    ):
        with pytest.raises(Refused):
            theorem(lemma.setting, claim, proof)


SHARP = (
    "two rounds with memory",
    "a ratio after two rounds",
    "first round of FedSplit",
    "control variates",
    "local steps",
    "other local steps",
    "all",
)


@pytest.mark.parametrize("name", SHARP)
def test_on_the_worst_federation_both_sides_of_the_claim_are_equal(name: str) -> None:
    """So the claim says what `worst_case` means, and not something weaker that is proved instead."""
    worst = found(name)
    assert worst.lower == worst.upper
    solver = QUESTIONS[name][2].get("local_solver")
    run = ExactFederation(worst.federation(), worst.question.spec.method, worst.start, local_solver=solver)
    on_it = worst.proof().claim.on(run)
    assert on_it.holds
    assert on_it.left == on_it.right


@pytest.mark.parametrize("name", ["dissimilarity", "weakly convex"])
def test_on_interpolating_functions_they_nearly_are(name: str) -> None:
    worst = found(name)
    on_it = worst.proof().claim.on(fc.simulate(QUESTIONS[name][0], worst.federation(), 1, x0=worst.start))
    assert abs(on_it.left - on_it.right) < 1e-12


def test_a_wider_class_a_later_round_or_other_clients_are_another_claim() -> None:
    lemma = found("first round").proof()
    assert lemma.setting.first_round
    wider: list[ClaimSetting] = [
        replace(lemma.setting, curvature=(number(1), number(3))),
        replace(lemma.setting, curvature=(number(0), number(2))),
        replace(lemma.setting, first_round=False),
        replace(lemma.setting, method_parameters={"alpha": number(3)}),
    ]
    for setting in wider:
        with pytest.raises(Refused):
            theorem(setting, lemma.claim, lemma.proof)  # type: ignore[arg-type]


def test_as_a_file_it_is_a_proof_like_others(tmp_path: Path) -> None:
    lemma = found("drawn").proof()
    assert lemma.proof is not None
    path = tmp_path / "drawn.json"
    path.write_text(to_json(lemma.setting, lemma.claim, lemma.proof), "utf-8")
    assert replayed(path) == lemma.theorem()
    path.write_text(to_json(lemma.setting, lemma.claim, with_line(lemma.proof, facts=())), "utf-8")
    with pytest.raises(Refused, match="is left"):
        replayed(path)


@pytest.mark.parametrize("x", [F(2, 3), F(-7), F(3**2000 + 1, 7**1500), F(-(5**900), 3)])
def test_long_numbers_are_formulas_of_short_ones(x: F) -> None:
    term = written(x)
    assert all(max(abs(p.args[0].numerator), p.args[0].denominator).bit_length() <= MOST_BITS + 1
               for p in parts(term) if p.head == "constant")  # fmt: skip
    parameters = SettingParameters(ClaimSetting(), (term,))
    assert parameters.value(term) == x


TWO = ClientGroups(ClientGroup(CONVEX, 1), ClientGroup(SmoothConvex(2), 1))


@pytest.mark.parametrize(
    ("clients", "how", "says"),
    [
        (TWO, {"metric": "descent", "dissimilarity": 1}, "client groups"),
        (
            STRONGLY,
            {"rounds": 2, "metric": "gap", "local_solver": fc.ToInexactness(F(1, 9)), "heterogeneity": 1},
            "inexact answers in several rounds",
        ),
        (CONVEX, {"metric": "gap", "num_clients": 1}, "a single client"),
        (
            CONVEX,
            {"metric": "gap", "num_clients": 2, "participation": Uniform(1), "heterogeneity": 1},
            "possible draws",
        ),
        (SmoothStronglyConvex(2, 2), {"heterogeneity": 1}, "single curvature"),
    ],
)
def test_what_the_kernel_has_no_claims_for_is_said(clients: Any, how: dict[str, Any], says: str) -> None:
    method = fc.FedProx(mu=2) if "local_solver" in how else fc.FedGD(stepsize=F(1, 4))
    worst = worst_case(method, clients, **how)
    assert worst.certificate is not None
    with pytest.raises(ValueError, match=says):
        worst.proof()


def test_answers_without_a_proximal_term_are_refused_by_the_kernel() -> None:
    with pytest.raises(Refused, match="without proximal term"):
        worst_case(fc.DANE(mu=0), STRONGLY, **WITH_G).proof().theorem()


def test_what_is_not_proved_has_no_proof() -> None:
    worst = worst_case(fc.FedGD(stepsize=F(1, 2), local_steps=2), STRONGLY)
    with pytest.raises(ValueError, match="nothing was proved"):
        worst.proof()
