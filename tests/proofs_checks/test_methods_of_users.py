"""Methods of users, first of all the guide's own: every question takes them, or refuses them with the true reason."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import gradient, mean, server, square, value
from fedconvex.discovery import run_file
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.methods import METHODS
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Method, State
from fedconvex.parameters import number
from fedconvex.proofs_checks import (
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
    error_floor,
    falsify,
    lyapunov,
    prove,
    sublinear_rate,
    verify,
    worst_case,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.export.json_proofs import from_json, to_json
from fedconvex.proofs_checks.rocq.files import script_for
from fedconvex.statements.assumptions import Everyone, Runs, SmoothObjective
from fedconvex.statements.notation import CURVATURE, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper, Statement
from fedconvex.verdicts import Verdict

GUIDES = Path(__file__).parents[2] / "docs/adding"
TWO = fc.Quadratic(H=[[[1]], [[1]]], c=[[1], [3]])
CLIENTS = SmoothStronglyConvex(mu=1, L=4)
S = F(1, 4)


def of_guide(page: str, title: str, folder: Path) -> Any:
    """The module that a guide shows."""
    text = (GUIDES / f"{page}.md").read_text("utf-8")
    shown = re.search(rf'^```python title="{title}"\n(.*?)^```$', text, re.DOTALL | re.MULTILINE)
    assert shown is not None
    path = folder / Path(title).name
    path.write_text(shown[1], "utf-8")
    return run_file(path, f"of_guide_{path.stem}")


@pytest.fixture(scope="module")
def fedmom(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Method]:
    if "FedMom" in METHODS:  # in a copy of the project in which the guide's commit was made
        return METHODS["FedMom"]
    made: Callable[..., Method] = of_guide("method", "fedconvex/methods/fedmom.py", tmp_path_factory.mktemp("m")).FedMom
    return made


@final
@dataclass(frozen=True, kw_only=True)
class FedExP(Averaging):
    """The server extrapolates by max(1, mean‖Δ_k‖²/(2‖mean Δ_k‖²)). Jhunjhunwala, Wang and Joshi (2023)."""

    stepsize: Any = number()
    local_steps: int = 1

    @property
    def local_solver(self) -> Any:
        return fc.GradientDescent(steps=self.local_steps, stepsize=self.stepsize)

    def update(self, state: State, cohort: Any, answers: Any) -> State:
        moves = answers.points - cohort.points
        move = cohort.average(moves)
        squares = cohort.average((moves * moves).sum(1)[:, None])[0]
        return State(state.server + max(1, squares / (2 * (move * move).sum())) * move)


def doubling(update: Callable[[Any], Any]) -> Method:
    """A method by the guide whose server makes something else of the average."""
    members = {"update": lambda self, state, cohort, answers: State(update(cohort.average(answers.points)))}
    kind: Any = dataclass(frozen=True, kw_only=True)(type("Doubling", (fc.FedGD,), members))
    made: Method = kind(stepsize=S)
    return made


def decrease_of(method: str, name: str) -> Statement:
    """The descent lemma for one gradient step, as the paper's guide states it of FedSGD, of another method."""
    notation = {
        "stepsize": Parameter("s", "stepsize", STEPSIZE, above=0, measured="stepsize"),
        "L": Parameter("L", "smoothness of f", CURVATURE, above=0, measured="objective_smoothness"),
    }
    fixed = (("momentum", 0),) if method in ("FedMom", "FedAvgM") else ()
    fixed += (("nesterov", True),) if method == "FedAvgM" else ()
    paper = Paper(name=name, short=name, reference=name, convention="a mean with weights", notation=notation)
    slope = mean(gradient(server(0)))

    @paper.statement(
        "Decrease", ClaimType.UPPER, symbol=r"\rho", relation="=", units=STEPSIZE,
        states=lambda rho: at_most(value(server(1)), value(server(0)) - rho * square(slope)),
        assumes=(Runs(method, 1, fixed), Everyone(), SmoothObjective("L")),
    )  # fmt: skip
    def decrease(*, stepsize: Any, L: Any) -> Any:
        """One step decreases f by at least (s − Ls²/2)‖∇f(w)‖²."""
        return stepsize - L * stepsize**2 / 2

    found: Statement = paper.find("decrease")
    return found


def test_a_doubled_average_rests_where_one_round_says() -> None:
    """One round is w ↦ 3w/2 + 1, whose fixed point −2 repels; from 2 it leads to 4."""
    method = doubling(lambda average: 2 * average)
    for arithmetic in ("exact", "float", "ball"):
        stop = fc.fixed_point(method, TWO, arithmetic)
        assert (float(stop.point[0]), stop.unique, stop.attracting) == (-2, True, False)
    run = fc.simulate(method, TWO, 1, x0=[2], arithmetic="exact", progress=False)
    assert run.points[1].tolist() == [4]


