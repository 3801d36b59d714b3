"""The papers' statements round by round: numbers from the calculators at measured constants, and correct reasons."""

from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, FEATURES, LINEAR, random, samples
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models, run
from fedconvex.deep.over_the_run import stretches, when
from fedconvex.errors import InvalidInput
from fedconvex.theory import fedprox

pytestmark = pytest.mark.beyond_core  # trains networks

X, y = samples(0, (40,))[0]
# nearly the same samples everywhere: B is near 1
CLIENTS = [(X + 0.01 * k, y) for k in range(4)]
NETWORK = random(models.fully_connected([FEATURES, 4, CLASSES]))
HALF = Fraction(1, 2)
STEPS = fc.GradientDescent(steps=40, stepsize=0.02)
WEIGHTED = participation.Weighted(30)


def once(method: Any = None, model: nn.Module = NETWORK, **options: Any) -> Any:
    method = fc.FedProx(mu=30) if method is None else method
    given = {"participation": WEIGHTED, "local_solver": STEPS, "measure": "all", "rounds": 3, "draws": 5} | options
    return run(method, model, CLIENTS, **given)


@cache
def usual() -> Any:
    return once()


def rows(found: Any, statement: str, **given: Any) -> Any:
    table = found.bounds(**given)
    return table[table["statement"] == statement].reset_index(drop=True)


@pytest.mark.parametrize("model", [NETWORK, LINEAR], ids=["network", "linear"])
def test_theorem4_promises_rho_of_the_measured_constants(model: nn.Module) -> None:
    found = once(model=model)
    frame, table = found.to_frame(), rows(found, "fedprox.theorem4")
    assert table["applies"].all()
    assert (table["verdict"] == "applies").all()
    after = frame.shift(-1)  # the model that the clients drawn led to is a point of the round, too
    largest = np.maximum(frame["smoothness_of_round"], after["smoothness"] + after["smoothness_error"])
    least = np.minimum(frame["least_curvature_of_round"], after["least_curvature"] - after["weak_convexity_error"])
    for t in range(3):
        rho = fedprox.rho(
            mu=30, L=largest[t], L_minus=max(0.0, -least[t]), B=frame["dissimilarity"][t],
            gamma=frame["inexactness"][t + 1], K=30,
        )  # fmt: skip
        assert table["promised"][t] == pytest.approx(rho)
        happened = frame["decrease"][t] / frame["gradient_norm"][t] ** 2
        assert table["happened"][t] == pytest.approx(happened)
        assert table["slack"][t] == pytest.approx(happened - rho)
        assert table["slack"][t] > 0
    assert when(found.bounds(), "fedprox.theorem4") == ["rounds 0–2: applies"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("options", "assumption", "reason"),
    [
        ({"participation": participation.Uniform(2)}, "drawn independently", "Uniform"),
        ({"participation": participation.Weighted(1)}, "rho > 0", "it is -"),
        ({"method": fc.FedProx(mu=0.01)}, "mu > L_minus", "against"),
        ({"measure": ("heterogeneity", "inexactness")}, "L", "measure='curvature'"),
        ({"measure": ("curvature", "inexactness")}, "not stationary", "measure='heterogeneity'"),
        ({"measure": ("curvature", "heterogeneity")}, "gamma", "measure='decrease'"),
        (
            {"participation": participation.Weighted(1), "measure": ("curvature", "heterogeneity", "inexactness")},
            "gamma",
            "measure='decrease'",  # of whom the round tells nothing
        ),
        ({"stragglers": participation.Stragglers(HALF, "drop")}, "gamma", "measure='decrease'"),
        ({"local_solver": fc.GradientDescent(steps=1, stepsize=0.2)}, "its conditions", "gamma <= 1"),
    ],
)
def test_why_theorem4_does_not_apply(options: dict[str, Any], assumption: str, reason: str) -> None:
    table = rows(once(**options), "fedprox.theorem4")
    assert not table["applies"].any()
    assert table["promised"].isna().all()
    assert table["assumption"].str.contains(assumption, regex=False).all(), table["assumption"][0]
    assert table["reason"].str.contains(reason, regex=False).all(), table["reason"][0]


def test_gamma_is_that_of_those_too_who_were_not_drawn() -> None:
    """The second client is hardly ever drawn, and its steps of one sample each lead far away from its own mean."""
    one, far = np.ones((1, 1)), 1e4
    clients = [(one, np.array([1.0])), (np.ones((2, 1)), np.array([1 + far, 1 - far]))]
    model, solver = nn.Linear(1, 1, bias=False), fc.SGD(epochs=1, batch_size=1, stepsize=1 / 31)
    nn.init.zeros_(model.weight)
    options = {"local_solver": solver, "participation": participation.Weighted(5), "weights": [0.999, 0.001]}
    found = run(fc.FedProx(mu=30), model, clients, loss="half_square", rounds=2, measure="all", **options)
    frame, gammas = found.to_frame(), found.client_inexactness
    assert np.isnan(gammas[:, 1]).all()  # it was not drawn
    assert (frame["inexactness_of_all"][:2].to_numpy() > 10 * np.nanmax(gammas)).all()
    assert not rows(found, "fedprox.theorem4")["applies"].any()


