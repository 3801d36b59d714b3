"""A round that falls by less than promised refutes the assumptions, though they hold at all points measured."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLIENTS, NETWORK, SMALL
from torch import nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.deep.over_the_run import APPLIES, DOES_NOT, REFUTED, over_the_run, when
from fedconvex.participation import Full, Weighted
from fedconvex.randomness import Purpose

pytestmark = pytest.mark.beyond_core  # trains networks

THEOREM = "fedprox.theorem4"


def number(start: float = 0.0) -> nn.Module:
    """The model whose output is its only parameter, for samples that are 1."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, start)
    return model


def one_round(loss: Any, *, clients: int = 2, K: int = 500, mu: float = 1.0, steps: int = 200, **options: Any) -> Any:
    samples = [(np.ones((1, 1)), np.zeros(1))] * clients
    given = {"participation": Weighted(K), "local_solver": fc.GradientDescent(steps=steps, stepsize=0.08 / mu)}
    return run(fc.FedProx(mu=mu), number(), samples, loss=loss, rounds=1, **{"measure": "all", **given, **options})


def verdicts(found: Any, **given: Any) -> list[str]:
    table = found.bounds(**given)
    return list(table[table["statement"] == THEOREM]["verdict"])


def steep(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """−z + softplus(20(z − ½)): flat at 0, where the run starts, and of curvature 19 where the clients stop."""
    return -outputs[:, 0] + F.softplus(20 * (outputs[:, 0] - 0.5))


def test_curvature_counts_where_the_clients_stop() -> None:
    """With L of the server's model alone Theorem 4 would promise three times what happened."""
    found = one_round(steep, clients=3, local_solver=fc.GradientDescent(steps=150, stepsize=0.05))
    record = found.records[0]
    assert record["smoothness"] < 0.02
    assert record["decrease"] / record["gradient_norm"] ** 2 < 0.3
    assert record["smoothness_of_round"] > 12
    assert verdicts(found) == [DOES_NOT]


def hidden(seed: int) -> Any:
    """A function whose slope jumps between the points of a round, and which is affine at each of them.

    The slope is −1 at the start and −stop where the clients stop, at μ·θ = stop: the one round falls by much less than
    a function that is affine on all of the way would.
    """
    random = np.random.default_rng(seed)
    stop, width = random.uniform(0.25, 0.4), random.uniform(0.001, 0.002)
    jumps = [(random.uniform(0.15, 0.35) * stop, 1 - stop)]
    if seed % 2:  # not convex: the slope falls for a while, and L_minus is missed, too
        first, deeper = jumps[0][0], random.uniform(0.1, 0.3)
        jumps = [(first / 2, 1 - stop), (0.65 * stop, -deeper), (0.85 * stop, deeper)]

    def loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        z = outputs[:, 0]
        return -z + sum(height * width * F.softplus((z - place) / width) for place, height in jumps)

    return loss


SMOOTH_ONES = {f"fedprox.equation{n}" for n in (7, 8)}
WITH_DRAWS = {THEOREM, "fedprox.equation14"}


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("everyone", [False, True])
def test_a_planted_refutation_is_found(seed: int, everyone: bool) -> None:
    """By all statements that assume it, also those that promise no decrease of what the server's round did."""
    scheme = Full() if everyone else Weighted((60, 200, 500)[seed % 3])
    found = one_round(hidden(seed), clients=1 + seed % 3, participation=scheme)
    assert found.records[0]["smoothness_of_round"] < 1e-3
    assert found.records[0]["smoothness_between"] > 0.5
    table = found.bounds()
    refuted = table[table["verdict"] == REFUTED]
    assert set(refuted["statement"]) >= SMOOTH_ONES | (set() if everyone else WITH_DRAWS)
    assert not refuted["applies"].any()
    for name in refuted["statement"]:
        assert when(found.bounds(), name)[0].startswith(f"round 0: {REFUTED} (")
    for row in table[table["applies"]].itertuples():  # what remains assumes nothing of curvatures, or what is seen
        assert row.statement not in SMOOTH_ONES | WITH_DRAWS


def wall(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """A dip of the slope on the way: curvature 0 where it is measured, and from point to point; only values tell."""
    z, width = outputs[:, 0], 0.001
    steps = ((0.1, 0.6), (0.25, -0.6))
    return -z + sum(height * width * F.softplus((z - place) / width) for place, height in steps)


def test_values_tell_of_a_wall_that_no_gradient_shows() -> None:
    found = one_round(wall, participation=Full(), local_solver=fc.GradientDescent(steps=1, stepsize=0.4))
    record = found.records[0]
    assert record["smoothness_of_round"] < 1e-3
    assert record["smoothness_between"] > 0.5
    table = found.bounds()
    assert set(table[table["verdict"] == REFUTED]["statement"]) >= SMOOTH_ONES


def test_a_shortfall_alone_refutes_all_statements_with_the_same_curvatures() -> None:
    """As where the points of all draws lie elsewhere than those whose gradients are compared."""
    setting = one_round(hidden(2)).settings[0]
    nothing = {"smoothness_between": np.nan, "least_curvature_between": np.nan}
    table = over_the_run([replace(setting, row=setting.row | nothing)], {})
    refuted = table[table["verdict"] == REFUTED]
    assert set(refuted["statement"]) >= SMOOTH_ONES | WITH_DRAWS
    assert refuted["reason"].str.contains("rho = .* was promised").all()


def test_only_what_assumes_the_refuted_curvature_is_refuted() -> None:
    setting = one_round(hidden(2)).settings[0]
    for row, assumed in (({"least_curvature_between": 0.0}, "L = "), ({"smoothness_between": 0.0}, "L_minus = ")):
        if assumed == "L_minus = ":
            row = row | {"least_curvature_between": -1.0}
        table = over_the_run([replace(setting, row=setting.row | row | {"decrease": np.nan})], {})
        refuted = table[table["verdict"] == REFUTED]
        assert refuted["reason"].str.startswith(assumed).all()
        assert ("fedprox.equation13" in set(refuted["statement"])) is (assumed == "L_minus = ")  # has no L
        assert set(refuted["statement"]) >= SMOOTH_ONES
        assert "fedprox.equation3" not in set(refuted["statement"])


def test_a_refuted_round_has_a_shade_of_its_own() -> None:
    found = one_round(hidden(1))
    assert verdicts(found) == [REFUTED]
    axes = found.figure().axes[1]
    assert axes.texts[0].get_text() == REFUTED
    promise = next(line for line in axes.lines if str(line.get_label()).startswith("promised"))
    assert promise.get_ydata()[0] > found.records[0]["decrease"]  # beside what happened, which is the point
    plain = one_round(steep, clients=3).figure().axes[1]
    assert axes.patches[0].get_facecolor() != plain.patches[0].get_facecolor()


def holding(seed: int) -> Any:
    """A round of random clients whose curvature is the same everywhere, or nearly so."""
    random = np.random.default_rng(seed)
    m, d = int(random.integers(1, 5)), int(random.integers(1, 5))
    samples = [(random.normal(size=(6, d)), random.normal(size=6)) for _ in range(m)]
    loss, model = "half_square", nn.Linear(d, 1)
    if seed % 4 == 1:
        loss, samples = "logistic", [(X, np.where(y > 0, 1, -1)) for X, y in samples]
    if seed % 4 == 2:
        model = nn.Sequential(nn.Linear(d, 2), nn.Tanh(), nn.Linear(2, 1))
    if seed % 4 == 3:  # nearly stationary: differences of values are rounding
        samples = [samples[0]] * m
        X = np.column_stack([samples[0][0], np.ones(6)])
        best = torch.as_tensor(np.linalg.lstsq(X, samples[0][1], rcond=None)[0] + 1e-9)
        model.weight.data, model.bias.data = best[None, :-1].float(), best[-1:].float()
    mu = float(random.uniform(5, 60))
    return run(
        fc.FedProx(mu=mu), model, samples, loss=loss, rounds=1, measure="all", seed=seed, draws=8,
        dtype=(torch.float64, torch.float32)[seed % 5 == 0],
        participation=(Full(), Weighted(3), Weighted(40))[seed % 3],
        local_solver=fc.GradientDescent(steps=40, stepsize=1 / (2 * mu)),
    )  # fmt: skip


@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 200), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_where_the_assumptions_hold_nothing_is_refuted(seeds: range) -> None:
    seen = [list(holding(seed).bounds()["verdict"]) for seed in seeds]
    assert all(REFUTED not in verdicts for verdicts in seen)
    assert sum(APPLIES in verdicts for verdicts in seen) > len(seen) / 2


def test_a_deficit_within_the_errors_refutes_nothing() -> None:
    """The same shortfall with a decrease that is known less well, from few draws, or in fewer digits."""
    found = one_round(hidden(2))
    setting = found.settings[0]

    def verdict(rounding: float = 1e-9, **row: float) -> str:
        unknown = {"smoothness_between": np.nan, "least_curvature_between": np.nan}
        changed = replace(setting, row=setting.row | unknown | row, rounding=rounding)
        table = over_the_run([changed], {})
        return str(table[table["statement"] == THEOREM]["verdict"].iloc[0])

    assert verdict() == REFUTED
    assert verdict(decrease_error=1.0) == APPLIES
    assert verdict(decrease_error=np.nan) == APPLIES  # from a single draw
    assert verdict(decrease=np.nan) == APPLIES  # not measured
    assert verdict(rounding=100.0) == APPLIES


def test_few_draws_that_are_alike_refute_nothing() -> None:
    """All assumptions hold for affine functions; both draws of this seed have the client alone whose function is 0."""
    samples, seed, scheme = [(np.ones((1, 1)), np.array([y])) for y in (1.0, 0.0)], 4655, Weighted(5)

    def affine(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return -targets * outputs[:, 0]

    def found(draws: int) -> Any:
        return run(
            fc.FedProx(mu=1), number(), samples, loss=affine, rounds=1, seed=seed, measure="all", draws=draws,
            participation=scheme, local_solver=fc.GradientDescent(steps=300, stepsize=0.1),
        )  # fmt: skip

    few, all_of_them = found(2), found(6)  # of five clients with replacement there are six multisets
    probes = [scheme.draw(few.task.problem, seed, i, Purpose.PROBES).members.tolist() for i in range(2)]
    assert probes == [[1], [1]]
    assert few.records[0]["decrease"] == 0.0
    assert np.isnan(few.records[0]["decrease_error"])
    assert all_of_them.records[0]["decrease"] > 0.1
    assert all_of_them.records[0]["smoothness"] == 0.0
    assert verdicts(few) == verdicts(all_of_them) == [APPLIES]


def test_what_is_promised_up_to_constants_is_not_refuted() -> None:
    found = one_round(hidden(1))
    table = found.bounds(B_bound=1.0, epsilon=0.1)
    rows = table[table["statement"] == "fedprox.corollary7"]
    assert not (rows["verdict"] == REFUTED).any()


@pytest.mark.slow
def test_errors_of_lanczos_widen_the_constants() -> None:
    """A few steps find less than the largest eigenvalue: ρ with L and L₋ as found would promise too much."""
    options = {"participation": Weighted(30), "local_solver": fc.GradientDescent(steps=40, stepsize=0.02)}
    few, many = (
        run(fc.FedProx(mu=30), NETWORK, CLIENTS, rounds=1, measure="all", lanczos_steps=steps, **options)
        for steps in (3, 43)
    )
    record = few.records[0]
    assert record["smoothness_error"] > 0.01
    assert record["weak_convexity_error"] > 0.01
    assert record["smoothness_of_round"] >= record["smoothness"] + record["smoothness_error"]
    assert record["least_curvature_of_round"] <= record["least_curvature"] - record["weak_convexity_error"]
    rho = [float(table[table["statement"] == THEOREM]["promised"].iloc[0]) for table in (few.bounds(), many.bounds())]
    assert rho[0] < rho[1]


def test_the_figure_draws_the_constants_that_rho_is_computed_from() -> None:
    """γ is that of all clients, drawn or not; L and L₋ are the largest of the round."""
    found = run(
        fc.FedProx(mu=30), SMALL, CLIENTS, rounds=3, measure="all", participation=Weighted(2),
        local_solver=fc.GradientDescent(steps=5, stepsize=0.02),
    )  # fmt: skip
    lines = {str(line.get_label()): line for line in found.figure().axes[2].lines}
    frame = found.to_frame()[:3]
    for label, column in ((r"$\gamma$ of all clients", "inexactness_of_all"), ("B", "dissimilarity")):
        np.testing.assert_array_equal(lines[label].get_ydata(), frame[column])
    for label, name in (("L (Lanczos)", "smoothness"), ("$L_-$ (Lanczos)", "weak_convexity")):
        np.testing.assert_array_equal(lines[label].get_ydata(), [setting.measure(name) for setting in found.settings])
    assert (lines["L (Lanczos)"].get_ydata() > frame["smoothness"]).all()


def test_clients_that_diverge_have_no_finite_curvature() -> None:
    """Their answers overflow: the round has no bound, and the run goes on to say that its model is not finite."""

    def quartic(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return (outputs[:, 0] - 3) ** 4

    found = one_round(quartic, local_solver=fc.GradientDescent(steps=50, stepsize=1.0), measure="curvature")
    assert found.stopped is not None
    assert found.records[0]["smoothness_of_round"] == np.inf
    assert found.records[0]["least_curvature_of_round"] == -np.inf
    assert np.isfinite(found.records[0]["smoothness"])