@pytest.mark.parametrize(
    "update", [lambda average: 2 * average, lambda average: average / 2, lambda average: average + 1]
)
def test_worst_cases_refuse_rounds_that_do_not_move_with_the_origin(update: Any) -> None:
    """Elsewhere than at 0 a doubled average leaves the minimiser, so that no multiple of the distance bounds it."""
    run = fc.simulate(doubling(update), fc.Quadratic(H=[[[1]]], c=[[5]]), 1, x0=[5], arithmetic="exact", progress=False)
    assert run.points[1].tolist() != [5]
    for call in (worst_case, lyapunov, error_floor):
        with pytest.raises(fc.InvalidInput, match="do not move with the origin"):
            call(doubling(update), CLIENTS)


@pytest.mark.parametrize("problem", [TWO, fc.Logistic([[[1.0], [2]]], [[1, -1]], ridge=1)], ids=["quadratic", "loss"])
def test_a_squared_average_is_refused(problem: Any) -> None:
    with pytest.raises(fc.InvalidInput, match=r"Doubling.*multiplies two numbers that depend on the state"):
        fc.fixed_point(doubling(lambda average: 4 * average * average), problem)


def test_fedexp_runs_in_numbers_and_is_refused_elsewhere() -> None:
    method = FedExP(stepsize=S)
    run = fc.simulate(method, fc.Quadratic(H=[[[1]], [[4]]], c=[[1], [3]]), 20, progress=False)
    assert np.isfinite(run.points).all()
    claimed = decrease_of("FedExP", "ofexp")
    for call in (
        lambda: fc.fixed_point(method, TWO),
        lambda: worst_case(method, CLIENTS, "any"),
        lambda: lyapunov(method, CLIENTS),
        lambda: error_floor(method, CLIENTS),
        lambda: prove(claimed),
    ):
        with pytest.raises(fc.InvalidInput, match=r"^method = FedExP(.|\n)*multiplies two numbers that depend on the"):
            call()
    proof_of(claimed)(lambda claim: prove(decrease_of("FedGD", "plainly")))  # of FedGD it is one
    refused = verify(claimed)
    assert refused.verdict is Verdict.UNKNOWN
    assert "the code of FedExP does more with vectors than add, scale and average them" in refused.reason
    assert falsify(claimed, tries=400) is not None  # s(1 + extrapolation) may be too large a step


def test_the_guides_method_is_taken_by_every_question(fedmom: Callable[..., Method]) -> None:
    method, plain = fedmom(stepsize=S, local_steps=2, momentum=F(1, 4)), fc.FedGD(stepsize=S, local_steps=2)
    for arithmetic in ("exact", "float", "ball"):
        mine, its = (fc.fixed_point(one, TWO, arithmetic) for one in (method, plain))
        assert [float(x) for x in mine.point] == pytest.approx([float(x) for x in its.point])
        assert (mine.unique, mine.attracting) == (True, True)
        assert isinstance(mine.analysis, QuadraticFixedPoints)
    without = fedmom(stepsize=F(1, 8), momentum=0)
    assert worst_case(without, CLIENTS, "any").upper == worst_case(fc.FedGD(stepsize=F(1, 8)), CLIENTS, "any").upper
    assert lyapunov(fedmom(stepsize=F(1, 8), momentum=F(1, 4)), CLIENTS).upper < 1


def test_claims_know_the_guides_method_by_name(fedmom: Callable[..., Method]) -> None:
    assert Method.named("FedMom") is fedmom
    claimed = decrease_of("FedMom", "ofmom")
    assert claimed.setting.method_parameters.keys() == {"stepsize", "local_steps", "momentum"}
    assert prove(claimed) is not None
    run = fc.simulate(fedmom(stepsize=S, momentum=0), TWO, 3, x0=[5], arithmetic="exact", progress=False)
    assert claimed.claim.on(run, L=1).holds
    moving = fc.simulate(fedmom(stepsize=S, momentum=F(1, 2)), TWO, 3, x0=[5], arithmetic="exact", progress=False)
    with pytest.raises(fc.InvalidInput, match="momentum"):
        claimed.claim.on(moving, L=1)


def test_an_option_that_is_yes_or_no_is_a_value_of_its_own() -> None:
    claimed = decrease_of("FedAvgM", "ofavgm")
    assert claimed.setting.method_parameters["nesterov"] is True
    derivation = prove(claimed)
    assert derivation is not None
    whole = claimed.setting, claimed.claim, derivation
    assert from_json(to_json(*whole)) == whole
    script_for("of_avgm", *whole)
    for nesterov in (True, False):
        method = fc.FedAvgM(stepsize=S, momentum=0, nesterov=nesterov)
        run = fc.simulate(method, TWO, 3, x0=[5], arithmetic="exact", progress=False)
        if nesterov:
            assert claimed.claim.on(run, L=1).holds
        else:
            with pytest.raises(fc.InvalidInput, match="nesterov"):
                claimed.claim.on(run, L=1)


