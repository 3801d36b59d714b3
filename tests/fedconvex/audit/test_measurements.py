"""The audit's numbers against exact arithmetic and against the limits of long runs."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.audit import audit, default_methods, parse_method
from fedconvex.audit.measure import measure_constants, measured_contraction, predicted_contraction
from fedconvex.audit.methods import AUDITED, describe, three_digits
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput, PictureFailed
from fedconvex.fixed_points.smooth_clients import SmoothFixedPoints
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds


@pytest.fixture(scope="module")
def problem() -> fc.LeastSquares:
    """Three clients of 4, 6 and 5 samples with integer data, two unknowns."""
    rng = np.random.default_rng(3)
    A = [rng.integers(-3, 4, (n, 2)) for n in (4, 6, 5)]
    return fc.LeastSquares(A=A, b=[rng.integers(-9, 10, len(a)) for a in A])


@pytest.fixture(scope="module")
def result(problem):
    return audit(problem, ["fedgd:local_steps=5", "fedprox:mu=8", "fedsplit"], rounds=400)


def test_bias_and_floor_enclose_the_exact_ones(result, problem):
    for method in result.methods:
        exact = fc.fixed_point(method.method, problem, arithmetic="exact")
        square = sum(b * b for b in exact.bias)
        assert method.bias.certainty is Certainty.ENCLOSED
        assert max(Fraction(method.bias.lower), 0) ** 2 <= square <= Fraction(method.bias.upper) ** 2
        assert Fraction(method.floor.lower) <= exact.gap <= Fraction(method.floor.upper)
        assert method.bias.upper - method.bias.lower < 1e-15


def test_runs_end_on_the_predicted_floor_and_on_no_other(result):
    gradient, proximal, split = result.methods
    assert gradient.gaps[-1] == pytest.approx(gradient.floor.value, rel=1e-8)
    assert proximal.gaps[-1] == pytest.approx(proximal.floor.value, rel=1e-8)
    assert gradient.gaps[-1] != pytest.approx(proximal.floor.value, rel=1e-2)
    assert split.gaps[-1] < 1e-18 * split.gaps[0]


def test_predicted_contraction_is_the_measured_one(result):
    for method in result.methods[:2]:  # the third one's eigenvalues turn: its measured slope wobbles
        assert method.measured_contraction == pytest.approx(method.predicted_contraction, rel=1e-4)
    assert result.methods[2].measured_contraction == pytest.approx(result.methods[2].predicted_contraction, rel=0.1)


def test_rounds_are_counted_to_the_first_gap_below_the_tolerance(result):
    split = result.methods[2]
    count = split.rounds_to_tolerance
    assert split.gaps[count] <= 1e-6 * split.gaps[0] < split.gaps[count - 1]
    assert split.outcome == str(count)
    assert result.methods[1].rounds_to_tolerance is None
    assert result.methods[1].outcome == "never (error floor)"


def test_forecast_of_unfinished_runs_is_about_right(problem):
    short = audit(problem, ["fedgd:stepsize=1/500"], rounds=60).methods[0]
    long = audit(problem, ["fedgd:stepsize=1/500"], rounds=5000).methods[0]
    assert short.outcome.endswith("(forecast)")
    assert int(short.outcome.split()[0].replace(",", "")) == pytest.approx(long.rounds_to_tolerance, rel=0.1)


def rank_deficient(kind: str) -> fc.LeastSquares:
    rng = np.random.default_rng(1)
    if kind == "wide":
        A = [rng.standard_normal((2, 12)) for _ in range(3)]
    else:
        A = [a[:, [0, 1, 2, 0]] for a in (rng.standard_normal((8, 3)) for _ in range(3))]
    return fc.LeastSquares(A=A, b=[rng.standard_normal(len(a)) for a in A])


@pytest.mark.parametrize("kind", ["wide", "a column twice"])
def test_directions_in_which_nothing_moves_do_not_slow_the_forecast(kind):
    """They have the eigenvalue 1; what is forecast and predicted is what long runs do."""
    problem = rank_deficient(kind)
    texts = ["fedgd:stepsize=1/200", "fedgd:local_steps=10", "fedprox:mu=1", "scaffold:stepsize=0.01,local_steps=3"]
    short, long = (audit(problem, texts, rounds=rounds).methods for rounds in (20, 3000))
    for early, late in zip(short, long, strict=True):
        assert early.unique is False
        assert early.predicted_contraction == pytest.approx(late.measured_contraction, rel=1e-2)
        if early.outcome.endswith("(forecast)"):
            forecast = int(early.outcome.split()[0].replace(",", ""))  # too many where fast directions still shrink
            assert 0.9 * late.rounds_to_tolerance <= forecast <= 3 * late.rounds_to_tolerance
    assert sum(method.outcome.endswith("(forecast)") for method in short) >= 2


def test_a_contraction_not_told_from_1_gives_no_forecast():
    problem = fc.Quadratic(H=[[[1, 0], [0, 1e-11]]] * 2, c=[[1, 1e-11], [2, 1e-11]])
    method = audit(problem, ["fedgd:stepsize=1/2"], rounds=5, tolerance=1e-18).methods[0]
    assert method.predicted_contraction > 1 - 1e-9
    assert method.outcome == "over 5"


def test_divergence_is_reported_not_refused(problem):
    method = audit(problem, [fc.FedGD(stepsize=10)], rounds=300).methods[0]
    assert method.attracting is False
    assert method.outcome == "diverges"
    assert len(method.gaps) < 300
    assert method.predicted_contraction > 1


def test_a_method_without_fixed_point_is_reported():
    problem = fc.Quadratic(H=[[[1, 0], [0, 0]], [[1, 0], [0, 1]]], c=[[0, 1], [0, 1]])
    method = audit(problem, [fc.FedGD(stepsize=Fraction(2), local_steps=2)], rounds=5).methods[0]
    # client 2's second local step undoes its first (1 − s = −1) while client 1 goes on along (0, 1)
    assert method.outcome == "no fixed point"
    assert method.bias is None
    assert method.attracting is None


def test_constants_are_proved_bounds(result, problem):
    eigenvalues = [np.linalg.eigvalsh(A.T @ A) for A in problem.A]
    L, mu = max(e[-1] for e in eigenvalues), min(e[0] for e in eigenvalues)
    assert L * (1 - 1e-13) <= result.constants.L <= L * (1 + 1e-6)
    assert mu * (1 - 1e-6) <= result.constants.mu <= mu * (1 + 1e-13)
    assert result.constants.kappa >= L / mu * (1 - 1e-12)
    assert result.constants.kappa >= Fraction(result.constants.L) / Fraction(result.constants.mu)


def test_the_condition_number_is_an_upper_bound():
    below = 0
    for mu in range(3, 12):
        problem = fc.Quadratic(H=[[[100]], [[mu]]], c=[[1], [1]])
        constants = measure_constants(problem, fc.ground_truth(problem))
        exact = Fraction(constants.L) / Fraction(constants.mu)
        assert Fraction(constants.kappa) >= exact
        below += Fraction(constants.L / constants.mu) < exact
    assert below  # a quotient rounded to nearest fails this test


def test_default_parameters_come_from_the_constants(problem):
    truth = fc.ground_truth(problem)
    L, mu = max(problem.L), min(problem.mu)
    one, ten, proximal, split = default_methods(problem, truth)
    assert (one.local_steps, ten.local_steps) == (1, 10)
    assert 0.99 / L <= float(one.stepsize) <= 1 / L
    assert 0.99 <= float(split.stepsize) * np.sqrt(mu * L) <= 1
    assert 0.99 <= float(proximal.mu) / np.sqrt(mu * L) <= 1


@pytest.mark.parametrize(
    ("value", "rounded"), [(0.0123456, "0.0123"), (98765.4, "98700"), (2.0, "2"), (0.9999, "0.999")]
)
def test_three_digits_rounds_down(value, rounded):
    assert three_digits(value) == Fraction(rounded)


def test_parse_method_takes_numbers_as_written(problem):
    truth = fc.ground_truth(problem)
    method = parse_method(" FedGD:stepsize=0.1, local_steps=3", problem, truth)
    assert method == fc.FedGD(stepsize=Fraction(1, 10), local_steps=3)
    assert describe(method) == "FedGD(stepsize=0.1, local_steps=3)"


@pytest.mark.parametrize(
    ("method", "complaint"),
    [
        ("fedavgg", r"is unknown; did you mean fedavg\? choose adaptivefedprox, dane"),
        ("fedprox:stepsize=1", "'stepsize' is no parameter of fedprox; give mu="),
        ("fedgd:step=1", "give stepsize=…, local_steps="),
        ("fedgd:stepsize", "stepsize has no value; write fedgd:stepsize=NUMBER"),
        ("feddynonegd", "needs alpha"),
        ("fedgd:stepsize=fast", "stepsize = fast: is not a number"),
        ("fedgd:stepsize=1e1000000000", "is too long"),
        ("fedgd:local_steps=1.5", "must be an integer >= 1"),
        ("fedprox:mu=-1", "must not be negative"),
        (fc.FedProx(mu=Fraction(1, 2)), "weight of the proximal term = 0.5: is too small: client 0"),
    ],
)
def test_bad_methods_are_refused_before_any_work(problem, method, complaint, monkeypatch):
    def never(*_, **__):
        raise AssertionError("work was done")

    monkeypatch.setattr("fedconvex.audit.measure.ground_truth", never)
    posed = problem if isinstance(method, str) else fc.Quadratic(H=[[[-1]], [[3]]], c=[[1], [1]])
    with pytest.raises(fc.InvalidInput, match=complaint):
        audit(posed, ["fedsplit", method], rounds=5)


def test_measured_contraction_of_a_made_up_run():
    assert measured_contraction(5 * 0.9 ** np.arange(60)) == pytest.approx(0.9)
    assert measured_contraction(np.array([1.0, 0.5])) is None  # too short to say anything
    stagnating = np.maximum(0.5 ** np.arange(200), 1e-16)  # rounding level is left out of the fit
    assert measured_contraction(stagnating) == pytest.approx(0.5)


def test_logistic_audit_without_ridge_is_numeric_where_nothing_is_proved():
    rng = np.random.default_rng(0)
    A = [rng.standard_normal((30, 3)) for _ in range(3)]
    problem = fc.Logistic(A=A, y=[rng.choice([-1, 1], 30) for _ in range(3)])
    result = audit(problem, ["fedprox:mu=1"], rounds=40)
    assert result.truth.certainty is Certainty.NUMERIC
    assert result.methods[0].bias.certainty is Certainty.ENCLOSED  # Krawczyk's theorem needs no ridge
    assert result.methods[0].gaps[-1] > 0


def test_data_that_are_fitted_by_nothing_are_refused():
    with pytest.raises(fc.InvalidInput, match="minimiser at 0"):
        audit(fc.LeastSquares(A=[[[1]], [[2]]], b=[[0], [0]]), rounds=5)


def test_a_tolerance_that_every_start_has_is_refused(problem):
    with pytest.raises(fc.InvalidInput, match="reached before the first round"):
        audit(problem, tolerance=2)


def test_a_search_that_fails_is_reported(problem, monkeypatch):
    def fail(*_, **__):
        raise fc.NotConverged("made up")

    monkeypatch.setattr("fedconvex.audit.measure.fixed_point", fail)
    method = audit(problem, ["fedsplit"], rounds=5).methods[0]
    assert method.outcome == "fixed point not found"
    assert method.bias is method.attracting is None


@pytest.mark.parametrize("name", sorted(AUDITED))
def test_every_method_can_be_audited(name, problem) -> None:
    """By name alone, or with the parameters that its own error asks for."""
    truth = fc.ground_truth(problem)
    needed = {"feddynonegd": ":alpha=1000", "regularizedfedsplit": ":regularization=0.5"}
    needed = (needed | {"ditto": ":regularization=0.5", "pfedme": ":regularization=2"}).get(name, "")
    if needed:
        with pytest.raises(fc.InvalidInput, match=f"needs {needed[1:].partition('=')[0]}; write {name}:"):
            parse_method(name, problem, truth)
    assert type(parse_method(name + needed, problem, truth)) is AUDITED[name]


def test_methods_with_memory_contract_as_predicted(problem) -> None:
    for method in audit(problem, ["feddyn", "fedpd", "scaffold:local_steps=3", "dane"], rounds=150).methods:
        assert method.attracting is True
        assert method.measured_contraction == pytest.approx(method.predicted_contraction, rel=0.05)


@pytest.fixture(scope="module")
def labels() -> fc.Logistic:
    """Three clients whose curvature at the origin is not that at their fixed points."""
    rng = np.random.default_rng(5)
    A = [3 * rng.standard_normal((20, 2)) for _ in range(3)]
    return fc.Logistic(A=A, y=[rng.choice([-1, 1], 20, p=[0.2, 0.8]) for _ in range(3)], ridge=0.1)


@pytest.mark.parametrize("text", ["fedprox:mu=0.05", "fedgd:local_steps=3", "dane:mu=1", "fedsplit", "feddyn"])
def test_the_predicted_contraction_is_that_at_the_fixed_point_however_many_rounds_are_run(labels, text) -> None:
    one, many = (audit(labels, [text], rounds=rounds).methods[0] for rounds in (1, 400))
    assert one.predicted_at == many.predicted_at == "fixed point"
    assert one.predicted_contraction == pytest.approx(many.predicted_contraction, rel=1e-6)


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", [fc.FedProx(mu=0.05), fc.FedSplit(stepsize=1)])
def test_the_predicted_contraction_is_what_two_rounds_beside_the_fixed_point_do(labels, method) -> None:
    """The derivative once more, by differences of whole rounds around where a long run ends."""
    rounds = rounds_of(method, labels)
    state = rounds.start(np.zeros(2))
    for _ in range(3000):
        state = rounds.advance(state)
    # FedSplit's server point is the mean of the three z at all times: the z, or the point itself, are all there is
    whole = np.vstack([np.tile(np.eye(2) / 3, 3), np.eye(6)]) if state.memory else np.eye(2)
    flat, step, unknowns = state.flat(), 1e-5, whole.shape[1]

    def after(change: np.ndarray) -> np.ndarray:
        return np.asarray(rounds.advance(state.with_values(flat + step * whole @ change)).flat())[-unknowns:]

    derivative = np.stack([(after(e) - after(-e)) / (2 * step) for e in np.eye(unknowns)], axis=1)
    radius = max(abs(np.linalg.eigvals(derivative)))
    assert audit(labels, [method], rounds=3).methods[0].predicted_contraction == pytest.approx(radius, rel=1e-5)


def test_a_round_keeps_the_whole_state_at_the_fixed_point(labels) -> None:
    rounds, stop = rounds_of(fc.FedSplit(stepsize=1), labels), fc.fixed_point(fc.FedSplit(stepsize=1), labels)
    found = stop.analysis.state
    assert abs(found.server - stop.point).max() < 1e-9
    assert abs(rounds.advance(found).flat() - found.flat()).max() < 1e-9


def test_without_the_memory_at_the_fixed_point_the_prediction_says_so(labels, monkeypatch) -> None:
    method = fc.FedSplit(stepsize=1)
    rounds = rounds_of(method, labels)
    first = rounds.advance(rounds.start(np.zeros(2)))
    at_stop = predicted_contraction(fc.fixed_point(method, labels), first, settled=False)
    monkeypatch.setattr(SmoothFixedPoints, "state", None)
    elsewhere = predicted_contraction(fc.fixed_point(method, labels), first, settled=False)
    assert (at_stop[1], elsewhere[1]) == ("fixed point", "last round")
    assert elsewhere[0] != pytest.approx(at_stop[0], rel=1e-3)


def test_the_saved_trajectories_are_those_of_the_frame(problem, tmp_path) -> None:
    """Written from memory by Arrow, read back by pandas: names of other lengths and letters, infinite and missing."""
    import pandas
    import pyarrow.parquet

    from fedconvex.audit.report import save, trajectories

    found = audit(problem, ["fedprox:mu=1", "fedsplit"], rounds=4)
    odd = np.array([np.nan, np.inf, 0.0, -0.0, 1e-320])[: len(found.methods[1].gaps)]
    renamed = replace(found.methods[1], name="μ-Fed split", distances=odd)
    result = replace(found, methods=(found.methods[0], renamed))
    save(result, tmp_path)
    saved = pandas.read_parquet(tmp_path / "trajectories.parquet")
    pandas.testing.assert_frame_equal(saved, trajectories(result), check_exact=True)
    assert list(saved.columns) == ["method", "round", "gap", "relative_gap", "distance"]
    assert pyarrow.parquet.read_table(tmp_path / "trajectories.parquet").num_rows == len(saved)


@pytest.mark.beyond_core  # draws
def test_a_matplotlibrc_loses_no_numbers(problem, tmp_path, monkeypatch) -> None:
    """One that asks for LaTeX, which is not there, changes nothing; where Matplotlib fails, a warning is all."""
    import matplotlib

    from fedconvex.audit.report import save

    result = audit(problem, ["fedsplit"], rounds=4)
    monkeypatch.setenv("PATH", "")
    with matplotlib.rc_context({"text.usetex": True}):
        assert [file.name for file in save(result, tmp_path)] == ["audit.json", "trajectories.parquet", "audit.png"]
    monkeypatch.setattr("fedconvex.audit.report.draw_audit", lambda _: 1 / 0)
    with pytest.warns(PictureFailed, match="ZeroDivisionError"):
        save(result, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["audit.json", "trajectories.parquet"]


def test_a_tolerance_below_what_floats_resolve_is_refused_at_once(problem) -> None:
    said: list[str] = []
    with pytest.raises(InvalidInput, match="tolerance = 1e-300: is below what float64 points resolve"):
        audit(problem, ["fedsplit"], tolerance=1e-300, say=said.append)
    assert said == []