def test_late_clients_that_are_used_take_part() -> None:
    """Their γ is measured like everybody's; the expectation over the draws is not, which has none that are late."""
    late = participation.Stragglers(HALF, "use")
    found = once(participation=participation.Full(), stragglers=late)
    table = rows(found, "fedprox.theorem4convexeveryone")
    assert table["reason"].str.contains("not convex|solver").all()
    assert "decrease" not in found.to_frame()
    with pytest.raises(InvalidInput, match="without stragglers"):
        once(stragglers=late, measure="decrease")


def test_feddyns_theorems_ask_for_exact_solutions_and_a_large_alpha() -> None:
    inexact = once(fc.FedDyn(alpha=100), participation=participation.Uniform(2))
    assert rows(inexact, "feddyn.theorem2")["assumption"].str.contains("exactly").all()

    def exact(alpha: float, **options: Any) -> Any:
        options |= {"local_solver": fc.Exact(), "participation": participation.Uniform(2), "ridge": 0.1}
        return rows(once(fc.FedDyn(alpha=alpha), LINEAR, **options), "feddyn.theorem2", D0=1, G=2)

    table = exact(100)
    assert table["applies"].all()
    assert table["promised"][0] == pytest.approx((10 * 100 * 1 + 100 * 4 / 2 / 100 * 2) / 3)
    late = exact(100, stragglers=participation.Stragglers(HALF, "drop"))
    assert (late["reason"] == "the participation scheme is LateOnesDropped").all()
    assert exact(1)["assumption"].str.contains("25*L", regex=False).all()


def test_what_sharper_bounds_promise_is_compared_too() -> None:
    found = usual()
    happened = rows(found, "fedprox.theorem4")["happened"]
    for name in ("theorem4sharper", "theorem4byvariance", "theorem4bycurvature"):
        table = rows(found, f"fedprox.{name}")
        assert table["applies"].all()
        np.testing.assert_array_equal(table["happened"], happened)
    assert any(
        str(line.get_label()).startswith("promised") for line in found.figure(table["statement"][0]).axes[1].lines
    )


def test_rounds_that_nobody_looked_at_have_no_bounds() -> None:
    sparse, dense = once(every=2).bounds(), usual().bounds()
    assert sorted(set(dense["round"])) == [0, 1, 2]
    assert sorted(set(sparse["round"])) == [0, 2]
    assert when(sparse, "fedprox.theorem4") == ["rounds 0–2: applies"]


def test_statements_are_those_about_the_method() -> None:
    names = set(once(fc.FedNova(stepsize=0.1, local_steps=1)).bounds()["statement"])
    assert names == set()
    found = set(usual().bounds()["statement"])
    assert {name.split(".")[0] for name in found} <= {"fedprox", "fedsplit", "rockafellar", "yuan_li", "exact_rates"}
    assert all(".fedprox" in name for name in found if name.startswith("exact_rates"))


def test_a_given_constant_replaces_the_measured_one() -> None:
    found = usual()
    table = rows(found, "fedprox.theorem4", B=1.5)
    assert table["promised"][0] < rows(found, "fedprox.theorem4")["promised"][0]
    assert rows(found, "fedprox.theorem4", L=0.001)["assumption"].str.contains("smooth").all()


def test_stretches() -> None:
    import pandas

    table = pandas.DataFrame(
        {
            "round": [0, 0, 1, 2, 3, 4], "statement": "s", "applies": [True, True, True, False, False, False],
            "assumption": ["", "", "", "a", "a", "b"], "reason": ["", "", "", "1", "2", "3"],
        }
    )  # fmt: skip
    assert stretches(table, "s") == [(0, 1, "", ""), (2, 3, "a", "1"), (4, 4, "b", "3")]
    assert when(table, "s") == [
        "rounds 0–1: applies",
        "rounds 2–3: does not apply: a (1)",
        "round 4: does not apply: b (3)",
    ]


# ---- the picture ----


@pytest.mark.sample(1)
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures_are_written(ending: str, tmp_path: Path) -> None:
    file = once(rounds=2).draw(tmp_path / f"run.{ending}")
    content = file.read_bytes()
    assert {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending] == content[: 5 if ending == "svg" else 4]


def test_the_promise_is_drawn_where_it_applies() -> None:
    found = usual()
    axes = found.figure().axes
    lines = {line.get_label(): line for line in axes[1].lines}
    promise = next(line for label, line in lines.items() if str(label).startswith("promised"))
    table = rows(found, "fedprox.theorem4")
    expected = table["promised"] * found.to_frame()["gradient_norm"][:3] ** 2
    np.testing.assert_allclose(promise.get_ydata(), expected)
    assert not axes[1].patches


def test_rounds_without_promise_are_shaded_and_say_why() -> None:
    axes = once(participation=participation.Uniform(2)).figure().axes
    assert len(axes[1].patches) == 1
    assert "drawn independently" in axes[1].texts[0].get_text()
    assert not any(str(line.get_label()).startswith("promised") for line in axes[1].lines)


@pytest.mark.parametrize(
    ("path", "statement", "culprit"),
    [("run.txt", "fedprox.theorem4", "path"), ("run.png", "fedprox.theorem99", "statement")],
)
def test_bad_pictures(path: str, statement: str, culprit: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=culprit):
        once(rounds=1).draw(tmp_path / path, statement)
    assert list(tmp_path.iterdir()) == []


def test_torch_keeps_its_threads() -> None:
    before = torch.get_num_threads()
    once(rounds=1)
    assert torch.get_num_threads() == before