def test_the_package_comes_first_and_two_of_one_name_are_refused() -> None:
    assert Method.named("FedGD") is fc.FedGD
    assert Method.named("FedExP") is FedExP
    assert Method.named("Averaging") is Method.named("FedNope") is None
    kinds = [dataclass(frozen=True)(type("Twin", (FedExP,), {"__module__": name})) for name in ("one", "two")]
    with pytest.raises(fc.InvalidInput, match="Twin: is defined in one and in two; rename one of them"):
        Method.named("Twin")
    again: Any = dataclass(frozen=True)(type("Twin2", (FedExP,), {"__module__": "one"}))
    latest: Any = dataclass(frozen=True)(type("Twin2", (FedExP,), {"__module__": "one"}))
    assert Method.named("Twin2") is latest is not again
    assert len(kinds) == 2


def test_the_guides_problem_and_solver(tmp_path: Path) -> None:
    targets = of_guide("problem", "fedconvex/problems/targets.py", tmp_path).Targets([[0, 0], [4, 1]], [1, 3])
    for arithmetic in ("exact", "float", "ball"):
        stop = fc.fixed_point(fc.FedGD(stepsize=S), targets, arithmetic)
        assert [float(x) for x in stop.point] == [3, 0.75]
    heavy_ball = of_guide("solver", "fedconvex/local_solvers/heavy_ball.py", tmp_path).HeavyBall
    with pytest.raises(fc.InvalidInput, match="has no derivative"):
        fc.fixed_point(fc.FedProx(mu=1), targets, local_solver=heavy_ball(steps=2, stepsize=S, momentum=S))
    # Rates, and the floor of its noisy gradients: without momentum those of gradient steps.
    method, steps = fc.DANE(mu=2), fc.GradientDescent(steps=2, stepsize=F(1, 8))
    plain, moving = (heavy_ball(steps=2, stepsize=F(1, 8), momentum=beta) for beta in (F(0), F(1, 4)))
    for question in (lyapunov, error_floor):
        known, same, other = (question(method, CLIENTS, local_solver=solver) for solver in (steps, plain, moving))
        assert (known.lower, known.upper) == (same.lower, same.upper) != (other.lower, other.upper)
        assert 0 < other.lower <= other.upper < 1
    sublinear = sublinear_rate(method, SmoothConvex(4), local_solver=moving)
    assert sublinear.floor == 0 < sublinear.distance


@pytest.mark.beyond_core  # plays thousands of rounds
def test_the_guides_randomness_and_class_are_taken_by_every_question(tmp_path: Path) -> None:
    up_to = of_guide("randomness", "fedconvex/up_to.py", tmp_path).UpTo(2)
    for one, few in ((fc.FedDyn(alpha=2), CLIENTS), (fc.Scaffold(stepsize=F(1, 16)), CLIENTS),
                     (fc.Scaffnew(stepsize=F(1, 8), probability=F(1, 2)), CLIENTS)):  # fmt: skip
        found = lyapunov(one, few, 3, participation=up_to)
        assert 0 < found.lower <= found.upper
        two = worst_case(one, few, 3, rounds=2, heterogeneity=1, participation=up_to)
        assert 0 < two.lower <= two.upper
    noisy = error_floor(fc.Scaffold(stepsize=F(1, 16)), CLIENTS, 3, participation=up_to)
    apart = error_floor(fc.FedGD(stepsize=F(1, 16)), CLIENTS, 3, cause="heterogeneity", participation=up_to)
    for floor in (noisy, apart):
        assert 0 < floor.lower <= floor.upper
    assert sublinear_rate(fc.FedGD(stepsize=F(1, 16)), SmoothConvex(4), 3, participation=up_to).floor > 0
    assert sublinear_rate(fc.FedDyn(alpha=80), WeaklyConvex(4, 4), 3, participation=up_to).floor == 0
    secant = of_guide("function_class", "proofs_checks/restricted_secant.py", tmp_path).RestrictedSecant(1, 4)
    bounds = worst_case(fc.FedGD(stepsize=F(1, 16)), secant, 1, rounds=2)
    assert 0 < bounds.lower <= bounds.upper < F(15, 16)
    for question in (lyapunov, error_floor, sublinear_rate):  # its functions need not be convex
        with pytest.raises(fc.InvalidInput, match="RestrictedSecant"):
            question(fc.FedGD(stepsize=F(1, 16)), secant, 1)
